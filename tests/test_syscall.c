/* Functions of the driver that kernels call (host/sim/syscall.c): printf, assert, malloc,
 * free; and what becomes of memory. */
#include "engine.h"

#define DECLARE                                                                 \
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"   \
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, " \
    ".param .b64 d, .param .b64 e);\n"                                          \
    ".extern .func (.param .b64 r) malloc (.param .b64 a);\n"                   \
    ".extern .func free (.param .b64 a);\n"
/* malloc(bytes) into a register of 64 bits; free of one */
#define MALLOC(to, bytes)                                                  \
    "{\n.param .b64 q0;\n.param .b64 q1;\nst.param.b64 [q0], " bytes ";\n" \
    "call.uni (q1), malloc, (q0);\nld.param.b64 " to ", [q1];\n}\n"
#define FREE(from)                                       \
    "{\n.param .b64 q0;\nst.param.b64 [q0], " from ";\n" \
    "call.uni free, (q0);\n}\n"

/* --- printf -------------------------------------------------------------------------- */

struct argument {
    int bytes;
    uint64_t bits;
};
static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A string as the initial data of a variable. */
static void put_string(char *to, size_t room, const char *name, const char *text)
{
    size_t length = strlen(text), used;
    used =
        (size_t)snprintf(to, room, ".global .align 1 .b8 %s[%zu] = {", name, length + 1);
    for (size_t i = 0; i < length; i++)
        used += (size_t)snprintf(to + used, room - used, "%u, ", (unsigned char)text[i]);
    snprintf(to + used, room - used, "0};\n");
}

/* printf(format, arguments) by the first `lanes` lanes of `grid` blocks; its output. The
 * thread's number in the grid is the first argument, if by_thread. */
static const char *print(const char *format, const struct argument *arguments, int count,
                         bool by_thread, unsigned lanes, unsigned grid, int threads,
                         int *result)
{
    static char globals[8192], body[8192], output[8192];
    char string[4096];
    put_string(string, sizeof string, "format", format);
    snprintf(globals, sizeof globals, "%s%s", DECLARE, string);
    size_t used = (size_t)snprintf(body, sizeof body,
                                   ".local .align 8 .b8 buffer[256];\n"
                                   "mov.u64 %%rd10, buffer;\n");
    int at = 0;
    for (int i = 0; i < count; i++) {
        int bytes = arguments[i].bytes;
        at = (at + bytes - 1) / bytes * bytes;
        if (i == 0 && by_thread)
            used += (size_t)snprintf(body + used, sizeof body - used,
                                     "st.local.u32 [%%rd10+%d], %%r3;\n", at);
        else
            used += (size_t)snprintf(body + used, sizeof body - used,
                                     "st.local.b%d [%%rd10+%d], %llu;\n", 8 * bytes, at,
                                     (unsigned long long)arguments[i].bits);
        at += bytes;
    }
    snprintf(body + used, sizeof body - used,
             "cvta.local.u64 %%rd11, %%rd10;\nmov.u64 %%rd12, format;\n"
             "cvta.global.u64 %%rd12, %%rd12;\n"
             "{\n.param .b64 q0;\n.param .b64 q1;\n.param .b32 q2;\n"
             "st.param.b64 [q0], %%rd12;\nst.param.b64 [q1], %%rd11;\n"
             "call.uni (q2), vprintf, (q0, q1);\nld.param.b32 %%r20, [q2];\n}\n"
             "st.global.u32 [%%rd1], %%r20;\n");
    FILE *file = tmpfile();
    const struct outcome *o = engine_good(&(struct program){.body = body,
                                                            .globals = globals,
                                                            .grid = grid,
                                                            .block = lanes,
                                                            .threads = threads,
                                                            .output = file});
    *result = (int)o->out[0];
    rewind(file);
    size_t length = fread(output, 1, sizeof output - 1, file);
    output[length] = '\0';
    fclose(file);
    return output;
}

