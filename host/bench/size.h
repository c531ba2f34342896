/* size.h - the size of a product: C (m x n) = A (m x k) * B (k x n). */
#ifndef PEAKBOUND_BENCH_SIZE_H
#define PEAKBOUND_BENCH_SIZE_H

#include <stddef.h>

struct size {
    size_t m, n, k;
};

#endif
