/* 07_wmma - tensor cores through the WMMA interface: FP16 in, FP32 sums.
 *
 * Idea     one instruction of a warp multiplies 16x16 by 16x16 and adds to a 16x16
 *          sum that is spread over the registers of the warp's 32 threads.
 * Changed  from 03: the tiles are FP16, each warp owns 32x32 outputs as 2x2
 *          fragments, and mma_sync replaces the inner loop.
 * Shapes   a [m][k] lda, b [k][n] ldb in FP16, c [m][n] ldc in FP32, row-major, any
 *          size; cells outside A and B are read as zero.
 * Launch   grid (ceil(n / 64), ceil(m / 64)), block (128, 1), static shared memory.
 * Expect   2 m n k tensor FLOPs (sizes rounded up to the tile), 16x16x16 at a time:
 *          m n k / 4096 mma instructions of a warp.
 * Limit    loading: every tile waits for global memory while the tensor cores are idle.
 *          Next: asynchronous copies and mma.sync.
 */
#include <cuda_fp16.h>
#include <mma.h>

#include "kernel.h"

using namespace nvcuda;

enum { BM = 64, BN = 64, BK = 32, WARPS = 4, THREADS = 32 * WARPS };
enum { FRAG = 16, WARP_TILE = 32, PAD = 8 }; /* PAD halves keep rows off one bank */
enum { A_STRIDE = BK + PAD, B_STRIDE = BN + PAD };

static_assert(BM == 2 * WARP_TILE && BN == 2 * WARP_TILE, "four warps in a 2x2 square");
static_assert(BK % FRAG == 0, "the k loop goes in steps of a fragment");

/* Copy rows x cols cells from global to shared memory, eight (16 bytes) at a time where
 * rows are aligned; outside cells become 0. */
static __device__ void load_tile(half *tile, int tile_stride, const half *from, int ld,
                                 int row0, int col0, int rows, int cols, int row_end,
                                 int col_end, bool aligned)
{
    for (int i = threadIdx.x; i < rows * cols / 8; i += THREADS) {
        int row = i / (cols / 8);
        int col = i % (cols / 8) * 8;
        half *to = &tile[row * tile_stride + col];
        const half *cell = &from[(size_t)(row0 + row) * ld + col0 + col];
        if (aligned && row0 + row < row_end && col0 + col + 8 <= col_end) {
            *(float4 *)to = *(const float4 *)cell;
        } else {
            for (int j = 0; j < 8; j++) {
                bool inside = row0 + row < row_end && col0 + col + j < col_end;
                to[j] = inside ? cell[j] : __float2half(0.0f);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    hgemm_wmma(int m, int n, int k, float alpha, const half *a, int lda, const half *b,
               int ldb, float beta, float *c, int ldc)
{
    __shared__ __align__(32) half a_tile[BM * A_STRIDE];
    __shared__ __align__(32) half b_tile[BK * B_STRIDE];
    __shared__ __align__(32) float c_patch[WARPS][FRAG * FRAG];

    /* where am I */
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int warp_row = warp / 2 * WARP_TILE;
    int warp_col = warp % 2 * WARP_TILE;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;
    bool a_aligned = lda % 8 == 0 && (size_t)a % 16 == 0;
    bool b_aligned = ldb % 8 == 0 && (size_t)b % 16 == 0;

    wmma::fragment<wmma::accumulator, FRAG, FRAG, FRAG, float> c_frag[2][2];
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(c_frag[i][j], 0.0f);

    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        load_tile(a_tile, A_STRIDE, a, lda, row0, k0, BM, BK, m, k, a_aligned);
        load_tile(b_tile, B_STRIDE, b, ldb, k0, col0, BK, BN, k, n, b_aligned);
        __syncthreads();

        /* multiply */
        for (int kk = 0; kk < BK; kk += FRAG) {
            wmma::fragment<wmma::matrix_a, FRAG, FRAG, FRAG, half, wmma::row_major>
                a_frag[2];
            wmma::fragment<wmma::matrix_b, FRAG, FRAG, FRAG, half, wmma::row_major>
                b_frag[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(
                    a_frag[i], &a_tile[(warp_row + i * FRAG) * A_STRIDE + kk], A_STRIDE);
                wmma::load_matrix_sync(
                    b_frag[i], &b_tile[kk * B_STRIDE + warp_col + i * FRAG], B_STRIDE);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(c_frag[i][j], a_frag[i], b_frag[j], c_frag[i][j]);
        }
        __syncthreads();
    }

    /* store: a fragment's layout is the hardware's secret, so it goes through shared
     * memory, where every thread knows which cell is which */
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            wmma::store_matrix_sync(c_patch[warp], c_frag[i][j], FRAG,
                                    wmma::mem_row_major);
            __syncwarp();
            for (int cell = lane; cell < FRAG * FRAG; cell += 32) {
                int row = row0 + warp_row + i * FRAG + cell / FRAG;
                int col = col0 + warp_col + j * FRAG + cell % FRAG;
                if (row < m && col < n) {
                    float sum = c_patch[warp][cell];
                    float *out = &c[(size_t)row * ldc + col];
                    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
                }
            }
            __syncwarp();
        }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 7,
    .name = "wmma",
    .entry = "hgemm_wmma",
    .title = "tensor cores through WMMA, FP16 in, FP32 sum",
    .bm = BM,
    .bn = BN,
    .bk = BK,
    .block_x = THREADS,
    .block_y = 1,
    .grid = KERNEL_GRID_X_IS_N,
    .dynamic_smem_bytes = 0,
    .unit = KERNEL_TENSOR_CORES,
    .in = KERNEL_F16,
    .acc = KERNEL_F32,
    .out = KERNEL_F32,
    .min_cc = 75,
    .multiple_m = 1,
    .multiple_n = 1,
    .multiple_k = 1,
}};
