/* ops_async.c - cp.async and its groups (PTX ISA 9.0, 9.7.9.25).
 *
 * A copy is done when it is issued: the earliest that the memory model allows, so the
 * result of a correct program is the same. Bytes past src-size become zero. */
#include "access.h"

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
    for (int l = 0; l < LANES; l++)
        if (whole >> l & 1)
            memcpy(access_lane(&r, l), data[l], op->width);
}

static void nothing(struct warp *w, const struct op *op)
{
    (void)w, (void)op;
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

static bool decode_async(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    if (!word_is(mods, 0, "async"))
        return decode_fail(dec, "is no cp.async");
    for (int i = 1; i < mods->word_count; i++)
        if (strcmp(mods->word[i], "bulk") == 0 || strcmp(mods->word[i], "mbarrier") == 0)
            return decode_fail(dec, "%s copies are not supported yet", mods->word[i]);
    if (word_is(mods, 1, "commit_group") || word_is(mods, 1, "wait_group") ||
        word_is(mods, 1, "wait_all")) {
        op->fn = nothing;
        op->pipe = SIM_PIPE_CONTROL;
        return true;
    }
    if (in->operand_count < 3)
        return decode_fail(dec, "needs destination, source and size");
    return decode_copy(dec, in, mods, op);
}

static bool decode_mbarrier(struct decoder *dec, const struct ptx_insn *in,
                            const struct mods *mods, struct op *op)
{
    (void)in, (void)mods, (void)op;
    return decode_fail(dec, "mbarrier is not supported yet");
}

static const struct op_row rows[] = {
    {"cp",
     "cp.async.{ca,cg}.shared.global{.L2::..B} [d], [a], size{, src-size}{, policy};  "
     "cp.async.commit_group;  cp.async.wait_group n;  cp.async.wait_all;",
     NULL, MOD_PART | MOD_CACHE | MOD_SPACE, SIM_PIPE_LSU, 0, 5, decode_async},
    {"mbarrier", "mbarrier: refused with a reason", NULL, ~0u, SIM_PIPE_LSU, 0,
     PTX_MAX_OPERANDS, decode_mbarrier},
};
const struct op_family ops_async = {rows, (int)(sizeof rows / sizeof *rows)};
