/* cuda_basics.h - the few CUDA words that the rungs use, for clang without the
 * CUDA toolkit (`-nocudainc`). nvcc never sees this folder. */
#ifndef PEAKBOUND_CLANG_CUDA_BASICS_H
#define PEAKBOUND_CLANG_CUDA_BASICS_H

#include <stddef.h>
#include <stdint.h>

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict
/* Without lines of its own: a fault names the line that calls it. */
#define CUDA_WORD static __device__ __forceinline__ __attribute__((nodebug))

struct cuda_index {
    unsigned x, y, z;
};

CUDA_WORD struct cuda_index cuda_thread_index()
{
    return {(unsigned)__nvvm_read_ptx_sreg_tid_x(),
            (unsigned)__nvvm_read_ptx_sreg_tid_y(),
            (unsigned)__nvvm_read_ptx_sreg_tid_z()};
}
CUDA_WORD struct cuda_index cuda_block_index()
{
    return {(unsigned)__nvvm_read_ptx_sreg_ctaid_x(),
            (unsigned)__nvvm_read_ptx_sreg_ctaid_y(),
            (unsigned)__nvvm_read_ptx_sreg_ctaid_z()};
}
CUDA_WORD struct cuda_index cuda_block_dim()
{
    return {(unsigned)__nvvm_read_ptx_sreg_ntid_x(),
            (unsigned)__nvvm_read_ptx_sreg_ntid_y(),
            (unsigned)__nvvm_read_ptx_sreg_ntid_z()};
}
CUDA_WORD struct cuda_index cuda_grid_dim()
{
    return {(unsigned)__nvvm_read_ptx_sreg_nctaid_x(),
            (unsigned)__nvvm_read_ptx_sreg_nctaid_y(),
            (unsigned)__nvvm_read_ptx_sreg_nctaid_z()};
}
#define threadIdx cuda_thread_index()
#define blockIdx cuda_block_index()
#define blockDim cuda_block_dim()
#define gridDim cuda_grid_dim()

struct __align__(16) float4
{
    float x, y, z, w;
};

CUDA_WORD int min(int a, int b)
{
    return a < b ? a : b;
}
CUDA_WORD int max(int a, int b)
{
    return a > b ? a : b;
}

CUDA_WORD size_t __cvta_generic_to_shared(const void *pointer)
{
    return (size_t)(__attribute__((address_space(3))) const void *)pointer;
}

#include "cuda_threads.h"

#endif
