/* test_lessons.c - every number that the pages of lessons 1 to 7 claim. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

enum { N = 512 };
static const uint64_t CUBE = (uint64_t)N * N * N;

static void run_rung(const char *name, struct result *result)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    fixture_open("a100", 0, &device);
    cr_assert(rungs_load(&device, &list, &err), "%s", err.text);
    int found = -1;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.rungs[i].info.name, name) == 0)
            found = i;
    cr_assert_geq(found, 0, "no rung %s", name);
    fixture_bench(&device, &list.rungs[found], (struct size){N, N, N}, result);
    cr_assert_eq(result->verdict.kind, VERDICT_PASS, "%s: %s", name,
                 result->verdict.reason);
    rungs_free(&list);
    device_close(&device);
}

Test(lessons, lesson_1_sixteen_and_a_half_sectors_a_request)
{
    struct result r;
    run_rung("naive", &r);
    cr_expect_eq(2 * CUBE, 268435456);
    cr_expect_eq(r.counters.global_ld_requests, 2 * CUBE / 32);
    cr_expect_eq(r.counters.global_ld_sectors, 33 * CUBE / 32);
    cr_expect_eq(2 * r.counters.global_ld_sectors, 33 * r.counters.global_ld_requests);
    cr_expect_eq(r.bound_by, SIM_BOUND_L1, "%s", sim_bound_name(r.bound_by));
    cr_expect(r.tflops < 0.1 * 19.5, "%g TFLOPS", r.tflops);
}

Test(lessons, lesson_2_two_and_a_half_sectors_a_request)
{
    struct result naive, r;
    run_rung("naive", &naive);
    run_rung("coalesced", &r);
    cr_expect_eq(r.counters.global_ld_requests, naive.counters.global_ld_requests);
    cr_expect_eq(r.counters.global_ld_sectors, 5 * CUBE / 32);
    cr_expect_lt(r.time_ms, naive.time_ms);
}

Test(lessons, lesson_3_one_request_for_thirty_two)
{
    struct result coalesced, r;
    run_rung("coalesced", &coalesced);
    run_rung("shared_tile", &r);
    cr_expect_eq(coalesced.counters.global_ld_requests, 8388608);
    cr_expect_eq(r.counters.global_ld_requests, 262144);
    cr_expect_eq(4 * r.counters.shared_ld_requests, 5 * CUBE / 32);
    cr_expect_eq(4 * r.counters.shared_merged, 3 * CUBE / 32);
    cr_expect_eq(2 * r.counters.shared_ld_wavefronts, 3 * CUBE / 32);
    cr_expect_eq(r.counters.shared_ld_wavefronts, r.counters.shared_ld_wavefronts_ideal);
    cr_expect_eq(r.counters.shared_st_wavefronts, r.counters.shared_st_wavefronts_ideal);
    cr_expect_eq(r.bound_by, SIM_BOUND_SHARED, "%s", sim_bound_name(r.bound_by));
    cr_expect_lt(r.time_ms, coalesced.time_ms);
    cr_expect_gt(32 * r.time_ms, coalesced.time_ms);
}

Test(lessons, lesson_7_tensor_flops_are_the_multiply_adds)
{
    struct result tile, r;
    run_rung("shared_tile", &tile);
    run_rung("wmma", &r);
    cr_expect_eq(CUBE / 4096, 32768);
    cr_expect_eq(r.counters.tensor_flops, 2 * CUBE);
    cr_expect_gt(r.tflops, tile.tflops);
    cr_expect_lt(r.tflops / 312, tile.tflops / 19.5);
    cr_expect_lt(r.verdict.error, 1e-6);
}

/* Kernel headers promise these, for any size. */
Test(lessons, ladder_traffic_follows_the_tile)
{
    static const struct {
        const char *name;
        uint64_t bm, bn;
    } cases[] = {{"register_tile_1d", 64, 64},
                 {"register_tile_2d", 128, 128},
                 {"vector_loads", 128, 128},
                 {"warp_tile", 128, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result r;
        run_rung(cases[i].name, &r);
        uint64_t floats = CUBE / cases[i].bm + CUBE / cases[i].bn;
        uint64_t sectors = r.counters.global_ld_sectors + r.counters.async_sectors;
        cr_expect_eq(sectors, floats / 8, "%s: %llu sectors", cases[i].name,
                     (unsigned long long)sectors);
    }
}

/* Lessons 4 and 5: shared wavefronts of a warp for one step of k, and conflicts. */
Test(lessons, lessons_4_and_5_wavefronts_a_step)
{
    static const struct {
        const char *name;
        uint64_t outputs, wavefronts, ideal;
    } cases[] = {{"register_tile_1d", 8, 5, 5},
                 {"register_tile_2d", 64, 20, 12},
                 {"vector_loads", 64, 12, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result r;
        run_rung(cases[i].name, &r);
        uint64_t steps = CUBE / 32 / cases[i].outputs;
        cr_expect_eq(r.counters.shared_ld_wavefronts, steps * cases[i].wavefronts, "%s",
                     cases[i].name);
        cr_expect_eq(r.counters.shared_ld_wavefronts_ideal, steps * cases[i].ideal, "%s",
                     cases[i].name);
        cr_expect_eq(r.counters.shared_st_wavefronts,
                     r.counters.shared_st_wavefronts_ideal, "%s", cases[i].name);
    }
    cr_expect_eq((uint64_t)1024 * 1024 * 1024 / 256 * 5, 20971520);
    cr_expect_eq((uint64_t)1024 * 1024 * 1024 / 2048 * 20, 10485760);
    cr_expect_eq((uint64_t)1024 * 1024 * 1024 / 2048 * 12, 6291456);
}

Test(lessons, lesson_5_a_quarter_of_the_requests)
{
    struct result tile, r;
    run_rung("register_tile_2d", &tile);
    run_rung("vector_loads", &r);
    cr_expect_eq(4 * r.counters.global_ld_requests, tile.counters.global_ld_requests);
    cr_expect_eq(r.counters.global_ld_sectors, 16 * r.counters.global_ld_requests);
    cr_expect_eq(r.counters.global_ld_sectors, tile.counters.global_ld_sectors);
    double share =
        (double)r.counters.pipe[SIM_PIPE_FMA] / (double)r.counters.inst_executed;
    cr_expect(share > 0.85 && share < 0.95, "%g", share);
    cr_expect_eq(r.bound_by, SIM_BOUND_FMA, "%s", sim_bound_name(r.bound_by));
}

/* A copy's quarter-warp fills two rows of a_tile, 5 pieces of 16 bytes apart: the first
 * and the last of these 8 pieces meet in a group of banks. Those of b_tile do not. */
Test(lessons, lesson_6_reads_without_conflicts_copies_with)
{
    struct result r;
    run_rung("warp_tile", &r);
    uint64_t steps = CUBE / 32 / 64;
    cr_expect_eq(r.counters.shared_ld_wavefronts, steps * 12);
    cr_expect_eq(r.counters.shared_ld_wavefronts_ideal, steps * 12);
    cr_expect_eq(r.counters.shared_st_requests, 0);
    cr_expect_eq(2 * r.counters.async_wavefronts, 3 * r.counters.async_wavefronts_ideal);
}
