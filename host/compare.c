/* compare.c - see compare.h. The written cells of C are cut into rectangles, and
 * the CPU rung computes each as a small product of its own: a sampled run writes
 * a few tiles of a large C, and only those are worth computing. A cell's sum runs
 * over all of k in the same order as in a whole product. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "error.h"

enum { RECTANGLE_ROWS = 64, RECTANGLE_COLS = 4096 };

struct rectangle {
    size_t row, col, rows, cols;
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool is_open(const struct matrix *c, const unsigned char *done, size_t row,
                    size_t col)
{
    return !done[row * c->cols + col] && !matrix_is_poison(c, row, col);
}

/* The largest rectangle of open cells that starts here and grows right, then
 * down. */
static struct rectangle grow(const struct matrix *c, unsigned char *done, size_t row,
                             size_t col)
{
    struct rectangle r = {row, col, 1, 1};
    while (r.cols < RECTANGLE_COLS && col + r.cols < c->cols &&
           is_open(c, done, row, col + r.cols))
        r.cols++;
    bool whole = true;
    while (whole && r.rows < RECTANGLE_ROWS && row + r.rows < c->rows) {
        for (size_t i = 0; i < r.cols && whole; i++)
            whole = is_open(c, done, row + r.rows, col + i);
        r.rows += whole;
    }
    for (size_t i = 0; i < r.rows; i++)
        for (size_t j = 0; j < r.cols; j++)
            done[(row + i) * c->cols + col + j] = 1;
    return r;
}

static void compare_rectangle(const struct cpu_rung *rung, const struct matrix *a,
                              const struct matrix *b, const struct matrix *c,
                              const struct rectangle *r, float *tile,
                              struct difference *d)
{
    struct gemm g = {
        .m = r->rows,
        .n = r->cols,
        .k = a->cols,
        .alpha = 1,
        .a = (const float *)(const void *)a->data + r->row * a->stride,
        .lda = a->stride,
        .b = (const float *)(const void *)b->data + r->col,
        .ldb = b->stride,
        .beta = 0,
        .c = tile,
        .ldc = r->cols,
    };
    rung->run(&g);
    for (size_t i = 0; i < r->rows; i++)
        for (size_t j = 0; j < r->cols; j++) {
            double gpu = matrix_get(c, r->row + i, r->col + j);
            double cpu = (double)tile[i * r->cols + j];
            double apart = fabs(gpu - cpu);
            if (d->cells++ == 0 || apart > d->largest || isnan(apart))
                *d = (struct difference){d->cells,   apart, r->row + i,
                                         r->col + j, gpu,   cpu};
        }
}

void compare_with_cpu(const struct cpu_rung *rung, const struct matrix *a,
                      const struct matrix *b, const struct matrix *c, double seconds,
                      struct difference *difference)
{
    *difference = (struct difference){0};
    unsigned char *done = xcalloc(c->rows * c->cols + 1, 1);
    float *tile = xmalloc(sizeof *tile * RECTANGLE_ROWS * RECTANGLE_COLS);
    double stop = seconds_now() + seconds;
    for (size_t row = 0; row < c->rows; row++)
        for (size_t col = 0; col < c->cols; col++) {
            if (!is_open(c, done, row, col))
                continue;
            struct rectangle r = grow(c, done, row, col);
            compare_rectangle(rung, a, b, c, &r, tile, difference);
            if (seconds_now() > stop || interrupt_pending()) {
                row = c->rows - 1;
                break;
            }
        }
    free(tile);
    free(done);
}
