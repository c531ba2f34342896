/* ops_warp.c - instructions in which the lanes of a warp meet: shfl, vote, match,
 * redux, activemask, bar.warp.sync, elect (PTX ISA 9.0, 9.7.9.6 and 9.7.13).
 *
 * The fetch loop has made sure that the lanes named in the member mask are here. A
 * source lane that is not executing gives the reader its own value. */
#include "access.h"
#include "check.h"

static bool word_is(const struct mods *mods, int i, const char *word)
{
    return i < mods->word_count && strcmp(mods->word[i], word) == 0;
}

enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };

static void shfl(struct warp *w, const struct op *op)
{
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]),
                   *c = row32(w, op->s[2]);
    uint32_t source[LANES], valid = 0, mask = w->mask;
    uint32_t values[LANES];
    memcpy(values, a, sizeof values);
    for (uint32_t l = 0; l < LANES; l++) {
        int segment = (int)(c[l] >> 8 & 31), clamp = (int)(c[l] & 31), lane = (int)l;
        int shift = (int)(b[l] & 31);
        int most = (lane & segment) | (clamp & ~segment);
        int least = lane & segment;
        int from = op->flags == SHFL_UP     ? lane - shift
                   : op->flags == SHFL_DOWN ? lane + shift
                   : op->flags == SHFL_BFLY ? lane ^ shift
                                            : least | (shift & ~segment);
        bool inside = op->flags == SHFL_UP ? from >= most : from <= most;
        source[l] = inside ? (uint32_t)from & 31 : l;
        valid |= (uint32_t)inside << l;
    }
    uint32_t *d = row32(w, op->d), *p = pred(w, op->d2), absent = 0;
    for (uint32_t l = 0; l < LANES; l++)
        if (mask >> l & 1) {
            bool here = mask >> source[l] & 1;
            d[l] = here ? values[source[l]] : values[l];
            absent |= (uint32_t)!here << l;
        }
    if (absent != 0)
        check_shuffle(w, absent);
    *p = (*p & ~mask) | (valid & mask);
}

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void vote(struct warp *w, const struct op *op)
{
    uint32_t mask = w->mask;
    uint32_t value = (*pred(w, op->s[0]) ^ (op->imm ? FULL_MASK : 0)) & mask;
    if (op->flags == VOTE_BALLOT) {
        uint32_t *d = row32(w, op->d);
        for (int l = 0; l < LANES; l++)
            if (mask >> l & 1)
                d[l] = value;
        return;
    }
    bool result = op->flags == VOTE_ALL   ? value == mask
                  : op->flags == VOTE_ANY ? value != 0
                                          : value == 0 || value == mask;
    uint32_t *p = pred(w, op->d);
    *p = (*p & ~mask) | (result ? mask : 0);
}

static void match(struct warp *w, const struct op *op)
{
    uint32_t mask = w->mask, same[LANES];
    uint32_t *d = row32(w, op->d), *p = pred(w, op->d2);
    for (int l = 0; l < LANES; l++) {
        same[l] = 0;
        for (int k = 0; k < LANES; k++) {
            bool equal = op->width == 8 ? row64(w, op->s[0])[l] == row64(w, op->s[0])[k]
                                        : row32(w, op->s[0])[l] == row32(w, op->s[0])[k];
            same[l] |= (uint32_t)equal << k;
        }
        same[l] &= mask;
    }
    bool all = same[first_lane(mask)] == mask;
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            d[l] = op->flags ? (all ? mask : 0) : same[l];
    *p = (*p & ~mask) | (all ? mask : 0);
}

enum { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };

static void redux(struct warp *w, const struct op *op)
{
    const uint32_t *a = row32(w, op->s[0]);
    uint32_t mask = w->mask, result = a[first_lane(mask)];
    bool is_signed = op->imm;
    for (int l = first_lane(mask) + 1; l < LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        bool less = is_signed ? (int32_t)a[l] < (int32_t)result : a[l] < result;
        switch (op->flags) {
        case REDUX_ADD:
            result += a[l];
            break;
        case REDUX_MIN:
            result = less ? a[l] : result;
            break;
        case REDUX_MAX:
            result = less || a[l] == result ? result : a[l];
            break;
        case REDUX_AND:
            result &= a[l];
            break;
        case REDUX_OR:
            result |= a[l];
            break;
        default:
            result ^= a[l];
            break;
        }
    }
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            d[l] = result;
}

static void activemask(struct warp *w, const struct op *op)
{
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            d[l] = w->mask;
}

