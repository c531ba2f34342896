/* test_ops_half.c - f16 and bf16 arithmetic against exact sums rounded by search; all
 * 65536 operands where there is one. */
#include "ops_harness.h"
#include "small_float.h"

/* a * b + c; where 113 bits cannot hold it, the smaller term is a nudge to the other */
static quad exact_fma(double a, double b, double c)
{
    quad p = (quad)a * b, sum = p + c, part = sum - p;
    quad size_p = p < 0 ? -p : p, size_c = c < 0 ? -c : c;
    quad big = size_p > size_c ? p : c, rest = size_p > size_c ? c : p;
    quad nudge =
        (size_p > size_c ? size_p : size_c) / ((quad)(1ull << 60) * (1ull << 40));
    if (part == c && sum - part == p)
        return sum;
    return rest > 0 ? big + nudge : big - nudge;
}
static uint64_t flush(const struct small *f, uint64_t code)
{
    return (code & (uint64_t)(f->sign - 1)) >> f->fraction == 0 ? code & 0x8000 : code;
}
static bool is_nan(const struct small *f, uint64_t code)
{
    return isnan(small_double(f, (int)code));
}
static uint64_t relu(const struct small *f, uint64_t code)
{
    return is_nan(f, code) ? code : code & 0x8000 ? 0 : code;
}
static uint64_t sat(const struct small *f, uint64_t code)
{
    double x = small_double(f, (int)code);
    return x >= 1 ? (uint64_t)f->bias << f->fraction : x > 0 ? code : 0;
}

static uint64_t sum_of(const struct small *f, uint64_t a, uint64_t b, bool minus)
{
    double x = small_double(f, (int)a), y = small_double(f, (int)b);
    double both = minus ? x - y : x + y;
    if (both == 0 || isnan(both) || isinf(both))
        return (uint64_t)small_round(f, both, 'n', false);
    return (uint64_t)small_round(f, minus ? exact_fma(-1, y, x) : exact_fma(1, y, x), 'n',
                                 false);
}
static uint64_t product(const struct small *f, uint64_t a, uint64_t b)
{
    double x = small_double(f, (int)a), y = small_double(f, (int)b), p = x * y;
    if (p == 0 || isnan(p) || isinf(p))
        return (uint64_t)small_round(f, p, 'n', false);
    return (uint64_t)small_round(f, (quad)x * y, 'n', false);
}
static uint64_t fma_of(const struct small *f, uint64_t a, uint64_t b, uint64_t c)
{
    double x = small_double(f, (int)a), y = small_double(f, (int)b),
           z = small_double(f, (int)c), r = fma(x, y, z);
    if (r == 0 || isnan(r) || isinf(r))
        return (uint64_t)small_round(f, r, 'n', false);
    return (uint64_t)small_round(f, exact_fma(x, y, z), 'n', false);
}
static uint64_t choose(const struct small *f, uint64_t a, uint64_t b, bool max, bool nan)
{
    double x = small_double(f, (int)a), y = small_double(f, (int)b);
    if (isnan(x) || isnan(y))
        return nan || (isnan(x) && isnan(y)) ? 0x7fff : isnan(x) ? b : a;
    if (x == y)
        return max ? a & b : a | b;
    return (x > y) == max ? a : b;
}
static uint64_t xorsign(const struct small *f, uint64_t a, uint64_t b, bool max)
{
    uint64_t r = choose(f, a & 0x7fff, b & 0x7fff, max, false);
    return is_nan(f, r) ? r : r | ((a ^ b) & 0x8000);
}
static uint64_t of_double(const struct small *f, uint64_t a, double (*function)(double))
{
    return (uint64_t)small_round(f, function(small_double(f, (int)a)), 'n', false);
}
static uint64_t both(uint64_t low, uint64_t high)
{
    return (low & 0xffff) | (high & 0xffff) << 16;
}

#define EXPECT(name, expr)                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(expr);                             \
    }
#define LOW(x) ((x)&0xffff)
#define PAIR(name, one) \
    EXPECT(name, both(one(LOW(a), LOW(b), LOW(c)), one(a >> 16, b >> 16, c >> 16)))
