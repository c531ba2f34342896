/* ops_video.c - the video instructions: scalar ones on bytes, halves and words, and
 * SIMD ones on two halves or four bytes (PTX ISA 9.0, 9.7.17 and 9.7.18).
 *
 * Operands name parts: a.b1 is byte 1 of a register; a.b7120 (SIMD) picks four bytes of
 * the pair {b, a}. The parts are widened, the operation is done without overflow, and
 * what comes out is clamped (.sat), combined with c, or put into a part of c. */
#include "ops.h"

__extension__ typedef __int128 wide;

enum video_what {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVRG,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
    VIDEO_SET
};
enum video_second { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX, SECOND_MERGE };

/* Bits of a source or destination: `bits` from bit `at` on. */
struct video_part {
    uint8_t at, bits;
};

struct video {
    enum video_what what;
    enum video_second second;
    enum mod_cmp cmp;
    bool sign_d, sign_a, sign_b, sat, wrap, plus_one, minus_ab, minus_c;
    uint8_t scale; /* vmad: bits that the sum is shifted right */
    uint8_t lanes; /* 1, 2 or 4 */
    uint8_t mask;  /* SIMD: elements that are written */
    struct video_part a[4], b[4], d;
};

/* --- values ----------------------------------------------------------------------- */

static int64_t widen(uint64_t from, struct video_part part, bool is_signed)
{
    uint64_t field = from >> part.at & (((uint64_t)1 << part.bits) - 1);
    uint64_t top = (uint64_t)1 << (part.bits - 1);
    return is_signed ? (int64_t)(field ^ top) - (int64_t)top : (int64_t)field;
}

static wide clamp(wide x, int bits, bool is_signed)
{
    wide most = ((wide)1 << (is_signed ? bits - 1 : bits)) - 1;
    wide least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

static bool compare(enum mod_cmp cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
        return a < b;
    case CMP_LE:
        return a <= b;
    case CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static wide operate(const struct video *v, int64_t a, int64_t b)
{
    int64_t amount = v->wrap ? b & 31 : b > 32 ? 32 : b;
    switch (v->what) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_SHL:
        return (wide)a * ((wide)1 << amount);
    case VIDEO_SHR:
        return a >> amount;
    default:
        return compare(v->cmp, a, b);
    }
}

static uint32_t second(const struct video *v, uint32_t x, uint32_t c)
{
    bool less = v->sign_d ? (int32_t)x < (int32_t)c : x < c;
    uint32_t keep = v->d.bits == 32 ? 0 : ~((((uint32_t)1 << v->d.bits) - 1) << v->d.at);
    switch (v->second) {
    case SECOND_ADD:
        return x + c;
    case SECOND_MIN:
        return less ? x : c;
    case SECOND_MAX:
        return less ? c : x;
    case SECOND_MERGE:
        return (x << v->d.at & ~keep) | (c & keep);
    default:
        return x;
    }
}

static uint32_t scalar(const struct video *v, uint32_t ra, uint32_t rb, uint32_t c)
{
    wide x = operate(v, widen(ra, v->a[0], v->sign_a), widen(rb, v->b[0], v->sign_b));
    if (v->sat)
        x = clamp(x, v->d.bits, v->sign_d);
    return second(v, (uint32_t)x, c);
}

/* d = (+-(a * b) +- c + 1?) >> scale, clamped to 32 bits */
static uint32_t multiply_add(const struct video *v, uint32_t ra, uint32_t rb, uint32_t c)
{
    bool is_signed = v->sign_a || v->sign_b || v->minus_ab || v->minus_c;
    wide product = (wide)widen(ra, v->a[0], v->sign_a) * widen(rb, v->b[0], v->sign_b);
    wide addend = is_signed ? (wide)(int32_t)c : (wide)c;
    wide sum = (v->minus_ab ? -product : product) + (v->minus_c ? -addend : addend) +
               v->plus_one;
    sum >>= v->scale;
    return (uint32_t)(v->sat ? clamp(sum, 32, is_signed) : sum);
}

static uint32_t simd(const struct video *v, uint32_t ra, uint32_t rb, uint32_t c)
{
    uint64_t pair = (uint64_t)rb << 32 | ra;
    int bits = 32 / v->lanes;
    uint32_t ones = ((uint32_t)1 << bits) - 1, d = v->second == SECOND_ADD ? c : 0;
    for (int i = 0; i < v->lanes; i++) {
        wide x =
            operate(v, widen(pair, v->a[i], v->sign_a), widen(pair, v->b[i], v->sign_b));
        bool on = v->mask >> i & 1;
        if (v->sat)
            x = clamp(x, bits, v->sign_d);
        if (v->second == SECOND_ADD)
            d += on ? (uint32_t)x : 0;
        else
            d |= on ? ((uint32_t)x & ones) << (bits * i) : c & ones << (bits * i);
    }
    return d;
}

static void video(struct warp *w, const struct op *op)
{
    const struct video *v = op->extra;
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]),
                   *c = row32(w, op->s[2]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            d[l] = v->lanes > 1           ? simd(v, a[l], b[l], c[l])
                   : v->what == VIDEO_MAD ? multiply_add(v, a[l], b[l], c[l])
                                          : scalar(v, a[l], b[l], c[l]);
}

