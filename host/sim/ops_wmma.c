/* ops_wmma.c - matrices between memory and registers: wmma.load and wmma.store,
 * ldmatrix, stmatrix, movmatrix (PTX ISA 9.0, 9.7.14.4 and 9.7.14.5).
 *
 * A register's elements that are neighbours in memory are one access of the lane, as
 * the layout of fragment.h makes them; the counters see these accesses (modelled: PTX
 * leaves to the hardware how a fragment is fetched). */
#include "fragment.h"
#include "matrix_warp.h"

struct wmma_op {
    int rows, cols; /* of the tile: A m x k, B k x n, C m x n */
    int m, n;
    char which; /* 'a', 'b', 'c', 'd' */
    bool col_major;
    int bits; /* an element in memory and in the register */
    int regs, unique;
    bool stride_given;
};

static struct fragment_place place_of(const struct wmma_op *o, int per, int reg, int e,
                                      int lane)
{
    return o->which == 'a'   ? fragment_a(o->m, per, reg, e, lane)
           : o->which == 'b' ? fragment_b(o->n, per, reg, e, lane)
                             : fragment_c(o->m, reg * per + e, lane);
}

/* Are elements 0..run-1 of a register neighbours in memory? */
static bool neighbours(const struct wmma_op *o)
{
    bool along_cols = o->which != 'b'; /* B's registers run along k, its rows */
    return along_cols != o->col_major;
}

struct piece {
    uint32_t row; /* register row */
    int bytes;    /* of the access */
    int shift;    /* bit in the register (sub-register pieces) */
    bool wide;    /* two registers: C in FP32, elements 2p and 2p + 1 */
    uint32_t row2;
};

static bool move_piece(struct warp *w, const struct op *op, uint8_t space, bool store,
                       const struct piece *p, const uint64_t *address)
{
    struct resolved r;
    if (!access_resolve(w, op, space, store ? ACCESS_STORE : ACCESS_LOAD,
                        (uint32_t)p->bytes, (uint32_t)p->bytes, address, &r))
        return false;
    for (int l = 0; l < LANES; l++) {
        uint8_t *at = access_lane(&r, l);
        uint32_t *reg = row32(w, p->row);
        if (op->width == 8) {
            uint64_t *reg64 = row64(w, p->row);
            store ? memcpy(at, &reg64[l], 8) : memcpy(&reg64[l], at, 8);
        } else if (p->wide) {
            uint32_t *second = row32(w, p->row2);
            store ? memcpy(at, &reg[l], 4) : memcpy(&reg[l], at, 4);
            store ? memcpy(at + 4, &second[l], 4) : memcpy(&second[l], at + 4, 4);
        } else if (p->bytes == 4) {
            store ? memcpy(at, &reg[l], 4) : memcpy(&reg[l], at, 4);
        } else if (store) {
            uint32_t value = reg[l] >> p->shift;
            memcpy(at, &value, (size_t)p->bytes);
        } else {
            uint32_t value = 0, ones = p->bytes == 2 ? 0xffffu : 0xffu;
            memcpy(&value, at, (size_t)p->bytes);
            reg[l] = (reg[l] & ~(ones << p->shift)) | value << p->shift;
        }
    }
    return true;
}

/* Byte address of element e of register reg for all lanes. */
static void piece_addresses(const struct wmma_op *o, const uint64_t *base,
                            const uint32_t *stride, int per, int reg, int e,
                            uint64_t *address)
{
    for (int l = 0; l < LANES; l++) {
        struct fragment_place p = place_of(o, per, reg, e, l);
        uint64_t major = (uint64_t)(o->col_major ? p.col : p.row);
        uint64_t minor = (uint64_t)(o->col_major ? p.row : p.col);
        uint64_t ld =
            o->stride_given ? stride[l] : (uint64_t)(o->col_major ? o->rows : o->cols);
        address[l] = base[l] + (major * ld + minor) * (uint64_t)o->bits / 8;
    }
}

