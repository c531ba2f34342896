/* 02_coalesced - as 01_naive, but neighbour threads take neighbour columns.
 *
 * Idea     the 32 loads of a warp become one row piece of 128 bytes.
 * Changed  from 01: threadIdx.x walks along n instead of m. Nothing else.
 * Shapes   a [m][k] lda, b [k][n] ldb, c [m][n] ldc, row-major, any size.
 * Launch   grid (ceil(n / 32), ceil(m / 8)), block (32, 8), no shared memory.
 * Expect   a warp is 32 neighbour columns of one row, so each step of k
 *            loads A from one cell: 1 sector a request,
 *            loads B from 32 neighbours: 4 sectors a request,
 *            multiplies once.
 *          Global load requests 2 m n k / 32, sectors 5 m n k / 32
 *          (when ldb is a multiple of 8, so that rows start on a sector).
 * Limit    still two loads for one multiply-add: the load path. Next: fetch a tile
 *          once into shared memory and use it 32 times.
 */
#include "kernel.h"

enum { BM = 8, BN = 32 };

extern "C" __global__ void __launch_bounds__(BM *BN)
    sgemm_coalesced(int m, int n, int k, float alpha, const float *a, int lda,
                    const float *b, int ldb, float beta, float *c, int ldc)
{
    /* where am I */
    int row = blockIdx.y * BM + threadIdx.y;
    int col = blockIdx.x * BN + threadIdx.x;
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
    .lesson = 2,
    .name = "coalesced",
    .entry = "sgemm_coalesced",
    .title = "neighbour threads on neighbour columns",
    .bm = BM,
    .bn = BN,
    .bk = 1,
    .block_x = BN,
    .block_y = BM,
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
