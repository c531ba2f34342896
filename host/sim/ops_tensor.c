/* ops_tensor.c - wmma.mma and mma.sync (PTX ISA 9.0, 9.7.14), and the rows of what is
 * Loads and
 * stores of matrices are in ops_wmma.c, the layouts in fragment.h, executors in mma_run.h.
 *
 * Numbers. A sum starts from C and takes the products in order of k with a fused
 * multiply-add in FP32; FP16 sums are kept in FP32 and rounded once, at the end of the
 * instruction. Integers wrap, or clamp at the end with .satfinite. FP64 is a chain of
 * fused multiply-adds. Hardware adds several products at once and truncates: mma_sums.h
 * has that mode; the difference is far below the verdict's bound. */
#include "mma_run.h"

/* --- decode ------------------------------------------------------------------------ */

static bool is_integer(enum ptx_type type)
{
    return type == PTX_U8 || type == PTX_S8 || type == PTX_U4 || type == PTX_S4 ||
           type == PTX_B1;
}

static bool is_fp8(enum ptx_type type)
{
    return type == PTX_E4M3 || type == PTX_E5M2;
}

enum { WMMA, DENSE, SPARSE };

/* The shapes of each kind by the bits of an element of A, and the sm that brought them. */
static int shape_since(const struct mma_op *o, int kind)
{
    static const struct {
        int kind, bits, m, n, k, sm;
    } shapes[] = {
        {WMMA, 16, 16, 16, 16, 70},  {WMMA, 16, 32, 8, 16, 70},
        {WMMA, 16, 8, 32, 16, 70},   {WMMA, 8, 16, 16, 16, 72},
        {WMMA, 8, 32, 8, 16, 72},    {WMMA, 8, 8, 32, 16, 72},
        {WMMA, 32, 16, 16, 8, 80},   {WMMA, 64, 8, 8, 4, 80},
        {WMMA, 4, 8, 8, 32, 75},     {WMMA, 1, 8, 8, 128, 75},
        {DENSE, 16, 8, 8, 4, 70},    {DENSE, 16, 16, 8, 8, 75},
        {DENSE, 16, 16, 8, 16, 80},  {DENSE, 32, 16, 8, 4, 80},
        {DENSE, 32, 16, 8, 8, 80},   {DENSE, 8, 8, 8, 16, 75},
        {DENSE, 8, 16, 8, 16, 80},   {DENSE, 8, 16, 8, 32, 80},
        {DENSE, 4, 8, 8, 32, 75},    {DENSE, 4, 16, 8, 32, 80},
        {DENSE, 4, 16, 8, 64, 80},   {DENSE, 1, 8, 8, 128, 75},
        {DENSE, 1, 16, 8, 128, 80},  {DENSE, 1, 16, 8, 256, 80},
        {DENSE, 64, 8, 8, 4, 80},    {DENSE, 64, 16, 8, 4, 90},
        {DENSE, 64, 16, 8, 8, 90},   {DENSE, 64, 16, 8, 16, 90},
        {SPARSE, 16, 16, 8, 16, 80}, {SPARSE, 16, 16, 8, 32, 80},
        {SPARSE, 32, 16, 8, 8, 80},  {SPARSE, 32, 16, 8, 16, 80},
        {SPARSE, 8, 16, 8, 32, 80},  {SPARSE, 8, 16, 8, 64, 80},
        {SPARSE, 4, 16, 8, 64, 80},  {SPARSE, 4, 16, 8, 128, 80},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].kind != kind || shapes[i].bits != element_bits(o->a) ||
            shapes[i].m != o->m || shapes[i].n != o->n || shapes[i].k != o->k)
            continue;
        int bits = shapes[i].bits;
        if (is_fp8(o->a))
            return o->m == 8 || kind == WMMA || (kind == SPARSE && o->k == 32) ? 0 : 89;
        if (o->a == PTX_BF16 && o->k == 4)
            return 0;
        return o->a == PTX_BF16 || bits >= 32 || o->and_popc
                   ? (shapes[i].sm > 80 ? shapes[i].sm : 80)
                   : shapes[i].sm;
    }
    return 0;
}

