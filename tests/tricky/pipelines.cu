/* Correct kernels that copy asynchronously. */
#include "../planted.h"

static __device__ __forceinline__ void copy_async(int *to, const int *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from)
                 : "memory");
}
static __device__ __forceinline__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* The next tile is on its way while this one is used.
 * launch: grid 1, block 64, n 256
 * result: reverse_64 */
KERNEL(two_stages)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x;
    copy_async(&tile[0][t], in + t);
    commit();
    for (int k = 0; k < n; k += 64) {
        int now = k / 64 % 2;
        if (k + 64 < n)
            copy_async(&tile[!now][t], in + k + 64 + t);
        commit();
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        out[k + t] = tile[now][63 - t];
        __syncthreads();
    }
}

/* Four stages, one barrier a round; groups without a copy keep the count right.
 * launch: grid 1, block 64, n 640
 * result: reverse_64 */
KERNEL(four_stages)
{
    __shared__ int tile[4][64];
    int t = threadIdx.x;
    for (int s = 0; s < 3; s++) {
        copy_async(&tile[s][t], in + 64 * s + t);
        commit();
    }
    for (int k = 0; k < n / 64; k++) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        if (k + 3 < n / 64)
            copy_async(&tile[(k + 3) % 4][t], in + 64 * (k + 3) + t);
        commit();
        out[64 * k + t] = tile[k % 4][63 - t];
    }
}

/* Copies of nothing fill the tile's tail with zeros.
 * launch: grid 1, block 64, n 48
 * result: copy */
KERNEL(zero_filled_tail)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at),
                 "l"(in + (t < n ? t : 0)), "r"(t < n ? 4 : 0)
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (t < n)
        out[t] = tile[t] + tile[t < 16 ? 48 + t : 63];
}

/* A tile that came asynchronously, read by ldmatrix; its rows are padded.
 * launch: grid 1, block 32, n 128
 * result: copy */
KERNEL(ldmatrix_of_copies)
{
    __shared__ __align__(16) int tile[32][8];
    int t = threadIdx.x, matrix[4];
    unsigned row = (unsigned)__cvta_generic_to_shared(tile[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(row), "l"(in + 4 * t)
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(row)
                 : "memory");
    for (int i = 0; i < 4; i++)
        out[32 * i + t] = matrix[i];
}

/* ldmatrix.x2 takes its rows from 16 lanes; the others' addresses mean nothing, nor does
 * the half of the tile that nobody wrote.
 * launch: grid 1, block 32, n 64
 * result: copy */
KERNEL(half_a_tile_of_matrices)
{
    __shared__ __align__(16) int tile[32][4];
    int t = threadIdx.x, a, b;
    tile[t / 2][t % 2 * 2] = in[2 * t];
    tile[t / 2][t % 2 * 2 + 1] = in[2 * t + 1];
    __syncwarp();
    unsigned row = (unsigned)__cvta_generic_to_shared(tile[t]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(row)
                 : "memory");
    out[t] = a;
    out[32 + t] = b;
}

/* A 16 x 8 x 8 product on the tensor cores in which only the first row of A counts; the
 * rest of A is undefined, and the rest of the product is not used.
 * launch: grid 1, block 32, n 8
 * result: twice */
KERNEL(one_row_of_a_product)
{
    __shared__ __align__(16) short a_tile[16][8], b_tile[8][8];
    int t = threadIdx.x;
    if (t < 8) {
        a_tile[0][t] = t == 0 ? 0x4000 : 0; /* 2.0 */
        for (int k = 0; k < 8; k++)
            b_tile[t][k] = 0;
    }
    __syncwarp();
    float sums[4] = {0, 0, 0, 0};
    int group = t / 4, pair = t % 4 * 2;
    const int *a_row = (const int *)&a_tile[group][pair];
    const int *a_low = (const int *)&a_tile[group + 8][pair];
    int b = *(const int *)&b_tile[group][pair];
    if (pair == 0) /* column `group` of B is in[group], exact in half precision */
        asm("{.reg .f32 f; .reg .b16 h; cvt.rn.f32.s32 f, %1; cvt.rn.f16.f32 h, f;"
            "mov.b32 %0, {h, h};}"
            : "=r"(b)
            : "r"(in[group]));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, "
        "{%6}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(*a_row), "r"(*a_low), "r"(b));
    if (group == 0) {
        out[pair] = (int)sums[0];
        out[pair + 1] = (int)sums[1];
    }
}
