/* test_decode.c - the instruction table as a whole, reasons of refusal, sharing of rows
 * between registers, and broken text. */
#include "ops_harness.h"

/* --- the table ------------------------------------------------------------------------- */

Test(decode, every_row_has_syntax_pipe_and_a_decoder)
{
    int count = 0;
    for (const struct op_family *const *f = ops_families(); *f != NULL; f++)
        for (int i = 0; i < (*f)->count; i++, count++) {
            const struct op_row *row = &(*f)->rows[i];
            cr_assert(row->base != NULL && row->syntax != NULL && row->decode != NULL,
                      "row %d of family %d", i, (int)(f - ops_families()));
            cr_expect(strncmp(row->syntax, row->base, strlen(row->base)) == 0,
                      "`%s` does not begin with `%s`", row->syntax, row->base);
            cr_expect(strchr(row->syntax, ';') != NULL ||
                          strstr(row->syntax, ": refused") != NULL,
                      "`%s` has no end", row->syntax);
            cr_expect(row->pipe < SIM_PIPES, "%s", row->syntax);
            cr_expect(row->operands_min <= row->operands_max &&
                          row->operands_max <= PTX_MAX_OPERANDS,
                      "%s", row->syntax);
            bool found = false;
            for (int k = 0; ops_find(row->base, k) != NULL; k++)
                found |= ops_find(row->base, k) == row;
            cr_expect(found, "%s cannot be found", row->base);
        }
    cr_expect(count > 100, "only %d rows", count);
}

static void count_line(void *context, const char *text)
{
    *(int *)context += text[0] != '\0';
}

Test(decode, the_list_has_a_line_for_each_row)
{
    int lines = 0, rows = 0;
    sim_list_ptx(count_line, &lines);
    for (const struct op_family *const *f = ops_families(); *f != NULL; f++)
        rows += (*f)->count;
    cr_assert_eq(lines, rows);
}

/* --- reasons ----------------------------------------------------------------------------- */

static const struct {
    const char *text, *registers, *why;
} refusals[] = {
    {"frob.u32 d, a;", "d=r a=r", "there is no such instruction"},
    {"add.u32.frob d, a, b;", "d=r a=r b=r", ".frob is not known"},
    {"add.ftz.s32 d, a, b;", "d=r a=r b=r", "it does not take .ftz"},
    {"add.u32 d, a;", "d=r a=r", "it takes 3 operands, not 2"},
    {"add.u32 d, a, b, a;", "d=r a=r b=r", "it takes 3 operands at most, not 4"},
    {"add.u32 d, a, b;", "d=r a=l b=r", "register a does not fit .u32"},
    {"add.u64 d, a, b;", "d=r a=l b=l", "register d does not fit .u64"},
    {"add.f32 d, a, b;", "d=r a=r b=l", "register b does not fit .f32"},
    {"add.b32 d, a, b;", "d=r a=r b=r", "not for type .b32"},
    {"add d, a, b;", "d=r a=r b=r", "not for type"},
    {"mov d, a;", "d=r a=r", "needs a type"},
    {"selp.b32 d, a, b, c;", "d=r a=r b=r c=r", "a predicate register is needed"},
    {"setp.lt.s32 d, a, b;", "d=r a=r b=r", "a predicate register is needed"},
    {"setp.lo.s32 d, a, b;", "d=p a=r b=r", "not for this comparison and type"},
    {"setp.lt.and.s32 d, a, b;", "d=p a=r b=r", "a predicate goes with"},
    {"add.u32 5, a, b;", "a=r b=r", "the destination must be a register"},
    {"mov.u32 d, %frob;", "d=r", "special register %frob"},
    {"mov.b64 d, {a, b, a};", "d=l a=r b=r", "3 elements do not fill .b64"},
    {"ex2.approx.rn.f32 d, a;", "d=r a=r", "an approximation takes no rounding mode"},
    {"fma.rni.f32 d, a, b, c;", "d=r a=r b=r c=r", "a rounding mode for integers"},
    {"cvt.rn.s8.tf32 d, a;", "d=r a=r", "not from .tf32 to .s8"},
    {"lop3.b32 d, a, b, c, a;", "d=r a=r b=r c=r", "a table that is a number"},
    {"shf.l.b32 d, a, b, c;", "d=r a=r b=r c=r", ".wrap or .clamp"},
    {"@q mov.u32 d, a; mad.lo.cc.f32 d, a, a, a;", "d=r a=r q=p", "not"},
};

