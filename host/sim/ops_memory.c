/* ops_memory.c - ld, ldu, st, prefetch (PTX ISA 9.0, 9.7.9).
 *
 * Global, shared, local and generic accesses go through access.h. Parameters of an
 * entry are one copy for all lanes; parameters of device functions are areas in the
 * frame. Cache operators are accepted: they change speed, not results. */
#include "access.h"
#include "decode_parts.h"

/* op->flags, beside OP_BASE32. A poll reads what other threads may write meanwhile. */
enum { LOAD_SIGNED = 2, LOAD_POLL = 4 };

/* --- moving data ------------------------------------------------------------------ */

/* One element of `bytes` into lane l of a row of `lane` bytes. */
static inline void put_lane(struct warp *w, uint32_t row, int lane, int l,
                            const uint8_t *from, int bytes, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, from, (size_t)bytes);
    if (is_signed) {
        int up = 64 - 8 * bytes;
        value = (uint64_t)((int64_t)(value << up) >> up);
    }
    if (lane == 8)
        row64(w, row)[l] = value;
    else
        row32(w, row)[l] = (uint32_t)value;
}

static void load_general(struct warp *w, const struct op *op, const struct resolved *r)
{
    const uint8_t *lanes = op->extra; /* lane bytes of each element */
    bool is_signed = op->flags & LOAD_SIGNED;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        const uint8_t *from = access_lane(r, l);
        for (int i = 0; i < op->count; i++)
            if (op->width == 16)
                memcpy(w->rows + op->list[i] + (size_t)l * 16, from + i * 16, 16);
            else
                put_lane(w, op->list[i], lanes[i], l, from + i * op->width, op->width,
                         is_signed);
    }
}

/* The quick ways: a whole warp, one allocation, elements as wide as the rows or zero-
 * extended into 32-bit rows. TYPE is that of an element, ROW of a row's lanes. */
#define LOAD_WARP(name, TYPE, ROW)                                                  \
    static void name(struct warp *w, const struct op *op, const struct resolved *r) \
    {                                                                               \
        int count = op->count;                                                      \
        for (int i = 0; i < count; i++) {                                           \
            ROW *d = (ROW *)(void *)(w->rows + op->list[i]);                        \
            const TYPE *from = (const TYPE *)(r->host + r->offset[0]);              \
            if (r->pattern == PATTERN_UNIFORM) {                                    \
                TYPE value = from[i];                                               \
                for (int l = 0; l < LANES; l++)                                     \
                    d[l] = value;                                                   \
            } else if (r->pattern == PATTERN_CONSECUTIVE && count == 1) {           \
                for (int l = 0; l < LANES; l++)                                     \
                    d[l] = from[l];                                                 \
            } else if (r->pattern == PATTERN_CONSECUTIVE) {                         \
                for (int l = 0; l < LANES; l++)                                     \
                    d[l] = from[l * count + i];                                     \
            } else {                                                                \
                for (int l = 0; l < LANES; l++)                                     \
                    d[l] = ((const TYPE *)(r->host + r->offset[l]))[i];             \
            }                                                                       \
        }                                                                           \
    }
LOAD_WARP(load_bytes, uint8_t, uint32_t)
LOAD_WARP(load_halves, uint16_t, uint32_t)
LOAD_WARP(load_words, uint32_t, uint32_t)
LOAD_WARP(load_doubles, uint64_t, uint64_t)

static void store_general(struct warp *w, const struct op *op, const struct resolved *r)
{
    const uint8_t *lanes = op->extra;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint8_t *to = access_lane(r, l);
        for (int i = 0; i < op->count; i++)
            memcpy(to + i * op->width, w->rows + op->list[i] + (size_t)l * lanes[i],
                   op->width);
    }
}

