/* ops_move.c - moves, packing, selection and address conversion (PTX ISA 9.0, 9.7.6.8
 * and 9.7.9). */
#include "numeric.h"
#include "ops.h"

/* --- moves and selection ----------------------------------------------------------- */

LANEWISE(mov_32, uint32_t, uint32_t, a)
LANEWISE(mov_64, uint64_t, uint64_t, a)

static void mov_128(struct warp *w, const struct op *op)
{
    const uint64_t *a = row64(w, op->s[0]);
    uint64_t *d = row64(w, op->d);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1) {
            d[2 * l] = a[2 * l];
            d[2 * l + 1] = a[2 * l + 1];
        }
}

static void mov_pred(struct warp *w, const struct op *op)
{
    uint32_t *d = pred(w, op->d);
    uint32_t value = *pred(w, op->s[0]) ^ (op->flags & 1 ? FULL_MASK : 0);
    *d = (*d & ~w->mask) | (value & w->mask);
}

/* mov.b64 {lo, hi}, x and mov.b64 x, {lo, hi}: `width` bytes an element */
static uint64_t lane_get(const struct warp *w, uint32_t row, int bytes, int lane)
{
    return bytes == 8 ? row64(w, row)[lane] : row32(w, row)[lane];
}

static void mov_unpack(struct warp *w, const struct op *op)
{
    int bytes = op->width;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint8_t whole[16];
        memcpy(whole, w->rows + op->s[0] + (size_t)l * op->flags, op->flags);
        for (int i = 0; i < op->count; i++) {
            uint64_t value = 0;
            memcpy(&value, whole + i * bytes, (size_t)bytes);
            if (bytes == 8)
                row64(w, op->list[i])[l] = value;
            else
                row32(w, op->list[i])[l] = (uint32_t)value;
        }
    }
}

static void mov_pack(struct warp *w, const struct op *op)
{
    int bytes = op->width;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint8_t whole[16] = {0};
        for (int i = 0; i < op->count; i++) {
            uint64_t value = lane_get(w, op->list[i], bytes, l);
            memcpy(whole + i * bytes, &value, (size_t)bytes);
        }
        memcpy(w->rows + op->d + (size_t)l * op->flags, whole, op->flags);
    }
}

/* The usual two: words of 32 bits and a double word, halves and a word. */
#define PACK_LOOP(statement)          \
    for (int l = 0; l < LANES; l++) { \
        bool on = mask >> l & 1;      \
        statement;                    \
    }
static void pack_64(struct warp *w, const struct op *op)
{
    const uint32_t *low = row32(w, op->list[0]), *high = row32(w, op->list[1]);
    uint64_t *d = row64(w, op->d);
    uint32_t mask = w->mask;
    NO_ALIAS PACK_LOOP(d[l] = on ? low[l] | (uint64_t)high[l] << 32 : d[l])
}
static void pack_32(struct warp *w, const struct op *op)
{
    const uint32_t *low = row32(w, op->list[0]), *high = row32(w, op->list[1]);
    uint32_t *d = row32(w, op->d);
    uint32_t mask = w->mask;
    NO_ALIAS PACK_LOOP(d[l] = on ? (low[l] & 0xffff) | high[l] << 16 : d[l])
}
static void unpack_64(struct warp *w, const struct op *op)
{
    uint32_t *low = row32(w, op->list[0]), *high = row32(w, op->list[1]);
    const uint64_t *a = row64(w, op->s[0]);
    uint32_t mask = w->mask;
    NO_ALIAS PACK_LOOP(low[l] = on ? (uint32_t)a[l] : low[l]) NO_ALIAS PACK_LOOP(
        high[l] = on ? (uint32_t)(a[l] >> 32) : high[l])
}
static void unpack_32(struct warp *w, const struct op *op)
{
    uint32_t *low = row32(w, op->list[0]), *high = row32(w, op->list[1]);
    uint32_t mask = w->mask, a[LANES];
    memcpy(a, row32(w, op->s[0]), sizeof a); /* it may be one of the two */
    NO_ALIAS PACK_LOOP(low[l] = on ? a[l] & 0xffff : low[l]) NO_ALIAS PACK_LOOP(
        high[l] = on ? a[l] >> 16 : high[l])
}

static void selp_32(struct warp *w, const struct op *op)
{
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]);
    uint32_t *d = row32(w, op->d), mask = w->mask;
    uint32_t p = *pred(w, op->s[2]) ^ (op->flags & 1 ? FULL_MASK : 0);
    for (int l = 0; l < LANES; l++) {
        uint32_t v = (p >> l & 1) ? a[l] : b[l];
        d[l] = (mask >> l & 1) ? v : d[l];
    }
}
static void selp_64(struct warp *w, const struct op *op)
{
    const uint64_t *a = row64(w, op->s[0]), *b = row64(w, op->s[1]);
    uint64_t *d = row64(w, op->d);
    uint32_t p = *pred(w, op->s[2]) ^ (op->flags & 1 ? FULL_MASK : 0), mask = w->mask;
    for (int l = 0; l < LANES; l++) {
        uint64_t v = (p >> l & 1) ? a[l] : b[l];
        d[l] = (mask >> l & 1) ? v : d[l];
    }
}

