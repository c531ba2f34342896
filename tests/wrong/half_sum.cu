/* sums are kept in FP16 where FP32 is asked for */
#include <cuda_fp16.h>

#include "wrong.h"

extern "C" __global__ void wrong(WRONG_PARAMETERS)
{
    int row = blockIdx.y * BM + threadIdx.y;
    int col = blockIdx.x * BN + threadIdx.x;
    if (row >= m || col >= n)
        return;
    half sum = __float2half(0.0f);
    for (int i = 0; i < k; i++)
        sum = __float2half(__half2float(sum) +
                           a[(size_t)row * lda + i] * b[(size_t)i * ldb + col]);
    float *out = &c[(size_t)row * ldc + col];
    float value = __half2float(sum);
    *out = beta == 0.0f ? alpha * value : alpha * value + beta * *out;
}

WRONG_INFO(half_sum);
