/* ops_logic.c - bits, shifts and byte permutation (PTX ISA 9.0, 9.7.1 and 9.7.8). */
#include "ops.h"

#define U16(x) ((uint32_t)(uint16_t)(x))

/* --- bits ------------------------------------------------------------------------- */

LANEWISE(and_32, uint32_t, uint32_t, a &b)
LANEWISE(or_32, uint32_t, uint32_t, a | b)
LANEWISE(xor_32, uint32_t, uint32_t, a ^ b)
LANEWISE(not_32, uint32_t, uint32_t, ~a)
LANEWISE(not_16, uint32_t, uint32_t, U16(~a))
LANEWISE(and_64, uint64_t, uint64_t, a &b)
LANEWISE(or_64, uint64_t, uint64_t, a | b)
LANEWISE(xor_64, uint64_t, uint64_t, a ^ b)
LANEWISE(not_64, uint64_t, uint64_t, ~a)
LANEWISE(cnot_16, uint32_t, uint32_t, U16(a) == 0)
LANEWISE(cnot_32, uint32_t, uint32_t, a == 0)
LANEWISE(cnot_64, uint64_t, uint64_t, a == 0)
LANEWISE(popc_32, uint32_t, uint32_t, __builtin_popcount(a))
LANEWISE(popc_64, uint32_t, uint64_t, __builtin_popcountll(a))
LANEWISE(clz_32, uint32_t, uint32_t, a == 0 ? 32 : __builtin_clz(a | 1) + (a == 0))
LANEWISE(clz_64, uint32_t, uint64_t, a == 0 ? 64 : __builtin_clzll(a))

static inline uint32_t reverse32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline uint64_t reverse64(uint64_t x)
{
    return (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32));
}
LANEWISE(brev_32, uint32_t, uint32_t, reverse32(a))
LANEWISE(brev_64, uint64_t, uint64_t, reverse64(a))

/* Highest bit that is not the sign (signed) or is set (unsigned); -1 if none. */
static inline uint32_t find_bit(uint64_t value, int bits, bool is_signed, bool shiftamt)
{
    if (is_signed && (value >> (bits - 1) & 1))
        value = ~value;
    if (bits == 32)
        value = (uint32_t)value;
    if (value == 0)
        return UINT32_MAX;
    uint32_t at = 63 - (uint32_t)__builtin_clzll(value);
    return shiftamt ? (uint32_t)bits - 1 - at : at;
}
LANEWISE(bfind_u32, uint32_t, uint32_t, find_bit(a, 32, false, op->flags))
LANEWISE(bfind_s32, uint32_t, uint32_t, find_bit(a, 32, true, op->flags))
LANEWISE(bfind_u64, uint32_t, uint64_t, find_bit(a, 64, false, op->flags))
LANEWISE(bfind_s64, uint32_t, uint64_t, find_bit(a, 64, true, op->flags))

/* Position and length use their low 8 bits. The sign of a signed field is its top
 * bit, or the top bit of the value if the field reaches past it. */
static inline uint32_t extract32(uint32_t value, uint32_t pos, uint32_t len,
                                 bool is_signed)
{
    pos &= 0xff;
    len &= 0xff;
    uint32_t end = pos + len, sign_at = end - 1 < 31 ? end - 1 : 31;
    uint32_t fill = is_signed ? 0 - (value >> (sign_at & 31) & 1) : 0;
    uint32_t valid = end < 32 ? len : 32 - (pos < 32 ? pos : 32);
    uint32_t mask = valid > 31 ? UINT32_MAX : ((uint32_t)1 << (valid & 31)) - 1;
    uint32_t field = pos > 31 ? 0 : value >> (pos & 31);
    uint32_t result = (field & mask) | (fill & ~mask);
    return len == 0 ? 0 : result;
}
LANEWISE(bfe_u32, uint32_t, uint32_t, extract32(a, b, c, false))
LANEWISE(bfe_s32, uint32_t, uint32_t, extract32(a, b, c, true))

