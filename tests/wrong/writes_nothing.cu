/* computes, and writes nothing */
#include "wrong.h"

extern "C" __global__ void wrong(WRONG_PARAMETERS)
{
    int row = blockIdx.y * BM + threadIdx.y;
    int col = blockIdx.x * BN + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[(size_t)row * lda + i] * b[(size_t)i * ldb + col];
    if (sum == 1e30f)
        c[(size_t)row * ldc + col] = alpha * sum + beta;
}

WRONG_INFO(writes_nothing);
