/* 03_shared_tile - a block fetches square tiles into shared memory and reuses them.
 *
 * Idea     every element of a tile is loaded from global memory once and used by 32
 *          threads, so global traffic falls 32-fold.
 * Changed  from 02: the loop over k goes in steps of a tile; each step is load,
 *          barrier, multiply, barrier.
 * Shapes   a [m][k] lda, b [k][n] ldb, c [m][n] ldc, row-major, any size; cells
 *          outside A and B are read as zero.
 * Launch   grid (ceil(n / 32), ceil(m / 32)), block (32, 32), 8 KiB static shared.
 * Expect   a warp is 32 neighbour columns of one row. Per step of k it reads from
 *          shared memory one cell of a_tile (broadcast, 1 wavefront when alone) and
 *          a row of b_tile (1 wavefront). Per tile it loads two global rows of 32
 *          floats: 4 sectors a request.
 *          Global load requests 2 m n k / 32 / 32, no bank conflicts. ptxas makes four
 *          cells of a_tile one 128-bit load (2 wavefronts): 1.5 m n k / 32 wavefronts.
 * Limit    two shared loads for one multiply-add: the shared-memory pipe. Next: more
 *          outputs a thread, held in registers.
 */
#include "kernel.h"

enum { TILE = 32, BM = TILE, BN = TILE, BK = TILE };

extern "C" __global__ void __launch_bounds__(BM *BN)
    sgemm_shared_tile(int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];

    /* where am I */
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * BM + ty;
    int col = blockIdx.x * BN + tx;

    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        int a_col = k0 + tx;
        int b_row = k0 + ty;
        a_tile[ty][tx] = row < m && a_col < k ? a[(size_t)row * lda + a_col] : 0.0f;
        b_tile[ty][tx] = b_row < k && col < n ? b[(size_t)b_row * ldb + col] : 0.0f;
        __syncthreads();

        /* multiply */
        for (int i = 0; i < BK; i++)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }

    /* store */
    if (row < m && col < n) {
        float *out = &c[(size_t)row * ldc + col];
        *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
    }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 3,
    .name = "shared_tile",
    .entry = "sgemm_shared_tile",
    .title = "square tiles in shared memory",
    .bm = BM,
    .bn = BN,
    .bk = BK,
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
