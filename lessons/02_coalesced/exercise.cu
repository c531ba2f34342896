/* exercise 2 - two columns a thread, 32 apart.
 *
 * A thread owns the outputs (row, col) and (row, col + 32). Both need the same cell of A:
 * it is loaded once and used twice. As it came, only the first is summed up. Predict
 * the sectors per request before you run: three loads now serve two multiply-adds.
 *
 *     make lesson2 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --counters             only yours
 */
#include "kernel.h"

enum { THREADS_X = 32, THREADS_Y = 8, BM = THREADS_Y, BN = 2 * THREADS_X };

extern "C" __global__ void __launch_bounds__(THREADS_X *THREADS_Y)
    exercise_2(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
               int ldb, float beta, float *c, int ldc)
{
    /* where am I */
    int row = blockIdx.y * BM + threadIdx.y;
    int col = blockIdx.x * BN + threadIdx.x;
    int col_2 = col + THREADS_X;
    if (row >= m || col >= n)
        return;

    /* multiply */
    float sum = 0.0f, sum_2 = 0.0f;
    for (int i = 0; i < k; i++) {
        float a_value = a[(size_t)row * lda + i];
        sum += a_value * b[(size_t)i * ldb + col];
        /* FILL IN: the same for sum_2 and col_2. Mind the edge: where col_2 >= n there is
         * no such cell of B, and the simulator will tell you so. */
    }

    /* store */
    float *out = &c[(size_t)row * ldc];
    out[col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * out[col];
    if (col_2 < n)
        out[col_2] = beta == 0.0f ? alpha * sum_2 : alpha * sum_2 + beta * out[col_2];
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 2,
    .name = "my_coalesced",
    .entry = "exercise_2",
    .title = "two columns a thread: add the second",
    .bm = BM,
    .bn = BN,
    .bk = 1,
    .block_x = THREADS_X,
    .block_y = THREADS_Y,
    .grid = KERNEL_GRID_X_IS_N,
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
