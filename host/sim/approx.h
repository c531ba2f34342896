/* approx.h - the functions behind PTX's .approx instructions.
 *
 * Each works in double with nothing but + - * / and square root, which IEEE 754 fixes
 * to the bit, so that results are the same on every host, and without a branch, so that
 * loops over lanes vectorise. Their error is below 2^-35 of the result (sin and cos: of
 * the result for |x| <= 1000); rounded once to FP32 they are off by 0.5001 ulp at most.
 * The hardware's are off by up to 2 ulp (PTX ISA 9.0, 9.7.3: ex2 2^-22.5, lg2 2^-22.6,
 * sin and cos 2^-20.5, tanh 2^-10.987, rsqrt 2^-22.9), so last bits differ from it. */
#ifndef PEAKBOUND_SIM_APPROX_H
#define PEAKBOUND_SIM_APPROX_H

#include "numeric.h"

/* x rounded to an integer, |x| < 2^51: in a sum with 1.5 * 2^52 no fraction is left. */
#define ROUND_MAGIC 6755399441055744.0
static inline double approx_round(double x)
{
    return (x + ROUND_MAGIC) - ROUND_MAGIC;
}

/* 2^n for a whole n, |n| <= 1000 */
static inline double approx_power(double n)
{
    return bits_to_f64((f64_to_bits(n + ROUND_MAGIC) + 1023) << 52);
}

static inline double approx_clamp(double x, double least, double most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

/* e^y for |y| <= 0.35: Taylor up to y^11 / 11! < 3e-13 */
static inline double approx_exp_small(double y)
{
    double s = 1.0 / 39916800.0;
    s = s * y + 1.0 / 3628800.0;
    s = s * y + 1.0 / 362880.0;
    s = s * y + 1.0 / 40320.0;
    s = s * y + 1.0 / 5040.0;
    s = s * y + 1.0 / 720.0;
    s = s * y + 1.0 / 120.0;
    s = s * y + 1.0 / 24.0;
    s = s * y + 1.0 / 6.0;
    s = s * y + 0.5;
    s = s * y + 1.0;
    return s * y;
}

static inline double approx_exp2(double x)
{
    double in = approx_clamp(x, -400.0, 400.0), n = approx_round(in);
    double e = approx_exp_small((in - n) * 0.69314718055994530942);
    return (1.0 + e) * approx_power(n);
}

/* m * 2^e with m in [sqrt(1/2), sqrt(2)); log2(m) = 2 atanh((m - 1) / (m + 1)) / ln 2 */
static inline double approx_log2(double x)
{
    uint64_t bits = f64_to_bits(x), half = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
    int64_t shifted = (int64_t)(bits - half);
    uint64_t exponent = (uint64_t)shifted & 0xfff0000000000000u;
    double m = bits_to_f64(bits - exponent);
    /* the exponent as a double: its bits above those of 1.5 * 2^52 */
    double e =
        bits_to_f64(f64_to_bits(ROUND_MAGIC) + (((uint64_t)exponent >> 52) ^ 0x800)) -
        (ROUND_MAGIC + 2048.0);
    double u = (m - 1.0) / (m + 1.0), v = u * u;
    double s = 1.0 / 19.0;
    s = s * v + 1.0 / 17.0;
    s = s * v + 1.0 / 15.0;
    s = s * v + 1.0 / 13.0;
    s = s * v + 1.0 / 11.0;
    s = s * v + 1.0 / 9.0;
    s = s * v + 1.0 / 7.0;
    s = s * v + 1.0 / 5.0;
    s = s * v + 1.0 / 3.0;
    s = s * v + 1.0;
    double result = e + s * u * 2.88539008177792681472;
    double inf = bits_to_f64(0x7ff0000000000000u);
    result = x > 0.0 ? (x < inf ? result : x) : (x == 0.0 ? -inf : inf - inf);
    return x == x ? result : x;
}

/* sin (quarter 0) and cos (quarter 1): the angle in turns, without whole turns, then
 * without quarter turns. From 2^51 turns on the angle counts as 0. */
static inline double approx_circle(double x, double quarter)
{
    double turns = x * 0.15915494309189533577;
    double size = turns < 0.0 ? -turns : turns;
    turns = size < 1125899906842624.0 ? turns - approx_round(turns) : turns * 0.0;
    double q = approx_round(turns * 4.0);
    double y = (turns - q * 0.25) * 6.28318530717958647693, v = y * y;
    double s = -1.0 / 1307674368000.0;
    s = s * v + 1.0 / 6227020800.0;
    s = s * v - 1.0 / 39916800.0;
    s = s * v + 1.0 / 362880.0;
    s = s * v - 1.0 / 5040.0;
    s = s * v + 1.0 / 120.0;
    s = s * v - 1.0 / 6.0;
    s = y * (1.0 + v * s);
    double c = -1.0 / 87178291200.0;
    c = c * v + 1.0 / 479001600.0;
    c = c * v - 1.0 / 3628800.0;
    c = c * v + 1.0 / 40320.0;
    c = c * v - 1.0 / 720.0;
    c = c * v + 1.0 / 24.0;
    c = c * v - 0.5;
    c = c * v + 1.0;
    uint64_t n = f64_to_bits(q + quarter + ROUND_MAGIC);
    double r = n & 1 ? c : s;
    return n & 2 ? -r : r;
}
static inline double approx_sin(double x)
{
    return approx_circle(x, 0.0);
}
static inline double approx_cos(double x)
{
    return approx_circle(x, 1.0);
}

/* tanh|x| = (e^2|x| - 1) / (e^2|x| + 1), with e^y - 1 kept exact for small y */
static inline double approx_tanh(double x)
{
    double y = x < 0.0 ? -2.0 * x : 2.0 * x;
    double in = approx_clamp(y, 0.0, 50.0);
    double small = approx_exp_small(approx_clamp(in, 0.0, 0.35));
    double e = in < 0.35 ? small : approx_exp2(in * 1.44269504088896340736) - 1.0;
    double t = e / (e + 2.0);
    uint64_t sign = f64_to_bits(x) & 0x8000000000000000u;
    return x == x ? bits_to_f64(f64_to_bits(t) | sign) : x;
}

static inline double approx_rsqrt(double x)
{
    return 1.0 / __builtin_sqrt(x);
}

#endif
