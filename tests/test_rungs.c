/* test_rungs.c - every rung, GPU and CPU, is right at every shape. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sim_fixture.h"

/* none square, few multiples of anything; 1 in every place; K = 0 is the CPU's test */
static const struct size shapes[] = {
    {1, 1, 1},   {1, 2, 3},     {2, 1, 300},   {300, 1, 2},    {35, 79, 19},
    {3, 3, 431}, {33, 31, 65},  {127, 129, 8}, {129, 127, 17}, {64, 128, 16},
    {97, 41, 1}, {17, 300, 33}, {300, 299, 7}, {255, 63, 95},
};

static void check_all(const struct device *device, const struct rung_list *list)
{
    for (int i = 0; i < list->count; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            const struct rung *rung = &list->rungs[i];
            struct result result;
            if (rung->is_exercise) /* tests/test_exercises.c */
                continue;
            fixture_bench(device, rung, shapes[s], &result);
            bool good = result.verdict.kind == VERDICT_PASS;
            /* tiny CPU runs may be shorter than the clock can tell: right all the same */
            good |= result.verdict.kind == VERDICT_TOO_FAST;
            cr_expect(good, "%s %zux%zux%zu on %s: %s (%s)", rung->info.name, shapes[s].m,
                      shapes[s].n, shapes[s].k, device->id,
                      verdict_name(result.verdict.kind), result.verdict.reason);
            result_free(&result);
        }
}

Test(rungs, gpu_rungs_are_right_at_odd_shapes)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    fixture_open("a100", 0, &device);
    cr_assert(rungs_load(&device, &list, &err), "%s", err.text);
    cr_expect_eq(list.broken_count, 0, "%s",
                 list.broken_count ? list.broken[0].text : "");
    cr_expect_geq(list.count, 4);
    check_all(&device, &list);
    rungs_free(&list);
    device_close(&device);
}

Test(rungs, cpu_rungs_are_right_at_odd_shapes)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    registry_init();
    device_open_cpu(&device);
    cr_assert(rungs_load(&device, &list, &err), "%s", err.text);
    cr_expect_geq(list.count, 3);
    check_all(&device, &list);
    rungs_free(&list);
}

Test(rungs, every_card_family_runs_the_ladder)
{
    static const char *const cards[] = {"t4", "a100", "3090", "4090", "h100"};
    for (size_t c = 0; c < sizeof cards / sizeof *cards; c++) {
        struct device device;
        struct rung_list list;
        struct error err = {0};
        fixture_open(cards[c], 0, &device);
        cr_assert(rungs_load(&device, &list, &err), "%s: %s", cards[c], err.text);
        for (int i = 0; i < list.count; i++) {
            struct result result;
            if (list.rungs[i].info.min_cc > device.cc || list.rungs[i].is_exercise)
                continue;
            fixture_bench(&device, &list.rungs[i], (struct size){70, 90, 40}, &result);
            cr_expect_eq(result.verdict.kind, VERDICT_PASS, "%s on %s: %s",
                         list.rungs[i].info.name, cards[c], result.verdict.reason);
            cr_expect(result.predicted && result.tflops > 0);
            result_free(&result);
        }
        rungs_free(&list);
        device_close(&device);
    }
}

/* Counts and results do not depend on the number of host threads. */
Test(rungs, counters_are_the_same_for_any_number_of_threads)
{
    static const int threads[] = {1, 2, 3, 8};
    struct sim_counters first[32];
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct device device;
        struct rung_list list;
        struct error err = {0};
        fixture_open("a100", threads[t], &device);
        cr_assert(rungs_load(&device, &list, &err), "%s", err.text);
        for (int i = 0; i < list.count && i < 32; i++) {
            struct result result;
            fixture_bench(&device, &list.rungs[i], (struct size){130, 140, 50}, &result);
            if (t == 0)
                first[i] = result.counters;
            cr_expect_eq(memcmp(&first[i], &result.counters, sizeof first[i]), 0,
                         "%s with %d threads", list.rungs[i].info.name, threads[t]);
            result_free(&result);
        }
        rungs_free(&list);
        device_close(&device);
    }
}

/* The sampled run checks only what ran, and says so. */
Test(rungs, big_sizes_are_sampled)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    struct result result;
    struct bench_options options = {
        .seed = 7, .alpha = 1, .verify = true, .sample_blocks = 10};
    fixture_open("a100", 0, &device);
    cr_assert(rungs_load(&device, &list, &err), "%s", err.text);
    bench_run(&device, &list.rungs[0], (struct size){500, 500, 100}, &options, &result);
    cr_expect_eq(result.verdict.kind, VERDICT_PASS, "%s", result.verdict.reason);
    cr_expect(result.sampled);
    const struct kernel_info *info = &list.rungs[0].info;
    cr_expect_leq(result.verdict.cells, (size_t)(10 * info->bm * info->bn));
    cr_expect_gt(result.verdict.cells, 0);
    result_free(&result);
    rungs_free(&list);
    device_close(&device);
}
