/* test_merge.c - which neighbouring accesses to shared memory count as one. The answers
 * are what ptxas 13.0 makes of CUDA C with such accesses: instructions LDS and STS in its
 * machine code for sm_80. */
#include "engine.h"

/* In all cases %r20 is a multiple of 16 that differs from lane to lane. */
static const char head[] = "shl.b32 %r20, %r0, 5;\n"
                           "mov.u32 %r21, s;\n"
                           "add.s32 %r20, %r21, %r20;\n";
static const char globals[] = ".shared .align 4 .b8 s[4096];\n";

#define LD(n, at) "ld.shared.f32 %f" #n ", [" at "];\n"
#define ST(n, at) "st.shared.f32 [" at "], %f" #n ";\n"
#define FOUR LD(0, "%r20") LD(1, "%r20+4") LD(2, "%r20+8") LD(3, "%r20+12")
#define TWO_AND(between) \
    LD(0, "%r20") LD(1, "%r20+4") between LD(2, "%r20+8") LD(3, "%r20+12")
#define FOUR_FROM(code) \
    code LD(0, "%r22") LD(1, "%r22+4") LD(2, "%r22+8") LD(3, "%r22+12")

struct merge_case {
    const char *what, *body;
    uint64_t loads, stores, merged;
};

static const struct merge_case cases[] = {
    {"four words", FOUR, 1, 0, 3},
    {"one word alone", LD(0, "%r20+4"), 1, 0, 0},
    {"a half", LD(0, "%r20+8") LD(1, "%r20+12"), 1, 0, 1},
    {"the middle of a window", LD(0, "%r20+4") LD(1, "%r20+8"), 2, 0, 0},
    {"both ends of a window", LD(0, "%r20") LD(1, "%r20+12"), 2, 0, 0},
    {"three of four", LD(0, "%r20+12") LD(1, "%r20") LD(2, "%r20+8"), 1, 0, 2},
    {"across two windows",
     LD(0, "%r20+8") LD(1, "%r20+12") LD(2, "%r20+16") LD(3, "%r20+20"), 2, 0, 2},
    {"before the base",
     "add.s32 %r22, %r20, 32;\n" LD(0, "%r22+-16") LD(1, "%r22+-12") LD(2, "%r22+-4"), 1,
     0, 2},
    {"a pair and a word", "ld.shared.v2.f32 {%f0, %f1}, [%r20];\n" LD(2, "%r20+8"), 1, 0,
     1},
    {"two doubles", "ld.shared.f64 %fd0, [%r20];\nld.shared.f64 %fd1, [%r20+8];\n", 1, 0,
     1},
    {"integers among floats", LD(0, "%r20") "ld.shared.u32 %r30, [%r20+4];\n", 1, 0, 1},
    {"the same word twice", LD(0, "%r20") LD(1, "%r20"), 1, 0, 1},
    {"halfwords stay", "ld.shared.u16 %h0, [%r20];\nld.shared.u16 %h1, [%r20+2];\n", 2, 0,
     0},
    {"bytes stay", "ld.shared.u8 %h0, [%r20];\nld.shared.u8 %h1, [%r20+1];\n", 2, 0, 0},
    {"volatile words stay",
     "ld.volatile.shared.u32 %r30, [%r20];\nld.volatile.shared.u32 %r31, [%r20+4];\n", 2,
     0, 0},
    {"a shuffle between", TWO_AND("shfl.sync.bfly.b32 %r30, %r5, 1, 31, -1;\n"), 1, 0, 3},
    {"an atomic in global memory between", TWO_AND("red.global.add.u32 [%rd0], 1;\n"), 1,
     0, 3},
    {"a store to global memory between", TWO_AND("st.global.f32 [%rd1], %f0;\n"), 1, 0,
     3},
    {"a store elsewhere between", TWO_AND("mov.u32 %r22, s;\n" ST(0, "%r22+64")), 2, 1,
     2},
    {"a store at the same base between", TWO_AND(ST(0, "%r20+64")), 1, 1, 3},
    {"a store into the window between", TWO_AND(ST(0, "%r20+8")), 2, 1, 2},
    {"among fixed places", LD(0, "s+16") ST(0, "s+64") LD(1, "s+20"), 1, 1, 1},
    {"a generic store between", TWO_AND("st.f32 [%rd1], %f0;\n"), 2, 0, 2},
    {"a barrier between", TWO_AND("bar.sync 0;\n"), 2, 0, 2},
    {"a barrier of the warp between", TWO_AND("bar.warp.sync -1;\n"), 2, 0, 2},
    {"a fence between", TWO_AND("membar.cta;\n"), 2, 0, 2},
    {"an atomic in shared memory between", TWO_AND("red.shared.add.u32 [%r20+32], 1;\n"),
     2, 0, 2},
    {"a new base between", TWO_AND("add.s32 %r20, %r20, 16;\n"), 2, 0, 2},
    {"another block", TWO_AND("setp.eq.u32 %p1, %r4, 99;\n@%p1 bra on;\non:\n"), 2, 0, 2},
    {"one guard",
     "setp.ne.u32 %p1, %r4, 99;\n@%p1 " LD(0, "%r20") "@%p1 " LD(1, "%r20+4"), 1, 0, 1},
    {"guarded or not", "setp.ne.u32 %p1, %r4, 99;\n@%p1 " LD(0, "%r20") LD(1, "%r20+4"),
     2, 0, 0},
    {"a fixed place", LD(0, "s+16") LD(1, "s+20") LD(2, "s+24"), 1, 0, 2},
    {"an odd place", LD(0, "s+8") LD(1, "s+12") LD(2, "s+16"), 2, 0, 1},
    {"a stride that is not known", FOUR_FROM("mad.lo.s32 %r22, %r0, %r4, %r21;\n"), 4, 0,
     0},
    {"a stride of one word",
     FOUR_FROM("shl.b32 %r23, %r0, 2;\nadd.s32 %r22, %r21, %r23;\n"), 4, 0, 0},
    {"a stride of two words",
     FOUR_FROM("shl.b32 %r23, %r0, 3;\nadd.s32 %r22, %r21, %r23;\n"), 2, 0, 2},
    {"rounded down", FOUR_FROM("and.b32 %r23, %r20, -16;\nmov.u32 %r22, %r23;\n"), 1, 0,
     3},
    {"a product", FOUR_FROM("mad.lo.s32 %r22, %r0, 80, %r21;\n"), 1, 0, 3},
    {"aligned plus a word",
     "add.s32 %r22, %r20, 4;\n" LD(0, "%r22+12") LD(1, "%r22+16") LD(2, "%r22+20"), 1, 0,
     2},
    {"four stores", ST(0, "%r20") ST(0, "%r20+4") ST(0, "%r20+8") ST(0, "%r20+12"), 0, 1,
     3},
    {"three stores", ST(0, "%r20") ST(0, "%r20+4") ST(0, "%r20+8"), 0, 2, 1},
    {"a half of stores", ST(0, "%r20+8") ST(0, "%r20+12"), 0, 1, 1},
    {"stores with a load elsewhere between", ST(0, "%r20") LD(1, "s+64") ST(0, "%r20+4"),
     1, 2, 0},
    {"stores with a load at the base between",
     ST(0, "%r20") LD(1, "%r20+32") ST(0, "%r20+4"), 1, 1, 1},
    {"stores with a store elsewhere between", ST(0, "%r20") ST(1, "s+64") ST(0, "%r20+4"),
     0, 3, 0},
};

