/* Correct kernels whose blocks work together. */
#include "../planted.h"

/* The last block adds up what all have written.
 * launch: grid 8, block 32
 * result: grid_sum */
KERNEL(last_block_sums)
{
    __shared__ bool is_last;
    int t = threadIdx.x, sum = in[blockIdx.x * 32 + t];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (t == 0) {
        work[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(&work[32], 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < (int)gridDim.x; b++)
            total += work[b];
        for (int i = t; i < n; i += 32)
            out[i] = total;
    }
}

/* The same with a pointer to volatile, as NVIDIA's sample has it.
 * launch: grid 8, block 32
 * result: grid_sum */
KERNEL(last_block_volatile)
{
    __shared__ bool is_last;
    volatile int *sums = work;
    int t = threadIdx.x;
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 32; i++)
            sum += in[blockIdx.x * 32 + i];
        sums[blockIdx.x] = sum;
        __threadfence();
        unsigned ticket = atomicInc((unsigned *)&work[32], gridDim.x);
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        int total = 0;
        for (int b = 0; b < (int)gridDim.x; b++)
            total += sums[b];
        for (int i = t; i < n; i += 32)
            out[i] = total;
    }
}

/* A flag between blocks, fences on both sides.
 * launch: grid 2, block 32
 * result: first_half_twice */
KERNEL(flag_with_fences)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = in[t];
        __threadfence();
        __syncthreads();
        if (t == 0)
            atomicExch(&work[40], 1);
        out[t] = in[t];
    } else {
        if (t == 0)
            while (atomicAdd(&work[40], 0) == 0)
                ;
        __syncthreads();
        __threadfence();
        out[32 + t] = work[t];
    }
}

/* The same with a volatile flag that every thread looks at.
 * launch: grid 2, block 32
 * result: first_half_twice */
KERNEL(volatile_flag)
{
    int t = threadIdx.x;
    volatile int *flag = &work[40];
    if (blockIdx.x == 0) {
        work[t] = in[t];
        __threadfence();
        __syncthreads();
        if (t == 0)
            *flag = 1;
        out[t] = in[t];
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        out[32 + t] = work[t];
    }
}

/* Release and acquire instead of fences.
 * launch: grid 2, block 32
 * result: first_half_twice */
KERNEL(release_and_acquire)
{
    int t = threadIdx.x, seen = 0;
    if (blockIdx.x == 0) {
        work[t] = in[t];
        __syncthreads();
        if (t == 0)
            asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(&work[40])
                         : "memory");
        out[t] = in[t];
    } else {
        while (seen == 0)
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                         : "=r"(seen)
                         : "l"(&work[40])
                         : "memory");
        out[32 + t] = work[t];
    }
}

/* Blocks take work by tickets until none is left.
 * launch: grid 4, block 32, n 512
 * result: copy */
KERNEL(work_queue)
{
    __shared__ int chunk;
    int t = threadIdx.x;
    for (;;) {
        if (t == 0)
            chunk = atomicAdd(&work[0], 1);
        __syncthreads();
        int mine = chunk;
        __syncthreads();
        if (mine >= n / 32)
            break;
        out[mine * 32 + t] = in[mine * 32 + t];
    }
}

/* A plain sum under a lock with fences.
 * launch: grid 8, block 32
 * result: grid_sum */
KERNEL(spin_lock)
{
    int t = threadIdx.x, sum = in[blockIdx.x * 32 + t];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (t != 0)
        return;
    while (atomicCAS(&work[0], 0, 1) != 0)
        ;
    __threadfence();
    work[1] += sum;
    work[2]++;
    if (work[2] == (int)gridDim.x)
        for (int i = 0; i < n; i++)
            out[i] = work[1];
    __threadfence();
    atomicExch(&work[0], 0);
}

/* Each block waits for the sum of the one before it.
 * launch: grid 8, block 32
 * result: grid_scan */
