/* ops_tensor.c - wmma.mma, mma.sync, ldmatrix, stmatrix, movmatrix (PTX ISA 9.0,
 * 9.7.14). wmma.load and wmma.store are in ops_wmma.c.
 *
 * Numbers. The products of 16-bit and 8-bit floats are exact in FP32. A sum starts
 * from C and takes the products in order of k with a fused multiply-add in FP32; FP16
 * sums are kept in FP32 and rounded once, at the end of the instruction. Integers wrap,
 * or clamp with .satfinite. FP64 is a chain of fused multiply-adds. Hardware adds
 * several products at once and truncates; the difference is far below the verdict's
 * bound. */
#include "access.h"
#include "fragment.h"
#include "numeric.h"

enum { MOST_M = 32, MOST_N = 32, MOST_K = 256 };

struct mma_op {
    int m, n, k;
    enum ptx_type a, b, c, d;
    int a_regs, b_regs, c_regs, d_regs; /* registers in the instruction */
    bool satfinite, xor_popc;
};

static int element_bits(enum ptx_type type)
{
    return type == PTX_TF32 ? 32 : ptx_type_bits(type);
}

/* Registers that hold all elements once. */
static int unique_regs(int elements, int bits)
{
    int regs = elements * bits / (bits == 64 ? 64 : 32) / LANES;
    return regs > 0 ? regs : 1;
}

/* --- elements to numbers ----------------------------------------------------------- */

/* Element e of all 32 lanes of a register row, as floats. */
static void unpack_floats(const struct warp *w, uint32_t row, enum ptx_type type, int e,
                          float *out)
{
    const uint32_t *bits = row32(w, row);
    switch (type) {
    case PTX_F16:
        for (int l = 0; l < LANES; l++)
            out[l] = bits_to_f32(half_to_f32_bits(bits[l] >> (16 * e) & 0xffff));
        break;
    case PTX_BF16:
        for (int l = 0; l < LANES; l++)
            out[l] = bits_to_f32(bits[l] >> (16 * e) << 16);
        break;
    case PTX_TF32:
        for (int l = 0; l < LANES; l++)
            out[l] = bits_to_f32(bits[l] & 0xffffe000u);
        break;
    case PTX_E4M3:
        for (int l = 0; l < LANES; l++)
            out[l] = e4m3_value(bits[l] >> (8 * e) & 0xff);
        break;
    case PTX_E5M2:
        for (int l = 0; l < LANES; l++)
            out[l] = e5m2_value(bits[l] >> (8 * e) & 0xff);
        break;
    default:
        for (int l = 0; l < LANES; l++)
            out[l] = bits_to_f32(bits[l]);
        break;
    }
}

static int32_t integer_element(uint32_t bits, enum ptx_type type, int e)
{
    switch (type) {
    case PTX_U8:
        return (int32_t)(bits >> (8 * e) & 0xff);
    case PTX_S8:
        return (int8_t)(bits >> (8 * e));
    case PTX_U4:
        return (int32_t)(bits >> (4 * e) & 0xf);
    default:
        return (int32_t)(bits >> (4 * e) << 28) >> 28; /* S4 */
    }
}

/* --- floats ------------------------------------------------------------------------ */

struct tiles {
    float a[MOST_M * 32], b[32 * MOST_N], c[MOST_M * MOST_N];
};

static void load_float_tiles(const struct warp *w, const struct op *op,
                             const struct mma_op *o, struct tiles *t)
{
    const uint32_t *rows = op->list + o->d_regs;
    int per = 32 / element_bits(o->a);
    int a_unique = unique_regs(o->m * o->k, element_bits(o->a));
    int b_unique = unique_regs(o->k * o->n, element_bits(o->b));
    float lane[LANES];
    for (int i = 0; i < a_unique; i++)
        for (int e = 0; e < per; e++) {
            unpack_floats(w, rows[i], o->a, e, lane);
            for (int l = 0; l < LANES; l++) {
                struct fragment_place p = fragment_a(o->m, per, i, e, l);
                t->a[p.row * o->k + p.col] = lane[l];
            }
        }
    rows += o->a_regs;
    for (int i = 0; i < b_unique; i++)
        for (int e = 0; e < per; e++) {
            unpack_floats(w, rows[i], o->b, e, lane);
            for (int l = 0; l < LANES; l++) {
                struct fragment_place p = fragment_b(o->n, per, i, e, l);
                t->b[p.row * o->n + p.col] = lane[l];
            }
        }
    rows += o->b_regs;
    int values = o->m * o->n / LANES;
    for (int v = 0; v < values; v++) {
        bool half = o->c == PTX_F16;
        unpack_floats(w, rows[half ? v / 2 : v], half ? PTX_F16 : PTX_F32,
                      half ? v % 2 : 0, lane);
        for (int l = 0; l < LANES; l++) {
            struct fragment_place p = fragment_c(o->m, v, l);
            t->c[p.row * o->n + p.col] = lane[l];
        }
    }
}

