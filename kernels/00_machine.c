/* 00_machine - the CPU twins of 00_machine.cu: arithmetic alone, memory alone.
 *
 * Idea     vectors as wide as the instruction set; enough independent chains to fill the
 *          FMA pipes (4 cycles long, two of them); plain loads and stores.
 * Limit    fma: two vector FMAs a clock on most cores. copy, triad: the memory; a store
 *          first reads the line it writes, which nobody counts as useful.
 */
#include "../host/cpu/machine.h"

#include "machine.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
enum { FUSED = 1 };
#else
enum { FUSED = 0 };
#endif

typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

static void fma_chains(size_t steps, const float *start, float *out)
{
    const vector scale = (vector){0} + MACHINE_SCALE, add = (vector){0} + MACHINE_ADD;
    vector x[CPU_MACHINE_CHAINS];
    __builtin_memcpy(x, start, sizeof x);
    for (size_t step = 0; step < steps; step++) {
#pragma GCC unroll 12
        for (int i = 0; i < CPU_MACHINE_CHAINS; i++)
            x[i] = x[i] * scale + add;
    }
    __builtin_memcpy(out, x, sizeof x);
}

static void copy(float *to, const float *from, size_t n)
{
    vector *t = (vector *)(void *)to;
    const vector *f = (const vector *)(const void *)from;
    for (size_t i = 0; i < n / LANES; i += 4) {
        vector a = f[i], b = f[i + 1], c = f[i + 2], d = f[i + 3];
        t[i] = a;
        t[i + 1] = b;
        t[i + 2] = c;
        t[i + 3] = d;
    }
}

static void triad(float *to, const float *b, const float *c, float scale, size_t n)
{
    vector *t = (vector *)(void *)to;
    const vector *u = (const vector *)(const void *)b;
    const vector *v = (const vector *)(const void *)c;
    const vector s = (vector){0} + scale;
    for (size_t i = 0; i < n / LANES; i++)
        t[i] = s * v[i] + u[i];
}

const struct cpu_machine RUNG_SYMBOL = {
    .lanes = LANES,
    .fused = FUSED,
    .fma = fma_chains,
    .copy = copy,
    .triad = triad,
};
