/* ops_async.c - cp.async, its groups, and mbarrier (PTX ISA 9.0, 9.7.9.25 and
 * 9.7.13.15). Bytes past src-size become zero. When the data come, and what an mbarrier
 * is, stands in async.h. */
#include "access.h"
#include "async.h"

/* op->s[0] and imm: destination; the source and its size are here. */
struct async_op {
    uint64_t from_offset;
    uint32_t from_row;
    bool from_base32, has_size, ignore_source, ignore_negated;
    uint32_t size_row;
};

static uint32_t lane_size(const struct warp *w, const struct op *op,
                          const struct async_op *o, int lane)
{
    if (o->ignore_source) {
        uint32_t ignore = *pred(w, o->size_row) ^ (o->ignore_negated ? FULL_MASK : 0);
        return ignore >> lane & 1 ? 0 : op->width;
    }
    return o->has_size ? row32(w, o->size_row)[lane] : op->width;
}

static void cp_async(struct warp *w, const struct op *op)
{
    const struct async_op *o = op->extra;
    uint64_t to[LANES], from[LANES], part[LANES];
    uint8_t data[LANES][16] = {{0}};
    uint32_t whole = w->mask, left = whole;
    struct op source = {.s = {o->from_row},
                        .imm = o->from_offset,
                        .flags = o->from_base32 ? OP_BASE32 : 0};
    access_addresses(w, op, to);
    access_addresses(w, &source, from);
    while (left != 0) {
        uint32_t size = lane_size(w, op, o, first_lane(left)), mask = 0;
        if (size > op->width) {
            sim_raise(w, SIM_OUT_OF_BOUNDS, first_lane(left), from[first_lane(left)],
                      "cp.async of %u bytes with a source size of %u", op->width, size);
            return;
        }
        for (int l = 0; l < LANES; l++)
            mask |= (uint32_t)((left >> l & 1) && lane_size(w, op, o, l) == size) << l;
        left &= ~mask;
        if (size == 0)
            continue;
        for (int l = 0; l < LANES; l++)
            part[l] = mask >> l & 1 ? from[l] : from[first_lane(mask)];
        struct resolved r;
        w->mask = mask;
        bool good = access_resolve(w, op, PTX_GLOBAL, ACCESS_ASYNC, size,
                                   size == op->width ? op->width : 1, part, &r);
        w->mask = whole;
        if (!good)
            return;
        for (int l = 0; l < LANES; l++)
            if (mask >> l & 1)
                memcpy(data[l], access_lane(&r, l), size);
    }
    struct resolved r;
    if (!access_resolve(w, op, PTX_SHARED, ACCESS_ASYNC, op->width, op->width, to, &r))
        return;
    if (w->block->launch->check) {
        async_copy(w, to, data, op->width);
        return;
    }
    for (int l = 0; l < LANES; l++)
        if (whole >> l & 1)
            memcpy(access_lane(&r, l), data[l], op->width);
}

static void commit_group(struct warp *w, const struct op *op)
{
    (void)op;
    if (w->block->launch->check)
        async_commit(w);
}

/* op->imm: groups that may stay behind; op->flags: wait_all. */
static void wait_group(struct warp *w, const struct op *op)
{
    if (w->block->launch->check)
        async_wait(w, (uint32_t)op->imm, op->flags != 0);
}

/* --- mbarriers ------------------------------------------------------------------------ */

enum mbarrier_part { /* op->count */
                     MBARRIER_INIT,
                     MBARRIER_INVAL,
                     MBARRIER_ARRIVE,
                     MBARRIER_DROP,
                     MBARRIER_EXPECT,
                     MBARRIER_COMPLETE,
                     MBARRIER_TEST,
                     MBARRIER_TRY
};

enum { /* op->flags, beside OP_BASE32 */
       HAS_VALUE = 2,
       EXPECT_TX = 4,
       NO_COMPLETE = 8,
       PARITY = 16,
       NO_INCREMENT = 32
};

/* Offsets of the barriers in shared memory, checked. */
static bool barrier_places(struct warp *w, const struct op *op, uint8_t kind,
                           uint64_t *offset)
{
    struct resolved r;
    access_addresses(w, op, offset);
    for (int l = 0; op->space == PTX_GENERIC && l < LANES; l++)
        offset[l] -= SIM_SHARED_WINDOW;
    return access_resolve(w, op, PTX_SHARED, kind, 8, 8, offset, &r);
}

