/* Barriers that not all threads reach, or not together. */
#include "../planted.h"

/* Only some lanes of the second warp come.
 * launch: grid 1, block 64
 * fault: barrier_divergence */
KERNEL(barrier_in_branch)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 40) {
        __syncthreads(); /* FAULT */
        out[t] = tile[39 - t];
    }
}

/* Lanes of one warp come to two barriers.
 * launch: grid 1, block 32
 * fault: barrier_divergence */
KERNEL(barrier_in_both_branches)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 8) {
        tile[t] = in[t];
        __syncthreads(); /* FAULT */
    } else {
        tile[t] = -in[t];
        __syncthreads(); /* FAULT */
    }
    out[t] = tile[31 - t];
}

/* Threads behind the end have left when the others wait.
 * launch: grid 2, block 64, n 100
 * fault: barrier_divergence */
KERNEL(exit_before_barrier)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i >= n)
        return;
    tile[t] = in[i];
    __syncthreads(); /* FAULT */
    out[i] = tile[t ^ 1];
}

/* Every lane goes through the loop as often as its data say.
 * launch: grid 1, block 32
 * fault: barrier_divergence */
KERNEL(barrier_in_uneven_loop)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0)
        sum = 0;
    __syncthreads();
    for (int k = 0; k < t % 3 + 1; k++) {
        atomicAdd(&sum, 1);
        __syncthreads(); /* FAULT */
    }
    out[t] = t;
}

/* Two warps name one barrier, but not for the same number of threads.
 * launch: grid 1, block 96
 * fault: barrier_divergence */
KERNEL(barrier_counts_differ)
{
    int t = threadIdx.x;
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* FAULT */
    else
        asm volatile("bar.sync 1, 96;" ::: "memory"); /* FAULT */
    out[t] = in[t];
}

/* One warp more in the loop: its barrier meets the one behind the loop.
 * launch: grid 1, block 64
 * fault: barrier_divergence */
KERNEL(loop_meets_the_end)
{
    __shared__ int sum;
    int t = threadIdx.x, warp = t / 32;
    if (t == 0)
        sum = 0;
    __syncthreads();
    for (int k = 0; k < 3 - warp; k++) {
        if (t % 32 == 0)
            atomicAdd(&sum, in[k]);
        __syncthreads(); /* FAULT */
    }
    if (warp == 1)
        __syncthreads(); /* FAULT */
    out[t] = in[t];
}

/* A lane decides by its data to leave the loop between two barriers.
 * launch: grid 1, block 32
 * fault: barrier_divergence */
KERNEL(break_between_barriers)
{
    __shared__ int value;
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (t == 0)
            value = in[k];
        __syncthreads(); /* FAULT */
        if (in[t] < value)
            break;
        __syncthreads(); /* FAULT */
    }
    out[t] = t;
}

/* An mbarrier for 31 arrivals; every lane of a warp arrives twice.
 * launch: grid 1, block 32
 * fault: barrier_divergence */
KERNEL(one_arrival_too_many)
{
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned long long state;
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 31;" ::"r"(at) : "memory");
    __syncwarp();
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" /* FAULT */
                 : "=l"(state)
                 : "r"(at)
                 : "memory");
    out[t] = (int)state;
}
