/* ops_half.c - f16, bf16 and their pairs (PTX ISA 9.0, 9.7.4).
 *
 * An operation is done in FP32 or FP64 and rounded once to 16 bits. Sums of two fit
 * FP32 well enough for that: it has more than twice the bits plus two; so do products of
 * FP16 values. Sums of three are rounded to odd on the way, so that the last rounding is
 * the only one that counts. BF16 reaches as far as FP32: near its ends FP64 is used.
 *
 * All executors compute both halves of a 32-bit lane; op->imm keeps the low one of a
 * single value. */
#include "approx.h"
#include "half_row.h"
#include "ops.h"

enum {
    HALF_FTZ = 1,
    HALF_SAT = 2,
    HALF_RELU = 4,
    HALF_NAN = 8,
    HALF_XORSIGN = 16,
};

/* bf: BF16, else FP16. It is a constant in every use. */
static inline float half_in(uint32_t bits, bool bf, int flags)
{
    uint32_t exponent = bf ? 0x7f80 : 0x7c00;
    bits = (flags & HALF_FTZ) && (bits & exponent) == 0 ? bits & 0x8000 : bits;
    return bf ? bfloat_value(bits) : half_value(bits);
}

static inline uint32_t half_out(uint32_t f32_bits, bool bf, int flags)
{
    uint32_t h = bf ? f32_to_bfloat_bits(f32_bits) : f32_to_half_bits(f32_bits);
    uint32_t infinity = bf ? 0x7f80 : 0x7c00, one = bf ? 0x3f80 : 0x3c00;
    uint32_t nan = (h & 0x7fff) > infinity;
    if (flags & HALF_FTZ)
        h = (h & infinity) == 0 ? h & 0x8000 : h;
    if (flags & HALF_SAT) {
        h = h > one ? (h & 0x8000 ? 0 : one) : h;
        h = nan ? 0 : h;
    }
    if (flags & HALF_RELU)
        h = h & 0x8000 ? 0 : h;
    return h;
}

/* --- arithmetic, eight values at a time ------------------------------------------------ */

/* Subnormals to zero, signs kept. */
static inline half_bits halves_flushed(half_bits h, bool bf)
{
    const uint16_t exponent = bf ? 0x7f80 : 0x7c00;
    half_bits tiny = (half_bits)((h & exponent) == 0);
    return h & ((tiny & 0x8000) | ~tiny);
}

static inline half_floats halves_in(const uint16_t *from, bool bf, int flags)
{
    half_bits h;
    memcpy(&h, from, sizeof h);
    if (flags & HALF_FTZ)
        h = halves_flushed(h, bf);
    return bf ? bfloat_wide(h) : half_wide(h);
}

static inline void halves_out(uint16_t *to, half_floats f, bool bf, int flags)
{
    const uint16_t infinity = bf ? 0x7f80 : 0x7c00, one = bf ? 0x3f80 : 0x3c00;
    half_bits h = bf ? bfloat_narrow(f) : half_narrow(f);
    half_bits nan = (half_bits)((h & 0x7fff) > infinity);
    if (flags & HALF_FTZ)
        h = halves_flushed(h, bf);
    if (flags & HALF_SAT) {
        half_bits negative = (half_bits)((h & 0x8000) != 0), large = (half_bits)(h > one);
        h = (((h & ~large) | (one & large)) & ~negative) & ~nan;
    }
    if (flags & HALF_RELU)
        h &= ~(half_bits)((h & 0x8000) != 0);
    memcpy(to, &h, sizeof h);
}

/* One product or sum of BF16 values at the ends of its range. */
static inline float wild_product(float a, float b)
{
    return bits_to_f32(f64_to_f32_odd((double)a * (double)b));
}
static inline float wild_fma(float a, float b, float c)
{
    return bits_to_f32(f64_to_f32_odd(f64_add_odd((double)a * (double)b, (double)c)));
}

static inline half_floats halves_add(half_floats a, half_floats b, half_floats c, bool bf)
{
    (void)c, (void)bf;
    return a + b;
}
static inline half_floats halves_sub(half_floats a, half_floats b, half_floats c, bool bf)
{
    (void)c, (void)bf;
    return a - b;
}
static inline half_floats halves_mul(half_floats a, half_floats b, half_floats c, bool bf)
{
    half_floats product = a * b;
    (void)c;
    if (bf && half_any(half_wild(a) | half_wild(b)))
        for (int i = 0; i < HALVES; i++)
            product[i] = wild_product(a[i], b[i]);
    return product;
}
static inline half_floats halves_fma(half_floats a, half_floats b, half_floats c, bool bf)
{
    half_floats product = a * b;
    if (bf && half_any(half_wild(a) | half_wild(b) | half_wild(c))) {
        half_floats sum = c;
        for (int i = 0; i < HALVES; i++)
            sum[i] = wild_fma(a[i], b[i], c[i]);
        return sum;
    }
    return half_sum_odd(product, c);
}