Test(decode, a_refusal_names_place_instruction_and_reason)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct ops h;
        cr_expect(!ops_try(&h, refusals[i].text, refusals[i].registers), "`%s` was taken",
                  refusals[i].text);
        cr_expect_eq(h.err.status, EXIT_OURS, "`%s`: %s", refusals[i].text, h.err.text);
        cr_expect(strstr(h.err.text, refusals[i].why) != NULL, "`%s`: %s",
                  refusals[i].text, h.err.text);
        cr_expect(strncmp(h.err.text, "test.ptx:", 9) == 0 &&
                      strstr(h.err.text, "see --list ptx") != NULL,
                  "`%s`: %s", refusals[i].text, h.err.text);
        ops_close(&h);
    }
}

/* --- sharing of rows --------------------------------------------------------------------- */

enum { REGISTERS = 24, STATEMENTS = 40, STEPS = 4000 };

/* A random stretch of sums, guarded moves and branches on registers base .. base + 23,
 * which it first sets, from those of the stretch before. */
static size_t random_stretch(uint64_t *seed, unsigned base, char *text, size_t room)
{
    size_t used = 0;
    for (unsigned i = 0; i < REGISTERS; i++)
        used += (size_t)snprintf(text + used, room - used, "add.u32 r%u, r%u, %u;\n",
                                 base + i, base < REGISTERS ? 0 : base - 1 - i, i * 7);
    for (unsigned i = 0; i < STATEMENTS; i++) {
        unsigned d = base + ops_random(seed) % REGISTERS,
                 a = base + ops_random(seed) % REGISTERS,
                 b = base + ops_random(seed) % REGISTERS, p = ops_random(seed) % 4,
                 to = ops_random(seed) % 4 == 0 ? i - i % 13
                                                : i + 1 + ops_random(seed) % 9;
        to = to < STATEMENTS ? to : STATEMENTS - 1;
        used += (size_t)snprintf(text + used, room - used, "L%u_%u: ", base, i);
        switch (ops_random(seed) % 8) {
        case 0:
            used +=
                (size_t)snprintf(text + used, room - used, "mov.u32 r%u, %%laneid;\n", d);
            break;
        case 1:
            used += (size_t)snprintf(text + used, room - used, "@p%u mov.u32 r%u, r%u;\n",
                                     p, d, a);
            break;
        case 2:
            used += (size_t)snprintf(text + used, room - used,
                                     "setp.lt.u32 p%u, r%u, r%u;\n", p, a, b);
            break;
        case 3:
            used += (size_t)snprintf(text + used, room - used, "@p%u bra L%u_%u;\n", p,
                                     base, to);
            break;
        default:
            used += (size_t)snprintf(text + used, room - used, "add.u32 r%u, r%u, r%u;\n",
                                     d, a, b);
        }
    }
    return used;
}

/* Two stretches; at the end r0 is made of all registers of the second. */
static void random_program(uint64_t seed, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room,
                                   ".version 8.0\n.target sm_80\n.address_size 64\n"
                                   ".visible .entry k()\n{\n.reg .b32 r<%d>;\n"
                                   ".reg .pred p<4>;\nmov.u32 r0, %%laneid;\n"
                                   "setp.ne.u32 p0, r0, r0; setp.eq.u32 p1, r0, 5;\n"
                                   "setp.lt.u32 p2, r0, 9; setp.ne.u32 p3, r0, 2;\n",
                                   2 * REGISTERS);
    used += random_stretch(&seed, 0, text + used, room - used);
    used += random_stretch(&seed, REGISTERS, text + used, room - used);
    for (int i = 0; i < REGISTERS; i++)
        used += (size_t)snprintf(text + used, room - used,
                                 "mad.lo.u32 r0, r0, 31, r%d;\n", REGISTERS + i);
    snprintf(text + used, room - used, "mov.u32 r1, r0;\nret;\n}\n");
}

/* All lanes run it, each at its own pace: every step moves one lane, chosen at random.
 * Gives r1 of each lane, or `most` steps. */
