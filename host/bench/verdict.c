/* verdict.c - see verdict.h.
 *
 * The bound. Let u be the unit roundoff of the sums (FP32 2^-24, FP16 2^-11, FP64
 * 2^-53). A sum of K products in any order is off by at most about K u times
 * sum |a||b| (Higham, Accuracy and Stability, 3.1); in practice, with rounding errors
 * of both signs, by a few sqrt(K) u. Tensor cores truncate while they align addends,
 * so their errors have one sign and grow with the number of instructions, K / 16, not
 * with its root. Measured on random data at K = 16384: 1.5e-7 for FP32 with mixed
 * signs, 5.5e-6 with one sign, 8.5e-5 for truncating adds four at a time, 1.2e-3 and
 * more for FP16 sums. So
 *
 *     bound = u (16 + 2 sqrt(K))                 CUDA cores
 *     bound = u (16 + 2 sqrt(K) + K / 4)         tensor cores
 *
 * plus half a unit of the output type. FP16 sums at K = 16 are off by 2e-4 of
 * sum |a||b| and more, which is above the FP32 bounds at every K; a dropped term is
 * worth about 1 / K.
 */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "verdict.c must not be built with fast-math: NaN would pass"
#endif

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {
        [VERDICT_PASS] = "pass",
        [VERDICT_SKIPPED] = "skipped",
        [VERDICT_NOT_WRITTEN] = "not written",
        [VERDICT_NOT_FINITE] = "not finite",
        [VERDICT_NOT_EXACT] = "not exact",
        [VERDICT_TOO_FAR] = "wrong result",
        [VERDICT_WRONG_PRECISION] = "wrong precision",
        [VERDICT_WROTE_OUTSIDE] = "wrote outside",
        [VERDICT_INPUT_CHANGED] = "input changed",
        [VERDICT_LAUNCH_FAILED] = "launch failed",
        [VERDICT_FAULT] = "fault",
        [VERDICT_TOO_FAST] = "too fast",
        [VERDICT_INTERRUPTED] = "interrupted",
    };
    return names[kind];
}

static double roundoff(int type)
{
    return type == KERNEL_F64    ? 0x1p-53
           : type == KERNEL_F16  ? 0x1p-11
           : type == KERNEL_BF16 ? 0x1p-8
           : type == KERNEL_S32  ? 0
                                 : 0x1p-24;
}

/* The step between the smallest numbers of a type. */
static double smallest(int type)
{
    return type == KERNEL_F64    ? 0x1p-1074
           : type == KERNEL_F16  ? 0x1p-24
           : type == KERNEL_BF16 ? 0x1p-133
           : type == KERNEL_S32  ? 0
                                 : 0x1p-149;
}

double verdict_bound(int in, int acc, int out, int unit, size_t k)
{
    (void)in; /* the reference uses the rounded inputs */
    double steps = 16 + 2 * sqrt((double)k);
    if (unit == KERNEL_TENSOR_CORES)
        steps += (double)k / 4;
    double bound = roundoff(acc) * steps;
    return out == acc ? bound : bound + roundoff(out);
}

/* --- the reference -------------------------------------------------------------------- */

enum { TILE = 64 };

/* Rows and columns as doubles, so that the inner loop vectorises. */
struct panels {
    double *a; /* [rows of the tile][k] */
    double *b; /* [k][cols of the tile] */
};

static void load_a(const struct matrix *a, size_t row0, size_t rows, double *out)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < a->cols; i++)
            out[r * a->cols + i] = matrix_get(a, row0 + r, i);
}

static void load_b(const struct matrix *b, size_t col0, size_t cols, double *out)
{
    for (size_t i = 0; i < b->rows; i++)
        for (size_t c = 0; c < cols; c++)
            out[i * TILE + c] = matrix_get(b, i, col0 + c);
}

