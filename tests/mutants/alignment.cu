/* Accesses at addresses that are no multiple of their size. */
#include "../planted.h"

/* Four neighbours at once, from any element on.
 * launch: grid 1, block 32, n 64
 * fault: misaligned */
KERNEL(vector_from_odd)
{
    int t = threadIdx.x;
    float4 v = *(const float4 *)(in + t); /* FAULT */
    out[t] = (int)(v.x + v.y + v.z + v.w);
}

/* A number out of a stream of bytes.
 * launch: grid 1, block 32
 * fault: misaligned */
KERNEL(int_from_bytes)
{
    int t = threadIdx.x;
    out[t] = *(const int *)((const char *)in + 2 * t); /* FAULT */
}

/* 8-byte numbers in shared memory behind a header of n / 8 = 4 bytes.
 * launch: grid 1, block 32
 * fault: misaligned */
KERNEL(doubles_behind_header)
{
    __shared__ __align__(8) char room[8 * 33];
    int t = threadIdx.x, header = n / 8;
    double *numbers = (double *)(room + header);
    numbers[t] = in[t]; /* FAULT */
    __syncwarp();
    out[t] = (int)numbers[t ^ 1];
}

/* An atomic that lies across two words.
 * launch: grid 1, block 32
 * fault: misaligned */
KERNEL(atomic_across_words)
{
    atomicAdd((int *)((char *)work + 2), 1); /* FAULT */
}

/* cp.async moves 16 bytes; the rows of this tile are 68 bytes long.
 * launch: grid 1, block 32, n 128
 * fault: misaligned */
KERNEL(async_to_odd_row)
{
    __shared__ __align__(16) int tile[8][17];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t / 4][t % 4 * 4]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), /* FAULT */
                 "l"(in + 4 * t));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[t] = tile[t / 4][t % 4];
}
