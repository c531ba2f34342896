/* ops_wmma.c - matrices between memory and registers: wmma.load and wmma.store,
 * ldmatrix, stmatrix, movmatrix (PTX ISA 9.0, 9.7.14.4 and 9.7.14.5).
 *
 * PTX leaves to the hardware how a fragment is fetched; the counters see this model. In
 * shared memory 16-bit elements are read as ldmatrix reads them, 16 bytes a lane, four
 * 8 x 8 blocks at once; elsewhere a block is 4 bytes a lane, transposed in registers if
 * need be. Elements of other sizes: one access of the lane for the neighbours in memory
 * that share a register. Address and stride are taken from lane 0: PTX wants them equal
 * in all lanes, and lines aligned to the fragment or to 16 bytes. */
#include "fragment.h"
#include "matrix_warp.h"

/* One access of 32 lanes: all elements of one register, or one element of it. Lane l is
 * at line major[l] (a row, or a column of a .col matrix), `minor` bytes into it. */
struct piece {
    uint8_t reg, bytes, shift; /* shift: place of a small element in the register */
    bool wide;                 /* registers reg and reg + 1: 8 bytes of an FP32 sum */
    uint8_t major[LANES], minor[LANES];
};

struct wmma_op {
    int rows, cols; /* of the tile: A m x k, B k x n, C m x n */
    int m, n;
    char which; /* 'a', 'b', 'c', 'd' */
    bool col_major, store;
    int bits; /* an element in memory and in the register */
    int regs, unique;
    bool stride_given;
    uint32_t align; /* of every line */
    int piece_count;
    struct piece *pieces;
};

enum { LINE = 16, LINES = 8 }; /* an 8 x 8 block of 16-bit elements */

/* --- 8 x 8 blocks of 16-bit elements -------------------------------------------------- */

/* A register row is such a block, line by line; transposed if the register's elements
 * are neighbours across lines. */
static void block_to_register(const uint8_t *const *line, bool trans, uint32_t *reg)
{
    if (!trans) {
        for (int i = 0; i < LINES; i++)
            memcpy(reg + 4 * i, line[i], LINE);
        return;
    }
    uint16_t in[64], out[64];
    for (int i = 0; i < LINES; i++)
        memcpy(in + 8 * i, line[i], LINE);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++)
            out[8 * i + k] = in[8 * k + i];
    memcpy(reg, out, sizeof out);
}

static void register_to_block(const uint32_t *reg, bool trans, uint8_t *const *line)
{
    uint16_t in[64], out[64];
    memcpy(in, reg, sizeof in);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++)
            out[8 * i + k] = trans ? in[8 * k + i] : in[8 * i + k];
    for (int i = 0; i < LINES; i++)
        memcpy(line[i], out + 8 * i, LINE);
}

static void move_block(const uint8_t *const *line, bool trans, bool store, uint32_t *reg)
{
    uint8_t *to[LINES];
    if (!store) {
        block_to_register(line, trans, reg);
        return;
    }
    for (int i = 0; i < LINES; i++)
        to[i] = (uint8_t *)(uintptr_t)line[i];
    register_to_block(reg, trans, to);
}

/* Blocks whose lines are at address[8 i + line], 16 bytes a lane, as ldmatrix reads
 * them: up to four in one access. */
static bool move_lines(struct warp *w, const struct op *op, const uint32_t *regs,
                       int count, bool trans, bool store, const uint64_t *address)
{
    struct resolved r;
    uint8_t kind = store ? ACCESS_MATRIX_STORE : ACCESS_MATRIX_LOAD;
    w->mask = count == 4 ? FULL_MASK : ((uint32_t)1 << (LINES * count)) - 1;
    bool good = access_resolve(w, op, PTX_SHARED, kind, LINE, LINE, address, &r);
    w->mask = FULL_MASK;
    for (int i = 0; good && i < count; i++) {
        const uint8_t *line[LINES];
        for (int k = 0; k < LINES; k++)
            line[k] = access_lane(&r, LINES * i + k);
        move_block(line, trans, store, row32(w, regs[i]));
    }
    return good;
}

/* --- wmma.load, wmma.store ------------------------------------------------------------ */

/* Do a register's elements lie across the lines of the matrix? */
static bool across(const struct wmma_op *o)
{
    return (o->which == 'b') != o->col_major;
}

