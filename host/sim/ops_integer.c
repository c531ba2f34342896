/* ops_integer.c - integer arithmetic (PTX ISA 9.0, 9.7.1 and 9.7.2).
 *
 * Arithmetic is done in unsigned types, where overflow wraps. 16-bit operands sit in
 * 32-bit lanes, zero-extended; S16 and U16 read them. Division by zero gives all
 * ones, a remainder by zero the dividend (what the hardware's division gives). */
#include "ops.h"

#define S16(x) ((int32_t)(int16_t)(x))
#define U16(x) ((uint32_t)(uint16_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))

/* --- add sub and their like ------------------------------------------------------- */

#define INT_OP(name, expr32, expr16)                     \
    LANEWISE(name##_32, uint32_t, uint32_t, expr32)      \
    LANEWISE(name##_16, uint32_t, uint32_t, U16(expr16)) \
    LANEWISE(name##_64, uint64_t, uint64_t, expr32)

INT_OP(add, a + b, a + b)
INT_OP(sub, a - b, a - b)
INT_OP(neg, 0 - a, 0 - a)
INT_OP(mul_lo, a *b, a *b)
INT_OP(mad_lo, a *b + c, a *b + c)

LANEWISE(abs_s16, uint32_t, uint32_t, U16(S16(a) < 0 ? 0 - a : a))
LANEWISE(abs_s32, uint32_t, uint32_t, S32(a) < 0 ? 0 - a : a)
LANEWISE(abs_s64, uint64_t, uint64_t, S64(a) < 0 ? 0 - a : a)
LANEWISE(min_u16, uint32_t, uint32_t, U16(a) < U16(b) ? U16(a) : U16(b))
LANEWISE(min_s16, uint32_t, uint32_t, S16(a) < S16(b) ? U16(a) : U16(b))
LANEWISE(min_u32, uint32_t, uint32_t, a < b ? a : b)
LANEWISE(min_s32, uint32_t, uint32_t, S32(a) < S32(b) ? a : b)
LANEWISE(min_u64, uint64_t, uint64_t, a < b ? a : b)
LANEWISE(min_s64, uint64_t, uint64_t, S64(a) < S64(b) ? a : b)
LANEWISE(max_u16, uint32_t, uint32_t, U16(a) > U16(b) ? U16(a) : U16(b))
LANEWISE(max_s16, uint32_t, uint32_t, S16(a) > S16(b) ? U16(a) : U16(b))
LANEWISE(max_u32, uint32_t, uint32_t, a > b ? a : b)
LANEWISE(max_s32, uint32_t, uint32_t, S32(a) > S32(b) ? a : b)
LANEWISE(max_u64, uint64_t, uint64_t, a > b ? a : b)
LANEWISE(max_s64, uint64_t, uint64_t, S64(a) > S64(b) ? a : b)

static inline uint32_t clamp_s32(int64_t value)
{
    return (uint32_t)(value > INT32_MAX   ? INT32_MAX
                      : value < INT32_MIN ? INT32_MIN
                                          : value);
}
LANEWISE(add_sat, uint32_t, uint32_t, clamp_s32((int64_t)S32(a) + S32(b)))
LANEWISE(sub_sat, uint32_t, uint32_t, clamp_s32((int64_t)S32(a) - S32(b)))

/* Two 16-bit halves at a time. */
#define HALVES(lo, hi) (U16(lo) | (uint32_t)(hi) << 16)
LANEWISE(add_x2, uint32_t, uint32_t, HALVES(a + b, (a >> 16) + (b >> 16)))
LANEWISE(min_u16x2, uint32_t, uint32_t,
         HALVES(U16(a) < U16(b) ? a : b, a >> 16 < b >> 16 ? a >> 16 : b >> 16))
LANEWISE(max_u16x2, uint32_t, uint32_t,
         HALVES(U16(a) > U16(b) ? a : b, a >> 16 > b >> 16 ? a >> 16 : b >> 16))
LANEWISE(min_s16x2, uint32_t, uint32_t,
         HALVES(S16(a) < S16(b) ? a : b, S16(a >> 16) < S16(b >> 16) ? a >> 16 : b >> 16))
LANEWISE(max_s16x2, uint32_t, uint32_t,
         HALVES(S16(a) > S16(b) ? a : b, S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16))

/* .relu: negative results become 0. */
#define POSITIVE32(x) ((uint32_t)(x) & ~(uint32_t)(S32(x) >> 31))
#define POSITIVE16(x) (S16(x) < 0 ? 0 : U16(x))
LANEWISE(min_relu_s32, uint32_t, uint32_t, POSITIVE32(S32(a) < S32(b) ? a : b))
LANEWISE(max_relu_s32, uint32_t, uint32_t, POSITIVE32(S32(a) > S32(b) ? a : b))
LANEWISE(min_relu_s16x2, uint32_t, uint32_t,
         HALVES(POSITIVE16(S16(a) < S16(b) ? a : b),
                POSITIVE16(S16(a >> 16) < S16(b >> 16) ? a >> 16 : b >> 16)))
LANEWISE(max_relu_s16x2, uint32_t, uint32_t,
         HALVES(POSITIVE16(S16(a) > S16(b) ? a : b),
                POSITIVE16(S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16)))

/* --- multiply --------------------------------------------------------------------- */

static inline uint64_t mul_high_u64(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

static inline uint64_t mul_high_s64(uint64_t a, uint64_t b)
{
    return mul_high_u64(a, b) - (S64(a) < 0 ? b : 0) - (S64(b) < 0 ? a : 0);
}

LANEWISE(mul_hi_u16, uint32_t, uint32_t, U16(a) * U16(b) >> 16)
LANEWISE(mul_hi_s16, uint32_t, uint32_t, U16((uint32_t)(S16(a) * S16(b)) >> 16))
LANEWISE(mul_hi_u32, uint32_t, uint32_t, (uint64_t)a *b >> 32)
LANEWISE(mul_hi_s32, uint32_t, uint32_t, (uint64_t)((int64_t)S32(a) * S32(b)) >> 32)
LANEWISE(mul_hi_u64, uint64_t, uint64_t, mul_high_u64(a, b))
LANEWISE(mul_hi_s64, uint64_t, uint64_t, mul_high_s64(a, b))
LANEWISE(mul_wide_u16, uint32_t, uint32_t, U16(a) * U16(b))
LANEWISE(mul_wide_s16, uint32_t, uint32_t, (uint32_t)(S16(a) * S16(b)))
LANEWISE(mul_wide_u32, uint64_t, uint32_t, (uint64_t)a *b)
LANEWISE(mul_wide_s32, uint64_t, uint32_t, (uint64_t)((int64_t)S32(a) * S32(b)))
LANEWISE(mad_hi_u16, uint32_t, uint32_t, U16((U16(a) * U16(b) >> 16) + c))
LANEWISE(mad_hi_s16, uint32_t, uint32_t, U16(((uint32_t)(S16(a) * S16(b)) >> 16) + c))
LANEWISE(mad_hi_u32, uint32_t, uint32_t, (uint32_t)((uint64_t)a *b >> 32) + c)
LANEWISE(mad_hi_s32, uint32_t, uint32_t,
         (uint32_t)((uint64_t)((int64_t)S32(a) * S32(b)) >> 32) + c)
LANEWISE(mad_hi_u64, uint64_t, uint64_t, mul_high_u64(a, b) + c)
LANEWISE(mad_hi_s64, uint64_t, uint64_t, mul_high_s64(a, b) + c)
LANEWISE(mad_wide_u16, uint32_t, uint32_t, U16(a) * U16(b) + c)
LANEWISE(mad_wide_s16, uint32_t, uint32_t, (uint32_t)(S16(a) * S16(b)) + c)
LANEWISE(mad_hi_sat, uint32_t, uint32_t,
         clamp_s32(((int64_t)S32(a) * S32(b) >> 32) + S32(c)))

/* mad.wide.{u,s}32: a and b have 32 bits, c and d 64 */
#define MAD_WIDE(name, product)                                            \
    static void name(struct warp *w, const struct op *op)                  \
    {                                                                      \
        const uint32_t *sa = row32(w, op->s[0]), *sb = row32(w, op->s[1]); \
        const uint64_t *sc = row64(w, op->s[2]);                           \
        uint64_t *d = row64(w, op->d);                                     \
        uint32_t mask = w->mask;                                           \
        NO_ALIAS for (int l = 0; l < LANES; l++)                           \
        {                                                                  \
            uint32_t a = sa[l], b = sb[l];                                 \
            d[l] = (mask >> l & 1) ? sc[l] + (product) : d[l];             \
        }                                                                  \
    }
MAD_WIDE(mad_wide_u32, (uint64_t)a *b)
MAD_WIDE(mad_wide_s32, (uint64_t)((int64_t)S32(a) * S32(b)))

#define LOW24(x) ((x)&0xffffff)
#define SIGN24(x) ((int32_t)((x) << 8) >> 8)
LANEWISE(mul24_lo_u, uint32_t, uint32_t, LOW24(a) * LOW24(b))
LANEWISE(mul24_lo_s, uint32_t, uint32_t, (uint64_t)((int64_t)SIGN24(a) * SIGN24(b)))
LANEWISE(mul24_hi_u, uint32_t, uint32_t, (uint64_t)LOW24(a) * LOW24(b) >> 16)
LANEWISE(mul24_hi_s, uint32_t, uint32_t, (uint64_t)((int64_t)SIGN24(a) * SIGN24(b)) >> 16)
LANEWISE(mad24_lo_u, uint32_t, uint32_t, LOW24(a) * LOW24(b) + c)
LANEWISE(mad24_lo_s, uint32_t, uint32_t,
         (uint32_t)(uint64_t)((int64_t)SIGN24(a) * SIGN24(b)) + c)
LANEWISE(mad24_hi_u, uint32_t, uint32_t,
         (uint32_t)((uint64_t)LOW24(a) * LOW24(b) >> 16) + c)
LANEWISE(mad24_hi_s, uint32_t, uint32_t,
         (uint32_t)((uint64_t)((int64_t)SIGN24(a) * SIGN24(b)) >> 16) + c)
LANEWISE(mad24_hi_sat, uint32_t, uint32_t,
         clamp_s32(((int64_t)SIGN24(a) * SIGN24(b) >> 16) + S32(c)))

/* --- divide ----------------------------------------------------------------------- */

static inline uint64_t divide(uint64_t a, uint64_t b, int bits, bool is_signed, bool rem)
{
    if (!is_signed) {
        if (b == 0)
            return rem ? a : UINT64_MAX;
        return rem ? a % b : a / b;
    }
    int shift = 64 - bits;
    int64_t x = (int64_t)(a << shift) >> shift, y = (int64_t)(b << shift) >> shift;
    if (y == 0)
        return rem ? (uint64_t)x : UINT64_MAX;
    if (y == -1)
        return rem ? 0 : 0 - (uint64_t)x;
    return (uint64_t)(rem ? x % y : x / y);
}

#define DIVISION(name, bits, is_signed, rem, T, row)                   \
    static void name(struct warp *w, const struct op *op)              \
    {                                                                  \
        const T *a = row(w, op->s[0]), *b = row(w, op->s[1]);          \
        T *d = row(w, op->d);                                          \
        for (int l = 0; l < LANES; l++)                                \
            if (w->mask >> l & 1) {                                    \
                T value = (T)divide(a[l], b[l], bits, is_signed, rem); \
                d[l] = bits == 16 ? (T)(uint16_t)value : value;        \
            }                                                          \
    }
DIVISION(div_u16, 16, false, false, uint32_t, row32)
DIVISION(div_s16, 16, true, false, uint32_t, row32)
DIVISION(div_u32, 32, false, false, uint32_t, row32)
DIVISION(div_s32, 32, true, false, uint32_t, row32)
DIVISION(div_u64, 64, false, false, uint64_t, row64)
DIVISION(div_s64, 64, true, false, uint64_t, row64)
DIVISION(rem_u16, 16, false, true, uint32_t, row32)
DIVISION(rem_s16, 16, true, true, uint32_t, row32)
DIVISION(rem_u32, 32, false, true, uint32_t, row32)
DIVISION(rem_s32, 32, true, true, uint32_t, row32)
DIVISION(rem_u64, 64, false, true, uint64_t, row64)
DIVISION(rem_s64, 64, true, true, uint64_t, row64)

/* --- sums with carry -------------------------------------------------------------- */

enum {
    CARRY_SUB = 1,
    CARRY_IN = 2,
    CARRY_OUT = 4,
    CARRY_HIGH = 8,
    CARRY_MAD = 16,
    CARRY_SIGNED = 32,
    CARRY_64 = 64
};

/* add{c}, sub{c} and mad{c}, with .cc: the flag is a predicate word, 1 = carry (or
 * borrow). */
static void with_carry(struct warp *w, const struct op *op)
{
    uint32_t *flag = pred(w, op->s[3]);
    uint32_t carry_in = op->flags & CARRY_IN ? *flag : 0, carry_out = 0;
    bool wide = op->flags & CARRY_64;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint64_t a = wide ? row64(w, op->s[0])[l] : row32(w, op->s[0])[l];
        uint64_t b = wide ? row64(w, op->s[1])[l] : row32(w, op->s[1])[l];
        uint64_t in = carry_in >> l & 1;
        if (op->flags & CARRY_MAD) {
            uint64_t c = wide ? row64(w, op->s[2])[l] : row32(w, op->s[2])[l];
            uint64_t product;
            if (wide)
                product = !(op->flags & CARRY_HIGH)  ? a * b
                          : op->flags & CARRY_SIGNED ? mul_high_s64(a, b)
                                                     : mul_high_u64(a, b);
            else {
                product = op->flags & CARRY_SIGNED ? (uint64_t)((int64_t)S32(a) * S32(b))
                                                   : a * b;
                product = (uint32_t)(op->flags & CARRY_HIGH ? product >> 32 : product);
            }
            a = product;
            b = c;
        }
        uint64_t sum = op->flags & CARRY_SUB ? a - b - in : a + b + in;
        bool out = op->flags & CARRY_SUB ? a < b || (a == b && in != 0)
                   : wide                ? sum < a || (in != 0 && sum == a)
                                         : sum >> 32 != 0;
        if (wide)
            row64(w, op->d)[l] = sum;
        else
            row32(w, op->d)[l] = (uint32_t)sum;
        carry_out |= (uint32_t)out << l;
    }
    if (op->flags & CARRY_OUT)
        *flag = (*flag & ~w->mask) | carry_out;
}

/* --- the rest --------------------------------------------------------------------- */

LANEWISE(sad_u16, uint32_t, uint32_t,
         U16(c + (U16(a) < U16(b) ? U16(b) - U16(a) : U16(a) - U16(b))))
LANEWISE(sad_s16, uint32_t, uint32_t, U16(c + (S16(a) < S16(b) ? b - a : a - b)))
LANEWISE(sad_u32, uint32_t, uint32_t, c + (a < b ? b - a : a - b))
LANEWISE(sad_s32, uint32_t, uint32_t, c + (S32(a) < S32(b) ? b - a : a - b))
LANEWISE(sad_u64, uint64_t, uint64_t, c + (a < b ? b - a : a - b))
LANEWISE(sad_s64, uint64_t, uint64_t, c + (S64(a) < S64(b) ? b - a : a - b))

/* Part `index` of `bits` bits. */
#define PART_S(x, index, bits) \
    ((int32_t)((x) << (32 - (bits) - (index) * (bits))) >> (32 - (bits)))
#define PART_U(x, index, bits) \
    ((int32_t)((x) << (32 - (bits) - (index) * (bits)) >> (32 - (bits))))

/* dp4a: four bytes by four bytes; dp2a: two halves by two bytes of b. A product has at
 * most 24 bits and a sign; the sum wraps. */
#define DOT4(name, pa, pb)                                                          \
    LANEWISE(name, uint32_t, uint32_t,                                              \
             c + (uint32_t)(pa(a, 0, 8) * pb(b, 0, 8) + pa(a, 1, 8) * pb(b, 1, 8) + \
                            pa(a, 2, 8) * pb(b, 2, 8) + pa(a, 3, 8) * pb(b, 3, 8)))
#define DOT2(name, pa, pb, first)                            \
    LANEWISE(name, uint32_t, uint32_t,                       \
             c + (uint32_t)(pa(a, 0, 16) * pb(b, first, 8) + \
                            pa(a, 1, 16) * pb(b, first + 1, 8)))
#define DOTS(pa, pb, ab)          \
    DOT4(dp4a_##ab, pa, pb)       \
    DOT2(dp2a_lo_##ab, pa, pb, 0) \
    DOT2(dp2a_hi_##ab, pa, pb, 2)
DOTS(PART_U, PART_U, uu)
DOTS(PART_U, PART_S, us)
DOTS(PART_S, PART_U, su)
DOTS(PART_S, PART_S, ss)

/* --- decode ----------------------------------------------------------------------- */

#define THREE(name)                                                   \
    {PTX_U16, name##_16}, {PTX_S16, name##_16}, {PTX_U32, name##_32}, \
        {PTX_S32, name##_32}, {PTX_U64, name##_64},                   \
    {                                                                 \
        PTX_S64, name##_64                                            \
    }
#define SIX(name)                                                        \
    {PTX_U16, name##_u16}, {PTX_S16, name##_s16}, {PTX_U32, name##_u32}, \
        {PTX_S32, name##_s32}, {PTX_U64, name##_u64},                    \
    {                                                                    \
        PTX_S64, name##_s64                                              \
    }

static const struct typed_fn add_fns[] = {
    THREE(add), {PTX_U16X2, add_x2}, {PTX_S16X2, add_x2}};
static const struct typed_fn sub_fns[] = {THREE(sub)};
static const struct typed_fn neg_fns[] = {
    {PTX_S16, neg_16}, {PTX_S32, neg_32}, {PTX_S64, neg_64}};
static const struct typed_fn abs_fns[] = {
    {PTX_S16, abs_s16}, {PTX_S32, abs_s32}, {PTX_S64, abs_s64}};
static const struct typed_fn min_fns[] = {
    SIX(min), {PTX_U16X2, min_u16x2}, {PTX_S16X2, min_s16x2}};
static const struct typed_fn max_fns[] = {
    SIX(max), {PTX_U16X2, max_u16x2}, {PTX_S16X2, max_s16x2}};
static const struct typed_fn min_relu_fns[] = {{PTX_S32, min_relu_s32},
                                               {PTX_S16X2, min_relu_s16x2}};
static const struct typed_fn max_relu_fns[] = {{PTX_S32, max_relu_s32},
                                               {PTX_S16X2, max_relu_s16x2}};
static const struct typed_fn div_fns[] = {SIX(div)};
static const struct typed_fn rem_fns[] = {SIX(rem)};
static const struct typed_fn sad_fns[] = {SIX(sad)};

static bool decode_by_type(struct decoder *dec, const struct ptx_insn *in,
                           const struct mods *mods, struct op *op)
{
    static const struct {
        const char *base;
        const struct typed_fn *fns;
        int count;
    } table[] = {
#define BY_TYPE(name) {#name, name##_fns, (int)(sizeof name##_fns / sizeof *name##_fns)}
        BY_TYPE(add), BY_TYPE(sub), BY_TYPE(neg), BY_TYPE(abs), BY_TYPE(min),
        BY_TYPE(max), BY_TYPE(div), BY_TYPE(rem), BY_TYPE(sad),
    };
    enum ptx_type type = mods->type[0];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].base, in->base) == 0)
            op->fn = typed_find(table[i].fns, table[i].count, type);
    if (mods->relu && in->base[0] != 'm')
        return decode_fail(dec, "only min and max take .relu");
    if (mods->sat) {
        bool add = strcmp(in->base, "add") == 0, sub = strcmp(in->base, "sub") == 0;
        op->fn = type == PTX_S32 && add   ? add_sat
                 : type == PTX_S32 && sub ? sub_sat
                                          : NULL;
    }
    if (mods->relu)
        op->fn =
            in->base[1] == 'i' ? TYPED(min_relu_fns, type) : TYPED(max_relu_fns, type);
    if (op->fn == NULL || mods->satfinite)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    return decode_plain(dec, in, op, type, type);
}

static bool decode_carry_sum(struct decoder *dec, const struct ptx_insn *in,
                             const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    bool with_c = in->base[strlen(in->base) - 1] == 'c';
    bool mad = in->base[0] == 'm', sub = in->base[0] == 's';
    int bits = ptx_type_bits(type);
    if (bits < 32 || (type > PTX_S64 || type < PTX_B32))
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    if (!with_c && !mods->cc)
        return decode_fail(dec, "needs .cc");
    if (mad && mods->half != HALF_LO && mods->half != HALF_HI)
        return decode_fail(dec, "needs .lo or .hi");
    op->fn = with_carry;
    op->flags = (uint8_t)((sub ? CARRY_SUB : 0) | (with_c ? CARRY_IN : 0) |
                          (mods->cc ? CARRY_OUT : 0) | (mad ? CARRY_MAD : 0) |
                          (mods->half == HALF_HI ? CARRY_HIGH : 0) |
                          (is_signed_type(type) ? CARRY_SIGNED : 0) |
                          (bits == 64 ? CARRY_64 : 0));
    if (!decode_plain(dec, in, op, type, type))
        return false;
    op->s[3] = decode_carry(dec, false);
    if (mods->cc)
        decode_carry(dec, true);
    return true;
}

static const struct typed_fn mul_lo_fns[] = {THREE(mul_lo)};
static const struct typed_fn mul_hi_fns[] = {SIX(mul_hi)};
static const struct typed_fn mad_lo_fns[] = {THREE(mad_lo)};
static const struct typed_fn mad_hi_fns[] = {SIX(mad_hi)};
static const struct typed_fn mul_wide_fns[] = {{PTX_U16, mul_wide_u16},
                                               {PTX_S16, mul_wide_s16},
                                               {PTX_U32, mul_wide_u32},
                                               {PTX_S32, mul_wide_s32}};
static const struct typed_fn mad_wide_fns[] = {{PTX_U16, mad_wide_u16},
                                               {PTX_S16, mad_wide_s16},
                                               {PTX_U32, mad_wide_u32},
                                               {PTX_S32, mad_wide_s32}};

static enum ptx_type wider(enum ptx_type type)
{
    return type == PTX_U16   ? PTX_U32
           : type == PTX_S16 ? PTX_S32
           : type == PTX_U32 ? PTX_U64
                             : PTX_S64;
}

static bool decode_multiply(struct decoder *dec, const struct ptx_insn *in,
                            const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    bool mad = in->base[1] == 'a';
    op->fn = mods->half == HALF_LO
                 ? (mad ? TYPED(mad_lo_fns, type) : TYPED(mul_lo_fns, type))
             : mods->half == HALF_HI
                 ? (mad ? TYPED(mad_hi_fns, type) : TYPED(mul_hi_fns, type))
             : mods->half == HALF_WIDE
                 ? (mad ? TYPED(mad_wide_fns, type) : TYPED(mul_wide_fns, type))
                 : NULL;
    if (mods->sat)
        op->fn = mad && mods->half == HALF_HI && type == PTX_S32 ? mad_hi_sat : NULL;
    if (op->fn == NULL)
        return decode_fail(dec, "needs .lo, .hi or .wide of an integer type");
    enum ptx_type out = mods->half == HALF_WIDE ? wider(type) : type;
    op->pipe = SIM_PIPE_FMA; /* IMAD */
    return decode_dst(dec, &in->operand[0], out, &op->d) &&
           decode_src(dec, &in->operand[1], type, &op->s[0]) &&
           decode_src(dec, &in->operand[2], type, &op->s[1]) &&
           (!mad || decode_src(dec, &in->operand[3], out, &op->s[2]));
}

static bool decode_24(struct decoder *dec, const struct ptx_insn *in,
                      const struct mods *mods, struct op *op)
{
    static exec_fn *const muls[2][2] = {{mul24_lo_u, mul24_lo_s},
                                        {mul24_hi_u, mul24_hi_s}};
    static exec_fn *const mads[2][2] = {{mad24_lo_u, mad24_lo_s},
                                        {mad24_hi_u, mad24_hi_s}};
    bool is_signed = mods->type[0] == PTX_S32, mad = in->base[1] == 'a';
    bool high = mods->half == HALF_HI;
    if (mods->type[0] != PTX_S32 && mods->type[0] != PTX_U32)
        return decode_fail(dec, "needs .u32 or .s32");
    if (!high && mods->half != HALF_LO)
        return decode_fail(dec, "needs .lo or .hi");
    if (mods->sat && !(high && is_signed))
        return decode_fail(dec, ".sat goes with .hi.s32");
    op->fn = mods->sat ? mad24_hi_sat : (mad ? mads : muls)[high][is_signed];
    return decode_plain(dec, in, op, mods->type[0], mods->type[0]);
}

static bool decode_dot(struct decoder *dec, const struct ptx_insn *in,
                       const struct mods *mods, struct op *op)
{
    for (int i = 0; i < 2; i++)
        if (mods->type_count != 2 ||
            (mods->type[i] != PTX_U32 && mods->type[i] != PTX_S32))
            return decode_fail(dec, "needs two types, each .u32 or .s32");
    if ((in->base[2] == '2') != (mods->half == HALF_LO || mods->half == HALF_HI))
        return decode_fail(dec, "dp2a needs .lo or .hi");
    static exec_fn *const dots[3][2][2] = {
        {{dp4a_uu, dp4a_us}, {dp4a_su, dp4a_ss}},
        {{dp2a_lo_uu, dp2a_lo_us}, {dp2a_lo_su, dp2a_lo_ss}},
        {{dp2a_hi_uu, dp2a_hi_us}, {dp2a_hi_su, dp2a_hi_ss}}};
    int form = in->base[2] == '4' ? 0 : mods->half == HALF_LO ? 1 : 2;
    op->fn = dots[form][mods->type[0] == PTX_S32][mods->type[1] == PTX_S32];
    return decode_plain(dec, in, op, PTX_U32, PTX_U32);
}

static const struct op_row rows[] = {
    {"add", "add{.sat}.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64 .u16x2 .s16x2",
     MOD_TYPE | MOD_SAT, SIM_PIPE_ALU, 3, 3, decode_by_type},
    {"sub", "sub{.sat}.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64",
     MOD_TYPE | MOD_SAT, SIM_PIPE_ALU, 3, 3, decode_by_type},
    {"add", "add.cc.type d, a, b;", ".u32 .s32 .u64 .s64", MOD_TYPE | MOD_CC,
     SIM_PIPE_ALU, 3, 3, decode_carry_sum},
    {"sub", "sub.cc.type d, a, b;", ".u32 .s32 .u64 .s64", MOD_TYPE | MOD_CC,
     SIM_PIPE_ALU, 3, 3, decode_carry_sum},
    {"addc", "addc{.cc}.type d, a, b;", ".u32 .s32 .u64 .s64", MOD_TYPE | MOD_CC,
     SIM_PIPE_ALU, 3, 3, decode_carry_sum},
    {"subc", "subc{.cc}.type d, a, b;", ".u32 .s32 .u64 .s64", MOD_TYPE | MOD_CC,
     SIM_PIPE_ALU, 3, 3, decode_carry_sum},
    {"mad", "mad{.hi,.lo}.cc.type d, a, b, c;", ".u32 .s32 .u64 .s64",
     MOD_TYPE | MOD_CC | MOD_HALF, SIM_PIPE_FMA, 4, 4, decode_carry_sum},
    {"madc", "madc{.hi,.lo}{.cc}.type d, a, b, c;", ".u32 .s32 .u64 .s64",
     MOD_TYPE | MOD_CC | MOD_HALF, SIM_PIPE_FMA, 4, 4, decode_carry_sum},
    {"mul", "mul{.hi,.lo,.wide}.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64",
     MOD_TYPE | MOD_HALF, SIM_PIPE_FMA, 3, 3, decode_multiply},
    {"mad", "mad{.hi,.lo,.wide}{.sat}.type d, a, b, c;", ".u16 .s16 .u32 .s32 .u64 .s64",
     MOD_TYPE | MOD_HALF | MOD_SAT, SIM_PIPE_FMA, 4, 4, decode_multiply},
    {"mul24", "mul24{.hi,.lo}.type d, a, b;", ".u32 .s32", MOD_TYPE | MOD_HALF,
     SIM_PIPE_ALU, 3, 3, decode_24},
    {"mad24", "mad24{.hi,.lo}{.sat}.type d, a, b, c;", ".u32 .s32",
     MOD_TYPE | MOD_HALF | MOD_SAT, SIM_PIPE_ALU, 4, 4, decode_24},
    {"neg", "neg.type d, a;", ".s16 .s32 .s64", MOD_TYPE, SIM_PIPE_ALU, 2, 2,
     decode_by_type},
    {"abs", "abs.type d, a;", ".s16 .s32 .s64", MOD_TYPE, SIM_PIPE_ALU, 2, 2,
     decode_by_type},
    {"min", "min{.relu}.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64 .u16x2 .s16x2",
     MOD_TYPE | MOD_SAT, SIM_PIPE_ALU, 3, 3, decode_by_type},
    {"max", "max{.relu}.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64 .u16x2 .s16x2",
     MOD_TYPE | MOD_SAT, SIM_PIPE_ALU, 3, 3, decode_by_type},
    {"div", "div.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64", MOD_TYPE, SIM_PIPE_ALU,
     3, 3, decode_by_type},
    {"rem", "rem.type d, a, b;", ".u16 .s16 .u32 .s32 .u64 .s64", MOD_TYPE, SIM_PIPE_ALU,
     3, 3, decode_by_type},
    {"sad", "sad.type d, a, b, c;", ".u16 .s16 .u32 .s32 .u64 .s64", MOD_TYPE,
     SIM_PIPE_ALU, 4, 4, decode_by_type},
    {"dp4a", "dp4a.atype.btype d, a, b, c;", ".u32 .s32", MOD_TYPE | MOD_TYPE2,
     SIM_PIPE_FMA, 4, 4, decode_dot},
    {"dp2a", "dp2a{.lo,.hi}.atype.btype d, a, b, c;", ".u32 .s32",
     MOD_TYPE | MOD_TYPE2 | MOD_HALF, SIM_PIPE_FMA, 4, 4, decode_dot},
};
const struct op_family ops_integer = {rows, (int)(sizeof rows / sizeof *rows)};
