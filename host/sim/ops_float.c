/* ops_float.c - f32 and f64 arithmetic (PTX ISA 9.0, 9.7.3).
 *
 * Results follow IEEE 754. A NaN result in f32 is 0x7fffffff; in f64 it is the first
 * NaN operand made quiet, or 0xfff8000000000000. Rounding modes other than .rn switch
 * the host's mode around the .rn executor. .approx and .full of div, rcp and sqrt are
 * rounded correctly; the other approximations are those of approx.h. */
#include <fenv.h>

#include "approx.h"
#include "ops.h"

/* --- f32 -------------------------------------------------------------------------- */

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

/* Three executors, so that the usual two have no choices left in their loops: plain,
 * .ftz, and any mixture of .ftz and .sat. formula(x, y, z) is on floats. */
#define FLOAT_FORM(name, formula, flags) \
    LANEWISE(                            \
        name, uint32_t, uint32_t,        \
        out_f32(formula(in_f32(a, flags), in_f32(b, flags), in_f32(c, flags)), flags))
#define FLOAT_OP(name, formula)                    \
    FLOAT_FORM(name##_f32, formula, 0)             \
    FLOAT_FORM(name##_f32_ftz, formula, FLOAT_FTZ) \
    FLOAT_FORM(name##_f32_any, formula, op->flags)

#define ADD(x, y, z) ((x) + (y))
#define SUB(x, y, z) ((x) - (y))
#define MUL(x, y, z) ((x) * (y))
#define FMA(x, y, z) __builtin_fmaf(x, y, z)
#define DIV(x, y, z) ((x) / (y))
#define RCP(x, y, z) (1.0f / (x))
#define SQRT(x, y, z) __builtin_sqrtf(x)
#define RSQRT(x, y, z) ((float)approx_rsqrt((double)(x)))
#define EX2(x, y, z) ((float)approx_exp2((double)(x)))
#define LG2(x, y, z) ((float)approx_log2((double)(x)))
#define SIN(x, y, z) ((float)approx_sin((double)(x)))
#define COS(x, y, z) ((float)approx_cos((double)(x)))
#define TANH(x, y, z) ((float)approx_tanh((double)(x)))
FLOAT_OP(add, ADD)
FLOAT_OP(sub, SUB)
FLOAT_OP(mul, MUL)
FLOAT_OP(fma, FMA)
FLOAT_OP(div, DIV)
FLOAT_OP(rcp, RCP)
FLOAT_OP(sqrt, SQRT)
FLOAT_OP(rsqrt, RSQRT)
FLOAT_OP(ex2, EX2)
FLOAT_OP(lg2, LG2)
FLOAT_OP(sin, SIN)
FLOAT_OP(cos, COS)
FLOAT_OP(tanh, TANH)

#define SIGN32 0x80000000u
LANEWISE(neg_f32, uint32_t, uint32_t, a ^ SIGN32)
LANEWISE(abs_f32, uint32_t, uint32_t, a & ~SIGN32)
LANEWISE(neg_f32_ftz, uint32_t, uint32_t, flush_bits(a) ^ SIGN32)
LANEWISE(abs_f32_ftz, uint32_t, uint32_t, flush_bits(a) & ~SIGN32)
LANEWISE(copysign_f32, uint32_t, uint32_t, (b & ~SIGN32) | (a & SIGN32))

/* A number wins over NaN unless .NaN; -0 < +0. */
enum { MINMAX_NAN = 4, MINMAX_XORSIGN = 8, MINMAX_MAX = 16 };

static inline uint32_t pick_f32(uint32_t a, uint32_t b, int flags)
{
    uint32_t sign = (a ^ b) & SIGN32, infinity = 0x7f800000u;
    a = flags & FLOAT_FTZ ? flush_bits(a) : a;
    b = flags & FLOAT_FTZ ? flush_bits(b) : b;
    a = flags & MINMAX_XORSIGN ? a & ~SIGN32 : a;
    b = flags & MINMAX_XORSIGN ? b & ~SIGN32 : b;
    /* order as integers: flip all but the sign of negative numbers */
    int32_t x = (int32_t)(a ^ ((uint32_t)((int32_t)a >> 31) >> 1));
    int32_t y = (int32_t)(b ^ ((uint32_t)((int32_t)b >> 31) >> 1));
    uint32_t result = (flags & MINMAX_MAX ? x > y : x < y) ? a : b;
    result = (b & ~SIGN32) > infinity ? a : result;
    result = (a & ~SIGN32) > infinity ? b : result;
    if (flags & MINMAX_NAN)
        result = (b & ~SIGN32) > infinity ? b : (a & ~SIGN32) > infinity ? a : result;
    uint32_t number = flags & MINMAX_XORSIGN ? (result & ~SIGN32) | sign : result;
    return (result & ~SIGN32) > infinity ? 0x7fffffffu : number;
}
LANEWISE(min_f32, uint32_t, uint32_t, pick_f32(a, b, 0))
LANEWISE(max_f32, uint32_t, uint32_t, pick_f32(a, b, MINMAX_MAX))
LANEWISE(minmax_f32, uint32_t, uint32_t, pick_f32(a, b, op->flags))
LANEWISE(minmax3_f32, uint32_t, uint32_t,
         pick_f32(pick_f32(a, b, op->flags), c, op->flags))

/* --- f64 -------------------------------------------------------------------------- */

#define SIGN64 0x8000000000000000u
#define INFINITY64 0x7ff0000000000000u

static inline bool is_nan64(uint64_t bits)
{
    return (bits & ~SIGN64) > INFINITY64;
}
static inline uint64_t out_f64(double value, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t nan = is_nan64(c) ? c : 0xfff8000000000000u;
    nan = is_nan64(b) ? b : nan;
    nan = is_nan64(a) ? a : nan;
    return value != value ? nan | 0x0008000000000000u : f64_to_bits(value);
}
#define D(x) bits_to_f64(x)
LANEWISE(add_f64, uint64_t, uint64_t, out_f64(D(a) + D(b), a, b, 0))
LANEWISE(sub_f64, uint64_t, uint64_t, out_f64(D(a) - D(b), a, b, 0))
LANEWISE(mul_f64, uint64_t, uint64_t, out_f64(D(a) * D(b), a, b, 0))
LANEWISE(fma_f64, uint64_t, uint64_t, out_f64(__builtin_fma(D(a), D(b), D(c)), a, b, c))
LANEWISE(div_f64, uint64_t, uint64_t, out_f64(D(a) / D(b), a, b, 0))
LANEWISE(rcp_f64, uint64_t, uint64_t, out_f64(1.0 / D(a), a, 0, 0))
LANEWISE(sqrt_f64, uint64_t, uint64_t, out_f64(__builtin_sqrt(D(a)), a, 0, 0))
LANEWISE(rsqrt_f64, uint64_t, uint64_t, out_f64(approx_rsqrt(D(a)), a, 0, 0))
LANEWISE(neg_f64, uint64_t, uint64_t, a ^ SIGN64)
LANEWISE(abs_f64, uint64_t, uint64_t, a & ~SIGN64)
LANEWISE(copysign_f64, uint64_t, uint64_t, (b & ~SIGN64) | (a & SIGN64))

/* rcp and rsqrt .approx.ftz.f64 know the upper 32 bits of their operand and result. */
static inline uint64_t coarse_f64(uint64_t bits)
{
    return (bits & INFINITY64) == 0 ? bits & SIGN64 : bits & 0xffffffff00000000u;
}
LANEWISE(rcp_f64_coarse, uint64_t, uint64_t,
         coarse_f64(out_f64(1.0 / D(coarse_f64(a)), a, 0, 0)))
LANEWISE(rsqrt_f64_coarse, uint64_t, uint64_t,
         coarse_f64(out_f64(approx_rsqrt(D(coarse_f64(a))), a, 0, 0)))

static inline uint64_t pick_f64(uint64_t a, uint64_t b, bool max)
{
    int64_t x = (int64_t)(a ^ ((uint64_t)((int64_t)a >> 63) >> 1));
    int64_t y = (int64_t)(b ^ ((uint64_t)((int64_t)b >> 63) >> 1));
    uint64_t result = (max ? x > y : x < y) ? a : b;
    result = is_nan64(b) ? a : result;
    result = is_nan64(a) ? b : result;
    return is_nan64(result) ? 0x7fffffffffffffffu : result;
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
    exec_fn *f32, *ftz, *any, *f64, *coarse;
    int flops; /* a lane */
    enum sim_pipe pipe;
    bool approx; /* exists with .approx only */
};

#define F32_FORMS(name) name##_f32, name##_f32_ftz, name##_f32_any
static const struct float_row float_rows[] = {
    {"add", F32_FORMS(add), add_f64, NULL, 1, SIM_PIPE_FMA, false},
    {"sub", F32_FORMS(sub), sub_f64, NULL, 1, SIM_PIPE_FMA, false},
    {"mul", F32_FORMS(mul), mul_f64, NULL, 1, SIM_PIPE_FMA, false},
    {"fma", F32_FORMS(fma), fma_f64, NULL, 2, SIM_PIPE_FMA, false},
    {"mad", F32_FORMS(fma), fma_f64, NULL, 2, SIM_PIPE_FMA, false},
    {"div", F32_FORMS(div), div_f64, NULL, 1, SIM_PIPE_XU, false},
    {"rcp", F32_FORMS(rcp), rcp_f64, rcp_f64_coarse, 1, SIM_PIPE_XU, false},
    {"sqrt", F32_FORMS(sqrt), sqrt_f64, NULL, 1, SIM_PIPE_XU, false},
    {"rsqrt", F32_FORMS(rsqrt), rsqrt_f64, rsqrt_f64_coarse, 1, SIM_PIPE_XU, true},
    {"ex2", F32_FORMS(ex2), NULL, NULL, 1, SIM_PIPE_XU, true},
    {"lg2", F32_FORMS(lg2), NULL, NULL, 1, SIM_PIPE_XU, true},
    {"sin", F32_FORMS(sin), NULL, NULL, 1, SIM_PIPE_XU, true},
    {"cos", F32_FORMS(cos), NULL, NULL, 1, SIM_PIPE_XU, true},
    {"tanh", F32_FORMS(tanh), NULL, NULL, 1, SIM_PIPE_XU, true},
    {"neg", neg_f32, neg_f32_ftz, NULL, neg_f64, NULL, 0, SIM_PIPE_ALU, false},
    {"abs", abs_f32, abs_f32_ftz, NULL, abs_f64, NULL, 0, SIM_PIPE_ALU, false},
    {"copysign", copysign_f32, NULL, NULL, copysign_f64, NULL, 0, SIM_PIPE_ALU, false},
};

static bool decode_float(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    const struct float_row *row = float_rows;
    while (strcmp(row->base, in->base) != 0)
        row++;
    if (mods->satfinite || mods->relu)
        return decode_fail(dec, "it does not take .relu or .satfinite");
    if (mods->round != RND_NONE && (row->approx || mods->approx || mods->full))
        return decode_fail(dec, "an approximation takes no rounding mode");
    op->flags = (uint8_t)((mods->ftz ? FLOAT_FTZ : 0) | (mods->sat ? FLOAT_SAT : 0));
    if (type == PTX_F32)
        op->fn = mods->sat ? row->any : mods->ftz ? row->ftz : row->f32;
    else if (type == PTX_F64 && !mods->sat)
        op->fn = mods->ftz ? row->coarse : row->f64;
    if (op->fn == NULL)
        return decode_fail(dec, "not for type .%s%s", ptx_type_name(type),
                           op->flags != 0 ? " with .ftz or .sat" : "");
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
    op->flags =
        (uint8_t)((mods->ftz ? FLOAT_FTZ : 0) | (mods->nan ? MINMAX_NAN : 0) |
                  (mods->xorsign_abs ? MINMAX_XORSIGN : 0) | (max ? MINMAX_MAX : 0));
    if (in->operand_count == 4 && decode_module_of(dec)->target_sm < 100)
        return decode_fail(dec, "three sources need .target sm_100");
    op->fn = in->operand_count == 4    ? minmax3_f32
             : op->flags == 0          ? min_f32
             : op->flags == MINMAX_MAX ? max_f32
                                       : minmax_f32;
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
