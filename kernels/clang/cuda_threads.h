/* cuda_threads.h - warp functions, atomics, fences and other words of CUDA that threads
 * work together with, for clang without the CUDA toolkit. int and unsigned only. */
#ifndef PEAKBOUND_CLANG_CUDA_THREADS_H
#define PEAKBOUND_CLANG_CUDA_THREADS_H

#define __noinline__ __attribute__((noinline))

/* --- barriers and fences -------------------------------------------------------------- */

/* In assembly: clang 14 moves loads of shared variables across its own barriers. */
#define __syncthreads() asm volatile("bar.sync 0;" ::: "memory")
#define __threadfence_block() asm volatile("membar.cta;" ::: "memory")
#define __threadfence() asm volatile("membar.gl;" ::: "memory")

CUDA_WORD void __syncwarp(unsigned mask = 0xffffffffu)
{
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
CUDA_WORD int __syncthreads_count(int predicate)
{
    int count;
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p;}"
                 : "=r"(count)
                 : "r"(predicate)
                 : "memory");
    return count;
}

/* --- warps ------------------------------------------------------------------------ */

CUDA_WORD unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
CUDA_WORD unsigned __ballot_sync(unsigned mask, int predicate)
{
    return (unsigned)__nvvm_vote_ballot_sync(mask, predicate != 0);
}
CUDA_WORD int __any_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_any_sync(mask, predicate != 0);
}
CUDA_WORD int __all_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_all_sync(mask, predicate != 0);
}
CUDA_WORD unsigned __match_any_sync(unsigned mask, int value)
{
    return (unsigned)__nvvm_match_any_sync_i32(mask, value);
}
CUDA_WORD int __reduce_add_sync(unsigned mask, int value)
{
    return __nvvm_redux_sync_add(value, (int)mask);
}
CUDA_WORD int __shfl_sync(unsigned mask, int value, int lane, int width = 32)
{
    return __nvvm_shfl_sync_idx_i32(mask, value, lane, (32 - width) << 8 | 31);
}
CUDA_WORD int __shfl_up_sync(unsigned mask, int value, unsigned lanes, int width = 32)
{
    return __nvvm_shfl_sync_up_i32(mask, value, (int)lanes, (32 - width) << 8);
}
CUDA_WORD int __shfl_down_sync(unsigned mask, int value, unsigned lanes, int width = 32)
{
    return __nvvm_shfl_sync_down_i32(mask, value, (int)lanes, (32 - width) << 8 | 31);
}
CUDA_WORD int __shfl_xor_sync(unsigned mask, int value, int lanes, int width = 32)
{
    return __nvvm_shfl_sync_bfly_i32(mask, value, lanes, (32 - width) << 8 | 31);
}

/* --- atomics --------------------------------------------------------------------------- */

CUDA_WORD int atomicAdd(int *at, int value)
{
    return __nvvm_atom_add_gen_i(at, value);
}
CUDA_WORD int atomicAdd_block(int *at, int value)
{
    return __nvvm_atom_cta_add_gen_i(at, value);
}
CUDA_WORD unsigned atomicInc(unsigned *at, unsigned most)
{
    return __nvvm_atom_inc_gen_ui(at, most);
}
CUDA_WORD int atomicExch(int *at, int value)
{
    return __nvvm_atom_xchg_gen_i(at, value);
}
CUDA_WORD int atomicCAS(int *at, int expected, int value)
{
    return __nvvm_atom_cas_gen_i(at, expected, value);
}

/* --- bits ----------------------------------------------------------------------------- */

CUDA_WORD int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}
CUDA_WORD int __ffs(int bits)
{
    return __builtin_ffs(bits);
}
CUDA_WORD int __float_as_int(float value)
{
    return __builtin_bit_cast(int, value);
}
CUDA_WORD float __int_as_float(int bits)
{
    return __builtin_bit_cast(float, bits);
}
CUDA_WORD void __trap()
{
    asm volatile("trap;");
}

#endif
