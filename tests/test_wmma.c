/* test_wmma.c - matrices between memory and registers: wmma in every shape, type, layout
 * and space, ldmatrix, stmatrix, movmatrix. */
#include "tensor_fixture.h"

TestSuite(wmma, .init = open_tensor_device, .fini = close_device);

/* --- wmma -------------------------------------------------------------------------------- */

struct wmma_case {
    int m, n, k;
    const char *d, *a, *c;
    int a_regs, b_regs, c_regs, d_regs;
    const char *types; /* as the opcode of wmma.mma has them */
};

static const struct wmma_case wmma_cases[] = {
    {16, 16, 16, "f32", "f16", "f32", 8, 8, 8, 8, "f32.f32"},
    {16, 16, 16, "f16", "f16", "f16", 8, 8, 4, 4, "f16.f16"},
    {16, 16, 16, "f16", "f16", "f32", 8, 8, 8, 4, "f16.f32"},
    {16, 16, 16, "f32", "f16", "f16", 8, 8, 4, 8, "f32.f16"},
    {32, 8, 16, "f32", "f16", "f32", 8, 8, 8, 8, "f32.f32"},
    {32, 8, 16, "f16", "f16", "f16", 8, 8, 4, 4, "f16.f16"},
    {8, 32, 16, "f32", "f16", "f32", 8, 8, 8, 8, "f32.f32"},
    {8, 32, 16, "f16", "f16", "f16", 8, 8, 4, 4, "f16.f16"},
    {16, 16, 16, "f32", "bf16", "f32", 4, 4, 8, 8, "f32.bf16.bf16.f32"},
    {32, 8, 16, "f32", "bf16", "f32", 8, 2, 8, 8, "f32.bf16.bf16.f32"},
    {8, 32, 16, "f32", "bf16", "f32", 2, 8, 8, 8, "f32.bf16.bf16.f32"},
    {16, 16, 8, "f32", "tf32", "f32", 4, 4, 8, 8, "f32.tf32.tf32.f32"},
    {8, 8, 4, "f64", "f64", "f64", 1, 1, 2, 2, "f64.f64.f64.f64.rn"},
    {16, 16, 16, "s32", "s8", "s32", 2, 2, 8, 8, "s32.s8.s8.s32"},
    {32, 8, 16, "s32", "u8", "s32", 4, 1, 8, 8, "s32.u8.u8.s32.satfinite"},
    {8, 32, 16, "s32", "s8", "s32", 1, 4, 8, 8, "s32.s8.s8.s32.satfinite"},
    {8, 8, 32, "s32", "s4", "s32", 1, 1, 2, 2, "s32.s4.s4.s32"},
    {8, 8, 32, "s32", "u4", "s32", 1, 1, 2, 2, "s32.u4.u4.s32"},
    {8, 8, 128, "s32", "b1", "s32", 1, 1, 2, 2, "s32.b1.b1.s32"},
};

enum { AREA = 16384 };

/* A matrix in memory: element (row, col) of a line-major array with a stride. */
struct stored {
    const struct number_type *type;
    bool col_major;
    int rows, cols, stride;
    uint8_t bytes[AREA];
};

static uint64_t stored_get(const struct stored *s, int row, int col)
{
    size_t at = (size_t)(s->col_major ? col * s->stride + row : row * s->stride + col);
    size_t bit = at * (size_t)s->type->bits;
    uint64_t word;
    memcpy(&word, s->bytes + bit / 8, 8);
    word >>= bit % 8;
    return s->type->bits == 64 ? word : word & ((1ull << s->type->bits) - 1);
}

static void stored_fill(struct stored *s, const char *type, bool col_major, int rows,
                        int cols, int pad, bool whole)
{
    memset(s, 0, sizeof *s);
    s->type = number_type(type);
    s->col_major = col_major;
    s->rows = rows;
    s->cols = cols;
    s->stride = (col_major ? rows : cols) + pad;
    for (int i = 0; i < AREA; i++)
        s->bytes[i] = 0x5a;
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++) {
            size_t at =
                (size_t)(col_major ? col * s->stride + row : row * s->stride + col);
            size_t bit = at * (size_t)s->type->bits;
            uint64_t code = random_code(s->type, whole);
            if (s->type->bits < 8) {
                uint8_t mask = (uint8_t)(((1 << s->type->bits) - 1) << bit % 8);
                s->bytes[bit / 8] =
                    (uint8_t)((s->bytes[bit / 8] & ~mask) | (code << bit % 8));
            } else {
                memcpy(s->bytes + bit / 8, &code, (size_t)s->type->bits / 8);
            }
        }
}

