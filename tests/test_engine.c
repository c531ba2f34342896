/* test_engine.c - the executor: diverged paths, calls, barriers, threads that wait for
 * one another, host threads. Its warp instructions and atomics are in test_warp.c, its
 * faults in test_faults.c. */
#include "engine.h"

static void expect_words(const struct outcome *o, int count, uint32_t (*want)(int),
                         const char *what)
{
    for (int i = 0; i < count; i++)
        cr_assert_eq(o->out[i], want(i), "%s: out[%d] is %u (0x%x), not %u", what, i,
                     o->out[i], o->out[i], want(i));
}

/* --- divergence -------------------------------------------------------------------- */

/* if (t < 7) { if (t & 1) v = 10; else v = 20; } else v = 30; out = v + t */
static uint32_t nested(int i)
{
    return (uint32_t)i + (i >= 7 ? 30 : i & 1 ? 10 : 20);
}

Test(engine, nested_conditions_meet_again)
{
    struct program p = {.body = "setp.lt.u32 %p1, %r0, 7;\n"
                                "@!%p1 bra C;\n"
                                "and.b32 %r10, %r0, 1;\n"
                                "setp.eq.u32 %p2, %r10, 1;\n"
                                "@%p2 bra A;\n"
                                "mov.u32 %r11, 20;\n"
                                "bra.uni B;\n"
                                "A: mov.u32 %r11, 10;\n"
                                "B: bra.uni D;\n"
                                "C: mov.u32 %r11, 30;\n"
                                "D: add.u32 %r11, %r11, %r0;\n"
                                "activemask.b32 %r12;\n"
                                "st.global.u32 [%rd1], %r11;\n"
                                "st.global.u32 [%rd1+256], %r12;\n",
                        .block = 45};
    const struct outcome *o = engine_good(&p);
    expect_words(o, 45, nested, "value");
    for (int i = 0; i < 45; i++)
        cr_assert_eq(o->out[64 + i], i < 32 ? 0xffffffffu : 0x1fffu,
                     "thread %d: mask 0x%x after the conditions", i, o->out[64 + i]);
    cr_assert_eq(o->counters.branches_divergent, 2);
}

/* s = 0; for (i = 0; i < t; i++) s += i; */
static uint32_t triangle(int i)
{
    return (uint32_t)(i * (i - 1) / 2);
}

Test(engine, loops_of_different_length)
{
    struct program p = {.body = "mov.u32 %r10, 0;\n"
                                "mov.u32 %r11, 0;\n"
                                "L: setp.ge.u32 %p1, %r10, %r0;\n"
                                "@%p1 bra E;\n"
                                "add.u32 %r11, %r11, %r10;\n"
                                "add.u32 %r10, %r10, 1;\n"
                                "bra.uni L;\n"
                                "E: st.global.u32 [%rd1], %r11;\n",
                        .block = 64};
    const struct outcome *o = engine_good(&p);
    expect_words(o, 64, triangle, "sum");
    /* all lanes store together: one request a warp */
    cr_assert_eq(o->counters.global_st_requests, 2, "%d requests",
                 (int)o->counters.global_st_requests);
}

static uint32_t table_value(int i)
{
    return (uint32_t)(i % 4 == 3 ? 100 : 7 * (i % 4));
}