enum { SLCT_FLOAT = 1, SLCT_FTZ = 2 };

/* slct d, a, b, c: c >= 0 ? a : b; a NaN is not >= 0 */
static void slct(struct warp *w, const struct op *op)
{
    const uint32_t *c = row32(w, op->s[2]);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        float value;
        uint32_t bits = op->flags & SLCT_FTZ ? flush_bits(c[l]) : c[l];
        memcpy(&value, &bits, sizeof value);
        bool first = op->flags & SLCT_FLOAT ? value >= 0.0f : (int32_t)c[l] >= 0;
        uint32_t from = first ? op->s[0] : op->s[1];
        if (op->width == 8)
            row64(w, op->d)[l] = row64(w, from)[l];
        else
            row32(w, op->d)[l] = row32(w, from)[l];
    }
}

/* cvta: add or take away the base of a window; imm holds it */
LANEWISE(cvta_64, uint64_t, uint64_t, a + op->imm)
LANEWISE(cvta_32, uint32_t, uint32_t, a + (uint32_t)op->imm)

static void isspacep(struct warp *w, const struct op *op)
{
    const uint64_t *a = row64(w, op->s[0]);
    uint32_t *d = pred(w, op->d), value = 0;
    for (int l = 0; l < LANES; l++) {
        bool shared = a[l] - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES;
        bool local = a[l] - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES;
        bool param = a[l] - SIM_PARAM_WINDOW < SIM_WINDOW_BYTES;
        bool in = op->space == PTX_SHARED  ? shared
                  : op->space == PTX_LOCAL ? local
                  : op->space == PTX_PARAM ? param
                  : op->space == PTX_CONST ? false
                                           : !shared && !local && !param;
        value |= (uint32_t)in << l;
    }
    *d = (*d & ~w->mask) | (value & w->mask);
}

/* --- decode ------------------------------------------------------------------------ */

static bool word_is(const struct mods *mods, int i, const char *word)
{
    return i < mods->word_count && strcmp(mods->word[i], word) == 0;
}

/* Registers have 16 to 128 bits; 8-bit values live in wider ones. */
static bool check_width(struct decoder *dec, enum ptx_type type, int most)
{
    int bits = ptx_type_bits(type);
    return (bits >= 16 && bits <= most) ||
           decode_fail(dec, type == PTX_TYPE_NONE ? "needs a type" : "not for type .%s",
                       ptx_type_name(type));
}

/* Element type of a pack or unpack of `count` elements out of `bits` bits. */
static enum ptx_type element_type(int bits, int count)
{
    int each = count > 0 ? bits / count : 0;
    return each == 8    ? PTX_B8
           : each == 16 ? PTX_B16
           : each == 32 ? PTX_B32
           : each == 64 ? PTX_B64
                        : PTX_TYPE_NONE;
}

static bool decode_mov_vector(struct decoder *dec, const struct ptx_insn *in,
                              enum ptx_type type, struct op *op)
{
    bool unpack = in->operand[0].kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = &in->operand[unpack ? 0 : 1];
    int bits = ptx_type_bits(type), count;
    enum ptx_type element = element_type(bits, vector->element_count);
    if (element == PTX_TYPE_NONE || vector->element_count > 4 || bits > 128)
        return decode_fail(dec, "%d elements do not fill .%s", vector->element_count,
                           ptx_type_name(type));
    op->fn = unpack ? mov_unpack : mov_pack;
    if (vector->element_count == 2 && bits == 64)
        op->fn = unpack ? unpack_64 : pack_64;
    if (vector->element_count == 2 && bits == 32)
        op->fn = unpack ? unpack_32 : pack_32;
    op->flags = (uint8_t)(bits <= 32 ? 4 : bits / 8);
    op->width = (uint8_t)(ptx_type_bits(element) / 8);
    op->count = (uint8_t)vector->element_count;
    return decode_list(dec, vector, element, unpack, op, &count) &&
           (unpack ? decode_src(dec, &in->operand[1], type, &op->s[0])
                   : decode_dst(dec, &in->operand[0], type, &op->d));
}

