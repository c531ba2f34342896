/* ceiling.c - see ceiling.h and ceiling_parts.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ceiling_parts.h"

bool ceiling_fail(struct ceiling *c, const char *format, ...)
{
    va_list list;
    if (c->why[0] != '\0')
        return false;
    va_start(list, format);
    vsnprintf(c->why, sizeof c->why, format, list);
    va_end(list);
    return false;
}

float ceiling_chain(float x, size_t steps, bool fused)
{
    for (size_t i = 0; i < steps; i++) {
        float product = x * MACHINE_SCALE;
        x = fused ? fmaf(x, MACHINE_SCALE, MACHINE_ADD) : product + MACHINE_ADD;
    }
    return x;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ceiling_median(double *values, int count, double *spread_pct)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    double median = (values[(count - 1) / 2] + values[count / 2]) / 2;
    double width = values[(count - 1) * 3 / 4] - values[(count - 1) / 4];
    if (spread_pct)
        *spread_pct = median > 0 ? 50 * width / median : 0;
    return median;
}

double ceiling_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double ceiling_peak(const struct peak_row *row, enum ceiling_kind kind, bool *published)
{
    *published = false;
    if (!row)
        return NAN;
    if (kind == CEILING_FMA)
        return peak_tflops(row, KERNEL_CUDA_CORES, KERNEL_F32, KERNEL_F32, published);
    if (kind == CEILING_TENSOR)
        return peak_tflops(row, KERNEL_TENSOR_CORES, KERNEL_F16, KERNEL_F32, published);
    *published = row->bw_gbs > 0;
    return row->bw_gbs > 0 ? row->bw_gbs : NAN;
}

void ceiling_measure(const struct device *device, enum ceiling_kind kind,
                     const struct ceiling_options *options, struct ceiling *c)
{
    bool tflops = kind == CEILING_FMA || kind == CEILING_TENSOR;
    *c = (struct ceiling){.kind = kind};
    if (device->backend == BACKEND_CPU)
        ceiling_cpu(device, options, c);
    else
        ceiling_gpu(device, options, c);
    c->passed = c->why[0] == '\0' && c->time_ms > 0;
    if (c->passed)
        c->rate = c->work / c->time_ms / (tflops ? 1e9 : 1e6);
}
