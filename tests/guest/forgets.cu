// forgets.cu - a block of the device heap for each thread; one thread keeps its own.
extern "C" __global__ void forgets(const float *a, float *out, int keeper)
{
    float *own = (float *)malloc(16 * sizeof *own);
    own[0] = a[threadIdx.x];
    out[threadIdx.x] = own[0];
    if (threadIdx.x != keeper)
        free(own);
}
