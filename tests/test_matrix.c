/* test_matrix.c - small floats, fills, poison. */
#include <criterion/criterion.h>
#include <math.h>

#include "../host/bench/matrix.h"

Test(matrix, every_half_survives_the_way_through_float)
{
    for (unsigned h = 0; h < 65536; h++) {
        float value = half_to_float((uint16_t)h);
        if (isnan(value))
            continue;
        cr_assert_eq(float_to_half(value), h, "half 0x%04x is %g, back 0x%04x", h,
                     (double)value, float_to_half(value));
    }
}

Test(matrix, halves_round_to_nearest_even)
{
    static const struct {
        double value;
        unsigned half;
    } cases[] = {
        {65504, 0x7bff},       {65519.996, 0x7bff},     {65520, 0x7c00},
        {1 + 0x1p-11, 0x3c00}, {1 + 0x1.8p-10, 0x3c02}, {1 + 0x1.002p-11, 0x3c01},
        {0x1p-24, 0x0001},     {0x1p-25, 0x0000},       {0x1.8p-25, 0x0001},
        {-0x1p-14, 0x8400},    {0x1.ff8p-15, 0x03ff},   {0x1.ffcp-15, 0x0400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(float_to_half((float)cases[i].value), cases[i].half,
                     "%a gives 0x%04x", cases[i].value,
                     float_to_half((float)cases[i].value));
}

Test(matrix, bfloats_round_to_nearest_even)
{
    cr_expect_eq(float_to_bfloat(1.0f), 0x3f80);
    cr_expect_eq(float_to_bfloat(1.0f + 0x1p-8f), 0x3f80);
    cr_expect_eq(float_to_bfloat(1.0f + 0x1.8p-7f), 0x3f82);
    cr_expect_eq(float_to_bfloat(INFINITY), 0x7f80);
    cr_expect(isnan(bfloat_to_float(float_to_bfloat(NAN))));
}

Test(matrix, fills_are_reproducible_and_differ)
{
    struct matrix a, b, c;
    cr_assert(matrix_alloc(&a, KERNEL_F32, 40, 30, NULL));
    cr_assert(matrix_alloc(&b, KERNEL_F32, 40, 30, NULL));
    cr_assert(matrix_alloc(&c, KERNEL_F32, 20, 30, NULL));
    matrix_fill_uniform(&a, 1);
    matrix_fill_uniform(&b, 1);
    matrix_fill_uniform(&c, 1);
    cr_expect_eq(matrix_hash(&a), matrix_hash(&b));
    /* a cell depends on seed, row and col alone */
    cr_expect_eq(matrix_get(&a, 7, 11), matrix_get(&c, 7, 11));
    matrix_fill_uniform(&b, 2);
    cr_expect_neq(matrix_hash(&a), matrix_hash(&b));
    double sum = 0;
    for (size_t row = 0; row < 40; row++)
        for (size_t col = 0; col < 30; col++) {
            double value = matrix_get(&a, row, col);
            cr_assert(value >= -1 && value <= 1);
            sum += value;
        }
    cr_expect(fabs(sum / 1200) < 0.1);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
}

Test(matrix, poison_is_told_from_a_computed_nan)
{
    for (int type = KERNEL_F32; type <= KERNEL_S32; type++) {
        struct matrix m;
        cr_assert(matrix_alloc(&m, type, 3, 5, NULL));
        matrix_poison(&m);
        cr_expect(matrix_is_poison(&m, 2, 4), "type %s", kernel_type_name(type));
        matrix_set(&m, 2, 4, type >= KERNEL_S8 ? 1 : NAN);
        cr_expect(!matrix_is_poison(&m, 2, 4), "type %s", kernel_type_name(type));
        matrix_free(&m);
    }
}

Test(matrix, sizes_that_do_not_fit_are_refused)
{
    struct matrix m;
    struct error err = {0};
    cr_expect(!matrix_alloc(&m, KERNEL_F32, SIZE_MAX / 2, 3, &err));
    cr_expect_eq(err.status, EXIT_OURS);
    cr_expect(!matrix_alloc(&m, KERNEL_F32, 100000000, 100000000, &err));
}
