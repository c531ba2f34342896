/* Memory and registers that were never written (host/sim/check_values.c). Line 10: where
 * the undefined value comes in; line 20: where it matters. */
#include "engine.h"

#define TILE ".shared .align 16 .b8 tile[4096];\n"
#define MINE "shl.b32 %r7, %r0, 2;\nmov.u32 %r8, tile;\nadd.u32 %r7, %r7, %r8;\n"

struct undefined_case {
    const char *what, *body;
    bool fault;
    const char *text;
};

static const struct undefined_case cases[] = {
    {"shared memory, stored",
     MINE ".loc 1 10 0\nld.shared.u32 %r9, [%r7];\n.loc 1 20 0\nst.global.u32 [%rd1], "
          "%r9;\n",
     true, "memory"},
    {"shared memory, written before",
     MINE
     "st.shared.u32 [%r7], 1;\nld.shared.u32 %r9, [%r7];\nst.global.u32 [%rd1], %r9;\n",
     false, NULL},
    {"computed with, then stored",
     MINE
     ".loc 1 10 0\nld.shared.f32 %f1, [%r7];\n.loc 1 15 0\nadd.f32 %f2, %f1, "
     "0f3f800000;\nmul.f32 %f3, %f2, %f2;\n.loc 1 20 0\nst.global.f32 [%rd1], %f3;\n",
     true, "memory"},
    {"computed with, and of no interest",
     MINE "ld.shared.f32 %f1, [%r7];\nadd.f32 %f2, %f1, 0f3f800000;\n", false, NULL},
    {"decides a branch",
     MINE ".loc 1 10 0\nld.shared.u32 %r9, [%r7];\nsetp.eq.u32 %p1, %r9, 0;\n"
          ".loc 1 20 0\n@%p1 bra $x;\nst.global.u32 [%rd1], 1;\n$x:\n",
     true, "branch"},
    {"is an address",
     MINE ".loc 1 10 0\nld.shared.u32 %r9, [%r7];\nand.b32 %r9, %r9, 0;\n"
          "add.u32 %r10, %r9, %r8;\n.loc 1 20 0\nld.shared.u32 %r11, [%r10];\n",
     true, "address"},
    {"copied through shared memory",
     MINE ".loc 1 10 0\nld.shared.u32 %r9, [%r7];\nst.shared.u32 [%r7+2048], %r9;\n"
          ".loc 1 10 0\nld.shared.u32 %r10, [%r7+2048];\n"
          ".loc 1 20 0\nst.global.u32 [%rd1], %r10;\n",
     true, "memory"},
    {"padding of a structure that is copied",
     MINE "mad.lo.u32 %r7, %r0, 12, %r7;\nst.shared.u64 [%r7], %rd0;\n"
          "st.shared.u32 [%r7+8], %r0;\nld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r7];\n"
          "mad.wide.u32 %rd2, %r0, 16, %rd0;\n"
          "st.global.v4.u32 [%rd2], {%r10,%r11,%r12,%r13};\n",
     false, NULL},
    {"padding that is used",
     MINE "mad.lo.u32 %r7, %r0, 12, %r7;\nst.shared.u64 [%r7], %rd0;\n"
          "st.shared.u32 [%r7+8], %r0;\n.loc 1 10 0\n"
          "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r7];\n"
          ".loc 1 20 0\nst.global.u32 [%rd1], %r13;\n",
     true, "memory"},
    {"a register",
     ".loc 1 10 0\nadd.u32 %r10, %r20, 1;\n.loc 1 20 0\nst.global.u32 [%rd1], %r10;\n",
     true, "register"},
    {"a register that some lanes set",
     "setp.lt.u32 %p1, %r0, 16;\n@%p1 mov.u32 %r20, 1;\n.loc 1 10 0\n"
     "add.u32 %r10, %r20, 1;\n.loc 1 20 0\nst.global.u32 [%rd1], %r10;\n",
     true, "register"},
    {"a register that these lanes set",
     "setp.lt.u32 %p1, %r0, 16;\n@%p1 mov.u32 %r20, 1;\nadd.u32 %r10, %r20, 1;\n"
     "@%p1 st.global.u32 [%rd1], %r10;\n",
     false, NULL},
    {"half of a register",
     ".loc 1 10 0\nmov.b32 %r10, {%h1, %h2};\nmov.u32 %r11, %r10;\n.loc 1 20 0\n"
     "st.global.u32 [%rd1], %r11;\n",
     true, "register"},
    {"local memory",
     ".local .align 4 .b8 mine[64];\n.loc 1 10 0\nld.local.u32 %r10, [mine+8];\n"
     ".loc 1 20 0\nst.global.u32 [%rd1], %r10;\n",
     true, "memory"},
    {"local memory, written before",
     ".local .align 4 .b8 mine[64];\nst.local.u32 [mine+8], 1;\n"
     "ld.local.u32 %r10, [mine+8];\nst.global.u32 [%rd1], %r10;\n",
     false, NULL},
    {"an atomic", MINE ".loc 1 10 0\nred.shared.add.u32 [%r7], 1;\n", true, "atomic"},
    {"a barrier's vote",
     "setp.eq.u32 %p1, %r0, 0;\nbar.red.popc.u32 %r9, 0, %p1;\n"
     "st.global.u32 [%rd1], %r9;\n",
     false, NULL},
};

Test(undefined, values_are_found_where_they_matter)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct undefined_case *c = &cases[i];
        const struct outcome *o = engine_run(
            &(struct program){.body = c->body, .globals = TILE, .check = true});
        cr_assert_eq(o->launch, CUDA_SUCCESS, "%s: %s", c->what, o->error);
        cr_expect_eq(o->fault_count, c->fault, "%s: %d faults: %s", c->what,
                     o->fault_count, o->fault.detail);
        if (!c->fault || o->fault_count == 0)
            continue;
        cr_expect_eq(o->fault.kind, SIM_UNINITIALIZED, "%s: %s", c->what,
                     sim_fault_name(o->fault.kind));
        cr_expect_eq(o->fault.line, 10, "%s: line %d", c->what, o->fault.line);
        cr_expect_not_null(strstr(o->fault.detail, c->text), "%s: %s", c->what,
                           o->fault.detail);
    }
}

Test(undefined, values_are_not_looked_for_in_a_plain_run)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct outcome *o =
            engine_run(&(struct program){.body = cases[i].body, .globals = TILE});
        cr_expect(o->fault_count == 0 || o->fault.kind == SIM_OUT_OF_BOUNDS, "%s: %s",
                  cases[i].what, o->fault.detail);
    }
}
