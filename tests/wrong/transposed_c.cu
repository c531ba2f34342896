/* the result is stored transposed */
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
    if (col < m && row < n)
        c[(size_t)col * ldc + row] =
            alpha * sum + (beta == 0.0f ? 0.0f : beta * c[(size_t)col * ldc + row]);
}

WRONG_INFO(transposed_c);
