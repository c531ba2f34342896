/* exercise 5 - 16 bytes at a time, and A transposed on the way in.
 *
 * 64 x 64 outputs a block, 4 x 4 a thread, 256 threads: in each step a thread fetches one
 * float4 of A or of B. A thread of the first half holds four neighbours of a row of A.
 * The multiply loop wants them in a column: a_tile[k][row]. As it came, they are dropped.
 * Sizes and leading dimensions that are no multiple of 4 take the slow path, read_cell.
 *
 *     make lesson5 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --counters             only yours: how many store conflicts?
 */
#include "kernel.h"

enum { BM = 64, BN = 64, BK = 8, TM = 4, TN = 4, SIDE = 16, THREADS = SIDE * SIDE };
enum { A_STRIDE = BM + 4, HALF = THREADS / 2 };

static_assert(BM * BK == 4 * HALF && BK * BN == 4 * HALF, "one float4 a thread");

static __device__ float read_cell(const float *from, int ld, int row, int col, int rows,
                                  int cols)
{
    return row < rows && col < cols ? from[(size_t)row * ld + col] : 0.0f;
}

/* Four neighbour cells of a row; outside cells are 0. */
static __device__ float4 read_four(const float *from, int ld, int row, int col, int rows,
                                   int cols)
{
    if (ld % 4 == 0 && (size_t)from % 16 == 0 && row < rows && col + 3 < cols)
        return *(const float4 *)&from[(size_t)row * ld + col];
    float4 four = {read_cell(from, ld, row, col, rows, cols),
                   read_cell(from, ld, row, col + 1, rows, cols),
                   read_cell(from, ld, row, col + 2, rows, cols),
                   read_cell(from, ld, row, col + 3, rows, cols)};
    return four;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    exercise_5(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
               int ldb, float beta, float *c, int ldc)
{
    __shared__ __align__(16) float a_tile[BK][A_STRIDE];
    __shared__ __align__(16) float b_tile[BK][BN];

    /* where am I */
    int tx = threadIdx.x % SIDE;
    int ty = threadIdx.x / SIDE;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;
    int piece = threadIdx.x % HALF;

    float sum[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        if (threadIdx.x < HALF) {
            int row = piece / (BK / 4), col = piece % (BK / 4) * 4;
            float4 four = read_four(a, lda, row0 + row, k0 + col, m, k);
            /* FILL IN: four.x to four.w are the cells (row, col) to (row, col + 3) of this
             * tile of A. Store them in a_tile, whose first index is k. Why has a row of
             * a_tile 4 floats more than it needs? */
        } else {
            int row = piece / (BN / 4), col = piece % (BN / 4) * 4;
            *(float4 *)&b_tile[row][col] = read_four(b, ldb, k0 + row, col0 + col, k, n);
        }
        __syncthreads();

        /* multiply */
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float4 a_four = *(const float4 *)&a_tile[i][ty * TM];
            float4 b_four = *(const float4 *)&b_tile[i][tx * TN];
            float a_frag[TM] = {a_four.x, a_four.y, a_four.z, a_four.w};
            float b_frag[TN] = {b_four.x, b_four.y, b_four.z, b_four.w};
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
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++) {
            int row = row0 + ty * TM + r, col = col0 + tx * TN + s;
            float *out = &c[(size_t)row * ldc + col];
            if (row < m && col < n)
                *out = alpha * sum[r][s] + (beta == 0.0f ? 0.0f : beta * *out);
        }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 5,
    .name = "my_vector_loads",
    .entry = "exercise_5",
    .title = "float4 loads: store A transposed",
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