/* --- decode ----------------------------------------------------------------------- */

/* .b0 .. .b3, .h0, .h1 of a scalar operand; nothing: the whole register */
static bool read_part(struct decoder *dec, const char *name, struct video_part *part)
{
    *part = (struct video_part){0, 32};
    if (name == NULL)
        return true;
    int bits = name[0] == 'b' ? 8 : 16, at = name[0] != '\0' ? name[1] - '0' : -1;
    if ((name[0] != 'b' && name[0] != 'h') || at < 0 || at >= 32 / bits ||
        name[2] != '\0')
        return decode_fail(dec, ".%s is no part of a register", name);
    *part = (struct video_part){(uint8_t)(at * bits), (uint8_t)bits};
    return true;
}

/* .h10 or .b3210 of a SIMD source, highest element first, out of {b, a} */
static bool read_parts(struct decoder *dec, const char *name, int lanes, int first,
                       struct video_part *parts)
{
    int bits = 32 / lanes;
    if (name != NULL &&
        (name[0] != (lanes == 2 ? 'h' : 'b') || strlen(name) != (size_t)lanes + 1))
        return decode_fail(dec, ".%s does not pick %d elements", name, lanes);
    for (int i = 0; i < lanes; i++) {
        int at = name != NULL ? name[lanes - i] - '0' : first + i;
        if (at < 0 || at >= 2 * lanes)
            return decode_fail(dec, ".%s picks an element that is not there", name);
        parts[i] = (struct video_part){(uint8_t)(at * bits), (uint8_t)bits};
    }
    return true;
}

/* .h0 .. .h10, .b0 .. .b3210 of a SIMD destination: falling numbers of elements */
static bool read_mask(struct decoder *dec, const char *name, int lanes, uint8_t *mask)
{
    *mask = (uint8_t)((1 << lanes) - 1);
    if (name == NULL)
        return true;
    *mask = 0;
    int above = lanes;
    bool good = name[0] == (lanes == 2 ? 'h' : 'b') && name[1] != '\0';
    for (const char *digit = name + 1; good && *digit != '\0'; digit++) {
        int at = *digit - '0';
        good = at >= 0 && at < above;
        above = at;
        *mask |= good ? (uint8_t)(1 << at) : 0;
    }
    return good || decode_fail(dec, ".%s names no elements of the result", name);
}

/* The register of an operand whose part and sign have been noted. */
static bool bare_src(struct decoder *dec, const struct ptx_operand *operand,
                     uint32_t *row)
{
    struct ptx_operand bare = *operand;
    bare.part = NULL;
    bare.minus = false;
    return decode_src(dec, &bare, PTX_B32, row);
}