static void copy_wide(const struct resolved *r, bool store, uint64_t *reg)
{
    for (int l = 0; l < LANES; l++)
        store ? memcpy(access_lane(r, l), &reg[l], 8)
              : memcpy(&reg[l], access_lane(r, l), 8);
}

static void copy_pairs(const struct resolved *r, bool store, uint32_t *reg,
                       uint32_t *second)
{
    for (int l = 0; l < LANES; l++) {
        uint32_t pair[2] = {reg[l], second[l]};
        if (store) {
            memcpy(access_lane(r, l), pair, 8);
            continue;
        }
        memcpy(pair, access_lane(r, l), 8);
        reg[l] = pair[0];
        second[l] = pair[1];
    }
}

static void copy_words(const struct resolved *r, bool store, uint32_t *reg)
{
    for (int l = 0; l < LANES; l++)
        store ? memcpy(access_lane(r, l), &reg[l], 4)
              : memcpy(&reg[l], access_lane(r, l), 4);
}

static void copy_bytes(const struct resolved *r, bool store, uint32_t *reg, int shift)
{
    for (int l = 0; l < LANES; l++) {
        uint8_t *at = access_lane(r, l);
        if (store)
            *at = (uint8_t)(reg[l] >> shift);
        else
            reg[l] = (reg[l] & ~(0xffu << shift)) | (uint32_t)*at << shift;
    }
}

static bool move_piece(struct warp *w, const struct op *op, uint8_t space,
                       const struct piece *p, const uint64_t *address)
{
    const struct wmma_op *o = op->extra;
    struct resolved r;
    if (!access_resolve(w, op, space, o->store ? ACCESS_STORE : ACCESS_LOAD, p->bytes,
                        p->bytes, address, &r))
        return false;
    if (op->width == 8)
        copy_wide(&r, o->store, row64(w, op->list[p->reg]));
    else if (p->wide)
        copy_pairs(&r, o->store, row32(w, op->list[p->reg]),
                   row32(w, op->list[p->reg + 1]));
    else if (p->bytes == 4)
        copy_words(&r, o->store, row32(w, op->list[p->reg]));
    else
        copy_bytes(&r, o->store, row32(w, op->list[p->reg]), p->shift);
    return true;
}

/* 16-bit elements outside shared memory: a block at a time, 4 bytes a lane. */
static bool move_words(struct warp *w, const struct op *op, uint8_t space,
                       const uint64_t *address, uint32_t reg_row)
{
    const struct wmma_op *o = op->extra;
    const uint8_t *line[LINES];
    struct resolved r;
    if (!access_resolve(w, op, space, o->store ? ACCESS_STORE : ACCESS_LOAD, 4, 4,
                        address, &r))
        return false;
    for (int k = 0; k < LINES; k++)
        line[k] = access_lane(&r, 4 * k);
    move_block(line, across(o), o->store, row32(w, reg_row));
    return true;
}

/* Where register i's block begins, in lines and bytes. */
static void block_origin(const struct wmma_op *o, int i, uint64_t *line, uint64_t *byte)
{
    struct fragment_place p =
        o->which == 'b' ? fragment_b(o->n, 2, i, 0, 0) : fragment_a(o->m, 2, i, 0, 0);
    *line = (uint64_t)(o->col_major ? p.col : p.row);
    *byte = 2 * (uint64_t)(o->col_major ? p.row : p.col);
}

static bool move_halves(struct warp *w, const struct op *op, uint8_t space,
                        const uint64_t *base, uint64_t stride)
{
    const struct wmma_op *o = op->extra;
    uint64_t *address = w->worker->address, line, byte;
    for (int i = 0; i < o->unique; i++) {
        block_origin(o, i, &line, &byte);
        uint64_t from = base[0] + line * stride + byte;
        if (space != PTX_SHARED) {
            for (uint64_t l = 0; l < LANES; l++)
                address[l] = from + l / 4 * stride + l % 4 * 4;
            if (!move_words(w, op, space, address, op->list[i]))
                return false;
            continue;
        }
        int at = i % 4 * LINES;
        for (uint64_t k = 0; k < LINES; k++)
            address[at + (int)k] = from + k * stride;
        if (i % 4 < 3 && i + 1 < o->unique)
            continue;
        for (int l = at + LINES; l < LANES; l++)
            address[l] = address[0];
        if (!move_lines(w, op, op->list + (i & ~3), i % 4 + 1, across(o), o->store,
                        address))
            return false;
    }
    return true;
}

