/* rung.h - the contract of a CPU rung: kernels/NN_name.c defines one with
 * CPU_RUNG, the Makefile collects them by wildcard.
 *
 *     C = alpha * A * B + beta * C, row-major, strides in elements;
 *     beta == 0 never reads C; k == 0 gives beta * C; m or n == 0 does nothing.
 *     NaN and Inf in A or B reach C.
 */
#ifndef PEAKBOUND_CPU_RUNG_H
#define PEAKBOUND_CPU_RUNG_H

#include <stddef.h>

struct gemm {
    size_t m, n, k;
    float alpha;
    const float *a; /* [m][k], stride lda */
    size_t lda;
    const float *b; /* [k][n], stride ldb */
    size_t ldb;
    float beta;
    float *c; /* [m][n], stride ldc */
    size_t ldc;
};

struct cpu_rung {
    int lesson;
    const char *name;  /* stem of the GPU twin: "naive" */
    const char *title; /* what this rung does on the CPU: "loop order for unit stride" */
    void (*run)(const struct gemm *g); /* uses the OpenMP threads it is given */
};

/* RUNG_SYMBOL is set by the Makefile from the file's stem: cpu_rung_03_shared_tile */
#define CPU_RUNG const struct cpu_rung RUNG_SYMBOL

#endif
