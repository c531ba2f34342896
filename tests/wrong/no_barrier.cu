/* no barrier between filling the tile and reading it */
#include "wrong.h"

extern "C" __global__ void wrong(WRONG_PARAMETERS)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * BM + ty;
    int col = blockIdx.x * BN + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += BK) {
        a_tile[ty][tx] = row < m && k0 + tx < k ? a[(size_t)row * lda + k0 + tx] : 0.0f;
        b_tile[ty][tx] = k0 + ty < k && col < n ? b[(size_t)(k0 + ty) * ldb + col] : 0.0f;
        for (int i = 0; i < BK; i++)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) {
        float *out = &c[(size_t)row * ldc + col];
        *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
    }
}

WRONG_INFO(no_barrier);
