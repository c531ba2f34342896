/* cuda_fp16.h - half as the rungs use it, for clang without the CUDA toolkit. */
#ifndef PEAKBOUND_CLANG_CUDA_FP16_H
#define PEAKBOUND_CLANG_CUDA_FP16_H

#include "cuda_basics.h"

struct half {
    unsigned short bits;
};
typedef half __half;

CUDA_WORD half __float2half(float value)
{
    half result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}
CUDA_WORD float __half2float(half value)
{
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}

#endif
