// row_sum.cu - no matmul: the sum of each row of A, one block a row, in double as well.
#include <cooperative_groups.h>

template <typename T> __device__ T block_sum(T value)
{
    __shared__ T part[32];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    T sum = 0;
    for (int warp = 0; warp < blockDim.x / 32; warp++)
        sum += part[warp];
    return sum;
}

extern "C" __global__ void row_sum(const float *a, int lda, long long k, float *sums,
                                   double scale)
{
    float mine = 0;
    for (long long i = threadIdx.x; i < k; i += blockDim.x)
        mine += a[(long long)blockIdx.x * lda + i];
    float sum = block_sum(mine);
    if (threadIdx.x == 0)
        sums[blockIdx.x] += (float)(scale * sum);
}

// each block's first thread adds up what all blocks wrote
extern "C" __global__ void grid_sum(float *parts, float *sums)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0)
        parts[blockIdx.x] = (float)blockIdx.x;
    grid.sync();
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x && threadIdx.x == 0; i++)
        sum += parts[i];
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
