/* mma_sums.h - sums as tensor cores make them (--tensor-sums hw).
 *
 * A group of products and the sum so far are aligned to the largest exponent, cut off
 * (towards zero) a few bits below FP32's last one, added exactly, and rounded once: FP32
 * towards zero, FP16 to nearest even. A product's exponent is that of its factors added,
 * so its significand is below 4. How many products make a group and how many bits more
 * than FP32's are kept differs between architectures; measured by
 *
 *   Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ
 *     Computer Science 7:e330, 2021 (V100, T4, A100)
 *   Khattak, Mikaitis: Accurate models of NVIDIA tensor cores, arXiv:2512.07004, and its
 *     models, github.com/north-numerical-computing/MATLAB-tensor-core (V100, A100, L40S,
 *     H100)
 *
 * Modelled after them, never compared with a card by us: sparse products (taken as dense
 * with zeros between), NaN and Inf, sm_75 (taken as sm_70 is). */
#ifndef PEAKBOUND_SIM_MMA_SUMS_H
#define PEAKBOUND_SIM_MMA_SUMS_H

#include <limits.h>
#include <math.h>

#include "exec.h"
#include "numeric.h"

struct sum_rule {
    int group;    /* products added at once */
    int extra;    /* bits kept below FP32's 23 */
    int least[2]; /* smallest exponents of the factors: subnormals stay as they are */
    bool to_half; /* results are FP16 */
};

/* Exponent of the smallest normal number: subnormal factors are not normalised. */
static int least_exponent(enum ptx_type type)
{
    return type == PTX_BF16 || type == PTX_TF32 ? -126 : type == PTX_E4M3 ? -6 : -14;
}

static struct sum_rule sum_rule(const struct sim_spec *spec, enum ptx_type a,
                                enum ptx_type b, bool to_half)
{
    static const struct {
        int cc, halves, tf32, fp8, extra;
    } cards[] = {{90, 16, 8, 32, 2}, {80, 8, 4, 16, 1}, {0, 4, 4, 4, 0}};
    int i = 0, cc = 10 * spec->cc_major + spec->cc_minor;
    while (cc < cards[i].cc)
        i++;
    bool fp8 = a == PTX_E4M3 || a == PTX_E5M2;
    return (struct sum_rule){
        .group = fp8             ? cards[i].fp8
                 : a == PTX_TF32 ? cards[i].tf32
                                 : cards[i].halves,
        .extra = fp8 ? -10 : cards[i].extra,
        .least = {least_exponent(a), least_exponent(b)},
        .to_half = to_half,
    };
}

static int exponent_from(float value, int least)
{
    int exponent = isfinite(value) ? ilogbf(value) : 128;
    return exponent < least ? least : exponent;
}

/* value, exact in FP64, as a sum's result. */
static float round_sum(double value, bool to_half)
{
    if (fabs(value) >= 0x1p128)
        return copysignf(INFINITY, (float)value);
    float cut = (float)value;
    if (fabs((double)cut) > fabs(value)) /* rounded away: back towards zero */
        cut = nextafterf(cut, 0.0f);
    if (!to_half)
        return cut;
    uint32_t odd = (double)cut != value; /* so that FP16 rounds as from the exact value */
    return half_value(f32_to_half_bits(f32_to_bits(cut) | odd));
}

/* c + one group of products: b's are `stride` apart. */
static float add_group(const float *a, const float *b, int stride, int count, float c,
                       const struct sum_rule *rule)
{
    bool special = !isfinite(c); /* NaN and Inf as in ordinary arithmetic */
    double plain = (double)c;
    int top = c != 0 ? exponent_from(c, -126) : INT_MIN;
    for (int k = 0; k < count; k++) {
        float x = a[k], y = b[k * stride];
        plain += (double)x * (double)y;
        special |= !isfinite(x) || !isfinite(y);
        if (x == 0 || y == 0)
            continue;
        int exponent =
            exponent_from(x, rule->least[0]) + exponent_from(y, rule->least[1]);
        top = exponent > top ? exponent : top;
    }
    if (special)
        return (float)plain;
    if (top == INT_MIN)
        return 0;
    int last = top - 23 - rule->extra; /* exponent of the last bit that is kept */
    double sum = trunc(ldexp((double)c, -last));
    for (int k = 0; k < count; k++)
        sum += trunc(ldexp((double)a[k] * (double)b[k * stride], -last));
    return round_sum(ldexp(sum, last), rule->to_half);
}

/* c[8][8] += a[8][k] * b[k][8]; strides as multiply_strip's. */
static void add_strip(const float *a, const float *b, float *c, int n, int k,
                      const struct sum_rule *rule)
{
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++)
            for (int i = 0; i < k; i += rule->group) {
                int left = k - i < rule->group ? k - i : rule->group;
                c[row * n + col] = add_group(a + row * k + i, b + i * n + col, n, left,
                                             c[row * n + col], rule);
            }
}

#endif
