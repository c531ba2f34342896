/* compare.h - the classic question: how far apart are the GPU's C and the CPU's? */
#ifndef PEAKBOUND_COMPARE_H
#define PEAKBOUND_COMPARE_H

#include "bench/matrix.h"
#include "cpu/rung.h"

struct difference {
    size_t cells;    /* compared */
    double largest;  /* |gpu - cpu| */
    size_t row, col; /* where */
    double gpu, cpu; /* the two values */
};

/* Compute with `rung` those cells of A * B that are written in `c` (not poison),
 * and compare. All matrices FP32. Stops after about `seconds`; `cells` says how
 * far it came. */
void compare_with_cpu(const struct cpu_rung *rung, const struct matrix *a,
                      const struct matrix *b, const struct matrix *c, double seconds,
                      struct difference *difference);

#endif