/* ref = sum a b, size = sum |a||b| for one row of the tile. */
static void reference_row(const double *a, const double *b, size_t k, double *ref,
                          double *size)
{
    for (int c = 0; c < TILE; c++)
        ref[c] = size[c] = 0;
    for (size_t i = 0; i < k; i++) {
        double x = a[i];
        const double *row = b + i * TILE;
        for (int c = 0; c < TILE; c++) {
            double product = x * row[c];
            ref[c] += product;
            size[c] += fabs(product);
        }
    }
}

/* --- cells ---------------------------------------------------------------------------- */

/* Worst things found so far; one per thread, merged in the end. */
struct findings {
    size_t cells, unwritten, outside, not_finite, inexact, too_far;
    size_t first[5][2]; /* row, col of the first of each kind */
    double first_got[5], first_want[5];
    double worst;
    size_t worst_at[2];
    double worst_got, worst_want;
    size_t last_row_bad, last_col_bad; /* cells that failed in the last tile */
};

enum { F_UNWRITTEN, F_OUTSIDE, F_NOT_FINITE, F_INEXACT, F_TOO_FAR };

static void note(struct findings *f, int kind, size_t *count, size_t row, size_t col,
                 double got, double want)
{
    bool earlier = *count == 0 || row < f->first[kind][0] ||
                   (row == f->first[kind][0] && col < f->first[kind][1]);
    (*count)++;
    if (!earlier)
        return;
    f->first[kind][0] = row;
    f->first[kind][1] = col;
    f->first_got[kind] = got;
    f->first_want[kind] = want;
}

struct rules {
    const struct problem *p;
    const struct matrix *c;
    bool exact;
    double bound;
    double underflow; /* what numbers too small for the types may lose, absolutely */
};

static void check_cell(const struct rules *rules, struct findings *f, size_t row,
                       size_t col, double ref, double size)
{
    const struct problem *p = rules->p;
    bool due = p->selected == NULL || p->selected(p->context, row, col);
    bool poison = matrix_is_poison(rules->c, row, col);
    if (!due) {
        if (!poison)
            note(f, F_OUTSIDE, &f->outside, row, col, matrix_get(rules->c, row, col),
                 NAN);
        return;
    }
    f->cells++;
    double old =
        p->beta != 0 && p->c_before != NULL ? matrix_get(p->c_before, row, col) : 0;
    double want = p->alpha * ref + (p->beta != 0 ? p->beta * old : 0);
    double scale = fabs(p->alpha) * size + fabs(p->beta * old);
    if (poison) {
        note(f, F_UNWRITTEN, &f->unwritten, row, col, NAN, want);
        return;
    }
    double got = matrix_get(rules->c, row, col);
    bool same_special = !isfinite(want) && (got == want || (isnan(got) && isnan(want)));
    if (same_special)
        return;
    if (!isfinite(got)) {
        note(f, F_NOT_FINITE, &f->not_finite, row, col, got, want);
        return;
    }
    if (rules->exact && got != want)
        note(f, F_INEXACT, &f->inexact, row, col, got, want);
    double off = fabs(got - want) <= rules->underflow ? 0 : fabs(got - want);
    double error = scale > 0 ? off / scale : off == 0 ? 0 : INFINITY;
    if (!(isfinite(error) && error <= rules->bound)) {
        note(f, F_TOO_FAR, &f->too_far, row, col, got, want);
        f->last_row_bad += row + TILE / 2 >= rules->c->rows;
        f->last_col_bad += col + TILE / 2 >= rules->c->cols;
    }
    if (!(error <= f->worst)) {
        f->worst = error;
        f->worst_at[0] = row;
        f->worst_at[1] = col;
        f->worst_got = got;
        f->worst_want = want;
    }
}

static void merge_kind(struct findings *to, const struct findings *from, int kind,
                       size_t *count, size_t more)
{
    if (more == 0)
        return;
    bool earlier = *count == 0 || from->first[kind][0] < to->first[kind][0] ||
                   (from->first[kind][0] == to->first[kind][0] &&
                    from->first[kind][1] < to->first[kind][1]);
    *count += more;
    if (!earlier)
        return;
    memcpy(to->first[kind], from->first[kind], sizeof to->first[kind]);
    to->first_got[kind] = from->first_got[kind];
    to->first_want[kind] = from->first_want[kind];
}