static void move_fragment(struct warp *w, const struct op *op, uint8_t space, bool store,
                          const uint64_t *base)
{
    const struct wmma_op *o = op->extra;
    const uint32_t *stride = row32(w, op->s[1]);
    uint64_t *address = w->worker->address;
    int per = o->bits >= 32 ? 1 : 32 / o->bits;
    bool run = neighbours(o);
    bool pairs = (o->which == 'c' || o->which == 'd') && o->bits == 32 && run;
    for (int reg = 0; reg < o->unique; reg += pairs ? 2 : 1) {
        struct piece p = {.row = op->list[reg], .bytes = o->bits == 64 ? 8 : 4};
        if (pairs) {
            p.wide = true;
            p.bytes = 8;
            p.row2 = op->list[reg + 1];
        }
        if (per == 1 || run) {
            piece_addresses(o, base, stride, per, reg, 0, address);
            if (!move_piece(w, op, space, store, &p, address))
                return;
            continue;
        }
        for (int e = 0; e < per; e++) {
            p.bytes = o->bits / 8;
            p.shift = e * o->bits;
            piece_addresses(o, base, stride, per, reg, e, address);
            if (!move_piece(w, op, space, store, &p, address))
                return;
        }
    }
    if (!store)
        for (int reg = o->unique; reg < o->regs; reg++)
            memcpy(row32(w, op->list[reg]), row32(w, op->list[reg % o->unique]),
                   LANES * 4);
}

static void wmma_move(struct warp *w, const struct op *op)
{
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
    move_fragment(w, op, space, op->d2 != 0, base);
}

/* --- ldmatrix, stmatrix, movmatrix ---------------------------------------------------- */

enum { MATRIX_TRANS = 4, MATRIX_STORE = 8, MATRIX_GENERIC = 16 };

static void matrix_move(struct warp *w, const struct op *op)
{
    uint64_t addresses[LANES], *address = w->worker->address;
    uint32_t whole = w->mask;
    bool store = op->flags & MATRIX_STORE, trans = op->flags & MATRIX_TRANS;
    struct resolved r;
    if (!matrix_whole_warp(w))
        return;
    access_addresses(w, op, addresses);
    w->mask = op->count == 4 ? FULL_MASK : ((uint32_t)1 << (8 * op->count)) - 1;
    for (int l = 0; l < LANES; l++) {
        uint64_t a = addresses[l % (8 * op->count)];
        address[l] = op->flags & MATRIX_GENERIC ? a - SIM_SHARED_WINDOW : a;
    }
    bool good = access_resolve(w, op, PTX_SHARED,
                               store ? ACCESS_MATRIX_STORE : ACCESS_MATRIX_LOAD, 16, 16,
                               address, &r);
    w->mask = whole;
    if (!good)
        return;
    for (int i = 0; i < op->count; i++) {
        uint16_t m[8][8];
        uint32_t *reg = row32(w, op->list[i]);
        if (!store)
            for (int row = 0; row < 8; row++)
                memcpy(m[row], access_lane(&r, 8 * i + row), 16);
        for (int l = 0; l < LANES; l++)
            for (int h = 0; h < 2; h++) {
                int row = l / 4, col = 2 * (l % 4) + h;
                uint16_t *cell = trans ? &m[col][row] : &m[row][col];
                if (store)
                    *cell = (uint16_t)(reg[l] >> (16 * h));
                else
                    reg[l] = h == 0 ? *cell : reg[l] | (uint32_t)*cell << 16;
            }
        if (store)
            for (int row = 0; row < 8; row++)
                memcpy(access_lane(&r, 8 * i + row), m[row], 16);
    }
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
    o->stride_given = in->operand_count == 3;
    if (m % 8 != 0 || n % 8 != 0 || m <= 0 || m > 32 || n <= 0 || n > 32 || k <= 0 ||
        k > 128 || mods->type_count != 1 || strchr("abcd", o->which) == NULL)
        return decode_fail(dec, "not for this shape and type");
    bool sum = o->which == 'c' || o->which == 'd';
    if (o->bits < 8 && (sum || neighbours(o) == false))
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
    op->fn = wmma_move;
    matrix_members(dec, op);
    op->extra = o;
    op->width = o->bits == 64 ? 8 : 4;
    op->d2 = store;
    op->space = (uint8_t)mods->space;
    return decode_address(dec, &in->operand[1 - data], mods->space, op) &&
           (!o->stride_given || decode_src(dec, &in->operand[2], PTX_U32, &op->s[1]));
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
    matrix_members(dec, op);
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
    matrix_members(dec, op);
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
     decode_wmma_move},
    {"wmma", "wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r{, stride};",
     ".f16 .f32 .f64 .s32", WMMA_MOVE, SIM_PIPE_LSU, 2, 3, decode_wmma_move},
    {"ldmatrix", "ldmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 d, [a];", ".b16",
     MATRIX, SIM_PIPE_LSU, 2, 2, decode_matrix},
    {"stmatrix", "stmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 [a], d;", ".b16",
     MATRIX, SIM_PIPE_LSU, 2, 2, decode_matrix},
    {"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;", ".b16", MATRIX,
     SIM_PIPE_ALU, 2, 2, decode_movmatrix},
};
const struct op_family ops_wmma = {rows, (int)(sizeof rows / sizeof *rows)};