static void bfi_32(struct warp *w, const struct op *op)
{
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]),
                   *sp = row32(w, op->s[2]), *sl = row32(w, op->s[3]);
    uint32_t *d = row32(w, op->d), on = w->mask;
    NO_ALIAS for (int l = 0; l < LANES; l++)
    {
        uint32_t pos = sp[l] & 0xff, len = sl[l] & 0xff;
        uint32_t mask = len > 31 ? UINT32_MAX : ((uint32_t)1 << (len & 31)) - 1;
        mask = pos > 31 ? 0 : mask << (pos & 31);
        uint32_t v = (b[l] & ~mask) | (a[l] << (pos & 31) & mask);
        d[l] = (on >> l & 1) ? v : d[l];
    }
}

static inline uint64_t extract64(uint64_t value, uint32_t pos, uint32_t len,
                                 bool is_signed)
{
    pos &= 0xff;
    len &= 0xff;
    if (len == 0)
        return 0;
    uint32_t sign_at = pos + len - 1 < 63 ? pos + len - 1 : 63;
    uint64_t fill = is_signed ? 0 - (value >> sign_at & 1) : 0;
    uint64_t field = pos > 63 ? 0 : value >> pos;
    uint32_t valid = pos > 63 ? 0 : 64 - pos < len ? 64 - pos : len;
    uint64_t mask = valid == 64 ? UINT64_MAX : ((uint64_t)1 << valid) - 1;
    return (field & mask) | (fill & ~mask);
}
static inline uint64_t insert64(uint64_t field, uint64_t into, uint32_t pos, uint32_t len)
{
    pos &= 0xff;
    len &= 0xff;
    if (len == 0 || pos > 63)
        return into;
    uint64_t mask = (len > 63 ? UINT64_MAX : ((uint64_t)1 << len) - 1) << pos;
    return (into & ~mask) | (field << pos & mask);
}

/* bfe, bfi of 64 bits; position and length have 32 */
static void bit_field_64(struct warp *w, const struct op *op)
{
    bool is_insert = op->flags & 1, is_signed = op->flags & 2;
    const uint64_t *a = row64(w, op->s[0]), *b = row64(w, op->s[1]);
    const uint32_t *pos = row32(w, op->s[is_insert ? 2 : 1]);
    const uint32_t *len = row32(w, op->s[is_insert ? 3 : 2]);
    uint64_t *d = row64(w, op->d);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            d[l] = is_insert ? insert64(a[l], b[l], pos[l], len[l])
                             : extract64(a[l], pos[l], len[l], is_signed);
}

/* The n-th set bit of a mask, counted from a base up or (n < 0) down. */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int64_t at = base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}
LANEWISE(fns_32, uint32_t, uint32_t, find_nth(a, b, (int32_t)c))

static inline uint32_t bit_mask(uint32_t pos, uint32_t len, bool wrap)
{
    if (wrap) {
        pos &= 31;
        len &= 31;
    }
    if (pos >= 32 || len == 0)
        return 0;
    uint32_t mask = len >= 32 ? UINT32_MAX : ((uint32_t)1 << len) - 1;
    return mask << pos;
}
LANEWISE(bmsk_32, uint32_t, uint32_t, bit_mask(a, b, op->flags))

/* Sign- or zero-extend from bit b - 1. */
static inline uint32_t extend(uint32_t value, uint32_t bits, bool wrap, bool is_signed)
{
    bits = wrap ? bits & 31 : bits;
    if (bits >= 32)
        return value;
    if (bits == 0)
        return 0;
    uint32_t up = 32 - bits;
    return is_signed ? (uint32_t)((int32_t)(value << up) >> up) : value << up >> up;
}
LANEWISE(szext_u32, uint32_t, uint32_t, extend(a, b, op->flags, false))
LANEWISE(szext_s32, uint32_t, uint32_t, extend(a, b, op->flags, true))