EXPECT(add_h, sum_of(&F16, a, b, false))
EXPECT(add_b, sum_of(&BF16, a, b, false))
EXPECT(sub_h, sum_of(&F16, a, b, true))
EXPECT(sub_b, sum_of(&BF16, a, b, true))
EXPECT(mul_h, product(&F16, a, b))
EXPECT(mul_b, product(&BF16, a, b))
EXPECT(fma_h, fma_of(&F16, a, b, c))
EXPECT(fma_b, fma_of(&BF16, a, b, c))
EXPECT(fma_h_relu, relu(&F16, fma_of(&F16, a, b, c)))
EXPECT(fma_b_relu, relu(&BF16, fma_of(&BF16, a, b, c)))
EXPECT(fma_h_sat, sat(&F16, fma_of(&F16, a, b, c)))
EXPECT(add_h_sat, sat(&F16, sum_of(&F16, a, b, false)))
EXPECT(add_h_ftz, flush(&F16, sum_of(&F16, flush(&F16, a), flush(&F16, b), false)))
EXPECT(mul_h_ftz, flush(&F16, product(&F16, flush(&F16, a), flush(&F16, b))))
EXPECT(neg, a ^ 0x8000)
EXPECT(abs_, a & 0x7fff)
EXPECT(neg_ftz, flush(&F16, a) ^ 0x8000)
EXPECT(min_h, choose(&F16, a, b, false, false))
EXPECT(max_h, choose(&F16, a, b, true, false))
EXPECT(min_b, choose(&BF16, a, b, false, false))
EXPECT(max_b, choose(&BF16, a, b, true, false))
EXPECT(min_h_nan_ftz, choose(&F16, flush(&F16, a), flush(&F16, b), false, true))
EXPECT(max_b_nan, choose(&BF16, a, b, true, true))
EXPECT(max_h_xor, xorsign(&F16, a, b, true))
EXPECT(min_b_xor, xorsign(&BF16, a, b, false))
EXPECT(ex2_h, of_double(&F16, a, exp2))
EXPECT(ex2_b, flush(&BF16, of_double(&BF16, flush(&BF16, a), exp2)))
EXPECT(tanh_h, of_double(&F16, a, tanh))
EXPECT(tanh_b, of_double(&BF16, a, tanh))
PAIR(add_h2, add_h)
PAIR(sub_b2, sub_b)
PAIR(mul_h2, mul_h)
PAIR(mul_b2, mul_b)
PAIR(fma_h2, fma_h)
PAIR(fma_b2, fma_b)
PAIR(fma_h2_relu, fma_h_relu)
PAIR(neg2, neg)
PAIR(abs2, abs_)
PAIR(max_h2, max_h)
PAIR(min_b2, min_b)
PAIR(ex2_h2, ex2_h)
PAIR(tanh_b2, tanh_b)

/* 16 random bits, half of the time with an exponent near that of 1. */
static uint64_t near_half(uint64_t r)
{
    return r >> 63 ? r : (r & 0x83ff83ff) | 0x38003800 | (r >> 20 & 0x0c000c00);
}
static uint64_t near_bfloat(uint64_t r)
{
    return r >> 63 ? r : (r & 0x807f807f) | 0x3f003f00 | (r >> 20 & 0x00800080);
}

/* Sizes between 2^-50 and 2^14: far apart, and none near the ends of the range. */
static uint64_t wide_bfloat(uint64_t r)
{
    uint64_t low = 77 + (r >> 20 & 63), high = 77 + (r >> 26 & 63);
    return (r & 0x807f807f) | low << 7 | high << 23;
}

