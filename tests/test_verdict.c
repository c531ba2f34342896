/* test_verdict.c - the checker passes what is right and rejects what is wrong, at every
 * K. (Whole kernels that must fail are in test_wrong.c.) */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../host/bench/verdict.h"

enum { M = 24, N = 40 };

struct setup {
    struct matrix a, b, c;
    struct problem problem;
};

static void open_setup(struct setup *s, int in, int out, int acc, int unit, size_t k)
{
    memset(s, 0, sizeof *s);
    cr_assert(matrix_alloc(&s->a, in, M, k, NULL));
    cr_assert(matrix_alloc(&s->b, in, k, N, NULL));
    cr_assert(matrix_alloc(&s->c, out, M, N, NULL));
    matrix_fill_uniform(&s->a, 1);
    matrix_fill_uniform(&s->b, 2);
    matrix_poison(&s->c);
    s->problem =
        (struct problem){.alpha = 1, .a = &s->a, .b = &s->b, .acc = acc, .unit = unit};
}

static void close_setup(struct setup *s)
{
    matrix_free(&s->a);
    matrix_free(&s->b);
    matrix_free(&s->c);
}

/* How the sums are made. */
enum sum { SUM_FP32, SUM_FP16, SUM_TRUNCATED, SUM_BLOCKED, SUM_SHORT };

static float truncated_add(float a, double b)
{
    double exact = (double)a + b;
    float value = (float)exact;
    if (fabs((double)value) > fabs(exact))
        value = nextafterf(value, 0.0f);
    return value;
}

static void compute(struct setup *s, enum sum how)
{
    size_t k = s->a.cols - (how == SUM_SHORT);
    for (size_t row = 0; row < M; row++)
        for (size_t col = 0; col < N; col++) {
            float sum = 0, part = 0;
            for (size_t i = 0; i < k; i++) {
                double product = matrix_get(&s->a, row, i) * matrix_get(&s->b, i, col);
                if (how == SUM_FP16) {
                    sum = half_to_float(float_to_half(sum + (float)product));
                } else if (how == SUM_TRUNCATED) {
                    sum = truncated_add(sum, product);
                } else if (how == SUM_BLOCKED) {
                    part = fmaf((float)matrix_get(&s->a, row, i),
                                (float)matrix_get(&s->b, i, col), part);
                    if (i % 32 == 31 || i + 1 == k) {
                        sum += part;
                        part = 0;
                    }
                } else {
                    sum += (float)product;
                }
            }
            matrix_set(&s->c, row, col, sum);
        }
}

static const size_t depths[] = {1, 2, 16, 17, 100, 256, 1000, 4096};

