/* test_units.c - numbers as text: three digits, the right unit, no surprise at the
 * borders. */
#include "../host/report/units.h"

#include <criterion/criterion.h>
#include <math.h>

#include "../kernels/kernel.h"

static void expect(const char *what, double value, struct unit_text got, const char *want)
{
    cr_expect_str_eq(got.s, want, "%s of %g: \"%s\", not \"%s\"", what, value, got.s,
                     want);
}

struct value_case {
    double value;
    const char *text;
};

#define CHECK_ALL(formatter, ...)                                         \
    do {                                                                  \
        static const struct value_case cases[] = {__VA_ARGS__};           \
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)         \
            expect(#formatter, cases[i].value, formatter(cases[i].value), \
                   cases[i].text);                                        \
    } while (0)

Test(units, time)
{
    CHECK_ALL(format_time, {0, "0 us"}, {0.000512, "0.512 us"}, {0.0123, "12.3 us"},
              {0.9994, "999 us"}, {0.9996, "1.00 ms"}, {1, "1.00 ms"}, {12.34, "12.3 ms"},
              {99.96, "100 ms"}, {999.4, "999 ms"}, {999.6, "1.00 s"}, {65432, "65.4 s"},
              {131000, "131 s"}, {1e6, "16.7 min"}, {36e6, "10.0 h"}, {-1, "-"},
              {NAN, "-"}, {INFINITY, "-"});
}

Test(units, rates)
{
    CHECK_ALL(format_flops, {19.5, "19.5 TFLOPS"}, {0.1856, "186 GFLOPS"},
              {989.4, "989 TFLOPS"}, {1978.9, "1.98 PFLOPS"}, {1e-6, "1.00 MFLOPS"},
              {0, "0 MFLOPS"}, {NAN, "-"});
    CHECK_ALL(format_tflops, {312, "312"}, {19.5, "19.5"}, {2.614, "2.61"},
              {0.5241, "0.524"}, {0.01234, "0.0123"}, {0.00123, "0.0012"},
              {0.00001, "<0.0001"}, {989.4, "989"}, {0, "-"}, {-1, "-"}, {NAN, "-"});
}

Test(units, bytes)
{
    CHECK_ALL(format_bytes, {0, "0 bytes"}, {999, "999 bytes"}, {1000, "1.00 KB"},
              {1572864, "1.57 MB"}, {999.7e6, "1.00 GB"}, {2.5e12, "2.50 TB"});
    CHECK_ALL(format_memory, {85899345920.0, "80.0 GiB"}, {25757220864.0, "24.0 GiB"},
              {524288, "512 KiB"}, {41943040, "40.0 MiB"});
}

Test(units, shares_and_ratios)
{
    CHECK_ALL(format_percent, {100, "100"}, {13.34, "13.3"}, {0.96, "1.0"},
              {0.04, "0.04"}, {0.001, "<0.01"}, {0, "0.00"}, {NAN, "-"}, {-1, "-"});
    CHECK_ALL(format_ratio, {1331.4, "1331"}, {99.96, "100"}, {12.34, "12.3"}, {1, "1.0"},
              {0.512, "0.51"}, {0.001, "<0.01"}, {0, "-"}, {NAN, "-"});
}

Test(units, counts_sizes_versions)
{
    cr_expect_str_eq(format_count(0).s, "0");
    cr_expect_str_eq(format_count(999).s, "999");
    cr_expect_str_eq(format_count(1000).s, "1,000");
    cr_expect_str_eq(format_count(268435456).s, "268,435,456");
    cr_expect_str_eq(format_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
    cr_expect_str_eq(format_size(512, 512, 512).s, "512");
    cr_expect_str_eq(format_size(300, 100, 77).s, "300x100x77");
    cr_expect_str_eq(format_size(1048576, 1048576, 1).s, "1048576x1048576x1");
    cr_expect_str_eq(format_cuda_version(12040).s, "12.4");
    cr_expect_str_eq(format_cuda_version(0).s, "unknown");
    cr_expect_str_eq(format_cc(89).s, "8.9");
    cr_expect_str_eq(format_cc(120).s, "12.0");
}

Test(units, names)
{
    cr_expect_str_eq(format_kind(KERNEL_TENSOR_CORES, KERNEL_F16, KERNEL_F32).s,
                     "tensor cores, FP16 in, FP32 sum");
    cr_expect_str_eq(unit_label(KERNEL_CUDA_CORES), "CUDA cores");
    cr_expect_str_eq(unit_key(KERNEL_TENSOR_CORES), "tensor_cores");
    cr_expect_str_eq(type_label(KERNEL_S8), "INT8");
    cr_expect_str_eq(type_label(-1), "unknown type");
    cr_expect_str_eq(type_label(99), "unknown type");
}