/* Lanes in order: if several write one place, the highest stays. */
#define STORE_WARP(name, TYPE, ROW)                                                    \
    static void name(struct warp *w, const struct op *op, const struct resolved *r)    \
    {                                                                                  \
        int count = op->count;                                                         \
        bool consecutive = r->pattern == PATTERN_CONSECUTIVE;                          \
        for (int l = 0; l < LANES; l++) {                                              \
            TYPE *to = consecutive ? (TYPE *)(r->host + r->offset[0]) + l * count      \
                       : r->pattern == PATTERN_UNIFORM                                 \
                           ? (TYPE *)(r->host + r->offset[0])                          \
                           : (TYPE *)(r->host + r->offset[l]);                         \
            for (int i = 0; i < count; i++)                                            \
                to[i] = (TYPE)((const ROW *)(const void *)(w->rows + op->list[i]))[l]; \
        }                                                                              \
    }
STORE_WARP(store_bytes, uint8_t, uint32_t)
STORE_WARP(store_halves, uint16_t, uint32_t)
STORE_WARP(store_words, uint32_t, uint32_t)
STORE_WARP(store_doubles, uint64_t, uint64_t)

typedef void move_fn(struct warp *w, const struct op *op, const struct resolved *r);

/* By op->d2, which decode sets. */
enum { MOVE_GENERAL, MOVE_BYTES, MOVE_HALVES, MOVE_WORDS, MOVE_DOUBLES };

/* A pattern may stand for the offsets (access_locate); the general ways want them all. */
static void fill_offsets(struct resolved *r, uint32_t bytes)
{
    uint64_t first = r->offset[0], step = r->pattern == PATTERN_CONSECUTIVE ? bytes : 0;
    for (uint32_t l = 0; l < LANES; l++)
        r->offsets[l] = first + l * step;
    r->offset = r->offsets;
}

static inline void move_data(struct warp *w, const struct op *op, uint8_t kind,
                             struct resolved *r)
{
    static move_fn *const loads[] = {load_general, load_bytes, load_halves, load_words,
                                     load_doubles};
    static move_fn *const stores[] = {store_general, store_bytes, store_halves,
                                      store_words, store_doubles};
    uint32_t how = w->mask == FULL_MASK && !r->scattered ? op->d2 : MOVE_GENERAL;
    if (how == MOVE_GENERAL && w->mask == FULL_MASK && r->pattern != PATTERN_ANY &&
        !r->scattered)
        fill_offsets(r, (uint32_t)op->width * op->count);
    if (how == MOVE_WORDS)
        (kind == ACCESS_LOAD ? load_words : store_words)(w, op, r);
    else
        (kind == ACCESS_LOAD ? loads : stores)[how](w, op, r);
}

/* --- executors -------------------------------------------------------------------- */

static inline void access_space(struct warp *w, const struct op *op, uint8_t space,
                                uint8_t kind)
{
    struct resolved r;
    if (kind == ACCESS_LOAD && op->flags & LOAD_POLL)
        w->worker->polls++;
    if (access_locate(w, op, space, kind, (uint32_t)op->width * op->count, &r))
        move_data(w, op, kind, &r);
}

