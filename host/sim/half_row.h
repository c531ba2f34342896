/* half_row.h - eight 16-bit floats at a time: to FP32, sums and products, and back.
 *
 * A pair of halves fills a 32-bit lane, so a row of 32 lanes is 64 halves side by side.
 * F16C does the conversions where the instruction set has it; without it they are loops,
 * with the same results to the last bit. */
#ifndef PEAKBOUND_SIM_HALF_ROW_H
#define PEAKBOUND_SIM_HALF_ROW_H

#include <stdbool.h>

#include "numeric.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

enum { HALVES = 8 };
typedef uint16_t half_bits __attribute__((vector_size(2 * HALVES)));
typedef float half_floats __attribute__((vector_size(4 * HALVES)));
typedef uint32_t half_words __attribute__((vector_size(4 * HALVES)));

static inline half_floats half_wide(half_bits h)
{
    half_floats f = {0};
#if defined(__F16C__)
    f = (half_floats)_mm256_cvtph_ps((__m128i)h);
#else
    for (int i = 0; i < HALVES; i++)
        f[i] = half_value(h[i]);
#endif
    return f;
}

/* Nearest even; NaN becomes 0x7fff. */
static inline half_bits half_narrow(half_floats f)
{
    half_bits h = {0};
#if defined(__F16C__)
    h = (half_bits)_mm256_cvtps_ph((__m256)f, _MM_FROUND_TO_NEAREST_INT);
    half_bits nan = (half_bits)((h & 0x7fff) > 0x7c00);
    h = (h & ~nan) | (nan & 0x7fff);
#else
    for (int i = 0; i < HALVES; i++)
        h[i] = (uint16_t)f32_to_half_bits(f32_to_bits(f[i]));
#endif
    return h;
}

static inline half_floats bfloat_wide(half_bits h)
{
    return (half_floats)(__builtin_convertvector(h, half_words) << 16);
}

static inline half_bits bfloat_narrow(half_floats f)
{
    half_words bits = (half_words)f;
    half_words nan = (half_words)((bits & 0x7fffffff) > 0x7f800000);
    half_words rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __builtin_convertvector((rounded & ~nan) | (nan & 0x7fff), half_bits);
}

/* a + b rounded to odd: if a bit is lost, the last one is set, so that a second rounding
 * to 22 bits or fewer is as good as the only one. Knuth's exact error of a sum; neither
 * it nor the sum may leave the range of normal numbers. */
static inline half_floats half_sum_odd(half_floats a, half_floats b)
{
    half_floats sum = a + b, part = sum - a;
    half_floats error = (a - (sum - part)) + (b - part), zero = {0};
    half_words lost = (half_words)(error < zero) | (half_words)(error > zero);
    half_words toward = ((half_words)error ^ (half_words)sum) >> 31 & lost;
    return (half_floats)(((half_words)sum - toward) | (lost & 1));
}

/* All ones where a value is neither 0 nor of a size between 2^-50 and 2^60. Products of
 * two others are exact in FP32 if they are BF16 values, and half_sum_odd takes them. */
static inline half_words half_wild(half_floats f)
{
    half_words size = (half_words)f & 0x7fffffff;
    return (half_words)(size - 1 < (77u << 23) - 1) | (half_words)(size > (187u << 23));
}
static inline bool half_any(half_words w)
{
    uint64_t part[HALVES / 2];
    memcpy(part, &w, sizeof part);
    return (part[0] | part[1] | part[2] | part[3]) != 0;
}

#endif