/* --- functions, one value at a time ----------------------------------------------------- */

static inline uint32_t half_ex2(uint32_t a, uint32_t b, uint32_t c, bool bf, int flags)
{
    (void)b, (void)c;
    double value = approx_exp2((double)half_in(a, bf, flags));
    return half_out(f64_to_f32_odd(value), bf, flags);
}
static inline uint32_t half_tanh(uint32_t a, uint32_t b, uint32_t c, bool bf, int flags)
{
    (void)b, (void)c;
    double value = approx_tanh((double)half_in(a, bf, flags));
    return half_out(f64_to_f32_odd(value), bf, flags);
}

static inline uint32_t half_flush(uint32_t h, bool bf, int flags)
{
    return (flags & HALF_FTZ) && (h & (bf ? 0x7f80u : 0x7c00u)) == 0 ? h & 0x8000 : h;
}
static inline uint32_t half_neg(uint32_t a, uint32_t b, uint32_t c, bool bf, int flags)
{
    (void)b, (void)c;
    return half_flush(a, bf, flags) ^ 0x8000;
}
static inline uint32_t half_abs(uint32_t a, uint32_t b, uint32_t c, bool bf, int flags)
{
    (void)b, (void)c;
    return half_flush(a, bf, flags) & 0x7fff;
}

/* A number wins over NaN unless .NaN; -0 < +0. */
static inline uint32_t half_pick(uint32_t a, uint32_t b, bool bf, int flags, bool max)
{
    uint32_t infinity = bf ? 0x7f80 : 0x7c00, sign = (a ^ b) & 0x8000;
    a = half_flush(a, bf, flags);
    b = half_flush(b, bf, flags);
    a = flags & HALF_XORSIGN ? a & 0x7fff : a;
    b = flags & HALF_XORSIGN ? b & 0x7fff : b;
    int32_t x = a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
    int32_t y = b & 0x8000 ? -(int32_t)(b & 0x7fff) - 1 : (int32_t)b;
    uint32_t result = (max ? x > y : x < y) ? a : b;
    result = (b & 0x7fff) > infinity ? a : result;
    result = (a & 0x7fff) > infinity ? b : result;
    if (flags & HALF_NAN)
        result = (b & 0x7fff) > infinity ? b : (a & 0x7fff) > infinity ? a : result;
    uint32_t number = flags & HALF_XORSIGN ? (result & 0x7fff) | sign : result;
    return (result & 0x7fff) > infinity ? 0x7fff : number;
}
static inline uint32_t half_min(uint32_t a, uint32_t b, uint32_t c, bool bf, int flags)
{
    (void)c;
    return half_pick(a, b, bf, flags, false);
}
static inline uint32_t half_max(uint32_t a, uint32_t b, uint32_t c, bool bf, int flags)
{
    (void)c;
    return half_pick(a, b, bf, flags, true);
}

/* A row of results to the active lanes. */
static inline void put_halves(struct warp *w, const struct op *op, const uint16_t *from)
{
    uint32_t lanes[LANES], *d = row32(w, op->d), keep = (uint32_t)op->imm;
    memcpy(lanes, from, sizeof lanes);
    for (int l = 0; l < LANES; l++)
        d[l] = w->mask >> l & 1 ? lanes[l] & keep : d[l];
}

/* Two formats, each without and with modifiers. */
#define HALF_FORM(name, form, bf, flags)                            \
    LANEWISE(name, uint32_t, uint32_t,                              \
             (form(a & 0xffff, b & 0xffff, c & 0xffff, bf, flags) | \
              form(a >> 16, b >> 16, c >> 16, bf, flags) << 16) &   \
                 (uint32_t)op->imm)
