/* exercise 3 - a tile of 16 x 16 in shared memory.
 *
 * The tiles are loaded for you. What is missing is their use, and the barrier that keeps
 * the next load away from a tile that is still being read. A result that is right
 * without the second barrier is luck: let `./run -k exercise --check` judge it.
 *
 *     make lesson3 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --counters             only yours
 */
#include "kernel.h"

enum { TILE = 16, BM = TILE, BN = TILE, BK = TILE };

extern "C" __global__ void __launch_bounds__(BM *BN)
    exercise_3(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
               int ldb, float beta, float *c, int ldc)
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
        /* FILL IN: BK multiply-adds with this thread's row of a_tile and column of b_tile.
         * Then the second barrier. */
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
    .name = "my_shared_tile",
    .entry = "exercise_3",
    .title = "tiles of 16 x 16: use them, and keep them whole",
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
