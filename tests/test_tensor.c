/* test_tensor.c - matrix instructions: where each lane's elements lie (PTX ISA 9.0,
 * 9.7.14, written down here once more from the manual), and that products are right. */
#include "tensor_fixture.h"

#include "../host/sim/fragment.h"

TestSuite(tensor, .init = open_tensor_device, .fini = close_device);

enum { MOST = 256 };

struct place {
    int row, col;
};

/* --- the manual's layouts: element i of a lane -------------------------------------- */

static struct place manual_a(int m, int each, int i, int lane)
{
    int g = lane / 4, t = lane % 4, part = i / each;
    if (m == 8)
        return (struct place){g, each * t + i};
    return (struct place){part % 2 == 0 ? g : g + 8,
                          each * t + i % each + (part >= 2 ? 4 * each * (part / 2) : 0)};
}

static struct place manual_b(int each, int i, int lane)
{
    return (struct place){each * (lane % 4) + i % each + i / each * 4 * each, lane / 4};
}

static struct place manual_c(int m, int i, int lane)
{
    int g = lane / 4, col = lane % 4 * 2 + (i & 1);
    return (struct place){m == 8 || i < 2 ? g : g + 8, col};
}

struct mma_case {
    int m, n, k;
    const char *d, *a, *b, *c;
    int sm;
    const char *extra; /* ".satfinite", ".xor.popc" */
    int selector;      /* sparse */
};

/* Elements of one operand as matrix and as registers of the lanes. */
struct operand {
    const struct number_type *type;
    int rows, cols, each, regs; /* elements in a register, registers of a lane */
    double value[MOST * 16];
    uint64_t reg[32 * 32]; /* [lane * regs + i] */
};

static void put(struct operand *o, int lane, int i, uint64_t code)
{
    o->reg[lane * o->regs + i / o->each] |= code << (i % o->each * o->type->bits);
}

static void shape(struct operand *o, const char *type, int rows, int cols)
{
    memset(o, 0, sizeof *o);
    o->type = number_type(type);
    o->rows = rows;
    o->cols = cols;
    o->each = o->type->bits >= 32 ? 1 : 32 / o->type->bits;
    o->regs = rows * cols / o->each / 32;
}

static void fill(struct operand *o, char which, int m, bool whole)
{
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < o->regs * o->each; i++) {
            struct place p = which == 'a'   ? manual_a(m, o->each, i, lane)
                             : which == 'b' ? manual_b(o->each, i, lane)
                                            : manual_c(m, i, lane);
            uint64_t code = random_code(o->type, whole);
            put(o, lane, i, code);
            o->value[p.row * o->cols + p.col] = number_value(o->type, code);
        }
}

static void load_registers(struct text *t, const char *name, int buffer,
                           const struct operand *o)
{
    bool wide = o->type->bits == 64;
    add(t, "mad.wide.u32 %%rd%d, %%r1000, %d, %%rd%d;\n", 100 + buffer,
        o->regs * (wide ? 8 : 4), buffer);
    for (int i = 0; i < o->regs; i++)
        add(t, "ld.global.%s %s%d, [%%rd%d+%d];\n", wide ? "f64" : "b32", name, i,
            100 + buffer, i * (wide ? 8 : 4));
}

/* Registers of a class that fits the operand, numbered from its own base. */
static const char *register_name(const struct operand *o, char which)
{
    static char name[4][8];
    char *to = name[which - 'a'];
    snprintf(to, sizeof name[0], "%s%d", o->type->bits == 64 ? "%d" : "%r",
             1 + which - 'a');
    return to;
}

/* Buffers of 32-bit registers, from and to the 64-bit array. */
static void pack(struct operand *o, struct buffer *b, uint32_t *narrow)
{
    if (o->type->bits == 64) {
        *b = (struct buffer){.data = o->reg, .bytes = (size_t)o->regs * 32 * 8};
        return;
    }
    for (int i = 0; i < o->regs * 32; i++)
        narrow[i] = (uint32_t)o->reg[i];
    *b = (struct buffer){.data = narrow, .bytes = (size_t)o->regs * 32 * 4};
}

struct problem {
    struct operand a, b, c, d;
    uint32_t narrow[5][32 * 32], metadata[32];
};

