/* mma.h - the part of nvcuda::wmma that the rungs use (16x16x16, FP16 in, FP32
 * sum) over clang's builtins, for clang without the CUDA toolkit. */
#ifndef PEAKBOUND_CLANG_MMA_H
#define PEAKBOUND_CLANG_MMA_H

#include "cuda_fp16.h"

namespace nvcuda
{
namespace wmma
{

enum layout_t { mem_row_major, mem_col_major };
struct row_major {
    enum { COL = 0 };
};
struct col_major {
    enum { COL = 1 };
};
struct matrix_a;
struct matrix_b;
struct accumulator;

template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct fragment;
template <typename Layout> struct fragment<matrix_a, 16, 16, 16, half, Layout> {
    int x[8];
};
template <typename Layout> struct fragment<matrix_b, 16, 16, 16, half, Layout> {
    int x[8];
};
template <> struct fragment<accumulator, 16, 16, 16, float, void> {
    enum { num_elements = 8 };
    float x[8];
};
typedef fragment<accumulator, 16, 16, 16, float> sum_fragment;

CUDA_WORD void fill_fragment(sum_fragment &f, float value)
{
    for (int i = 0; i < 8; i++)
        f.x[i] = value;
}
template <typename Layout>
CUDA_WORD void load_matrix_sync(fragment<matrix_a, 16, 16, 16, half, Layout> &f,
                                const half *from, unsigned stride)
{
    __hmma_m16n16k16_ld_a(f.x, (const int *)from, stride, Layout::COL);
}
template <typename Layout>
CUDA_WORD void load_matrix_sync(fragment<matrix_b, 16, 16, 16, half, Layout> &f,
                                const half *from, unsigned stride)
{
    __hmma_m16n16k16_ld_b(f.x, (const int *)from, stride, Layout::COL);
}
template <typename LayoutA, typename LayoutB>
CUDA_WORD void
mma_sync(sum_fragment &d, const fragment<matrix_a, 16, 16, 16, half, LayoutA> &a,
         const fragment<matrix_b, 16, 16, 16, half, LayoutB> &b, const sum_fragment &c)
{
    __hmma_m16n16k16_mma_f32f32(d.x, a.x, b.x, c.x, 2 * LayoutA::COL + LayoutB::COL, 0);
}
CUDA_WORD void store_matrix_sync(float *to, sum_fragment &f, unsigned stride,
                                 layout_t layout)
{
    if (layout == mem_row_major)
        __hmma_m16n16k16_st_c_f32(to, f.x, stride, 0);
    else
        __hmma_m16n16k16_st_c_f32(to, f.x, stride, 1);
}

} // namespace wmma
} // namespace nvcuda

#endif