/* Copy 16 KiB from buffer to shared memory at `area`, by all lanes. */
static void to_shared(struct text *t, int buffer)
{
    add(t,
        "mul.lo.u32 %%r900, %%r1000, 4;\nmov.u32 %%r901, area;\n"
        "$copy%d:\ncvt.u64.u32 %%rd120, %%r900;\nadd.u64 %%rd121, %%rd%d, %%rd120;\n"
        "ld.global.b32 %%r902, [%%rd121];\nadd.u32 %%r903, %%r901, %%r900;\n"
        "st.shared.b32 [%%r903], %%r902;\nadd.u32 %%r900, %%r900, 128;\n"
        "setp.lt.u32 %%p1, %%r900, 16384;\n@%%p1 bra $copy%d;\nbar.sync 0;\n",
        buffer, buffer, buffer);
}

enum { FROM_GLOBAL, FROM_SHARED, GENERIC_GLOBAL, GENERIC_SHARED, PLACES };

/* `[address]` of buffer i and its space for an opcode. */
static const char *place_matrix(struct text *t, int buffer, int where)
{
    static char address[16];
    snprintf(address, sizeof address, "%%rd%d", buffer);
    if (where == FROM_SHARED || where == GENERIC_SHARED) {
        to_shared(t, buffer);
        snprintf(address, sizeof address, "area");
    }
    if (where == GENERIC_SHARED) {
        add(t, "cvta.shared.u64 %%rd130, area;\n");
        snprintf(address, sizeof address, "%%rd130");
    }
    return address;
}

static const char *const space_suffix[PLACES] = {".global", ".shared", "", ""};

static void load_matrix(struct text *t, const struct wmma_case *w, char which,
                        const struct stored *s, int buffer, int where, int count,
                        const char *name)
{
    const char *address = place_matrix(t, buffer, where);
    bool padded = s->stride != (s->col_major ? s->rows : s->cols);
    if (padded)
        add(t, "mov.u32 %%r950, %d;\n", s->stride);
    add(t, "wmma.load.%c.sync.aligned.%s.m%dn%dk%d%s.%s ", which,
        s->col_major ? "col" : "row", w->m, w->n, w->k, space_suffix[where],
        s->type->name);
    list_registers(t, name, count);
    add(t, ", [%s]%s;\nbar.sync 0;\n", address, padded ? ", %r950" : "");
}

/* Fragments of FP32 sums live in .f32 registers, of FP64 in .f64. */
static const char *class_name(const char *type, const char *plain)
{
    static char names[8][8];
    static int next;
    char *to = names[next++ % 8];
    bool f32 = strcmp(type, "f32") == 0, f64 = strcmp(type, "f64") == 0;
    snprintf(to, 8, "%s%s", f32 ? "%f" : f64 ? "%d" : "%r", plain);
    return to;
}

static double wmma_expected(const struct wmma_case *w, const struct stored *a,
                            const struct stored *b, const struct stored *c, int row,
                            int col)
{
    const struct number_type *d_type = number_type(w->d);
    float sum = (float)number_value(c->type, stored_get(c, row, col));
    double wide = number_value(c->type, stored_get(c, row, col));
    for (int k = 0; k < w->k; k++) {
        double x = number_value(a->type, stored_get(a, row, k));
        double y = number_value(b->type, stored_get(b, k, col));
        if (a->type->bits == 1)
            wide += x != y;
        else
            wide = fma(x, y, wide);
        sum = fmaf((float)x, (float)y, sum);
    }
    if (strstr(w->types, "satfinite") != NULL)
        wide = fmin(fmax(wide, INT32_MIN), INT32_MAX);
    if (strcmp(w->d, "s32") == 0)
        wide = number_value(d_type, (uint32_t)(uint64_t)(int64_t)wide);
    return strcmp(w->d, "s32") == 0 || strcmp(w->d, "f64") == 0 ? wide
           : strcmp(w->d, "f32") == 0
               ? (double)sum
               : number_value(number_type("f16"), nearest_half((double)sum));
}