static uint64_t whole_sum(const struct mma_case *t, const struct problem *p, int row,
                          int col)
{
    bool bits = strcmp(t->a, "b1") == 0, both = strstr(t->extra, "and") != NULL;
    double sum = p->c.value[row * t->n + col];
    for (int k = 0; k < t->k; k++) {
        double x = p->a.value[row * t->k + k], y = p->b.value[k * t->n + col];
        sum += bits && !both ? (x != y) : x * y;
    }
    if (strstr(t->extra, "satfinite") != NULL)
        sum = fmin(fmax(sum, INT32_MIN), INT32_MAX);
    return (uint32_t)(uint64_t)(int64_t)sum;
}

/* What the simulator promises: FP32 chain of fused steps, k ascending; FP16 rounded at
 * the end; FP64 alike. */
static uint64_t expected(const struct mma_case *t, const struct problem *p, int row,
                         int col)
{
    if (strcmp(t->d, "s32") == 0)
        return whole_sum(t, p, row, col);
    float sum = (float)p->c.value[row * t->n + col];
    double wide = p->c.value[row * t->n + col];
    for (int k = 0; k < t->k; k++) {
        double x = p->a.value[row * t->k + k], y = p->b.value[k * t->n + col];
        sum = fmaf((float)x, (float)y, sum);
        wide = fma(x, y, wide);
    }
    uint64_t code = 0;
    if (strcmp(t->d, "f64") == 0)
        memcpy(&code, &wide, 8);
    else if (strcmp(t->d, "f32") == 0)
        memcpy(&code, &sum, 4);
    else
        code = nearest_half((double)sum);
    return code;
}

static void name_case(const struct mma_case *t, const char *kind, char *name, size_t room)
{
    const char *popc = strstr(t->extra, "popc") != NULL ? t->extra : "";
    snprintf(name, room, "mma%s.sync.aligned.m%dn%dk%d.row.col%s.%s.%s.%s.%s%s", kind,
             t->m, t->n, t->k, *popc ? "" : t->extra, t->d, t->a, t->b, t->c, popc);
}

static void compare(const struct mma_case *t, const struct problem *p, const char *name,
                    bool whole)
{
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < p->d.regs * p->d.each; i++) {
            struct place at = manual_c(t->m, i, lane);
            uint64_t word = p->d.type->bits == 64
                                ? p->d.reg[lane * p->d.regs + i]
                                : p->narrow[3][lane * p->d.regs + i / p->d.each];
            uint64_t got = p->d.each == 2 ? word >> (16 * (i % 2)) & 0xffff : word;
            uint64_t want = expected(t, p, at.row, at.col);
            cr_assert_eq(got, want, "%s, %s: row %d col %d is %llx, not %llx", name,
                         whole ? "whole numbers" : "real numbers", at.row, at.col,
                         (unsigned long long)got, (unsigned long long)want);
        }
}

static void run_mma(const struct mma_case *t, const char *kind, struct problem *p,
                    bool whole)
{
    struct text *text = malloc(sizeof *text);
    struct buffer buffers[5];
    char name[120];
    name_case(t, kind, name, sizeof name);
    shape(&p->d, t->d, t->m, t->n);
    begin(text, t->sm, 5);
    struct operand *operands[3] = {&p->a, &p->b, &p->c};
    for (int i = 0; i < 3; i++) {
        load_registers(text, register_name(operands[i], (char)('a' + i)), i, operands[i]);
        pack(operands[i], &buffers[i], p->narrow[i]);
    }
    pack(&p->d, &buffers[3], p->narrow[3]);
    buffers[4] = (struct buffer){.data = p->metadata, .bytes = sizeof p->metadata};
    add(text,
        "mad.wide.u32 %%rd110, %%r1000, 4, %%rd4;\nld.global.u32 %%r999, "
        "[%%rd110];\n%s ",
        name);
    list_registers(text, register_name(&p->d, 'd'), p->d.regs);
    for (int i = 0; i < 3; i++) {
        add(text, ", ");
        list_registers(text, register_name(operands[i], (char)('a' + i)),
                       operands[i]->regs);
    }
    if (*kind != '\0')
        add(text, ", %%r999, 0x%x", (unsigned)t->selector);
    bool wide = p->d.type->bits == 64;
    add(text, ";\nmad.wide.u32 %%rd103, %%r1000, %d, %%rd3;\n",
        p->d.regs * (wide ? 8 : 4));
    for (int i = 0; i < p->d.regs; i++)
        add(text, "st.global.%s [%%rd103+%d], %s%d;\n", wide ? "f64" : "b32",
            i * (wide ? 8 : 4), register_name(&p->d, 'd'), i);
    CUresult result = finish(text, 32, buffers, 5);
    cr_assert_eq(result, CUDA_SUCCESS, "%s: %s", name, sim_last_error());
    compare(t, p, name, whole);
    free(text);
}