static bool types_match(const struct mma_op *o, int kind)
{
    if (element_bits(o->a) != element_bits(o->b) || is_integer(o->a) != is_integer(o->b))
        return false;
    if (is_integer(o->a)) /* signs may differ in mma, not in wmma */
        return o->c == PTX_S32 && o->d == PTX_S32 &&
               (o->a == o->b || (kind != WMMA && o->a != PTX_B1));
    if (is_fp8(o->a) && is_fp8(o->b))
        return o->c == o->d && (o->c == PTX_F32 || o->c == PTX_F16);
    if (o->a != o->b)
        return false;
    switch (o->a) {
    case PTX_F64:
        return o->c == PTX_F64 && o->d == PTX_F64;
    case PTX_BF16:
    case PTX_TF32:
        return o->c == PTX_F32 && o->d == PTX_F32;
    case PTX_F16:
        return (o->c == PTX_F32 || o->c == PTX_F16) &&
               (o->d == o->c || (kind == WMMA && o->d == PTX_F16) ||
                (o->d == PTX_F32 && (kind == WMMA || o->k == 4)));
    default:
        return false;
    }
}

static bool decode_types(struct decoder *dec, const struct mods *mods, int kind,
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
    } else if (mods->type_count == 2 && kind == WMMA) { /* .dtype.ctype: FP16 inputs */
        o->d = mods->type[0];
        o->c = mods->type[1];
        o->a = o->b = PTX_F16;
    } else {
        return decode_fail(dec, "needs four types");
    }
    if (!types_match(o, kind))
        return decode_fail(dec, "these types do not go together");
    int since = shape_since(o, kind), target = decode_module_of(dec)->target_sm;
    if (since == 0)
        return decode_fail(dec, "shape m%dn%dk%d is not there for .%s", o->m, o->n, o->k,
                           ptx_type_name(o->a));
    if (target < since)
        return decode_fail(dec, "needs .target sm_%d or higher, not sm_%d", since,
                           target);
    if (o->satfinite && (!is_integer(o->a) || o->a == PTX_B1))
        return decode_fail(dec, ".satfinite is for whole numbers");
    return true;
}

/* Registers that hold all elements of one operand once. */
static int registers_for(int elements, enum ptx_type type)
{
    int bits = element_bits(type);
    int regs = elements * bits / (bits == 64 ? 64 : 32) / LANES;
    return regs > 0 ? regs : 1;
}

/* The four vector operands into one list: d, a, b, c. A WMMA fragment of A or B may
 * have more registers than its elements need. */
static bool decode_fragments(struct decoder *dec, const struct ptx_insn *in, int kind,
                             struct mma_op *o, struct op *op)
{
    enum { MOST = 64 };
    const enum ptx_type types[4] = {o->d, o->a, o->b, o->c};
    bool quads = kind == DENSE && o->k == 4 && o->a == PTX_F16; /* four products */
    const int elements[4] = {
        o->m * o->n * (quads ? 4 : 1), o->m * packed_k(o) * (quads ? 4 : 1),
        o->k * o->n * (quads ? 4 : 1), o->m * o->n * (quads ? 4 : 1)};
    int *counts[4] = {&o->d_regs, &o->a_regs, &o->b_regs, &o->c_regs};
    uint32_t *rows = decode_alloc(dec, MOST * sizeof *rows);
    int used = 0;
    for (int i = 0; i < 4; i++) {
        struct op part = {0};
        enum ptx_type as = types[i] == PTX_F64 ? PTX_B64 : PTX_B32;
        if (!decode_list(dec, &in->operand[i], as, i == 0, &part, counts[i]))
            return false;
        int needed = registers_for(elements[i], types[i]);
        bool spare = kind == WMMA && (i == 1 || i == 2);
        if (*counts[i] < needed || (*counts[i] > needed && !spare) ||
            used + *counts[i] > MOST)
            return decode_fail(dec, "operand %d has %d registers, the shape needs %d",
                               i + 1, *counts[i], needed);
        for (int k = 0; k < *counts[i]; k++)
            rows[used++] = part.list[k];
    }
    decode_note_list(dec, rows, used);
    op->list = rows;
    return true;
}

/* e and f of mma.sp: the metadata register and which lanes' are meant. */
static bool decode_sparsity(struct decoder *dec, const struct ptx_insn *in,
                            struct mma_op *o)
{
    int bits = element_bits(o->a);
    int lanes = o->k * bits / (bits >= 16 ? 256 : 128);
    o->sparse = bits == 32 ? 1 : bits == 4 ? 4 : 2;
    if (in->operand[5].kind != PTX_OPERAND_IMM || in->operand[5].imm > 3 ||
        (int)in->operand[5].imm >= 4 / lanes)
        return decode_fail(dec, "the selector must be a number below %d", 4 / lanes);
    o->selector = (int)in->operand[5].imm;
    o->metadata = decode_alloc(dec, sizeof *o->metadata);
    if (!decode_src(dec, &in->operand[4], PTX_B32, o->metadata))
        return false;
    decode_note_list(dec, o->metadata, 1);
    return true;
}