/* lop3: bit i of the table is the result for a, b, c = bits 2, 1, 0 of i. */
static void lop3(struct warp *w, const struct op *op)
{
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]),
                   *c = row32(w, op->s[2]);
    uint32_t *d = row32(w, op->d);
    uint32_t mask = w->mask, table[8];
    for (int i = 0; i < 8; i++)
        table[i] = op->imm >> i & 1 ? UINT32_MAX : 0;
    for (int l = 0; l < LANES; l++) {
        uint32_t x = a[l], y = b[l], z = c[l];
        uint32_t v = (~x & ((~y & ((~z & table[0]) | (z & table[1]))) |
                            (y & ((~z & table[2]) | (z & table[3]))))) |
                     (x & ((~y & ((~z & table[4]) | (z & table[5]))) |
                           (y & ((~z & table[6]) | (z & table[7])))));
        d[l] = (mask >> l & 1) ? v : d[l];
    }
}

/* lop3.{or,and} d|p, ..., q: p = (d != 0) op q */
static void lop3_pred(struct warp *w, const struct op *op)
{
    lop3(w, op);
    const uint32_t *d = row32(w, op->d);
    uint32_t some = 0, q = *pred(w, op->s[3]) ^ (op->flags & 2 ? FULL_MASK : 0);
    for (int l = 0; l < LANES; l++)
        some |= (uint32_t)(d[l] != 0) << l;
    some = op->flags & 1 ? some & q : some | q;
    uint32_t *p = pred(w, op->d2);
    *p = (*p & ~w->mask) | (some & w->mask);
}

/* --- shifts: amounts are clamped to the width -------------------------------------- */

LANEWISE(shl_16, uint32_t, uint32_t, b > 15 ? 0 : U16(a << (b & 15)))
LANEWISE(shl_32, uint32_t, uint32_t, b > 31 ? 0 : a << (b & 31))
LANEWISE(shr_u16, uint32_t, uint32_t, b > 15 ? 0 : U16(a) >> (b & 15))
LANEWISE(shr_s16, uint32_t, uint32_t, U16((int32_t)(int16_t)a >> (b > 15 ? 15 : b)))
LANEWISE(shr_u32, uint32_t, uint32_t, b > 31 ? 0 : a >> (b & 31))
LANEWISE(shr_s32, uint32_t, uint32_t, (uint32_t)((int32_t)a >> (b > 31 ? 31 : b)))
LANEWISE(shf_l_wrap, uint32_t, uint32_t,
         (uint32_t)(((uint64_t)b << 32 | a) << (c & 31) >> 32))
LANEWISE(shf_r_wrap, uint32_t, uint32_t, (uint32_t)(((uint64_t)b << 32 | a) >> (c & 31)))
LANEWISE(shf_l_clamp, uint32_t, uint32_t,
         c > 31 ? a : (uint32_t)(((uint64_t)b << 32 | a) << (c & 31) >> 32))
LANEWISE(shf_r_clamp, uint32_t, uint32_t,
         c > 31 ? b : (uint32_t)(((uint64_t)b << 32 | a) >> (c & 31)))

/* 64-bit values, 32-bit amounts */
#define SHIFT64(name, expr)                               \
    static void name(struct warp *w, const struct op *op) \
    {                                                     \
        const uint64_t *sa = row64(w, op->s[0]);          \
        const uint32_t *sb = row32(w, op->s[1]);          \
        uint64_t *d = row64(w, op->d);                    \
        uint32_t mask = w->mask;                          \
        for (int l = 0; l < LANES; l++) {                 \
            uint64_t a = sa[l], b = sb[l];                \
            d[l] = (mask >> l & 1) ? (expr) : d[l];       \
        }                                                 \
    }
SHIFT64(shl_64, b > 63 ? 0 : a << (b & 63))
SHIFT64(shr_u64, b > 63 ? 0 : a >> (b & 63))
SHIFT64(shr_s64, (uint64_t)((int64_t)a >> (b > 63 ? 63 : b)))

/* --- prmt ------------------------------------------------------------------------- */

