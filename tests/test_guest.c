/* test_guest.c - somebody else's kernels: what the command line says of them, which
 * kernel of a file is meant, whether the arguments fit, and the verdicts. */
#include "../host/guest.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../host/bench/formula.h"
#include "sim_fixture.h"

/* --- formulas ----------------------------------------------------------------------- */

Test(formula, counts_what_covers_a_matrix)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"7", 7},
        {"M", 100},
        {"n", 70},
        {"K", 33},
        {"N/16", 5},
        {"M/50", 2},
        {"ceil(N/16)", 5},
        {"ceil( M / ( 2*32 ) )", 2},
        {"2+3*4", 14},
        {"(2+3)*4", 20},
        {"100/7/2", 8},
        {"10-3-2", 5},
        {" M * N ", 7000},
        {"4*(M+1)-4", 400},
        {"9007199254740992", 1ull << 53},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        uint64_t value = 0;
        cr_expect(
            formula_evaluate(cases[i].text, (struct size){100, 70, 33}, &value, &err),
            "%s: %s", cases[i].text, err.text);
        cr_expect_eq(value, cases[i].value, "%s is %llu", cases[i].text,
                     (unsigned long long)value);
    }
}

Test(formula, says_what_is_wrong)
{
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"", "should stand at `its end`"},
        {"N/", "should stand at `its end`"},
        {"N 3", "an operator or the end should stand at `3`"},
        {"x", "a number, M, N, K or ( should stand"},
        {"MN", "a number, M, N, K or ( should stand"},
        {"(N", "a ) is missing"},
        {"N)", "an operator or the end"},
        {"3-N", "below zero"},
        {"N/(M-M)", "division by zero"},
        {"9007199254740993", "too large"},
        {"99999999999999999999999", "too large"},
        {"M*9007199254740992", "too large"},
        {"9007199254740992+1", "too large"},
        {"-3", "should stand"},
        {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", "inside each"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        uint64_t value;
        cr_expect(
            !formula_evaluate(cases[i].text, (struct size){100, 70, 33}, &value, &err),
            "%s was taken", cases[i].text);
        cr_expect_eq(err.status, EXIT_USAGE);
        cr_expect(strstr(err.text, cases[i].what), "%s: %s", cases[i].text, err.text);
    }
}