static enum tensor_class class_of(const struct mma_op *o)
{
    return o->a == PTX_F64    ? TENSOR_F64
           : is_integer(o->a) ? TENSOR_INT8
           : o->a == PTX_TF32 ? TENSOR_TF32
           : o->a == PTX_BF16 ? TENSOR_BF16
           : o->d == PTX_F16  ? TENSOR_F16_ACC16
                              : TENSOR_F16_ACC32;
}

/* The words that mma may carry: .sp, and how bits are multiplied. */
static bool decode_words(struct decoder *dec, const struct mods *mods, int *kind,
                         bool *bits)
{
    *bits = false;
    for (int i = 0; i < mods->word_count; i++) {
        const char *word = mods->word[i];
        if (strncmp(word, "sp", 2) == 0)
            *kind = SPARSE;
        else if (strcmp(word, "popc") == 0)
            *bits = mods->boolean == BOOL_XOR || mods->boolean == BOOL_AND;
        else if (strcmp(word, "mma") != 0 && strcmp(word, "sync") != 0 &&
                 strcmp(word, "and") != 0 && strcmp(word, "xor") != 0)
            return decode_fail(dec, "it does not take .%s", word);
    }
    return true;
}

static bool decode_mma(struct decoder *dec, const struct ptx_insn *in,
                       const struct mods *mods, struct op *op)
{
    int kind = in->base[0] == 'w' ? WMMA : DENSE;
    bool bits;
    if (kind == WMMA && (mods->word_count == 0 || strcmp(mods->word[0], "mma") != 0))
        return decode_fail(dec, "is no wmma.mma");
    struct mma_op *o = decode_alloc(dec, sizeof *o);
    if (!decode_words(dec, mods, &kind, &bits))
        return false;
    o->and_popc = bits && mods->boolean == BOOL_AND;
    if (!mods->sync || in->operand_count != (kind == SPARSE ? 6 : 4))
        return decode_fail(dec, "needs .sync and %d operands", kind == SPARSE ? 6 : 4);
    if (!decode_types(dec, mods, kind, o))
        return false;
    bool quads = kind == DENSE && o->k == 4 && o->a == PTX_F16;
    o->a_col = mods->layout[0] == 'c';
    o->b_row = mods->layout[1] == 'r';
    if (mods->layout_count != 2 ||
        ((kind != WMMA || element_bits(o->a) < 8) && !quads && (o->a_col || o->b_row)))
        return decode_fail(dec, "only .row.col");
    if ((o->a == PTX_B1) != bits)
        return decode_fail(dec, ".xor.popc or .and.popc goes with .b1");
    if (mods->round != RND_NONE && (o->a != PTX_F64 || mods->round != RND_RN))
        return decode_fail(dec, "only .rn of .f64 is supported");
    if (kind == SPARSE && !decode_sparsity(dec, in, o))
        return false;
    op->fn = quads              ? mma_quads
             : o->a == PTX_F64  ? mma_double
             : is_integer(o->a) ? mma_integer
                                : mma_float;
    op->extra = o;
    op->flops = 2u * (uint32_t)(o->m * o->n * o->k) * (quads ? 4 : 1);
    op->tensor = (uint8_t)class_of(o);
    matrix_members(op);
    return decode_fragments(dec, in, kind, o, op);
}

enum {
    MMA = MOD_SYNC | MOD_SHAPE | MOD_LAYOUT | MOD_TYPE | MOD_TYPE2 | MOD_SAT | MOD_PART |
          MOD_MODE | MOD_BOOL | MOD_ROUND
};

static const struct op_row rows[] = {
    {"wmma", "wmma.mma.sync.aligned.layouts.shape.types{.satfinite} d, a, b, c;",
     ".f16 .bf16 .tf32 .f32 .f64 .u8 .s8 .u4 .s4 .b1", MMA, SIM_PIPE_TENSOR, 4, 4,
     decode_mma},
    {"mma",
     "mma{.sp}.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c"
     "{, metadata, selector};",
     ".f16 .bf16 .tf32 .f32 .f64 .e4m3 .e5m2 .u8 .s8 .u4 .s4 .b1", MMA, SIM_PIPE_TENSOR,
     4, 6, decode_mma},
};
const struct op_family ops_tensor = {rows, (int)(sizeof rows / sizeof *rows)};
