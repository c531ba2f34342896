/* exercise 4 - 4 x 4 outputs a thread, in registers.
 *
 * A block of 256 threads owns 64 x 64 outputs, a thread 16 of them: rows ty, ty + 16, ...
 * and columns tx, tx + 16, ... of the tile. Neighbour threads read neighbour words, so
 * there is no bank conflict. As it came, nothing is multiplied.
 *
 *     make lesson4 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --counters             only yours
 */
#include "kernel.h"

enum { BM = 64, BN = 64, BK = 8, TM = 4, TN = 4, SIDE = 16, THREADS = SIDE * SIDE };

static_assert(SIDE * TM == BM && SIDE * TN == BN, "the threads cover the tile");

extern "C" __global__ void __launch_bounds__(THREADS)
    exercise_4(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
               int ldb, float beta, float *c, int ldc)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];

    /* where am I */
    int tx = threadIdx.x % SIDE;
    int ty = threadIdx.x / SIDE;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;

    float sum[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            int row = row0 + i / BK, col = k0 + i % BK;
            a_tile[i / BK][i % BK] =
                row < m && col < k ? a[(size_t)row * lda + col] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            int row = k0 + i / BN, col = col0 + i % BN;
            b_tile[i / BN][i % BN] =
                row < k && col < n ? b[(size_t)row * ldb + col] : 0.0f;
        }
        __syncthreads();

        /* multiply */
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float a_frag[TM], b_frag[TN];
#pragma unroll
            for (int r = 0; r < TM; r++)
                a_frag[r] = a_tile[ty + r * SIDE][i];
#pragma unroll
            for (int s = 0; s < TN; s++)
                b_frag[s] = b_tile[i][tx + s * SIDE];
            /* FILL IN: the outer product. Every value of a_frag meets every value of
             * b_frag; 16 multiply-adds. Both loops need #pragma unroll: only places that
             * the compiler knows can stay in registers. */
        }
        __syncthreads();
    }

    /* store */
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++) {
            int row = row0 + ty + r * SIDE, col = col0 + tx + s * SIDE;
            float *out = &c[(size_t)row * ldc + col];
            if (row < m && col < n)
                *out = alpha * sum[r][s] + (beta == 0.0f ? 0.0f : beta * *out);
        }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 4,
    .name = "my_register_tile",
    .entry = "exercise_4",
    .title = "4 x 4 outputs a thread: write the outer product",
    .bm = BM,
    .bn = BN,
    .bk = BK,
    .block_x = THREADS,
    .block_y = 1,
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