/* c += a * b; the inner loop runs over columns so that it vectorises. */
static inline __attribute__((always_inline)) void multiply(struct tiles *t, int m, int n,
                                                           int k)
{
    for (int row = 0; row < m; row++) {
        float *c = &t->c[row * n];
        for (int i = 0; i < k; i++) {
            float a = t->a[row * k + i];
            const float *b = &t->b[i * n];
            for (int col = 0; col < n; col++)
                c[col] = __builtin_fmaf(a, b[col], c[col]);
        }
    }
}

static void multiply_any(struct tiles *t, const struct mma_op *o)
{
    if (o->n == 8 && o->m == 16 && o->k == 16)
        multiply(t, 16, 8, 16);
    else if (o->n == 16 && o->m == 16 && o->k == 16)
        multiply(t, 16, 16, 16);
    else
        multiply(t, o->m, o->n, o->k);
}

static void mma_float(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    struct tiles t;
    load_float_tiles(w, op, o, &t);
    multiply_any(&t, o);
    int values = o->m * o->n / LANES;
    for (int v = 0; v < values; v++)
        for (int l = 0; l < LANES; l++) {
            struct fragment_place p = fragment_c(o->m, v, l);
            float sum = t.c[p.row * o->n + p.col];
            if (o->d == PTX_F16) {
                uint32_t *d = &row32(w, op->list[v / 2])[l];
                uint32_t h = f32_to_half_bits(f32_to_bits(sum));
                *d = v % 2 == 0 ? h : *d | h << 16;
            } else {
                row32(w, op->list[v])[l] = canon_f32(sum);
            }
        }
}

/* --- integers and bits --------------------------------------------------------------- */

static void mma_integer(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    static _Thread_local int32_t a[MOST_M * MOST_K], b[MOST_K * MOST_N];
    const uint32_t *rows = op->list + o->d_regs;
    int per = 32 / element_bits(o->a);
    int a_unique = unique_regs(o->m * o->k, element_bits(o->a));
    int b_unique = unique_regs(o->k * o->n, element_bits(o->b));
    for (int i = 0; i < a_unique; i++)
        for (int l = 0; l < LANES; l++)
            for (int e = 0; e < per; e++) {
                struct fragment_place p = fragment_a(o->m, per, i, e, l);
                a[p.row * o->k + p.col] =
                    o->a == PTX_B1 ? (int32_t)(row32(w, rows[i])[l] >> e & 1)
                                   : integer_element(row32(w, rows[i])[l], o->a, e);
            }
    rows += o->a_regs;
    for (int i = 0; i < b_unique; i++)
        for (int l = 0; l < LANES; l++)
            for (int e = 0; e < per; e++) {
                struct fragment_place p = fragment_b(o->n, per, i, e, l);
                b[p.row * o->n + p.col] =
                    o->b == PTX_B1 ? (int32_t)(row32(w, rows[i])[l] >> e & 1)
                                   : integer_element(row32(w, rows[i])[l], o->b, e);
            }
    rows += o->b_regs;
    uint32_t result[MOST_M * MOST_N / LANES][LANES];
    int values = o->m * o->n / LANES;
    for (int v = 0; v < values; v++)
        for (int l = 0; l < LANES; l++) {
            struct fragment_place p = fragment_c(o->m, v, l);
            int64_t sum = (int32_t)row32(w, rows[v])[l];
            for (int i = 0; i < o->k; i++) {
                int32_t x = a[p.row * o->k + i], y = b[i * o->n + p.col];
                sum += o->xor_popc ? x ^ y : x * y;
            }
            if (o->satfinite)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            result[v][l] = (uint32_t)(uint64_t)sum;
        }
    for (int v = 0; v < values; v++)
        memcpy(row32(w, op->list[v]), result[v], sizeof result[v]);
}

