/* ops_atomic.c - atom and red (PTX ISA 9.0, 9.7.13.5 and on).
 *
 * Lanes go one after the other, lowest first. Global memory is shared by the host
 * threads that run other blocks, so there every update is a compare-and-swap of the
 * host; shared memory belongs to one of them. Sums of floats depend on the order of
 * blocks: decode notes them, and such launches run on one host thread. */
#include "access.h"
#include "decode_parts.h"
#include "numeric.h"

enum atomic {
    AT_ADD,
    AT_MIN,
    AT_MAX,
    AT_INC,
    AT_DEC,
    AT_CAS,
    AT_EXCH,
    AT_AND,
    AT_OR,
    AT_XOR
};

static const char *const names[] = {"add", "min",  "max", "inc", "dec",
                                    "cas", "exch", "and", "or",  "xor"};

struct atomic_op {
    enum atomic what;
    enum ptx_type type;
};

static uint64_t add_halves(enum ptx_type type, uint64_t old, uint64_t b)
{
    uint64_t result = 0;
    bool bf = type == PTX_BF16 || type == PTX_BF16X2;
    for (int i = 0; i < (ptx_type_bits(type) == 32 ? 2 : 1); i++) {
        uint32_t x = old >> (16 * i) & 0xffff, y = b >> (16 * i) & 0xffff;
        float sum =
            bf ? bfloat_value(x) + bfloat_value(y) : half_value(x) + half_value(y);
        uint32_t bits = f32_to_bits(sum);
        result |= (uint64_t)(bf ? f32_to_bfloat_bits(bits) : f32_to_half_bits(bits))
                  << (16 * i);
    }
    return result;
}

static uint64_t add_values(enum ptx_type type, uint64_t old, uint64_t b)
{
    switch (type) {
    case PTX_F32:
        return canon_f32(bits_to_f32((uint32_t)old) + bits_to_f32((uint32_t)b));
    case PTX_F64:
        return f64_to_bits(bits_to_f64(old) + bits_to_f64(b));
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        return add_halves(type, old, b);
    default:
        return old + b;
    }
}

static bool is_less(enum ptx_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case PTX_S32:
        return (int32_t)a < (int32_t)b;
    case PTX_S64:
        return (int64_t)a < (int64_t)b;
    case PTX_U32:
        return (uint32_t)a < (uint32_t)b;
    default:
        return a < b;
    }
}

static uint64_t next_value(const struct atomic_op *at, uint64_t old, uint64_t b,
                           uint64_t c)
{
    switch (at->what) {
    case AT_ADD:
        return add_values(at->type, old, b);
    case AT_MIN:
        return is_less(at->type, b, old) ? b : old;
    case AT_MAX:
        return is_less(at->type, old, b) ? b : old;
    case AT_INC:
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case AT_DEC:
        return old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case AT_CAS:
        return old == b ? c : old;
    case AT_EXCH:
        return b;
    case AT_AND:
        return old & b;
    case AT_OR:
        return old | b;
    default:
        return old ^ b;
    }
}

/* One update of memory that other host threads use too; returns the old value. */
#define UPDATE_SHARED_BY_THREADS(name, TYPE)                                      \
    static uint64_t name(const struct atomic_op *at, uint8_t *place, uint64_t b,  \
                         uint64_t c)                                              \
    {                                                                             \
        TYPE *target = (TYPE *)(void *)place;                                     \
        TYPE old = __atomic_load_n(target, __ATOMIC_SEQ_CST), wanted;             \
        do                                                                        \
            wanted = (TYPE)next_value(at, old, (TYPE)b, (TYPE)c);                 \
        while (!__atomic_compare_exchange_n(target, &old, wanted, false,          \
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return old;                                                               \
    }
UPDATE_SHARED_BY_THREADS(update_16, uint16_t)
UPDATE_SHARED_BY_THREADS(update_32, uint32_t)
UPDATE_SHARED_BY_THREADS(update_64, uint64_t)

/* The same in memory that only this host thread uses. */
static uint64_t update_alone(const struct atomic_op *at, uint8_t *place, int bytes,
                             uint64_t b, uint64_t c)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * bytes)) - 1, old = 0;
    memcpy(&old, place, (size_t)bytes);
    uint64_t wanted = next_value(at, old, b & mask, c & mask);
    memcpy(place, &wanted, (size_t)bytes);
    return old;
}

static uint64_t update(const struct atomic_op *at, uint8_t space, uint8_t *place,
                       int bytes, uint64_t b, uint64_t c)
{
    return space == PTX_SHARED || space == PTX_LOCAL
               ? update_alone(at, place, bytes, b, c)
           : bytes == 8 ? update_64(at, place, b, c)
           : bytes == 2 ? update_16(at, place, b, c)
                        : update_32(at, place, b, c);
}

static uint64_t lane_value(const struct warp *w, uint32_t row, int bytes, int lane)
{
    return bytes == 8 ? row64(w, row)[lane] : row32(w, row)[lane];
}

