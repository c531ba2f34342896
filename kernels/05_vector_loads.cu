/* 05_vector_loads - 16 bytes at a time, A transposed in shared memory, no conflicts.
 *
 * Idea     one 128-bit load moves four floats for the price of one instruction.
 * Changed  from 04 (2-D): tiles are fetched as float4; a_tile is stored transposed, so
 *          that a thread's rows are neighbours; a thread's 8 columns are two groups
 *          of 4, 64 apart, so that neighbour threads read neighbour 16-byte pieces.
 * Shapes   a [m][k] lda, b [k][n] ldb, c [m][n] ldc, row-major, any size. Tiles inside
 *          A and B with 16-byte aligned rows take the wide path, others cell by cell.
 * Launch   tile 128x128x8, 256 threads; grid (ceil(n / 128), ceil(m / 128)).
 * Expect   global loads 16 bytes a lane: 16 sectors a request.
 *          Per warp and step of k: 4 shared loads of 16 bytes for 64 multiply-adds a
 *          thread: 2 wavefronts each for A (half-warps share), 4 for B, 12 in all.
 *          Rows of a_tile are padded by 4 floats, so that the two groups of k that a warp
 *          stores use different banks: no store conflicts.
 * Limit    a warp still waits for each tile. Next: warp tiles and asynchronous copies.
 */
#include "kernel.h"

enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = BM * BN / (TM * TN) };
enum { A_STRIDE = BM + 4, HALF_M = BM / 2, HALF_N = BN / 2 };

static_assert(BM * BK == 4 * THREADS && BN * BK == 4 * THREADS,
              "every thread loads one float4 of each tile");
static_assert(TM == 8 && TN == 8, "two groups of four rows and of four columns");

/* Four neighbour cells of a row; outside cells are 0. */
static __device__ float4 read_four(const float *from, int ld, int row, int col, int rows,
                                   int cols, bool aligned)
{
    const float *cell = &from[(size_t)row * ld + col];
    if (aligned && row < rows && col + 3 < cols)
        return *(const float4 *)cell;
    float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row < rows) {
        if (col < cols)
            four.x = cell[0];
        if (col + 1 < cols)
            four.y = cell[1];
        if (col + 2 < cols)
            four.z = cell[2];
        if (col + 3 < cols)
            four.w = cell[3];
    }
    return four;
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
    sgemm_vector_loads(int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc)
{
    __shared__ __align__(16) float a_tile[BK][A_STRIDE];
    __shared__ __align__(16) float b_tile[BK][BN];

    /* where am I */
    int tx = threadIdx.x % (BN / TN);
    int ty = threadIdx.x / (BN / TN);
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;
    int a_row = threadIdx.x / (BK / 4), a_col = threadIdx.x % (BK / 4) * 4;
    int b_row = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    bool a_aligned = lda % 4 == 0 && (size_t)a % 16 == 0;
    bool b_aligned = ldb % 4 == 0 && (size_t)b % 16 == 0;

    float sum[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        float4 four = read_four(a, lda, row0 + a_row, k0 + a_col, m, k, a_aligned);
        a_tile[a_col + 0][a_row] = four.x;
        a_tile[a_col + 1][a_row] = four.y;
        a_tile[a_col + 2][a_row] = four.z;
        a_tile[a_col + 3][a_row] = four.w;
        *(float4 *)&b_tile[b_row][b_col] =
            read_four(b, ldb, k0 + b_row, col0 + b_col, k, n, b_aligned);
        __syncthreads();

        /* multiply */
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float a_frag[TM], b_frag[TN];
            *(float4 *)&a_frag[0] = *(const float4 *)&a_tile[i][ty * 4];
            *(float4 *)&a_frag[4] = *(const float4 *)&a_tile[i][HALF_M + ty * 4];
            *(float4 *)&b_frag[0] = *(const float4 *)&b_tile[i][tx * 4];
            *(float4 *)&b_frag[4] = *(const float4 *)&b_tile[i][HALF_N + tx * 4];
#pragma unroll
            for (int r = 0; r < TM; r++)
#pragma unroll
                for (int s = 0; s < TN; s++)
                    sum[r][s] += a_frag[r] * b_frag[s];
        }
        __syncthreads();
    }

    /* store */
    bool c_aligned = ldc % 4 == 0 && (size_t)c % 16 == 0;
#pragma unroll
    for (int r = 0; r < TM; r++) {
        int row = row0 + r / 4 * HALF_M + ty * 4 + r % 4;
        if (row < m) {
            int col = col0 + tx * 4;
            float *out = &c[(size_t)row * ldc + col];
            store_four(out, n - col, c_aligned, alpha, &sum[r][0], beta);
            store_four(out + HALF_N, n - col - HALF_N, c_aligned, alpha, &sum[r][4],
                       beta);
        }
    }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 5,
    .name = "vector_loads",
    .entry = "sgemm_vector_loads",
    .title = "16-byte loads, A transposed, no bank conflicts",
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