static bool decode_words(struct decoder *dec, const struct mods *mods, struct video *v)
{
    v->wrap = false;
    for (int i = 0; i < mods->word_count; i++) {
        const char *word = mods->word[i];
        bool shift = v->what == VIDEO_SHL || v->what == VIDEO_SHR;
        bool mad = v->what == VIDEO_MAD, add = strcmp(word, "add") == 0;
        if (!mad && (add || (v->lanes == 1 &&
                             (strcmp(word, "min") == 0 || strcmp(word, "max") == 0))))
            v->second = add ? SECOND_ADD : word[1] == 'i' ? SECOND_MIN : SECOND_MAX;
        else if (shift && (strcmp(word, "clamp") == 0 || strcmp(word, "wrap") == 0))
            v->wrap = word[0] == 'w';
        else if (mad && strcmp(word, "po") == 0)
            v->plus_one = true;
        else if (mad && strcmp(word, "shr7") == 0)
            v->scale = 7;
        else if (mad && strcmp(word, "shr15") == 0)
            v->scale = 15;
        else
            return decode_fail(dec, "it does not take .%s", word);
    }
    return true;
}

static bool decode_parts(struct decoder *dec, const struct ptx_insn *in, struct video *v)
{
    const struct ptx_operand *o = in->operand;
    for (int i = 1; i < in->operand_count; i++)
        if (o[i].minus && v->what != VIDEO_MAD)
            return decode_fail(dec, "it takes no negated operand");
    if (in->operand_count == 4 && o[3].part != NULL)
        return decode_fail(dec, "the last operand is a whole register");
    if (v->lanes > 1)
        return read_mask(dec, o[0].part, v->lanes, &v->mask) &&
               read_parts(dec, o[1].part, v->lanes, 0, v->a) &&
               read_parts(dec, o[2].part, v->lanes, v->lanes, v->b);
    if (o[0].part != NULL && (v->second != SECOND_NONE || v->what == VIDEO_MAD))
        return decode_fail(dec, "it cannot put the result into a part");
    if (o[0].part != NULL)
        v->second = SECOND_MERGE;
    v->minus_ab = o[1].minus != o[2].minus;
    v->minus_c = in->operand_count == 4 && o[3].minus;
    if (v->plus_one + v->minus_ab + v->minus_c > 1 || (o[1].minus && o[2].minus))
        return decode_fail(dec, "one of .po, -a, -b and -c at most");
    bool third = v->second != SECOND_NONE || v->what == VIDEO_MAD;
    if (third != (in->operand_count == 4))
        return decode_fail(dec,
                           third ? "it needs three sources" : "it takes two sources");
    return read_part(dec, o[0].part, &v->d) && read_part(dec, o[1].part, &v->a[0]) &&
           read_part(dec, o[2].part, &v->b[0]);
}

static const struct {
    const char *name;
    enum video_what what;
} names[] = {
    {"vadd", VIDEO_ADD}, {"vsub", VIDEO_SUB}, {"vabsdiff", VIDEO_ABSDIFF},
    {"vmin", VIDEO_MIN}, {"vmax", VIDEO_MAX}, {"vavrg", VIDEO_AVRG},
    {"vshl", VIDEO_SHL}, {"vshr", VIDEO_SHR}, {"vmad", VIDEO_MAD},
    {"vset", VIDEO_SET},
};

static bool decode_video(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    struct video *v = decode_alloc(dec, sizeof *v);
    size_t length = strlen(in->base);
    char last = in->base[length - 1];
    v->lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
    length -= v->lanes > 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(names[i].name, in->base, length) == 0 &&
            names[i].name[length] == '\0')
            v->what = names[i].what;
    bool set = v->what == VIDEO_SET;
    if (mods->type_count != (set ? 2 : 3))
        return decode_fail(dec, "it takes %s types", set ? "two" : "three");
    for (int i = 0; i < mods->type_count; i++)
        if (mods->type[i] != PTX_U32 && mods->type[i] != PTX_S32)
            return decode_fail(dec, "its types are .u32 and .s32");
    if ((v->what == VIDEO_SHL || v->what == VIDEO_SHR) && mods->type[2] != PTX_U32)
        return decode_fail(dec, "the amount is .u32");
    v->cmp = mods->cmp;
    v->sign_d = !set && mods->type[0] == PTX_S32;
    v->sign_a = mods->type[set ? 0 : 1] == PTX_S32;
    v->sign_b = mods->type[set ? 1 : 2] == PTX_S32;
    v->sat = mods->sat;
    if (set && (mods->cmp < CMP_EQ || mods->cmp > CMP_GE))
        return decode_fail(dec, "it needs .eq, .ne, .lt, .le, .gt or .ge");
    if (!decode_words(dec, mods, v) || !decode_parts(dec, in, v))
        return false;
    if (v->lanes > 1 && v->sat && v->second == SECOND_ADD)
        return decode_fail(dec, ".sat does not go with .add");
    struct ptx_operand result = in->operand[0];
    result.part = NULL;
    op->fn = video;
    op->extra = v;
    return decode_dst(dec, &result, PTX_B32, &op->d) &&
           bare_src(dec, &in->operand[1], &op->s[0]) &&
           bare_src(dec, &in->operand[2], &op->s[1]) &&
           bare_src(dec, &in->operand[in->operand_count - 1], &op->s[2]);
}