static void atomic(struct warp *w, const struct op *op)
{
    const struct atomic_op *at = op->extra;
    uint64_t addresses[LANES], *address = w->worker->address;
    uint32_t whole = w->mask, left = whole;
    int bytes = op->width;
    access_addresses(w, op, addresses);
    bool returns = op->flags & ATOMIC_RETURNS;
    w->worker->polls += returns;
    while (left != 0 && !w->worker->stop) {
        uint8_t space = op->space;
        if (space == PTX_GENERIC) {
            space = access_split(w, &left, addresses, address);
        } else {
            memcpy(address, addresses, sizeof addresses);
            left = 0;
        }
        struct resolved r;
        if (!access_resolve(w, op, space, ACCESS_ATOMIC, (uint32_t)bytes, (uint32_t)bytes,
                            address, &r))
            break;
        for (int l = 0; l < LANES; l++) {
            if (!(w->mask >> l & 1))
                continue;
            uint64_t c = at->what == AT_CAS ? lane_value(w, op->s[2], bytes, l) : 0;
            uint64_t old = update(at, space, access_lane(&r, l), bytes,
                                  lane_value(w, op->s[1], bytes, l), c);
            if (returns && bytes == 8)
                row64(w, op->d)[l] = old;
            else if (returns)
                row32(w, op->d)[l] = (uint32_t)old;
        }
    }
    w->mask = whole;
}

static bool type_fits(enum atomic what, enum ptx_type type)
{
    bool is_float = type == PTX_F32 || type == PTX_F64 || type == PTX_F16 ||
                    type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
    bool b = type == PTX_B32 || type == PTX_B64;
    bool word = type == PTX_U32 || type == PTX_S32 || type == PTX_U64 || type == PTX_S64;
    switch (what) {
    case AT_ADD:
        return is_float || word;
    case AT_MIN:
    case AT_MAX:
        return word;
    case AT_INC:
    case AT_DEC:
        return type == PTX_U32;
    case AT_CAS:
        return b || type == PTX_B16;
    default:
        return b;
    }
}

static bool decode_atomic(struct decoder *dec, const struct ptx_insn *in,
                          const struct mods *mods, struct op *op)
{
    struct atomic_op *at = decode_alloc(dec, sizeof *at);
    int what = -1, start = in->base[0] == 'a' ? 1 : 0;
    enum ptx_type type = mods->type[0];
    for (int i = 0; i < mods->word_count; i++)
        for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
            if (strcmp(mods->word[i], names[k]) == 0)
                what = k;
    if (mods->vec != 1)
        return decode_fail(dec, "vector atomics are not supported yet");
    if (what < 0 || !type_fits((enum atomic)what, type))
        return decode_fail(dec, "not for this operation and type .%s",
                           ptx_type_name(type));
    *at = (struct atomic_op){(enum atomic)what, type};
    if (in->operand_count < start + 2 + (what == AT_CAS))
        return decode_fail(dec, "too few operands");
    bool returns = start == 1 && in->operand[0].kind != PTX_OPERAND_SINK;
    op->fn = atomic;
    op->flags = returns ? ATOMIC_RETURNS : 0;
    op->extra = at;
    op->space = (uint8_t)mods->space;
    op->width = (uint8_t)(ptx_type_bits(type) / 8);
    /* between blocks: sums of floats, the last of several values, and what a thread
     * learns of the others depend on the order */
    bool ordered = (what == AT_ADD && type >= PTX_F16 && type <= PTX_F64) ||
                   what == AT_EXCH || what == AT_CAS || returns;
    dec->code->float_atomics |= ordered && mods->space != PTX_SHARED;
    if (returns && !decode_dst(dec, &in->operand[0], type, &op->d))
        return false;
    return decode_address(dec, &in->operand[start], mods->space, op) &&
           decode_src(dec, &in->operand[start + 1], type, &op->s[1]) &&
           (what != AT_CAS || decode_src(dec, &in->operand[start + 2], type, &op->s[2]));
}

enum {
    ATOMIC = MOD_TYPE | MOD_SPACE | MOD_ORDER | MOD_SCOPE | MOD_CACHE | MOD_MODE |
             MOD_BOOL | MOD_VEC
};
static const char atomic_types[] =
    ".b16 .b32 .b64 .u32 .u64 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32 .f64";

static const struct op_row rows[] = {
    {"atom", "atom{.order}{.scope}{.space}.op{.noftz}.type d, [a], b{, c};", atomic_types,
     ATOMIC, SIM_PIPE_LSU, 3, 5, decode_atomic},
    {"red", "red{.order}{.scope}{.space}.op{.noftz}.type [a], b;", atomic_types, ATOMIC,
     SIM_PIPE_LSU, 2, 3, decode_atomic},
};
const struct op_family ops_atomic = {rows, (int)(sizeof rows / sizeof *rows)};
