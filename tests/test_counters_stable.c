/* test_counters_stable.c - results and counters do not depend on how many host threads
 * share the blocks, nor on what ran before. */
#include "engine.h"
#include "sim_fixture.h"

enum { THREAD_COUNTS = 4, REPLAYS = 1000 };
static const int thread_counts[THREAD_COUNTS] = {1, 2, 3, 8};

/* All a run leaves that is a matter of the kernel: what C holds shows in the error. */
struct left {
    struct verdict verdict;
    struct sim_counters counters;
    double time_ms;
};

static int run_rungs(int threads, struct size size, struct left *left, int most)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    fixture_open("a100", threads, &device);
    cr_assert(rungs_load(&device, &list, &err), "%s", err.text);
    cr_assert_leq(list.count, most);
    int count = 0;
    for (int i = 0; i < list.count; i++) {
        struct result r;
        if (list.rungs[i].is_exercise) /* wrong as it comes */
            continue;
        fixture_bench(&device, &list.rungs[i], size, &r);
        cr_assert_eq(r.verdict.kind, VERDICT_PASS, "%s, %d threads: %s",
                     list.rungs[i].info.name, threads, r.verdict.reason);
        cr_assert(r.has_counters);
        left[count++] = (struct left){r.verdict, r.counters, r.time_ms};
        result_free(&r);
    }
    rungs_free(&list);
    device_close(&device);
    return count;
}

Test(counters_stable, rungs_count_the_same_with_any_number_of_threads)
{
    enum { MOST = 64 };
    static const struct size size = {131, 67, 45};
    static struct left first[MOST], now[MOST];
    int count = run_rungs(thread_counts[0], size, first, MOST);
    cr_assert_geq(count, 7);
    for (int t = 1; t < THREAD_COUNTS; t++) {
        cr_assert_eq(run_rungs(thread_counts[t], size, now, MOST), count);
        for (int i = 0; i < count; i++) {
            cr_expect_arr_eq(&now[i].counters, &first[i].counters,
                             sizeof first[i].counters, "rung %d, %d threads", i,
                             thread_counts[t]);
            cr_expect(now[i].verdict.error == first[i].verdict.error &&
                          now[i].verdict.got == first[i].verdict.got &&
                          now[i].time_ms == first[i].time_ms,
                      "rung %d, %d threads: error %g, got %g, %g ms; not %g, %g, %g", i,
                      thread_counts[t], now[i].verdict.error, now[i].verdict.got,
                      now[i].time_ms, first[i].verdict.error, first[i].verdict.got,
                      first[i].time_ms);
        }
    }
}

/* Warps exchange words through shared memory, blocks add to a sum that all share; lanes
 * go separate ways, and the last warp is not full. */
Test(counters_stable, a_thousand_replays_are_alike)
{
    static struct outcome first;
    const struct program program = {
        .globals = ".shared .align 4 .b8 tile[400];\n.shared .align 4 .u32 sum;\n",
        .body = "mov.u32 %r10, tile;\n"
                "mad.lo.u32 %r11, %r0, 4, %r10;\n"
                "mul.lo.u32 %r12, %r3, 2654435761;\n"
                "st.shared.u32 [%r11], %r12;\n"
                "setp.eq.u32 %p0, %r0, 0;\n"
                "mov.u32 %r13, 0;\n"
                "@%p0 st.shared.u32 [sum], %r13;\n"
                "bar.sync 0;\n"
                "sub.u32 %r14, 98, %r0;\n"
                "mad.lo.u32 %r14, %r14, 4, %r10;\n"
                "ld.shared.u32 %r15, [%r14];\n"
                "and.b32 %r16, %r15, 1;\n"
                "setp.eq.u32 %p1, %r16, 0;\n"
                "@%p1 bra EVEN;\n"
                "atom.shared.add.u32 %r17, [sum], %r15;\n"
                "EVEN:\n"
                "bar.sync 0;\n"
                "ld.shared.u32 %r18, [sum];\n"
                "st.global.u32 [%rd1+4], %r18;\n"
                "red.global.add.u32 [%rd0], %r15;\n",
        .grid = 7,
        .block = 99};
    for (int i = 0; i < REPLAYS; i++) {
        struct program p = program;
        p.threads = thread_counts[i % THREAD_COUNTS];
        const struct outcome *o = engine_good(&p);
        if (i == 0)
            first = *o;
        cr_assert_arr_eq(&o->counters, &first.counters, sizeof first.counters,
                         "replay %d, %d threads", i, p.threads);
        cr_assert_arr_eq(o->out, first.out, sizeof first.out, "replay %d, %d threads", i,
                         p.threads);
    }
    cr_expect_eq(first.counters.warps, 28);
    cr_expect_neq(first.out[0], 0);
    cr_expect_gt(first.counters.branches_divergent, 0);
}