KERNEL(chained_scan)
{
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x, sum = in[b * 32 + t];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, sum, d);
        if (t >= d)
            sum += left;
    }
    if (t == 31) {
        int sums = 0;
        if (b > 0) {
            while (atomicAdd(&work[b - 1], 0) == 0)
                ;
            __threadfence();
            sums = work[32 + b - 1];
        }
        work[32 + b] = sums + sum;
        before = sums;
        __threadfence();
        atomicExch(&work[b], 1);
    }
    __syncthreads();
    out[b * 32 + t] = before + sum;
}

/* A barrier for the grid by hand; all blocks are resident.
 * launch: grid 4, block 32
 * result: grid_sum */
KERNEL(grid_barrier)
{
    int t = threadIdx.x, b = blockIdx.x, sum = 0;
    if (t == 0) {
        for (int i = 0; i < 32; i++)
            sum += in[b * 32 + i];
        work[32 + b] = sum;
    }
    __threadfence();
    __syncthreads();
    if (t == 0) {
        atomicAdd(&work[64], 1);
        while (atomicAdd(&work[64], 0) < (int)gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
    out[b * 32 + t] = work[32] + work[33] + work[34] + work[35];
}

/* Two blocks share an output: each adds its half of the sum atomically.
 * launch: grid 1x2, block 64, n 128
 * result: sum_of_halves */
KERNEL(split_k_atomic)
{
    __shared__ int count;
    int t = threadIdx.x;
    atomicAdd(&work[t], in[blockIdx.y * 64 + t]);
    __threadfence();
    __syncthreads();
    if (t == 0)
        count = atomicAdd(&work[64], 1);
    __syncthreads();
    if (count == 1) {
        __threadfence();
        out[t] = out[64 + t] = work[t];
    }
}

/* A sum of floats by compare and swap.
 * launch: grid 2, block 32
 * result: grid_sum */
KERNEL(float_sum_by_cas)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, old = work[0], seen;
    do {
        seen = old;
        old = atomicCAS(&work[0], seen, __float_as_int(__int_as_float(seen) + in[i]));
    } while (old != seen);
    __threadfence();
    if (atomicAdd(&work[1], 1) == n - 1) {
        float sum = __int_as_float(atomicAdd(&work[0], 0));
        for (int k = 0; k < n; k++)
            out[k] = (int)sum;
    }
}

/* As a library's semaphore does it: one thread fences for its whole block.
 * launch: grid 2, block 64
 * result: first_half_twice */
KERNEL(one_thread_fences)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        work[t] = out[t] = in[t];
        __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicExch(&work[n - 1], 1);
        }
    } else {
        if (t == 0) {
            while (atomicAdd(&work[n - 1], 0) == 0)
                ;
            __threadfence();
        }
        __syncthreads();
        out[64 + t] = work[t];
    }
}

/* Each block finds room for what it keeps by one atomic.
 * launch: grid 4, block 64
 * result: even_count */
KERNEL(room_by_atomic)
{
    __shared__ int kept, first;
    int t = threadIdx.x, value = in[blockIdx.x * 64 + t], place = 0;
    if (t == 0)
        kept = 0;
    __syncthreads();
    if (value % 2 == 0)
        place = atomicAdd(&kept, 1);
    __syncthreads();
    if (t == 0)
        first = atomicAdd(&work[0], kept);
    __syncthreads();
    if (value % 2 == 0)
        work[1 + first + place] = value;
    __threadfence();
    __syncthreads();
    if (t == 0 && atomicAdd(&work[n - 1], 1) == 3) {
        __threadfence();
        for (int i = 0; i < n; i++)
            out[i] = atomicAdd(&work[0], 0);
    }
}

/* A chain of blocks: what the first released reaches the third by way of the second.
 * launch: grid 3, block 32
 * result: first_third_thrice */
KERNEL(chain_of_flags)
{
    int t = threadIdx.x, b = blockIdx.x;
    if (b > 0) {
        if (t == 0)
            while (atomicAdd(&work[40 + b], 0) == 0)
                ;
        __threadfence();
        __syncthreads();
    } else {
        work[t] = in[t];
    }
    out[b * 32 + t] = b == 0 ? in[t] : work[t];
    __threadfence();
    __syncthreads();
    if (t == 0)
        atomicExch(&work[40 + b + 1], 1);
}
