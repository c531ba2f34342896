/* The race checker (host/sim/check_order.c, check_access.c): what is a race, and what
 * orders two accesses. In all programs lines are counted by .loc: 10 for the first access,
 * 20 for the one that must not come so. */
#include "engine.h"

#define SHARED ".shared .align 16 .b8 tile[4096];\n"
#define MINE "shl.b32 %r7, %r0, 2;\nmov.u32 %r8, tile;\nadd.u32 %r7, %r7, %r8;\n"
#define STORE ".loc 1 10 0\nst.shared.u32 [%r7], %r0;\n"
/* the word of another thread */
#define OTHERS(n) "xor.b32 %r9, %r7, 4*" #n ";\n"
#define LOAD ".loc 1 20 0\nld.shared.u32 %r10, [%r9];\nst.global.u32 [%rd1], %r10;\n"
#define ONLY(lanes) "setp.lt.u32 %p1, %r0, " #lanes ";\n"

struct race_case {
    const char *what, *body;
    unsigned grid, block;
    enum sim_fault_kind kind; /* SIM_FAULT_KINDS: none */
    int line, other; /* where the fault is, and the line that its text names; or turned */
};
#define NONE SIM_FAULT_KINDS

static const struct race_case cases[] = {
    /* barriers */
    {"a barrier orders", MINE STORE "bar.sync 0;\n" OTHERS(32) LOAD, 1, 64, NONE, 0, 0},
    {"no barrier", MINE STORE OTHERS(32) LOAD, 1, 64, SIM_RACE_SHARED, 20, 10},
    {"write after read",
     MINE "st.shared.u32 [%r7], 1;\nbar.sync 0;\n" OTHERS(
         32) ".loc 1 10 0\nld.shared.u32 %r10, [%r9];\n"
             ".loc 1 20 0\nst.shared.u32 [%r7], %r10;\n",
     1, 64, SIM_RACE_SHARED, 20, 10},
    {"write after write",
     MINE STORE OTHERS(32) ".loc 1 20 0\nst.shared.u32 [%r9], %r0;\n", 1, 64,
     SIM_RACE_SHARED, 20, 10},
    {"writes of the same value", MINE "st.shared.u32 [tile], 7;\n", 1, 64, NONE, 0, 0},
    {"a lane's own words",
     MINE STORE "ld.shared.u32 %r10, [%r7];\n"
                "st.shared.u32 [%r7], 3;\n",
     1, 64, NONE, 0, 0},
    {"a barrier for all by count", MINE STORE "bar.sync 1, 64;\n" OTHERS(32) LOAD, 1, 64,
     NONE, 0, 0},
    {"half a block's barrier does not order the others",
     MINE STORE
     "setp.lt.u32 %p1, %r0, 64;\n@%p1 bra $low;\nbar.sync 2, 64;\nbra.uni $go;\n"
     "$low:\nbar.sync 1, 64;\n$go:\n" OTHERS(64) LOAD,
     1, 128, SIM_RACE_SHARED, 20, 10},
    {"half a block's barrier orders its own",
     MINE STORE
     "setp.lt.u32 %p1, %r0, 64;\n@%p1 bra $low;\nbar.sync 2, 64;\nbra.uni $go;\n"
     "$low:\nbar.sync 1, 64;\n$go:\n" OTHERS(32) LOAD,
     1, 128, NONE, 0, 0},
    {"arrive and sync hand over",
     MINE ONLY(32) "@%p1 bra $give;\nbar.sync 1, 64;\n" OTHERS(32) LOAD
     "bra.uni $end;\n$give:\n" STORE "bar.arrive 1, 64;\n$end:\n",
     1, 64, NONE, 0, 0},
    {"a write after bar.arrive",
     MINE ONLY(32) "@%p1 bra $give;\nbar.sync 1, 64;\n" OTHERS(32) LOAD
     "bra.uni $end;\n$give:\n"
     "st.shared.u32 [%r7], 1;\nbar.arrive 1, 64;\n" STORE "$end:\n",
     1, 64, SIM_RACE_SHARED, 20, 10},
    /* lanes of a warp */
    {"bar.warp.sync orders", MINE STORE "bar.warp.sync 0xffffffff;\n" OTHERS(1) LOAD, 1,
     32, NONE, 0, 0},
    {"no bar.warp.sync", MINE STORE OTHERS(1) LOAD, 1, 32, SIM_RACE_SHARED, 20, 10},
    {"a shuffle orders nothing",
     MINE STORE "shfl.sync.bfly.b32 %r11, %r0, 1, 31, 0xffffffff;\n" OTHERS(1) LOAD, 1,
     32, SIM_RACE_SHARED, 20, 10},
    {"a warp's barrier is not the block's",
     MINE STORE "bar.warp.sync 0xffffffff;\n" OTHERS(32) LOAD, 1, 64, SIM_RACE_SHARED, 20,
     10},
    {"half a warp's barrier orders that half",
     MINE STORE
     "mov.u32 %r12, 0xffff;\nsetp.lt.u32 %p1, %r0, 16;\n@!%p1 mov.u32 %r12, 0xffff0000;\n"
     "bar.warp.sync %r12;\n" OTHERS(1) LOAD,
     1, 32, NONE, 0, 0},
    {"half a warp's barrier does not order the other half",
     MINE STORE
     "mov.u32 %r12, 0xffff;\nsetp.lt.u32 %p1, %r0, 16;\n@!%p1 mov.u32 %r12, 0xffff0000;\n"
     "bar.warp.sync %r12;\n" OTHERS(16) LOAD,
     1, 32, SIM_RACE_SHARED, 20, 10},
    {"all lanes read what one then writes",
     MINE "st.shared.u32 [%r7], 1;\nbar.sync 0;\n.loc 1 10 0\nld.shared.u32 %r10, "
          "[tile];\n" ONLY(1) ".loc 1 20 0\n@%p1 st.shared.u32 [tile], %r10;\n",
     1, 32, SIM_RACE_SHARED, 20, 0},
    /* strong accesses */
    {"atomics on one word", "red.shared.add.u32 [tile], 1;\n", 1, 64, SIM_UNINITIALIZED,
     0, 0},
    {"atomics on one word that was set",
     MINE "st.shared.u32 [%r7], 0;\nbar.sync 0;\n"
          "red.shared.add.u32 [tile], 1;\n",
     1, 64, NONE, 0, 0},
    {"an atomic and a plain read",
     MINE "st.shared.u32 [%r7], 0;\nbar.sync 0;\n"
          ".loc 1 10 0\nred.shared.add.u32 [tile], 1;\n"
          ".loc 1 20 0\nld.shared.u32 %r10, [tile];\n",
     1, 64, SIM_RACE_SHARED, 20, 10},
    {"volatile accesses",
     MINE "st.volatile.shared.u32 [%r7], %r0;\n" OTHERS(
         32) "ld.volatile.shared.u32 %r10, [%r9];\n",
     1, 64, NONE, 0, 0},
    /* between blocks */
    {"blocks on their own words", "st.global.u32 [%rd1], 1;\n", 4, 32, NONE, 0, 0},
    {"blocks on one word", ".loc 1 20 0\nst.global.u32 [%rd0], %r1;\n", 2, 1,
     SIM_RACE_GLOBAL, 20, 20},
    {"blocks add to one word",
     "ld.global.u32 %r7, [%rd0];\nadd.u32 %r7, %r7, 1;\n"
     ".loc 1 20 0\nst.global.u32 [%rd0], %r7;\n",
     2, 1, SIM_RACE_GLOBAL, 0, 20},
    {"blocks add atomically", "red.global.add.u32 [%rd0], 1;\n", 4, 32, NONE, 0, 0},
    {"atomics of block scope between blocks",
     ".loc 1 20 0\nred.relaxed.cta.global.add.u32 [%rd0], 1;\n", 2, 1, SIM_RACE_GLOBAL,
     20, 20},
/* block 0 writes word 8, then sets word 0; block 1 waits for that and reads word 8 */
#define HAND_OVER(release, acquire)                      \
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $take;\n"        \
    ".loc 1 10 0\nst.global.u32 [%rd0+32], 5;\n" release \
    "bra.uni $end;\n$take:\n" acquire                    \
    ".loc 1 20 0\nld.global.u32 %r8, [%rd0+32];\nst.global.u32 [%rd0+64], %r8;\n$end:\n"
#define SET "atom.global.exch.b32 %r7, [%rd0], 1;\n"
#define POLL                                                                  \
    "$poll:\nld.volatile.global.u32 %r7, [%rd0];\nsetp.eq.u32 %p2, %r7, 0;\n" \
    "@%p2 bra $poll;\n"
    {"fence, flag, fence", HAND_OVER("membar.gl;\n" SET, POLL "membar.gl;\n"), 2, 1, NONE,
     0, 0},
    {"no fence before the flag", HAND_OVER(SET, POLL "membar.gl;\n"), 2, 1,
     SIM_RACE_GLOBAL, 20, 10},
    {"a fence for the block only", HAND_OVER("membar.cta;\n" SET, POLL "membar.gl;\n"), 2,
     1, SIM_RACE_GLOBAL, 20, 10},
    {"no fence after the flag", HAND_OVER("membar.gl;\n" SET, POLL), 2, 1,
     SIM_RACE_GLOBAL, 20, 10},
    {"all fence, then one sets the flag; one waits, then all fence",
     "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $take;\n"
     "st.global.u32 [%rd1+512], %r0;\nmembar.gl;\nbar.sync 0;\n"
     "setp.eq.u32 %p2, %r0, 0;\n@%p2 st.volatile.global.u32 [%rd0], 1;\nbra.uni $end;\n"
     "$take:\nsetp.ne.u32 %p2, %r0, 0;\n@%p2 bra $meet;\n" POLL "$meet:\nbar.sync 0;\n"
     "membar.gl;\nmul.wide.u32 %rd3, %r0, 4;\nadd.u64 %rd3, %rd3, %rd0;\n"
     "ld.global.u32 %r8, [%rd3+512];\nst.global.u32 [%rd1+2048], %r8;\n$end:\n",
     2, 64, NONE, 0, 0},
    {"the fence before last does not do",
     "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $take;\n"
     "membar.gl;\nbar.sync 0;\n.loc 1 10 0\nst.global.u32 [%rd1+512], %r0;\nbar.sync 0;\n"
     "setp.eq.u32 %p2, %r0, 0;\n@%p2 st.volatile.global.u32 [%rd0], 1;\nbra.uni $end;\n"
     "$take:\nsetp.ne.u32 %p2, %r0, 0;\n@%p2 bra $meet;\n" POLL "$meet:\nbar.sync 0;\n"
     "membar.gl;\nmul.wide.u32 %rd3, %r0, 4;\nadd.u64 %rd3, %rd3, %rd0;\n"
     ".loc 1 20 0\nld.global.u32 %r8, [%rd3+512];\nst.global.u32 [%rd1+2048], "
     "%r8;\n$end:\n",
     2, 64, SIM_RACE_GLOBAL, 20, 10},
    {"release and acquire",
     HAND_OVER(
         "st.release.gpu.global.u32 [%rd0], 1;\n",
         "$poll:\nld.acquire.gpu.global.u32 %r7, [%rd0];\nsetp.eq.u32 %p2, %r7, 0;\n"
         "@%p2 bra $poll;\n"),
     2, 1, NONE, 0, 0},
    {"the flag before the data", HAND_OVER("", POLL "membar.gl;\n") SET, 2, 1,
     SIM_RACE_GLOBAL, 20, 10},
    {"a chain of flags",
     "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $first;\n"
     "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd0;\n"
     "$poll:\nld.volatile.global.u32 %r7, [%rd3];\nsetp.eq.u32 %p2, %r7, 0;\n"
     "@%p2 bra $poll;\nmembar.gl;\nld.global.u32 %r8, [%rd0+256];\n"
     "st.global.u32 [%rd3+512], %r8;\nbra.uni $pass;\n"
     "$first:\nst.global.u32 [%rd0+256], 5;\n"
     "$pass:\nmul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd4, %rd4, %rd0;\n"
     "membar.gl;\natom.global.exch.b32 %r9, [%rd4+4], 1;\n",
     4, 1, NONE, 0, 0},
    /* in a block, by a flag in shared memory */
    {"fence and flag in a block",
     MINE "st.shared.u32 [%r7], 0;\nbar.sync 0;\n" ONLY(
         32) "@!%p1 bra $take;\nst.shared.u32 [%r7+1024], 9;\nmembar.cta;\n"
             "bar.warp.sync 0xffffffff;\n"
             "setp.eq.u32 %p2, %r0, 0;\n@%p2 atom.shared.exch.b32 %r11, [tile], 1;\n"
             "bra.uni $end;\n$take:\n$poll:\natom.shared.add.u32 %r12, [tile], 0;\n"
             "setp.eq.u32 %p3, %r12, 0;\n@%p3 bra $poll;\nmembar.cta;\n"
             "ld.shared.u32 %r13, [%r7+896];\n$end:\n",
     1, 64, NONE, 0, 0},
    /* small pieces */
    {"bytes of one word",
     "add.u32 %r7, %r0, 0;\nmov.u32 %r8, tile;\nadd.u32 %r7, %r7, %r8;\n"
     "st.shared.u8 [%r7], %r0;\nld.shared.u8 %r9, [%r7];\n",
     1, 64, NONE, 0, 0},
    {"a word over bytes",
     "add.u32 %r7, %r0, 0;\nmov.u32 %r8, tile;\nadd.u32 %r7, %r7, %r8;\n"
     ".loc 1 10 0\nst.shared.u8 [%r7], %r0;\n.loc 1 20 0\nld.shared.u32 %r9, [tile];\n",
     1, 2, SIM_RACE_SHARED, 20, 10},
};

