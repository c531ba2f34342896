/* 00_machine - three kernels that measure ceilings: arithmetic alone, tensor cores alone,
 * memory alone. They stand beside the rungs, not among them: no KERNEL_INFO.
 *
 * Idea     keep one unit busy with work that does not wait, and nothing else.
 * Launch   enough blocks to fill every SM; machine.h has the threads of a block.
 * Expect   fma_only     2 * FMA_CHAINS * steps FLOP a thread
 *          tensor_only  2 * 16^3 * TENSOR_CHAINS * steps FLOP a warp
 *          copy_only    2 * COPY_BLOCK_BYTES moved a block, half read, half written
 * Limit    the FMA pipe; the tensor cores; DRAM. A matmul can reach none of them quite:
 *          it has to do all three at once. Next: 01_naive.
 */
#include <cuda_fp16.h>
#include <mma.h>

#include "machine.h"

using namespace nvcuda;

/* start [FMA_CHAINS][FMA_THREADS], the same for every block; out [blocks][FMA_THREADS],
 * the sum of a thread's chains. */
extern "C" __global__ void __launch_bounds__(FMA_THREADS)
    fma_only(int steps, const float *start, float *out)
{
    float x[FMA_CHAINS];
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++)
        x[i] = start[i * FMA_THREADS + threadIdx.x];

    for (int step = 0; step < steps; step += FMA_UNROLL) {
#pragma unroll
        for (int j = 0; j < FMA_UNROLL; j++)
#pragma unroll
            for (int i = 0; i < FMA_CHAINS; i++)
                x[i] = x[i] * MACHINE_SCALE + MACHINE_ADD;
    }

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++)
        sum += x[i];
    out[(size_t)blockIdx.x * FMA_THREADS + threadIdx.x] = sum;
}

/* a, b [16][16] row-major; out [blocks][warps][16][16], the sum of a warp's sums:
 * TENSOR_CHAINS * steps * (A * B) + 0 + 1 + ... */
extern "C" __global__ void __launch_bounds__(TENSOR_THREADS)
    tensor_only(int steps, const half *a, const half *b, float *out)
{
    const int TILE = TENSOR_TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> b_frag;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> c_frag[TENSOR_CHAINS];
    wmma::load_matrix_sync(a_frag, a, TILE);
    wmma::load_matrix_sync(b_frag, b, TILE);
#pragma unroll
    for (int i = 0; i < TENSOR_CHAINS; i++)
        wmma::fill_fragment(c_frag[i], (float)i);

    for (int step = 0; step < steps; step += TENSOR_UNROLL) {
#pragma unroll
        for (int j = 0; j < TENSOR_UNROLL; j++)
#pragma unroll
            for (int i = 0; i < TENSOR_CHAINS; i++)
                wmma::mma_sync(c_frag[i], a_frag, b_frag, c_frag[i]);
    }

#pragma unroll
    for (int i = 1; i < TENSOR_CHAINS; i++)
#pragma unroll
        for (int e = 0; e < c_frag[0].num_elements; e++)
            c_frag[0].x[e] += c_frag[i].x[e];
    size_t warp = (size_t)blockIdx.x * (TENSOR_THREADS / 32) + threadIdx.x / 32;
    wmma::store_matrix_sync(&out[warp * TILE * TILE], c_frag[0], TILE,
                            wmma::mem_row_major);
}

/* from, to [blocks * COPY_BLOCK_BYTES], 16-byte aligned. */
extern "C" __global__ void __launch_bounds__(COPY_THREADS)
    copy_only(const float4 *from, float4 *to)
{
    size_t first = (size_t)blockIdx.x * (COPY_THREADS * COPY_VECTORS) + threadIdx.x;
    float4 piece[COPY_VECTORS];
#pragma unroll
    for (int i = 0; i < COPY_VECTORS; i++)
        piece[i] = from[first + i * COPY_THREADS];
#pragma unroll
    for (int i = 0; i < COPY_VECTORS; i++)
        to[first + i * COPY_THREADS] = piece[i];
}
