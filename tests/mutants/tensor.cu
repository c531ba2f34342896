/* Mistakes around the tensor cores. */
#include "../planted.h"

#pragma nv_diag_suppress 549 /* used before it is set */

/* Nobody sets the sums to zero.
 * launch: grid 1, block 32, n 128
 * fault: uninitialized */
KERNEL(sums_not_zeroed)
{
    float sums[4];
    int t = threadIdx.x;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(in[t]), "r"(in[t + 32]), "r"(in[t + 64])); /* FAULT */
    out[t] = (int)sums[0];                                        /* FAULT */
}

/* The tile is stored by two warps and loaded without a barrier.
 * launch: grid 1, block 64, n 128
 * fault: race_shared */
KERNEL(wmma_without_barrier)
{
    __shared__ __align__(32) short tile[16 * 16];
    int t = threadIdx.x;
    ((int *)tile)[t] = in[t];           /* FAULT */
    ((int *)tile)[t + 64] = in[t + 64]; /* FAULT */
    unsigned at = (unsigned)__cvta_generic_to_shared(tile);
    int a[8];
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " /* FAULT */
                 "{%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]), "=r"(a[4]), "=r"(a[5]),
                   "=r"(a[6]), "=r"(a[7])
                 : "r"(at)
                 : "memory");
    out[t] = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}

/* Lanes of one warp in two branches, each with the whole warp's product.
 * launch: grid 1, block 32, n 128
 * fault: bad_mask */
KERNEL(product_in_branch)
{
    float sums[4] = {0, 0, 0, 0};
    int t = threadIdx.x;
    if (t < 24)
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, " /* FAULT */
            "{%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(in[t]), "r"(in[t + 32]), "r"(in[t + 64]));
    out[t] = (int)sums[0];
}

/* A row of a matrix load that does not begin at a multiple of 16 bytes.
 * launch: grid 1, block 32
 * fault: misaligned */
KERNEL(ldmatrix_of_odd_rows)
{
    __shared__ __align__(16) int tile[32][5];
    int t = threadIdx.x, a;
    for (int i = 0; i < 5; i++)
        tile[t][i] = in[t];
    __syncwarp();
    unsigned row = (unsigned)__cvta_generic_to_shared(tile[t]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" /* FAULT */
                 : "=r"(a)
                 : "r"(row)
                 : "memory");
    out[t] = a;
}

/* The last rows lie behind the tile.
 * launch: grid 1, block 32, n 64
 * fault: out_of_bounds */
KERNEL(ldmatrix_behind_tile)
{
    __shared__ __align__(16) int tile[16][4];
    int t = threadIdx.x, a, b, c, d;
    for (int i = t; i < 64; i += 32)
        tile[i / 4][i % 4] = in[i];
    __syncwarp();
    unsigned row = (unsigned)__cvta_generic_to_shared(tile[t]);
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" /* FAULT */
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
        : "r"(row)
        : "memory");
    out[t] = a + b + c + d;
}
