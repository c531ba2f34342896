/* ops_float.c - f32 and f64 arithmetic (PTX ISA 9.0, 9.7.3).
 *
 * Results follow IEEE 754; a NaN result in f32 is 0x7fffffff. Rounding modes other
 * than .rn switch the host's mode around the .rn executor. The .approx functions
 * are computed in double precision and rounded once, so they are at most half an
 * ulp off, where the hardware's are one or two. */
#include <fenv.h>

#include "numeric.h"
#include "ops.h"

enum { FLOAT_FTZ = 1, FLOAT_SAT = 2 };

static inline float in_f32(uint32_t bits, int flags)
{
    return bits_to_f32(flags & FLOAT_FTZ ? flush_bits(bits) : bits);
}
static inline uint32_t out_f32(float value, int flags)
{
    uint32_t bits = canon_f32(value);
    bits = flags & FLOAT_FTZ ? flush_bits(bits) : bits;
    return flags & FLOAT_SAT ? saturate_f32(bits) : bits;
}

/* Two executors: plain, and with .ftz and .sat. */
#define F32(x) bits_to_f32(x)
#define FLOAT_OP(name, plain, careful)                         \
    LANEWISE(name##_f32, uint32_t, uint32_t, canon_f32(plain)) \
    LANEWISE(name##_f32x, uint32_t, uint32_t, out_f32(careful, op->flags))

#define FA in_f32(a, op->flags)
#define FB in_f32(b, op->flags)
#define FC in_f32(c, op->flags)

FLOAT_OP(add, F32(a) + F32(b), FA + FB)
FLOAT_OP(sub, F32(a) - F32(b), FA - FB)
FLOAT_OP(mul, F32(a) * F32(b), FA *FB)
FLOAT_OP(fma, __builtin_fmaf(F32(a), F32(b), F32(c)), __builtin_fmaf(FA, FB, FC))
FLOAT_OP(div, F32(a) / F32(b), FA / FB)
FLOAT_OP(rcp, 1.0f / F32(a), 1.0f / FA)
FLOAT_OP(sqrt, __builtin_sqrtf(F32(a)), __builtin_sqrtf(FA))
FLOAT_OP(rsqrt, (float)(1.0 / sqrt((double)F32(a))), (float)(1.0 / sqrt((double)FA)))
FLOAT_OP(ex2, (float)exp2((double)F32(a)), (float)exp2((double)FA))
FLOAT_OP(lg2, (float)log2((double)F32(a)), (float)log2((double)FA))
FLOAT_OP(sin, (float)sin((double)F32(a)), (float)sin((double)FA))
FLOAT_OP(cos, (float)cos((double)F32(a)), (float)cos((double)FA))
FLOAT_OP(tanh, (float)tanh((double)F32(a)), (float)tanh((double)FA))

LANEWISE(neg_f32, uint32_t, uint32_t,
         (op->flags & FLOAT_FTZ ? flush_bits(a) : a) ^ 0x80000000u)
LANEWISE(abs_f32, uint32_t, uint32_t,
         (op->flags & FLOAT_FTZ ? flush_bits(a) : a) & 0x7fffffffu)
LANEWISE(copysign_f32, uint32_t, uint32_t, (b & 0x7fffffffu) | (a & 0x80000000u))

/* A number wins over NaN unless .NaN; -0 < +0. */
enum { MINMAX_NAN = 4, MINMAX_XORSIGN = 8, MINMAX_MAX = 16, MINMAX_THREE = 32 };

static inline uint32_t pick_f32(uint32_t a, uint32_t b, int flags)
{
    uint32_t sign = (a ^ b) & 0x80000000u;
    if (flags & FLOAT_FTZ) {
        a = flush_bits(a);
        b = flush_bits(b);
    }
    if (flags & MINMAX_XORSIGN) {
        a &= 0x7fffffffu;
        b &= 0x7fffffffu;
    }
    bool a_nan = (a & 0x7fffffffu) > 0x7f800000u, b_nan = (b & 0x7fffffffu) > 0x7f800000u;
    /* order as integers: flip all but the sign of negative numbers */
    int32_t x = (int32_t)(a ^ ((uint32_t)((int32_t)a >> 31) >> 1));
    int32_t y = (int32_t)(b ^ ((uint32_t)((int32_t)b >> 31) >> 1));
    uint32_t result = (flags & MINMAX_MAX ? x > y : x < y) ? a : b;
    result = a_nan ? b : b_nan ? a : result;
    bool nan = flags & MINMAX_NAN ? a_nan || b_nan : a_nan && b_nan;
    if (flags & MINMAX_XORSIGN)
        result = (result & 0x7fffffffu) | sign;
    return nan ? 0x7fffffffu : result;
}
LANEWISE(minmax_f32, uint32_t, uint32_t,
         op->flags &MINMAX_THREE ? pick_f32(pick_f32(a, b, op->flags), c, op->flags)
                                 : pick_f32(a, b, op->flags))

/* --- f64 -------------------------------------------------------------------------- */

#define DOUBLE_OP(name, expr)                                                \
    static void name##_f64(struct warp *w, const struct op *op)              \
    {                                                                        \
        const double *sa = (const double *)(const void *)row64(w, op->s[0]); \
        const double *sb = (const double *)(const void *)row64(w, op->s[1]); \
        const double *sc = (const double *)(const void *)row64(w, op->s[2]); \
        double *d = (double *)(void *)row64(w, op->d);                       \
        uint32_t mask = w->mask;                                             \
        (void)sb, (void)sc;                                                  \
        for (int l = 0; l < LANES; l++) {                                    \
            double a = sa[l], b = sb[l], c = sc[l];                          \
            (void)b, (void)c;                                                \
            double v = (expr);                                               \
            if (mask >> l & 1)                                               \
                d[l] = v;                                                    \
        }                                                                    \
    }
DOUBLE_OP(add, a + b)
DOUBLE_OP(sub, a - b)
DOUBLE_OP(mul, a *b)
DOUBLE_OP(fma, __builtin_fma(a, b, c))
DOUBLE_OP(div, a / b)
DOUBLE_OP(rcp, 1.0 / a)
DOUBLE_OP(sqrt, __builtin_sqrt(a))
DOUBLE_OP(rsqrt, 1.0 / __builtin_sqrt(a))
LANEWISE(neg_f64, uint64_t, uint64_t, a ^ 0x8000000000000000u)
LANEWISE(abs_f64, uint64_t, uint64_t, a & 0x7fffffffffffffffu)
LANEWISE(copysign_f64, uint64_t, uint64_t,
         (b & 0x7fffffffffffffffu) | (a & 0x8000000000000000u))

static inline uint64_t pick_f64(uint64_t a, uint64_t b, bool max)
{
    bool a_nan = (a & INT64_MAX) > 0x7ff0000000000000u;
    bool b_nan = (b & INT64_MAX) > 0x7ff0000000000000u;
    int64_t x = (int64_t)(a ^ ((uint64_t)((int64_t)a >> 63) >> 1));
    int64_t y = (int64_t)(b ^ ((uint64_t)((int64_t)b >> 63) >> 1));
    uint64_t result = (max ? x > y : x < y) ? a : b;
    return a_nan && b_nan ? 0x7fffffffffffffffu : a_nan ? b : b_nan ? a : result;
}
LANEWISE(min_f64, uint64_t, uint64_t, pick_f64(a, b, false))
LANEWISE(max_f64, uint64_t, uint64_t, pick_f64(a, b, true))

/* --- rounding modes --------------------------------------------------------------- */

struct rounded {
    exec_fn *fn;
    int mode;
};

/* The executor is called through a pointer, so the compiler cannot move its
 * arithmetic across the change of mode. */
static void round_directed(struct warp *w, const struct op *op)
{
    const struct rounded *rounded = op->extra;
    fesetround(rounded->mode);
    rounded->fn(w, op);
    fesetround(FE_TONEAREST);
}

static bool set_rounding(struct decoder *dec, const struct mods *mods, struct op *op)
{
    static const int modes[] = {
        [RND_RZ] = FE_TOWARDZERO, [RND_RM] = FE_DOWNWARD, [RND_RP] = FE_UPWARD};
    if (mods->round == RND_NONE || mods->round == RND_RN)
        return true;
    if (mods->round > RND_RP)
        return decode_fail(dec, "a rounding mode for integers");
    struct rounded *rounded = decode_alloc(dec, sizeof *rounded);
    rounded->fn = op->fn;
    rounded->mode = modes[mods->round];
    op->extra = rounded;
    op->fn = round_directed;
    return true;
}

/* --- testp ------------------------------------------------------------------------ */

static const char *const test_names[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};

static bool test_float(uint64_t bits, int exponent_bits, int width, int test)
{
    uint64_t magnitude = bits & (((uint64_t)1 << (width - 1)) - 1);
    int fraction = width - 1 - exponent_bits;
    uint64_t infinity = (((uint64_t)1 << exponent_bits) - 1) << fraction;
    uint64_t least = (uint64_t)1 << fraction;
    switch (test) {
    case 0:
        return magnitude < infinity;
    case 1:
        return magnitude == infinity;
    case 2:
        return magnitude <= infinity;
    case 3:
        return magnitude > infinity;
    case 4:
        return magnitude >= least && magnitude < infinity;
    default:
        return magnitude != 0 && magnitude < least;
    }
}

static void testp(struct warp *w, const struct op *op)
{
    uint32_t *d = pred(w, op->d), value = 0;
    for (int l = 0; l < LANES; l++) {
        uint64_t bits = op->width == 8 ? row64(w, op->s[0])[l] : row32(w, op->s[0])[l];
        bool hit = op->width == 8 ? test_float(bits, 11, 64, (int)op->imm)
                                  : test_float(bits, 8, 32, (int)op->imm);
        value |= (uint32_t)hit << l;
    }
    *d = (*d & ~w->mask) | (value & w->mask);
}

/* --- decode ------------------------------------------------------------------------ */

struct float_row {
    const char *base;
    exec_fn *f32, *f32x, *f64;
    int flops; /* a lane */
    enum sim_pipe pipe;
};

static const struct float_row float_rows[] = {
    {"add", add_f32, add_f32x, add_f64, 1, SIM_PIPE_FMA},
    {"sub", sub_f32, sub_f32x, sub_f64, 1, SIM_PIPE_FMA},
    {"mul", mul_f32, mul_f32x, mul_f64, 1, SIM_PIPE_FMA},
    {"fma", fma_f32, fma_f32x, fma_f64, 2, SIM_PIPE_FMA},
    {"mad", fma_f32, fma_f32x, fma_f64, 2, SIM_PIPE_FMA},
    {"div", div_f32, div_f32x, div_f64, 1, SIM_PIPE_XU},
    {"rcp", rcp_f32, rcp_f32x, rcp_f64, 1, SIM_PIPE_XU},
    {"sqrt", sqrt_f32, sqrt_f32x, sqrt_f64, 1, SIM_PIPE_XU},
    {"rsqrt", rsqrt_f32, rsqrt_f32x, rsqrt_f64, 1, SIM_PIPE_XU},
    {"ex2", ex2_f32, ex2_f32x, NULL, 1, SIM_PIPE_XU},
    {"lg2", lg2_f32, lg2_f32x, NULL, 1, SIM_PIPE_XU},
    {"sin", sin_f32, sin_f32x, NULL, 1, SIM_PIPE_XU},
    {"cos", cos_f32, cos_f32x, NULL, 1, SIM_PIPE_XU},
    {"tanh", tanh_f32, tanh_f32x, NULL, 1, SIM_PIPE_XU},
    {"neg", neg_f32, neg_f32, neg_f64, 0, SIM_PIPE_ALU},
    {"abs", abs_f32, abs_f32, abs_f64, 0, SIM_PIPE_ALU},
    {"copysign", copysign_f32, copysign_f32, copysign_f64, 0, SIM_PIPE_ALU},
};

static bool decode_float(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    const struct float_row *row = float_rows;
    while (strcmp(row->base, in->base) != 0)
        row++;
    if (type != PTX_F32 &&
        (type != PTX_F64 || mods->sat || (mods->ftz && row->pipe != SIM_PIPE_XU)))
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    if (mods->satfinite || mods->relu)
        return decode_fail(dec, "it does not take .relu or .satfinite");
    op->flags = (uint8_t)((mods->ftz ? FLOAT_FTZ : 0) | (mods->sat ? FLOAT_SAT : 0));
    op->fn = type == PTX_F64 ? row->f64 : op->flags != 0 ? row->f32x : row->f32;
    if (op->fn == NULL)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    op->pipe = (uint8_t)(type == PTX_F64 ? SIM_PIPE_FP64 : row->pipe);
    op->flops = (uint32_t)row->flops * LANES;
    return set_rounding(dec, mods, op) && decode_plain(dec, in, op, type, type);
}

static bool decode_minmax(struct decoder *dec, const struct ptx_insn *in,
                          const struct mods *mods, struct op *op)
{
    bool max = in->base[1] == 'a';
    enum ptx_type type = mods->type[0];
    if (type == PTX_F64) {
        if (mods->ftz || mods->nan || mods->xorsign_abs || in->operand_count != 3)
            return decode_fail(dec, "a modifier that f64 does not take");
        op->fn = max ? max_f64 : min_f64;
        op->pipe = SIM_PIPE_FP64;
        return decode_plain(dec, in, op, type, type);
    }
    if (type != PTX_F32)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    op->fn = minmax_f32;
    op->flags =
        (uint8_t)((mods->ftz ? FLOAT_FTZ : 0) | (mods->nan ? MINMAX_NAN : 0) |
                  (mods->xorsign_abs ? MINMAX_XORSIGN : 0) | (max ? MINMAX_MAX : 0) |
                  (in->operand_count == 4 ? MINMAX_THREE : 0));
    return decode_plain(dec, in, op, type, type);
}

static bool decode_testp(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    op->fn = testp;
    op->width = mods->type[0] == PTX_F64 ? 8 : 4;
    op->imm = 6;
    for (uint64_t i = 0; i < 6; i++)
        if (mods->word_count == 1 && strcmp(mods->word[0], test_names[i]) == 0)
            op->imm = i;
    if (op->imm == 6 || (mods->type[0] != PTX_F32 && mods->type[0] != PTX_F64))
        return decode_fail(dec, "needs a test like .finite and .f32 or .f64");
    return decode_pred(dec, &in->operand[0], &op->d, NULL) &&
           decode_src(dec, &in->operand[1], mods->type[0], &op->s[0]);
}

enum {
    ARITH = MOD_TYPE | MOD_ROUND | MOD_FTZ | MOD_SAT,
    APPROX = MOD_TYPE | MOD_ROUND | MOD_FTZ | MOD_APPROX
};
static const char f32_f64[] = ".f32 .f64";

static const struct op_row rows[] = {
    {"add", "add{.rnd}{.ftz}{.sat}.type d, a, b;", f32_f64, ARITH, SIM_PIPE_FMA, 3, 3,
     decode_float},
    {"sub", "sub{.rnd}{.ftz}{.sat}.type d, a, b;", f32_f64, ARITH, SIM_PIPE_FMA, 3, 3,
     decode_float},
    {"mul", "mul{.rnd}{.ftz}{.sat}.type d, a, b;", f32_f64, ARITH, SIM_PIPE_FMA, 3, 3,
     decode_float},
    {"fma", "fma.rnd{.ftz}{.sat}.type d, a, b, c;", f32_f64, ARITH, SIM_PIPE_FMA, 4, 4,
     decode_float},
    {"mad", "mad.rnd{.ftz}{.sat}.type d, a, b, c;", f32_f64, ARITH, SIM_PIPE_FMA, 4, 4,
     decode_float},
    {"div", "div{.rnd,.approx,.full}{.ftz}.type d, a, b;", f32_f64, APPROX, SIM_PIPE_XU,
     3, 3, decode_float},
    {"rcp", "rcp{.rnd,.approx}{.ftz}.type d, a;", f32_f64, APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"sqrt", "sqrt{.rnd,.approx}{.ftz}.type d, a;", f32_f64, APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"rsqrt", "rsqrt.approx{.ftz}.type d, a;", f32_f64, APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"ex2", "ex2.approx{.ftz}.f32 d, a;", ".f32", APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"lg2", "lg2.approx{.ftz}.f32 d, a;", ".f32", APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"sin", "sin.approx{.ftz}.f32 d, a;", ".f32", APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"cos", "cos.approx{.ftz}.f32 d, a;", ".f32", APPROX, SIM_PIPE_XU, 2, 2,
     decode_float},
    {"tanh", "tanh.approx.f32 d, a;", ".f32", APPROX, SIM_PIPE_XU, 2, 2, decode_float},
    {"neg", "neg{.ftz}.type d, a;", f32_f64, MOD_TYPE | MOD_FTZ, SIM_PIPE_ALU, 2, 2,
     decode_float},
    {"abs", "abs{.ftz}.type d, a;", f32_f64, MOD_TYPE | MOD_FTZ, SIM_PIPE_ALU, 2, 2,
     decode_float},
    {"copysign", "copysign.type d, a, b;", f32_f64, MOD_TYPE, SIM_PIPE_ALU, 3, 3,
     decode_float},
    {"min", "min{.ftz}{.NaN}{.xorsign.abs}.type d, a, b{, c};", f32_f64,
     MOD_TYPE | MOD_FTZ | MOD_NAN, SIM_PIPE_ALU, 3, 4, decode_minmax},
    {"max", "max{.ftz}{.NaN}{.xorsign.abs}.type d, a, b{, c};", f32_f64,
     MOD_TYPE | MOD_FTZ | MOD_NAN, SIM_PIPE_ALU, 3, 4, decode_minmax},
    {"testp", "testp.op.type p, a;", f32_f64, MOD_TYPE | MOD_MODE, SIM_PIPE_ALU, 2, 2,
     decode_testp},
};
const struct op_family ops_float = {rows, (int)(sizeof rows / sizeof *rows)};
