// talks.cu - a whole program, as downloaded: with a template, printf, assert and main.
#include <cassert>
#include <cstdio>

template <int STEP> __global__ void talks(int n, int wrong_at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % STEP == 0 && i < n)
        printf("thread %d of %d\n", i, n);
    assert(i != wrong_at);
}

int main()
{
    talks<16><<<1, 32>>>(32, -1);
    return cudaDeviceSynchronize();
}