enum {
    SCALAR = MOD_TYPE | MOD_TYPE2 | MOD_SAT | MOD_MODE,
    SET = MOD_TYPE | MOD_TYPE2 | MOD_CMP | MOD_MODE
};
static const char types[] = ".u32 .s32";

#define VIDEO(name)                                                                     \
    {                                                                                   \
        name, name ".dtype.atype.btype{.sat}{.op2} d{.part}, a{.part}, b{.part}{, c};", \
            types, SCALAR, SIM_PIPE_ALU, 3, 4, decode_video                             \
    }
#define VIDEO_SIMD(name)                                                               \
    {                                                                                  \
        name, name ".dtype.atype.btype{.sat,.add} d{.mask}, a{.parts}, b{.parts}, c;", \
            types, SCALAR, SIM_PIPE_ALU, 4, 4, decode_video                            \
    }

static const struct op_row rows[] = {
    VIDEO("vadd"),
    VIDEO("vsub"),
    VIDEO("vabsdiff"),
    VIDEO("vmin"),
    VIDEO("vmax"),
    {"vshl",
     "vshl.dtype.atype.u32{.sat}.{clamp,wrap}{.op2} d{.part}, a{.part}, b{.part}"
     "{, c};",
     types, SCALAR, SIM_PIPE_ALU, 3, 4, decode_video},
    {"vshr",
     "vshr.dtype.atype.u32{.sat}.{clamp,wrap}{.op2} d{.part}, a{.part}, b{.part}"
     "{, c};",
     types, SCALAR, SIM_PIPE_ALU, 3, 4, decode_video},
    {"vmad",
     "vmad.dtype.atype.btype{.po}{.sat}{.shr7,.shr15} d, {-}a{.part}, "
     "{-}b{.part}, {-}c;",
     types, SCALAR, SIM_PIPE_ALU, 4, 4, decode_video},
    {"vset", "vset.atype.btype.cmp{.op2} d{.part}, a{.part}, b{.part}{, c};", types, SET,
     SIM_PIPE_ALU, 3, 4, decode_video},
    VIDEO_SIMD("vadd2"),
    VIDEO_SIMD("vsub2"),
    VIDEO_SIMD("vavrg2"),
    VIDEO_SIMD("vabsdiff2"),
    VIDEO_SIMD("vmin2"),
    VIDEO_SIMD("vmax2"),
    {"vset2", "vset2.atype.btype.cmp{.add} d{.mask}, a{.parts}, b{.parts}, c;", types,
     SET, SIM_PIPE_ALU, 4, 4, decode_video},
    VIDEO_SIMD("vadd4"),
    VIDEO_SIMD("vsub4"),
    VIDEO_SIMD("vavrg4"),
    VIDEO_SIMD("vabsdiff4"),
    VIDEO_SIMD("vmin4"),
    VIDEO_SIMD("vmax4"),
    {"vset4", "vset4.atype.btype.cmp{.add} d{.mask}, a{.parts}, b{.parts}, c;", types,
     SET, SIM_PIPE_ALU, 4, 4, decode_video},
};
const struct op_family ops_video = {rows, (int)(sizeof rows / sizeof *rows)};
