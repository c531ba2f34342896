/* Threads that touch global memory without order between them. */
#include "../planted.h"

/* Through global memory instead of shared, without the barrier.
 * launch: grid 1, block 64
 * fault: race_global */
KERNEL(within_a_block)
{
    int t = threadIdx.x;
    work[t] = in[t];       /* FAULT */
    out[t] = work[63 - t]; /* FAULT */
}

/* __syncthreads() orders a block, not the grid.
 * launch: grid 2, block 64
 * fault: race_global */
KERNEL(between_blocks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    work[i] = in[i]; /* FAULT */
    __syncthreads();
    out[i] = work[n - 1 - i]; /* FAULT */
}

/* All threads add to one number.
 * launch: grid 2, block 64
 * fault: race_global */
KERNEL(sum_without_atomic)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    work[0] += in[i]; /* FAULT */
    out[i] = 0;
}

/* Two blocks share one output: each adds its half of the sum.
 * launch: grid 1x2, block 64, n 128
 * fault: race_global */
KERNEL(split_k_plain_add)
{
    int t = threadIdx.x;
    work[t] += in[blockIdx.y * 64 + t]; /* FAULT */
}

/* The flag says that the data are there, but no fence keeps them in front of it.
 * launch: grid 2, block 32
 * fault: race_global */
KERNEL(flag_without_fence)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = in[t]; /* FAULT */
        __syncthreads();
        if (t == 0)
            atomicExch(&work[32], 1);
    } else {
        if (t == 0)
            while (atomicAdd(&work[32], 0) == 0)
                ;
        __syncthreads();
        out[t] = work[t]; /* FAULT */
    }
}

/* The writer fences, the reader does not: it may have read the data before the flag.
 * launch: grid 2, block 32
 * fault: race_global */
KERNEL(reader_without_fence)
{
    int t = threadIdx.x;
    volatile int *flag = &work[32];
    if (blockIdx.x == 0) {
        work[t] = in[t]; /* FAULT */
        __threadfence();
        __syncthreads();
        if (t == 0)
            *flag = 1;
    } else {
        while (*flag == 0)
            ;
        out[t] = work[t]; /* FAULT */
    }
}

/* A fence for the block, where another block waits.
 * launch: grid 2, block 32
 * fault: race_global */
KERNEL(fence_too_narrow)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = in[t]; /* FAULT */
        __threadfence_block();
        __syncthreads();
        if (t == 0)
            atomicExch(&work[32], 1);
    } else {
        if (t == 0)
            while (atomicAdd(&work[32], 0) == 0)
                ;
        __threadfence();
        __syncthreads();
        out[t] = work[t]; /* FAULT */
    }
}

/* The last block adds up what the others wrote, but they did not fence before they
 * counted themselves done.
 * launch: grid 4, block 32
 * fault: race_global */
KERNEL(last_block_without_fence)
{
    __shared__ bool is_last;
    int t = threadIdx.x, b = blockIdx.x, sum = 0;
    if (t == 0) {
        for (int i = 0; i < 32; i++)
            sum += in[b * 32 + i];
        work[b] = sum; /* FAULT */
        is_last = atomicAdd(&work[64], 1) == 3;
    }
    __syncthreads();
    if (is_last && t == 0)
        out[0] = work[0] + work[1] + work[2] + work[3]; /* FAULT */
}

/* An atomic that is one only for its own block.
 * launch: grid 2, block 32
 * fault: race_global */
KERNEL(atomic_too_narrow)
{
    atomicAdd_block(&work[0], in[threadIdx.x]); /* FAULT */
}

/* A counter that some add to atomically and one reads plainly.
 * launch: grid 2, block 64
 * fault: race_global */
KERNEL(atomic_and_plain_read)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&work[0], in[i]); /* FAULT */
    if (i == 0)
        out[0] = work[0]; /* FAULT */
}

/* A stencil in place: neighbours at the seam of two blocks.
 * launch: grid 2, block 64
 * fault: race_global */
KERNEL(stencil_in_place)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = i > 0 ? work[i - 1] : 0; /* FAULT */
    __syncthreads();
    work[i] = left + in[i]; /* FAULT */
}

/* The lock is given back before what it guards is written out.
 * launch: grid 4, block 1
 * fault: race_global */
KERNEL(lock_without_fence)
{
    while (atomicCAS(&work[1], 0, 1) != 0)
        ;
    work[0] += in[blockIdx.x]; /* FAULT */
    atomicExch(&work[1], 0);
}

/* The flag is set by one thread, but nobody has waited for the others of its block.
 * launch: grid 2, block 64
 * fault: race_global */
KERNEL(no_barrier_before_flag)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = in[t]; /* FAULT */
        __threadfence();
        if (t == 0)
            atomicExch(&work[n - 1], 1);
    } else {
        if (t == 0)
            while (atomicAdd(&work[n - 1], 0) == 0)
                ;
        __threadfence();
        __syncthreads();
        out[t] = work[t]; /* FAULT */
    }
}

/* One thread waits for the flag, the others do not wait for it.
 * launch: grid 2, block 64
 * fault: race_global */
KERNEL(no_barrier_after_flag)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = in[t]; /* FAULT */
        __threadfence();
        __syncthreads();
        if (t == 0)
            atomicExch(&work[n - 1], 1);
    } else {
        if (t == 63)
            while (atomicAdd(&work[n - 1], 0) == 0)
                ;
        __threadfence();
        out[t] = work[t]; /* FAULT */
    }
}

/* Two kinds of data behind two flags; the reader looks at the wrong one.
 * launch: grid 2, block 1, n 8
 * fault: race_global */
KERNEL(wrong_flag)
{
    if (blockIdx.x == 0) {
        work[0] = in[0];
        __threadfence();
        atomicExch(&work[4], 1);
        work[1] = in[1]; /* FAULT */
        __threadfence();
        atomicExch(&work[5], 1);
    } else {
        while (atomicAdd(&work[4], 0) == 0)
            ;
        __threadfence();
        out[0] = work[1]; /* FAULT */
    }
}

/* Rows of two blocks overlap by one.
 * launch: grid 2, block 65, n 130
 * fault: race_global */
KERNEL(overlapping_tiles)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    work[i] = in[i] + (int)blockIdx.x; /* FAULT */
}

/* A barrier for the grid by hand that forgets to fence.
 * launch: grid 2, block 32, n 128
 * fault: race_global */
KERNEL(grid_barrier_without_fence)
{
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    work[i] = in[i]; /* FAULT */
    __syncthreads();
    if (t == 0) {
        atomicAdd(&work[n - 1], 1);
        while (atomicAdd(&work[n - 1], 0) < 2)
            ;
    }
    __syncthreads();
    out[i] = work[63 - i]; /* FAULT */
}
