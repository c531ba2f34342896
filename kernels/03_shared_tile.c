/* 03_shared_tile - the CPU twin of 03_shared_tile.cu: pieces that fit the cache.
 *
 * Idea     a piece of B of TILE_K x TILE_N floats stays in the L2 cache while all rows
 *          of a thread's share pass over it; a piece of a row of C stays in L1.
 * Changed  from 02: the loops over i and col are cut into tiles, the tiles outside.
 * Limit    every multiply-add still loads and stores C. Next: keep a block of C in
 *          registers.
 */
#include "../host/cpu/rung.h"

enum { TILE_M = 32, TILE_N = 512, TILE_K = 128 }; /* B tile: 256 KiB */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows [row, row_end) of C += columns [i, i_end) of A times that part of B. */
static void tile(const struct gemm *g, size_t row, size_t row_end, size_t i0,
                 size_t i_end, size_t col0, size_t col_end)
{
    for (; row < row_end; row++) {
        float *restrict c = &g->c[row * g->ldc];
        for (size_t i = i0; i < i_end; i++) {
            float a = g->alpha * g->a[row * g->lda + i];
            const float *restrict b = &g->b[i * g->ldb];
            for (size_t col = col0; col < col_end; col++)
                c[col] += a * b[col];
        }
    }
}

static void cache_block(const struct gemm *g)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t row = 0; row < g->m; row += TILE_M) {
        size_t row_end = smaller(row + TILE_M, g->m);
        for (size_t r = row; r < row_end; r++)
            for (size_t col = 0; col < g->n; col++) {
                float *out = &g->c[r * g->ldc + col];
                *out = g->beta == 0.0f ? 0.0f : g->beta * *out;
            }
        for (size_t col = 0; col < g->n; col += TILE_N)
            for (size_t i = 0; i < g->k; i += TILE_K)
                tile(g, row, row_end, i, smaller(i + TILE_K, g->k), col,
                     smaller(col + TILE_N, g->n));
    }
}

CPU_RUNG = {
    .lesson = 3,
    .name = "shared_tile",
    .title = "cache blocking",
    .run = cache_block,
};
