/* Loops without end. */
#include "../planted.h"

/* Waits for a flag that nobody sets.
 * launch: grid 1, block 32
 * fault: timeout */
KERNEL(flag_never_set)
{
    volatile int *flag = work;
    while (*flag == 0) /* FAULT */
        ;
    out[threadIdx.x] = in[threadIdx.x];
}

/* A stride of zero.
 * launch: grid 1, block 32
 * fault: timeout */
KERNEL(stride_of_zero)
{
    int stride = n / 64;
    for (int i = threadIdx.x; i < n; i += stride) /* FAULT */
        work[i] += in[i];                         /* FAULT */
}

/* One way out of the guarded part keeps the lock.
 * launch: grid 4, block 1
 * fault: timeout */
KERNEL(lock_not_given_back)
{
    while (atomicCAS(&work[0], 0, 1) != 0) /* FAULT */
        ;
    __threadfence();
    work[1] += in[blockIdx.x];
    if (work[1] < 0)
        atomicExch(&work[0], 0);
}

/* A list whose last link points back.
 * launch: grid 1, block 1, n 8
 * fault: timeout */
KERNEL(ring_list)
{
    for (int i = 0; i < n; i++)
        work[i] = (i + 1) % n;
    int length = 0;
    for (int i = work[0]; i >= 0; i = work[i]) /* FAULT */
        work[i] |= length++ & 0;               /* FAULT */
    out[0] = length;
}

/* An mbarrier for 33 arrivals; a warp has 32 lanes.
 * launch: grid 1, block 32
 * fault: timeout */
KERNEL(mbarrier_one_short)
{
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned long long state;
    int t = threadIdx.x, over = 0;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 33;" ::"r"(at) : "memory");
    __syncwarp();
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(at)
                 : "memory");
    while (!over) /* FAULT */
        asm volatile(
            "{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;" /* FAULT */
            "selp.s32 %0, 1, 0, p;}"
            : "=r"(over)
            : "r"(at), "l"(state)
            : "memory");
    out[t] = in[t];
}

/* Blocks wait for a block that the launch does not have.
 * launch: grid 3, block 32
 * fault: timeout */
KERNEL(grid_barrier_miscounted)
{
    int t = threadIdx.x;
    if (t == 0) {
        atomicAdd(&work[0], 1);
        while (atomicAdd(&work[0], 0) < 4) /* FAULT */
            ;
    }
    __syncthreads();
    out[blockIdx.x * 32 + t] = in[t];
}
