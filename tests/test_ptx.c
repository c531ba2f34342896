/* test_ptx.c - the PTX parser: what it takes, and that each refusal names file, line,
 * what was met and what should stand there. */
#include "../host/sim/ptx.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define BODY(text) \
    HEAD ".entry k()\n{\n.reg .b32 %r<4>;\n.reg .pred %p<3>;\n" text "\n}\n"

static struct ptx_module *take(const char *text)
{
    struct error err = {0};
    struct ptx_module *module = ptx_parse(text, strlen(text), "t.ptx", &err);
    cr_assert(module != NULL, "refused: %s\n%s", err.text, text);
    return module;
}

Test(ptx, takes_every_directive)
{
    static const char *const texts[] = {
        HEAD,
        ".version 9.0\r\n.target sm_90a, debug\r\n.address_size 64\r\n",
        HEAD "/* a\n comment */ // another\n",
        HEAD ".visible .entry k() .maxntid 128, 1, 1 .minnctapersm 2 { ret; }",
        HEAD ".entry k() .reqntid 32 .maxnreg 64 .pragma \"nounroll\"; { ret; }",
        HEAD ".weak .func f() .noreturn { ret; }",
        HEAD ".extern .func (.param .b32 r) g(.param .b64 a, .param .b32 b);",
        HEAD ".section .debug_str { .b8 1 { 2 } }\n.entry k() { ret; }",
        HEAD ".file 1 \"a.cu\", 12, 34\n.file 3 \"b.cu\"\n",
        HEAD ".pragma \"nounroll\";\n",
        HEAD ".extern .shared .align 16 .b8 dynamic[];\n",
        BODY(".loc 1 2 3\nret;"),
        BODY(".loc 1 2 3, function_name $L, inlined_at 1 4 5\nret;"),
        BODY("T: .branchtargets A, A;\nbrx.idx %r1, T;\nA: ret;"),
        BODY("P: .callprototype (.param .b32 _) _ (.param .b64 _);\nret;"),
        BODY("{ .reg .b32 %r<9>; { mov.u32 %r8, 1; } }\nret;"),
        BODY("@!%p1 bra L;\nL:"),
        BODY(";;;"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ptx_free(take(texts[i]));
}

Test(ptx, reads_initial_values)
{
    static const struct {
        const char *text;
        unsigned char bytes[8];
        int count;
    } cases[] = {
        {".global .b8 v[4] = {1, 0xFF, -1, 07};", {1, 255, 255, 7}, 4},
        {".global .u16 v = 258;", {2, 1}, 2},
        {".global .s32 v = -2;", {254, 255, 255, 255}, 4},
        {".global .u64 v = 0x0807060504030201;", {1, 2, 3, 4, 5, 6, 7, 8}, 8},
        {".global .f32 v = 0f3F800000;", {0, 0, 128, 63}, 4},
        {".global .f32 v = 1.0;", {0, 0, 128, 63}, 4},
        {".global .f64 v = 0d3FF0000000000000;", {0, 0, 0, 0, 0, 0, 240, 63}, 8},
        {".global .b8 v[2][2] = {{1, 2}, {3, 4}};", {1, 2, 3, 4}, 4},
        {".const .align 4 .b8 v[4] = {9};", {9}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "%s\n", cases[i].text);
        struct ptx_module *module = take(text);
        const struct ptx_var *var = ptx_find_var(module, "v");
        cr_assert(var != NULL && var->init != NULL, "%s", cases[i].text);
        cr_expect_eq(var->size_bytes, (uint64_t)cases[i].count, "%s: %llu bytes",
                     cases[i].text, (unsigned long long)var->size_bytes);
        cr_expect_eq(memcmp(var->init, cases[i].bytes, (size_t)cases[i].count), 0, "%s",
                     cases[i].text);
        ptx_free(module);
    }
}

Test(ptx, says_where_and_why_it_refuses)
{
    static const struct {
        const char *text;
        int status;
        const char *where, *why;
    } cases[] = {
        {"", EXIT_USAGE, "t.ptx:1:", "no .version"},
        {"\177ELF\2", EXIT_USAGE, "t.ptx:1:1:", "where a directive should"},
        {".version 8.0\n.bogus\n", EXIT_OURS, "t.ptx:3:1:", ".bogus is not supported"},
        {".version x\n", EXIT_USAGE, "t.ptx:1:10:", "`x` stands where a version"},
        {".version 8.0\n.target 80\n", EXIT_USAGE, "t.ptx:2:9:", "a target like sm_80"},
        {HEAD ".address_size 32\n", EXIT_OURS, "t.ptx:", ".address_size 64"},
        {HEAD ".file 1 \"no end", EXIT_USAGE, "t.ptx:4:9:", "a file name in quotes"},
        {HEAD ".file 99999 \"a\"", EXIT_USAGE, "t.ptx:4:7:", "too large"},
        {HEAD ".section .debug { 1", EXIT_USAGE, "t.ptx:4:", "`}` of a .section"},
        {HEAD ".entry k() { ret; }\n.entry k() { ret; }", EXIT_USAGE,
         "t.ptx:5:", "defined twice"},
        {BODY("bra NOWHERE;"), EXIT_USAGE,
         "t.ptx:8:5:", "label `NOWHERE` is not defined"},
        {BODY("L:\nL: ret;"), EXIT_USAGE, "t.ptx:9:", "label `L` is defined twice"},
        {BODY("mov.u32 %r1, 0x;"), EXIT_USAGE, "t.ptx:8:14:", "`0x`"},
        {BODY("mov.u32 %r1, 99999999999999999999;"), EXIT_USAGE, "t.ptx:8:14:", "stands"},
        {BODY("mov.u32 %r1 1;"), EXIT_USAGE, "t.ptx:8:13:", "`1` stands where `,`"},
        {BODY("@%r1 bra L;\nL:"), EXIT_USAGE, "t.ptx:8:2:", "a predicate register"},
        {BODY("ld.global.u32 %r1, [nowhere];"), EXIT_USAGE,
         "t.ptx:8:", "`nowhere` is not"},
        {BODY("T: .branchtargets A, B"), EXIT_USAGE, "t.ptx:8:", "`;`"},
        {BODY("add.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u %r1;"), EXIT_USAGE,
         "t.ptx:8:", "suffixes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        const char *text = cases[i].text;
        struct ptx_module *module = ptx_parse(text, strlen(text), "t.ptx", &err);
        cr_expect(module == NULL, "taken: %s", text);
        cr_expect_eq(err.status, cases[i].status, "%s: status %d", text, err.status);
        cr_expect(strncmp(err.text, cases[i].where, strlen(cases[i].where)) == 0 &&
                      strstr(err.text, cases[i].why) != NULL,
                  "%s\nsaid: %s\nnot: %s ... %s", text, err.text, cases[i].where,
                  cases[i].why);
        ptx_free(module);
    }
}

/* n times the same, between a head and a tail */
static void refuse_deep(const char *head, char c, int count, const char *why)
{
    size_t length = strlen(head);
    char *text = malloc(length + (size_t)count + 1);
    memcpy(text, head, length);
    memset(text + length, c, (size_t)count);
    struct error err = {0};
    cr_expect(ptx_parse(text, length + (size_t)count, "t.ptx", &err) == NULL);
    cr_expect(strstr(err.text, why) != NULL, "%d times %c: %s", count, c, err.text);
    free(text);
}

Test(ptx, bounds_nesting)
{
    refuse_deep(BODY("ret;") ".entry deep() ", '{', 100000, "nested { }");
    refuse_deep(HEAD ".entry k() { mov.u32 ", '{', 100000, "nested too deeply");
    refuse_deep(HEAD ".entry k() { mov.u32 ", '[', 100000, "stands where");
    refuse_deep(HEAD ".global .b32 v = ", '(', 100000, "");
    refuse_deep(HEAD ".global .b32 v[2] = ", '{', 100000, "");
}

Test(ptx, counts_initial_values_of_arrays_without_a_size)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {".global .b8 v[] = {1, 2, 3};", 3},
        {".global .b32 v[] = {};", 0},
        {".global .align 8 .u64 v[][2] = {{1, 2}, {3, 4}, {5, 6},};", 48},
        {".global .b8 v[4] = {1};", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, HEAD "%s\n", cases[i].text);
        struct ptx_module *module = take(text);
        cr_expect_eq(module->vars[0]->size_bytes, cases[i].bytes, "%s: %llu bytes",
                     cases[i].text, (unsigned long long)module->vars[0]->size_bytes);
        ptx_free(module);
    }
    struct error err = {0};
    const char *open = HEAD "/* never closed\n.entry k() { ret; }\n";
    cr_expect(ptx_parse(open, strlen(open), "t.ptx", &err) == NULL);
    cr_expect_not_null(strstr(err.text, "`/`"), "%s", err.text);
}

Test(ptx, finds_functions_by_name)
{
    struct ptx_module *module =
        take(HEAD ".func f() { ret; }\n.entry k() { call f, (); ret; }\n");
    cr_expect_eq(module->function_count, 2);
    cr_expect_eq(ptx_find_function(module, "f")->index, 0);
    cr_expect_eq(ptx_find_function(module, "k")->index, 1);
    cr_expect(ptx_find_function(module, "ret") == NULL);
    cr_expect(ptx_find_function(module, "never") == NULL);
    ptx_free(module);
}