static void mma_double(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    double a[MOST_M * 16], b[16 * MOST_N], result[8][LANES];
    const uint32_t *rows = op->list + o->d_regs;
    for (int i = 0; i < o->a_regs; i++)
        for (int l = 0; l < LANES; l++) {
            struct fragment_place p = fragment_a(o->m, 1, i, 0, l);
            a[p.row * o->k + p.col] = bits_to_f64(row64(w, rows[i])[l]);
        }
    rows += o->a_regs;
    for (int i = 0; i < o->b_regs; i++)
        for (int l = 0; l < LANES; l++) {
            struct fragment_place p = fragment_b(o->n, 1, i, 0, l);
            b[p.row * o->n + p.col] = bits_to_f64(row64(w, rows[i])[l]);
        }
    rows += o->b_regs;
    for (int v = 0; v < o->c_regs; v++)
        for (int l = 0; l < LANES; l++) {
            struct fragment_place p = fragment_c(o->m, v, l);
            double sum = bits_to_f64(row64(w, rows[v])[l]);
            for (int i = 0; i < o->k; i++)
                sum = __builtin_fma(a[p.row * o->k + i], b[i * o->n + p.col], sum);
            result[v][l] = sum;
        }
    for (int v = 0; v < o->d_regs; v++)
        for (int l = 0; l < LANES; l++)
            row64(w, op->list[v])[l] = f64_to_bits(result[v][l]);
}

/* --- ldmatrix, stmatrix, movmatrix ---------------------------------------------------- */

enum { MATRIX_TRANS = 4, MATRIX_STORE = 8, MATRIX_GENERIC = 16 };

static void matrix_move(struct warp *w, const struct op *op)
{
    uint64_t addresses[LANES], *address = w->worker->address;
    uint32_t whole = w->mask;
    bool store = op->flags & MATRIX_STORE, trans = op->flags & MATRIX_TRANS;
    struct resolved r;
    if (whole != FULL_MASK) {
        sim_raise(w, SIM_BAD_MASK, first_lane(whole), 0,
                  "a matrix instruction with only lanes 0x%08x of the warp", whole);
        return;
    }
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

static bool is_integer(enum ptx_type type)
{
    return type == PTX_U8 || type == PTX_S8 || type == PTX_U4 || type == PTX_S4 ||
           type == PTX_B1;
}

static bool known_shape(const struct mma_op *o, bool wmma)
{
    static const struct {
        bool wmma;
        int bits, m, n, k;
    } shapes[] = {
        {true, 16, 16, 16, 16}, {true, 16, 32, 8, 16},  {true, 16, 8, 32, 16},
        {true, 8, 16, 16, 16},  {true, 8, 32, 8, 16},   {true, 8, 8, 32, 16},
        {true, 32, 16, 16, 8},  {true, 64, 8, 8, 4},    {true, 4, 8, 8, 32},
        {true, 1, 8, 8, 128},   {false, 16, 16, 8, 8},  {false, 16, 16, 8, 16},
        {false, 32, 16, 8, 4},  {false, 32, 16, 8, 8},  {false, 8, 8, 8, 16},
        {false, 8, 16, 8, 16},  {false, 8, 16, 8, 32},  {false, 4, 8, 8, 32},
        {false, 4, 16, 8, 32},  {false, 4, 16, 8, 64},  {false, 1, 8, 8, 128},
        {false, 1, 16, 8, 128}, {false, 1, 16, 8, 256}, {false, 64, 8, 8, 4},
        {false, 64, 16, 8, 4},  {false, 64, 16, 8, 8},  {false, 64, 16, 8, 16},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].wmma == wmma && shapes[i].bits == element_bits(o->a) &&
            shapes[i].m == o->m && shapes[i].n == o->n && shapes[i].k == o->k)
            return true;
    return false;
}