#define H1 "d=h a=h"
#define H2 "d=h a=h b=h"
#define H3 "d=h a=h b=h c=h"
#define P1 "d=r a=r"
#define P2 "d=r a=r b=r"
#define P3 "d=r a=r b=r c=r"
static const struct ops_case cases[] = {
    {"add.f16 d, a, b;", H2, add_h, near_half},
    {"add.rn.bf16 d, a, b;", H2, add_b, near_bfloat},
    {"sub.f16 d, a, b;", H2, sub_h, near_half},
    {"sub.rn.bf16 d, a, b;", H2, sub_b, near_bfloat},
    {"mul.f16 d, a, b;", H2, mul_h, near_half},
    {"mul.rn.bf16 d, a, b;", H2, mul_b, NULL},
    {"fma.rn.f16 d, a, b, c;", H3, fma_h, near_half},
    {"fma.rn.f16 d, a, b, c;", H3, fma_h, NULL},
    {"fma.rn.bf16 d, a, b, c;", H3, fma_b, near_bfloat},
    {"fma.rn.bf16 d, a, b, c;", H3, fma_b, NULL},
    {"fma.rn.bf16 d, a, b, c;", H3, fma_b, wide_bfloat},
    {"mul.rn.bf16 d, a, b;", H2, mul_b, wide_bfloat},
    {"fma.rn.relu.f16 d, a, b, c;", H3, fma_h_relu, near_half},
    {"fma.rn.relu.bf16 d, a, b, c;", H3, fma_b_relu, near_bfloat},
    {"fma.rn.sat.f16 d, a, b, c;", H3, fma_h_sat, near_half},
    {"add.sat.f16 d, a, b;", H2, add_h_sat, near_half},
    {"add.ftz.f16 d, a, b;", H2, add_h_ftz, NULL},
    {"mul.ftz.f16 d, a, b;", H2, mul_h_ftz, NULL},
    {"neg.f16 d, a;", H1, neg, NULL},
    {"neg.ftz.f16 d, a;", H1, neg_ftz, NULL},
    {"neg.bf16 d, a;", H1, neg, NULL},
    {"abs.f16 d, a;", H1, abs_, NULL},
    {"abs.bf16 d, a;", H1, abs_, NULL},
    {"min.f16 d, a, b;", H2, min_h, near_half},
    {"max.f16 d, a, b;", H2, max_h, near_half},
    {"min.bf16 d, a, b;", H2, min_b, near_bfloat},
    {"max.bf16 d, a, b;", H2, max_b, near_bfloat},
    {"min.ftz.NaN.f16 d, a, b;", H2, min_h_nan_ftz, NULL},
    {"max.NaN.bf16 d, a, b;", H2, max_b_nan, NULL},
    {"max.xorsign.abs.f16 d, a, b;", H2, max_h_xor, NULL},
    {"min.xorsign.abs.bf16 d, a, b;", H2, min_b_xor, NULL},
    {"add.f16x2 d, a, b;", P2, add_h2, near_half},
    {"sub.rn.bf16x2 d, a, b;", P2, sub_b2, near_bfloat},
    {"mul.f16x2 d, a, b;", P2, mul_h2, near_half},
    {"mul.rn.bf16x2 d, a, b;", P2, mul_b2, near_bfloat},
    {"fma.rn.f16x2 d, a, b, c;", P3, fma_h2, near_half},
    {"fma.rn.bf16x2 d, a, b, c;", P3, fma_b2, near_bfloat},
    {"fma.rn.relu.f16x2 d, a, b, c;", P3, fma_h2_relu, near_half},
    {"neg.f16x2 d, a;", P1, neg2, NULL},
    {"abs.bf16x2 d, a;", P1, abs2, NULL},
    {"max.f16x2 d, a, b;", P2, max_h2, near_half},
    {"min.bf16x2 d, a, b;", P2, min_b2, near_bfloat},
    {"ex2.approx.f16x2 d, a;", P1, ex2_h2, near_half},
    {"tanh.approx.bf16x2 d, a;", P1, tanh_b2, near_bfloat},
};

Test(ops_half, rounds_once)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ops_check(&cases[i], 20000);
}

static const struct ops_case unary[] = {
    {"ex2.approx.f16 d, a;", H1, ex2_h, NULL},
    {"ex2.approx.ftz.bf16 d, a;", H1, ex2_b, NULL},
    {"tanh.approx.f16 d, a;", H1, tanh_h, NULL},
    {"tanh.approx.bf16 d, a;", H1, tanh_b, NULL},
};

Test(ops_half, functions_are_right_for_all_operands)
{
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
        struct ops h;
        ops_open(&h, unary[i].text, unary[i].registers);
        for (int base = 0; base < 0x10000; base += LANES) {
            for (int l = 0; l < LANES; l++)
                ops_set(&h, 'a', l, (uint64_t)(base + l));
            ops_run(&h, FULL_MASK);
            for (int l = 0; l < LANES; l++)
                cr_assert_eq(ops_get(&h, 'd', l),
                             unary[i].expect((uint64_t)(base + l), 0, 0), "%s a=%#x",
                             unary[i].text, (unsigned)(base + l));
        }
        ops_close(&h);
    }
}
