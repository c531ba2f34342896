/* exercise 1 - one thread an output, and you write the sum.
 *
 * The thread knows its row and column and stores what it has summed up. As it came it
 * sums nothing, so that C is all zero. When you are done, ./run shows what lesson 1
 * predicts: 16.5 sectors per request.
 *
 *     make lesson1 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --counters             only yours
 */
#include "kernel.h"

enum { BM = 32, BN = 8 };

extern "C" __global__ void __launch_bounds__(BM *BN)
    exercise_1(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
               int ldb, float beta, float *c, int ldc)
{
    /* where am I */
    int row = blockIdx.x * BM + threadIdx.x;
    int col = blockIdx.y * BN + threadIdx.y;
    if (row >= m || col >= n)
        return;

    /* multiply */
    float sum = 0.0f;
    /* FILL IN: add a[row][i] * b[i][col] to sum for each i from 0 to k - 1. A row of A is
     * lda floats, a row of B ldb floats long. Compute the place in size_t: row * lda can
     * pass what an int holds. */

    /* store */
    float *out = &c[(size_t)row * ldc + col];
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 1,
    .name = "my_naive",
    .entry = "exercise_1",
    .title = "one thread an output: write the sum",
    .bm = BM,
    .bn = BN,
    .bk = 1,
    .block_x = BM,
    .block_y = BN,
    .grid = KERNEL_GRID_X_IS_M,
    .dynamic_smem_bytes = 0,
    .unit = KERNEL_CUDA_CORES,
    .in = KERNEL_F32,
    .acc = KERNEL_F32,
    .out = KERNEL_F32,
    .min_cc = 75,
    .multiple_m = 1,
    .multiple_n = 1,
    .multiple_k = 1,
}};