static inline uint32_t pick_byte(uint64_t bytes, uint32_t selector)
{
    return (uint32_t)(bytes >> (8 * selector)) & 0xff;
}

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t c, int mode)
{
    /* byte number for each result byte, by mode and the low two bits of c */
    static const uint8_t modes[7][4][4] = {
        [1] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},  /* f4e */
        [2] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},  /* b4e */
        [3] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},  /* rc8 */
        [4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},  /* ecl */
        [5] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},  /* ecr */
        [6] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}; /* rc16 */
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        result |= pick_byte(bytes, modes[mode][c & 3][i]) << (8 * i);
    }
    return result;
}
LANEWISE(prmt_mode, uint32_t, uint32_t, permute(a, b, c, op->flags))

/* The selector as it stands: no table, so that the loop vectorises. */
static inline uint32_t permute_byte(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t from = selector & 4 ? b : a;
    uint32_t byte = from >> (8 * (selector & 3)) & 0xff;
    return selector & 8 ? (0 - (byte >> 7)) & 0xff : byte;
}
LANEWISE(prmt_32, uint32_t, uint32_t,
         permute_byte(a, b, c) | permute_byte(a, b, c >> 4) << 8 |
             permute_byte(a, b, c >> 8) << 16 | permute_byte(a, b, c >> 12) << 24)

static void logic_pred(struct warp *w, const struct op *op)
{
    uint32_t *d = pred(w, op->d);
    uint32_t a = *pred(w, op->s[0]) ^ (op->flags & 1 ? FULL_MASK : 0);
    uint32_t b = *pred(w, op->s[1]) ^ (op->flags & 2 ? FULL_MASK : 0);
    uint32_t value = op->imm == 0   ? a & b
                     : op->imm == 1 ? a | b
                     : op->imm == 2 ? a ^ b
                                    : ~a;
    *d = (*d & ~w->mask) | (value & w->mask);
}

/* --- decode ------------------------------------------------------------------------ */

static bool decode_logic(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    static const struct {
        const char *base;
        exec_fn *b16, *b32, *b64;
        int pred;
    } table[] = {{"and", and_32, and_32, and_64, 0},
                 {"or", or_32, or_32, or_64, 1},
                 {"xor", xor_32, xor_32, xor_64, 2},
                 {"not", not_16, not_32, not_64, 3},
                 {"cnot", cnot_16, cnot_32, cnot_64, -1}};
    enum ptx_type type = mods->type[0];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].base, in->base) != 0)
            continue;
        if (type == PTX_PRED && table[i].pred >= 0) {
            bool first = false, second = false;
            op->fn = logic_pred;
            op->imm = (uint64_t)table[i].pred;
            if (!decode_pred(dec, &in->operand[0], &op->d, NULL) ||
                !decode_pred(dec, &in->operand[1], &op->s[0], &first) ||
                !decode_pred(dec, &in->operand[in->operand_count - 1], &op->s[1],
                             &second))
                return false;
            op->flags = (uint8_t)(first | second << 1);
            return true;
        }
        op->fn = type == PTX_B16   ? table[i].b16
                 : type == PTX_B32 ? table[i].b32
                 : type == PTX_B64 ? table[i].b64
                                   : NULL;
    }
    if (op->fn == NULL)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    return decode_plain(dec, in, op, type, type);
}

static bool decode_count(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    int wide = ptx_type_bits(type) == 64;
    bool find = strcmp(in->base, "bfind") == 0;
    if (ptx_type_bits(type) < 32)
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    static exec_fn *const counts[3][2] = {
        {popc_32, popc_64}, {clz_32, clz_64}, {brev_32, brev_64}};
    static exec_fn *const finds[2][2] = {{bfind_u32, bfind_u64}, {bfind_s32, bfind_s64}};
    op->fn = find ? finds[is_signed_type(type)][wide]
                  : counts[in->base[0] == 'p'   ? 0
                           : in->base[0] == 'c' ? 1
                                                : 2][wide];
    op->flags = mods->word_count > 0;
    if (op->flags && (!find || strcmp(mods->word[0], "shiftamt") != 0))
        return decode_fail(dec, "it does not take .%s", mods->word[0]);
    enum ptx_type out = in->base[0] == 'b' && !find ? type : PTX_U32;
    op->pipe = SIM_PIPE_XU;
    return decode_plain(dec, in, op, out, type);
}