static bool move_pieces(struct warp *w, const struct op *op, uint8_t space,
                        const uint64_t *base, uint64_t stride)
{
    const struct wmma_op *o = op->extra;
    uint64_t *address = w->worker->address;
    for (int i = 0; i < o->piece_count; i++) {
        const struct piece *p = &o->pieces[i];
        for (int l = 0; l < LANES; l++)
            address[l] = base[l] + p->major[l] * stride + p->minor[l];
        if (!move_piece(w, op, space, p, address))
            return false;
    }
    return true;
}

static void wmma_move(struct warp *w, const struct op *op)
{
    const struct wmma_op *o = op->extra;
    uint64_t base[LANES], inside;
    uint8_t space = op->space;
    if (!matrix_whole_warp(w))
        return;
    access_addresses(w, op, base);
    if (space == PTX_GENERIC) {
        space = access_generic(base[0], &inside);
        uint64_t window = base[0] - inside;
        for (int l = 0; l < LANES; l++)
            base[l] -= window;
    }
    if (space == PTX_LOCAL) {
        sim_raise(w, SIM_UNSUPPORTED, 0, base[0], "a matrix in local memory");
        return;
    }
    uint64_t elements = o->stride_given ? row32(w, op->s[1])[0]
                                        : (uint64_t)(o->col_major ? o->rows : o->cols);
    uint64_t stride = elements * (uint64_t)o->bits / 8;
    if (base[0] % o->align != 0 || stride % o->align != 0) {
        sim_raise(w, SIM_MISALIGNED, 0, base[0],
                  "a matrix at 0x%llx with lines %llu bytes apart; both must be "
                  "multiples of %u",
                  (unsigned long long)base[0], (unsigned long long)stride, o->align);
        return;
    }
    bool good = o->bits == 16 ? move_halves(w, op, space, base, stride)
                              : move_pieces(w, op, space, base, stride);
    for (int i = o->unique; good && !o->store && i < o->regs; i++)
        memcpy(row32(w, op->list[i]), row32(w, op->list[i % o->unique]), LANES * 4);
}

/* --- ldmatrix, stmatrix, movmatrix ---------------------------------------------------- */

enum { MATRIX_TRANS = 4, MATRIX_STORE = 8, MATRIX_GENERIC = 16 };

static void matrix_move(struct warp *w, const struct op *op)
{
    uint64_t rows[LANES], *address = w->worker->address;
    if (!matrix_whole_warp(w))
        return;
    access_addresses(w, op, rows);
    for (int l = 0; l < LANES; l++) {
        uint64_t a = rows[l % (LINES * op->count)];
        address[l] = op->flags & MATRIX_GENERIC ? a - SIM_SHARED_WINDOW : a;
    }
    move_lines(w, op, op->list, op->count, op->flags & MATRIX_TRANS,
               op->flags & MATRIX_STORE, address);
}

static void movmatrix(struct warp *w, const struct op *op)
{
    uint32_t in[LANES], *d = row32(w, op->d);
    if (!matrix_whole_warp(w))
        return;
    memcpy(in, row32(w, op->s[0]), sizeof in);
    for (int l = 0; l < LANES; l++) {
        uint32_t value = 0;
        for (int h = 0; h < 2; h++) {
            int row = 2 * (l % 4) + h, col = l / 4; /* of the source */
            value |= (in[row * 4 + col / 2] >> (16 * (col % 2)) & 0xffff) << (16 * h);
        }
        d[l] = value;
    }
}

/* --- decode ------------------------------------------------------------------------ */

static struct fragment_place place_of(const struct wmma_op *o, int each, int reg, int e,
                                      int lane)
{
    return o->which == 'a'   ? fragment_a(o->m, each, reg, e, lane)
           : o->which == 'b' ? fragment_b(o->n, each, reg, e, lane)
                             : fragment_c(o->m, reg * each + e, lane);
}

/* The accesses of a fragment of other than 16-bit elements: neighbours in memory that
 * share a register, or a pair of FP32 sums, are one. */