static const struct outcome *run_case(const struct race_case *c, bool check)
{
    return engine_run(&(struct program){.body = c->body,
                                        .globals = SHARED,
                                        .grid = c->grid,
                                        .block = c->block,
                                        .check = check,
                                        .step_limit = 200000});
}

/* The fault is at one line and tells of the other (0: tells of none). */
static bool names(const struct sim_fault *fault, int line, int other)
{
    char named[32];
    snprintf(named, sizeof named, "kernel.cu:%d ", other);
    return fault->line == line && (other == 0 || strstr(fault->detail, named) != NULL);
}

Test(races, are_found_and_nothing_else)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct race_case *c = &cases[i];
        const struct outcome *o = run_case(c, true);
        cr_assert_eq(o->launch, CUDA_SUCCESS, "%s: %s", c->what, o->error);
        if (c->kind == NONE) {
            cr_expect_eq(o->fault_count, 0, "%s: %s, line %d: %s", c->what,
                         sim_fault_name(o->fault.kind), o->fault.line, o->fault.detail);
            continue;
        }
        cr_expect(o->fault_count > 0 && o->fault.kind == c->kind, "%s: %d faults, %s: %s",
                  c->what, o->fault_count, sim_fault_name(o->fault.kind),
                  o->fault.detail);
        cr_expect(c->line == 0 || names(&o->fault, c->line, c->other) ||
                      names(&o->fault, c->other, c->line),
                  "%s: lines %d and %d, not %d: %s", c->what, c->line, c->other,
                  o->fault.line, o->fault.detail);
    }
}

