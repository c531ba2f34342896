/* ops_compare.c - set and setp (PTX ISA 9.0, 9.7.6 and 9.7.7). */
#include "numeric.h"
#include "ops.h"

#define U16(x) ((uint32_t)(uint16_t)(x))
#define S16(x) ((int32_t)(int16_t)(x))

/* Comparison as three bits: less, equal, greater; unordered counts as none and is
 * added by the u-forms. */
enum { IS_LT = 1, IS_EQ = 2, IS_GT = 4, IS_UN = 8 };

static int compare_mask(enum mod_cmp cmp)
{
    static const uint8_t masks[] = {[CMP_EQ] = IS_EQ,
                                    [CMP_NE] = IS_LT | IS_GT,
                                    [CMP_LT] = IS_LT,
                                    [CMP_LE] = IS_LT | IS_EQ,
                                    [CMP_GT] = IS_GT,
                                    [CMP_GE] = IS_GT | IS_EQ,
                                    [CMP_LO] = IS_LT,
                                    [CMP_LS] = IS_LT | IS_EQ,
                                    [CMP_HI] = IS_GT,
                                    [CMP_HS] = IS_GT | IS_EQ,
                                    [CMP_EQU] = IS_EQ | IS_UN,
                                    [CMP_NEU] = IS_LT | IS_GT | IS_UN,
                                    [CMP_LTU] = IS_LT | IS_UN,
                                    [CMP_LEU] = IS_LT | IS_EQ | IS_UN,
                                    [CMP_GTU] = IS_GT | IS_UN,
                                    [CMP_GEU] = IS_GT | IS_EQ | IS_UN,
                                    [CMP_NUM] = IS_LT | IS_EQ | IS_GT,
                                    [CMP_NAN] = IS_UN};
    return cmp == CMP_NONE ? 0 : masks[cmp];
}

/* One bit a lane where the comparison holds. op->imm: mask of outcomes. */
#define COMPARE(name, T, CT, conv)                                                  \
    static uint32_t name(const struct warp *w, const struct op *op)                 \
    {                                                                               \
        const T *sa = (const T *)(const void *)(w->rows + op->s[0]);                \
        const T *sb = (const T *)(const void *)(w->rows + op->s[1]);                \
        uint32_t lt = 0, eq = 0, gt = 0;                                            \
        for (uint32_t l = 0; l < LANES; l++) {                                      \
            CT a = conv(sa[l]), b = conv(sb[l]);                                    \
            lt |= (uint32_t)(a < b) << l;                                           \
            eq |= (uint32_t)(a == b) << l;                                          \
            gt |= (uint32_t)(a > b) << l;                                           \
        }                                                                           \
        uint64_t m = op->imm;                                                       \
        return (m & IS_LT ? lt : 0) | (m & IS_EQ ? eq : 0) | (m & IS_GT ? gt : 0) | \
               (m & IS_UN ? ~(lt | eq | gt) : 0);                                   \
    }
#define AS_F32(x) bits_to_f32(x)
#define AS_F32_FTZ(x) bits_to_f32(flush_bits(x))
#define AS_F64(x) bits_to_f64(x)
#define AS_HALF(x) half_value(U16(x))
#define AS_BFLOAT(x) bfloat_value(U16(x))
COMPARE(compare_u16, uint32_t, uint32_t, U16)
COMPARE(compare_s16, uint32_t, int32_t, S16)
COMPARE(compare_u32, uint32_t, uint32_t, (uint32_t))
COMPARE(compare_s32, uint32_t, int32_t, (int32_t))
COMPARE(compare_u64, uint64_t, uint64_t, (uint64_t))
COMPARE(compare_s64, uint64_t, int64_t, (int64_t))
COMPARE(compare_f32, uint32_t, float, AS_F32)
COMPARE(compare_f32_ftz, uint32_t, float, AS_F32_FTZ)
COMPARE(compare_f64, uint64_t, double, AS_F64)
COMPARE(compare_f16, uint32_t, float, AS_HALF)
COMPARE(compare_bf16, uint32_t, float, AS_BFLOAT)
#define AS_HALF_HIGH(x) half_value((x) >> 16)
#define AS_BFLOAT_HIGH(x) bfloat_value((x) >> 16)
#define FLUSH_HALF(x) half_value((x) & ((x)&0x7c00u ? 0xffffu : 0x8000u))
#define AS_HALF_FTZ(x) FLUSH_HALF(U16(x))
#define AS_HALF_HIGH_FTZ(x) FLUSH_HALF((x) >> 16)
COMPARE(compare_f16_ftz, uint32_t, float, AS_HALF_FTZ)
COMPARE(compare_f16_high_ftz, uint32_t, float, AS_HALF_HIGH_FTZ)
COMPARE(compare_f16_high, uint32_t, float, AS_HALF_HIGH)
COMPARE(compare_bf16_high, uint32_t, float, AS_BFLOAT_HIGH)

