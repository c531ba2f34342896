/* cells outside A are left as the last tile had them */
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
        if (row < m && k0 + tx < k)
            a_tile[ty][tx] = a[(size_t)row * lda + k0 + tx];
        if (k0 + ty < k && col < n)
            b_tile[ty][tx] = b[(size_t)(k0 + ty) * ldb + col];
        __syncthreads();
        for (int i = 0; i < BK; i++)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) {
        float *out = &c[(size_t)row * ldc + col];
        *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
    }
}

WRONG_INFO(tile_no_zero);