/* Constants are read through their own cache: no event of global memory. */
static void ld_const(struct warp *w, const struct op *op)
{
    uint64_t *address = w->worker->address;
    uint32_t bytes = (uint32_t)op->width * op->count;
    struct resolved r;
    access_addresses(w, op, address);
    if (access_find(w, PTX_GLOBAL, ACCESS_LOAD, bytes, bytes, address, &r))
        move_data(w, op, ACCESS_LOAD, &r);
}
static void ld_global(struct warp *w, const struct op *op)
{
    access_space(w, op, PTX_GLOBAL, ACCESS_LOAD);
}
static void ld_shared(struct warp *w, const struct op *op)
{
    access_space(w, op, PTX_SHARED, ACCESS_LOAD);
}
/* One word a lane: what matmuls do most, with nothing else in the way. */
static void ld_shared_word(struct warp *w, const struct op *op)
{
    uint64_t *address = w->worker->address;
    const uint8_t *shared = w->block->shared;
    uint8_t pattern;
    if (w->mask != FULL_MASK ||
        !access_scan32(row32(w, op->s[0]), (uint32_t)op->imm, w->block->shared_bytes, 4,
                       4, address, &pattern)) {
        ld_shared(w, op);
        return;
    }
    access_notify(w, op, PTX_SHARED, ACCESS_LOAD, 4, pattern, address);
    const uint32_t *from = (const uint32_t *)(const void *)(shared + address[0]);
    uint32_t *d = row32(w, op->list[0]), value = *from;
    if (pattern == PATTERN_CONSECUTIVE)
        memcpy(d, from, sizeof value * LANES);
    else if (pattern == PATTERN_UNIFORM)
        for (int l = 0; l < LANES; l++)
            d[l] = value;
    else
        for (int l = 0; l < LANES; l++)
            d[l] = *(const uint32_t *)(const void *)(shared + address[l]);
}
static void ld_local(struct warp *w, const struct op *op)
{
    access_space(w, op, PTX_LOCAL, ACCESS_LOAD);
}
static void st_global(struct warp *w, const struct op *op)
{
    access_space(w, op, PTX_GLOBAL, ACCESS_STORE);
}
static void st_shared(struct warp *w, const struct op *op)
{
    access_space(w, op, PTX_SHARED, ACCESS_STORE);
}
static void st_local(struct warp *w, const struct op *op)
{
    access_space(w, op, PTX_LOCAL, ACCESS_STORE);
}

/* Entry parameters: address is an offset into launch->params. */
static void load_param(struct warp *w, const struct op *op, const uint64_t *address)
{
    const struct launch *launch = w->block->launch;
    uint32_t bytes = (uint32_t)op->width * op->count;
    struct resolved r = {.mask = w->mask, .offset = address};
    for (int l = 0; l < LANES; l++)
        if ((w->mask >> l & 1) && (address[l] > launch->param_bytes ||
                                   bytes > launch->param_bytes - address[l])) {
            access_fault_bounds(w, PTX_PARAM, ACCESS_LOAD, bytes, l, address[l]);
            return;
        }
    r.pattern = access_pattern(address, w->mask, bytes);
    r.host = (uintptr_t)launch->params;
    if (r.pattern == PATTERN_CONSECUTIVE)
        r.pattern = PATTERN_ANY;
    load_general(w, op, &r);
}

static void ld_param(struct warp *w, const struct op *op)
{
    access_addresses(w, op, w->worker->address);
    load_param(w, op, w->worker->address);
}

static void generic(struct warp *w, const struct op *op, uint8_t kind)
{
    uint64_t addresses[LANES], *address = w->worker->address;
    uint32_t whole = w->mask, left = whole, bytes = (uint32_t)op->width * op->count;
    access_addresses(w, op, addresses);
    if (kind == ACCESS_LOAD && op->flags & LOAD_POLL)
        w->worker->polls++;
    while (left != 0 && !w->worker->stop) {
        struct resolved r;
        if (addresses[first_lane(left)] - SIM_PARAM_WINDOW < SIM_WINDOW_BYTES &&
            kind == ACCESS_LOAD) {
            uint32_t mask = 0;
            for (int l = 0; l < LANES; l++) {
                address[l] = addresses[l] - SIM_PARAM_WINDOW;
                mask |= (uint32_t)((left >> l & 1) && address[l] < SIM_WINDOW_BYTES) << l;
            }
            w->mask = mask;
            left &= ~mask;
            load_param(w, op, address);
            continue;
        }
        uint8_t space = access_split(w, &left, addresses, address);
        if (access_resolve(w, op, space, kind, bytes, bytes, address, &r))
            move_data(w, op, kind, &r);
    }
    w->mask = whole;
}

static void ld_generic(struct warp *w, const struct op *op)
{
    generic(w, op, ACCESS_LOAD);
}
static void st_generic(struct warp *w, const struct op *op)
{
    generic(w, op, ACCESS_STORE);
}

/* .param variables of a device function: op->imm is the offset in the variable,
 * s[1] (not a row) the area, s[2] the stride; decode checked the bounds. */
