/* 04_register_tile - a thread computes several outputs and keeps operands in registers.
 *
 * Idea     a value that was read from shared memory is used TM (or TN) times before it
 *          is dropped: 1-D, a thread owns a column of 8 outputs; 2-D, 8x8 outputs.
 * Changed  from 03: `sum` becomes an array, the inner loop an outer product.
 * Shapes   a [m][k] lda, b [k][n] ldb, c [m][n] ldc, row-major, any size; cells
 *          outside A and B are read as zero.
 * Launch   1-D: tile 64x64x8, 512 threads; 2-D: tile 128x128x8, 256 threads;
 *          grid (ceil(n / BN), ceil(m / BM)), static shared memory.
 * Expect   global loads 2 m n k / tile instead of / 32: L2 sees m n k * 8 / tile bytes.
 *          Shared loads of a thread per multiply-add: 1-D 9 for 8, 2-D 16 for 64; ptxas
 *          makes neighbours one 128-bit load: 1-D 3 for 8, 2-D 4 for 64. Wavefronts of
 *          a warp and step of k: 1-D 5, 2-D 20, of which 8 are bank conflicts.
 * Limit    2-D: rows of b_tile collide in the banks, and global memory is read 4 bytes at
 *          a time. Next: 16-byte loads and a better layout.
 */
#include "kernel.h"

enum { BK = 8, TM = 8, TN = 8 };
enum { BM_1D = 64, BN_1D = 64, THREADS_1D = BM_1D * BN_1D / TM };
enum { BM_2D = 128, BN_2D = 128, THREADS_2D = BM_2D * BN_2D / (TM * TN) };

static_assert(BM_1D * BK == THREADS_1D && BN_1D * BK == THREADS_1D,
              "1-D: every thread loads one cell of each tile");
static_assert(BM_2D * BK % THREADS_2D == 0 && BN_2D * BK % THREADS_2D == 0,
              "2-D: every thread loads the same number of cells");

static __device__ float read_cell(const float *from, int ld, int row, int col, int rows,
                                  int cols)
{
    return row < rows && col < cols ? from[(size_t)row * ld + col] : 0.0f;
}

static __device__ void store_cell(float *cell, float alpha, float sum, float beta)
{
    *cell = beta == 0.0f ? alpha * sum : alpha * sum + beta * *cell;
}

extern "C" __global__ void __launch_bounds__(THREADS_1D)
    sgemm_register_tile_1d(int m, int n, int k, float alpha, const float *a, int lda,
                           const float *b, int ldb, float beta, float *c, int ldc)
{
    __shared__ float a_tile[BM_1D][BK];
    __shared__ float b_tile[BK][BN_1D];

    /* where am I */
    int tx = threadIdx.x % BN_1D;
    int ty = threadIdx.x / BN_1D;
    int row0 = blockIdx.y * BM_1D;
    int col0 = blockIdx.x * BN_1D;
    int a_row = threadIdx.x / BK, a_col = threadIdx.x % BK;
    int b_row = threadIdx.x / BN_1D, b_col = threadIdx.x % BN_1D;

    float sum[TM] = {0.0f};
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        a_tile[a_row][a_col] = read_cell(a, lda, row0 + a_row, k0 + a_col, m, k);
        b_tile[b_row][b_col] = read_cell(b, ldb, k0 + b_row, col0 + b_col, k, n);
        __syncthreads();

        /* multiply */
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float b_value = b_tile[i][tx];
#pragma unroll
            for (int r = 0; r < TM; r++)
                sum[r] += a_tile[ty * TM + r][i] * b_value;
        }
        __syncthreads();
    }

    /* store */
    int col = col0 + tx;
#pragma unroll
    for (int r = 0; r < TM; r++) {
        int row = row0 + ty * TM + r;
        if (row < m && col < n)
            store_cell(&c[(size_t)row * ldc + col], alpha, sum[r], beta);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS_2D, 2)
    sgemm_register_tile_2d(int m, int n, int k, float alpha, const float *a, int lda,
                           const float *b, int ldb, float beta, float *c, int ldc)
{
    __shared__ float a_tile[BM_2D][BK];
    __shared__ float b_tile[BK][BN_2D];

    /* where am I */
    int tx = threadIdx.x % (BN_2D / TN);
    int ty = threadIdx.x / (BN_2D / TN);
    int row0 = blockIdx.y * BM_2D;
    int col0 = blockIdx.x * BN_2D;

    float sum[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        for (int i = threadIdx.x; i < BM_2D * BK; i += THREADS_2D)
            a_tile[i / BK][i % BK] = read_cell(a, lda, row0 + i / BK, k0 + i % BK, m, k);
        for (int i = threadIdx.x; i < BK * BN_2D; i += THREADS_2D)
            b_tile[i / BN_2D][i % BN_2D] =
                read_cell(b, ldb, k0 + i / BN_2D, col0 + i % BN_2D, k, n);
        __syncthreads();

        /* multiply */
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float a_frag[TM], b_frag[TN];
#pragma unroll
            for (int r = 0; r < TM; r++)
                a_frag[r] = a_tile[ty * TM + r][i];
#pragma unroll
            for (int s = 0; s < TN; s++)
                b_frag[s] = b_tile[i][tx * TN + s];
#pragma unroll
            for (int r = 0; r < TM; r++)
#pragma unroll
                for (int s = 0; s < TN; s++)
                    sum[r][s] += a_frag[r] * b_frag[s];
        }
        __syncthreads();
    }

    /* store */
#pragma unroll
    for (int r = 0; r < TM; r++) {
        int row = row0 + ty * TM + r;
        if (row >= m)
            break;
        float *out = &c[(size_t)row * ldc + col0 + tx * TN];
#pragma unroll
        for (int s = 0; s < TN; s++)
            if (col0 + tx * TN + s < n)
                store_cell(&out[s], alpha, sum[r][s], beta);
    }
}

KERNEL_INFO = {{
                   .version = KERNEL_INFO_VERSION,
                   .lesson = 4,
                   .name = "register_tile_1d",
                   .entry = "sgemm_register_tile_1d",
                   .title = "8 outputs a thread, in registers",
                   .bm = BM_1D,
                   .bn = BN_1D,
                   .bk = BK,
                   .block_x = THREADS_1D,
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
               },
               {
                   .version = KERNEL_INFO_VERSION,
                   .lesson = 4,
                   .name = "register_tile_2d",
                   .entry = "sgemm_register_tile_2d",
                   .title = "8x8 outputs a thread, in registers",
                   .bm = BM_2D,
                   .bn = BN_2D,
                   .bk = BK,
                   .block_x = THREADS_2D,
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