Test(merge, counts_follow_what_ptxas_makes)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1000];
        snprintf(body, sizeof body, "%s%s", head, cases[i].body);
        struct program p = {.body = body, .globals = globals, .n = 4};
        const struct outcome *o = engine_run(&p);
        cr_assert_eq(o->sync, CUDA_SUCCESS, "%s: %s", cases[i].what, o->error);
        const struct sim_counters *c = &o->counters;
        cr_expect(c->shared_ld_requests == cases[i].loads &&
                      c->shared_st_requests == cases[i].stores &&
                      c->shared_merged == cases[i].merged,
                  "%s: %d loads, %d stores, %d merged", cases[i].what,
                  (int)c->shared_ld_requests, (int)c->shared_st_requests,
                  (int)c->shared_merged);
    }
}

/* 32 lanes, 32 bytes apart: 16-byte accesses go in four phases of 8 lanes, which meet in
 * two groups of banks each. One by one it would be 4 times 8. */
Test(merge, a_merged_access_has_the_wavefronts_of_a_wide_one)
{
    char body[1000];
    snprintf(body, sizeof body, "%s%s", head, FOUR);
    struct program p = {.body = body, .globals = globals};
    const struct outcome *o = engine_run(&p);
    cr_expect_eq(o->counters.shared_ld_wavefronts, 8);
    cr_expect_eq(o->counters.shared_ld_wavefronts_ideal, 4);
    cr_expect_eq(o->counters.pipe[SIM_PIPE_LSU], 1, "%d",
                 (int)o->counters.pipe[SIM_PIPE_LSU]);
}

/* What runs is not changed: every load brings its own word. */
Test(merge, values_stay_those_of_the_words)
{
    const char *body =
        "shl.b32 %r20, %r0, 5;\nmov.u32 %r21, s;\nadd.s32 %r20, %r21, %r20;\n"
        "st.shared.u32 [%r20], 1;\nst.shared.u32 [%r20+4], 20;\n"
        "st.shared.u32 [%r20+8], 300;\nst.shared.u32 [%r20+12], 4000;\n"
        "ld.shared.u32 %r22, [%r20];\nld.shared.u32 %r23, [%r20+4];\n"
        "ld.shared.u32 %r24, [%r20+8];\nld.shared.u32 %r25, [%r20+12];\n"
        "add.s32 %r22, %r22, %r23;\nadd.s32 %r22, %r22, %r24;\n"
        "add.s32 %r22, %r22, %r25;\nst.global.u32 [%rd1], %r22;\n";
    struct program p = {.body = body, .globals = globals};
    const struct outcome *o = engine_run(&p);
    for (int l = 0; l < 32; l++)
        cr_expect_eq(o->out[l], 4321, "lane %d: %u", l, o->out[l]);
    cr_expect_eq(o->counters.shared_merged, 6);
}

Test(merge, explain_says_how_wide)
{
    char body[1000];
    snprintf(body, sizeof body, "%s%s", head, FOUR);
    struct program p = {.body = body, .globals = globals, .explain = true, .keep = true};
    int count = 0;
    engine_good(&p);
    const struct sim_site *sites = sim_last_sites(&count);
    cr_assert_eq(count, 1, "%d sites", count);
    cr_expect_str_eq(sites[0].text, "ld.shared.f32, merged to 16 bytes");
    cr_expect(sites[0].bytes == 16 && sites[0].requests == 1 && sites[0].cost == 8);
}