#define HALF_OP(form)                              \
    HALF_FORM(form##_f16, form, false, 0)          \
    HALF_FORM(form##_f16x, form, false, op->flags) \
    HALF_FORM(form##_bf16, form, true, 0)          \
    HALF_FORM(form##_bf16x, form, true, op->flags)
HALF_OP(half_neg)
HALF_OP(half_abs)
HALF_OP(half_min)
HALF_OP(half_max)
HALF_OP(half_ex2)
HALF_OP(half_tanh)

/* The same for arithmetic. */
#define HALVES_FORM(name, form, bf, flags)                                            \
    static void name(struct warp *w, const struct op *op)                             \
    {                                                                                 \
        const uint16_t *a = (const uint16_t *)(const void *)row32(w, op->s[0]);       \
        const uint16_t *b = (const uint16_t *)(const void *)row32(w, op->s[1]);       \
        const uint16_t *c = (const uint16_t *)(const void *)row32(w, op->s[2]);       \
        uint16_t out[2 * LANES];                                                      \
        for (int i = 0; i < 2 * LANES; i += HALVES)                                   \
            halves_out(out + i,                                                       \
                       form(halves_in(a + i, bf, flags), halves_in(b + i, bf, flags), \
                            halves_in(c + i, bf, flags), bf),                         \
                       bf, flags);                                                    \
        put_halves(w, op, out);                                                       \
    }
#define HALVES_OP(form)                              \
    HALVES_FORM(form##_f16, form, false, 0)          \
    HALVES_FORM(form##_f16x, form, false, op->flags) \
    HALVES_FORM(form##_bf16, form, true, 0)          \
    HALVES_FORM(form##_bf16x, form, true, op->flags)
HALVES_OP(halves_add)
HALVES_OP(halves_sub)
HALVES_OP(halves_mul)
HALVES_OP(halves_fma)

#define FORMS(form)                   \
    {                                 \
        {form##_f16, form##_f16x},    \
        {                             \
            form##_bf16, form##_bf16x \
        }                             \
    }
static const struct {
    const char *base;
    exec_fn *fn[2][2]; /* [bf16][modifiers] */
    int flops;         /* a value */
} half_rows[] = {
    {"add", FORMS(halves_add), 1}, {"sub", FORMS(halves_sub), 1},
    {"mul", FORMS(halves_mul), 1}, {"fma", FORMS(halves_fma), 2},
    {"neg", FORMS(half_neg), 0},   {"abs", FORMS(half_abs), 0},
    {"min", FORMS(half_min), 0},   {"max", FORMS(half_max), 0},
    {"ex2", FORMS(half_ex2), 1},   {"tanh", FORMS(half_tanh), 1},
};

static bool decode_half(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    bool bf = type == PTX_BF16 || type == PTX_BF16X2;
    bool pair = type == PTX_F16X2 || type == PTX_BF16X2;
    if (type != PTX_F16 && !bf && !pair)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    if (mods->type_count != 1)
        return decode_fail(dec, "mixed precision is not supported");
    if ((mods->round != RND_NONE && mods->round != RND_RN) || mods->satfinite)
        return decode_fail(dec, "takes only .rn, and no .satfinite");
    op->flags = (uint8_t)((mods->ftz ? HALF_FTZ : 0) | (mods->sat ? HALF_SAT : 0) |
                          (mods->relu ? HALF_RELU : 0) | (mods->nan ? HALF_NAN : 0) |
                          (mods->xorsign_abs ? HALF_XORSIGN : 0));
    op->imm = pair ? 0xffffffffu : 0xffffu;
    for (size_t i = 0; i < sizeof half_rows / sizeof *half_rows; i++)
        if (strcmp(half_rows[i].base, in->base) == 0) {
            op->fn = half_rows[i].fn[bf][op->flags != 0];
            op->flops = (uint32_t)(half_rows[i].flops * (pair ? 2 : 1) * LANES);
        }
    enum ptx_type as = pair ? PTX_B32 : PTX_B16;
    return decode_plain(dec, in, op, as, as);
}

static const char half_types[] = ".f16 .f16x2 .bf16 .bf16x2";
enum {
    HALF = MOD_TYPE | MOD_TYPE2 | MOD_ROUND | MOD_FTZ | MOD_SAT,
    PLAIN = MOD_TYPE | MOD_FTZ
};

static const struct op_row rows[] = {
    {"add", "add{.rn}{.ftz}{.sat}.type d, a, b;", half_types, HALF, SIM_PIPE_FP16, 3, 3,
     decode_half},
    {"sub", "sub{.rn}{.ftz}{.sat}.type d, a, b;", half_types, HALF, SIM_PIPE_FP16, 3, 3,
     decode_half},
    {"mul", "mul{.rn}{.ftz}{.sat}.type d, a, b;", half_types, HALF, SIM_PIPE_FP16, 3, 3,
     decode_half},
    {"fma", "fma.rn{.ftz}{.sat,.relu}.type d, a, b, c;", half_types, HALF, SIM_PIPE_FP16,
     4, 4, decode_half},
    {"neg", "neg{.ftz}.type d, a;", half_types, PLAIN, SIM_PIPE_FP16, 2, 2, decode_half},
    {"abs", "abs{.ftz}.type d, a;", half_types, PLAIN, SIM_PIPE_FP16, 2, 2, decode_half},
    {"min", "min{.ftz}{.NaN}{.xorsign.abs}.type d, a, b;", half_types, PLAIN | MOD_NAN,
     SIM_PIPE_FP16, 3, 3, decode_half},
    {"max", "max{.ftz}{.NaN}{.xorsign.abs}.type d, a, b;", half_types, PLAIN | MOD_NAN,
     SIM_PIPE_FP16, 3, 3, decode_half},
    {"ex2", "ex2.approx{.ftz}.type d, a;", half_types, PLAIN | MOD_APPROX, SIM_PIPE_XU, 2,
     2, decode_half},
    {"tanh", "tanh.approx.type d, a;", half_types, MOD_TYPE | MOD_APPROX, SIM_PIPE_XU, 2,
     2, decode_half},
};
const struct op_family ops_half = {rows, (int)(sizeof rows / sizeof *rows)};
