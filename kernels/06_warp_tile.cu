/* 06_warp_tile - warps own tiles, and the next tile arrives while this one is multiplied.
 *
 * Idea     two levels: a warp's 64x32 tile keeps its shared reads few, and cp.async
 *          fills one stage of shared memory while the warps read the other.
 * Changed  from 05: threads are laid out by warp; a_tile is not transposed (a copy
 *          cannot transpose), a thread reads 4 steps of k of a row at once instead;
 *          copies are asynchronous, with two stages.
 * Shapes   a [m][k] lda, b [k][n] ldb, c [m][n] ldc, row-major, any size. cp.async
 *          fills cells outside A and B with zeros. Rows that are not 16-byte aligned
 *          are copied 4 bytes at a time.
 * Launch   tile 128x128x16, 256 threads = 8 warps, 36 KiB static shared memory;
 *          grid (ceil(n / 128), ceil(m / 128)). Needs compute capability 8.0.
 * Expect   as 05 for traffic; per warp and 4 steps of k 8 + 8 shared loads of 16 bytes
 *          for 256 multiply-adds a thread. Rows of a_tile are padded to 20 floats:
 *          8 rows start in 8 different groups of banks, no conflicts: 2 wavefronts a
 *          load of A (4 lanes share it), 4 of B. Copies into a_tile have some.
 * Limit    instruction issue: what is not an FMA costs. Tensor cores come next.
 */
#include "kernel.h"

enum { BM = 128, BN = 128, BK = 16, TM = 8, TN = 8, STAGES = 2 };
enum { WARP_M = 64, WARP_N = 32, WARPS_N = BN / WARP_N, LANES_M = 8, LANES_N = 4 };
enum { THREADS = 32 * (BM / WARP_M) * WARPS_N, A_STRIDE = BK + 4 };

static_assert(LANES_M * TM == WARP_M && LANES_N * TN == WARP_N,
              "a warp tile is 8x4 threads");
static_assert(BM * BK % (4 * THREADS) == 0 && BN * BK % (4 * THREADS) == 0,
              "every thread copies the same number of 16-byte pieces");
static_assert(BK % 4 == 0 && A_STRIDE % 4 == 0,
              "rows of a_tile are whole 16-byte pieces");

/* Start copying 4 (16) bytes, of which only the first `valid` are read; the rest of
 * the destination becomes zero. */
static __device__ void copy_4(float *to, const float *from, int valid)
{
    unsigned to_shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to_shared),
                 "l"(from), "r"(valid)
                 : "memory");
}

static __device__ void copy_16(float *to, const float *from, int valid)
{
    unsigned to_shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_shared),
                 "l"(from), "r"(valid)
                 : "memory");
}

/* Start copying a tile of rows x cols cells; `tile_stride` floats a row. */
static __device__ void copy_tile(float *tile, int tile_stride, const float *from, int ld,
                                 int row0, int col0, int rows, int cols, int row_end,
                                 int col_end, bool aligned)
{
    for (int i = threadIdx.x; i < rows * cols / 4; i += THREADS) {
        int row = row0 + i / (cols / 4);
        int col = col0 + i % (cols / 4) * 4;
        float *to = &tile[i / (cols / 4) * tile_stride + i % (cols / 4) * 4];
        int valid = row < row_end ? min(max(col_end - col, 0), 4) : 0;
        const float *cell = valid > 0 ? &from[(size_t)row * ld + col] : from;
        if (aligned) {
            copy_16(to, cell, valid * 4);
        } else {
            for (int j = 0; j < 4; j++)
                copy_4(&to[j], j < valid ? &cell[j] : from, j < valid ? 4 : 0);
        }
    }
}

/* Four neighbour cells of a row of C = alpha * sum + beta * C, inside cells only. */
static __device__ void store_four(float *cell, int left, bool aligned, float alpha,
                                  const float *sum, float beta)
{
    if (aligned && left >= 4) {
        float4 old = {0.0f, 0.0f, 0.0f, 0.0f};
        if (beta != 0.0f)
            old = *(const float4 *)cell;
        float4 four = {alpha * sum[0] + beta * old.x, alpha * sum[1] + beta * old.y,
                       alpha * sum[2] + beta * old.z, alpha * sum[3] + beta * old.w};
        *(float4 *)cell = four;
        return;
    }
    for (int j = 0; j < 4; j++)
        if (j < left)
            cell[j] = beta == 0.0f ? alpha * sum[j] : alpha * sum[j] + beta * cell[j];
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    sgemm_warp_tile(int m, int n, int k, float alpha, const float *a, int lda,
                    const float *b, int ldb, float beta, float *c, int ldc)
{
    __shared__ __align__(16) float a_tile[STAGES][BM * A_STRIDE];
    __shared__ __align__(16) float b_tile[STAGES][BK * BN];

    /* where am I */
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row_in_block = warp / WARPS_N * WARP_M + lane / LANES_N;
    int col_in_block = warp % WARPS_N * WARP_N + lane % LANES_N * 4;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;
    bool a_aligned = lda % 4 == 0 && (size_t)a % 16 == 0;
    bool b_aligned = ldb % 4 == 0 && (size_t)b % 16 == 0;

    float sum[TM][TN] = {{0.0f}};
    int stage = 0;
    for (int k0 = -BK; k0 < k; k0 += BK) {
        /* load the tile after this one */
        if (k0 + BK < k) {
            copy_tile(a_tile[stage], A_STRIDE, a, lda, row0, k0 + BK, BM, BK, m, k,
                      a_aligned);
            copy_tile(b_tile[stage], BN, b, ldb, k0 + BK, col0, BK, BN, k, n, b_aligned);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        stage ^= 1;
        if (k0 < 0)
            continue; /* the first round only fills stage 0 */
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();

        /* multiply */
#pragma unroll
        for (int i = 0; i < BK; i += 4) {
            float a_frag[TM][4];
#pragma unroll
            for (int r = 0; r < TM; r++)
                *(float4 *)a_frag[r] =
                    *(const float4 *)&a_tile[stage]
                                            [(row_in_block + r * LANES_M) * A_STRIDE + i];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float b_frag[TN];
                const float *b_row = &b_tile[stage][(i + j) * BN + col_in_block];
                *(float4 *)&b_frag[0] = *(const float4 *)&b_row[0];
                *(float4 *)&b_frag[4] = *(const float4 *)&b_row[LANES_N * 4];
#pragma unroll
                for (int r = 0; r < TM; r++)
#pragma unroll
                    for (int s = 0; s < TN; s++)
                        sum[r][s] += a_frag[r][j] * b_frag[s];
            }
        }
        __syncthreads();
    }

    /* store */
    bool c_aligned = ldc % 4 == 0 && (size_t)c % 16 == 0;
#pragma unroll
    for (int r = 0; r < TM; r++) {
        int row = row0 + row_in_block + r * LANES_M;
        if (row < m) {
            int col = col0 + col_in_block;
            float *out = &c[(size_t)row * ldc + col];
            store_four(out, n - col, c_aligned, alpha, &sum[r][0], beta);
            store_four(out + LANES_N * 4, n - col - LANES_N * 4, c_aligned, alpha,
                       &sum[r][4], beta);
        }
    }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 6,
    .name = "warp_tile",
    .entry = "sgemm_warp_tile",
    .title = "warp tiles, cp.async double buffer",
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