static void param_area(struct warp *w, const struct op *op, struct resolved *r,
                       uint64_t *offset)
{
    for (int l = 0; l < LANES; l++)
        offset[l] = op->imm + (uint64_t)l * op->s[2];
    *r = (struct resolved){.mask = w->mask, .pattern = PATTERN_ANY, .offset = offset};
    r->host = (uintptr_t)(w->rows + w->code->param_area + op->s[1]);
}
static void ld_param_area(struct warp *w, const struct op *op)
{
    struct resolved r;
    param_area(w, op, &r, w->worker->address);
    load_general(w, op, &r);
}
static void st_param_area(struct warp *w, const struct op *op)
{
    struct resolved r;
    param_area(w, op, &r, w->worker->address);
    store_general(w, op, &r);
}

static void nothing(struct warp *w, const struct op *op)
{
    (void)w, (void)op;
}

/* --- decode ------------------------------------------------------------------------ */

/* Rows of the data operand; notes lane widths, and whether the quick path fits. */
static bool decode_data(struct decoder *dec, const struct ptx_operand *operand,
                        const struct mods *mods, bool load, struct op *op)
{
    enum ptx_type type = mods->type[0];
    const struct ptx_operand *elements =
        operand->kind == PTX_OPERAND_VECTOR ? operand->elements : operand;
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->element_count : 1;
    if (count != mods->vec)
        return decode_fail(dec, "%d elements where .v%d says %d", count, mods->vec,
                           mods->vec);
    uint32_t *rows = decode_alloc(dec, (size_t)count * sizeof *rows);
    uint8_t *lanes = decode_alloc(dec, (size_t)count);
    int bytes = ptx_type_bits(type) / 8;
    bool fits = bytes <= 8 && !(load && bytes < 4 && is_signed_type(type));
    for (int i = 0; i < count; i++) {
        /* the register may be wider than the element */
        int lane = decode_lane_bytes(dec, &elements[i]);
        int needed = bytes <= 4 ? 4 : bytes;
        if (lane == 0)
            lane = needed;
        if (lane < needed || (bytes == 16 && lane != 16))
            return decode_fail(dec, "a register is too narrow for .%s",
                               ptx_type_name(type));
        enum ptx_type as = lane == 16 ? PTX_B128 : lane == 8 ? PTX_B64 : PTX_B32;
        if (elements[i].kind == PTX_OPERAND_IMM)
            as = type;
        if (!(load ? decode_dst(dec, &elements[i], as, &rows[i])
                   : decode_src(dec, &elements[i], as, &rows[i])))
            return false;
        lanes[i] = (uint8_t)lane;
        fits &= lane == (bytes == 8 ? 8 : 4);
    }
    decode_note_list(dec, rows, count);
    op->list = rows;
    op->extra = lanes;
    op->d2 = !fits        ? MOVE_GENERAL
             : bytes == 1 ? MOVE_BYTES
             : bytes == 2 ? MOVE_HALVES
             : bytes == 4 ? MOVE_WORDS
                          : MOVE_DOUBLES;
    op->width = (uint8_t)bytes;
    op->count = (uint8_t)count;
    if (load && is_signed_type(type))
        op->flags |= LOAD_SIGNED;
    return true;
}

static bool decode_param_area(struct decoder *dec, const struct ptx_operand *address,
                              struct op *op, bool *found)
{
    struct param_place place;
    *found = address->kind == PTX_OPERAND_ADDR && address->var != NULL &&
             decode_param(dec, address->var, &place);
    if (!*found)
        return true;
    uint64_t bytes = (uint64_t)op->width * op->count;
    if (address->offset < 0 || (uint64_t)address->offset + bytes > place.stride)
        return decode_fail(dec, "outside the parameter `%s`", address->var->name);
    op->imm = (uint64_t)address->offset;
    op->s[0] = decode_constant(dec, 0, 4);
    op->s[1] = place.area;
    op->s[2] = place.stride;
    return true;
}

/* May the load wait for another thread's store? Between blocks the result then depends
 * on the order in which they run. */
