/* matrix.h - matrices in host memory: typed, strided, with guard zones. */
#ifndef PEAKBOUND_BENCH_MATRIX_H
#define PEAKBOUND_BENCH_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../kernels/kernel.h"
#include "../error.h"

int kernel_type_bytes(int type);        /* KERNEL_F16 -> 2 */
const char *kernel_type_name(int type); /* "f16" */

struct matrix {
    int type;                  /* enum kernel_type */
    size_t rows, cols, stride; /* elements; row-major, unless */
    bool by_columns;           /* stride is then from column to column */
    unsigned char *data;
    size_t bytes; /* of all rows, or columns */
};

/* Zeroed pages. False and *err (status EXIT_OURS, sizes named) if the size
 * overflows or the machine has not the memory. */
bool matrix_alloc(struct matrix *m, int type, size_t rows, size_t cols,
                  struct error *err);
void matrix_free(struct matrix *m);
/* Bytes that all matrices together may take in this machine. */
double matrix_memory(void);
/* Lay the cells of a new, packed matrix out column by column. */
void matrix_by_columns(struct matrix *m);

/* Value of a cell as double; store rounds to nearest even in the type. */
double matrix_get(const struct matrix *m, size_t row, size_t col);
void matrix_set(struct matrix *m, size_t row, size_t col, double value);

/* Reproducible fills: a cell depends on (seed, row, col) alone, not on shape or
 * thread count. uniform: [-1, 1) rounded to the type. whole: small integers in
 * [-limit, limit]. */
void matrix_fill_uniform(struct matrix *m, uint64_t seed);
void matrix_fill_whole(struct matrix *m, uint64_t seed, int limit);
/* Quiet NaN with the payload MATRIX_POISON in every cell (integer types: a fixed
 * pattern), so that an untouched cell can be told from a computed NaN. */
void matrix_poison(struct matrix *m);
bool matrix_is_poison(const struct matrix *m, size_t row, size_t col);

uint64_t matrix_hash(const struct matrix *m);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value); /* nearest even, overflow to Inf */
float bfloat_to_float(uint16_t bf);
uint16_t float_to_bfloat(float value);

#endif