Test(formula, knows_tiles_of_a_side)
{
    static const struct {
        const char *text;
        char side;
        int tile;
    } cases[] = {
        {"N/16", 'N', 16}, {"m/128", 'M', 128}, {"ceil(K/7)", 'K', 7},
        {"N", 0, 0},       {"N/16+1", 0, 0},    {"N/M", 0, 0},
        {"4/16", 0, 0},    {"N/0", 0, 0},       {"ceil(N/16", 0, 0},
        {"N/16)", 0, 0},   {"", 0, 0},          {"ceil(", 0, 0},
        {"ceil()", 0, 0},  {"N/-3", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char side = 0;
        int tile = 0;
        bool is = formula_is_tiles(cases[i].text, &side, &tile);
        cr_expect_eq(is, cases[i].tile > 0, "%s", cases[i].text);
        cr_expect(!is || (side == cases[i].side && tile == cases[i].tile), "%s: %c %d",
                  cases[i].text, side, tile);
    }
}

/* --- words -------------------------------------------------------------------------- */

static const struct guest_words usual = {
    .grid = "N/16,M/16", .block = "16,16", .args = "A,B,C,M,N,K"};

static bool parse(struct guest *g, struct guest_words words, struct error *err)
{
    memset(g, 0, sizeof *g);
    *err = (struct error){0};
    words.grid = words.grid ? words.grid : usual.grid;
    words.block = words.block ? words.block : usual.block;
    words.args = words.args ? words.args : usual.args;
    return guest_parse_words(g, &words, err);
}

Test(guest, takes_every_kind_of_argument)
{
    static const int kinds[] = {CALL_A,   CALL_B,   CALL_C,   CALL_M,   CALL_N,
                                CALL_K,   CALL_LDA, CALL_LDB, CALL_LDC, CALL_F32,
                                CALL_F64, CALL_F16, CALL_S32, CALL_S64, CALL_BUFFER};
    static const int bytes[] = {8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 8, 2, 4, 8, 8};
    static const size_t strides[] = {11, 12, 13};
    struct guest g;
    struct error err;
    union call_value v[15];
    cr_assert(
        parse(&g,
              (struct guest_words){.args = "A,b,C:f16,M,N,K,lda,LDB,ldc,f:-1.5,d:1e3,"
                                           "h:0.5,i:-M,l:2*K,buf:4*M"},
              &err),
        "%s", err.text);
    cr_assert_eq(g.call.arg_count, 15);
    for (int i = 0; i < 15; i++) {
        cr_expect_eq((int)g.call.args[i].kind, kinds[i], "argument %d", i);
        cr_expect_eq(call_arg_bytes(&g.call.args[i]), bytes[i], "argument %d", i);
        cr_expect(call_get_value(&g.call.args[i], (struct size){100, 70, 33}, strides,
                                 &v[i], &err),
                  "%s", err.text);
    }
    cr_expect(v[3].s32 == 100 && v[4].s32 == 70 && v[5].s32 == 33);
    cr_expect(v[6].s32 == 11 && v[7].s32 == 12 && v[8].s32 == 13);
    cr_expect(v[9].f32 == -1.5f && v[10].f64 == 1000 && v[11].f16 == 0x3800);
    cr_expect(v[12].s32 == -100 && v[13].s64 == 66 && v[14].pointer == 400);
    cr_expect_eq(g.rung.info.out, KERNEL_F16);
    cr_expect(g.call.gemm && g.call.alpha == -1.5 && g.call.beta == 1000);
    guest_close(&g);
}

Test(guest, refuses_words_with_a_reason)
{
    static const struct {
        struct guest_words words;
        int status;
        const char *what;
    } cases[] = {
        {{.args = "A,,B"}, 2, "--args: an argument is empty"},
        {{.args = "A,x"}, 2, "`x` is no argument"},
        {{.args = "f:"}, 2, "`f:` holds no number"},
        {{.args = "f:1x"}, 2, "`f:1x` holds no number"},
        {{.args = "f:nan"}, 2, "holds no number"},
        {{.args = "C:f8"}, 2, "`f8` is not a type"},
        {{.grid = "1,2,3,4"}, 2, "--grid: `1,2,3,4`"},
        {{.block = ","}, 2, "--block: `,`"},
        {{.in = "f12"}, 2, "--in: `f12` is not a type: give one of f32, f16"},
        {{.acc = "tf32"}, 2, "--acc: `tf32`"},
        {{.layout = "xx"}, 2, "--layout: `xx`"},
        {{.expect = "sum"}, 2, "--expect: `sum`"},
        {{.args = "A,B", .expect = "gemm"}, 2, "A, B and C must be among --args"},
        {{.cluster = "2,1,1"}, 4, "clusters of thread blocks are not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guest g;
        struct error err;
        cr_expect(!parse(&g, cases[i].words, &err), "case %zu was taken", i);
        cr_expect_eq(err.status, cases[i].status, "case %zu: %s", i, err.text);
        cr_expect(strstr(err.text, cases[i].what), "case %zu: %s", i, err.text);
        guest_close(&g);
    }
}

Test(guest, types_and_layout_follow_the_words)
{
    static const struct {
        struct guest_words words;
        int in, acc, out;
        bool by_columns[3], gemm;
        double alpha, beta;
    } cases[] = {
        {{0}, KERNEL_F32, KERNEL_F32, KERNEL_F32, {0}, true, 1, 0},
        {{.in = "f16"}, KERNEL_F16, KERNEL_F32, KERNEL_F32, {0}, true, 1, 0},
        {{.in = "f16", .acc = "f16"},
         KERNEL_F16,
         KERNEL_F16,
         KERNEL_F16,
         {0},
         true,
         1,
         0},
        {{.in = "BF16"}, KERNEL_BF16, KERNEL_F32, KERNEL_F32, {0}, true, 1, 0},
        {{.in = "f64", .layout = "col"},
         KERNEL_F64,
         KERNEL_F64,
         KERNEL_F64,
         {1, 1, 1},
         true,
         1,
         0},
        {{.in = "s8", .layout = "tn"},
         KERNEL_S8,
         KERNEL_S32,
         KERNEL_S32,
         {1, 0, 0},
         true,
         1,
         0},
        {{.layout = "col-tn"}, KERNEL_F32, KERNEL_F32, KERNEL_F32, {0, 1, 1}, true, 1, 0},
        {{.args = "A,B,C,f:2"}, KERNEL_F32, KERNEL_F32, KERNEL_F32, {0}, true, 2, 0},
        {{.args = "f:2,A,B,f:3,C,f:4"},
         KERNEL_F32,
         KERNEL_F32,
         KERNEL_F32,
         {0},
         true,
         2,
         3},
        {{.args = "A,B,f:2,f:3"}, KERNEL_F32, KERNEL_F32, KERNEL_F32, {0}, false, 1, 0},
        {{.expect = "none"}, KERNEL_F32, KERNEL_F32, KERNEL_F32, {0}, false, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guest g;
        struct error err;
        cr_assert(parse(&g, cases[i].words, &err), "case %zu: %s", i, err.text);
        const struct kernel_info *info = &g.rung.info;
        cr_expect(info->in == cases[i].in && info->acc == cases[i].acc &&
                      info->out == cases[i].out,
                  "case %zu: types %d %d %d", i, info->in, info->acc, info->out);
        cr_expect(memcmp(g.call.by_columns, cases[i].by_columns, 3) == 0,
                  "case %zu: layout", i);
        cr_expect(g.call.gemm == cases[i].gemm && g.call.alpha == cases[i].alpha &&
                      g.call.beta == cases[i].beta,
                  "case %zu: gemm %d, %g, %g", i, g.call.gemm, g.call.alpha, g.call.beta);
        guest_close(&g);
    }
}

Test(guest, shape_stays_within_the_limits)
{
    static const struct {
        const char *grid, *block, *smem, *what;
    } cases[] = {
        {"N/16,M/16", "16,16", "4*K", NULL},
        {"M-100", "16", NULL, "--grid: `M-100` is 0 at size 100x70x33"},
        {"1,65536", "16", NULL, "along y 1 to 65535"},
        {"1", "1025", NULL, "along x 1 to 1024"},
        {"1", "1,1,65", NULL, "along z 1 to 64"},
        {"1", "64,17", NULL, "1088 threads"},
        {"1", "1", "M*1000000", "--smem"},
        {"1", "1", "x", "--smem: `x`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guest g;
        struct error err;
        struct call_shape shape;
        struct guest_words words = {
            .grid = cases[i].grid, .block = cases[i].block, .smem = cases[i].smem};
        cr_assert(parse(&g, words, &err), "%s", err.text);
        bool good = call_get_shape(&g.call, (struct size){100, 70, 33}, &shape, &err);
        cr_expect_eq(good, cases[i].what == NULL, "case %zu: %s", i, err.text);
        cr_expect(good || strstr(err.text, cases[i].what), "case %zu: %s", i, err.text);
        if (good)
            cr_expect(shape.grid[0] == 5 && shape.grid[1] == 7 && shape.grid[2] == 1 &&
                      shape.block[0] == 16 && shape.block[2] == 1 && shape.smem == 132);
        guest_close(&g);
    }
}

/* --- entries ------------------------------------------------------------------------ */

Test(guest, plain_names_of_mangled_ones)
{
    static const char *const cases[][2] = {
        {"matmul", "matmul"},
        {"_Z6matmulPKfS0_Pfiii", "matmul"},
        {"_ZN5tiles6matmulILi16EEEvPf", "matmul"},
        {"_Z", "_Z"},
        {"_Z99x", "_Z99x"},
        {"_Z99999999999999999999999x", "_Z99999999999999999999999x"},
        {"_Z0x", "_Z0x"},
        {"_ZN", "_ZN"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char plain[64];
        guest_plain_name(cases[i][0], plain, sizeof plain);
        cr_expect_str_eq(plain, cases[i][1]);
    }
}

static const char three[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry _Z6matmulPfi(.param .u64 p, .param .u32 m) { ret; }\n"
    ".visible .entry _Z12matmul_tiledPfl(.param .u64 p, .param .u64 m) { ret; }\n"
    ".visible .entry gemv() { .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
    "    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2},\n"
    "        {%r3}, {%f1,%f2,%f3,%f4}; ret; }\n"
    ".func helper() { ret; }\n";

static void list_three(struct entry_list *list)
{
    struct device device = {.backend = BACKEND_SIM, .cc = 80};
    struct error err = {0};
    cr_assert(
        guest_list_entries(three, sizeof three - 1, "three.ptx", &device, list, &err),
        "%s", err.text);
}

Test(guest, finds_the_entry_that_is_meant)
{
    static const struct {
        const char *wish, *found, *what;
    } cases[] = {
        {"_Z6matmulPfi", "_Z6matmulPfi", NULL},
        {"matmul", "_Z6matmulPfi", NULL},
        {"matmul_tiled", "_Z12matmul_tiledPfl", NULL},
        {"tiled", "_Z12matmul_tiledPfl", NULL},
        {"gem", "gemv", NULL},
        {"atmu", NULL, "`atmu`: several kernels fit in three.ptx: _Z6matmulPfi, _Z12"},
        {"helper", NULL, "no kernel is called so in three.ptx: _Z6matmulPfi, _Z12"},
        {NULL, NULL, "--entry is missing: several kernels fit"},
        {"", NULL, "several kernels fit"},
    };
    struct entry_list list;
    list_three(&list);
    cr_assert_eq(list.count, 3);
    cr_expect(!list.entries[0].uses_tensor_cores && list.entries[2].uses_tensor_cores);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        const struct entry *entry =
            guest_find_entry(&list, cases[i].wish, "three.ptx", &err);
        cr_expect_eq(entry != NULL, cases[i].found != NULL, "case %zu: %s", i, err.text);
        if (entry && cases[i].found)
            cr_expect_str_eq(entry->name, cases[i].found);
        else
            cr_expect(err.status == EXIT_USAGE && strstr(err.text, cases[i].what),
                      "case %zu: %s", i, err.text);
    }
    guest_free_entries(&list);
}

Test(guest, single_entry_needs_no_name)
{
    char name[] = "alone";
    static struct entry one;
    one.name = name;
    struct entry_list list = {.entries = &one, .count = 1};
    struct error err = {0};
    cr_expect_eq(guest_find_entry(&list, NULL, "f", &err), &one);
    cr_expect_null(guest_find_entry(&list, "x", "f", &err));
}

Test(guest, long_lists_of_entries_are_cut)
{
    struct entry_list list = {0};
    char text[4000] = ".version 7.0\n.target sm_70\n.address_size 64\n";
    struct device device = {.backend = BACKEND_SIM, .cc = 80};
    struct error err = {0};
    for (int i = 0; i < 40; i++)
        sprintf(text + strlen(text), ".entry quite_a_long_kernel_name_%d() { ret; }\n",
                i);
    cr_assert(guest_list_entries(text, strlen(text), "f", &device, &list, &err));
    cr_expect_null(guest_find_entry(&list, "kernel", "f", &err));
    const char *more = strstr(err.text, " and ");
    int shown = 1, left = more ? atoi(more + 5) : 0;
    for (const char *c = strstr(err.text, "name_0,"); c && c < more; c++)
        shown += *c == ',';
    cr_expect(more && strstr(more, " more") && shown + left == 40, "%d + %d: %s", shown,
              left, err.text);
    guest_free_entries(&list);
}

Test(guest, arguments_must_fit_the_parameters)
{
    static const struct {
        int entry;
        const char *args, *what;
    } cases[] = {
        {0, "A,M", NULL},
        {0, "buf:8,f:1", NULL},
        {0, "A",
         "--args has 1 arguments, kernel matmul takes 2 parameters (bytes: 8, 4)"},
        {0, "A,M,N", "--args has 3 arguments"},
        {0, "A,h:1", "argument 2 (h:1) has 2 bytes, parameter m takes 4"},
        {0, "M,A", "argument 1 (M) has 4 bytes, parameter p takes 8: write l:M"},
        {0, "f:1,M", "argument 1 (f:1) has 4 bytes, parameter p takes 8"},
        {1, "A,l:M", NULL},
        {1, "A,M", "argument 2 (M) has 4 bytes, parameter m takes 8: write l:M"},
        {2, "M", "--args has 1 arguments, kernel gemv takes 0 parameters"},
    };
    struct entry_list list;
    list_three(&list);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guest g;
        struct error err;
        cr_assert(parse(&g, (struct guest_words){.args = cases[i].args}, &err));
        bool good = guest_check_params(&list.entries[cases[i].entry], &g.call, &err);
        cr_expect_eq(good, cases[i].what == NULL, "case %zu: %s", i, err.text);
        cr_expect(good || strstr(err.text, cases[i].what), "case %zu: %s", i, err.text);
        guest_close(&g);
    }
    guest_free_entries(&list);
}

/* --- samples ------------------------------------------------------------------------ */

/* One thread a cell of C, row by row of blocks (`by` rows) or column by column: what
 * --grid N/8,M/8 promises, or not. Every cell is the sum over k of a b, with K = 8. */
static const char matmul_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry mm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n,\n"
    "    .param .u32 by) {\n"
    "    .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<6>; .reg .pred %p<4>;\n"
    "    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"
    "    ld.param.u32 %r1, [n]; ld.param.u32 %r2, [by];\n"
    "    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %tid.x;\n"
    "    mov.u32 %r6, %tid.y; setp.eq.u32 %p1, %r2, 1;\n"
    "    selp.u32 %r7, %r4, %r3, %p1; selp.u32 %r8, %r3, %r4, %p1;\n"
    "    mad.lo.u32 %r9, %r7, 8, %r6; mad.lo.u32 %r10, %r8, 8, %r5;\n"
    "    mul.lo.u32 %r11, %r9, 8; mov.f32 %f1, 0f00000000; mov.u32 %r12, 0;\n"
    "LOOP: add.u32 %r13, %r11, %r12; mad.lo.u32 %r14, %r12, %r1, %r10;\n"
    "    mul.wide.u32 %rd4, %r13, 4; mul.wide.u32 %rd5, %r14, 4;\n"
    "    add.u64 %rd6, %rd1, %rd4; add.u64 %rd7, %rd2, %rd5;\n"
    "    ld.global.f32 %f2, [%rd6]; ld.global.f32 %f3, [%rd7];\n"
    "    fma.rn.f32 %f1, %f2, %f3, %f1; add.u32 %r12, %r12, 1;\n"
    "    setp.lt.u32 %p2, %r12, 8; @%p2 bra LOOP;\n"
    "    mad.lo.u32 %r15, %r9, %r1, %r10; mul.wide.u32 %rd8, %r15, 4;\n"
    "    add.u64 %rd9, %rd3, %rd8; st.global.f32 [%rd9], %f1; ret; }\n";

Test(guest, sample_never_blames_a_kernel_for_its_order_of_blocks)
{
    static const struct {
        const char *grid, *args;
        bool sampled;
    } cases[] = {{"N/8,M/8", "A,B,C,N,i:1", true},
                 {"N/8,M/8", "A,B,C,N,i:0", false}, /* blocks walk the other way */
                 {"8,8", "A,B,C,N,i:1", false}};
    struct device device;
    fixture_open("a100", 0, &device);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guest g;
        struct error err;
        struct result result;
        struct guest_words words = {
            .grid = cases[i].grid, .block = "8,8", .args = cases[i].args};
        cr_assert(parse(&g, words, &err), "%s", err.text);
        g.image = (struct gpu_image){.data = (const unsigned char *)matmul_text};
        g.call.entry = "mm";
        g.rung.image = &g.image;
        g.rung.call = &g.call;
        struct kernel_info *info = &g.rung.info;
        info->multiple_m = info->multiple_n = info->multiple_k = 1;
        bench_run(&device, &g.rung, (struct size){64, 64, 8},
                  &(struct bench_options){
                      .verify = true, .alpha = 1, .seed = 3, .sample_blocks = 5},
                  &result);
        cr_expect_eq(result.verdict.kind, VERDICT_PASS, "case %zu: %s", i,
                     result.verdict.reason);
        cr_expect_eq(result.sampled, cases[i].sampled, "case %zu", i);
        cr_expect_eq(result.verdict.cells, cases[i].sampled ? 5 * 64 : 64 * 64,
                     "case %zu: %zu cells", i, result.verdict.cells);
        result_free(&result);
        guest_close(&g);
    }
    device_close(&device);
}

/* --- the real GPU's path ------------------------------------------------------------ */

/* Guard zones stand around the buffers of buf: too. The device behind the driver's
 * functions is the simulated one. */
Test(guest, guard_zones_stand_around_buffers)
{
    static const char writes_far[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry far(.param .u64 p, .param .u64 at) { .reg .b64 %rd<4>;\n"
        "    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [at]; add.u64 %rd3, %rd1, %rd2;\n"
        "    st.global.u32 [%rd3], 7; ret; }\n";
    static const struct {
        const char *args;
        enum verdict_kind kind;
    } cases[] = {{"buf:64,l:60", VERDICT_SKIPPED},
                 {"buf:64,l:64", VERDICT_WROTE_OUTSIDE},
                 {"buf:64,l:-4", VERDICT_WROTE_OUTSIDE}};
    struct device device;
    fixture_open("a100", 0, &device);
    device.backend = BACKEND_GPU;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guest g;
        struct error err;
        struct result result;
        cr_assert(parse(&g, (struct guest_words){.args = cases[i].args}, &err));
        g.image = (struct gpu_image){.data = (const unsigned char *)writes_far};
        g.call.entry = "far";
        g.rung.image = &g.image;
        g.rung.call = &g.call;
        struct kernel_info *info = &g.rung.info;
        info->multiple_m = info->multiple_n = info->multiple_k = 1;
        bench_run(&device, &g.rung, (struct size){8, 8, 8},
                  &(struct bench_options){.reps = 1, .warmup = 1}, &result);
        cr_expect_eq(result.verdict.kind, cases[i].kind, "%s: %s", cases[i].args,
                     result.verdict.reason);
        cr_expect(cases[i].kind == VERDICT_SKIPPED ||
                      strstr(result.verdict.reason, "buf:64"),
                  "%s", result.verdict.reason);
        result_free(&result);
        guest_close(&g);
    }
    device_close(&device);
}
