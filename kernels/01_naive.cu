/* 01_naive - one thread computes one output; neighbour threads take neighbour rows.
 *
 * Idea     the plainest matmul there is: every thread walks one row of A and one
 *          column of B and keeps its sum in a register.
 * Shapes   a [m][k] lda, b [k][n] ldb, c [m][n] ldc, row-major, any size.
 * Launch   grid (ceil(m / 32), ceil(n / 8)), block (32, 8), no shared memory.
 * Expect   a warp is 32 neighbour rows of one column, so each step of k
 *            loads A from 32 rows: 32 sectors a request (1 would hold 8 floats),
 *            loads B from one cell: 1 sector a request,
 *            multiplies once.
 *          Global load requests 2 m n k / 32, sectors 33 m n k / 32.
 * Limit    the load path: 33 sectors move for 32 multiply-adds. Next: let
 *          neighbour threads take neighbour columns.
 */
#include "kernel.h"

enum { BM = 32, BN = 8 };

extern "C" __global__ void __launch_bounds__(BM *BN)
    sgemm_naive(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                int ldb, float beta, float *c, int ldc)
{
    /* where am I */
    int row = blockIdx.x * BM + threadIdx.x;
    int col = blockIdx.y * BN + threadIdx.y;
    if (row >= m || col >= n)
        return;

    /* multiply */
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[(size_t)row * lda + i] * b[(size_t)i * ldb + col];

    /* store */
    float *out = &c[(size_t)row * ldc + col];
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 1,
    .name = "naive",
    .entry = "sgemm_naive",
    .title = "one thread an output, uncoalesced",
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
