/* Asynchronous copies whose data are used before they have come. */
#include "../planted.h"

static __device__ __forceinline__ void copy_async(int *to, const int *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from)
                 : "memory");
}

/* Nobody waits.
 * launch: grid 1, block 32
 * fault: in_flight */
KERNEL(read_before_wait)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    copy_async(&tile[t], in + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    out[t] = tile[t]; /* FAULT */
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

/* Two groups on their way; one may still be out when the second is read.
 * launch: grid 1, block 32, n 64
 * fault: in_flight */
KERNEL(wait_one_too_few)
{
    __shared__ int tile[2][32];
    int t = threadIdx.x;
    copy_async(&tile[0][t], in + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    copy_async(&tile[1][t], in + 32 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    out[t] = tile[0][t];
    out[32 + t] = tile[1][t]; /* FAULT */
}

/* wait_group waits for groups; this copy belongs to none.
 * launch: grid 1, block 32
 * fault: in_flight */
KERNEL(commit_missing)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    copy_async(&tile[t], in + t);
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[t] = tile[t]; /* FAULT */
}

/* Barrier and wait are swapped: each has waited for its own copies only.
 * launch: grid 1, block 64
 * fault: in_flight */
KERNEL(barrier_before_wait)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    copy_async(&tile[t], in + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[t] = tile[63 - t]; /* FAULT */
}

/* The tile is cleared after the copy was begun.
 * launch: grid 1, block 32
 * fault: in_flight */
KERNEL(store_under_copy)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 24)
        copy_async(&tile[t], in + t);
    tile[t] = 0; /* FAULT */
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = tile[t];
}

/* The pipeline's last round waits as the rounds before: one group stays out.
 * launch: grid 1, block 32, n 128
 * fault: in_flight */
KERNEL(pipeline_not_drained)
{
    __shared__ int tile[2][32];
    int t = threadIdx.x;
    copy_async(&tile[0][t], in + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int k = 0; k < n; k += 32) {
        if (k + 32 < n) {
            copy_async(&tile[(k / 32 + 1) % 2][t], in + k + 32 + t);
            asm volatile("cp.async.commit_group;" ::: "memory");
        }
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        out[k + t] = tile[k / 32 % 2][t]; /* FAULT */
    }
}
