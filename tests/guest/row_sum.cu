// row_sum.cu - no matmul: the sum of each row of A, one block a row, in double as well.
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