static bool decode_field(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    bool insert_op = in->base[2] == 'i';
    int bits = ptx_type_bits(type);
    if ((bits != 32 && bits != 64) || in->operand_count != (insert_op ? 5 : 4))
        return decode_fail(dec, "needs a 32- or 64-bit type and position, length");
    op->fn = bits == 64             ? bit_field_64
             : insert_op            ? bfi_32
             : is_signed_type(type) ? bfe_s32
                                    : bfe_u32;
    op->flags = (uint8_t)(insert_op | is_signed_type(type) << 1);
    if (!decode_dst(dec, &in->operand[0], type, &op->d))
        return false;
    for (int i = 1; i < in->operand_count; i++)
        if (!decode_src(dec, &in->operand[i], i >= in->operand_count - 2 ? PTX_U32 : type,
                        &op->s[i - 1]))
            return false;
    return true;
}

static bool word_is(const struct mods *mods, int i, const char *word)
{
    return i < mods->word_count && strcmp(mods->word[i], word) == 0;
}

static bool decode_masks(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    if (ptx_type_bits(type) != 32)
        return decode_fail(dec, "needs a 32-bit type");
    op->fn = in->base[0] == 'f'   ? fns_32
             : in->base[0] == 'b' ? bmsk_32
             : type == PTX_S32    ? szext_s32
                                  : szext_u32;
    op->flags = word_is(mods, 0, "wrap");
    return decode_plain(dec, in, op, type, type);
}

static bool decode_lop3(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    if (mods->type[0] != PTX_B32 || in->operand[4].kind != PTX_OPERAND_IMM)
        return decode_fail(dec, "needs .b32 and a table that is a number");
    op->fn = lop3;
    op->imm = in->operand[4].imm & 0xff;
    if ((in->operand_count == 6) != (mods->boolean != BOOL_NONE) ||
        mods->boolean == BOOL_XOR)
        return decode_fail(dec, "a predicate goes with .or or .and");
    if (in->operand_count == 6) {
        bool negated = false;
        op->fn = lop3_pred;
        if (!decode_pred2(dec, &in->operand[0], &op->d2) ||
            !decode_pred(dec, &in->operand[5], &op->s[3], &negated))
            return false;
        op->flags = (uint8_t)((mods->boolean == BOOL_AND) | negated << 1);
    }
    return decode_dst(dec, &in->operand[0], PTX_B32, &op->d) &&
           decode_src(dec, &in->operand[1], PTX_B32, &op->s[0]) &&
           decode_src(dec, &in->operand[2], PTX_B32, &op->s[1]) &&
           decode_src(dec, &in->operand[3], PTX_B32, &op->s[2]);
}

static bool decode_shift(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    bool left = in->base[2] == 'l';
    int bits = ptx_type_bits(type);
    bool is_signed = is_signed_type(type);
    if (bits == 16)
        op->fn = left ? shl_16 : is_signed ? shr_s16 : shr_u16;
    else if (bits == 32)
        op->fn = left ? shl_32 : is_signed ? shr_s32 : shr_u32;
    else if (bits == 64)
        op->fn = left ? shl_64 : is_signed ? shr_s64 : shr_u64;
    else
        return decode_fail(dec, "not for type .%s", ptx_type_name(type));
    return decode_dst(dec, &in->operand[0], type, &op->d) &&
           decode_src(dec, &in->operand[1], type, &op->s[0]) &&
           decode_src(dec, &in->operand[2], PTX_U32, &op->s[1]);
}

