/* test_ops_float.c - f32 and f64 arithmetic against the host's, rounding modes against
 * the sign of the exact error in 113 bits, approximations against libm. */
#include "ops_harness.h"

#include <math.h>

__extension__ typedef __float128 quad;

static float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
static double f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffff : bits;
}
static uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static uint64_t ftz(uint64_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
static uint64_t sat(uint64_t bits)
{
    float x = f32(bits);
    return x >= 1 ? 0x3f800000 : x > 0 ? bits : 0;
}
/* A double NaN keeps the payload of the first NaN operand, made quiet. */
static uint64_t nan64(double value, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t quiet = 0x0008000000000000;
    return !isnan(value)   ? bits64(value)
           : isnan(f64(a)) ? a | quiet
           : isnan(f64(b)) ? b | quiet
           : isnan(f64(c)) ? c | quiet
                           : 0xfff8000000000000;
}

/* --- directed rounding --------------------------------------------------------------- */

static int sign_of(quad x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}
/* `nearest` is the value rounded to nearest, `error` the sign of exact - nearest. */
static float directed32(float nearest, int error, char mode)
{
    if (isnan(nearest) || error == 0)
        return nearest;
    bool down = mode == 'm' || (mode == 'z' && !signbit(nearest));
    if (down && error < 0)
        return nextafterf(nearest, -INFINITY);
    if (!down && error > 0)
        return nextafterf(nearest, INFINITY);
    return nearest;
}
static double directed64(double nearest, int error, char mode)
{
    if (isnan(nearest) || error == 0)
        return nearest;
    bool down = mode == 'm' || (mode == 'z' && !signbit(nearest));
    if (down && error < 0)
        return nextafter(nearest, -INFINITY);
    if (!down && error > 0)
        return nextafter(nearest, INFINITY);
    return nearest;
}
/* sign of p + c - nearest, where one of p, c may be lost beside the other */
static int error_sum(quad p, quad c, quad nearest)
{
    quad abs_p = p < 0 ? -p : p, abs_c = c < 0 ? -c : c;
    return abs_p > abs_c ? sign_of((p - nearest) + c) : sign_of(p + (c - nearest));
}
static bool all_finite(double a, double b, double c)
{
    return isfinite(a) && isfinite(b) && isfinite(c);
}
/* a * b + c; an exact zero out of opposite signs is -0 towards minus infinity */
static uint64_t fma32(uint64_t a, uint64_t b, uint64_t c, char mode)
{
    float x = f32(a), y = f32(b), z = f32(c), nearest = fmaf(x, y, z);
    if (mode == 'n' || !all_finite(x, y, z))
        return bits32(nearest);
    quad p = (quad)x * y;
    if (p + z == 0 && nearest == 0)
        return p == 0 && z == 0 && signbit(x) == signbit(y) && !signbit(z)
                   ? bits32(nearest)
               : mode == 'm' && (p != 0 || (signbit(x) != signbit(y)) != signbit(z))
                   ? 0x80000000
                   : bits32(nearest);
    return bits32(directed32(nearest, error_sum(p, z, nearest), mode));
}
static uint64_t fma64(uint64_t a, uint64_t b, uint64_t c, char mode)
{
    double x = f64(a), y = f64(b), z = f64(c), nearest = fma(x, y, z);
    if (mode == 'n' || !all_finite(x, y, z))
        return nan64(nearest, a, b, c);
    quad p = (quad)x * y;
    if (p + z == 0 && nearest == 0)
        return mode == 'm' && (p != 0 || (signbit(x) != signbit(y)) != signbit(z))
                   ? (uint64_t)1 << 63
                   : bits64(nearest);
    return bits64(directed64(nearest, error_sum(p, z, nearest), mode));
}
static uint64_t div32(uint64_t a, uint64_t b, char mode)
{
    float x = f32(a), y = f32(b), nearest = x / y;
    if (mode == 'n' || !all_finite(x, y, 0) || y == 0)
        return bits32(nearest);
    int error = isinf(nearest) ? (nearest > 0 ? -1 : 1)
                               : sign_of((quad)x - (quad)nearest * y) * (y < 0 ? -1 : 1);
    return bits32(directed32(nearest, error, mode));
}
static uint64_t div64(uint64_t a, uint64_t b, char mode)
{
    double x = f64(a), y = f64(b), nearest = x / y;
    if (mode == 'n' || !all_finite(x, y, 0) || y == 0)
        return nan64(nearest, a, b, 0);
    int error = isinf(nearest) ? (nearest > 0 ? -1 : 1)
                               : sign_of((quad)x - (quad)nearest * y) * (y < 0 ? -1 : 1);
    return bits64(directed64(nearest, error, mode));
}
static uint64_t sqrt32(uint64_t a, char mode)
{
    float x = f32(a), nearest = sqrtf(x);
    if (mode == 'n' || !isfinite(x) || x <= 0)
        return bits32(nearest);
    return bits32(directed32(nearest, sign_of((quad)x - (quad)nearest * nearest), mode));
}
static uint64_t sqrt64(uint64_t a, char mode)
{
    double x = f64(a), nearest = sqrt(x);
    if (mode == 'n' || !isfinite(x) || x <= 0)
        return nan64(nearest, a, 0, 0);
    return bits64(directed64(nearest, sign_of((quad)x - (quad)nearest * nearest), mode));
}

#define ONE 0x3f800000u
#define MINUS0 0x80000000u
#define ONE64 0x3ff0000000000000u
#define NEG0 0x8000000000000000u
/* -0 is added so that x * y keeps its sign of zero */
static uint64_t mul32(uint64_t a, uint64_t b, char mode)
{
    float x = f32(a), y = f32(b), nearest = x * y;
    if (mode == 'n' || !all_finite(x, y, 0))
        return bits32(nearest);
    return bits32(directed32(nearest, sign_of((quad)x * y - nearest), mode));
}
static uint64_t mul64(uint64_t a, uint64_t b, char mode)
{
    double x = f64(a), y = f64(b), nearest = x * y;
    if (mode == 'n' || !all_finite(x, y, 0))
        return nan64(nearest, a, b, 0);
    return bits64(directed64(nearest, sign_of((quad)x * y - nearest), mode));
}
static uint64_t add64(uint64_t a, uint64_t b, char mode)
{
    double x = f64(a), y = f64(b), sum = x + y;
    return isnan(sum) ? nan64(sum, a, b, 0) : fma64(a, ONE64, b, mode);
}

/* --- min and max --------------------------------------------------------------------- */

static uint64_t choose32(uint64_t a, uint64_t b, bool max, bool nan)
{
    float x = f32(a), y = f32(b);
    if (isnan(x) || isnan(y))
        return nan || (isnan(x) && isnan(y)) ? 0x7fffffff : isnan(x) ? b : a;
    if (x == y)
        return max ? a & b : a | b; /* only zeros differ in bits: -0 < +0 */
    return (x > y) == max ? a : b;
}
static uint64_t choose64(uint64_t a, uint64_t b, bool max)
{
    double x = f64(a), y = f64(b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0x7fffffffffffffff : isnan(x) ? b : a;
    if (x == y)
        return max ? a & b : a | b;
    return (x > y) == max ? a : b;
}
static uint64_t xorsign(uint64_t a, uint64_t b, bool max)
{
    uint64_t r = choose32(a & 0x7fffffff, b & 0x7fffffff, max, false);
    return isnan(f32(r)) ? 0x7fffffff : r | ((a ^ b) & 0x80000000);
}
static bool is_class(double x, bool subnormal, char which)
{
    switch (which) {
    case 'f':
        return isfinite(x);
    case 'i':
        return isinf(x);
    case 'n':
        return !isnan(x);
    case 'N':
        return isnan(x);
    case 's':
        return subnormal;
    default:
        return isfinite(x) && x != 0 && !subnormal;
    }
}
static bool tiny32(uint64_t a)
{
    return (a & 0x7f800000) == 0 && (a & 0x7fffff) != 0;
}
static bool tiny64(uint64_t a)
{
    return (a << 1 >> 53) == 0 && a << 12 != 0;
}

#define EXPECT(name, expr)                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(expr);                             \
    }
#define ROUNDINGS(op, expr)   \
    EXPECT(op##_n, expr('n')) \
    EXPECT(op##_z, expr('z')) \
    EXPECT(op##_m, expr('m')) \
    EXPECT(op##_p, expr('p'))
#define ADD32(mode) fma32(a, ONE, b, mode)
#define SUB32(mode) (isnan(f32(b)) ? 0x7fffffff : fma32(a, ONE, b ^ MINUS0, mode))
#define MUL32(mode) mul32(a, b, mode)
#define FMA32(mode) fma32(a, b, c, mode)
#define DIV32(mode) div32(a, b, mode)
#define RCP32(mode) div32(ONE, a, mode)
#define SQRT32(mode) sqrt32(a, mode)
#define ADD64(mode) add64(a, b, mode)
#define SUB64(mode) (isnan(f64(b)) ? nan64(NAN, a, b, 0) : add64(a, b ^ NEG0, mode))
#define MUL64(mode) mul64(a, b, mode)
#define FMA64(mode) fma64(a, b, c, mode)
#define DIV64(mode) div64(a, b, mode)
#define RCP64(mode) (isnan(f64(a)) ? nan64(NAN, a, 0, 0) : div64(ONE64, a, mode))
#define SQRT64(mode) sqrt64(a, mode)
ROUNDINGS(add32, ADD32)
ROUNDINGS(sub32, SUB32)
ROUNDINGS(mul32r, MUL32)
ROUNDINGS(fma32r, FMA32)
ROUNDINGS(div32r, DIV32)
ROUNDINGS(rcp32, RCP32)
ROUNDINGS(sqrt32r, SQRT32)
ROUNDINGS(add64r, ADD64)
ROUNDINGS(sub64, SUB64)
ROUNDINGS(mul64r, MUL64)
ROUNDINGS(fma64r, FMA64)
ROUNDINGS(div64r, DIV64)
ROUNDINGS(rcp64, RCP64)
ROUNDINGS(sqrt64r, SQRT64)
EXPECT(add_ftz, ftz(add32_n(ftz(a), ftz(b), 0)))
EXPECT(mul_ftz, ftz(mul32(ftz(a), ftz(b), 'n')))
EXPECT(mul_ftz_z, ftz(mul32(ftz(a), ftz(b), 'z')))
EXPECT(fma_ftz, ftz(fma32(ftz(a), ftz(b), ftz(c), 'n')))
EXPECT(div_ftz, ftz(div32(ftz(a), ftz(b), 'n')))
EXPECT(sqrt_ftz, sqrt32(ftz(a), 'n'))
EXPECT(rcp_ftz, ftz(div32(ONE, ftz(a), 'n')))
EXPECT(add_sat, sat(add32_n(a, b, 0)))
EXPECT(fma_sat, sat(fma32(a, b, c, 'n')))
EXPECT(fma_ftz_sat, sat(fma_ftz(a, b, c)))
EXPECT(neg32, a ^ MINUS0)
EXPECT(abs32, a & 0x7fffffff)
EXPECT(neg_ftz, ftz(a) ^ MINUS0)
EXPECT(abs_ftz, ftz(a) & 0x7fffffff)
EXPECT(neg64, a ^ NEG0)
EXPECT(abs64, a & ~NEG0)
EXPECT(copysign32, (a & 0x80000000) | (b & 0x7fffffff))
EXPECT(copysign64, (a & NEG0) | (b & ~NEG0))
EXPECT(min32, choose32(a, b, false, false))
EXPECT(max32, choose32(a, b, true, false))
EXPECT(min_ftz, choose32(ftz(a), ftz(b), false, false))
EXPECT(max_nan, choose32(a, b, true, true))
EXPECT(min_nan_ftz, choose32(ftz(a), ftz(b), false, true))
EXPECT(max_xorsign, xorsign(a, b, true))
EXPECT(min_xorsign, xorsign(a, b, false))
EXPECT(min3, choose32(choose32(a, b, false, false), c, false, false))
EXPECT(max3, choose32(choose32(a, b, true, false), c, true, false))
EXPECT(min64, choose64(a, b, false))
EXPECT(max64, choose64(a, b, true))
EXPECT(finite32, is_class(f32(a), tiny32(a), 'f'))
EXPECT(infinite32, is_class(f32(a), tiny32(a), 'i'))
EXPECT(number32, is_class(f32(a), tiny32(a), 'n'))
EXPECT(nan32, is_class(f32(a), tiny32(a), 'N'))
EXPECT(normal32, is_class(f32(a), tiny32(a), 'o'))
EXPECT(subnormal32, is_class(f32(a), tiny32(a), 's'))
EXPECT(normal64, is_class(f64(a), tiny64(a), 'o'))
EXPECT(subnormal64, is_class(f64(a), tiny64(a), 's'))

/* Random values near 1, where rounding, cancellation and carries meet. */
static uint64_t near32(uint64_t r)
{
    uint64_t exponent = 127 - 12 + (r >> 40) % 25;
    return (r & 0x807fffff) | exponent << 23;
}
static uint64_t near64(uint64_t r)
{
    uint64_t exponent = 1023 - 20 + (r * 0x9e3779b97f4a7c15u >> 40) % 41;
    return (r & 0x800fffffffffffffu) | exponent << 52;
}
/* ... and near the smallest. */
static uint64_t tiny(uint64_t r)
{
    uint64_t exponent = r >> 63 ? (r >> 40) % 3 : 60 + (r >> 40) % 8;
    return (r & 0x807fffff) | exponent << 23;
}

#define R1 "d=r a=r"
#define R2 "d=r a=r b=r"
#define R3 "d=r a=r b=r c=r"
#define L1 "d=l a=l"
#define L2 "d=l a=l b=l"
#define L3 "d=l a=l b=l c=l"
#define ALL(base, tail, registers, expect, shape)        \
    {base ".rn" tail, registers, expect##_n, shape},     \
        {base ".rz" tail, registers, expect##_z, shape}, \
        {base ".rm" tail, registers, expect##_m, shape}, \
    {                                                    \
        base ".rp" tail, registers, expect##_p, shape    \
    }

static const struct ops_case cases[] = {
    {"add.f32 d, a, b;", R2, add32_n, near32},
    {"sub.f32 d, a, b;", R2, sub32_n, near32},
    {"mul.f32 d, a, b;", R2, mul32r_n, tiny},
    ALL("add", ".f32 d, a, b;", R2, add32, near32),
    ALL("sub", ".f32 d, a, b;", R2, sub32, near32),
    ALL("mul", ".f32 d, a, b;", R2, mul32r, near32),
    ALL("mul", ".f32 d, a, b;", R2, mul32r, tiny),
    ALL("fma", ".f32 d, a, b, c;", R3, fma32r, near32),
    ALL("fma", ".f32 d, a, b, c;", R3, fma32r, NULL),
    ALL("div", ".f32 d, a, b;", R2, div32r, near32),
    ALL("div", ".f32 d, a, b;", R2, div32r, tiny),
    ALL("rcp", ".f32 d, a;", R1, rcp32, near32),
    ALL("sqrt", ".f32 d, a;", R1, sqrt32r, near32),
    {"mad.rn.f32 d, a, b, c;", R3, fma32r_n, near32},
    {"div.full.f32 d, a, b;", R2, div32r_n, near32},
    {"div.approx.f32 d, a, b;", R2, div32r_n, near32},
    {"rcp.approx.f32 d, a;", R1, rcp32_n, near32},
    {"sqrt.approx.f32 d, a;", R1, sqrt32r_n, near32},
    {"add.ftz.f32 d, a, b;", R2, add_ftz, tiny},
    {"mul.ftz.f32 d, a, b;", R2, mul_ftz, tiny},
    {"mul.rz.ftz.f32 d, a, b;", R2, mul_ftz_z, tiny},
    {"fma.rn.ftz.f32 d, a, b, c;", R3, fma_ftz, tiny},
    {"div.rn.ftz.f32 d, a, b;", R2, div_ftz, tiny},
    {"sqrt.rn.ftz.f32 d, a;", R1, sqrt_ftz, tiny},
    {"rcp.rn.ftz.f32 d, a;", R1, rcp_ftz, tiny},
    {"add.sat.f32 d, a, b;", R2, add_sat, near32},
    {"fma.rn.sat.f32 d, a, b, c;", R3, fma_sat, near32},
    {"fma.rn.ftz.sat.f32 d, a, b, c;", R3, fma_ftz_sat, tiny},
    {"neg.f32 d, a;", R1, neg32, NULL},
    {"abs.f32 d, a;", R1, abs32, NULL},
    {"neg.ftz.f32 d, a;", R1, neg_ftz, tiny},
    {"abs.ftz.f32 d, a;", R1, abs_ftz, tiny},
    {"copysign.f32 d, a, b;", R2, copysign32, NULL},
    {"min.f32 d, a, b;", R2, min32, near32},
    {"max.f32 d, a, b;", R2, max32, near32},
    {"min.ftz.f32 d, a, b;", R2, min_ftz, tiny},
    {"max.NaN.f32 d, a, b;", R2, max_nan, near32},
    {"min.ftz.NaN.f32 d, a, b;", R2, min_nan_ftz, tiny},
    {"max.xorsign.abs.f32 d, a, b;", R2, max_xorsign, near32},
    {"min.xorsign.abs.f32 d, a, b;", R2, min_xorsign, near32},
    {OPS_SM_100 "min.f32 d, a, b, c;", R3, min3, near32},
    {OPS_SM_100 "max.f32 d, a, b, c;", R3, max3, near32},
    {"testp.finite.f32 d, a;", "d=p a=r", finite32, NULL},
    {"testp.infinite.f32 d, a;", "d=p a=r", infinite32, NULL},
    {"testp.number.f32 d, a;", "d=p a=r", number32, NULL},
    {"testp.notanumber.f32 d, a;", "d=p a=r", nan32, NULL},
    {"testp.normal.f32 d, a;", "d=p a=r", normal32, NULL},
    {"testp.subnormal.f32 d, a;", "d=p a=r", subnormal32, tiny},
    {"testp.normal.f64 d, a;", "d=p a=l", normal64, NULL},
    {"testp.subnormal.f64 d, a;", "d=p a=l", subnormal64, NULL},
    {"add.f64 d, a, b;", L2, add64r_n, near64},
    {"sub.f64 d, a, b;", L2, sub64_n, near64},
    {"mul.f64 d, a, b;", L2, mul64r_n, near64},
    ALL("add", ".f64 d, a, b;", L2, add64r, near64),
    ALL("sub", ".f64 d, a, b;", L2, sub64, near64),
    ALL("mul", ".f64 d, a, b;", L2, mul64r, near64),
    ALL("fma", ".f64 d, a, b, c;", L3, fma64r, near64),
    ALL("mad", ".f64 d, a, b, c;", L3, fma64r, NULL),
    ALL("div", ".f64 d, a, b;", L2, div64r, near64),
    ALL("rcp", ".f64 d, a;", L1, rcp64, near64),
    ALL("sqrt", ".f64 d, a;", L1, sqrt64r, near64),
    {"neg.f64 d, a;", L1, neg64, NULL},
    {"abs.f64 d, a;", L1, abs64, NULL},
    {"copysign.f64 d, a, b;", L2, copysign64, NULL},
    {"min.f64 d, a, b;", L2, min64, near64},
    {"max.f64 d, a, b;", L2, max64, near64},
};

Test(ops_float, rounds_as_ieee_754_and_the_manual_say)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ops_check(&cases[i], 4000);
}

/* --- approximations ------------------------------------------------------------------ */

static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}
static const struct {
    const char *text;
    double (*exact)(double);
    double least, most;
} approximations[] = {
    {"ex2.approx.f32 d, a;", exp2, -151, 129},
    {"lg2.approx.f32 d, a;", log2, 0, 3e38},
    {"lg2.approx.f32 d, a;", log2, 0.4, 2.1},
    {"sin.approx.f32 d, a;", sin, -4, 4},
    {"cos.approx.f32 d, a;", cos, -4, 4},
    {"sin.approx.f32 d, a;", sin, -1000, 1000},
    {"cos.approx.f32 d, a;", cos, -1000, 1000},
    {"tanh.approx.f32 d, a;", tanh, -12, 12},
    {"tanh.approx.f32 d, a;", tanh, -1e-3, 1e-3},
    {"rsqrt.approx.f32 d, a;", rsqrt_of, 0, 3e38},
};

/* Ulps between a float and the exact value. */
static double ulps(float got, double exact)
{
    if (isinf(got) && fabs(exact) > 3.4028235e38)
        return 0;
    int exponent;
    frexp(exact, &exponent);
    exponent = exponent - 24 < -149 ? -149 : exponent - 24;
    return fabs((double)got - exact) / ldexp(1, exponent);
}

Test(ops_float, approximations_are_off_by_half_an_ulp_at_most)
{
    for (size_t i = 0; i < sizeof approximations / sizeof *approximations; i++) {
        struct ops h;
        uint64_t seed = 77;
        ops_open(&h, approximations[i].text, R1);
        for (int run = 0; run < 3000; run++) {
            for (int l = 0; l < LANES; l++) {
                double unit = (double)(ops_random(&seed) >> 11) / 9007199254740992.0;
                float x =
                    (float)(approximations[i].least +
                            unit * (approximations[i].most - approximations[i].least));
                if (run % 2 == 1 && approximations[i].least == 0)
                    x = f32(ops_random(&seed) & 0x7f7fffff);
                ops_set(&h, 'a', l, bits32(x));
            }
            ops_run(&h, FULL_MASK);
            for (int l = 0; l < LANES; l++) {
                float x = f32(ops_get(&h, 'a', l)), got = f32(ops_get(&h, 'd', l));
                double off = ulps(got, approximations[i].exact(x));
                cr_assert(off <= 0.5001, "%s a=%a: %a is %g ulp off",
                          approximations[i].text, (double)x, (double)got, off);
            }
        }
        ops_close(&h);
    }
}

static const struct {
    const char *text;
    uint32_t a, want;
} corners[] = {
    {"ex2.approx.f32 d, a;", 0xff800000, 0},
    {"ex2.approx.f32 d, a;", 0x7f800000, 0x7f800000},
    {"ex2.approx.f32 d, a;", 0x7fc00000, 0x7fffffff},
    {"ex2.approx.f32 d, a;", 0x80000000, 0x3f800000},
    {"ex2.approx.f32 d, a;", 0xc3140000, 0x00000002},
    {"ex2.approx.ftz.f32 d, a;", 0xc3140000, 0},
    {"ex2.approx.f32 d, a;", 0x43000000, 0x7f800000},
    {"ex2.approx.f32 d, a;", 0xff7fffff, 0},
    {"lg2.approx.f32 d, a;", 0, 0xff800000},
    {"lg2.approx.f32 d, a;", 0x80000000, 0xff800000},
    {"lg2.approx.f32 d, a;", 0xbf800000, 0x7fffffff},
    {"lg2.approx.f32 d, a;", 0x7f800000, 0x7f800000},
    {"lg2.approx.f32 d, a;", 0xff800000, 0x7fffffff},
    {"lg2.approx.f32 d, a;", 1, 0xc3150000},
    {"lg2.approx.ftz.f32 d, a;", 1, 0xff800000},
    {"lg2.approx.f32 d, a;", 0x3f800000, 0},
    {"sin.approx.f32 d, a;", 0x80000000, 0x80000000},
    {"sin.approx.f32 d, a;", 0x7f800000, 0x7fffffff},
    {"sin.approx.f32 d, a;", 1, 1},
    {"sin.approx.ftz.f32 d, a;", 0x80000001, 0x80000000},
    {"cos.approx.f32 d, a;", 0xff800000, 0x7fffffff},
    {"cos.approx.f32 d, a;", 0, 0x3f800000},
    {"tanh.approx.f32 d, a;", 0x7f800000, 0x3f800000},
    {"tanh.approx.f32 d, a;", 0xff800000, 0xbf800000},
    {"tanh.approx.f32 d, a;", 0x80000000, 0x80000000},
    {"tanh.approx.f32 d, a;", 0x7f800001, 0x7fffffff},
    {"rsqrt.approx.f32 d, a;", 0, 0x7f800000},
    {"rsqrt.approx.f32 d, a;", 0x80000000, 0xff800000},
    {"rsqrt.approx.f32 d, a;", 0x7f800000, 0},
    {"rsqrt.approx.f32 d, a;", 0xbf800000, 0x7fffffff},
    {"rsqrt.approx.ftz.f32 d, a;", 0x00000001, 0x7f800000},
    {"rcp.approx.ftz.f32 d, a;", 0x7e800001, 0},
    {"rcp.approx.f32 d, a;", 0x80000000, 0xff800000},
    {"sqrt.approx.f32 d, a;", 0x80000000, 0x80000000},
};

Test(ops_float, approximations_treat_corners_as_the_manual_says)
{
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        struct ops h;
        ops_open(&h, corners[i].text, R1);
        ops_set(&h, 'a', 31, corners[i].a);
        ops_run(&h, 0x80000000u);
        cr_expect(ops_get(&h, 'd', 31) == corners[i].want, "%s a=%#x: %#llx, want %#x",
                  corners[i].text, corners[i].a, (unsigned long long)ops_get(&h, 'd', 31),
                  corners[i].want);
        ops_close(&h);
    }
}

/* rcp and rsqrt .approx.ftz.f64: the low 32 bits are zero, subnormals are flushed. */
Test(ops_float, coarse_doubles_have_a_high_word_only)
{
    static const struct {
        const char *text;
        uint64_t a, want;
    } coarse[] = {
        {"rcp.approx.ftz.f64 d, a;", 0x4008000000000000, 0x3fd5555500000000},
        {"rcp.approx.ftz.f64 d, a;", 0x0000000000000001, 0x7ff0000000000000},
        {"rcp.approx.ftz.f64 d, a;", 0x7fe8000000000000, 0},
        {"rsqrt.approx.ftz.f64 d, a;", 0x4000000000000000, 0x3fe6a09e00000000},
        {"rsqrt.approx.ftz.f64 d, a;", 0x8000000000000001, 0xfff0000000000000},
        {"rsqrt.approx.f64 d, a;", 0x4010000000000000, 0x3fe0000000000000},
    };
    for (size_t i = 0; i < sizeof coarse / sizeof *coarse; i++) {
        struct ops h;
        ops_open(&h, coarse[i].text, L1);
        ops_set(&h, 'a', 0, coarse[i].a);
        ops_run(&h, FULL_MASK);
        cr_expect(ops_get(&h, 'd', 0) == coarse[i].want, "%s a=%#llx: %#llx",
                  coarse[i].text, (unsigned long long)coarse[i].a,
                  (unsigned long long)ops_get(&h, 'd', 0));
        ops_close(&h);
    }
}
