/* Accesses outside of what was allocated. */
#include "../planted.h"

/* The last thread writes behind the end.
 * launch: grid 2, block 64
 * fault: out_of_bounds */
KERNEL(one_too_far)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i + 1] = in[i]; /* FAULT */
}

/* The grid is rounded up to whole blocks; nobody asks whether i < n.
 * launch: grid 4, block 256, n 1000
 * fault: out_of_bounds */
KERNEL(no_guard)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1; /* FAULT */
}

/* A stencil forgets that the first element has no left neighbour.
 * launch: grid 2, block 64
 * fault: out_of_bounds */
KERNEL(left_of_first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] - in[i - 1]; /* FAULT */
}

/* A tile without room for the halo.
 * launch: grid 1, block 64
 * fault: out_of_bounds */
KERNEL(tile_without_halo)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t + 1] = in[t]; /* FAULT */
    __syncthreads();
    out[t] = tile[(t + 2) % 64];
}

/* The launch gives 64 bytes of dynamic shared memory for 64 numbers.
 * launch: grid 1, block 64, shared 64
 * fault: out_of_bounds */
KERNEL(too_little_shared)
{
    extern __shared__ int room[];
    int t = threadIdx.x;
    room[t] = in[t]; /* FAULT */
    __syncthreads();
    out[t] = room[63 - t];
}

/* An index into a private array that comes from the data.
 * launch: grid 1, block 32
 * fault: out_of_bounds */
KERNEL(private_array)
{
    int count[4] = {0, 0, 0, 0};
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++)
        count[t % (4 + i)]++; /* FAULT */
    out[t] = count[0] + count[1] + count[2] + count[3];
}

/* Rows and columns of a matrix that is not square, swapped.
 * launch: grid 2x1, block 16x16, n 512
 * fault: out_of_bounds */
KERNEL(swapped_pitch)
{
    int row = threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    out[row * 32 + col] = in[col * 32 + row]; /* FAULT */
}

/* A histogram whose last bin is missing.
 * launch: grid 1, block 64
 * fault: out_of_bounds */
KERNEL(bin_behind_the_last)
{
    atomicAdd(&work[n - 4 + threadIdx.x % 5], 1); /* FAULT */
}

__constant__ int weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};

/* A table in constant memory has 8 entries, a warp 32 lanes.
 * launch: grid 1, block 32
 * fault: out_of_bounds */
KERNEL(constant_table)
{
    out[threadIdx.x] = weights[threadIdx.x]; /* FAULT */
}

/* n is no multiple of 4: the last 16-byte load reaches behind the end.
 * launch: grid 1, block 32, n 126
 * fault: out_of_bounds */
KERNEL(vector_tail)
{
    int t = threadIdx.x;
    float4 v = ((const float4 *)in)[t]; /* FAULT */
    ((float *)out)[t] = v.x + v.y + v.z + v.w;
}

/* A pointer that was never set.
 * launch: grid 1, block 32
 * fault: out_of_bounds */
KERNEL(null_pointer)
{
    int *where = n > 1000 ? out : (int *)8;
    where[threadIdx.x] = 1; /* FAULT */
}