static bool decode_funnel(struct decoder *dec, const struct ptx_insn *in,
                          const struct mods *mods, struct op *op)
{
    bool left = word_is(mods, 0, "l"), wrap = word_is(mods, 1, "wrap");
    if (mods->type[0] != PTX_B32 || (!left && !word_is(mods, 0, "r")) ||
        (!wrap && !word_is(mods, 1, "clamp")))
        return decode_fail(dec, "needs .l or .r, .wrap or .clamp, .b32");
    op->fn = left ? (wrap ? shf_l_wrap : shf_l_clamp) : (wrap ? shf_r_wrap : shf_r_clamp);
    return decode_plain(dec, in, op, PTX_B32, PTX_B32);
}

static bool decode_prmt(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    static const char *const names[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    op->fn = prmt_32;
    for (int i = 1; i < 7; i++)
        if (word_is(mods, 0, names[i]))
            op->flags = (uint8_t)i;
    if (mods->word_count > 0 && op->flags == 0)
        return decode_fail(dec, "mode .%s is not known", mods->word[0]);
    if (op->flags != 0)
        op->fn = prmt_mode;
    return decode_plain(dec, in, op, PTX_B32, PTX_B32);
}

static const struct op_row rows[] = {
    {"and", "and.type d, a, b;", ".pred .b16 .b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 3, 3,
     decode_logic},
    {"or", "or.type d, a, b;", ".pred .b16 .b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 3, 3,
     decode_logic},
    {"xor", "xor.type d, a, b;", ".pred .b16 .b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 3, 3,
     decode_logic},
    {"not", "not.type d, a;", ".pred .b16 .b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 2, 2,
     decode_logic},
    {"cnot", "cnot.type d, a;", ".b16 .b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 2, 2,
     decode_logic},
    {"lop3", "lop3{.or,.and}.b32 d{|p}, a, b, c, table{, q};", ".b32",
     MOD_TYPE | MOD_BOOL, SIM_PIPE_ALU, 5, 6, decode_lop3},
    {"shl", "shl.type d, a, b;", ".b16 .b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 3, 3,
     decode_shift},
    {"shr", "shr.type d, a, b;", ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64", MOD_TYPE,
     SIM_PIPE_ALU, 3, 3, decode_shift},
    {"shf", "shf{.l,.r}{.wrap,.clamp}.b32 d, a, b, c;", ".b32", MOD_TYPE | MOD_MODE,
     SIM_PIPE_ALU, 4, 4, decode_funnel},
    {"prmt", "prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} d, a, b, c;", ".b32",
     MOD_TYPE | MOD_MODE, SIM_PIPE_ALU, 4, 4, decode_prmt},
    {"popc", "popc.type d, a;", ".b32 .b64", MOD_TYPE, SIM_PIPE_XU, 2, 2, decode_count},
    {"clz", "clz.type d, a;", ".b32 .b64", MOD_TYPE, SIM_PIPE_XU, 2, 2, decode_count},
    {"brev", "brev.type d, a;", ".b32 .b64", MOD_TYPE, SIM_PIPE_XU, 2, 2, decode_count},
    {"bfind", "bfind{.shiftamt}.type d, a;", ".u32 .s32 .u64 .s64", MOD_TYPE | MOD_MODE,
     SIM_PIPE_XU, 2, 2, decode_count},
    {"bfe", "bfe.type d, a, pos, len;", ".u32 .s32 .u64 .s64", MOD_TYPE, SIM_PIPE_ALU, 4,
     4, decode_field},
    {"bfi", "bfi.type d, a, b, pos, len;", ".b32 .b64", MOD_TYPE, SIM_PIPE_ALU, 5, 5,
     decode_field},
    {"fns", "fns.b32 d, mask, base, offset;", ".b32", MOD_TYPE, SIM_PIPE_ALU, 4, 4,
     decode_masks},
    {"bmsk", "bmsk{.clamp,.wrap}.b32 d, pos, len;", ".b32", MOD_TYPE | MOD_MODE,
     SIM_PIPE_ALU, 3, 3, decode_masks},
    {"szext", "szext{.clamp,.wrap}.type d, a, b;", ".u32 .s32", MOD_TYPE | MOD_MODE,
     SIM_PIPE_ALU, 3, 3, decode_masks},
};
const struct op_family ops_logic = {rows, (int)(sizeof rows / sizeof *rows)};