static const struct mma_case dense[] = {
    {16, 8, 8, "f32", "f16", "f16", "f32", 80, "", 0},
    {16, 8, 8, "f16", "f16", "f16", "f16", 80, "", 0},
    {16, 8, 16, "f32", "f16", "f16", "f32", 80, "", 0},
    {16, 8, 16, "f16", "f16", "f16", "f16", 80, "", 0},
    {16, 8, 8, "f32", "bf16", "bf16", "f32", 80, "", 0},
    {16, 8, 16, "f32", "bf16", "bf16", "f32", 80, "", 0},
    {16, 8, 4, "f32", "tf32", "tf32", "f32", 80, "", 0},
    {16, 8, 8, "f32", "tf32", "tf32", "f32", 80, "", 0},
    {16, 8, 32, "f32", "e4m3", "e4m3", "f32", 89, "", 0},
    {16, 8, 32, "f32", "e4m3", "e5m2", "f32", 89, "", 0},
    {16, 8, 32, "f32", "e5m2", "e4m3", "f32", 89, "", 0},
    {16, 8, 32, "f32", "e5m2", "e5m2", "f32", 89, "", 0},
    {16, 8, 32, "f16", "e4m3", "e5m2", "f16", 89, "", 0},
    {16, 8, 16, "f32", "e4m3", "e4m3", "f32", 89, "", 0},
    {16, 8, 16, "f16", "e5m2", "e5m2", "f16", 89, "", 0},
    {8, 8, 4, "f64", "f64", "f64", "f64", 80, "", 0},
    {16, 8, 4, "f64", "f64", "f64", "f64", 90, "", 0},
    {16, 8, 8, "f64", "f64", "f64", "f64", 90, "", 0},
    {16, 8, 16, "f64", "f64", "f64", "f64", 90, "", 0},
    {8, 8, 16, "s32", "s8", "s8", "s32", 80, "", 0},
    {8, 8, 16, "s32", "u8", "s8", "s32", 80, ".satfinite", 0},
    {16, 8, 16, "s32", "s8", "u8", "s32", 80, "", 0},
    {16, 8, 16, "s32", "u8", "u8", "s32", 80, ".satfinite", 0},
    {16, 8, 32, "s32", "s8", "s8", "s32", 80, ".satfinite", 0},
    {16, 8, 32, "s32", "u8", "u8", "s32", 80, "", 0},
    {16, 8, 32, "s32", "u8", "s8", "s32", 80, "", 0},
    {8, 8, 32, "s32", "s4", "s4", "s32", 80, "", 0},
    {8, 8, 32, "s32", "u4", "s4", "s32", 80, ".satfinite", 0},
    {16, 8, 32, "s32", "s4", "u4", "s32", 80, "", 0},
    {16, 8, 64, "s32", "s4", "s4", "s32", 80, "", 0},
    {16, 8, 64, "s32", "u4", "u4", "s32", 80, ".satfinite", 0},
    {8, 8, 128, "s32", "b1", "b1", "s32", 80, ".xor.popc", 0},
    {16, 8, 128, "s32", "b1", "b1", "s32", 80, ".xor.popc", 0},
    {16, 8, 256, "s32", "b1", "b1", "s32", 80, ".xor.popc", 0},
    {8, 8, 128, "s32", "b1", "b1", "s32", 80, ".and.popc", 0},
    {16, 8, 128, "s32", "b1", "b1", "s32", 80, ".and.popc", 0},
    {16, 8, 256, "s32", "b1", "b1", "s32", 80, ".and.popc", 0},
};

