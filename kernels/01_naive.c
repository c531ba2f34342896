/* 01_naive - the CPU twin of 01_naive.cu: three loops, one output at a time.
 *
 * Idea     each output is a sum over k; rows of C are shared out among the threads.
 * Shapes   as host/cpu/rung.h: any m, n, k and strides.
 * Limit    the inner loop walks down a column of B: every step is in another cache
 *          line, so a line of 16 floats is fetched for one of them. Next: change the
 *          order of the loops.
 */
#include "../host/cpu/rung.h"

static void naive(const struct gemm *g)
{
#pragma omp parallel for
    for (size_t row = 0; row < g->m; row++)
        for (size_t col = 0; col < g->n; col++) {
            float sum = 0.0f;
            for (size_t i = 0; i < g->k; i++)
                sum += g->a[row * g->lda + i] * g->b[i * g->ldb + col];
            float *out = &g->c[row * g->ldc + col];
            *out = g->beta == 0.0f ? g->alpha * sum : g->alpha * sum + g->beta * *out;
        }
}

CPU_RUNG = {
    .lesson = 1,
    .name = "naive",
    .title = "three loops",
    .run = naive,
};