static void check_wmma(const struct wmma_case *w, int layouts, int where, int pad)
{
    struct stored *m = calloc(4, sizeof *m);
    struct stored *a = &m[0], *b = &m[1], *c = &m[2], *d = &m[3];
    bool small = number_type(w->a)->bits < 8;
    bool a_col = !small && layouts & 1, b_row = !small && layouts & 2;
    int unit = small ? 128 : 1; /* pads keep lines aligned */
    stored_fill(a, w->a, a_col, w->m, w->k, pad * unit, false);
    stored_fill(b, w->a, !b_row, w->k, w->n, pad * unit, false);
    stored_fill(c, w->c, layouts & 4, w->m, w->n, pad, false);
    stored_fill(d, w->d, layouts & 8, w->m, w->n, pad, true);
    uint8_t *before = malloc(AREA);
    memcpy(before, d->bytes, AREA);
    struct text *t = malloc(sizeof *t);
    struct buffer buffers[4];
    for (int i = 0; i < 4; i++)
        buffers[i] = (struct buffer){.data = m[i].bytes, .bytes = AREA};
    begin(t, 80, 4);
    load_matrix(t, w, 'a', a, 0, where, w->a_regs, class_name(w->a, "1"));
    load_matrix(t, w, 'b', b, 1, where, w->b_regs, class_name(w->a, "2"));
    load_matrix(t, w, 'c', c, 2, where, w->c_regs, class_name(w->c, "3"));
    add(t, "wmma.mma%s.sync.aligned.%s.%s.m%dn%dk%d.%s ",
        strcmp(w->a, "b1") == 0 ? ".xor.popc" : "", a_col ? "col" : "row",
        b_row ? "row" : "col", w->m, w->n, w->k, w->types);
    const char *names[4] = {class_name(w->d, "4"), class_name(w->a, "1"),
                            class_name(w->a, "2"), class_name(w->c, "3")};
    int counts[4] = {w->d_regs, w->a_regs, w->b_regs, w->c_regs};
    for (int i = 0; i < 4; i++) {
        list_registers(t, names[i], counts[i]);
        add(t, i < 3 ? ", " : ";\n");
    }
    add(t, "wmma.store.d.sync.aligned.%s.m%dn%dk%d.global.%s [%%rd3], ",
        d->col_major ? "col" : "row", w->m, w->n, w->k, w->d);
    list_registers(t, names[0], w->d_regs);
    add(t, ", %d;\n", d->stride);
    cr_assert_eq(finish(t, 32, buffers, 4), CUDA_SUCCESS, "m%dn%dk%d %s: %s", w->m, w->n,
                 w->k, w->types, sim_last_error());
    size_t written = 0;
    for (int row = 0; row < w->m; row++)
        for (int col = 0; col < w->n; col++) {
            double want = wmma_expected(w, a, b, c, row, col);
            double got = number_value(d->type, stored_get(d, row, col));
            cr_assert_eq(got, want,
                         "m%dn%dk%d %s layouts %d place %d pad %d: (%d, %d) is %.9g, "
                         "not %.9g",
                         w->m, w->n, w->k, w->types, layouts, where, pad, row, col, got,
                         want);
        }
    for (int i = 0; i < AREA; i++)
        written += d->bytes[i] != before[i];
    cr_expect_leq(written, (size_t)(w->m * w->n * d->type->bits / 8));
    free(t);
    free(before);
    free(m);
}

Test(wmma, every_shape_type_layout_and_space)
{
    for (size_t i = 0; i < sizeof wmma_cases / sizeof *wmma_cases; i++)
        for (int layouts = 0; layouts < 16; layouts++)
            check_wmma(&wmma_cases[i], layouts, layouts % PLACES, layouts % 3 * 16);
    for (int where = 0; where < PLACES; where++)
        for (int layouts = 0; layouts < 4; layouts++)
            check_wmma(&wmma_cases[0], layouts, where, 8);
}

