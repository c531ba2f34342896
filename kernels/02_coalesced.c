/* 02_coalesced - the CPU twin of 02_coalesced.cu: the loops in another order.
 *
 * Idea     with k in the middle the inner loop walks along a row of B and of C: unit
 *          stride, so every float of a cache line is used and the compiler can use SIMD.
 * Changed  from 01: loops row, i, col instead of row, col, i; the row of C is scaled
 *          by beta first and then summed into.
 * Limit    for each step of i a whole row of C is read and written again, and all of B
 *          is walked through for every row of A. Next: work in pieces that fit a cache.
 */
#include "../host/cpu/rung.h"

static void scale_row(float *c, size_t n, float beta)
{
    for (size_t col = 0; col < n; col++)
        c[col] = beta == 0.0f ? 0.0f : beta * c[col];
}

static void loop_order(const struct gemm *g)
{
#pragma omp parallel for
    for (size_t row = 0; row < g->m; row++) {
        float *restrict c = &g->c[row * g->ldc];
        scale_row(c, g->n, g->beta);
        for (size_t i = 0; i < g->k; i++) {
            float a = g->alpha * g->a[row * g->lda + i];
            const float *restrict b = &g->b[i * g->ldb];
            for (size_t col = 0; col < g->n; col++)
                c[col] += a * b[col];
        }
    }
}

CPU_RUNG = {
    .lesson = 2,
    .name = "coalesced",
    .title = "loop order for unit stride",
    .run = loop_order,
};
