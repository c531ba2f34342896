/* Threads of a block that touch shared memory without order between them. */
#include "../planted.h"

/* The barrier between store and load is missing.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(no_barrier_after_store)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];       /* FAULT */
    out[t] = tile[63 - t]; /* FAULT */
}

/* The barrier before the next tile overwrites this one is missing.
 * launch: grid 1, block 64, n 256
 * fault: race_shared */
KERNEL(no_barrier_before_store)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    for (int k = 0; k < n; k += 64) {
        tile[t] = in[k + t]; /* FAULT */
        __syncthreads();
        out[k + t] = tile[63 - t]; /* FAULT */
    }
}

/* All move to the left, in place: reading and writing are not kept apart.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(shift_in_place)
{
    __shared__ int tile[65];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t == 0)
        tile[64] = 0;
    __syncthreads();
    tile[t] = tile[t + 1]; /* FAULT */
    __syncthreads();
    out[t] = tile[t];
}

/* Lanes of a warp need not run in step: __syncwarp() is missing.
 * launch: grid 1, block 32
 * fault: race_shared */
KERNEL(no_syncwarp)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = in[t];      /* FAULT */
    out[t] = tile[t ^ 1]; /* FAULT */
}

/* The last steps of a reduction, as they were written before Volta.
 * launch: grid 1, block 32
 * fault: race_shared */
KERNEL(old_warp_reduction)
{
    __shared__ int sum[64];
    int t = threadIdx.x;
    sum[t] = in[t];
    sum[t + 32] = 0;
    __syncthreads();
    for (int d = 16; d > 0; d /= 2)
        sum[t] += sum[t + d]; /* FAULT */
    out[t] = sum[0];          /* FAULT */
}

/* Two buffers, but the index is not switched: it fills the one that is read.
 * launch: grid 1, block 64, n 256
 * fault: race_shared */
KERNEL(wrong_buffer)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x;
    tile[0][t] = in[t];
    for (int k = 0; k < n; k += 64) {
        int now = k / 64 % 2;
        __syncthreads();
        if (k + 64 < n)
            tile[now][t] = in[k + 64 + t]; /* FAULT */
        out[k + t] = tile[now][63 - t];    /* FAULT */
    }
}

/* A tree of sums without a barrier between its levels.
 * launch: grid 1, block 128
 * fault: race_shared */
KERNEL(reduction_without_barrier)
{
    __shared__ int sum[128];
    int t = threadIdx.x;
    sum[t] = in[t];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2)
        if (t < d)
            sum[t] += sum[t + d]; /* FAULT */
    __syncthreads();
    out[t] = sum[0];
}

/* The sum is made by atomics, but read before all have added.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(atomic_then_plain)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[t]); /* FAULT */
    out[t] = sum;           /* FAULT */
}

/* Atomics begin before the counter is set to zero.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(zeroed_too_late)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 63)
        sum = 0;            /* FAULT */
    atomicAdd(&sum, in[t]); /* FAULT */
    __syncthreads();
    out[t] = sum;
}

/* A histogram without atomics.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(plain_histogram)
{
    __shared__ int bins[8];
    int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    __syncthreads();
    bins[in[t] % 8]++; /* FAULT */
    __syncthreads();
    if (t < 8)
        out[t] = bins[t];
}

/* __syncwarp() where several warps meet.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(warp_barrier_for_block)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t]; /* FAULT */
    __syncwarp();
    out[t] = tile[(t + 32) % 64]; /* FAULT */
}

/* The data came by cp.async and each thread waited for its own, but nobody for the
 * others.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(async_without_barrier)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), /* FAULT */
                 "l"(in + t));
    asm volatile("cp.async.wait_all;" ::: "memory"); /* FAULT */
    out[t] = tile[63 - t];                           /* FAULT */
}

/* Each thread owns two bytes, but sets a word to zero.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(word_over_bytes)
{
    __shared__ int words[32];
    short *mine = (short *)words + threadIdx.x;
    int t = threadIdx.x;
    if (t % 2 == 1)
        words[t / 2] = 0; /* FAULT */
    *mine = (short)in[t]; /* FAULT */
    __syncthreads();
    out[t] = *mine;
}