Test(tensor, mma_sync_in_every_shape_and_type)
{
    struct problem *p = calloc(1, sizeof *p);
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
        for (int whole = 0; whole < 2; whole++) {
            const struct mma_case *t = &dense[i];
            shape(&p->a, t->a, t->m, t->k);
            shape(&p->b, t->b, t->k, t->n);
            shape(&p->c, t->c, t->m, t->n);
            fill(&p->a, 'a', t->m, whole);
            fill(&p->b, 'b', t->m, whole);
            fill(&p->c, 'c', t->m, whole);
            run_mma(t, "", p, whole);
        }
    free(p);
}

/* --- sparse A ------------------------------------------------------------------------ */

static const struct mma_case sparse[] = {
    {16, 8, 16, "f32", "f16", "f16", "f32", 80, "", 0},
    {16, 8, 16, "f16", "f16", "f16", "f16", 80, "", 3},
    {16, 8, 32, "f32", "f16", "f16", "f32", 80, "", 0},
    {16, 8, 32, "f16", "f16", "f16", "f16", 80, "", 1},
    {16, 8, 16, "f32", "bf16", "bf16", "f32", 80, "", 2},
    {16, 8, 32, "f32", "bf16", "bf16", "f32", 80, "", 1},
    {16, 8, 8, "f32", "tf32", "tf32", "f32", 80, "", 1},
    {16, 8, 16, "f32", "tf32", "tf32", "f32", 80, "", 1},
    {16, 8, 32, "s32", "s8", "s8", "s32", 80, "", 0},
    {16, 8, 32, "s32", "u8", "s8", "s32", 80, ".satfinite", 1},
    {16, 8, 64, "s32", "s8", "u8", "s32", 80, "", 0},
    {16, 8, 64, "s32", "s4", "s4", "s32", 80, "", 1},
    {16, 8, 128, "s32", "u4", "s4", "s32", 80, "", 0},
    {16, 8, 64, "f32", "e4m3", "e5m2", "f32", 89, "", 0},
    {16, 8, 64, "f32", "e5m2", "e4m3", "f32", 89, "", 0},
};

/* A row's chunk in the metadata: lane and bit. By the manual's figures: 16-bit and TF32
 * lanes hold 4 chunks of row g (low half) and of row g + 8 (high half); the others hold 8
 * chunks of one row, lanes of row g and g + 8 in turn. */
static void chunk_place(const struct mma_case *t, int bits, int row, int chunk, int *lane,
                        int *bit)
{
    int g = row % 8, upper = row / 8;
    if (bits >= 16) {
        int lanes = t->k * bits / 256;
        *lane = 4 * g + t->selector * lanes + chunk / 4;
        *bit = 16 * upper + chunk % 4 * 4;
    } else {
        int lanes = t->k * bits / 128;
        *lane = 4 * g + t->selector * lanes + chunk / 8 * 2 + upper;
        *bit = chunk % 8 * 4;
    }
}

/* Random metadata, and A unpacked by it into p->a.value[m][k]. */
static void unpack_a(const struct mma_case *t, struct problem *p)
{
    static double packed[MOST * 16];
    int bits = p->a.type->bits, half = t->k / 2;
    memcpy(packed, p->a.value, sizeof packed);
    memset(p->a.value, 0, sizeof p->a.value);
    for (int l = 0; l < 32; l++) /* valid words, different ones, everywhere */
        p->metadata[l] = l % 2 ? 0x44444444u : 0xeeeeeeeeu;
    int values = bits == 32 ? 1 : bits == 4 ? 4 : 2, pieces = bits == 4 ? 2 : 1;
    for (int row = 0; row < 16; row++)
        for (int chunk = 0; chunk < half / values; chunk++) {
            static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3},
                                            {1, 2}, {1, 3}, {2, 3}};
            const int *pair = pairs[random_bits() % 6];
            int lane, bit, second = (int)(random_bits() % 2);
            chunk_place(t, bits, row, chunk, &lane, &bit);
            uint32_t code =
                bits == 32 ? (second ? 0xeu : 0x4u) : (uint32_t)(pair[0] | pair[1] << 2);
            p->metadata[lane] = (p->metadata[lane] & ~(0xfu << bit)) | code << bit;
            double *to = p->a.value + row * t->k + chunk * 2 * values;
            const double *from = packed + row * half + chunk * values;
            if (bits == 32)
                to[second] = from[0];
            for (int i = 0; bits != 32 && i < 2 * pieces; i++)
                to[pair[i / pieces] * pieces + i % pieces] = from[i];
        }
    p->a.cols = t->k;
}