static void merge(struct findings *to, const struct findings *from)
{
    to->cells += from->cells;
    merge_kind(to, from, F_UNWRITTEN, &to->unwritten, from->unwritten);
    merge_kind(to, from, F_OUTSIDE, &to->outside, from->outside);
    merge_kind(to, from, F_NOT_FINITE, &to->not_finite, from->not_finite);
    merge_kind(to, from, F_INEXACT, &to->inexact, from->inexact);
    merge_kind(to, from, F_TOO_FAR, &to->too_far, from->too_far);
    to->last_row_bad += from->last_row_bad;
    to->last_col_bad += from->last_col_bad;
    bool first =
        from->worst_at[0] < to->worst_at[0] ||
        (from->worst_at[0] == to->worst_at[0] && from->worst_at[1] < to->worst_at[1]);
    if (from->worst > to->worst || (from->worst == to->worst && first)) {
        to->worst = from->worst;
        memcpy(to->worst_at, from->worst_at, sizeof to->worst_at);
        to->worst_got = from->worst_got;
        to->worst_want = from->worst_want;
    }
}

/* Any cell of the tile that must be computed? */
static bool tile_due(const struct problem *p, size_t row0, size_t rows, size_t col0,
                     size_t cols)
{
    if (p->selected == NULL)
        return true;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            if (p->selected(p->context, row0 + r, col0 + c))
                return true;
    return false;
}

static void check_tile(const struct rules *rules, struct panels *panels,
                       struct findings *f, size_t row0, size_t col0)
{
    const struct problem *p = rules->p;
    size_t rows = rules->c->rows - row0 < TILE ? rules->c->rows - row0 : TILE;
    size_t cols = rules->c->cols - col0 < TILE ? rules->c->cols - col0 : TILE;
    size_t k = p->a->cols;
    double ref[TILE] = {0}, size[TILE] = {0};
    bool due = tile_due(p, row0, rows, col0, cols);
    if (due) {
        load_a(p->a, row0, rows, panels->a);
        memset(panels->b, 0, k * TILE * sizeof *panels->b);
        load_b(p->b, col0, cols, panels->b);
    }
    for (size_t r = 0; r < rows; r++) {
        if (due)
            reference_row(panels->a + r * k, panels->b, k, ref, size);
        for (size_t c = 0; c < cols; c++)
            check_cell(rules, f, row0 + r, col0 + c, ref[c], size[c]);
    }
}

/* --- the decision ---------------------------------------------------------------------- */

static void conclude(struct verdict *v, enum verdict_kind kind, const struct findings *f,
                     int first, size_t bad)
{
    v->kind = kind;
    v->bad_cells = bad;
    v->row = f->first[first][0];
    v->col = f->first[first][1];
    v->got = f->first_got[first];
    v->want = f->first_want[first];
}

/* What the pattern of wrong cells suggests. */
static const char *hint(const struct rules *rules, const struct findings *f, size_t bad)
{
    const struct problem *p = rules->p;
    if (f->last_row_bad == bad || f->last_col_bad == bad)
        return "; only the last tile is wrong: is the edge guarded?";
    size_t k = p->a->cols;
    double missing = matrix_get(p->a, f->first[F_TOO_FAR][0], k > 0 ? k - 1 : 0) *
                     matrix_get(p->b, k > 0 ? k - 1 : 0, f->first[F_TOO_FAR][1]);
    double off = f->first_want[F_TOO_FAR] - f->first_got[F_TOO_FAR];
    if (k > 1 && fabs(off - p->alpha * missing) < 1e-3 * fabs(missing))
        return "; the last product of k is missing";
    if (bad == f->cells)
        return "; every cell is wrong: are indices exchanged?";
    return "";
}