/* ldmatrix reads rows that another warp has just stored.
 * launch: grid 1, block 64, n 128
 * fault: race_shared */
KERNEL(ldmatrix_too_early)
{
    __shared__ __align__(16) int tile[32][4];
    int t = threadIdx.x;
    tile[t / 2][t % 2 * 2] = in[2 * t];         /* FAULT */
    tile[t / 2][t % 2 * 2 + 1] = in[2 * t + 1]; /* FAULT */
    unsigned row = (unsigned)__cvta_generic_to_shared(tile[t % 32]);
    int a, b, c, d;
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" /* FAULT */
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
        : "r"(row)
        : "memory");
    out[t] = a + b + c + d;
}

/* A named barrier for two of the three warps that share the tile.
 * launch: grid 1, block 96
 * fault: race_shared */
KERNEL(barrier_for_two_of_three)
{
    __shared__ int tile[96];
    int t = threadIdx.x;
    tile[t] = in[t]; /* FAULT */
    if (t < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = tile[(t + 64) % 96]; /* FAULT */
}

/* One scan buffer where two are needed: writes overtake reads.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(scan_in_one_buffer)
{
    __shared__ int sum[64];
    int t = threadIdx.x;
    sum[t] = in[t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        int left = t >= d ? sum[t - d] : 0; /* FAULT */
        sum[t] += left;                     /* FAULT */
    }
    out[t] = sum[t];
}

/* The first thread hands out the next value while others still read the last one.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(broadcast_overtakes)
{
    __shared__ int value;
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        if (t == 0)
            value = in[k]; /* FAULT */
        __syncthreads();
        sum += value; /* FAULT */
    }
    out[t] = sum;
}

/* Everybody writes its own value into one place.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(last_writer_wins)
{
    __shared__ int winner;
    int t = threadIdx.x;
    winner = in[t]; /* FAULT */
    __syncthreads();
    out[t] = winner;
}

/* 16-byte loads of what single stores have just written.
 * launch: grid 1, block 64, n 64
 * fault: race_shared */
KERNEL(vector_over_scalars)
{
    __shared__ __align__(16) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t]; /* FAULT */
    if (t < 16) {
        float4 v = ((const float4 *)tile)[15 - t]; /* FAULT */
        out[t] = (int)(v.x + v.y + v.z + v.w);
    }
}

/* The copy for the next round is begun while other warps still read the buffer.
 * launch: grid 1, block 64, n 256
 * fault: race_shared */
KERNEL(copy_over_readers)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    for (int k = 0; k < n; k += 64) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), /* FAULT */
                     "l"(in + k + t)
                     : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory"); /* FAULT */
        __syncthreads();
        out[k + t] = tile[63 - t]; /* FAULT */
    }
}

/* The consumer waits for the wrong phase of the mbarrier: it is let in at once.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(wrong_parity)
{
    __shared__ unsigned long long barrier;
    __shared__ int value[32];
    int t = threadIdx.x, over = 0;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
    value[t % 32] = 0;
    __syncthreads();
    if (t < 32) {
        value[t] = in[t]; /* FAULT */
        asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at)
                     : "memory");
    } else {
        while (!over)
            asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1;"
                         "selp.s32 %0, 1, 0, p;}"
                         : "=r"(over)
                         : "r"(at)
                         : "memory");
        out[t] = value[t - 32]; /* FAULT */
    }
}

/* bar.arrive tells that the slot is full before it is filled.
 * launch: grid 1, block 64
 * fault: race_shared */
KERNEL(arrives_too_early)
{
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        slot[t] = in[t]; /* FAULT */
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = slot[t - 32]; /* FAULT */
    }
}

/* Lanes that go two ways meet at no __syncwarp().
 * launch: grid 1, block 32
 * fault: race_shared */
KERNEL(diverged_lanes)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 16)
        tile[t] = in[t]; /* FAULT */
    else
        out[t] = tile[t - 16]; /* FAULT */
}

/* __syncwarp() for the even lanes only, and the odd ones read.
 * launch: grid 1, block 32
 * fault: race_shared */
KERNEL(syncwarp_of_half)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = in[t]; /* FAULT */
    if (t % 2 == 0)
        __syncwarp(0x55555555);
    out[t] = tile[t ^ 1]; /* FAULT */
}
