/* Correct kernels with the libraries that come with CUDA. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "../planted.h"

#pragma nv_diag_suppress static_var_with_dynamic_init

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

/* Release and acquire by cuda::atomic_ref.
 * launch: grid 2, block 32
 * result: first_half_twice */
KERNEL(atomic_reference)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(work[40]);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = out[t] = in[t];
        __syncthreads();
        if (t == 0)
            flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        out[32 + t] = work[t];
    }
}

/* Groups of lanes with the same key.
 * launch: grid 1, block 64
 * result: warp_matches */
KERNEL(labeled_groups)
{
    int t = threadIdx.x;
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::coalesced_group same = cg::labeled_partition(warp, in[t] % 4);
    out[t] = cg::reduce(same, 1, cg::plus<int>());
}

/* A pipeline of the library: two stages.
 * launch: grid 1, block 64, n 256
 * result: reverse_64 */
KERNEL(library_pipeline)
{
    __shared__ int tile[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[0][t], in + t, sizeof(int), pipe);
    pipe.producer_commit();
    for (int k = 0; k < n; k += 64) {
        int now = k / 64 % 2;
        pipe.producer_acquire();
        if (k + 64 < n)
            cuda::memcpy_async(&tile[!now][t], in + k + 64 + t, sizeof(int), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        out[k + t] = tile[now][63 - t];
        __syncthreads();
        pipe.consumer_release();
    }
}

/* A whole tile by all threads of the block.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(group_copy)
{
    __shared__ int tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);
    cg::wait(block);
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
