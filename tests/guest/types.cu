// types.cu - matmuls of other types and layouts, called as BLAS calls them.
#include <cuda_fp16.h>

// column by column, in double, with alpha and beta
extern "C" __global__ void dgemm_columns(int m, int n, int k, double alpha,
                                         const double *a, int lda, const double *b,
                                         int ldb, double beta, double *c, int ldc)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    double sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row + (long long)i * lda] * b[i + (long long)col * ldb];
    double old = beta != 0 ? beta * c[row + (long long)col * ldc] : 0;
    c[row + (long long)col * ldc] = alpha * sum + old;
}

// FP16 in and out, FP32 sums, B transposed
extern "C" __global__ void hgemm_nt(const __half *a, const __half *b, __half *c, int m,
                                    int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[row * k + i]) * __half2float(b[col * k + i]);
    c[row * n + col] = __float2half(sum);
}

// bytes in, int out, A transposed
extern "C" __global__ void igemm_tn(const signed char *a, const signed char *b, int *c,
                                    int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    int sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[i * m + row] * b[i * n + col];
    c[row * n + col] = sum;
}
