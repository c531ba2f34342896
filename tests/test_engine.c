/* test_engine.c - paths, barriers, warp instructions, atomics and faults of the
 * executor, on small PTX kernels. */
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

/* --- warp instructions ---------------------------------------------------------------- */

struct shuffle {
    const char *mode;
    int kind; /* 0 up, 1 down, 2 bfly, 3 idx */
};

/* PTX ISA, shfl: the manual's own pseudocode */
static uint32_t shuffle_source(int kind, int lane, int b, int c, int *inside)
{
    int bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
    int most = (lane & mask) | (cval & ~mask), least = lane & mask, j = 0;
    switch (kind) {
    case 0:
        j = lane - bval;
        *inside = j >= most;
        break;
    case 1:
        j = lane + bval;
        *inside = j <= most;
        break;
    case 2:
        j = lane ^ bval;
        *inside = j <= most;
        break;
    default:
        j = least | (bval & ~mask);
        *inside = j <= most;
        break;
    }
    return (uint32_t)(*inside ? j : lane);
}

Test(engine, shuffles_of_all_modes_and_widths)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (int kind = 0; kind < 4; kind++)
        for (int width = 1; width <= 32; width *= 2)
            for (int b = 0; b < 32; b += 3) {
                int c = ((32 - width) << 8) | (kind == 0 ? 0 : 31);
                char body[400];
                snprintf(body, sizeof body,
                         "add.u32 %%r10, %%r0, 100;\n"
                         "shfl.sync.%s.b32 %%r11|%%p1, %%r10, %d, %d, -1;\n"
                         "selp.u32 %%r12, 1, 0, %%p1;\n"
                         "st.global.u32 [%%rd1], %%r11;\n"
                         "st.global.u32 [%%rd1+128], %%r12;\n",
                         modes[kind], b, c);
                const struct outcome *o = engine_good(&(struct program){.body = body});
                for (int l = 0; l < 32; l++) {
                    int inside;
                    uint32_t source = shuffle_source(kind, l, b, c, &inside);
                    cr_assert_eq(o->out[l], 100 + source, "%s %d width %d lane %d: %u",
                                 modes[kind], b, width, l, o->out[l]);
                    cr_assert_eq(o->out[32 + l], (uint32_t)inside);
                }
            }
}

/* even and odd lanes shuffle among themselves with masks of their own, converged and
 * in different branches */
Test(engine, groups_of_lanes_with_their_own_masks)
{
    static const char *const bodies[] = {"and.b32 %r10, %r0, 1;\n"
                                         "setp.eq.u32 %p1, %r10, 1;\n"
                                         "selp.b32 %r11, 0xaaaaaaaa, 0x55555555, %p1;\n"
                                         "redux.sync.add.u32 %r12, %r0, %r11;\n"
                                         "st.global.u32 [%rd1], %r12;\n",
                                         "and.b32 %r10, %r0, 1;\n"
                                         "setp.eq.u32 %p1, %r10, 1;\n"
                                         "@%p1 bra A;\n"
                                         "redux.sync.add.u32 %r12, %r0, 0x55555555;\n"
                                         "bra.uni B;\n"
                                         "A: redux.sync.add.u32 %r12, %r0, 0xaaaaaaaa;\n"
                                         "B: st.global.u32 [%rd1], %r12;\n"};
    for (int k = 0; k < 2; k++) {
        const struct outcome *o = engine_good(&(struct program){.body = bodies[k]});
        for (int l = 0; l < 32; l++)
            cr_assert_eq(o->out[l], l & 1 ? 256u : 240u, "case %d lane %d: %u", k, l,
                         o->out[l]);
    }
}