Test(syscall, prints_what_c_prints)
{
    const struct {
        const char *format;
        struct argument arguments[4];
        int count, result;
        const char *wanted;
    } cases[] = {
        {"plain\n", {{0, 0}}, 0, 0, "plain\n"},
        {"100%%", {{0, 0}}, 0, 0, "100%"},
        {"%d %i", {{4, (uint32_t)-7}, {4, 8}}, 2, 2, "-7 8"},
        {"[%5d|%-5d|%05d]", {{4, 42}, {4, 42}, {4, 42}}, 3, 3, "[   42|42   |00042]"},
        {"%+d % d", {{4, 1}, {4, 2}}, 2, 2, "+1  2"},
        {"%u %x %X %#o",
         {{4, 0xffffffff}, {4, 255}, {4, 255}, {4, 8}},
         4,
         4,
         "4294967295 ff FF 010"},
        {"%lld", {{8, (uint64_t)-5000000000}}, 1, 1, "-5000000000"},
        {"%d %llu", {{4, 1}, {8, 1ull << 40}}, 2, 2, "1 1099511627776"},
        {"%f %.2f %10.3e",
         {{8, bits_of(1.5)}, {8, bits_of(-2.345)}, {8, bits_of(12345)}},
         3,
         3,
         "1.500000 -2.35  1.234e+04"},
        {"%g|%G", {{8, bits_of(1e-10)}, {8, bits_of(1e20)}}, 2, 2, "1e-10|1E+20"},
        {"%c%c", {{4, 'a'}, {4, 'b'}}, 2, 2, "ab"},
        {"%*d", {{4, 6}, {4, 9}}, 2, 2, "     9"},
        {"%.*f", {{4, 1}, {8, bits_of(0.25)}}, 2, 2, "0.2"},
        {"%p", {{8, 0xabc}}, 1, 1, "0xabc"},
        {"%s", {{8, 0}}, 1, 1, "(null)"},
        {"bad %y", {{4, 1}}, 1, -1, "bad "},
        {"cut %", {{4, 1}}, 1, -1, "cut "},
        {"%hhd %zu", {{4, 3}, {8, 4}}, 2, 2, "3 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int result;
        const char *output = print(cases[i].format, cases[i].arguments, cases[i].count,
                                   false, 1, 1, 1, &result);
        cr_expect_str_eq(output, cases[i].wanted, "%s gave \"%s\"", cases[i].format,
                         output);
        cr_expect_eq(result, cases[i].result, "%s returned %d", cases[i].format, result);
    }
}

Test(syscall, prints_in_the_order_of_threads)
{
    char wanted[4096] = "";
    for (int i = 0; i < 4 * 40; i++)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%d,", i);
    for (int threads = 1; threads <= 3; threads++) {
        int result;
        const char *output =
            print("%d,", (struct argument[]){{4, 0}}, 1, true, 40, 4, threads, &result);
        cr_expect_str_eq(output, wanted, "%d host threads: %s", threads, output);
    }
}

/* --- assert -------------------------------------------------------------------------- */

Test(syscall, a_failed_assertion_says_which)
{
    char globals[8192], strings[3][1024];
    put_string(strings[0], sizeof strings[0], "message", "t < n");
    put_string(strings[1], sizeof strings[1], "file", "sum.cu");
    put_string(strings[2], sizeof strings[2], "function", "sum(int)");
    snprintf(globals, sizeof globals, "%s%s%s%s", DECLARE, strings[0], strings[1],
             strings[2]);
    const struct outcome *o = engine_run(&(struct program){
        .body =
            "mov.u64 %rd10, message;\nmov.u64 %rd11, file;\nmov.u64 %rd12, function;\n"
            "setp.eq.u32 %p1, %r0, 9;\n.loc 1 17 0\n@!%p1 bra $good;\n"
            "{\n.param .b64 q0;\n.param .b64 q1;\n.param .b32 q2;\n.param .b64 q3;\n"
            ".param .b64 q4;\nst.param.b64 [q0], %rd10;\nst.param.b64 [q1], %rd11;\n"
            "st.param.b32 [q2], 44;\nst.param.b64 [q3], %rd12;\n"
            "st.param.b64 [q4], 1;\ncall.uni __assertfail, (q0, q1, q2, q3, q4);\n}\n"
            "$good:\n",
        .globals = globals});
    cr_assert_eq(o->fault_count, 1, "%s", o->error);
    cr_expect_eq(o->fault.kind, SIM_TRAP);
    cr_expect_eq(o->fault.thread[0], 9);
    cr_expect_eq(o->fault.line, 17);
    cr_expect_str_eq(o->fault.detail, "assertion `t < n` failed in sum(int) (sum.cu:44)");
    cr_expect_eq(o->sync, CUDA_ERROR_ASSERT);
}

/* --- the heap ------------------------------------------------------------------------ */

struct heap_case {
    const char *what, *body;
    int faults;
    enum sim_fault_kind kind;
    int leaks;
    const char *text; /* in the fault, or in the leak */
};

static const struct heap_case heap_cases[] = {
    {"used and freed",
     MALLOC("%rd10",
            "64") "st.u32 [%rd10+60], %r0;\n"
                  "ld.u32 %r10, [%rd10+60];\nst.global.u32 [%rd1], %r10;\n" FREE("%rd10"),
     0, 0, 0, ""},
    {"free of nothing", "mov.u64 %rd10, 0;\n" FREE("%rd10"), 0, 0, 0, ""},
    {"never freed", ".loc 1 12 0\n" MALLOC("%rd10", "64"), 0, 0, 32,
     "64 bytes of malloc'ed memory"},
    {"past the end", MALLOC("%rd10", "64") "st.u32 [%rd10+64], %r0;\n", 1,
     SIM_OUT_OF_BOUNDS, 32, "past the end of malloc'ed memory"},
    {"used after free",
     MALLOC("%rd10", "64") ".loc 1 12 0\n" FREE("%rd10") "st.u32 [%rd10], %r0;\n", 1,
     SIM_USE_AFTER_FREE, 0, "(0,0,0) at kernel.cu:12"},
    {"freed twice", MALLOC("%rd10", "64") ".loc 1 12 0\n" FREE("%rd10") FREE("%rd10"), 1,
     SIM_DOUBLE_FREE, 0, "has been freed by thread (0,0,0)"},
    {"freed in the middle",
     MALLOC("%rd10", "64") "add.u64 %rd10, %rd10, 8;\n" FREE("%rd10"), 1, SIM_DOUBLE_FREE,
     32, "malloc did not give out"},
    {"freed, but cuMemAlloc made it", FREE("%rd0"), 1, SIM_DOUBLE_FREE, 0,
     "malloc did not give out"},
    {"read before it was written",
     MALLOC("%rd10", "64") "ld.u32 %r10, [%rd10];\n"
                           "st.global.u32 [%rd1], %r10;\n" FREE("%rd10"),
     1, SIM_UNINITIALIZED, 0, ""},
};

Test(syscall, memory_of_a_kernel_is_watched)
{
    for (size_t i = 0; i < sizeof heap_cases / sizeof *heap_cases; i++) {
        const struct heap_case *c = &heap_cases[i];
        const struct outcome *o = engine_run(
            &(struct program){.body = c->body, .globals = DECLARE, .check = true});
        cr_assert_eq(o->launch, CUDA_SUCCESS, "%s: %s", c->what, o->error);
        cr_expect_eq(o->fault_count, c->faults, "%s: %d faults: %s", c->what,
                     o->fault_count, o->fault.detail);
        cr_expect_eq(o->leak_count, c->leaks, "%s: %d leaks", c->what, o->leak_count);
        if (c->faults > 0)
            cr_expect(o->fault.kind == c->kind && strstr(o->fault.detail, c->text),
                      "%s: %s: %s", c->what, sim_fault_name(o->fault.kind),
                      o->fault.detail);
        else if (c->leaks > 0)
            cr_expect(o->leak.kind == SIM_LEAK && o->leak.line == 12 &&
                          strstr(o->leak.detail, c->text),
                      "%s: line %d: %s", c->what, o->leak.line, o->leak.detail);
    }
}

Test(syscall, a_full_heap_gives_null)
{
    const struct outcome *o = engine_good(&(struct program){
        .body = MALLOC("%rd10", "0x300000") "st.global.u64 [%rd0], %rd10;\n" MALLOC(
            "%rd11", "0x300000")
            MALLOC("%rd12", "0x300000") "st.global.u64 [%rd0+8], %rd12;\n",
        .globals = DECLARE,
        .block = 1});
    cr_expect(o->out[1] != 0 && o->out[2] == 0 && o->out[3] == 0,
              "3 MiB: 0x%x%08x, third of them: 0x%x%08x", o->out[1], o->out[0], o->out[3],
              o->out[2]);
}

Test(syscall, many_small_blocks_fit)
{
    engine_good(&(struct program){
        .body = MALLOC("%rd10", "16") "st.u32 [%rd10], %r3;\nld.u32 %r10, [%rd10];\n"
                                      "st.global.u32 [%rd1], %r10;\n" FREE("%rd10"),
        .globals = DECLARE,
        .grid = 60,
        .block = 1024});
}

/* --- tables of functions --------------------------------------------------------------- */

Test(syscall, initial_data_may_hold_functions)
{
    const char *globals =
        ".visible .func (.param .b32 r) add_one (.param .b32 a)\n{\n.reg .b32 %x<3>;\n"
        "ld.param.b32 %x1, [a];\nadd.u32 %x2, %x1, 1;\nst.param.b32 [r], %x2;\nret;\n}\n"
        ".visible .func (.param .b32 r) add_ten (.param .b32 a)\n{\n.reg .b32 %x<3>;\n"
        "ld.param.b32 %x1, [a];\nadd.u32 %x2, %x1, 10;\nst.param.b32 [r], %x2;\nret;\n}\n"
        ".global .align 8 .u64 table[2] = {add_one, add_ten};\n";
    const struct outcome *o = engine_good(&(struct program){
        .body = "mov.u64 %rd10, table;\nand.b32 %r10, %r0, 1;\n"
                "mad.wide.u32 %rd10, %r10, 8, %rd10;\nld.global.u64 %rd11, [%rd10];\n"
                "{\n.param .b32 q0;\n.param .b32 q1;\nst.param.b32 [q0], %r0;\n"
                "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                "call (q1), %rd11, (q0), prototype;\nld.param.b32 %r11, [q1];\n}\n"
                "st.global.u32 [%rd1], %r11;\n",
        .globals = globals});
    for (unsigned i = 0; i < 32; i++)
        cr_expect_eq(o->out[i], i + (i & 1 ? 10 : 1), "lane %u: %u", i, o->out[i]);
}