Test(tensor, mma_sp_in_every_shape_and_type)
{
    struct problem *p = calloc(1, sizeof *p);
    for (size_t i = 0; i < sizeof sparse / sizeof *sparse; i++)
        for (int whole = 0; whole < 2; whole++) {
            const struct mma_case *t = &sparse[i];
            shape(&p->a, t->a, t->m, t->k / 2);
            shape(&p->b, t->b, t->k, t->n);
            shape(&p->c, t->c, t->m, t->n);
            fill(&p->a, 'a', t->m, whole);
            fill(&p->b, 'b', t->m, whole);
            fill(&p->c, 'c', t->m, whole);
            unpack_a(t, p);
            run_mma(t, ".sp", p, whole);
        }
    free(p);
}

/* --- m8n8k4 with FP16: four products ---------------------------------------------------- */

/* The manual's places in the product of the quad pair q, for lane x of its eight. */
static struct place quad_ab(bool across, int x, int i)
{
    return across ? (struct place){i + (x < 4 ? 0 : 4), x % 4}
                  : (struct place){x % 4 + (x < 4 ? 0 : 4), i};
}

static struct place quad_c(bool wide, int x, int i)
{
    if (!wide)
        return (struct place){x % 4 + (x < 4 ? 0 : 4), i};
    return (struct place){(x & 1) + (i & 2) + (x < 4 ? 0 : 4),
                          (i & 4) + (x & 2) + (i & 1)};
}

static void check_quads(bool a_col, bool b_row, const char *d, const char *c)
{
    static const double halves[8] = {0, 1, -1, 2, -2, 0.5, 3, -0.25};
    bool d_wide = strcmp(d, "f32") == 0, c_wide = strcmp(c, "f32") == 0;
    int d_regs = d_wide ? 8 : 4, c_regs = c_wide ? 8 : 4;
    double va[4][8][8] = {{{0}}}, vb[4][8][8] = {{{0}}}, vc[4][8][8] = {{{0}}};
    uint32_t in[32][12] = {{0}}, out[32][8] = {{0}};
    for (int lane = 0; lane < 32; lane++) {
        int q = lane % 16 / 4, x = lane % 4 + lane / 16 * 4;
        for (int i = 0; i < 8; i++) {
            double value = halves[random_bits() % 8];
            if (i < 4) {
                struct place p = quad_ab(a_col, x, i);
                va[q][p.row][p.col] = value;
                in[lane][i / 2] |= nearest_half(value) << (16 * (i % 2));
                value = halves[random_bits() % 8];
                if (b_row)
                    vb[q][x % 4][i + (x < 4 ? 0 : 4)] = value;
                else
                    vb[q][i][x % 4 + (x < 4 ? 0 : 4)] = value;
                in[lane][2 + i / 2] |= nearest_half(value) << (16 * (i % 2));
            }
            value = halves[random_bits() % 8];
            struct place p = quad_c(c_wide, x, i);
            vc[q][p.row][p.col] = value;
            float narrow = (float)value;
            if (c_wide)
                memcpy(&in[lane][4 + i], &narrow, 4);
            else
                in[lane][4 + i / 2] |= nearest_half(value) << (16 * (i % 2));
        }
    }
    struct text *t = malloc(sizeof *t);
    begin(t, 80, 2);
    add(t, "mad.wide.u32 %%rd100, %%r1000, 48, %%rd0;\n");
    for (int i = 0; i < 12; i++)
        add(t, "ld.global.b32 %%r%d, [%%rd100+%d];\n", i, 4 * i);
    add(t, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s ", a_col ? "col" : "row",
        b_row ? "row" : "col", d, c);
    list_registers(t, "%r2", d_regs);
    add(t, ", {%%r0, %%r1}, {%%r2, %%r3}, {");
    for (int i = 0; i < c_regs; i++)
        add(t, "%s%%r%d", i > 0 ? ", " : "", 4 + i);
    add(t, "};\nmad.wide.u32 %%rd101, %%r1000, 32, %%rd1;\n");
    for (int i = 0; i < d_regs; i++)
        add(t, "st.global.b32 [%%rd101+%d], %%r2%d;\n", 4 * i, i);
    struct buffer buffers[2] = {{.data = in, .bytes = sizeof in},
                                {.data = out, .bytes = sizeof out}};
    cr_assert_eq(finish(t, 32, buffers, 2), CUDA_SUCCESS, "%s", sim_last_error());
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            int q = lane % 16 / 4, x = lane % 4 + lane / 16 * 4;
            struct place p = quad_c(d_wide, x, i);
            double want = vc[q][p.row][p.col];
            for (int k = 0; k < 4; k++)
                want += va[q][p.row][k] * vb[q][k][p.col];
            float wide;
            memcpy(&wide, &out[lane][i], 4);
            double got = d_wide
                             ? (double)wide
                             : number_value(number_type("f16"),
                                            out[lane][i / 2] >> (16 * (i % 2)) & 0xffff);
            cr_assert_eq(got, want, "%s %s %s %s: quad %d row %d col %d is %g, not %g",
                         a_col ? "col" : "row", b_row ? "row" : "col", d, c, q, p.row,
                         p.col, got, want);
        }
    free(t);
}