Test(verdict, every_correct_way_to_sum_passes)
{
    static const struct {
        enum sum how;
        int in, unit;
    } cases[] = {
        {SUM_FP32, KERNEL_F32, KERNEL_CUDA_CORES},
        {SUM_BLOCKED, KERNEL_F32, KERNEL_CUDA_CORES},
        {SUM_FP32, KERNEL_F16, KERNEL_TENSOR_CORES},
        {SUM_TRUNCATED, KERNEL_F16, KERNEL_TENSOR_CORES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
            struct setup s;
            struct verdict v;
            open_setup(&s, cases[i].in, KERNEL_F32, KERNEL_F32, cases[i].unit, depths[d]);
            compute(&s, cases[i].how);
            verdict_check(&s.problem, &s.c, false, &v);
            cr_expect_eq(v.kind, VERDICT_PASS, "case %zu, k %zu: %s", i, depths[d],
                         v.reason);
            cr_expect_lt(v.error, 0.8 * v.bound, "case %zu, k %zu: %g of %g", i,
                         depths[d], v.error, v.bound);
            close_setup(&s);
        }
}

Test(verdict, fp16_sums_are_rejected_from_k_16_on)
{
    for (size_t d = 2; d < sizeof depths / sizeof *depths; d++)
        for (int unit = KERNEL_CUDA_CORES; unit <= KERNEL_TENSOR_CORES; unit++) {
            struct setup s;
            struct verdict v;
            open_setup(&s, KERNEL_F16, KERNEL_F32, KERNEL_F32, unit, depths[d]);
            compute(&s, SUM_FP16);
            verdict_check(&s.problem, &s.c, false, &v);
            cr_expect_eq(v.kind, VERDICT_WRONG_PRECISION, "k %zu unit %d: %s (%s)",
                         depths[d], unit, verdict_name(v.kind), v.reason);
            close_setup(&s);
        }
}

Test(verdict, a_missing_product_is_rejected_at_every_k)
{
    for (size_t d = 1; d < sizeof depths / sizeof *depths; d++) {
        struct setup s;
        struct verdict v;
        open_setup(&s, KERNEL_F32, KERNEL_F32, KERNEL_F32, KERNEL_TENSOR_CORES,
                   depths[d]);
        compute(&s, SUM_SHORT);
        verdict_check(&s.problem, &s.c, false, &v);
        cr_expect(v.kind == VERDICT_TOO_FAR || v.kind == VERDICT_WRONG_PRECISION,
                  "k %zu: %s", depths[d], verdict_name(v.kind));
        close_setup(&s);
    }
}

Test(verdict, one_bad_cell_is_found_and_named)
{
    static const struct {
        double value;
        enum verdict_kind kind;
    } cases[] = {{NAN, VERDICT_NOT_FINITE},
                 {INFINITY, VERDICT_NOT_FINITE},
                 {-INFINITY, VERDICT_NOT_FINITE},
                 {1e6, VERDICT_TOO_FAR}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup s;
        struct verdict v;
        open_setup(&s, KERNEL_F32, KERNEL_F32, KERNEL_F32, KERNEL_CUDA_CORES, 50);
        compute(&s, SUM_FP32);
        matrix_set(&s.c, 13, 37, cases[i].value);
        verdict_check(&s.problem, &s.c, false, &v);
        cr_expect_eq(v.kind, cases[i].kind, "%g: %s", cases[i].value,
                     verdict_name(v.kind));
        cr_expect(v.row == 13 && v.col == 37 && v.bad_cells == 1, "%s", v.reason);
        close_setup(&s);
    }
}

Test(verdict, untouched_cells_are_not_written)
{
    struct setup s;
    struct verdict v;
    open_setup(&s, KERNEL_F32, KERNEL_F32, KERNEL_F32, KERNEL_CUDA_CORES, 5);
    verdict_check(&s.problem, &s.c, false, &v);
    cr_expect_eq(v.kind, VERDICT_NOT_WRITTEN);
    cr_expect_eq(v.bad_cells, (size_t)M * N);
    close_setup(&s);
}

static bool left_half(const void *context, size_t row, size_t col)
{
    (void)context, (void)row;
    return col < N / 2;
}

Test(verdict, cells_outside_the_selection_must_stay_untouched)
{
    struct setup s;
    struct verdict v;
    open_setup(&s, KERNEL_F32, KERNEL_F32, KERNEL_F32, KERNEL_CUDA_CORES, 5);
    s.problem.selected = left_half;
    compute(&s, SUM_FP32);
    verdict_check(&s.problem, &s.c, false, &v);
    cr_expect_eq(v.kind, VERDICT_WROTE_OUTSIDE, "%s", v.reason);
    close_setup(&s);
}

Test(verdict, whole_numbers_must_be_exact)
{
    struct setup s;
    struct verdict v;
    open_setup(&s, KERNEL_F32, KERNEL_F32, KERNEL_F32, KERNEL_CUDA_CORES, 500);
    matrix_fill_whole(&s.a, 1, 8);
    matrix_fill_whole(&s.b, 2, 8);
    compute(&s, SUM_FP32);
    verdict_check(&s.problem, &s.c, true, &v);
    cr_expect_eq(v.kind, VERDICT_PASS, "%s", v.reason);
    matrix_set(&s.c, 0, 0, nextafterf((float)matrix_get(&s.c, 0, 0), 1e9f));
    verdict_check(&s.problem, &s.c, true, &v);
    cr_expect_eq(v.kind, VERDICT_NOT_EXACT, "%s", v.reason);
    close_setup(&s);
}

/* Products below the smallest FP32 number: zero is the right answer, and a large number
 * is not. */
Test(verdict, numbers_that_underflow_pass)
{
    struct setup s;
    struct verdict v;
    open_setup(&s, KERNEL_F32, KERNEL_F32, KERNEL_F32, KERNEL_CUDA_CORES, 32);
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < 32; k++)
            matrix_set(&s.a, i, k, 0x1p-80 * (1 + (double)k / 64));
    for (size_t k = 0; k < 32; k++)
        for (size_t j = 0; j < N; j++)
            matrix_set(&s.b, k, j, 0x1p-80 * (1 + (double)j / 64));
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            matrix_set(&s.c, i, j, 0);
    verdict_check(&s.problem, &s.c, false, &v);
    cr_expect_eq(v.kind, VERDICT_PASS, "%s", v.reason);
    matrix_set(&s.c, 3, 4, 0x1p-100);
    verdict_check(&s.problem, &s.c, false, &v);
    cr_expect_eq(v.kind, VERDICT_TOO_FAR, "%s", v.reason);
    close_setup(&s);
}