/* The four vector operands into one list: d, a, b, c. */
static bool decode_fragments(struct decoder *dec, const struct ptx_insn *in,
                             struct mma_op *o, struct op *op)
{
    const enum ptx_type types[4] = {o->d, o->a, o->b, o->c};
    int *counts[4] = {&o->d_regs, &o->a_regs, &o->b_regs, &o->c_regs};
    uint32_t *rows = decode_alloc(dec, 64 * sizeof *rows);
    int used = 0;
    for (int i = 0; i < 4; i++) {
        struct op part = {0};
        enum ptx_type as = types[i] == PTX_F64 ? PTX_B64 : PTX_B32;
        if (!decode_list(dec, &in->operand[i], as, i == 0, &part, counts[i]))
            return false;
        if (used + *counts[i] > 64)
            return decode_fail(dec, "too many registers");
        for (int k = 0; k < *counts[i]; k++)
            rows[used++] = part.list[k];
    }
    decode_note_list(dec, rows, used);
    op->list = rows;
    int c_bits = o->c == PTX_F16 ? 16 : o->c == PTX_F64 ? 64 : 32;
    int d_bits = o->d == PTX_F16 ? 16 : o->d == PTX_F64 ? 64 : 32;
    if (o->a_regs < unique_regs(o->m * o->k, element_bits(o->a)) ||
        o->b_regs < unique_regs(o->k * o->n, element_bits(o->b)) ||
        o->c_regs != unique_regs(o->m * o->n, c_bits) ||
        o->d_regs != unique_regs(o->m * o->n, d_bits))
        return decode_fail(dec, "the number of registers does not fit the shape");
    return true;
}

static bool decode_mma_types(struct decoder *dec, const struct mods *mods, bool wmma,
                             struct mma_op *o)
{
    o->m = mods->shape_m;
    o->n = mods->shape_n;
    o->k = mods->shape_k;
    o->satfinite = mods->satfinite;
    if (mods->type_count == 4) {
        o->d = mods->type[0];
        o->a = mods->type[1];
        o->b = mods->type[2];
        o->c = mods->type[3];
    } else if (mods->type_count == 2 && wmma) { /* .dtype.ctype: FP16 inputs */
        o->d = mods->type[0];
        o->c = mods->type[1];
        o->a = o->b = PTX_F16;
    } else {
        return decode_fail(dec, "needs four types");
    }
    bool integer = is_integer(o->a);
    bool wide = o->a == PTX_F64;
    if (integer != is_integer(o->b) || element_bits(o->a) != element_bits(o->b) ||
        (integer ? o->c != PTX_S32 || o->d != PTX_S32
         : wide  ? o->b != PTX_F64 || o->c != PTX_F64 || o->d != PTX_F64
                 : (o->c != PTX_F32 && o->c != PTX_F16) ||
                      (o->d != PTX_F32 && o->d != PTX_F16)))
        return decode_fail(dec, "these types do not go together");
    if (!known_shape(o, wmma) && !(o->a == PTX_E4M3 || o->a == PTX_E5M2))
        return decode_fail(dec, "shape m%dn%dk%d is not there for this type", o->m, o->n,
                           o->k);
    return true;
}

static bool decode_mma(struct decoder *dec, const struct ptx_insn *in,
                       const struct mods *mods, struct op *op)
{
    bool wmma = in->base[0] == 'w';
    if (wmma && (mods->word_count == 0 || strcmp(mods->word[0], "mma") != 0))
        return decode_fail(dec, "is no wmma.mma");
    struct mma_op *o = decode_alloc(dec, sizeof *o);
    for (int i = 0; i < mods->word_count; i++) {
        if (strncmp(mods->word[i], "sp", 2) == 0)
            return decode_fail(dec, "sparse matrices are not supported yet");
        if (strcmp(mods->word[i], "xor") == 0)
            o->xor_popc = true;
    }
    if (!mods->sync || in->operand_count != 4 || !decode_mma_types(dec, mods, wmma, o))
        return decode_fail(dec, "needs .sync and four operands");
    if (!wmma &&
        (mods->layout_count != 2 || mods->layout[0] != 'r' || mods->layout[1] != 'c'))
        return decode_fail(dec, "only .row.col");
    op->fn = o->a == PTX_F64 ? mma_double : is_integer(o->a) ? mma_integer : mma_float;
    op->extra = o;
    op->flops = 2u * (uint32_t)o->m * (uint32_t)o->n * (uint32_t)o->k;
    op->tensor = (uint8_t)(o->a == PTX_F64    ? TENSOR_F64
                           : is_integer(o->a) ? TENSOR_INT8
                           : o->a == PTX_TF32 ? TENSOR_TF32
                           : o->a == PTX_BF16 ? TENSOR_BF16
                           : o->d == PTX_F16  ? TENSOR_F16_ACC16
                                              : TENSOR_F16_ACC32);
    return decode_fragments(dec, in, o, op);
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
    return decode_plain(dec, in, op, PTX_B32, PTX_B32);
}