Test(tensor, m8n8k4_multiplies_four_pairs)
{
    for (int layouts = 0; layouts < 4; layouts++) {
        check_quads(layouts & 1, layouts & 2, "f32", "f32");
        check_quads(layouts & 1, layouts & 2, "f16", "f16");
        check_quads(layouts & 1, layouts & 2, "f32", "f16");
    }
}

Test(tensor, fragments_cover_every_element_once)
{
    static const int shapes[][4] = {{16, 16, 16, 2}, {32, 8, 16, 2},  {8, 32, 16, 2},
                                    {16, 8, 8, 1},   {16, 8, 4, 1},   {8, 8, 4, 1},
                                    {16, 8, 32, 4},  {8, 8, 16, 4},   {16, 8, 64, 8},
                                    {8, 8, 128, 32}, {16, 8, 256, 32}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int m = shapes[s][0], n = shapes[s][1], k = shapes[s][2], each = shapes[s][3];
        static uint8_t a[32 * 256], b[32 * 256], c[32 * 32];
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        memset(c, 0, sizeof c);
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < m * k / 32; i++) {
                struct fragment_place p = fragment_a(m, each, i / each, i % each, lane);
                cr_assert(p.row < m && p.col < k);
                a[p.row * k + p.col]++;
            }
            for (int i = 0; i < n * k / 32; i++) {
                struct fragment_place p = fragment_b(n, each, i / each, i % each, lane);
                cr_assert(p.row < k && p.col < n);
                b[p.row * n + p.col]++;
            }
            for (int i = 0; i < m * n / 32; i++) {
                struct fragment_place p = fragment_c(m, i, lane);
                cr_assert(p.row < m && p.col < n);
                c[p.row * n + p.col]++;
            }
        }
        for (int i = 0; i < m * k; i++)
            cr_assert_eq(a[i], 1, "m%dn%dk%d: A %d %d times", m, n, k, i, a[i]);
        for (int i = 0; i < n * k; i++)
            cr_assert_eq(b[i], 1, "m%dn%dk%d: B %d %d times", m, n, k, i, b[i]);
        for (int i = 0; i < m * n; i++)
            cr_assert_eq(c[i], 1, "m%dn%dk%d: C %d %d times", m, n, k, i, c[i]);
    }
}

/* --- faults and refusals ------------------------------------------------------------------ */

/* Run one statement with a buffer of `bytes`; %rd1 points into it at `offset`. */
static CUresult run_one(int sm, const char *statement, size_t bytes, int offset,
                        unsigned threads)
{
    struct text *t = malloc(sizeof *t);
    uint8_t *data = calloc(1, bytes);
    struct buffer buffer = {.data = data, .bytes = bytes};
    begin(t, sm, 1);
    add(t, "add.u64 %%rd1, %%rd0, %d;\nmov.u32 %%r500, area;\n%s\n", offset, statement);
    CUresult result = finish(t, threads, &buffer, 1);
    free(data);
    free(t);
    return result;
}

