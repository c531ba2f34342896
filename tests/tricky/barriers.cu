/* Correct kernels with barriers beyond __syncthreads(). */
#include "../planted.h"

#define BARRIER_SYNC(id, count) asm volatile("bar.sync " #id ", " #count ";" ::: "memory")
#define BARRIER_ARRIVE(id, count) \
    asm volatile("bar.arrive " #id ", " #count ";" ::: "memory")

/* Full and empty: the producer arrives at one and waits at the other.
 * launch: grid 1, block 64, n 256
 * result: copy */
KERNEL(producer_and_consumer)
{
    __shared__ int slot[32];
    int t = threadIdx.x, lane = t % 32;
    for (int k = 0; k < n; k += 32) {
        if (t < 32) {
            if (k > 0)
                BARRIER_SYNC(2, 64);
            slot[lane] = in[k + lane];
            BARRIER_ARRIVE(1, 64);
        } else {
            BARRIER_SYNC(1, 64);
            out[k + lane] = slot[lane];
            if (k + 32 < n)
                BARRIER_ARRIVE(2, 64);
        }
    }
}

/* Two halves of a block, a barrier each.
 * launch: grid 1, block 128
 * result: reverse_64 */
KERNEL(barrier_for_each_half)
{
    __shared__ int tile[128];
    int t = threadIdx.x, first = t / 64 * 64;
    tile[t] = in[t];
    if (t < 64)
        BARRIER_SYNC(1, 64);
    else
        BARRIER_SYNC(2, 64);
    out[t] = tile[first + 63 - t % 64];
}

/* The number of the barrier is known at run time only.
 * launch: grid 1, block 128
 * result: reverse_64 */
KERNEL(barrier_by_number)
{
    __shared__ int tile[128];
    int t = threadIdx.x, half = t / 64;
    tile[t] = in[t];
    asm volatile("bar.sync %0, 64;" ::"r"(half + 3) : "memory");
    out[t] = tile[half * 64 + 63 - t % 64];
}

/* Specialised warps meet at one named barrier, each at its own place.
 * launch: grid 1, block 64
 * result: swap_halves */
KERNEL(one_barrier_two_places)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 32) {
        BARRIER_SYNC(5, 64);
        out[t] = tile[t + 32];
    } else {
        BARRIER_SYNC(5, 64);
        out[t] = tile[t - 32];
    }
}

static __device__ __forceinline__ void meet()
{
    __syncthreads();
}

/* Whole warps go two ways and meet at one barrier of the program, inlined twice.
 * launch: grid 1, block 64
 * result: swap_halves */
KERNEL(barrier_in_a_function)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t < 32) {
        tile[t] = in[t];
        meet();
        out[t] = tile[t + 32];
    } else {
        tile[t] = in[t] + in[t ^ 1] - in[t ^ 1];
        meet();
        out[t] = tile[t - 32];
    }
}

/* A barrier that counts: each thread learns how many hold an even number.
 * launch: grid 1, block 96
 * result: even_count */
KERNEL(barrier_that_counts)
{
    int t = threadIdx.x;
    out[t] = __syncthreads_count(in[t] % 2 == 0);
}

/* barrier.sync need not be met by the whole warp at once.
 * launch: grid 1, block 64
 * result: swap_pairs */
KERNEL(barrier_in_diverged_warp)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t % 2 == 0) {
        asm volatile("barrier.sync 0;" ::: "memory");
        out[t] = tile[t + 1];
    } else {
        asm volatile("barrier.sync 0;" ::: "memory");
        out[t] = tile[t - 1];
    }
}

static __device__ __forceinline__ void mbarrier_init(unsigned at, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
static __device__ __forceinline__ void mbarrier_arrive(unsigned at)
{
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(at)
                 : "memory");
}
/* Until the phase of this parity is over. */
static __device__ __forceinline__ void mbarrier_wait(unsigned at, int parity)
{
    int over = 0;
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                     "selp.s32 %0, 1, 0, p;}"
                     : "=r"(over)
                     : "r"(at), "r"(parity)
                     : "memory");
}

/* A pipeline of two slots with mbarriers: full[] and empty[].
 * launch: grid 1, block 64, n 256
 * result: copy */
KERNEL(mbarrier_pipeline)
{
    __shared__ unsigned long long full[2], empty[2];
    __shared__ int slot[2][32];
    int t = threadIdx.x, lane = t % 32;
    unsigned full_at = (unsigned)__cvta_generic_to_shared(full);
    unsigned empty_at = (unsigned)__cvta_generic_to_shared(empty);
    if (t < 2) {
        mbarrier_init(full_at + 8 * t, 32);
        mbarrier_init(empty_at + 8 * t, 32);
    }
    __syncthreads();
    for (int k = 0; k < n / 32; k++) {
        int s = k % 2, round = k / 2;
        if (t < 32) {
            if (round > 0)
                mbarrier_wait(empty_at + 8 * s, (round - 1) % 2);
            slot[s][lane] = in[32 * k + lane];
            mbarrier_arrive(full_at + 8 * s);
        } else {
            mbarrier_wait(full_at + 8 * s, round % 2);
            out[32 * k + lane] = slot[s][lane];
            mbarrier_arrive(empty_at + 8 * s);
        }
    }
}

/* The whole block through an mbarrier instead of __syncthreads().
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(mbarrier_for_block)
{
    __shared__ unsigned long long barrier;
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (t == 0)
        mbarrier_init(at, 64);
    __syncthreads();
    tile[t] = in[t];
    mbarrier_arrive(at);
    mbarrier_wait(at, 0);
    out[t] = tile[63 - t];
}

/* Copies tell an mbarrier themselves when they have come.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(mbarrier_and_async_copies)
{
    __shared__ unsigned long long barrier;
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    if (t == 0)
        mbarrier_init(at, 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + t)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    mbarrier_wait(at, 0);
    out[t] = tile[63 - t];
}
