/* exercise 6 - copies that run two tiles ahead.
 *
 * Three stages of shared memory: while tile t is multiplied, t + 1 and t + 2 are on their
 * way. The first two copies are started before the loop. As it came, nothing starts the
 * others, so that only the first two tiles of A and B are ever seen.
 * Every round closes one group, be it empty: then "at most 1 group on its way" always
 * means that tile t is there.
 *
 *     make lesson6 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --check                is a stage filled while it is read?
 */
#include "kernel.h"

enum { BM = 64, BN = 64, BK = 16, TM = 4, TN = 4, SIDE = 16, THREADS = SIDE * SIDE };
enum { STAGES = 3, A_STRIDE = BK + 1 };

/* Start copying 4 bytes; where `inside` is false, 4 bytes of zero. */
static __device__ void copy_cell(float *to, const float *from, bool inside)
{
    unsigned to_shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to_shared),
                 "l"(from), "r"(inside ? 4 : 0)
                 : "memory");
}

/* Start copying a tile of rows x cols cells from (row0, col0) on. */
static __device__ void copy_tile(float *tile, int tile_stride, const float *from, int ld,
                                 int row0, int col0, int rows, int cols, int row_end,
                                 int col_end)
{
    for (int i = threadIdx.x; i < rows * cols; i += THREADS) {
        int row = row0 + i / cols, col = col0 + i % cols;
        bool inside = row < row_end && col < col_end;
        copy_cell(&tile[i / cols * tile_stride + i % cols],
                  inside ? &from[(size_t)row * ld + col] : from, inside);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    exercise_6(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
               int ldb, float beta, float *c, int ldc)
{
    __shared__ float a_tile[STAGES][BM * A_STRIDE];
    __shared__ float b_tile[STAGES][BK * BN];

    /* where am I */
    int tx = threadIdx.x % SIDE;
    int ty = threadIdx.x / SIDE;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;

    /* load the first two tiles */
    for (int t = 0; t < STAGES - 1; t++) {
        copy_tile(a_tile[t], A_STRIDE, a, lda, row0, t * BK, BM, BK, m, k);
        copy_tile(b_tile[t], BN, b, ldb, t * BK, col0, BK, BN, k, n);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    float sum[TM][TN] = {{0.0f}};
    for (int t = 0; t * BK < k; t++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();

        /* load the tile after the next */
        /* FILL IN: start the copies of tile t + 2 of A and of B. Which stage is free, now
         * that all threads have passed the barrier? */
        asm volatile("cp.async.commit_group;" ::: "memory");

        /* multiply */
        const float *a_now = a_tile[t % STAGES], *b_now = b_tile[t % STAGES];
#pragma unroll
        for (int i = 0; i < BK; i++)
#pragma unroll
            for (int r = 0; r < TM; r++)
#pragma unroll
                for (int s = 0; s < TN; s++)
                    sum[r][s] += a_now[(ty + r * SIDE) * A_STRIDE + i] *
                                 b_now[i * BN + tx + s * SIDE];
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
    .lesson = 6,
    .name = "my_warp_tile",
    .entry = "exercise_6",
    .title = "three stages: start the copies that run ahead",
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
    .min_cc = 80,
    .multiple_m = 1,
    .multiple_n = 1,
    .multiple_k = 1,
}};