static void plan_pieces(struct decoder *dec, struct wmma_op *o)
{
    int each = o->bits >= 32 ? 1 : 32 / o->bits;
    bool pairs = (o->which == 'c' || o->which == 'd') && o->bits == 32 && !across(o);
    int of_reg = each > 1 && across(o) ? each : 1;
    o->pieces = decode_alloc(dec, (size_t)(o->unique * of_reg) * sizeof *o->pieces);
    for (int reg = 0; reg < o->unique; reg += pairs ? 2 : 1)
        for (int e = 0; e < of_reg; e++) {
            struct piece *p = &o->pieces[o->piece_count++];
            p->reg = (uint8_t)reg;
            p->wide = pairs;
            p->bytes = (uint8_t)(o->bits == 64 || pairs ? 8 : of_reg > 1 ? 1 : 4);
            p->shift = (uint8_t)(e * o->bits);
            for (int l = 0; l < LANES; l++) {
                struct fragment_place at = place_of(o, each, reg, e, l);
                p->major[l] = (uint8_t)(o->col_major ? at.col : at.row);
                p->minor[l] = (uint8_t)((o->col_major ? at.row : at.col) * o->bits / 8);
            }
        }
}

/* Is there such a fragment? A type and shape of wmma.mma, with the elements of A or B,
 * or of its sums. */
static bool fragment_known(char which, enum ptx_type type, int m, int n, int k)
{
    static const struct {
        const enum ptx_type types[3], sums[3];
        int m, n, k;
    } known[] = {
        {{PTX_F16, PTX_BF16}, {PTX_F16, PTX_F32}, 16, 16, 16},
        {{PTX_F16, PTX_BF16}, {PTX_F16, PTX_F32}, 32, 8, 16},
        {{PTX_F16, PTX_BF16}, {PTX_F16, PTX_F32}, 8, 32, 16},
        {{PTX_S8, PTX_U8}, {PTX_S32}, 16, 16, 16},
        {{PTX_S8, PTX_U8}, {PTX_S32}, 32, 8, 16},
        {{PTX_S8, PTX_U8}, {PTX_S32}, 8, 32, 16},
        {{PTX_TF32}, {PTX_F32}, 16, 16, 8},
        {{PTX_F64}, {PTX_F64}, 8, 8, 4},
        {{PTX_S4, PTX_U4}, {PTX_S32}, 8, 8, 32},
        {{PTX_B1}, {PTX_S32}, 8, 8, 128},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool multiplicand = which == 'a' || which == 'b';
        const enum ptx_type *types = multiplicand ? known[i].types : known[i].sums;
        if (known[i].m == m && known[i].n == n && known[i].k == k &&
            (types[0] == type || types[1] == type))
            return true;
    }
    return false;
}

static bool decode_wmma_move(struct decoder *dec, const struct ptx_insn *in,
                             const struct mods *mods, struct op *op)
{
    bool store = mods->word_count > 0 && strcmp(mods->word[0], "store") == 0;
    if (mods->word_count < 2 || (!store && strcmp(mods->word[0], "load") != 0))
        return decode_fail(dec, "is no wmma.load or wmma.store");
    struct wmma_op *o = decode_alloc(dec, sizeof *o);
    int m = mods->shape_m, n = mods->shape_n, k = mods->shape_k;
    enum ptx_type type = mods->type[0];
    o->which = mods->word[1][0];
    o->m = m;
    o->n = n;
    o->rows = o->which == 'b' ? k : m;
    o->cols = o->which == 'a' ? k : n;
    o->bits = type == PTX_TF32 ? 32 : ptx_type_bits(type);
    o->col_major = mods->layout_count > 0 && mods->layout[0] == 'c';
    o->store = store;
    o->stride_given = in->operand_count == 3;
    if (mods->type_count != 1 || mods->word[1][1] != '\0' ||
        strchr(store ? "d" : "abc", o->which) == NULL ||
        !fragment_known(o->which, type, m, n, k))
        return decode_fail(dec, "no such fragment of .%s in m%dn%dk%d",
                           ptx_type_name(type), m, n, k);
    if (o->bits < 8 && across(o))
        return decode_fail(dec, "sub-byte fragments are row (A) or col (B) only");
    int count, data = store ? 1 : 0;
    enum ptx_type as = o->bits == 64 ? PTX_B64 : PTX_B32;
    if (!decode_list(dec, &in->operand[data], as, !store, op, &count))
        return false;
    o->regs = count;
    o->unique = o->rows * o->cols * o->bits / (o->bits == 64 ? 64 : 32) / LANES;
    o->unique = o->unique > 0 ? o->unique : 1;
    if (count < o->unique)
        return decode_fail(dec, "%d registers; the fragment needs %d", count, o->unique);
    uint32_t bytes = (uint32_t)count * (o->bits == 64 ? 8 : 4);
    o->align = bytes < 16 ? bytes : 16;
    if (o->bits != 16)
        plan_pieces(dec, o);
    op->fn = wmma_move;
    matrix_members(op);
    op->extra = o;
    op->width = o->bits == 64 ? 8 : 4;
    op->space = (uint8_t)mods->space;
    return decode_address(dec, &in->operand[1 - data], mods->space, op) &&
           (!o->stride_given || decode_src(dec, &in->operand[2], PTX_U32, &op->s[1]));
}