static void decide(const struct rules *rules, const struct findings *f, struct verdict *v)
{
    const struct problem *p = rules->p;
    v->cells = f->cells;
    v->error = f->worst;
    v->bound = rules->bound;
    v->row = f->worst_at[0];
    v->col = f->worst_at[1];
    v->got = f->worst_got;
    v->want = f->worst_want;
    if (f->unwritten > 0) {
        conclude(v, VERDICT_NOT_WRITTEN, f, F_UNWRITTEN, f->unwritten);
        snprintf(v->reason, sizeof v->reason,
                 "%zu of %zu cells were not written, C[%zu][%zu] first", f->unwritten,
                 f->cells, v->row, v->col);
    } else if (f->outside > 0) {
        conclude(v, VERDICT_WROTE_OUTSIDE, f, F_OUTSIDE, f->outside);
        snprintf(v->reason, sizeof v->reason,
                 "%zu cells were written that belong to no block that ran, C[%zu][%zu] "
                 "first",
                 f->outside, v->row, v->col);
    } else if (f->not_finite > 0) {
        conclude(v, VERDICT_NOT_FINITE, f, F_NOT_FINITE, f->not_finite);
        snprintf(v->reason, sizeof v->reason,
                 "%zu of %zu cells are NaN or Inf: C[%zu][%zu] is %g, %.9g is right%s",
                 f->not_finite, f->cells, v->row, v->col, v->got, v->want,
                 p->beta == 0 && f->not_finite == f->cells
                     ? "; C held NaN before: is it read although beta is 0, or a "
                       "tile read before it is written?"
                     : "");
    } else if (f->too_far > 0) {
        double looser =
            verdict_bound(KERNEL_F16, KERNEL_F16, KERNEL_F16, p->unit, p->a->cols);
        bool narrow = !rules->exact && p->acc == KERNEL_F32 && f->worst <= looser &&
                      f->worst < 0.02 && f->too_far > f->cells / 2;
        conclude(v, narrow ? VERDICT_WRONG_PRECISION : VERDICT_TOO_FAR, f, F_TOO_FAR,
                 f->too_far);
        v->error = f->worst;
        snprintf(v->reason, sizeof v->reason,
                 "%zu of %zu cells are too far off: C[%zu][%zu] is %.9g, %.9g is right%s",
                 f->too_far, f->cells, v->row, v->col, v->got, v->want,
                 narrow ? "; errors of this size look like FP16 sums"
                        : hint(rules, f, f->too_far));
    } else if (f->inexact > 0) {
        conclude(v, VERDICT_NOT_EXACT, f, F_INEXACT, f->inexact);
        snprintf(v->reason, sizeof v->reason,
                 "whole-number inputs must give exact sums: C[%zu][%zu] is %.9g, %.9g is "
                 "right (%zu of %zu cells differ)",
                 v->row, v->col, v->got, v->want, f->inexact, f->cells);
    } else {
        v->kind = VERDICT_PASS;
    }
}

void verdict_check(const struct problem *problem, const struct matrix *c, bool exact,
                   struct verdict *verdict)
{
    size_t k = problem->a->cols;
    struct rules rules = {.p = problem, .c = c, .exact = exact};
    struct findings total = {0};
    rules.bound =
        verdict_bound(problem->a->type, problem->acc, c->type, problem->unit, k);
    rules.underflow = (double)k * smallest(problem->acc) + smallest(c->type);
    memset(verdict, 0, sizeof *verdict);
    size_t down = (c->rows + TILE - 1) / TILE, across = (c->cols + TILE - 1) / TILE;
#pragma omp parallel
    {
        struct panels panels = {xmalloc((k + 1) * TILE * sizeof(double)),
                                xmalloc((k + 1) * TILE * sizeof(double))};
        struct findings mine = {0};
#pragma omp for schedule(dynamic, 1)
        for (size_t tile = 0; tile < down * across; tile++)
            if (!interrupt_pending())
                check_tile(&rules, &panels, &mine, tile / across * TILE,
                           tile % across * TILE);
#pragma omp critical(verdict_merge)
        merge(&total, &mine);
        free(panels.a);
        free(panels.b);
    }
    if (interrupt_pending()) {
        verdict->kind = VERDICT_INTERRUPTED;
        snprintf(verdict->reason, sizeof verdict->reason, "interrupted");
        return;
    }
    decide(&rules, &total, verdict);
}