static bool decode_mov(struct decoder *dec, const struct ptx_insn *in,
                       const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    int bits = ptx_type_bits(type);
    if (in->operand[0].kind == PTX_OPERAND_VECTOR ||
        in->operand[1].kind == PTX_OPERAND_VECTOR)
        return decode_mov_vector(dec, in, type, op);
    if (type == PTX_PRED) {
        bool negated = false;
        op->fn = mov_pred;
        if (!decode_pred(dec, &in->operand[0], &op->d, NULL) ||
            !decode_pred(dec, &in->operand[1], &op->s[0], &negated))
            return false;
        op->flags = negated;
        return true;
    }
    op->fn = bits == 128 ? mov_128 : bits == 64 ? mov_64 : mov_32;
    return check_width(dec, type, 128) && decode_plain(dec, in, op, type, type);
}

static bool decode_selp(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0];
    bool negated = false;
    op->fn = ptx_type_bits(type) == 64 ? selp_64 : selp_32;
    if (!check_width(dec, type, 64) || !decode_dst(dec, &in->operand[0], type, &op->d) ||
        !decode_src(dec, &in->operand[1], type, &op->s[0]) ||
        !decode_src(dec, &in->operand[2], type, &op->s[1]) ||
        !decode_pred(dec, &in->operand[3], &op->s[2], &negated))
        return false;
    op->flags = negated;
    return true;
}

static bool decode_slct(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    enum ptx_type type = mods->type[0], test = mods->type[1];
    if (mods->type_count != 2 || (test != PTX_S32 && test != PTX_F32))
        return decode_fail(dec, "the second type must be .s32 or .f32");
    op->fn = slct;
    if (mods->ftz && test != PTX_F32)
        return decode_fail(dec, ".ftz goes with .f32");
    op->flags =
        (uint8_t)((test == PTX_F32 ? SLCT_FLOAT : 0) | (mods->ftz ? SLCT_FTZ : 0));
    op->width = ptx_type_bits(type) == 64 ? 8 : 4;
    return check_width(dec, type, 64) && decode_dst(dec, &in->operand[0], type, &op->d) &&
           decode_src(dec, &in->operand[1], type, &op->s[0]) &&
           decode_src(dec, &in->operand[2], type, &op->s[1]) &&
           decode_src(dec, &in->operand[3], test, &op->s[2]);
}

static uint64_t window_of(enum ptx_space space)
{
    return space == PTX_SHARED  ? SIM_SHARED_WINDOW
           : space == PTX_LOCAL ? SIM_LOCAL_WINDOW
           : space == PTX_PARAM ? SIM_PARAM_WINDOW
                                : 0;
}

static bool decode_cvta(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    bool to = word_is(mods, 0, "to");
    int bits = ptx_type_bits(mods->type[0]);
    if (mods->space == PTX_GENERIC || (bits != 32 && bits != 64))
        return decode_fail(dec, "needs a state space and .u64");
    op->fn = bits == 64 ? cvta_64 : cvta_32;
    op->imm = to ? 0 - window_of(mods->space) : window_of(mods->space);
    op->pipe = SIM_PIPE_ALU;
    return decode_plain(dec, in, op, mods->type[0], mods->type[0]);
}

static bool decode_isspacep(struct decoder *dec, const struct ptx_insn *in,
                            const struct mods *mods, struct op *op)
{
    if (mods->space == PTX_GENERIC)
        return decode_fail(dec, "needs a state space");
    op->fn = isspacep;
    op->space = (uint8_t)mods->space;
    return decode_pred(dec, &in->operand[0], &op->d, NULL) &&
           decode_src(dec, &in->operand[1], PTX_U64, &op->s[0]);
}

static const struct op_row rows[] = {
    {"mov", "mov.type d, a;  mov.type {d,..}, a;  mov.type d, {a,..};",
     ".pred .b16 .b32 .b64 .b128 .u16 .u32 .u64 .s16 .s32 .s64 .f16 .bf16 .f32 .f64",
     MOD_TYPE, SIM_PIPE_ALU, 2, 2, decode_mov},
    {"selp", "selp.type d, a, b, p;",
     ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64", MOD_TYPE, SIM_PIPE_ALU, 4,
     4, decode_selp},
    {"slct", "slct{.ftz}.type.ctype d, a, b, c;",
     ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64",
     MOD_TYPE | MOD_TYPE2 | MOD_FTZ, SIM_PIPE_ALU, 4, 4, decode_slct},
    {"cvta", "cvta{.to}.space.type d, a;", ".u32 .u64", MOD_TYPE | MOD_SPACE | MOD_MODE,
     SIM_PIPE_ALU, 2, 2, decode_cvta},
    {"isspacep", "isspacep.space p, a;", NULL, MOD_SPACE, SIM_PIPE_ALU, 2, 2,
     decode_isspacep},
};
const struct op_family ops_move = {rows, (int)(sizeof rows / sizeof *rows)};