/* --- ldmatrix, stmatrix, movmatrix -------------------------------------------- */

/* Lane l gives the address of line (5 l) mod lines; the others of a small form are off
 * the map and must not matter. */
static void check_ldmatrix(int count, bool trans, bool old_order, bool generic)
{
    uint16_t in[32 * 8 * 16 / 2], out[32][8];
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        in[i] = (uint16_t)(i * 7 + 3);
    memset(out, 0, sizeof out);
    struct text *t = malloc(sizeof *t);
    begin(t, 80, 2);
    to_shared(t, 0);
    add(t,
        "mul.lo.u32 %%r1, %%r1000, 5;\nand.b32 %%r1, %%r1, 31;\nmul.lo.u32 %%r1, %%r1, "
        "48;\nmov.u32 %%r2, area;\nadd.u32 %%r3, %%r1, %%r2;\n"
        "setp.ge.u32 %%p1, %%r1000, %d;\n@%%p1 mov.u32 %%r3, 0x7fffff01;\n",
        8 * count);
    if (generic)
        add(t, "cvt.u64.u32 %%rd50, %%r3;\ncvta.shared.u64 %%rd50, %%rd50;\n");
    add(t, "ldmatrix.sync.aligned");
    char shape_text[40];
    snprintf(shape_text, sizeof shape_text, old_order ? ".x%d%s.m8n8" : ".m8n8.x%d%s",
             count, trans ? ".trans" : "");
    add(t, "%s%s.b16 ", shape_text, generic ? "" : ".shared");
    list_registers(t, "%r10", count);
    add(t, ", [%s];\nmad.wide.u32 %%rd101, %%r1000, 16, %%rd1;\n",
        generic ? "%rd50" : "%r3");
    for (int i = 0; i < count; i++)
        add(t, "st.global.b32 [%%rd101+%d], %%r10%d;\n", 4 * i, i);
    uint8_t *area = calloc(1, AREA);
    memcpy(area, in, sizeof in);
    struct buffer buffers[2] = {{.data = area, .bytes = AREA},
                                {.data = out, .bytes = sizeof out}};
    cr_assert_eq(finish(t, 32, buffers, 2), CUDA_SUCCESS, "%s: %s", shape_text,
                 sim_last_error());
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 2 * count; i++) {
            int row = lane / 4, col = lane % 4 * 2 + i % 2;
            int line = 8 * (i / 2) + (trans ? col : row);
            uint16_t want = in[line * 5 % 32 * 24 + (trans ? row : col)];
            cr_assert_eq(out[lane][i], want, "%s lane %d half %d is %d, not %d",
                         shape_text, lane, i, out[lane][i], want);
        }
    free(area);
    free(t);
}

Test(wmma, ldmatrix_in_every_form)
{
    for (int count = 1; count <= 4; count *= 2)
        for (int form = 0; form < 8; form++)
            check_ldmatrix(count, form & 1, form & 2, form & 4);
}