static void run_lanes(struct ops *h, uint64_t seed, uint32_t *result)
{
    uint32_t pc[LANES] = {0}, end = 0;
    while (h->code->ops[end].kind != OP_EXIT)
        end++;
    for (int step = 0; step < STEPS * LANES; step++) {
        uint32_t l = (uint32_t)(ops_random(&seed) % LANES);
        if (pc[l] == end)
            continue;
        const struct op *op = &h->code->ops[pc[l]];
        uint32_t active = (uint32_t)1 << l;
        if (op->guard != NO_GUARD) {
            uint32_t guard = *pred(&h->warp, op->guard);
            active &= op->guard_negated ? ~guard : guard;
        }
        h->warp.mask = active;
        if (op->kind == OP_BRANCH) {
            pc[l] = active != 0 ? op->target : pc[l] + 1;
            continue;
        }
        if (active != 0)
            op->fn(&h->warp, op);
        pc[l]++;
    }
    for (int l = 0; l < LANES; l++)
        result[l] =
            pc[l] == end ? row32(&h->warp, h->code->ops[end - 1].d)[l] : 0xdeadbeef;
}

/* Registers begin at 0 in both runs. */
static void decode_and_run(const char *text, bool keep, uint64_t seed, uint32_t *result,
                           uint32_t *frame)
{
    struct ops h = {0};
    h.module = ptx_parse(text, strlen(text), "test.ptx", &h.err);
    cr_assert(h.module != NULL, "%s", h.err.text);
    struct decode_env env = {
        .module = h.module, .symbol = ops_no_symbol, .device_cc = 80};
    h.code = code_decode(&env, h.module->functions[0], keep, &h.err);
    cr_assert(h.code != NULL, "%s", h.err.text);
    *frame = h.code->frame_bytes;
    h.slab = aligned_alloc(64, h.code->frame_bytes + 64);
    memset(h.slab, 0, h.code->frame_bytes);
    memcpy(h.slab, h.code->preset, h.code->preset_bytes);
    h.warp.rows = h.slab;
    for (uint32_t i = 0; i < h.code->sreg_count; i++)
        for (uint32_t l = 0; l < LANES; l++)
            row32(&h.warp, h.code->sregs[i].row)[l] = l;
    run_lanes(&h, seed, result);
    ops_close(&h);
}

Test(decode, registers_that_share_a_row_do_not_disturb_each_other)
{
    static char text[16384];
    int smaller = 0, finished = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint32_t kept[LANES], shared[LANES], frame_kept, frame_shared;
        random_program(seed, text, sizeof text);
        decode_and_run(text, true, seed, kept, &frame_kept);
        decode_and_run(text, false, seed, shared, &frame_shared);
        cr_assert_arr_eq(kept, shared, sizeof kept, "seed %d", (int)seed);
        smaller += frame_shared < frame_kept;
        finished += kept[0] != 0xdeadbeef;
    }
    cr_expect(finished > 100, "only %d programs came to an end", finished);
    cr_expect(smaller > 0, "no frame became smaller");
}

static char *long_program(int statements, bool chain)
{
    size_t room = (size_t)statements * 80 + 400;
    char *text = xmalloc(room);
    size_t used = (size_t)snprintf(text, room,
                                   ".version 8.0\n.target sm_80\n.address_size 64\n"
                                   ".visible .entry k()\n{\n.reg .b32 r<%d>;\n"
                                   "mov.u32 r0, %%tid.x;\n",
                                   statements + 1);
    for (int i = 1; i <= statements; i++)
        used += (size_t)snprintf(text + used, room - used, "add.u32 r%d, r%d, r0;\n", i,
                                 chain ? i - 1 : 0);
    for (int i = statements; !chain && i > 0; i--)
        used += (size_t)snprintf(text + used, room - used, "add.u32 r0, r0, r%d;\n", i);
    snprintf(text + used, room - used, "ret;\n}\n");
    return text;
}

static struct code *decode_text(const char *text, struct ptx_module **module,
                                struct error *err)
{
    *module = ptx_parse(text, strlen(text), "test.ptx", err);
    if (*module == NULL)
        return NULL;
    struct decode_env env = {.module = *module, .symbol = ops_no_symbol, .device_cc = 80};
    return code_decode(&env, (*module)->functions[0], false, err);
}

