/* Warp functions with a wrong mask of members. */
#include "../planted.h"

/* The first lane is not in the mask that it passes.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(without_oneself)
{
    int t = threadIdx.x;
    out[t] = __shfl_sync(0xfffffffe, in[t], 5); /* FAULT */
}

/* The mask names all lanes, half of them go another way.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(ballot_in_branch)
{
    int t = threadIdx.x, votes = 0;
    if (t < 16)
        votes = (int)__ballot_sync(0xffffffff, in[t] > 40); /* FAULT */
    out[t] = votes;
}

/* Lane 15 takes the value of lane 16, which is not there.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(shuffle_from_outside)
{
    int t = threadIdx.x, sum = 0;
    if (t < 16)
        sum = in[t] + __shfl_down_sync(0x0000ffff, in[t], 1); /* FAULT */
    out[t] = sum;
}

/* Two halves, each names the whole warp, at two places.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(halves_apart)
{
    int t = threadIdx.x, v = in[t];
    if (t < 16)
        v = __shfl_xor_sync(0xffffffff, v, 1) + 7; /* FAULT */
    else
        v = __shfl_xor_sync(0xffffffff, v, 2) * 3; /* FAULT */
    out[t] = v;
}

/* Lanes that meet must agree who is a member.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(masks_differ)
{
    int t = threadIdx.x;
    unsigned mask = t < 16 ? 0xffffffff : 0xffff0000;
    out[t] = __any_sync(mask, in[t] == 0); /* FAULT */
}

/* Who was active before the branch is not who is in it.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(stale_activemask)
{
    int t = threadIdx.x, same = 0;
    unsigned mask = __activemask();
    if (in[t] % 2 == 0)
        same = (int)__match_any_sync(mask, in[t]); /* FAULT */
    out[t] = same;
}

/* __syncwarp() of the even lanes, by all.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(syncwarp_of_others)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncwarp(0x55555555); /* FAULT */
    out[t] = tile[t];
}

/* A mask made for 16 lanes that all 32 pass.
 * launch: grid 1, block 32
 * fault: bad_mask */
KERNEL(half_a_mask)
{
    int t = threadIdx.x;
    out[t] = __reduce_add_sync((1u << 16) - 1, in[t]); /* FAULT */
}

/* The last warp has 8 lanes: a full reduction adds what is not there.
 * launch: grid 1, block 40
 * fault: bad_mask */
KERNEL(partial_warp_sum)
{
    int t = threadIdx.x, sum = in[t];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d); /* FAULT */
    if (t % 32 == 0)
        out[t / 32] = sum;
}
