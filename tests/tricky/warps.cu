/* Correct kernels whose lanes work together. */
#include "../planted.h"

/* Through shared memory, ordered by __syncwarp().
 * launch: grid 2, block 64
 * result: swap_pairs */
KERNEL(warp_exchange)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = in[i];
    __syncwarp();
    out[i] = tile[t ^ 1];
}

/* The Volta-proof form of the last steps of a reduction.
 * launch: grid 1, block 64
 * result: warp_sum */
KERNEL(warp_synchronous_sum)
{
    __shared__ int room[2][64];
    int t = threadIdx.x, lane = t % 32, *sum = room[t / 32];
    sum[lane] = in[t];
    sum[lane + 32] = 0;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        int right = sum[lane + d];
        __syncwarp();
        sum[lane] += right;
        __syncwarp();
    }
    out[t] = sum[0];
}

/* launch: grid 2, block 96
 * result: warp_sum */
KERNEL(butterfly_sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = in[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    out[i] = sum;
}

/* The last warp has 8 lanes; lane 0 sums those that vote.
 * launch: grid 1, block 40
 * result: warp_sum */
KERNEL(partial_warp)
{
    int t = threadIdx.x, lane = t % 32, sum = in[t];
    unsigned members = __ballot_sync(__activemask(), 1);
    int count = __popc(members);
    for (int d = 16; d > 0; d /= 2) {
        int right = __shfl_down_sync(members, sum, d);
        if (lane + d < count)
            sum += right;
    }
    out[t] = __shfl_sync(members, sum, 0);
}

/* Lanes 8 to 15 get what is undefined, and nobody uses it.
 * launch: grid 1, block 64
 * result: block_sum */
KERNEL(shuffle_of_half_a_warp)
{
    __shared__ int sums[16];
    int t = threadIdx.x, sum = 0;
    if (t < 16) {
        for (int k = t; k < 64; k += 16)
            sum += in[k];
        for (int d = 8; d > 0; d /= 2)
            sum += __shfl_down_sync(0x0000ffff, sum, d);
        sums[t] = sum;
    }
    __syncthreads();
    out[t] = sums[0];
}

/* Inclusive prefix sums with shfl_up.
 * launch: grid 1, block 64
 * result: warp_scan */
KERNEL(warp_scan)
{
    int t = threadIdx.x, lane = t % 32, sum = in[t];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d)
            sum += left;
    }
    out[t] = sum;
}

/* Both branches meet at __syncwarp(), each at its own.
 * launch: grid 1, block 32
 * result: swap_pairs */
KERNEL(syncwarp_at_two_places)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t % 2 == 0) {
        tile[t] = in[t];
        __syncwarp();
        out[t] = tile[t + 1];
    } else {
        tile[t] = in[t];
        __syncwarp();
        out[t] = tile[t - 1];
    }
}

/* Odd and even lanes as two groups with a mask each.
 * launch: grid 1, block 32
 * result: swap_pairs */
KERNEL(two_groups_one_place)
{
    int t = threadIdx.x;
    unsigned mask = t & 2 ? 0xcccccccc : 0x33333333;
    out[t] = __shfl_xor_sync(mask, in[t], 1);
}

/* Even numbers first, in their order, then the odd ones.
 * launch: grid 1, block 32
 * result: even_first */
KERNEL(ballot_compaction)
{
    int t = threadIdx.x, value = in[t];
    unsigned even = __ballot_sync(0xffffffff, value % 2 == 0);
    unsigned below = (1u << t) - 1;
    int place =
        value % 2 == 0 ? __popc(even & below) : __popc(even) + __popc(~even & below);
    out[place] = value;
}

/* One atomic for all lanes of a warp that have something to count.
 * launch: grid 2, block 64
 * result: even_count */
KERNEL(warp_aggregated_atomics)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 2 == 0) {
        unsigned active = __activemask();
        int leader = __ffs((int)active) - 1;
        if ((int)threadIdx.x % 32 == leader)
            atomicAdd(&work[0], __popc(active));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&work[1], 1) == (int)gridDim.x - 1) {
        __threadfence();
        int count = atomicAdd(&work[0], 0);
        for (int k = 0; k < n; k++)
            out[k] = count;
    }
}

/* Lanes behind the end have left; the mask still names them, which is allowed.
 * launch: grid 1, block 64, n 56
 * result: warp_sum */
KERNEL(early_exit_and_full_mask)
{
    int t = threadIdx.x, lane = t % 32;
    if (t >= n)
        return;
    int sum = 0, members = __popc(__ballot_sync(0xffffffff, 1));
    for (int d = 0; d < members; d++)
        sum += __shfl_sync(0xffffffff, in[t], (lane + d) % members);
    out[t] = sum;
}

/* Lanes with the same key find one another.
 * launch: grid 1, block 64
 * result: warp_matches */
KERNEL(match_peers)
{
    int t = threadIdx.x;
    out[t] = __popc(__match_any_sync(0xffffffff, in[t] % 4));
}

/* A lock taken by lanes of one warp: threads make progress on their own.
 * launch: grid 2, block 32
 * result: grid_sum */
KERNEL(lock_within_a_warp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile int *sum = &work[1];
    bool done = false;
    while (!done)
        if (atomicCAS(&work[0], 0, 1) == 0) {
            __threadfence();
            *sum += in[i];
            __threadfence();
            atomicExch(&work[0], 0);
            done = true;
        }
    __threadfence();
    if (atomicAdd(&work[2], 1) == n - 1) {
        __threadfence();
        for (int k = 0; k < n; k++)
            out[k] = *sum;
    }
}