static void elect(struct warp *w, const struct op *op)
{
    uint32_t leader = (uint32_t)first_lane(w->mask), *d = row32(w, op->d);
    uint32_t *p = pred(w, op->d2);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            d[l] = leader;
    *p = (*p & ~w->mask) | (w->mask & (uint32_t)1 << leader);
}

/* %clock and the like: op->imm says what of the block's clock is wanted. */
enum { CLOCK_CYCLES, CLOCK_CYCLES_HIGH, CLOCK_NS, CLOCK_NS_HIGH };

static void clock(struct warp *w, const struct op *op)
{
    uint64_t value = w->block->clock;
    if (op->imm == CLOCK_NS || op->imm == CLOCK_NS_HIGH)
        value = value * 1000 / (uint64_t)w->block->launch->spec->clock_mhz;
    if (op->imm == CLOCK_CYCLES_HIGH || op->imm == CLOCK_NS_HIGH)
        value >>= 32;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        if (op->width == 8)
            row64(w, op->d)[l] = value;
        else
            row32(w, op->d)[l] = (uint32_t)value;
    }
}

/* --- decode ------------------------------------------------------------------------ */

/* The member mask of a .sync instruction: op->s[3], noted in op->sync. */
static bool decode_members(struct decoder *dec, const struct ptx_operand *operand,
                           struct op *op)
{
    op->kind = OP_WARP_SYNC;
    op->sync = 4;
    return decode_src(dec, operand, PTX_U32, &op->s[3]);
}

/* Code for sm_60 and older has shfl and vote without .sync: the lanes that are here. */
static bool without_sync(struct decoder *dec)
{
    int sm = decode_module_of(dec)->target_sm;
    return sm < 70 || decode_fail(dec, "needs .sync for sm_%d", sm);
}

static int find_word(const struct mods *mods, const char *const *names, int count)
{
    for (int i = 0; i < mods->word_count; i++)
        for (int k = 0; k < count; k++)
            if (strcmp(mods->word[i], names[k]) == 0)
                return k;
    return -1;
}

static bool decode_shfl(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    int mode = find_word(mods, modes, 4);
    if (mode < 0 || mods->type[0] != PTX_B32)
        return decode_fail(dec, "needs a mode and .b32");
    if (in->operand_count != 4 + mods->sync)
        return decode_fail(dec, "it takes %d operands", 4 + mods->sync);
    op->fn = shfl;
    op->flags = (uint8_t)mode;
    return decode_dst(dec, &in->operand[0], PTX_B32, &op->d) &&
           decode_pred2(dec, &in->operand[0], &op->d2) &&
           decode_src(dec, &in->operand[1], PTX_B32, &op->s[0]) &&
           decode_src(dec, &in->operand[2], PTX_B32, &op->s[1]) &&
           decode_src(dec, &in->operand[3], PTX_B32, &op->s[2]) &&
           (mods->sync ? decode_members(dec, &in->operand[4], op) : without_sync(dec));
}

static bool decode_vote(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    static const char *const modes[] = {"all", "any", "uni", "ballot"};
    int mode = find_word(mods, modes, 4);
    bool negated = false;
    if (mode < 0 || in->operand_count != 2 + mods->sync)
        return decode_fail(dec, "needs a mode and %d operands", 2 + mods->sync);
    op->fn = vote;
    op->flags = (uint8_t)mode;
    if (!(mode == VOTE_BALLOT ? decode_dst(dec, &in->operand[0], PTX_B32, &op->d)
                              : decode_pred(dec, &in->operand[0], &op->d, NULL)) ||
        !decode_pred(dec, &in->operand[1], &op->s[0], &negated))
        return false;
    op->imm = negated;
    return mods->sync ? decode_members(dec, &in->operand[2], op) : without_sync(dec);
}

static bool decode_match(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    static const char *const modes[] = {"any", "all"};
    int mode = find_word(mods, modes, 2);
    int bits = ptx_type_bits(mods->type[0]);
    if (mode < 0 || !mods->sync || (bits != 32 && bits != 64))
        return decode_fail(dec, "needs .sync, .any or .all and .b32 or .b64");
    op->fn = match;
    op->flags = (uint8_t)mode;
    op->width = bits == 64 ? 8 : 4;
    return decode_dst(dec, &in->operand[0], PTX_B32, &op->d) &&
           decode_pred2(dec, &in->operand[0], &op->d2) &&
           decode_src(dec, &in->operand[1], mods->type[0], &op->s[0]) &&
           decode_members(dec, &in->operand[2], op);
}