static bool decode_wmma_load(struct decoder *dec, const struct ptx_insn *in,
                             const struct mods *mods, struct op *op)
{
    bool load = mods->word_count > 0 && strcmp(mods->word[0], "load") == 0;
    return load ? decode_wmma_move(dec, in, mods, op) : decode_fail(dec, "is no load");
}

static bool decode_wmma_store(struct decoder *dec, const struct ptx_insn *in,
                              const struct mods *mods, struct op *op)
{
    bool store = mods->word_count > 0 && strcmp(mods->word[0], "store") == 0;
    return store ? decode_wmma_move(dec, in, mods, op) : decode_fail(dec, "is no store");
}

static bool decode_matrix(struct decoder *dec, const struct ptx_insn *in,
                          const struct mods *mods, struct op *op)
{
    bool store = in->base[0] == 's';
    int count;
    if (mods->shape_m != 8 || mods->shape_n != 8 || mods->type[0] != PTX_B16 ||
        mods->matrices == 0 || (mods->space != PTX_SHARED && mods->space != PTX_GENERIC))
        return decode_fail(dec, "needs .m8n8, .x1 .x2 or .x4, .shared and .b16");
    if (!decode_list(dec, &in->operand[store ? 1 : 0], PTX_B32, !store, op, &count))
        return false;
    if (count != mods->matrices)
        return decode_fail(dec, "%d registers for %d matrices", count, mods->matrices);
    op->fn = matrix_move;
    matrix_members(op);
    op->count = (uint8_t)count;
    op->flags = (uint8_t)((mods->trans ? MATRIX_TRANS : 0) | (store ? MATRIX_STORE : 0) |
                          (mods->space == PTX_GENERIC ? MATRIX_GENERIC : 0));
    return decode_address(dec, &in->operand[store ? 0 : 1], mods->space, op);
}

static bool decode_movmatrix(struct decoder *dec, const struct ptx_insn *in,
                             const struct mods *mods, struct op *op)
{
    if (!mods->trans || mods->type[0] != PTX_B16)
        return decode_fail(dec, "needs .trans and .b16");
    op->fn = movmatrix;
    matrix_members(op);
    return decode_plain(dec, in, op, PTX_B32, PTX_B32);
}

enum {
    WMMA_MOVE =
        MOD_SYNC | MOD_SHAPE | MOD_LAYOUT | MOD_SPACE | MOD_TYPE | MOD_PART | MOD_MODE,
    MATRIX = MOD_SYNC | MOD_SHAPE | MOD_LAYOUT | MOD_SPACE | MOD_TYPE | MOD_MODE
};

static const struct op_row rows[] = {
    {"wmma", "wmma.load.{a,b,c}.sync.aligned.layout.shape{.space}.type r, [p]{, stride};",
     ".f16 .bf16 .tf32 .f32 .f64 .u8 .s8 .s32 .u4 .s4 .b1", WMMA_MOVE, SIM_PIPE_LSU, 2, 3,
     decode_wmma_load},
    {"wmma", "wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r{, stride};",
     ".f16 .f32 .f64 .s32", WMMA_MOVE, SIM_PIPE_LSU, 2, 3, decode_wmma_store},
    {"ldmatrix", "ldmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 d, [a];", ".b16",
     MATRIX, SIM_PIPE_LSU, 2, 2, decode_matrix},
    {"stmatrix", "stmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 [a], d;", ".b16",
     MATRIX, SIM_PIPE_LSU, 2, 2, decode_matrix},
    {"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;", ".b16", MATRIX,
     SIM_PIPE_ALU, 2, 2, decode_movmatrix},
};
const struct op_family ops_wmma = {rows, (int)(sizeof rows / sizeof *rows)};