Test(decode, a_chain_of_thousands_of_registers_needs_a_few_rows)
{
    char *text = long_program(5000, true);
    struct ptx_module *module;
    struct error err = {0};
    struct code *code = decode_text(text, &module, &err);
    cr_assert(code != NULL, "%s", err.text);
    cr_expect_leq(code->frame_bytes, 1024u);
    cr_expect_leq(code->live_registers, 12u);
    code_free(code);
    ptx_free(module);
    free(text);
}

Test(decode, too_many_live_registers_are_refused)
{
    char *text = long_program(300000, false);
    struct ptx_module *module;
    struct error err = {0};
    struct code *code = decode_text(text, &module, &err);
    cr_expect(code == NULL && strstr(err.text, "too many registers") != NULL, "%s",
              err.text);
    if (module != NULL)
        ptx_free(module);
    free(text);
}

/* --- broken text -------------------------------------------------------------------------- */

static const char *const seeds[] = {
    "add.u32 d, a, b;",
    "mad.wide.s32 e, a, b, f;",
    "setp.lt.and.s32 p|q, a, b, !p;",
    "mov.b64 {a, b}, e;",
    "mov.b32 d, {h, g};",
    "selp.b32 d, a, b, p;",
    "cvt.rn.satfinite.e4m3x2.f32 h, a, b;",
    "fma.rn.ftz.sat.f32 d, a, b, c;",
    "lop3.or.b32 d|p, a, b, c, 0x96, q;",
    "bfi.b64 e, f, e, a, b;",
    "ld.global.v2.u32 {a, b}, [e+8];",
    "st.shared.b32 [a], b;",
    "shfl.sync.bfly.b32 d|p, a, 1, 31, -1;",
    "atom.global.add.u32 d, [e], a;",
    "bar.red.or.pred p, 0, q;",
    "bra X;",
    "cp.async.cg.shared.global [a], [e], 16;",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a,b,c,d}, {a,b}, {a}, {a,b,c,d};",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a,b,c,d}, [a];",
};
static const char *const pieces[] = {
    "a",
    "e",
    "h",
    "p",
    "!q",
    "7",
    "-1",
    "0f3f800000",
    "%tid.x",
    "_",
    "{a}",
    "{a, b}",
    "{p, q}",
    "[a]",
    "[e+4]",
    "[7]",
    "X",
    "%frob",
    "a|p",
    "_|q",
    "{}",
    "{a, {b, c}}",
    "0d3ff0000000000000",
    "k",
    "[X]",
    ".f64",
    ".u8",
    ".b128",
    ".pred",
    ".f16x2",
    ".rn",
    ".sat",
    ".lo",
    ".wide",
    ".v4",
    ".x4",
    ".and",
    ".lt",
    ".sync",
    ".global",
    ".m16n8k16",
    ".row",
    "",
};

/* Replace one operand or suffix of a seed by a piece: taken or refused, never worse. */
static void mutate(const char *seed, uint64_t r, char *out, size_t room)
{
    const char *piece = pieces[r % (sizeof pieces / sizeof *pieces)];
    size_t length = strlen(seed), from = (r >> 16) % length, to;
    while (from > 0 && strchr(" ,.", seed[from]) == NULL)
        from--;
    from += seed[from] == ' ' || seed[from] == ',';
    for (to = from + 1; to < length && strchr(" ,.;", seed[to]) == NULL; to++)
        ;
    snprintf(out, room, "%.*s%s%s", (int)from, seed, piece,
             to < length ? seed + to : ";");
}

Test(decode, broken_instructions_are_refused_with_a_reason)
{
    uint64_t seed = 11;
    int taken = 0, refused = 0;
    for (int i = 0; i < 30000; i++) {
        char once[400], twice[500], body[600];
        struct ops h;
        mutate(seeds[(size_t)i % (sizeof seeds / sizeof *seeds)], ops_random(&seed), once,
               sizeof once);
        mutate(once, ops_random(&seed), twice, sizeof twice);
        snprintf(body, sizeof body, "%s X:", i % 2 ? once : twice);
        if (ops_try(&h, body, "a=r b=r c=r d=r e=l f=l g=h h=h p=p q=p")) {
            taken++;
        } else {
            refused++;
            cr_assert(h.err.status != 0 && h.err.text[0] != '\0', "%s", body);
        }
        ops_close(&h);
    }
    cr_expect(taken > 100 && refused > 100, "%d taken, %d refused", taken, refused);
}
