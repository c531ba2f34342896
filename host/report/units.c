/* units.c - numbers and names as text; see units.h. */
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../kernels/kernel.h"

struct scale {
    double at_least, divide_by;
    const char *name;
};

/* Three significant digits, without an exponent: 0.0123, 1.23, 12.3, 123, 1234. */
static void three_digits(char *text, size_t room, double value)
{
    int decimals = 0;
    for (double limit = 99.95; decimals < 6 && fabs(value) < limit; limit /= 10)
        decimals++;
    snprintf(text, room, "%.*f", value == 0 ? 0 : decimals, value);
}

/* The first row whose limit is reached; the last row takes the rest. */
static struct unit_text scaled(double value, const struct scale *scale)
{
    struct unit_text text;
    if (!isfinite(value) || value < 0) {
        snprintf(text.s, sizeof text.s, "-");
        return text;
    }
    while (scale[1].name && value < scale->at_least)
        scale++;
    char number[32];
    three_digits(number, sizeof number, value / scale->divide_by);
    snprintf(text.s, sizeof text.s, "%.30s %s", number, scale->name);
    return text;
}

/* Limits lie where three digits round up to the next unit. */
struct unit_text format_time(double ms)
{
    static const struct scale scale[] = {{3600e3 * 3, 3600e3, "h"}, {600e3, 60e3, "min"},
                                         {999.5, 1e3, "s"},         {0.9995, 1, "ms"},
                                         {0, 1e-3, "us"},           {0, 0, NULL}};
    return scaled(ms, scale);
}

struct unit_text format_flops(double tflops)
{
    static const struct scale scale[] = {{999.5, 1e3, "PFLOPS"},
                                         {0.9995, 1, "TFLOPS"},
                                         {0.9995e-3, 1e-3, "GFLOPS"},
                                         {0, 1e-6, "MFLOPS"},
                                         {0, 0, NULL}};
    return scaled(tflops, scale);
}

struct unit_text format_tflops(double tflops)
{
    static const struct unit_text none = {"-"};
    struct unit_text text;
    if (!isfinite(tflops) || tflops <= 0)
        return none;
    if (tflops < 0.0001)
        snprintf(text.s, sizeof text.s, "<0.0001");
    else if (tflops < 0.00995)
        snprintf(text.s, sizeof text.s, "%.4f", tflops);
    else
        three_digits(text.s, sizeof text.s, tflops);
    return text;
}

struct unit_text format_peak(double tflops)
{
    struct unit_text text;
    if (!isfinite(tflops) || tflops <= 0)
        snprintf(text.s, sizeof text.s, "-");
    else
        snprintf(text.s, sizeof text.s, tflops < 1 ? "%.3g" : "%.5g", tflops);
    return text;
}

struct unit_text format_bytes(double bytes)
{
    static const struct scale scale[] = {{0.9995e12, 1e12, "TB"}, {0.9995e9, 1e9, "GB"},
                                         {0.9995e6, 1e6, "MB"},   {999.5, 1e3, "KB"},
                                         {0, 1, "bytes"},         {0, 0, NULL}};
    return scaled(bytes, scale);
}

struct unit_text format_memory(double bytes)
{
    static const struct scale scale[] = {{0.9995 * (1ll << 40), 1ll << 40, "TiB"},
                                         {0.9995 * (1 << 30), 1 << 30, "GiB"},
                                         {0.9995 * (1 << 20), 1 << 20, "MiB"},
                                         {0, 1 << 10, "KiB"},
                                         {0, 0, NULL}};
    return scaled(bytes, scale);
}

struct unit_text format_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    struct unit_text text;
    char *to = text.s;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

struct unit_text format_percent(double percent)
{
    struct unit_text text;
    if (!isfinite(percent) || percent < 0)
        snprintf(text.s, sizeof text.s, "-");
    else if (percent > 0 && percent < 0.005)
        snprintf(text.s, sizeof text.s, "<0.01");
    else
        snprintf(text.s, sizeof text.s, "%.*f",
                 percent < 0.095   ? 2
                 : percent < 99.95 ? 1
                                   : 0,
                 percent);
    return text;
}

struct unit_text format_ratio(double ratio)
{
    struct unit_text text;
    if (!isfinite(ratio) || ratio <= 0)
        snprintf(text.s, sizeof text.s, "-");
    else if (ratio < 0.005)
        snprintf(text.s, sizeof text.s, "<0.01");
    else
        snprintf(text.s, sizeof text.s, "%.*f",
                 ratio < 0.995   ? 2
                 : ratio < 99.95 ? 1
                                 : 0,
                 ratio);
    return text;
}

struct unit_text format_size(size_t m, size_t n, size_t k)
{
    struct unit_text text;
    if (m == n && n == k)
        snprintf(text.s, sizeof text.s, "%zu", m);
    else
        snprintf(text.s, sizeof text.s, "%zux%zux%zu", m % 10000000, n % 10000000,
                 k % 10000000);
    return text;
}

struct unit_text format_cuda_version(int version)
{
    struct unit_text text;
    if (version <= 0)
        snprintf(text.s, sizeof text.s, "unknown");
    else
        snprintf(text.s, sizeof text.s, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}

struct unit_text format_cc(int cc)
{
    struct unit_text text;
    snprintf(text.s, sizeof text.s, "%d.%d", cc / 10, cc % 10);
    return text;
}

const char *unit_label(int unit)
{
    return unit == KERNEL_TENSOR_CORES ? "tensor cores" : "CUDA cores";
}

const char *unit_key(int unit)
{
    return unit == KERNEL_TENSOR_CORES ? "tensor_cores" : "cuda_cores";
}

const char *type_label(int type)
{
    static const char *const labels[] = {
        [KERNEL_F32] = "FP32",  [KERNEL_F16] = "FP16", [KERNEL_BF16] = "BF16",
        [KERNEL_TF32] = "TF32", [KERNEL_F64] = "FP64", [KERNEL_S8] = "INT8",
        [KERNEL_S32] = "INT32",
    };
    if (type < 0 || type >= (int)(sizeof labels / sizeof *labels))
        return "unknown type";
    return labels[type];
}

struct unit_text format_kind(int unit, int in, int acc)
{
    struct unit_text text;
    snprintf(text.s, sizeof text.s, "%s, %.10s in, %.10s sum", unit_label(unit),
             type_label(in), type_label(acc));
    return text;
}
