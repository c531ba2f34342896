/* verdict.h - is C right? The one place that decides.
 *
 * Error of a cell: |c - ref| / sum_k |a_ik||b_kj|, ref in double precision over
 * the rounded inputs (plus alpha, beta terms). It passes if isfinite(e) &&
 * e <= bound; the file is never compiled with fast-math (a #error says so).
 * Bound, from K, accumulator and unit: see verdict_bound.
 */
#ifndef PEAKBOUND_BENCH_VERDICT_H
#define PEAKBOUND_BENCH_VERDICT_H

#include "matrix.h"

enum verdict_kind {
    VERDICT_PASS,
    VERDICT_SKIPPED,         /* --check 0: no verdict, so no rate either */
    VERDICT_NOT_WRITTEN,     /* poison left where a value was due */
    VERDICT_NOT_FINITE,      /* NaN or Inf computed */
    VERDICT_NOT_EXACT,       /* whole-number inputs, result differs */
    VERDICT_TOO_FAR,         /* error above the bound */
    VERDICT_WRONG_PRECISION, /* above the bound, but as narrower sums would be */
    VERDICT_WROTE_OUTSIDE,   /* guard zone or unselected cell changed */
    VERDICT_INPUT_CHANGED,   /* A or B differ afterwards */
    VERDICT_LAUNCH_FAILED,
    VERDICT_FAULT,    /* the simulator found a fault */
    VERDICT_TOO_FAST, /* rate above 1.15 x peak, or below clock resolution */
    VERDICT_INTERRUPTED
};
const char *verdict_name(enum verdict_kind kind);

struct verdict {
    enum verdict_kind kind;
    double error, bound; /* worst cell; error / bound = share used */
    size_t row, col;     /* the worst, or first offending, cell */
    double got, want;
    size_t bad_cells, cells; /* cells checked */
    char reason[400];        /* "not written: C[31][0] ...; is the edge guarded?" */
};

/* The problem as seen by the checker. c_before is NULL when beta == 0. */
struct problem {
    double alpha, beta;
    const struct matrix *a, *b, *c_before;
    int acc, unit; /* enum kernel_type, enum kernel_unit */
    /* which cells must have been written; NULL = all */
    bool (*selected)(const void *context, size_t row, size_t col);
    const void *context;
};

/* Largest error a correct kernel can show. */
double verdict_bound(int in, int acc, int out, int unit, size_t k);

/* Compare the whole of c (every cell; only cells picked by `selected` must be
 * written, the others must still be poison). Uses OpenMP. exact: whole-number
 * inputs, compare with ==. */
void verdict_check(const struct problem *problem, const struct matrix *c, bool exact,
                   struct verdict *verdict);

#endif
