/* Correct kernels with the libraries that come with CUDA. */
#include <cooperative_groups.h>
#include <cuda/barrier>

#include "../planted.h"

namespace cg = cooperative_groups;

/* launch: grid 2, block 64
 * result: warp_sum */
KERNEL(tiled_partition)
{
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = in[i];
    for (int d = 16; d > 0; d /= 2)
        sum += warp.shfl_down(sum, d);
    out[i] = warp.shfl(sum, 0);
}

/* Tiles of 8 lanes exchange through shared memory.
 * launch: grid 1, block 64
 * result: swap_pairs */
KERNEL(small_tiles)
{
    __shared__ int tile[64];
    cg::thread_block_tile<8> group = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x;
    tile[t] = in[t];
    group.sync();
    out[t] = tile[t ^ 1];
}

/* The lanes that go the same way.
 * launch: grid 1, block 64
 * result: even_count */
KERNEL(coalesced_threads)
{
    int t = threadIdx.x;
    if (in[t] % 2 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            atomicAdd(&work[0], (int)active.size());
    }
    cg::this_thread_block().sync();
    out[t] = work[0];
}

/* A barrier for the whole grid.
 * launch: grid 4, block 64, cooperative
 * result: reverse_all */
KERNEL(grid_sync)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();
    work[i] = in[i];
    grid.sync();
    out[i] = work[n - 1 - i];
}

/* cuda::barrier: arrive, do something else, wait.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(arrive_and_wait)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0)
        init(&barrier, 64);
    __syncthreads();
    tile[t] = in[t];
    auto token = barrier.arrive();
    int mine = t * 2 - t;
    barrier.wait(cuda::std::move(token));
    out[t] = tile[63 - mine];
}