static void note_poll(struct decoder *dec, const struct ptx_insn *in,
                      const struct mods *mods, struct op *op)
{
    bool polls = mods->is_volatile;
    for (int i = 0; i < in->suffix_count; i++)
        polls |= strcmp(in->suffix[i], "acquire") == 0 ||
                 strcmp(in->suffix[i], "relaxed") == 0 ||
                 strcmp(in->suffix[i], "mmio") == 0;
    if (!polls)
        return;
    op->flags |= LOAD_POLL;
    dec->code->float_atomics |= mods->space == PTX_GLOBAL || mods->space == PTX_GENERIC;
}

static bool decode_ldst(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    static exec_fn *const loads[] = {
        [PTX_GENERIC] = ld_generic, [PTX_GLOBAL] = ld_global, [PTX_SHARED] = ld_shared,
        [PTX_LOCAL] = ld_local,     [PTX_CONST] = ld_const,   [PTX_PARAM] = ld_param};
    static exec_fn *const stores[] = {
        [PTX_GENERIC] = st_generic, [PTX_GLOBAL] = st_global, [PTX_SHARED] = st_shared,
        [PTX_LOCAL] = st_local,     [PTX_CONST] = NULL,       [PTX_PARAM] = NULL};
    bool load = in->base[0] == 'l', found = false;
    const struct ptx_operand *data = &in->operand[load ? 0 : 1];
    const struct ptx_operand *address = &in->operand[load ? 1 : 0];
    int bits = ptx_type_bits(mods->type[0]);
    if (mods->type[0] == PTX_PRED || bits < 8 || bits * mods->vec > 256)
        return decode_fail(dec, "not for this type and vector");
    if (mods->space2 != PTX_GENERIC)
        return decode_fail(dec, "two state spaces");
    op->space = (uint8_t)(mods->space == PTX_CONST ? PTX_GLOBAL : mods->space);
    op->fn = load ? loads[mods->space] : stores[mods->space];
    if (!decode_data(dec, data, mods, load, op))
        return false;
    if (load)
        note_poll(dec, in, mods, op);
    if (mods->space == PTX_PARAM) {
        if (!decode_param_area(dec, address, op, &found))
            return false;
        op->pipe = SIM_PIPE_UNIFORM;
        if (found)
            op->fn = load ? ld_param_area : st_param_area;
    } else if (mods->space == PTX_CONST) {
        op->pipe = SIM_PIPE_UNIFORM;
    }
    if (op->fn == NULL)
        return decode_fail(dec, "nothing can be stored there");
    if (!found && !decode_address(dec, address, mods->space, op))
        return false;
    if (op->fn == ld_shared && op->d2 == MOVE_WORDS && op->count == 1 &&
        op->flags == OP_BASE32)
        op->fn = ld_shared_word;
    return true;
}

static bool decode_prefetch(struct decoder *dec, const struct ptx_insn *in,
                            const struct mods *mods, struct op *op)
{
    static const struct {
        const char *base, *level;
    } levels[] = {{"prefetch", "L1"},
                  {"prefetch", "L2"},
                  {"prefetch", "L2::evict_last"},
                  {"prefetch", "L2::evict_normal"},
                  {"prefetchu", "L1"},
                  {"discard", "L2"},
                  {"applypriority", "L2::evict_normal"}};
    const char *last = in->suffix_count > 0 ? in->suffix[in->suffix_count - 1] : "";
    bool known = false;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        known |=
            strcmp(levels[i].base, in->base) == 0 && strcmp(levels[i].level, last) == 0;
    if (!known || in->suffix_count > 2 || mods->space == PTX_SHARED ||
        mods->space == PTX_PARAM || mods->space == PTX_CONST)
        return decode_fail(dec, "not for this level and state space");
    if (in->operand_count == 2 &&
        (in->operand[1].kind != PTX_OPERAND_IMM || in->operand[1].imm != 128))
        return decode_fail(dec, "the size must be 128");
    op->fn = nothing;
    return decode_address(dec, &in->operand[0], mods->space, op);
}

