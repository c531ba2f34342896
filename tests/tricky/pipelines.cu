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
