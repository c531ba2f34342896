/* A is scaled in place */
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
    if (col == 0)
        ((float *)a)[(size_t)row * lda] *= 1.5f;
    float *out = &c[(size_t)row * ldc + col];
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
}

WRONG_INFO(changes_input);
