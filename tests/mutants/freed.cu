/* Kernels that get a buffer which the host has given back. */
#include "../planted.h"

/* Reads it.
 * launch: grid 1, block 32, freed
 * fault: use_after_free */
KERNEL(reads_freed)
{
    int t = threadIdx.x;
    out[t] = in[t] + work[t]; /* FAULT */
}

/* Writes it, in the last block only.
 * launch: grid 2, block 64, freed
 * fault: use_after_free */
KERNEL(writes_freed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
    if (blockIdx.x == 1)
        work[i] = in[i]; /* FAULT */
}

/* Adds to it.
 * launch: grid 1, block 32, freed
 * fault: use_after_free */
KERNEL(counts_in_freed)
{
    atomicAdd(&work[in[threadIdx.x] % 4], 1); /* FAULT */
}

/* Copies from it, asynchronously.
 * launch: grid 1, block 32, freed
 * fault: use_after_free */
KERNEL(copies_from_freed)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" /* FAULT */
                 ::"r"(to),
                 "l"(work + t)
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = tile[t];
}