Test(engine, branch_table)
{
    struct program p = {.body = "TS: .branchtargets L0, L1, L2, L3;\n"
                                "and.b32 %r10, %r0, 3;\n"
                                "brx.idx %r10, TS;\n"
                                "L0: mov.u32 %r11, 0;\nbra.uni E;\n"
                                "L1: mov.u32 %r11, 7;\nbra.uni E;\n"
                                "L2: mov.u32 %r11, 14;\nbra.uni E;\n"
                                "L3: mov.u32 %r11, 100;\n"
                                "E: st.global.u32 [%rd1], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    expect_words(o, 32, table_value, "branch table");
    cr_assert_eq(o->counters.global_st_requests, 1);
}

/* --- calls ------------------------------------------------------------------------- */

static const char fibonacci[] =
    ".func (.param .u32 ret) fib(.param .u32 n)\n"
    "{\n"
    ".reg .pred %p<2>;\n"
    ".reg .b32 %r<8>;\n"
    "ld.param.u32 %r1, [n];\n"
    "setp.lt.u32 %p1, %r1, 2;\n"
    "@%p1 bra E;\n"
    "sub.u32 %r2, %r1, 1;\n"
    "{ .param .u32 a; .param .u32 b; st.param.u32 [a], %r2; call.uni (b), fib, (a);\n"
    "ld.param.u32 %r3, [b]; }\n"
    "sub.u32 %r2, %r1, 2;\n"
    "{ .param .u32 a; .param .u32 b; st.param.u32 [a], %r2; call.uni (b), fib, (a);\n"
    "ld.param.u32 %r4, [b]; }\n"
    "add.u32 %r1, %r3, %r4;\n"
    "E: st.param.u32 [ret], %r1;\n"
    "ret;\n"
    "}\n";

static uint32_t fib(int n)
{
    return (uint32_t)(n < 2 ? n : (int)(fib(n - 1) + fib(n - 2)));
}
static uint32_t fib_of_lane(int i)
{
    return fib(i % 11);
}

Test(engine, recursion_of_different_depth)
{
    struct program p = {.globals = fibonacci,
                        .body = "rem.u32 %r10, %r0, 11;\n"
                                "{ .param .u32 a; .param .u32 b;\n"
                                "st.param.u32 [a], %r10;\n"
                                "call.uni (b), fib, (a);\n"
                                "ld.param.u32 %r11, [b]; }\n"
                                "st.global.u32 [%rd1], %r11;\n",
                        .block = 50};
    const struct outcome *o = engine_good(&p);
    expect_words(o, 50, fib_of_lane, "fib");
    cr_assert_eq(o->counters.global_st_requests, 2, "all lanes come back together");
}

static const char endless[] = ".func f(.param .u32 n)\n"
                              "{\n"
                              ".reg .b32 %r<8>;\n"
                              "ld.param.u32 %r1, [n];\n"
                              "{ .param .u32 a; st.param.u32 [a], %r1;\n"
                              ".loc 1 77 0\n"
                              "call.uni f, (a); }\n"
                              "ret;\n"
                              "}\n";

Test(engine, endless_recursion_ends)
{
    struct program p = {.globals = endless,
                        .body = "{ .param .u32 a; st.param.u32 [a], %r0;\n"
                                "call.uni f, (a); }\n"};
    const struct outcome *o = engine_run(&p);
    cr_assert_eq(o->fault_count, 1);
    cr_assert_eq(o->fault.line, 77);
    cr_assert(strstr(o->fault.detail, "too deeply"), "%s", o->fault.detail);
}

/* Even lanes call f, odd ones g, through a pointer. f waits for lanes in g: both frames
 * are in use at once, and must not overlap. */
static const char two_functions[] = ".func (.param .u32 ret) f(.param .u32 n)\n"
                                    "{\n"
                                    ".reg .b32 %r<8>;\n"
                                    "ld.param.u32 %r1, [n];\n"
                                    "mul.lo.u32 %r2, %r1, 3;\n"
                                    "bar.warp.sync -1;\n"
                                    "add.u32 %r2, %r2, 1000;\n"
                                    "st.param.u32 [ret], %r2;\n"
                                    "ret;\n"
                                    "}\n"
                                    ".func (.param .u32 ret) g(.param .u32 n)\n"
                                    "{\n"
                                    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
                                    "ld.param.u32 %r1, [n];\n"
                                    "mul.wide.u32 %rd1, %r1, 5;\n"
                                    "bar.warp.sync -1;\n"
                                    "add.u64 %rd1, %rd1, 2000;\n"
                                    "cvt.u32.u64 %r2, %rd1;\n"
                                    "st.param.u32 [ret], %r2;\n"
                                    "ret;\n"
                                    "}\n";

static uint32_t two_values(int i)
{
    return (uint32_t)(i & 1 ? 5 * i + 2000 : 3 * i + 1000);
}

Test(engine, calls_through_a_pointer)
{
    struct program p = {.globals = two_functions,
                        .body = "mov.u64 %rd10, f;\n"
                                "mov.u64 %rd11, g;\n"
                                "and.b32 %r10, %r0, 1;\n"
                                "setp.eq.u32 %p1, %r10, 1;\n"
                                "selp.b64 %rd12, %rd11, %rd10, %p1;\n"
                                "{ .param .u32 a; .param .u32 b;\n"
                                "P: .callprototype (.param .u32 _) _ (.param .u32 _);\n"
                                "st.param.u32 [a], %r0;\n"
                                "call (b), %rd12, (a), P;\n"
                                "ld.param.u32 %r11, [b]; }\n"
                                "st.global.u32 [%rd1], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    expect_words(o, 32, two_values, "function");
    cr_assert_eq(o->counters.global_st_requests, 1, "all lanes come back together");
}

/* Lanes that come late to a function join those that wait in it. */
static const char ballot_in_function[] = ".func (.param .u32 ret) h(.param .u32 n)\n"
                                         "{\n"
                                         ".reg .b32 %r<8>; .reg .pred %p<2>;\n"
                                         "ld.param.u32 %r1, [n];\n"
                                         "setp.gt.u32 %p1, %r1, 0;\n"
                                         "vote.sync.ballot.b32 %r2, %p1, -1;\n"
                                         "st.param.u32 [ret], %r2;\n"
                                         "ret;\n"
                                         "}\n";

Test(engine, lanes_meet_inside_a_function)
{
    struct program p = {.globals = ballot_in_function,
                        .body = "mov.u32 %r10, 0;\n"
                                "setp.lt.u32 %p1, %r0, 5;\n"
                                "@!%p1 bra V;\n"
                                "L: add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p2, %r10, 20000;\n"
                                "@%p2 bra L;\n"
                                "V: { .param .u32 a; .param .u32 b;\n"
                                "st.param.u32 [a], %r10;\n"
                                "call.uni (b), h, (a);\n"
                                "ld.param.u32 %r11, [b]; }\n"
                                "st.global.u32 [%rd1], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++)
        cr_assert_eq(o->out[l], 0x1f, "lane %d: 0x%x", l, o->out[l]);
}

/* --- barriers ---------------------------------------------------------------------- */

/* reverse the block through shared memory */
Test(engine, barrier_of_all_warps)
{
    struct program p = {.globals = ".shared .align 4 .b8 s[4096];\n",
                        .body = "mov.u32 %r10, s;\n"
                                "shl.b32 %r11, %r0, 2;\n"
                                "add.u32 %r12, %r10, %r11;\n"
                                "st.shared.u32 [%r12], %r0;\n"
                                "bar.sync 0;\n"
                                "sub.u32 %r13, %r2, 1;\n"
                                "sub.u32 %r13, %r13, %r0;\n"
                                "shl.b32 %r13, %r13, 2;\n"
                                "add.u32 %r13, %r13, %r10;\n"
                                "ld.shared.u32 %r14, [%r13];\n"
                                "st.global.u32 [%rd1], %r14;\n",
                        .grid = 3};
    static const unsigned blocks[] = {1, 31, 32, 33, 64, 100, 256, 1000, 1024};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        p.block = blocks[k];
        const struct outcome *o = engine_good(&p);
        for (unsigned i = 0; i < 3 * p.block; i++)
            cr_assert_eq(o->out[i], p.block - 1 - i % p.block, "block %u thread %u",
                         p.block, i);
        cr_assert_eq(o->counters.barriers, 3);
    }
}

/* warps 0, 1 and 2, 3 meet two and two at barriers 1 and 2; warp 4 only arrives at 3 */
Test(engine, named_barriers_with_counts)
{
    struct program p = {.body = "shr.u32 %r10, %r6, 1;\n"
                                "add.u32 %r11, %r10, 1;\n"
                                "setp.eq.u32 %p1, %r6, 4;\n"
                                "@%p1 bra LAST;\n"
                                "barrier.sync %r11, 64;\n"
                                "setp.ne.u32 %p2, %r10, 0;\n"
                                "@%p2 bra E;\n"
                                "bar.sync 3, 96;\n"
                                "bra.uni E;\n"
                                "LAST: bar.arrive 3, 96;\n"
                                "E: st.global.u32 [%rd1], 1;\n",
                        .block = 160};
    const struct outcome *o = engine_good(&p);
    cr_assert_eq(o->counters.barriers, 3);
    for (int i = 0; i < 160; i++)
        cr_assert_eq(o->out[i], 1, "thread %d", i);
}

/* a last warp of 18 lanes counts as 32 */
Test(engine, count_of_a_partial_warp)
{
    struct program p = {.body = "bar.sync 5, 64;\nst.global.u32 [%rd1], 1;\n",
                        .block = 50};
    const struct outcome *o = engine_good(&p);
    cr_assert_eq(o->counters.barriers, 1);
    cr_assert_eq(o->out[49], 1);
}

Test(engine, reducing_barriers)
{
    struct program p = {.body = "setp.lt.u32 %p1, %r0, %r4;\n"
                                "bar.red.popc.u32 %r10, 0, %p1;\n"
                                "bar.red.popc.u32 %r13, 1, 64, !%p1;\n"
                                "bar.red.and.pred %p2, 2, %p1;\n"
                                "bar.red.or.pred %p3, 3, %p1;\n"
                                "selp.u32 %r11, 1, 0, %p2;\n"
                                "selp.u32 %r12, 1, 0, %p3;\n"
                                "st.global.u32 [%rd1], %r10;\n"
                                "st.global.u32 [%rd1+256], %r11;\n"
                                "st.global.u32 [%rd1+512], %r12;\n"
                                "st.global.u32 [%rd1+768], %r13;\n",
                        .block = 50};
    static const unsigned limits[] = {0, 1, 20, 49, 50, 60};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        p.n = limits[k];
        unsigned count = p.n < 50 ? p.n : 50;
        const struct outcome *o = engine_good(&p);
        for (int i = 0; i < 50; i++) {
            cr_assert_eq(o->out[i], count, "popc of %u", p.n);
            cr_assert_eq(o->out[64 + i], p.n >= 50, "and of %u", p.n);
            cr_assert_eq(o->out[128 + i], p.n >= 1, "or of %u", p.n);
            cr_assert_eq(o->out[192 + i], 50 - count, "negated popc of %u", p.n);
        }
    }
}

/* threads that have left count as arrived */
Test(engine, barrier_after_some_threads_left)
{
    struct program p = {.body = "setp.ge.u32 %p1, %r0, %r4;\n"
                                "@%p1 exit;\n"
                                "bar.sync 0;\n"
                                "st.global.u32 [%rd1], 1;\n",
                        .block = 128};
    static const unsigned left[] = {1, 31, 32, 33, 64, 127};
    for (size_t k = 0; k < sizeof left / sizeof *left; k++) {
        p.n = left[k];
        const struct outcome *o = engine_good(&p);
        for (unsigned i = 0; i < 128; i++)
            cr_assert_eq(o->out[i], i < p.n, "%u stay, thread %u", p.n, i);
        cr_assert_eq(o->counters.barriers, 1);
    }
}

/* barrier.sync is of threads, not of warps: halves of a warp meet at two places */
Test(engine, unaligned_barrier_in_both_branches)
{
    struct program p = {.body = "and.b32 %r10, %r0, 1;\n"
                                "setp.eq.u32 %p1, %r10, 1;\n"
                                "@%p1 bra A;\n"
                                "barrier.sync 0;\n"
                                "bra.uni B;\n"
                                "A: barrier.sync 0;\n"
                                "B: @%p1 barrier.sync 1, 32;\n"
                                "@!%p1 barrier.sync 1, 32;\n"
                                "st.global.u32 [%rd1], 1;\n"};
    const struct outcome *o = engine_good(&p);
    cr_assert_eq(o->counters.barriers, 2);
    cr_assert_eq(o->out[31], 1);
}

/* --- threads that wait for one another ----------------------------------------------- */

#define LOCKED_ADD                             \
    "L: atom.cas.b32 %r10, [%rd0], 0, 1;\n"    \
    "setp.ne.u32 %p1, %r10, 0;\n"              \
    "@%p1 bra L;\n"                            \
    "ld.volatile.global.u32 %r11, [%rd0+4];\n" \
    "add.u32 %r11, %r11, 1;\n"                 \
    "st.volatile.global.u32 [%rd0+4], %r11;\n" \
    "membar.gl;\n"                             \
    "atom.exch.b32 %r12, [%rd0], 0;\n"

Test(engine, spin_lock_between_lanes_warps_and_blocks)
{
    struct program p = {.body = LOCKED_ADD};
    static const unsigned shapes[][2] = {{1, 32}, {1, 256}, {20, 64}};
    for (size_t k = 0; k < 3; k++) {
        p.grid = shapes[k][0];
        p.block = shapes[k][1];
        const struct outcome *o = engine_good(&p);
        cr_assert_eq(o->out[1], p.grid * p.block, "%u blocks of %u: %u", p.grid, p.block,
                     o->out[1]);
        cr_assert_eq(o->out[0], 0, "the lock is free again");
    }
}

/* warp 0 waits for a flag that the last warp sets */
Test(engine, flag_between_warps)
{
    struct program p = {.body = "sub.u32 %r10, %r2, 1;\n"
                                "shr.u32 %r10, %r10, 5;\n"
                                "setp.ne.u32 %p1, %r6, %r10;\n"
                                "@%p1 bra W;\n"
                                "st.volatile.global.u32 [%rd0], 5;\n"
                                "bra.uni E;\n"
                                "W: ld.volatile.global.u32 %r11, [%rd0];\n"
                                "setp.eq.u32 %p2, %r11, 0;\n"
                                "@%p2 bra W;\n"
                                "E: st.global.u32 [%rd1+1024], 1;\n",
                        .block = 256};
    const struct outcome *o = engine_good(&p);
    for (int i = 0; i < 256; i++)
        cr_assert_eq(o->out[256 + i], 1, "thread %d", i);
}

/* every block waits until all have come: more blocks than one after the other */
#define GRID_BARRIER(load)            \
    "setp.ne.u32 %p1, %r0, 0;\n"      \
    "@%p1 bra E;\n"                   \
    "red.global.add.u32 [%rd0], 1;\n" \
    "mov.u32 %r10, %nctaid.x;\n"      \
    "L: " load " %r11, [%rd0];\n"     \
    "setp.lt.u32 %p2, %r11, %r10;\n"  \
    "@%p2 bra L;\n"                   \
    "E: bar.sync 0;\n"                \
    "st.global.u32 [%rd1+1024], %r11;\n"

Test(engine, blocks_wait_for_later_blocks)
{
    static const char *const bodies[] = {
        GRID_BARRIER("ld.volatile.global.u32"), GRID_BARRIER("ld.acquire.gpu.global.u32"),
        GRID_BARRIER("nanosleep.u32 20; ld.global.u32"), GRID_BARRIER("ld.global.u32")};
    for (int k = 0; k < 4; k++)
        for (int cooperative = 0; cooperative < 2; cooperative++) {
            struct program p = {.body = bodies[k],
                                .grid = k == 3 ? 3 : 100,
                                .block = 64,
                                .step_limit = 20000000,
                                .cooperative = cooperative};
            const struct outcome *o = engine_good(&p);
            for (unsigned i = 0; i < p.grid; i++)
                cr_assert_eq(o->out[256 + 64 * i], p.grid, "case %d block %u", k, i);
        }
}

/* --- the same for any number of host threads ---------------------------------------------- */

Test(engine, host_threads_change_nothing)
{
    struct program p = {.body = "mov.u32 %r10, 0;\n"
                                "mov.f32 %f1, 0f3F8CCCCD;\n"
                                "and.b32 %r11, %r3, 63;\n"
                                "L: mul.f32 %f1, %f1, 0f3F7FBE77;\n"
                                "red.global.add.f32 [%rd0], %f1;\n"
                                "mad.wide.u32 %rd10, %r11, 4, %rd0;\n"
                                "ld.global.u32 %r12, [%rd10+65536];\n"
                                "add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p1, %r10, %r11;\n"
                                "@%p1 bra L;\n"
                                "st.global.f32 [%rd1+4096], %f1;\n"
                                "atom.global.add.u32 %r13, [%rd0+4], 1;\n"
                                "st.global.u32 [%rd1+131072], %r13;\n",
                        .grid = 40,
                        .block = 96};
    static struct outcome first;
    static const int threads[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        p.threads = threads[k];
        const struct outcome *o = engine_good(&p);
        if (k == 0)
            first = *o;
        cr_assert(memcmp(first.out, o->out, sizeof first.out) == 0, "%d threads: memory",
                  threads[k]);
        cr_assert(memcmp(&first.counters, &o->counters, sizeof first.counters) == 0,
                  "%d threads: counters", threads[k]);
    }
}

/* Blocks that do not talk to one another run on several host threads at once. */
Test(engine, host_threads_share_the_blocks)
{
    struct program p = {.body = "mov.u32 %r10, 0;\n"
                                "mov.u32 %r11, 0;\n"
                                "L: and.b32 %r13, %r10, 15;\n"
                                "mad.wide.u32 %rd10, %r13, 128, %rd0;\n"
                                "mad.wide.u32 %rd10, %r5, 4, %rd10;\n"
                                "ld.global.u32 %r12, [%rd10+4096];\n"
                                "add.u32 %r11, %r11, %r12;\n"
                                "red.global.add.u32 [%rd0], 1;\n"
                                "red.global.add.u64 [%rd0+8], 3;\n"
                                "add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p1, %r10, 200;\n"
                                "@%p1 bra L;\n"
                                "st.global.u32 [%rd1+131072], %r11;\n",
                        .grid = 40,
                        .block = 96};
    static struct outcome first;
    static const int threads[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        p.threads = threads[k];
        const struct outcome *o = engine_good(&p);
        if (k == 0)
            first = *o;
        cr_assert_eq(o->out[0], 40 * 96 * 200, "%d threads: %u", threads[k], o->out[0]);
        cr_assert_eq(o->out[2], 3 * 40 * 96 * 200);
        cr_assert(memcmp(first.out, o->out, sizeof first.out) == 0, "%d threads: memory",
                  threads[k]);
        cr_assert(memcmp(&first.counters, &o->counters, sizeof first.counters) == 0,
                  "%d threads: counters", threads[k]);
    }
    /* no block finds in its L1 what another one loaded */
    cr_assert_eq(first.counters.l1_sector_hits, 40 * (3 * 200 - 16) * 4, "%d hits",
                 (int)first.counters.l1_sector_hits);
}

/* The clock never goes back, and a longer way takes longer. */
Test(engine, clock_counts_on)
{
    struct program p = {.body = "mov.u64 %rd10, %clock64;\n"
                                "mov.u32 %r10, 0;\n"
                                "A: add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p1, %r10, 10;\n"
                                "@%p1 bra A;\n"
                                "mov.u64 %rd11, %clock64;\n"
                                "B: add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p1, %r10, 1000;\n"
                                "@%p1 bra B;\n"
                                "mov.u64 %rd12, %clock64;\n"
                                "mov.u64 %rd13, %globaltimer;\n"
                                "sub.u64 %rd10, %rd11, %rd10;\n"
                                "sub.u64 %rd12, %rd12, %rd11;\n"
                                "setp.lt.u64 %p1, %rd10, %rd12;\n"
                                "setp.gt.u64 %p2, %rd10, 0;\n"
                                "setp.gt.u64 %p3, %rd13, 0;\n"
                                "and.pred %p1, %p1, %p2;\n"
                                "and.pred %p1, %p1, %p3;\n"
                                "selp.u32 %r11, 1, 0, %p1;\n"
                                "st.global.u32 [%rd1], %r11;\n",
                        .block = 64};
    const struct outcome *o = engine_good(&p);
    for (int i = 0; i < 64; i++)
        cr_assert_eq(o->out[i], 1, "thread %d", i);
}