/* lanes that come late to a vote are waited for */
Test(engine, warp_instructions_wait_for_their_members)
{
    struct program p = {.body = "mov.u32 %r10, 0;\n"
                                "setp.lt.u32 %p1, %r0, 5;\n"
                                "@!%p1 bra V;\n"
                                "L: add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p2, %r10, 20000;\n"
                                "@%p2 bra L;\n"
                                "V: setp.gt.u32 %p3, %r10, 0;\n"
                                "vote.sync.ballot.b32 %r11, %p3, -1;\n"
                                "st.global.u32 [%rd1], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++)
        cr_assert_eq(o->out[l], 0x1f, "lane %d: 0x%x", l, o->out[l]);
}

Test(engine, votes_matches_and_reductions)
{
    struct program p = {.target = "sm_90", /* for elect */
                        .body = "and.b32 %r10, %r0, 3;\n"
                                "setp.lt.u32 %p1, %r10, 3;\n"
                                "vote.sync.all.pred %p2, %p1, -1;\n"
                                "vote.sync.any.pred %p3, %p1, -1;\n"
                                "vote.sync.uni.pred %p4, %p1, -1;\n"
                                "vote.sync.ballot.b32 %r11, !%p1, -1;\n"
                                "match.any.sync.b32 %r12, %r10, -1;\n"
                                "cvt.u64.u32 %rd10, %r10;\n"
                                "shl.b64 %rd10, %rd10, 40;\n"
                                "match.any.sync.b64 %r13, %rd10, -1;\n"
                                "match.all.sync.b32 %r14|%p5, %r10, -1;\n"
                                "match.all.sync.b32 %r15|%p6, 9, -1;\n"
                                "neg.s32 %r16, %r0;\n"
                                "redux.sync.min.s32 %r17, %r16, -1;\n"
                                "redux.sync.max.s32 %r18, %r16, -1;\n"
                                "redux.sync.min.u32 %r19, %r16, -1;\n"
                                "redux.sync.max.u32 %r20, %r16, -1;\n"
                                "redux.sync.and.b32 %r21, %r16, -1;\n"
                                "redux.sync.or.b32 %r22, %r0, -1;\n"
                                "redux.sync.xor.b32 %r23, %r0, -1;\n"
                                "elect.sync %r24|%p7, -1;\n"
                                "selp.u32 %r30, 1, 0, %p2;\n"
                                "selp.u32 %r31, 2, 0, %p3;\n"
                                "selp.u32 %r32, 4, 0, %p4;\n"
                                "selp.u32 %r33, 8, 0, %p5;\n"
                                "selp.u32 %r34, 16, 0, %p6;\n"
                                "selp.u32 %r35, 32, 0, %p7;\n"
                                "add.u32 %r30, %r30, %r31;\n"
                                "add.u32 %r30, %r30, %r32;\n"
                                "add.u32 %r30, %r30, %r33;\n"
                                "add.u32 %r30, %r30, %r34;\n"
                                "add.u32 %r30, %r30, %r35;\n"
                                "st.global.u32 [%rd1], %r30;\n"
                                "st.global.u32 [%rd1+128], %r11;\n"
                                "st.global.u32 [%rd1+256], %r12;\n"
                                "st.global.u32 [%rd1+384], %r13;\n"
                                "st.global.u32 [%rd1+512], %r14;\n"
                                "st.global.u32 [%rd1+640], %r15;\n"
                                "st.global.u32 [%rd1+768], %r17;\n"
                                "st.global.u32 [%rd1+896], %r18;\n"
                                "st.global.u32 [%rd1+1024], %r19;\n"
                                "st.global.u32 [%rd1+1152], %r20;\n"
                                "st.global.u32 [%rd1+1280], %r21;\n"
                                "st.global.u32 [%rd1+1408], %r22;\n"
                                "st.global.u32 [%rd1+1536], %r23;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++) {
        uint32_t same = 0x11111111u << (l & 3);
        uint32_t want[] = {2u + 16u + (l == 0 ? 32u : 0u),
                           0x88888888u,
                           same,
                           same,
                           0,
                           0xffffffffu,
                           (uint32_t)-31,
                           0,
                           0,
                           (uint32_t)-1,
                           0,
                           31,
                           0};
        for (int k = 0; k < 13; k++)
            cr_assert_eq(o->out[32 * k + l], want[k], "result %d lane %d: 0x%x not 0x%x",
                         k, l, o->out[32 * k + l], want[k]);
    }
}

/* __syncwarp at two places of the program */
Test(engine, warp_barrier_in_both_branches)
{
    struct program p = {.body = "and.b32 %r10, %r0, 1;\n"
                                "setp.eq.u32 %p1, %r10, 1;\n"
                                "@%p1 bra A;\n"
                                "st.global.u32 [%rd1], %r0;\n"
                                "bar.warp.sync -1;\n"
                                "mov.u32 %r11, 3;\n"
                                "bra.uni B;\n"
                                "A: bar.warp.sync -1;\n"
                                "ld.global.u32 %r11, [%rd1+-4];\n"
                                "B: st.global.u32 [%rd1+128], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++)
        cr_assert_eq(o->out[32 + l], (uint32_t)(l & 1 ? l - 1 : 3), "lane %d", l);
}

/* --- atomics ---------------------------------------------------------------------------- */

struct atomic_case {
    const char *op;      /* "add.u32" */
    const char *operand; /* register or immediate */
    uint32_t start[2];   /* words before */
    uint32_t want[2];    /* after 20 blocks of 96 threads */
    bool wide;
};

static const struct atomic_case atomic_cases[] = {
    {"add.u32", "%r3", {5, 0}, {5 + 1919 * 960, 0}, false},
    {"add.s32", "-1", {5, 0}, {5u - 1920u, 0}, false},
    {"min.s32", "%r40", {7, 0}, {(uint32_t)-1919, 0}, false},
    {"max.s32", "%r40", {(uint32_t)-9999, 0}, {0, 0}, false},
    {"min.u32", "%r3", {7, 0}, {0, 0}, false},
    {"max.u32", "%r3", {7, 0}, {1919, 0}, false},
    {"inc.u32", "99", {0, 0}, {1920 % 100, 0}, false},
    {"dec.u32", "99", {0, 0}, {(100 - 1920 % 100) % 100, 0}, false},
    {"and.b32", "%r41", {0xffffffffu, 0}, {0xfffff800u, 0}, false},
    {"or.b32", "%r3", {0, 0}, {0x7ff, 0}, false},
    {"xor.b32", "%r3", {1, 0}, {1, 0}, false},
    {"add.f32", "0f3F800000", {0x3f000000, 0}, {0x44f01000, 0}, false},
    {"add.f64", "0d3FF0000000000000", {0, 0x3fe00000}, {0, 0x409e0200}, true},
    {"add.u64", "%rd30", {0, 0}, {1920, 1920}, true},
    {"min.s64", "-5", {0, 0}, {(uint32_t)-5, 0xffffffffu}, true},
    {"max.u64", "%rd30", {0, 0}, {1, 1}, true},
    {"or.b64", "%rd30", {0, 0}, {1, 1}, true},
    {"add.noftz.f16x2", "%r42", {0, 0}, {0x67806780, 0}, false},
};

Test(engine, atomics_from_many_blocks)
{
    static const char *const spaces[] = {"global.", "", "gpu.global.",
                                         "relaxed.gpu.global."};
    for (size_t k = 0; k < sizeof atomic_cases / sizeof *atomic_cases; k++)
        for (int form = 0; form < 8; form++) {
            const struct atomic_case *c = &atomic_cases[k];
            bool red = form & 1;
            char body[700];
            snprintf(body, sizeof body,
                     "neg.s32 %%r40, %%r3;\n"
                     "not.b32 %%r41, %%r3;\n"
                     "mov.b32 %%r42, 0x3c003c00;\n"
                     "mov.b64 %%rd30, 0x100000001;\n"
                     "setp.ge.u32 %%p1, %%r3, %%r4;\n"
                     "%s.%s%s%s [%%rd0], %s;\n",
                     red ? "red" : "atom", spaces[form / 2] + (form / 2 == 2 ? 4 : 0),
                     c->op,
                     red       ? ""
                     : c->wide ? " %rd31,"
                               : " %r50,",
                     c->operand);
            struct program p = {.body = body,
                                .grid = 20,
                                .block = 96,
                                .threads = 3,
                                .in = c->start,
                                .in_words = 2};
            const struct outcome *o = engine_good(&p);
            cr_assert(o->out[0] == c->want[0] && o->out[1] == c->want[1],
                      "%s: 0x%x 0x%x, not 0x%x 0x%x", body, o->out[0], o->out[1],
                      c->want[0], c->want[1]);
        }
}

/* each thread gets a number of its own, from global and from shared memory */
Test(engine, atomics_return_the_old_value)
{
    struct program p = {.globals = ".shared .align 4 .b32 s;\n",
                        .body = "setp.eq.u32 %p1, %r0, 0;\n"
                                "@%p1 st.shared.u32 [s], 0;\n"
                                "bar.sync 0;\n"
                                "atom.global.add.u32 %r10, [%rd0], 1;\n"
                                "atom.shared.inc.u32 %r11, [s], 1000;\n"
                                "mad.wide.u32 %rd10, %r10, 4, %rd0;\n"
                                "red.global.add.u32 [%rd10+4096], 1;\n"
                                "mad.wide.u32 %rd11, %r11, 4, %rd0;\n"
                                "red.global.add.u32 [%rd11+32768], 1;\n"
                                "atom.global.cas.b32 %r12, [%rd0+4], 0, 77;\n"
                                "atom.global.exch.b32 %r13, [%rd0+8], 5;\n"
                                "add.u32 %r14, %r12, %r13;\n"
                                "red.global.add.u32 [%rd0+12], %r14;\n",
                        .grid = 5,
                        .block = 200,
                        .threads = 2};
    const struct outcome *o = engine_good(&p);
    cr_assert_eq(o->out[0], 1000);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(o->out[1024 + i], 1, "number %d was given %u times", i,
                     o->out[1024 + i]);
    for (int i = 0; i < 200; i++)
        cr_assert_eq(o->out[8192 + i], 5, "shared number %d", i);
    cr_assert_eq(o->out[1], 77);
    cr_assert_eq(o->out[2], 5);
    cr_assert_eq(o->out[3], 999 * 77 + 999 * 5);
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

/* --- faults -------------------------------------------------------------------------------- */

struct fault_case {
    const char *name, *globals, *body;
    enum sim_fault_kind kind;
    unsigned grid, block, fault_block, fault_thread;
    const char *detail; /* must be in the text */
    bool check;         /* needs --check */
};

#define AT ".loc 1 77 0\n"

static const struct fault_case fault_cases[] = {
    {"load past the end", NULL,
     "add.u64 %rd10, %rd1, 262144;\n" AT "ld.global.u32 %r10, [%rd10+-40];\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 10, "0 bytes past the end", false},
    {"store far away, block 3", NULL,
     "mov.u64 %rd10, 0x10;\nsetp.eq.u32 %p1, %r3, 101;\n" AT
     "@%p1 st.global.u32 [%rd10], %r0;\n",
     SIM_OUT_OF_BOUNDS, 8, 32, 3, 5, "4-byte global store at 0x10", false},
    {"vector straddles the end", NULL,
     AT "ld.global.v2.u32 {%r10, %r11}, [%rd0+262140];\n", SIM_MISALIGNED, 1, 32, 0, 0,
     "multiple of 8", false},
    /* the whole warp, at an instruction that went well before */
    {"second time past the end", NULL,
     "mov.u64 %rd10, %rd1;\nL:\n" AT "ld.global.u32 %r10, [%rd10];\n"
     "add.u64 %rd10, %rd10, 262088;\nbra.uni L;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 14, "0 bytes past the end", false},
    {"second time misaligned", NULL,
     "mov.u64 %rd10, %rd1;\nL:\n" AT "st.global.u32 [%rd10], %r0;\n"
     "add.u64 %rd10, %rd10, 2;\nbra.uni L;\n",
     SIM_MISALIGNED, 1, 32, 0, 0, "multiple of 4", false},
    {"second time past shared memory", ".shared .align 4 .b8 s[256];\n",
     "mov.u32 %r10, s;\nmad.lo.u32 %r10, %r0, 4, %r10;\nL:\n" AT
     "ld.shared.u32 %r11, [%r10];\nadd.u32 %r10, %r10, 160;\nbra.uni L;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 24, "[0, 256)", false},
    {"second time misaligned in shared memory", ".shared .align 4 .b8 s[256];\n",
     "mov.u32 %r10, s;\nmad.lo.u32 %r10, %r0, 4, %r10;\nL:\n" AT
     "ld.shared.u32 %r11, [%r10];\nadd.u32 %r10, %r10, 1;\nbra.uni L;\n",
     SIM_MISALIGNED, 1, 32, 0, 0, "multiple of 4", false},
    {"store to a constant", ".const .align 4 .b32 c[32];\n",
     "mov.u64 %rd10, c;\ncvta.const.u64 %rd10, %rd10;\n"
     "mad.wide.u32 %rd10, %r0, 4, %rd10;\n" AT "st.u32 [%rd10], %r0;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 0, "read-only", false},
    {"misaligned", NULL,
     "setp.eq.u32 %p1, %r0, 9;\n" AT "@%p1 ld.global.u32 %r10, [%rd1+2];\n",
     SIM_MISALIGNED, 1, 32, 0, 9, "multiple of 4", false},
    {"atomic out of bounds", NULL, AT "atom.global.add.u32 %r10, [%rd0+-4], 1;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 0, "4 bytes before", false},
    {"shared out of bounds", ".shared .align 4 .b8 s[128];\n",
     "mov.u32 %r11, s;\nshl.b32 %r10, %r0, 2;\nadd.u32 %r10, %r10, %r11;\n" AT
     "st.shared.u32 [%r10], %r0;\n",
     SIM_OUT_OF_BOUNDS, 1, 64, 0, 32, "[0, 128)", false},
    {"local out of bounds", NULL,
     ".local .align 4 .b8 a[64];\nmov.u32 %r11, a;\n"
     "shl.b32 %r10, %r0, 2;\nadd.u32 %r10, %r10, %r11;\n" AT
     "st.local.u32 [%r10], %r0;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 16, "[0, 64)", false},
    {"barrier under a divergent guard", NULL,
     "setp.lt.u32 %p1, %r0, 40;\n" AT "@%p1 bar.sync 0;\n", SIM_BARRIER_DIVERGENCE, 1, 64,
     0, 32, "0x000000ff arrive", false},
    {"barriers in both branches", NULL,
     "setp.lt.u32 %p1, %r0, 4;\n@%p1 bra A;\nbar.sync 0;\nbra.uni B;\nA:\n" AT
     "bar.sync 0;\nB:\n",
     SIM_BARRIER_DIVERGENCE, 1, 32, 0, 0, "different barriers", false},
    {"two barriers, two numbers", NULL,
     "setp.lt.u32 %p1, %r0, 4;\n@%p1 bra A;\n" AT "bar.sync 1;\nbra.uni B;\nA:\n" AT
     "bar.sync 2;\nB:\n",
     SIM_BARRIER_DIVERGENCE, 1, 32, 0, 0, "different barriers", false},
    {"lanes left before the barrier", NULL,
     "setp.ge.u32 %p1, %r0, 40;\n@%p1 exit;\n" AT "bar.sync 0;\n", SIM_BARRIER_DIVERGENCE,
     1, 64, 0, 40, "have left", true},
    {"lanes leave, others wait", NULL,
     "setp.ge.u32 %p1, %r0, 40;\n@%p1 bra E;\n" AT "bar.sync 0;\nE:\n",
     SIM_BARRIER_DIVERGENCE, 1, 64, 0, 40, "have left", true},
    {"warps at two places", NULL,
     "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.sync 0;\nbra.uni B;\nA:\n" AT
     "bar.sync 0;\nB:\n",
     SIM_BARRIER_DIVERGENCE, 1, 64, 0, 32, "another barrier of the program", true},
    {"barrier number", NULL, AT "bar.sync %r2;\n", SIM_UNSUPPORTED, 1, 32, 0, 0,
     "0 to 15", false},
    {"barrier count", NULL, AT "bar.sync 1, %r2;\n", SIM_UNSUPPORTED, 1, 33, 0, 0,
     "multiple of 32", false},
    {"a warp does not come", NULL,
     "setp.ge.u32 %p1, %r0, 32;\n@%p1 exit;\n" AT "bar.sync 0, 64;\n", SIM_DEADLOCK, 2,
     64, 0, 0, "barrier 0", false},
    {"a lane does not come", NULL,
     "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra A;\n" AT
     "vote.sync.any.pred %p2, %p1, -1;\nbra.uni B;\nA:\n" AT "barrier.sync 0;\nB:\n",
     SIM_DEADLOCK, 1, 32, 0, 0, "nobody can go on", false},
    {"lane not in its mask", NULL,
     "mov.u32 %r10, 0xfffffffe;\n" AT "shfl.sync.idx.b32 %r11, %r0, 0, 31, %r10;\n",
     SIM_BAD_MASK, 1, 32, 0, 0, "0xfffffffe", false},
    {"lane not in its mask, diverged", NULL,
     "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra E;\n" AT "bar.warp.sync 0x7f;\nE:\n",
     SIM_BAD_MASK, 1, 32, 0, 7, "0x0000007f", false},
    {"trap", NULL, "setp.eq.u32 %p1, %r3, 70;\n" AT "@%p1 trap;\n", SIM_TRAP, 4, 32, 2, 6,
     "trap", false},
    {"endless loop", NULL, AT "L: add.u32 %r10, %r10, 1;\nbra.uni L;\n", SIM_TIMEOUT, 6,
     32, 0, 0, "endless", false},
    {"lock that nobody gives back", NULL,
     AT "L: atom.cas.b32 %r10, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 bra L;\n",
     SIM_TIMEOUT, 1, 32, 0, 1, "endless", false},
    {"branch table", NULL,
     "TS: .branchtargets A, B;\nadd.u32 %r10, %r0, -29;\nmax.s32 %r10, %r10, 0;\n" AT
     "brx.idx %r10, TS;\nA: mov.u32 %r11, 0;\nB: mov.u32 %r11, 1;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 31, "2 targets", false},
    {"call through a wrong pointer", two_functions,
     "mov.u64 %rd10, 0x123;\n{ .param .u32 a; .param .u32 b;\n"
     "P: .callprototype (.param .u32 _) _ (.param .u32 _);\nst.param.u32 [a], %r0;\n" AT
     "call (b), %rd10, (a), P;\n}\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 0, "0x123", false},
};

Test(engine, faults_name_kind_line_block_and_thread)
{
    for (size_t k = 0; k < sizeof fault_cases / sizeof *fault_cases; k++)
        for (int threads = 1; threads <= 3; threads++) {
            const struct fault_case *c = &fault_cases[k];
            struct program p = {.body = c->body,
                                .globals = c->globals,
                                .grid = c->grid,
                                .block = c->block,
                                .threads = threads,
                                .check = c->check,
                                .step_limit = 200000};
            const struct outcome *o = engine_run(&p);
            const struct sim_fault *f = &o->fault;
            cr_assert_eq(o->launch, CUDA_SUCCESS, "%s: %s", c->name, o->error);
            cr_assert_eq(o->fault_count, 1, "%s: %d faults", c->name, o->fault_count);
            cr_assert_eq(f->kind, c->kind, "%s: %s: %s", c->name, sim_fault_name(f->kind),
                         f->detail);
            cr_assert_eq(f->line, 77, "%s: line %d: %s", c->name, f->line, f->detail);
            cr_assert_str_eq(f->file, "kernel.cu");
            cr_assert_str_eq(f->kernel, "k");
            cr_assert_eq(f->block[0], c->fault_block, "%s: block %u", c->name,
                         f->block[0]);
            cr_assert_eq(f->thread[0], c->fault_thread, "%s: thread %u: %s", c->name,
                         f->thread[0], f->detail);
            cr_assert(strstr(f->detail, c->detail), "%s: %s", c->name, f->detail);
            cr_assert_neq(o->sync, CUDA_SUCCESS, "%s: the driver says success", c->name);
            if (!c->check)
                continue;
            p.check = false;
            cr_assert_eq(engine_run(&p)->fault_count, 0, "%s without --check", c->name);
        }
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
