/* exercise 7 - one warp, one 16 x 16 fragment of C.
 *
 * A block is a single warp. It loads 16 x 16 halves of A and of B into shared memory, zeros
 * where the matrices end, and the tensor core multiplies them. As it came, the fragment of
 * C stays zero.
 *
 *     make lesson7 && ./run                    shows your row once the gap is filled
 *     ./run -k exercise --counters             only yours: tensor FLOP?
 */
#include <cuda_fp16.h>
#include <mma.h>

#include "kernel.h"

using namespace nvcuda;

enum { BM = 16, BN = 16, BK = 16, THREADS = 32 };

static __device__ half read_cell(const half *from, int ld, int row, int col, int rows,
                                 int cols)
{
    return row < rows && col < cols ? from[(size_t)row * ld + col] : __float2half(0.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    exercise_7(int m, int n, int k, float alpha, const half *a, int lda, const half *b,
               int ldb, float beta, float *c, int ldc)
{
    __shared__ __align__(32) half a_tile[BM * BK];
    __shared__ __align__(32) half b_tile[BK * BN];
    __shared__ __align__(32) float c_tile[BM * BN];

    /* where am I */
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < k; k0 += BK) {
        /* load */
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            int row = i / BK, col = i % BK;
            a_tile[i] = read_cell(a, lda, row0 + row, k0 + col, m, k);
            b_tile[i] = read_cell(b, ldb, k0 + row, col0 + col, k, n);
        }
        __syncthreads();

        /* multiply */
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b_frag;
        /* FILL IN: load a_frag from a_tile and b_frag from b_tile (a row of a tile is 16
         * halves long), then one mma_sync that adds their product to sum. */
        __syncthreads();
    }

    /* store */
    wmma::store_matrix_sync(c_tile, sum, BN, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < BM * BN; i += THREADS) {
        int row = row0 + i / BN, col = col0 + i % BN;
        float *out = &c[(size_t)row * ldc + col];
        if (row < m && col < n)
            *out = alpha * c_tile[i] + (beta == 0.0f ? 0.0f : beta * *out);
    }
}

KERNEL_INFO = {{
    .version = KERNEL_INFO_VERSION,
    .lesson = 7,
    .name = "my_wmma",
    .entry = "exercise_7",
    .title = "one fragment a warp: load and multiply it",
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