/* A policy only says what to keep in the L2 cache: any value will do. */
static void make_policy(struct warp *w, const struct op *op)
{
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            row64(w, op->d)[l] = op->imm;
}

static bool decode_policy(struct decoder *dec, const struct ptx_insn *in,
                          const struct mods *mods, struct op *op)
{
    static const struct {
        const char *form;
        int least, most;
    } forms[] = {{"fractional", 1, 2}, {"range", 4, 4}, {"cvt", 2, 2}};
    int form = 0;
    while (form < 3 &&
           strcmp(mods->word_count > 0 ? mods->word[0] : "", forms[form].form) != 0)
        form++;
    if (form == 3 || mods->type[0] != PTX_B64)
        return decode_fail(dec, "needs .fractional, .range or .cvt, and .b64");
    if (in->operand_count < forms[form].least || in->operand_count > forms[form].most)
        return decode_fail(dec, "the number of operands is wrong");
    struct op address = {.guard = NO_GUARD};
    if (form == 0 && in->operand_count == 2 &&
        !decode_src(dec, &in->operand[1], PTX_F32, &op->s[0]))
        return false;
    if (form == 1 && (!decode_address(dec, &in->operand[1], mods->space, &address) ||
                      !decode_src(dec, &in->operand[2], PTX_U32, &op->s[1]) ||
                      !decode_src(dec, &in->operand[3], PTX_U32, &op->s[2])))
        return false;
    if (form == 2 && !decode_src(dec, &in->operand[1], PTX_B64, &op->s[0]))
        return false;
    op->s[0] = form == 1 ? address.s[0] : op->s[0];
    op->fn = make_policy;
    op->imm = 0x10f0000000000000u;
    return decode_dst(dec, &in->operand[0], PTX_B64, &op->d);
}

static const char memory_types[] = ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 "
                                   ".s32 .s64 .f32 .f64";
enum { MEMORY = MOD_TYPE | MOD_SPACE | MOD_VEC | MOD_ORDER | MOD_SCOPE | MOD_CACHE };

static const struct op_row rows[] = {
    {"ld", "ld{.order}{.scope}{.space}{.cache}{.vec}.type d, [a]{, policy};",
     memory_types, MEMORY, SIM_PIPE_LSU, 2, 3, decode_ldst},
    {"ldu", "ldu{.global}{.vec}.type d, [a];", memory_types, MEMORY, SIM_PIPE_LSU, 2, 2,
     decode_ldst},
    {"st", "st{.order}{.scope}{.space}{.cache}{.vec}.type [a], b{, policy};",
     memory_types, MEMORY, SIM_PIPE_LSU, 2, 3, decode_ldst},
    {"prefetch", "prefetch{.space}.level [a];", NULL, MOD_SPACE | MOD_PART | MOD_CACHE,
     SIM_PIPE_LSU, 1, 1, decode_prefetch},
    {"prefetchu", "prefetchu.L1 [a];", NULL, MOD_PART, SIM_PIPE_LSU, 1, 1,
     decode_prefetch},
    {"createpolicy",
     "createpolicy.fractional.L2::..{.L2::..}.b64 d{, fraction};  "
     "createpolicy.range{.global}.L2::..{.L2::..}.b64 d, [a], primary, total;  "
     "createpolicy.cvt.L2.b64 d, access;",
     ".b64", MOD_PART | MOD_CACHE | MOD_SPACE | MOD_TYPE, SIM_PIPE_ALU, 1, 4,
     decode_policy},
    {"discard", "discard{.global}.L2 [a], size;", NULL, MOD_SPACE | MOD_PART,
     SIM_PIPE_LSU, 2, 2, decode_prefetch},
    {"applypriority", "applypriority{.global}.L2::evict_normal [a], size;", NULL,
     MOD_SPACE | MOD_CACHE, SIM_PIPE_LSU, 2, 2, decode_prefetch},
};
const struct op_family ops_memory = {rows, (int)(sizeof rows / sizeof *rows)};
