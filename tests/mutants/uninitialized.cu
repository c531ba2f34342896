/* Values that nobody has written. */
#include "../planted.h"

/* Adds to an output that was never set to zero.
 * launch: grid 2, block 64
 * fault: uninitialized */
KERNEL(adds_to_nothing)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += in[i]; /* FAULT */
}

/* Half the tile is filled, all of it is read.
 * launch: grid 1, block 64
 * fault: uninitialized */
KERNEL(half_a_tile)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t < 32)
        tile[t] = in[t];
    __syncthreads();
    out[t] = tile[63 - t]; /* FAULT */
}

/* A stencil whose halo nobody loads.
 * launch: grid 1, block 64
 * fault: uninitialized */
KERNEL(halo_not_loaded)
{
    __shared__ int tile[66];
    int t = threadIdx.x;
    tile[t + 1] = in[t];
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2]; /* FAULT */
}

/* A shared sum that does not begin at zero.
 * launch: grid 1, block 64
 * fault: uninitialized */
KERNEL(sum_from_nothing)
{
    __shared__ int sum;
    atomicAdd(&sum, in[threadIdx.x]); /* FAULT */
    __syncthreads();
    out[threadIdx.x] = sum; /* FAULT */
}

/* A private array, filled up to a number that comes from the data.
 * launch: grid 1, block 32
 * fault: uninitialized */
KERNEL(private_array_tail)
{
    int list[8];
    int t = threadIdx.x, count = in[t] % 7, sum = 0;
    for (int i = 0; i < count; i++)
        list[i] = i;
    sum = list[(count + t) % 8]; /* FAULT */
    out[t] = sum;
}

/* Inline assembly that writes its result only sometimes: "=r" must be "+r".
 * launch: grid 1, block 32
 * fault: uninitialized */
KERNEL(register_under_guard)
{
    int t = threadIdx.x, value;
    asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 16; @p mov.s32 %0, %1;}"
                 : "=r"(value)
                 : "r"(t));
    out[t] = value; /* FAULT */
}

/* A branch on a flag that was never set.
 * launch: grid 1, block 64, shared 4
 * fault: uninitialized */
KERNEL(branch_on_nothing)
{
    extern __shared__ int found[];
    int t = threadIdx.x, sum = 0;
    if (in[t] < 0)
        found[0] = 1;
    __syncthreads();
    if (found[0] == 0) /* FAULT */
        for (int i = 0; i < n; i++)
            sum += in[i];
    out[t] = sum;
}

/* An index out of a table of which only the even entries were written.
 * launch: grid 1, block 64
 * fault: uninitialized */
KERNEL(index_from_nothing)
{
    int t = threadIdx.x;
    if (t % 2 == 0)
        out[t] = t;
    __syncthreads();
    work[out[63 - t] & 63] = 1; /* FAULT */
}

/* Three of the four numbers of a 16-byte load were written.
 * launch: grid 1, block 32
 * fault: uninitialized */
KERNEL(three_of_four)
{
    __shared__ float4 points[32];
    int t = threadIdx.x;
    points[t ^ 1].x = in[t];
    points[t ^ 1].y = in[t];
    points[t ^ 1].z = in[t];
    __syncwarp();
    float4 p = points[t]; /* FAULT */
    out[t] = (int)(p.x + p.y + p.z + p.w);
}
