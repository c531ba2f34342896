/* ops_half.c - f16, bf16 and their pairs (PTX ISA 9.0, 9.7.4).
 *
 * An operation is done in FP32 and rounded once to 16 bits. For add, sub, mul that is
 * exact rounding, since FP32 carries more than twice the bits plus two; fma goes
 * through double, where the product and nearly every sum are exact. */
#include "numeric.h"
#include "ops.h"

enum half_what { H_ADD, H_SUB, H_MUL, H_FMA, H_NEG, H_ABS, H_MIN, H_MAX, H_EX2, H_TANH };

static const char *const names[] = {"add", "sub", "mul", "fma", "neg",
                                    "abs", "min", "max", "ex2", "tanh"};

struct half_op {
    enum half_what what;
    bool bf, pair, ftz, sat, relu, nan, xorsign;
};

static uint32_t flush_half(uint32_t h)
{
    return (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

static uint32_t pick_half(const struct half_op *o, uint32_t a, uint32_t b)
{
    uint32_t infinity = o->bf ? 0x7f80 : 0x7c00, sign = (a ^ b) & 0x8000;
    if (o->xorsign) {
        a &= 0x7fff;
        b &= 0x7fff;
    }
    bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    int x = a & 0x8000 ? -(int)(a & 0x7fff) - 1 : (int)a;
    int y = b & 0x8000 ? -(int)(b & 0x7fff) - 1 : (int)b;
    uint32_t result = (o->what == H_MAX ? x > y : x < y) ? a : b;
    if (o->nan ? a_nan || b_nan : a_nan && b_nan)
        return 0x7fff;
    result = a_nan ? b : b_nan ? a : result;
    return o->xorsign ? (result & 0x7fff) | sign : result;
}

static uint32_t one_half(const struct half_op *o, uint32_t a, uint32_t b, uint32_t c)
{
    if (o->ftz && !o->bf) {
        a = flush_half(a);
        b = flush_half(b);
        c = flush_half(c);
    }
    if (o->what == H_NEG)
        return a ^ 0x8000;
    if (o->what == H_ABS)
        return a & 0x7fff;
    if (o->what == H_MIN || o->what == H_MAX)
        return pick_half(o, a, b);
    double x = o->bf ? bfloat_value(a) : half_value(a);
    double y = o->bf ? bfloat_value(b) : half_value(b);
    double z = o->bf ? bfloat_value(c) : half_value(c);
    double value = o->what == H_ADD   ? x + y
                   : o->what == H_SUB ? x - y
                   : o->what == H_MUL ? x * y
                   : o->what == H_FMA ? x * y + z
                   : o->what == H_EX2 ? exp2(x)
                                      : tanh(x);
    /* round to odd in FP32, so that the second rounding is the only one that counts */
    float narrow = (float)value;
    uint32_t bits = f32_to_bits(narrow);
    if ((double)narrow != value && value == value && !(bits & 1)) {
        bool away = fabs((double)narrow) > fabs(value);
        bits = away ? bits - 1 : bits | 1;
    }
    uint32_t h = o->bf ? f32_to_bfloat_bits(bits) : f32_to_half_bits(bits);
    uint32_t one = o->bf ? 0x3f80 : 0x3c00;
    bool nan = value != value;
    if (o->ftz && !o->bf)
        h = flush_half(h);
    if (o->sat)
        h = nan || (h & 0x8000) ? 0 : h > one ? one : h;
    if (o->relu)
        h = nan ? 0x7fff : h & 0x8000 ? 0 : h;
    return h;
}

static void half_any(struct warp *w, const struct op *op)
{
    const struct half_op *o = op->extra;
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]),
                   *c = row32(w, op->s[2]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint32_t low = one_half(o, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff);
        uint32_t high = o->pair ? one_half(o, a[l] >> 16, b[l] >> 16, c[l] >> 16) : 0;
        d[l] = low | high << 16;
    }
}

static bool decode_half(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    if (type != PTX_F16 && type != PTX_F16X2 && type != PTX_BF16 && type != PTX_BF16X2)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    if (mods->type_count != 1)
        return decode_fail(dec, "mixed precision is not supported");
    if (mods->round != RND_NONE && mods->round != RND_RN)
        return decode_fail(dec, "only .rn");
    struct half_op *o = decode_alloc(dec, sizeof *o);
    *o = (struct half_op){.bf = type == PTX_BF16 || type == PTX_BF16X2,
                          .pair = type == PTX_F16X2 || type == PTX_BF16X2,
                          .ftz = mods->ftz,
                          .sat = mods->sat,
                          .relu = mods->relu,
                          .nan = mods->nan,
                          .xorsign = mods->xorsign_abs};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(names[i], in->base) == 0)
            o->what = (enum half_what)i;
    op->fn = half_any;
    op->extra = o;
    op->flops = (o->what == H_FMA ? 2 : 1) * (o->pair ? 2 : 1) * LANES;
    enum ptx_type as = o->pair ? PTX_B32 : PTX_B16;
    return decode_plain(dec, in, op, as, as);
}

static const char half_types[] = ".f16 .f16x2 .bf16 .bf16x2";
enum { HALF = MOD_TYPE | MOD_TYPE2 | MOD_ROUND | MOD_FTZ | MOD_SAT };

static const struct op_row rows[] = {
    {"add", "add{.rn}{.ftz}{.sat}.type d, a, b;", half_types, HALF, SIM_PIPE_FP16, 3, 3,
     decode_half},
    {"sub", "sub{.rn}{.ftz}{.sat}.type d, a, b;", half_types, HALF, SIM_PIPE_FP16, 3, 3,
     decode_half},
    {"mul", "mul{.rn}{.ftz}{.sat}.type d, a, b;", half_types, HALF, SIM_PIPE_FP16, 3, 3,
     decode_half},
    {"fma", "fma.rn{.ftz}{.sat,.relu}.type d, a, b, c;", half_types, HALF, SIM_PIPE_FP16,
     4, 4, decode_half},
    {"neg", "neg{.ftz}.type d, a;", half_types, HALF, SIM_PIPE_FP16, 2, 2, decode_half},
    {"abs", "abs{.ftz}.type d, a;", half_types, HALF, SIM_PIPE_FP16, 2, 2, decode_half},
    {"min", "min{.ftz}{.NaN}{.xorsign.abs}.type d, a, b;", half_types, HALF | MOD_NAN,
     SIM_PIPE_FP16, 3, 3, decode_half},
    {"max", "max{.ftz}{.NaN}{.xorsign.abs}.type d, a, b;", half_types, HALF | MOD_NAN,
     SIM_PIPE_FP16, 3, 3, decode_half},
    {"ex2", "ex2.approx{.ftz}.type d, a;", half_types, HALF | MOD_APPROX, SIM_PIPE_XU, 2,
     2, decode_half},
    {"tanh", "tanh.approx.type d, a;", half_types, HALF | MOD_APPROX, SIM_PIPE_XU, 2, 2,
     decode_half},
};
const struct op_family ops_half = {rows, (int)(sizeof rows / sizeof *rows)};