static bool decode_redux(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    int mode = find_word(mods, names, 6);
    enum ptx_type type = mods->type[0];
    if (mode < 0 || !mods->sync ||
        (mode >= REDUX_AND ? type != PTX_B32 : type != PTX_U32 && type != PTX_S32))
        return decode_fail(dec, "not for this operation and type");
    op->fn = redux;
    op->flags = (uint8_t)mode;
    op->imm = type == PTX_S32;
    return decode_dst(dec, &in->operand[0], PTX_B32, &op->d) &&
           decode_src(dec, &in->operand[1], PTX_B32, &op->s[0]) &&
           decode_members(dec, &in->operand[2], op);
}

static bool decode_activemask(struct decoder *dec, const struct ptx_insn *in,
                              const struct mods *mods, struct op *op)
{
    (void)mods;
    op->fn = activemask;
    return decode_dst(dec, &in->operand[0], PTX_B32, &op->d);
}

static bool decode_elect(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    (void)mods;
    op->fn = elect;
    return decode_dst(dec, &in->operand[0], PTX_B32, &op->d) &&
           decode_pred2(dec, &in->operand[0], &op->d2) &&
           decode_members(dec, &in->operand[1], op);
}

static bool decode_warp_barrier(struct decoder *dec, const struct ptx_insn *in,
                                const struct mods *mods, struct op *op)
{
    if (!word_is(mods, 0, "warp") || !mods->sync)
        return decode_fail(dec, "needs .warp.sync");
    return decode_members(dec, &in->operand[0], op); /* no fn: only waiting */
}

static bool decode_clock(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    static const struct {
        const char *name;
        int bits, what;
    } clocks[] = {
        {"%clock", 32, CLOCK_CYCLES},      {"%clock_hi", 32, CLOCK_CYCLES_HIGH},
        {"%clock64", 64, CLOCK_CYCLES},    {"%globaltimer", 64, CLOCK_NS},
        {"%globaltimer_lo", 32, CLOCK_NS}, {"%globaltimer_hi", 32, CLOCK_NS_HIGH},
    };
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (in->operand[1].kind == PTX_OPERAND_SREG &&
            strcmp(in->operand[1].symbol, clocks[i].name) == 0 &&
            ptx_type_bits(mods->type[0]) == clocks[i].bits) {
            op->kind = OP_CLOCK;
            op->fn = clock;
            op->imm = (uint64_t)clocks[i].what;
            op->width = (uint8_t)(clocks[i].bits / 8);
            return decode_dst(dec, &in->operand[0], mods->type[0], &op->d);
        }
    return decode_fail(dec, "this special register is not supported");
}

enum { WARP = MOD_SYNC | MOD_MODE | MOD_TYPE };

static const struct op_row rows[] = {
    {"shfl", "shfl{.sync}.{up,down,bfly,idx}.b32 d{|p}, a, b, c{, membermask};", ".b32",
     WARP, SIM_PIPE_LSU, 4, 5, decode_shfl},
    {"vote", "vote{.sync}.{all,any,uni}.pred d, p{, mask};  .ballot.b32 d, p{, mask};",
     ".pred .b32", WARP | MOD_UNI, SIM_PIPE_ALU, 2, 3, decode_vote},
    {"match", "match.{any,all}.sync.type d{|p}, a, membermask;", ".b32 .b64", WARP,
     SIM_PIPE_ALU, 3, 3, decode_match},
    {"redux", "redux.sync.op.type d, a, membermask;", ".u32 .s32 .b32", WARP | MOD_BOOL,
     SIM_PIPE_ALU, 3, 3, decode_redux},
    {"activemask", "activemask.b32 d;", ".b32", MOD_TYPE, SIM_PIPE_ALU, 1, 1,
     decode_activemask},
    {"elect", "elect.sync d|p, membermask;", NULL, MOD_SYNC, SIM_PIPE_ALU, 2, 2,
     decode_elect},
    {"bar", "bar.warp.sync membermask;", NULL, WARP, SIM_PIPE_CONTROL, 1, 1,
     decode_warp_barrier},
    {"mov", "mov.type d, %clock;  %clock_hi, %clock64, %globaltimer, ..._lo, ..._hi",
     ".u32 .b32 .u64 .b64", MOD_TYPE, SIM_PIPE_ALU, 2, 2, decode_clock},
};
const struct op_family ops_warp = {rows, (int)(sizeof rows / sizeof *rows)};