Test(wmma, stmatrix_undoes_ldmatrix_and_movmatrix_transposes)
{
    for (int form = 0; form < 6; form++) {
        int count = 1 << (form / 2);
        bool trans = form % 2;
        uint16_t in[32][8], out[64 * 8];
        for (int i = 0; i < 32 * 8; i++)
            in[i / 8][i % 8] = (uint16_t)(i * 11 + 5);
        memset(out, 0, sizeof out);
        struct text *t = malloc(sizeof *t);
        begin(t, 90, 2);
        add(t, "mad.wide.u32 %%rd100, %%r1000, 16, %%rd0;\n");
        for (int i = 0; i < count; i++)
            add(t, "ld.global.b32 %%r1%d, [%%rd100+%d];\n", i, 4 * i);
        add(t,
            "mov.u32 %%r2, area;\nmad.lo.u32 %%r3, %%r1000, 16, %%r2;\n"
            "setp.ge.u32 %%p1, %%r1000, %d;\n@%%p1 mov.u32 %%r3, 0x7fffff01;\n"
            "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%r3], ",
            8 * count, count, trans ? ".trans" : "");
        list_registers(t, "%r1", count);
        add(t,
            ";\nbar.sync 0;\nsetp.lt.u32 %%p2, %%r1000, %d;\n"
            "mad.wide.u32 %%rd101, %%r1000, 16, %%rd1;\n"
            "@%%p2 ld.shared.v4.b32 {%%r20, %%r21, %%r22, %%r23}, [%%r3];\n"
            "@%%p2 st.global.v4.b32 [%%rd101], {%%r20, %%r21, %%r22, %%r23};\n"
            "movmatrix.sync.aligned.m8n8.trans.b16 %%r30, %%r10;\n"
            "mad.wide.u32 %%rd102, %%r1000, 4, %%rd1;\n"
            "st.global.b32 [%%rd102+512], %%r30;\n",
            8 * count);
        struct buffer buffers[2] = {{.data = in, .bytes = sizeof in},
                                    {.data = out, .bytes = sizeof out}};
        cr_assert_eq(finish(t, 32, buffers, 2), CUDA_SUCCESS, "%s", sim_last_error());
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < 2 * count; i++) {
                int row = lane / 4, col = lane % 4 * 2 + i % 2;
                int at = (8 * (i / 2) + (trans ? col : row)) * 8 + (trans ? row : col);
                cr_assert_eq(out[at], in[lane][i], "x%d trans %d: line %d, element %d",
                             count, trans, at / 8, at % 8);
            }
        for (int lane = 0; lane < 32; lane++)
            for (int h = 0; h < 2; h++) {
                int row = lane / 4, col = lane % 4 * 2 + h; /* of the result */
                cr_assert_eq(out[256 + 2 * lane + h], in[4 * col + row / 2][row % 2],
                             "movmatrix: row %d col %d", row, col);
            }
        free(t);
    }
}

/* --- what the counters see ---------------------------------------------------------------- */

/* Shared loads of one statement: requests, wavefronts, and how few would do. */
static void check_wavefronts(const char *statement, unsigned requests,
                             unsigned wavefronts, unsigned ideal)
{
    struct text *t = malloc(sizeof *t);
    uint8_t *data = calloc(1, AREA);
    struct buffer buffer = {.data = data, .bytes = AREA};
    begin(t, 80, 1);
    to_shared(t, 0);
    add(t, "mov.u32 %%r2, area;\nmad.lo.u32 %%r3, %%r1000, 16, %%r2;\n%s\n", statement);
    cr_assert_eq(finish(t, 32, &buffer, 1), CUDA_SUCCESS, "%s", sim_last_error());
    const struct sim_counters *c = &sim_last_report()->counters;
    cr_expect_eq(c->shared_ld_requests, requests, "%s: %u requests", statement,
                 (unsigned)c->shared_ld_requests);
    cr_expect_eq(c->shared_ld_wavefronts, wavefronts, "%s: %u wavefronts", statement,
                 (unsigned)c->shared_ld_wavefronts);
    cr_expect_eq(c->shared_ld_wavefronts_ideal, ideal, "%s: %u ideal", statement,
                 (unsigned)c->shared_ld_wavefronts_ideal);
    free(data);
    free(t);
}

Test(wmma, matrix_loads_are_counted_in_phases_of_eight_lines)
{
    check_wavefronts("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, "
                     "[%r3];",
                     1, 4, 4);
    check_wavefronts("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r3];", 1, 1, 1);
    /* lines 128 bytes apart share their banks: 8 wavefronts for 8 lines */
    check_wavefronts("mad.lo.u32 %r3, %r1000, 128, %r2;\n"
                     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r3];",
                     1, 16, 2);
    /* lines of 32 bytes: two by two; padded to 48 bytes: none */
    check_wavefronts("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,"
                     "%r13,%r14,%r15,%r16,%r17}, [%r2], 16;",
                     1, 8, 4);
    check_wavefronts("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,"
                     "%r13,%r14,%r15,%r16,%r17}, [%r2], 24;",
                     1, 4, 4);
}