static uint64_t lane_value(const struct warp *w, const struct op *op, int lane)
{
    if (!(op->flags & HAS_VALUE))
        return 1;
    return op->width == 8 ? row64(w, op->s[1])[lane] : row32(w, op->s[1])[lane];
}

static bool change_lane(struct warp *w, const struct op *op, int lane, uint64_t offset)
{
    uint64_t value = lane_value(w, op, lane), state;
    struct mbarrier_change change = {.must_not_complete = op->flags & NO_COMPLETE};
    bool tx = op->flags & EXPECT_TX;
    if (value > MBARRIER_MOST) {
        sim_raise(w, SIM_UNSUPPORTED, lane, offset,
                  "a count of %llu; an mbarrier takes up to %d",
                  (unsigned long long)value, MBARRIER_MOST);
        return false;
    }
    switch (op->count) {
    case MBARRIER_EXPECT:
        change.bytes = (int64_t)value;
        break;
    case MBARRIER_COMPLETE:
        change.bytes = -(int64_t)value;
        break;
    default:
        change.arrivals = tx ? 1 : (uint32_t)value;
        change.bytes = tx ? (int64_t)value : 0;
        change.drop = op->count == MBARRIER_DROP ? change.arrivals : 0;
        break;
    }
    if (!mbarrier_change(w, lane, offset, &change, &state))
        return false;
    if (op->count == MBARRIER_ARRIVE || op->count == MBARRIER_DROP)
        row64(w, op->d)[lane] = state;
    return true;
}

static void mbarrier_lanes(struct warp *w, const struct op *op)
{
    uint64_t offset[LANES];
    bool makes = op->count == MBARRIER_INIT || op->count == MBARRIER_INVAL;
    if (!barrier_places(w, op, makes ? ACCESS_STORE : ACCESS_ATOMIC, offset))
        return;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        int l = first_lane(left);
        bool good = op->count == MBARRIER_INIT
                        ? mbarrier_init(w, l, offset[l], (uint32_t)lane_value(w, op, l))
                    : op->count == MBARRIER_INVAL ? mbarrier_invalidate(w, l, offset[l])
                                                  : change_lane(w, op, l, offset[l]);
        if (!good)
            return;
    }
}

/* test_wait and try_wait: neither waits here; a look at a phase that is not over costs
 * the warp some of its turn. */
static void mbarrier_wait(struct warp *w, const struct op *op)
{
    uint64_t offset[LANES];
    uint32_t over = 0, *d = pred(w, op->d);
    if (!barrier_places(w, op, ACCESS_ATOMIC, offset))
        return;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        int l = first_lane(left);
        bool lane_over;
        if (!mbarrier_test(w, l, offset[l], lane_value(w, op, l), op->flags & PARITY,
                           &lane_over))
            return;
        over |= (uint32_t)lane_over << l;
    }
    *d = (*d & ~w->mask) | over;
    w->worker->polls += over != w->mask;
}

static void mbarrier_count(struct warp *w, const struct op *op)
{
    const uint64_t *state = row64(w, op->s[0]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            d[l] = mbarrier_pending(state[l]);
}

/* Arrive when the lane's copies so far have come: at once in a plain run. */
static void copies_arrive(struct warp *w, const struct op *op)
{
    uint64_t offset[LANES], state;
    bool late = w->block->launch->check;
    struct mbarrier_change change = {.arrivals = late ? 0 : 1,
                                     .more = op->flags & NO_INCREMENT ? 0 : 1};
    if (!barrier_places(w, op, ACCESS_ATOMIC, offset))
        return;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        int l = first_lane(left);
        if (!mbarrier_change(w, l, offset[l], &change, &state))
            return;
    }
    if (late)
        async_arrive_later(w, offset);
}

/* --- decode ------------------------------------------------------------------------ */

static bool word_is(const struct mods *mods, int i, const char *word)
{
    return i < mods->word_count && strcmp(mods->word[i], word) == 0;
}

static bool decode_source_size(struct decoder *dec, const struct ptx_insn *in,
                               struct async_op *o)
{
    if (in->operand_count < 4)
        return true;
    const struct ptx_operand *last = &in->operand[3];
    if (last->kind == PTX_OPERAND_REG && decode_lane_bytes(dec, last) == 8)
        return true; /* a cache policy */
    if (last->kind == PTX_OPERAND_REG && decode_lane_bytes(dec, last) == 0) {
        o->ignore_source = true;
        return decode_pred(dec, last, &o->size_row, &o->ignore_negated);
    }
    o->has_size = true;
    return decode_src(dec, last, PTX_U32, &o->size_row);
}

