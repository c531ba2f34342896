/* numeric.h - small float formats and the rules PTX adds to IEEE 754.
 *
 * All functions work on bits, are branch-light so that loops over lanes vectorise,
 * and give the same result on every host. Formats: PTX ISA 9.0, 5.2.3. */
#ifndef PEAKBOUND_SIM_NUMERIC_H
#define PEAKBOUND_SIM_NUMERIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float bits_to_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t f32_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double bits_to_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t f64_to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* NaN results of f32 arithmetic are 0x7fffffff. */
static inline uint32_t canon_f32(float value)
{
    return value != value ? 0x7fffffffu : f32_to_bits(value);
}
/* Flush a subnormal to zero, keep its sign. */
static inline uint32_t flush_bits(uint32_t bits)
{
    return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}
/* Clamp to [0, 1]; NaN becomes +0. */
static inline uint32_t saturate_f32(uint32_t bits)
{
    float value = bits_to_f32(bits);
    return value > 0.0f ? (value < 1.0f ? bits : 0x3f800000u) : 0;
}

/* FP16 -> FP32, exact. */
static inline uint32_t half_to_f32_bits(uint32_t half)
{
    uint32_t sign = (half & 0x8000u) << 16;
    uint32_t rest = (half & 0x7fffu) << 13;
    uint32_t exponent = rest & 0x0f800000u;
    uint32_t normal = rest + (112u << 23);
    uint32_t special = normal + (112u << 23); /* Inf, NaN */
    /* subnormal: place the fraction behind 2^-14 and take 2^-14 away */
    uint32_t tiny =
        f32_to_bits(bits_to_f32(rest + (113u << 23)) - bits_to_f32(113u << 23));
    return sign | (exponent == 0 ? tiny : exponent == 0x0f800000u ? special : normal);
}
static inline float half_value(uint32_t half)
{
    return bits_to_f32(half_to_f32_bits(half));
}

/* FP32 -> FP16, nearest even; overflow to Inf; NaN becomes 0x7fff. */
static inline uint32_t f32_to_half_bits(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t rest = bits & 0x7fffffffu;
    /* below 2^-14 let an addition do the rounding */
    uint32_t tiny = f32_to_bits(bits_to_f32(rest) + 0.5f) - f32_to_bits(0.5f);
    uint32_t normal = (rest - (112u << 23) + 0xfffu + (rest >> 13 & 1)) >> 13;
    uint32_t result = rest < (113u << 23) ? tiny : rest >= 0x477ff000u ? 0x7c00u : normal;
    return rest > 0x7f800000u ? 0x7fffu : sign | result;
}

/* FP64 -> FP32 rounded to odd: if a bit is lost, the last one is set. A second rounding,
 * to 22 bits or fewer, then is as good as the only one. */
static inline uint32_t f64_to_f32_odd(double value)
{
    float narrow = (float)value;
    double back = (double)narrow;
    uint32_t bits = f32_to_bits(narrow);
    double size = value < 0.0 ? -value : value, back_size = back < 0.0 ? -back : back;
    uint32_t away = back_size > size, toward = back_size < size;
    return (bits - (away & ~bits & 1u)) | toward;
}
/* The sum of two doubles rounded to odd (Knuth's exact error of a sum). */
static inline double f64_add_odd(double a, double b)
{
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    double size = sum < 0.0 ? -sum : sum, grows = sum < 0.0 ? -error : error;
    uint64_t bits = f64_to_bits(sum), even = ~bits & 1u;
    uint64_t more = grows > 0.0, less = grows < 0.0;
    uint64_t odd = bits + (more & even) - (less & even);
    return size < bits_to_f64(0x7ff0000000000000u) ? bits_to_f64(odd) : sum;
}

/* BF16 is the upper half of FP32. */
static inline float bfloat_value(uint32_t bf)
{
    return bits_to_f32(bf << 16);
}
static inline uint32_t f32_to_bfloat_bits(uint32_t bits)
{
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded;
}

/* TF32: 10 fraction bits, nearest, ties away (what cvt.rna gives). */
static inline uint32_t f32_to_tf32_bits(uint32_t bits)
{
    uint32_t rounded = (bits + 0x1000u) & 0xffffe000u;
    return (bits & 0x7f800000u) == 0x7f800000u
               ? (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits
               : rounded;
}
/* ... nearest, ties to even (cvt.rn) */
static inline uint32_t f32_to_tf32_even(uint32_t bits)
{
    uint32_t rounded = (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
    return (bits & 0x7f800000u) == 0x7f800000u ? f32_to_tf32_bits(bits) : rounded;
}

/* Round a value to a small float with `fraction` bits and `bias`, nearest even.
 * `most` is the largest finite code; the caller deals with Inf, NaN and overflow. */
static inline uint32_t f32_to_small(float value, int fraction, int bias)
{
    uint32_t bits = f32_to_bits(value) & 0x7fffffffu;
    int exponent = (int)(bits >> 23) - 127;
    int shift = 23 - fraction;
    if (exponent < 1 - bias)
        shift += 1 - bias - exponent;
    if (shift > 24) /* less than half of the smallest */
        return 0;
    uint32_t significand = (bits & 0x7fffffu) | 0x800000u;
    uint32_t half = (uint32_t)1 << (shift - 1);
    uint32_t odd = significand >> shift & 1;
    uint32_t code = (significand + half - 1 + odd) >> shift;
    if (exponent >= 1 - bias)
        code += (uint32_t)(exponent + bias - 1) << fraction;
    return code;
}
static inline float small_value(uint32_t code, int fraction, int bias)
{
    uint32_t exponent = code >> fraction, rest = code & (((uint32_t)1 << fraction) - 1);
    if (exponent == 0)
        return ldexpf((float)rest, 1 - bias - fraction);
    return ldexpf((float)(rest | (uint32_t)1 << fraction),
                  (int)exponent - bias - fraction);
}

/* E4M3: no Inf, 0x7f is NaN, largest 448. E5M2: like FP16 with 2 fraction bits. */
static inline uint32_t f32_to_e4m3(float value)
{
    uint32_t sign = f32_to_bits(value) >> 24 & 0x80u;
    if (value != value)
        return 0x7fu;
    uint32_t code = fabsf(value) > 1e4f ? 0x7fu : f32_to_small(value, 3, 7);
    return sign | (code > 0x7eu ? 0x7eu : code);
}
static inline uint32_t f32_to_e5m2(float value)
{
    uint32_t sign = f32_to_bits(value) >> 24 & 0x80u;
    if (value != value)
        return 0x7fu;
    uint32_t code = fabsf(value) > 1e6f ? 0x7fu : f32_to_small(value, 2, 15);
    return sign | (code > 0x7bu ? 0x7bu : code);
}
static inline float e4m3_value(uint32_t code)
{
    float value = (code & 0x7fu) == 0x7fu ? bits_to_f32(0x7fffffffu)
                                          : small_value(code & 0x7fu, 3, 7);
    return code & 0x80u ? -value : value;
}
static inline float e5m2_value(uint32_t code)
{
    return half_value((code & 0xffu) << 8);
}

#endif