static bool decode_refused(struct decoder *dec, const struct ptx_insn *in,
                           const struct mods *mods, struct op *op)
{
    (void)mods, (void)op;
    static const struct {
        const char *base, *why;
    } reasons[] = {
        {"wgmma", "warpgroup matrix instructions are not supported yet"},
        {"tcgen05", "Blackwell's tensor memory is not supported"},
        {"tex", "textures are not supported"},
        {"tld4", "textures are not supported"},
        {"txq", "textures are not supported"},
        {"suld", "surfaces are not supported"},
        {"sust", "surfaces are not supported"},
        {"sured", "surfaces are not supported"},
        {"suq", "surfaces are not supported"},
        {"mapa", "clusters are not supported yet"},
        {"getctarank", "clusters are not supported yet"},
        {"setmaxnreg", "register reallocation comes with wgmma"},
        {"griddepcontrol", "dependent launches are not supported"},
        {"multimem", "multicast memory is not supported"},
        {"tensormap", "tensor maps are not supported yet"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i].base, in->base) == 0)
            return decode_fail(dec, "%s", reasons[i].why);
    return false;
}

enum {
    MMA = MOD_SYNC | MOD_SHAPE | MOD_LAYOUT | MOD_TYPE | MOD_TYPE2 | MOD_SAT | MOD_PART |
          MOD_MODE | MOD_BOOL,
    MATRIX = MOD_SYNC | MOD_SHAPE | MOD_LAYOUT | MOD_SPACE | MOD_TYPE
};

#define REFUSED(base)                                                        \
    {                                                                        \
        base, base ": refused with a reason", NULL, ~0u, SIM_PIPE_TENSOR, 0, \
            PTX_MAX_OPERANDS, decode_refused                                 \
    }

static const struct op_row rows[] = {
    {"wmma", "wmma.mma.sync.aligned.layouts.shape.types{.satfinite} d, a, b, c;",
     ".f16 .bf16 .tf32 .f32 .f64 .u8 .s8 .u4 .s4 .b1", MMA, SIM_PIPE_TENSOR, 4, 4,
     decode_mma},
    {"mma",
     "mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c;",
     ".f16 .bf16 .tf32 .f32 .f64 .e4m3 .e5m2 .u8 .s8 .u4 .s4 .b1", MMA, SIM_PIPE_TENSOR,
     4, 4, decode_mma},
    {"ldmatrix", "ldmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 d, [a];", ".b16",
     MATRIX, SIM_PIPE_LSU, 2, 2, decode_matrix},
    {"stmatrix", "stmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 [a], d;", ".b16",
     MATRIX, SIM_PIPE_LSU, 2, 2, decode_matrix},
    {"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;", ".b16", MATRIX,
     SIM_PIPE_ALU, 2, 2, decode_movmatrix},
    REFUSED("wgmma"),
    REFUSED("tcgen05"),
    REFUSED("tex"),
    REFUSED("tld4"),
    REFUSED("txq"),
    REFUSED("suld"),
    REFUSED("sust"),
    REFUSED("sured"),
    REFUSED("suq"),
    REFUSED("mapa"),
    REFUSED("getctarank"),
    REFUSED("setmaxnreg"),
    REFUSED("griddepcontrol"),
    REFUSED("multimem"),
    REFUSED("tensormap"),
};
const struct op_family ops_tensor = {rows, (int)(sizeof rows / sizeof *rows)};
