/* wrong.h - what the planted wrong kernels share: a 16 x 16 block, one output a thread,
 * and the table entry. Each .cu is a correct matmul with one mistake, named in its
 * first line; tests/test_wrong.c asserts that the bench rejects it, and why. */
#ifndef PEAKBOUND_TESTS_WRONG_H
#define PEAKBOUND_TESTS_WRONG_H

#include "../../kernels/kernel.h"

enum { BM = 16, BN = 16, BK = 16 };

#define WRONG_PARAMETERS                                                                \
    int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, \
        float beta, float *c, int ldc

#define WRONG_INFO(kernel_name)                     \
    KERNEL_INFO = {{.version = KERNEL_INFO_VERSION, \
                    .lesson = 1,                    \
                    .name = #kernel_name,           \
                    .entry = "wrong",               \
                    .title = "planted",             \
                    .bm = BM,                       \
                    .bn = BN,                       \
                    .bk = BK,                       \
                    .block_x = BN,                  \
                    .block_y = BM,                  \
                    .grid = KERNEL_GRID_X_IS_N,     \
                    .dynamic_smem_bytes = 0,        \
                    .unit = KERNEL_CUDA_CORES,      \
                    .in = KERNEL_F32,               \
                    .acc = KERNEL_F32,              \
                    .out = KERNEL_F32,              \
                    .min_cc = 75,                   \
                    .multiple_m = 1,                \
                    .multiple_n = 1,                \
                    .multiple_k = 1}}

#endif