static bool decode_copy(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    struct async_op *o = decode_alloc(dec, sizeof *o);
    struct op source = {0};
    if (mods->space != PTX_SHARED || mods->space2 != PTX_GLOBAL ||
        in->operand[2].kind != PTX_OPERAND_IMM)
        return decode_fail(dec, "needs .shared.global and a size that is a number");
    uint64_t size = in->operand[2].imm;
    bool cg = false;
    for (int i = 0; i < in->suffix_count; i++)
        cg |= strcmp(in->suffix[i], "cg") == 0;
    if ((size != 4 && size != 8 && size != 16) || (cg && size != 16))
        return decode_fail(dec, "a size of %llu; .ca takes 4, 8, 16 and .cg takes 16",
                           (unsigned long long)size);
    op->fn = cp_async;
    op->extra = o;
    op->width = (uint8_t)size;
    op->pipe = SIM_PIPE_LSU;
    if (!decode_address(dec, &in->operand[0], PTX_SHARED, op) ||
        !decode_address(dec, &in->operand[1], PTX_GLOBAL, &source) ||
        !decode_source_size(dec, in, o))
        return false;
    o->from_offset = source.imm;
    o->from_base32 = source.flags & OP_BASE32;
    o->from_row = source.s[0];
    decode_note_list(dec, &o->from_row, 1);
    if (o->has_size || o->ignore_source)
        decode_note_list(dec, &o->size_row, 1);
    return true;
}

static bool has_suffix(const struct ptx_insn *in, const char *suffix)
{
    for (int i = 0; i < in->suffix_count; i++)
        if (strcmp(in->suffix[i], suffix) == 0)
            return true;
    return false;
}

/* Address of a barrier, in shared memory or generic. */
static bool decode_barrier(struct decoder *dec, const struct ptx_operand *operand,
                           const struct mods *mods, struct op *op)
{
    if (mods->space != PTX_SHARED && mods->space != PTX_GENERIC)
        return decode_fail(dec, "an mbarrier is in .shared");
    op->space = (uint8_t)mods->space;
    return decode_address(dec, operand, mods->space, op);
}

static bool decode_group(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    bool group = word_is(mods, 1, "wait_group");
    if (in->operand_count != (group ? 1 : 0) ||
        (group && in->operand[0].kind != PTX_OPERAND_IMM))
        return decode_fail(dec, "wait_group takes a number, the others nothing");
    op->fn = word_is(mods, 1, "commit_group") ? commit_group : wait_group;
    op->imm = group ? in->operand[0].imm & 0xffffffffu : 0;
    op->flags = word_is(mods, 1, "wait_all");
    op->pipe = SIM_PIPE_CONTROL;
    return true;
}

/* Hopper's bulk copies: the reason why not. Anything else: no word. */
static bool decode_bulk(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    (void)mods, (void)op;
    return has_suffix(in, "bulk") &&
           decode_fail(dec, "Hopper's bulk copies are not supported yet");
}

static bool decode_async(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    if (has_suffix(in, "bulk"))
        return decode_bulk(dec, in, mods, op);
    if (!word_is(mods, 0, "async"))
        return decode_fail(dec, "is no cp.async");
    if (word_is(mods, 1, "wait_group") || word_is(mods, 1, "commit_group") ||
        word_is(mods, 1, "wait_all"))
        return decode_group(dec, in, mods, op);
    if (word_is(mods, 1, "mbarrier")) {
        op->fn = copies_arrive;
        op->flags = has_suffix(in, "noinc") ? NO_INCREMENT : 0;
        return in->operand_count == 1 ? decode_barrier(dec, &in->operand[0], mods, op)
                                      : decode_fail(dec, "needs a barrier");
    }
    if (in->operand_count < 3)
        return decode_fail(dec, "needs destination, source and size");
    return decode_copy(dec, in, mods, op);
}

/* The parts of mbarrier that have an address: is there a destination before it and a
 * value after it? */
