/* Threads that wait for one another for ever. */
#include "../planted.h"

/* A barrier for three warps in a block of two.
 * launch: grid 1, block 64
 * fault: deadlock */
KERNEL(one_warp_short)
{
    int t = threadIdx.x;
    asm volatile("bar.sync 1, 96;" ::: "memory"); /* FAULT */
    out[t] = in[t];
}

/* The second warp has left, the first waits for 64 threads.
 * launch: grid 1, block 64
 * fault: deadlock */
KERNEL(waits_for_the_gone)
{
    int t = threadIdx.x;
    if (t >= 32)
        return;
    asm volatile("bar.sync 1, 64;" ::: "memory"); /* FAULT */
    out[t] = in[t];
}

/* Two barriers, in the other order in the other warp.
 * launch: grid 1, block 64
 * fault: deadlock */
KERNEL(crossed_barriers)
{
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* FAULT */
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory"); /* FAULT */
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    out[t] = in[t];
}

/* Half a warp waits for all its lanes, the other half for the block.
 * launch: grid 1, block 64
 * fault: deadlock */
KERNEL(warp_against_block)
{
    int t = threadIdx.x;
    if (t % 2 == 0)
        __syncwarp(); /* FAULT */
    else
        asm volatile("barrier.sync 0;" ::: "memory"); /* FAULT */
    out[t] = in[t];
}

/* The consumer waits for a producer who forgot to arrive.
 * launch: grid 1, block 64
 * fault: deadlock */
KERNEL(producer_does_not_arrive)
{
    __shared__ int value;
    int t = threadIdx.x;
    if (t < 32) {
        if (t == 0)
            value = in[0];
        if (n < 0)
            asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* FAULT */
        out[t] = value;
    }
}

/* The second warp waits once more than the first.
 * launch: grid 1, block 64
 * fault: deadlock */
KERNEL(one_round_too_many)
{
    int t = threadIdx.x;
    for (int k = 0; k < 2 + t / 32; k++)
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* FAULT */
    out[t] = in[t];
}
