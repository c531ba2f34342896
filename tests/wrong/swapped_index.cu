/* A is read as if it were transposed */
#include "wrong.h"

extern "C" __global__ void wrong(WRONG_PARAMETERS)
{
    int row = blockIdx.y * BM + threadIdx.y;
    int col = blockIdx.x * BN + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[(size_t)i % m * lda + row % k] * b[(size_t)i * ldb + col];
    float *out = &c[(size_t)row * ldc + col];
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
}

WRONG_INFO(swapped_index);