typedef uint32_t compare_fn(const struct warp *w, const struct op *op);

/* What setp and set need besides the rows. */
struct comparison {
    compare_fn *low, *high; /* high: second half of a x2 type */
    uint8_t boolean;        /* enum mod_bool with predicate s[2] */
    uint8_t negated;        /* of s[2] */
    enum ptx_type out;      /* set: type of the result */
};

static uint32_t combine(const struct comparison *c, uint32_t result, uint32_t with)
{
    with = c->negated ? ~with : with;
    return c->boolean == BOOL_AND   ? result & with
           : c->boolean == BOOL_OR  ? result | with
           : c->boolean == BOOL_XOR ? result ^ with
                                    : result;
}

static void setp(struct warp *w, const struct op *op)
{
    const struct comparison *c = op->extra;
    uint32_t mask = w->mask, result = c->low(w, op);
    uint32_t second = c->high != NULL ? c->high(w, op) : ~result;
    if (c->boolean != BOOL_NONE) {
        uint32_t with = *pred(w, op->s[2]);
        result = combine(c, result, with);
        second = combine(c, second, with);
    }
    uint32_t *p = pred(w, op->d);
    *p = (*p & ~mask) | (result & mask);
    p = pred(w, op->d2);
    *p = (*p & ~mask) | (second & mask);
}

/* setp with one destination and no combination: nearly all of them */
static void setp_plain(struct warp *w, const struct op *op)
{
    const struct comparison *c = op->extra;
    uint32_t mask = w->mask, *p = pred(w, op->d);
    *p = (*p & ~mask) | (c->low(w, op) & mask);
}

static void set_value(struct warp *w, const struct op *op)
{
    const struct comparison *c = op->extra;
    uint32_t result = c->low(w, op), high = c->high != NULL ? c->high(w, op) : 0;
    if (c->boolean != BOOL_NONE) {
        uint32_t with = *pred(w, op->s[2]);
        result = combine(c, result, with);
        high = c->high != NULL ? combine(c, high, with) : 0;
    }
    uint32_t one = c->out == PTX_F32                            ? 0x3f800000u
                   : c->out == PTX_F16 || c->out == PTX_F16X2   ? 0x3c00u
                   : c->out == PTX_BF16 || c->out == PTX_BF16X2 ? 0x3f80u
                   : c->out == PTX_U16 || c->out == PTX_S16 || c->high != NULL
                       ? 0xffffu
                       : 0xffffffffu;
    uint32_t *d = row32(w, op->d);
    uint32_t mask = w->mask;
    for (int l = 0; l < LANES; l++) {
        uint32_t value = (result >> l & 1) * one | (high >> l & 1) * (one << 16);
        d[l] = mask >> l & 1 ? value : d[l];
    }
}

/* Which comparisons a type has: outcomes as bits, b: equality only. */
enum { EQUALITY = 1, ORDER = 2, UNSIGNED = 4, FLOAT = 8 };

static bool has_comparison(enum mod_cmp cmp, int kinds)
{
    int kind = cmp == CMP_EQ || cmp == CMP_NE   ? EQUALITY
               : cmp >= CMP_LT && cmp <= CMP_GE ? ORDER
               : cmp >= CMP_LO && cmp <= CMP_HS ? UNSIGNED
                                                : FLOAT;
    return cmp != CMP_NONE && (kind & kinds) != 0;
}