static const struct mbarrier_form {
    const char *word;
    uint8_t part;
    bool destination, value_needed, value_allowed;
} mbarrier_forms[] = {
    {"init", MBARRIER_INIT, false, true, true},
    {"inval", MBARRIER_INVAL, false, false, false},
    {"arrive", MBARRIER_ARRIVE, true, false, true},
    {"arrive_drop", MBARRIER_DROP, true, false, true},
    {"expect_tx", MBARRIER_EXPECT, false, true, true},
    {"complete_tx", MBARRIER_COMPLETE, false, true, true},
    {"test_wait", MBARRIER_TEST, true, true, true},
    {"try_wait", MBARRIER_TRY, true, true, true},
};

static bool decode_form(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, const struct mbarrier_form *form,
                        struct op *op)
{
    bool waits = form->part == MBARRIER_TEST || form->part == MBARRIER_TRY;
    int at = form->destination, count = in->operand_count - at;
    bool hint = form->part == MBARRIER_TRY && count == 3;
    if (count < 1 + form->value_needed || count > 1 + form->value_allowed + hint)
        return decode_fail(dec, "the number of operands is wrong");
    op->fn = waits ? mbarrier_wait : mbarrier_lanes;
    op->count = form->part;
    if (waits && !decode_pred(dec, &in->operand[0], &op->d, NULL))
        return false;
    if (!waits && at == 1 && !decode_dst(dec, &in->operand[0], PTX_B64, &op->d))
        return false;
    if (!decode_barrier(dec, &in->operand[at], mods, op))
        return false;
    bool parity = has_suffix(in, "parity"), tx = has_suffix(in, "expect_tx");
    bool state = waits && !parity;
    op->flags |= (uint8_t)((count > 1 ? HAS_VALUE : 0) | (parity ? PARITY : 0) |
                           (tx && at == 1 ? EXPECT_TX : 0) |
                           (has_suffix(in, "noComplete") ? NO_COMPLETE : 0));
    if ((op->flags & EXPECT_TX) && count < 2)
        return decode_fail(dec, "expect_tx needs a number of bytes");
    op->width = state ? 8 : 4;
    return count < 2 ||
           decode_src(dec, &in->operand[at + 1], state ? PTX_B64 : PTX_B32, &op->s[1]);
}

static bool decode_mbarrier(struct decoder *dec, const struct ptx_insn *in,
                            const struct mods *mods, struct op *op)
{
    if (mods->type_count != 1 || mods->type[0] != PTX_B64)
        return decode_fail(dec, "needs .b64");
    if (word_is(mods, 0, "pending_count")) {
        op->fn = mbarrier_count;
        return in->operand_count == 2 &&
               decode_dst(dec, &in->operand[0], PTX_B32, &op->d) &&
               decode_src(dec, &in->operand[1], PTX_B64, &op->s[0]);
    }
    for (size_t i = 0; i < sizeof mbarrier_forms / sizeof *mbarrier_forms; i++)
        if (word_is(mods, 0, mbarrier_forms[i].word))
            return decode_form(dec, in, mods, &mbarrier_forms[i], op);
    return decode_fail(dec, "no such part of mbarrier");
}

static const struct op_row rows[] = {
    {"cp", "cp.async.bulk: refused with a reason", NULL, ~0u, SIM_PIPE_LSU, 0,
     PTX_MAX_OPERANDS, decode_bulk},
    {"cp",
     "cp.async.{ca,cg}.shared.global{.L2::..B} [d], [a], size{, src-size}{, policy};  "
     "cp.async.commit_group;  cp.async.wait_group n;  cp.async.wait_all;  "
     "cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [a];",
     NULL, MOD_PART | MOD_MODE | MOD_CACHE | MOD_SPACE | MOD_TYPE, SIM_PIPE_LSU, 0, 5,
     decode_async},
    {"mbarrier",
     "mbarrier.{init,arrive,arrive_drop,expect_tx,complete_tx}{.shared}.b64 {state,} "
     "[a]{, count};  mbarrier.{test_wait,try_wait}{.parity}{.shared}.b64 p, [a], state; "
     "mbarrier.inval{.shared}.b64 [a];  mbarrier.pending_count.b64 count, state;",
     NULL, MOD_PART | MOD_MODE | MOD_SPACE | MOD_TYPE | MOD_ORDER | MOD_SCOPE,
     SIM_PIPE_LSU, 1, 4, decode_mbarrier},
};
const struct op_family ops_async = {rows, (int)(sizeof rows / sizeof *rows)};
