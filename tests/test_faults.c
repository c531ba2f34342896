/* test_faults.c - a fault stops the launch and names kind, source line, block and
 * thread, the same for any number of host threads. */
#include "engine.h"

struct fault_case {
    const char *name, *globals, *body;
    enum sim_fault_kind kind;
    unsigned grid, block, fault_block, fault_thread;
    const char *detail; /* must be in the text */
    bool check;         /* needs --check */
};

#define AT ".loc 1 77 0\n"

static const char one_function[] = ".func (.param .u32 ret) f(.param .u32 n)\n"
                                   "{\n"
                                   ".reg .b32 %r<2>;\n"
                                   "ld.param.u32 %r1, [n];\n"
                                   "st.param.u32 [ret], %r1;\n"
                                   "ret;\n"
                                   "}\n";

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
    /* what others do behind the waiting vote, not in a branch of their own */
    {"member goes around a vote", NULL,
     "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra E;\n" AT
     "vote.sync.any.pred %p2, %p1, -1;\nE: st.global.u32 [%rd1], %r0;\n",
     SIM_BAD_MASK, 1, 32, 0, 0, "0xffffff00 go another way", true},
    {"inlined from a header of the toolkit",
     ".file 2 \"/opt/include/atomics.hpp\"\n.file 3 \"/opt/include/more.h\"\n",
     ".loc 3 8 1, function_name $L_info, inlined_at 1 77 5\n"
     ".loc 2 9 1, function_name $L_info+4, inlined_at 3 8 1\n"
     "atom.global.add.u32 %r10, [%rd0+-4], 1;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 0, "4 bytes before", false},
    {"inlined from the same file", NULL,
     ".loc 1 77 1, function_name $L_info, inlined_at 1 12 5\n"
     "atom.global.add.u32 %r10, [%rd0+-4], 1;\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 0, "4 bytes before", false},
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
    {"call through a wrong pointer", one_function,
     "mov.u64 %rd10, 0x123;\n{ .param .u32 a; .param .u32 b;\n"
     "P: .callprototype (.param .u32 _) _ (.param .u32 _);\nst.param.u32 [a], %r0;\n" AT
     "call (b), %rd10, (a), P;\n}\n",
     SIM_OUT_OF_BOUNDS, 1, 32, 0, 0, "0x123", false},
};

Test(faults, faults_name_kind_line_block_and_thread)
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