Test(races, are_not_looked_for_in_a_plain_run)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cases[i].kind == SIM_RACE_SHARED || cases[i].kind == SIM_RACE_GLOBAL)
            cr_expect_eq(run_case(&cases[i], false)->fault_count, 0, "%s", cases[i].what);
}

/* The words of the reader and of the writer name both threads. */
Test(races, name_both_threads)
{
    const struct outcome *o = run_case(&cases[1], true);
    cr_expect(o->fault.thread[0] == 32 && strstr(o->fault.detail, "thread (0,0,0)") &&
                  strstr(o->fault.detail, "read"),
              "thread %u: %s", o->fault.thread[0], o->fault.detail);
    o = engine_run(&(struct program){.body = HAND_OVER(SET, POLL "membar.gl;\n"),
                                     .grid = 2,
                                     .block = 1,
                                     .check = true,
                                     .step_limit = 200000});
    cr_expect(o->fault.block[0] == 1 && strstr(o->fault.detail, "of block 0"), "%s",
              o->fault.detail);
}

/* More accesses than the log takes: old ones are forgotten, none is made up. */
Test(races, long_launches_only_forget)
{
    engine_good(&(struct program){
        .body = MINE STORE "bar.sync 0;\nmov.u32 %r20, 0;\n"
                           "$turn:\nld.shared.u32 %r10, [%r7];\nadd.u32 %r10, %r10, 1;\n"
                           "st.shared.u32 [%r7], %r10;\nst.global.u32 [%rd1], %r10;\n"
                           "bar.sync 0;\nadd.u32 %r20, %r20, 1;\n"
                           "setp.lt.u32 %p1, %r20, 600000;\n@%p1 bra $turn;\n",
        .globals = SHARED,
        .block = 32,
        .check = true});
}