static bool find_compare(const struct mods *mods, enum ptx_type type,
                         struct comparison *c)
{
    enum { INTEGER = EQUALITY | ORDER, REAL = EQUALITY | ORDER | FLOAT };
    static const struct {
        enum ptx_type type;
        int kinds;
        compare_fn *low, *high, *low_ftz, *high_ftz;
    } table[] = {
        {PTX_B16, EQUALITY, compare_u16, NULL, NULL, NULL},
        {PTX_U16, INTEGER | UNSIGNED, compare_u16, NULL, NULL, NULL},
        {PTX_S16, INTEGER, compare_s16, NULL, NULL, NULL},
        {PTX_B32, EQUALITY, compare_u32, NULL, NULL, NULL},
        {PTX_U32, INTEGER | UNSIGNED, compare_u32, NULL, NULL, NULL},
        {PTX_S32, INTEGER, compare_s32, NULL, NULL, NULL},
        {PTX_B64, EQUALITY, compare_u64, NULL, NULL, NULL},
        {PTX_U64, INTEGER | UNSIGNED, compare_u64, NULL, NULL, NULL},
        {PTX_S64, INTEGER, compare_s64, NULL, NULL, NULL},
        {PTX_F32, REAL, compare_f32, NULL, compare_f32_ftz, NULL},
        {PTX_F64, REAL, compare_f64, NULL, NULL, NULL},
        {PTX_F16, REAL, compare_f16, NULL, compare_f16_ftz, NULL},
        {PTX_BF16, REAL, compare_bf16, NULL, NULL, NULL},
        {PTX_F16X2, REAL, compare_f16, compare_f16_high, compare_f16_ftz,
         compare_f16_high_ftz},
        {PTX_BF16X2, REAL, compare_bf16, compare_bf16_high, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].type == type && has_comparison(mods->cmp, table[i].kinds)) {
            c->low = mods->ftz ? table[i].low_ftz : table[i].low;
            c->high = mods->ftz ? table[i].high_ftz : table[i].high;
            return c->low != NULL;
        }
    return false;
}

static bool decode_compare(struct decoder *dec, const struct ptx_insn *in,
                           const struct mods *mods, struct op *op)
{
    bool to_pred = strcmp(in->base, "setp") == 0;
    enum ptx_type type = mods->type[to_pred ? 0 : 1];
    struct comparison *c = decode_alloc(dec, sizeof *c);
    bool negated = false;
    if (!find_compare(mods, type, c) || mods->type_count != (to_pred ? 1 : 2))
        return decode_fail(dec, "not for this comparison and type");
    c->boolean = (uint8_t)mods->boolean;
    c->out = mods->type[0];
    op->imm = (uint64_t)compare_mask(mods->cmp);
    op->extra = c;
    if ((mods->boolean != BOOL_NONE) != (in->operand_count == 4))
        return decode_fail(dec, "a predicate goes with .and, .or or .xor");
    if (!decode_src(dec, &in->operand[1], type, &op->s[0]) ||
        !decode_src(dec, &in->operand[2], type, &op->s[1]) ||
        (mods->boolean != BOOL_NONE &&
         !decode_pred(dec, &in->operand[3], &op->s[2], &negated)))
        return false;
    c->negated = negated;
    if (!to_pred) {
        static const enum ptx_type outs[] = {PTX_U32,  PTX_S32,   PTX_F32,
                                             PTX_U16,  PTX_S16,   PTX_F16,
                                             PTX_BF16, PTX_F16X2, PTX_BF16X2};
        bool known = false;
        for (size_t i = 0; i < sizeof outs / sizeof *outs; i++)
            known |= outs[i] == c->out;
        if (!known)
            return decode_fail(dec, "the result cannot be .%s", ptx_type_name(c->out));
        op->fn = set_value;
        return decode_dst(dec, &in->operand[0], mods->type[0], &op->d);
    }
    bool plain = in->operand[0].reg2 < 0 && mods->boolean == BOOL_NONE && c->high == NULL;
    op->fn = plain ? setp_plain : setp;
    return decode_pred(dec, &in->operand[0], &op->d, NULL) &&
           decode_pred2(dec, &in->operand[0], &op->d2);
}

static const char any_type[] =
    ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32 .f64";

static const struct op_row rows[] = {
    {"setp", "setp.cmp{.bool}{.ftz}.type p{|q}, a, b{, c};", any_type,
     MOD_TYPE | MOD_CMP | MOD_BOOL | MOD_FTZ, SIM_PIPE_ALU, 3, 4, decode_compare},
    {"set", "set.cmp{.bool}{.ftz}.dtype.type d, a, b{, c};", any_type,
     MOD_TYPE | MOD_TYPE2 | MOD_CMP | MOD_BOOL | MOD_FTZ, SIM_PIPE_ALU, 3, 4,
     decode_compare},
};
const struct op_family ops_compare = {rows, (int)(sizeof rows / sizeof *rows)};