#define LOAD_A                                                                        \
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6," \
    "%r7}, [%rd1], 32;"
#define LOAD_A_SKEWED                                                                 \
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6," \
    "%r7}, [%rd1], 20;"
#define STORE_D                                                                        \
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f0,%f1,%f2,%f3,%f4," \
    "%f5,%f6,%f7}, 16;"

Test(tensor, memory_is_checked_and_the_warp_must_be_whole)
{
    size_t need = (15 * 32 + 16) * 2;
    cr_expect_eq(run_one(80, LOAD_A, need, 0, 32), CUDA_SUCCESS);
    expect_fault(run_one(80, LOAD_A, need - 2, 0, 32), SIM_OUT_OF_BOUNDS);
    expect_fault(run_one(80, LOAD_A, need, 32, 32), SIM_OUT_OF_BOUNDS);
    expect_fault(run_one(80, LOAD_A, 4096, 8, 32), SIM_MISALIGNED);
    expect_fault(run_one(80, LOAD_A_SKEWED, 4096, 0, 32), SIM_MISALIGNED);
    cr_expect_eq(run_one(80, STORE_D, 1024, 0, 32), CUDA_SUCCESS);
    expect_fault(run_one(80, STORE_D, 1020, 0, 32), SIM_OUT_OF_BOUNDS);
    expect_fault(run_one(80, STORE_D, 4096, 4, 32), SIM_MISALIGNED);
    expect_fault(run_one(80, LOAD_A, 4096, 0, 31), SIM_BAD_MASK);
    expect_fault(run_one(80, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r500+8];",
                         64, 0, 32),
                 SIM_MISALIGNED);
    expect_fault(run_one(80,
                         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, "
                         "[%r500+16384];",
                         64, 0, 32),
                 SIM_OUT_OF_BOUNDS);
    expect_fault(run_one(80,
                         "setp.lt.u32 %p1, %r1000, 16;\n@%p1 bra $go;\nret;\n$go:\n"
                         "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, "
                         "{%r3}, {%r4}, {%r1,%r2};",
                         64, 0, 32),
                 SIM_BAD_MASK);
}

/* Lanes that come late are waited for: half of the warp takes a long way. */
Test(tensor, diverged_lanes_meet_at_a_matrix_instruction)
{
    const char *statement =
        "mov.u32 %r7, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
        "mov.u32 %r3, 0x01010101;\nmov.u32 %r4, 0x01010101;\n"
        "setp.lt.u32 %p1, %r1000, 16;\n@%p1 bra $far;\nbra.uni $meet;\n"
        "$far:\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 20000;\n@%p2 bra $far;\n"
        "$meet:\nmma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, "
        "{%r4}, {%r1,%r2};\n"
        "setp.ne.u32 %p3, %r1, 16;\n@%p3 trap;\n";
    cr_expect_eq(run_one(80, statement, 64, 0, 32), CUDA_SUCCESS, "%s", sim_last_error());
}

Test(tensor, refuses_clearly_what_it_cannot_do)
{
    static const struct {
        int sm;
        const char *statement, *why;
    } cases[] = {
        {90, "wgmma.fence.sync.aligned;", "warpgroup"},
        {90, "mapa.u64 %rd1, %rd0, 1;", "clusters"},
        {80,
         "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};",
         "sm_89"},
        {80,
         "mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};",
         ".row.col"},
        {80,
         "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1,%r2}, {%r4}, {%f0,%f1,%f2,%f3};",
         "operand 2 has 3 registers"},
        {80,
         "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};",
         "types"},
        {80,
         "mma.sync.aligned.m8n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};",
         "shape"},
        {80,
         "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}, %r8, 2;",
         "selector"},
        {80,
         "wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r0,%r1,%r2,%r3}, "
         "[%rd0];",
         "no such fragment"},
        {80, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r500];", "registers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUresult result = run_one(cases[i].sm, cases[i].statement, 64, 0, 32);
        cr_expect_neq(result, CUDA_SUCCESS, "%s ran", cases[i].statement);
        cr_expect(strstr(sim_last_error(), cases[i].why) != NULL,
                  "%s: \"%s\" lacks \"%s\"", cases[i].statement, sim_last_error(),
                  cases[i].why);
    }
}
