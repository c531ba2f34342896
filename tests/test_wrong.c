/* test_wrong.c - the verdict is proven: each planted wrong kernel is rejected, for its
 * own reason, by the same bench that runs the rungs. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

extern struct gpu_image wrong_images[];
extern const int wrong_image_count;
void wrong_init(void);

static const struct {
    const char *name;
    enum verdict_kind kind;
    const char *reason; /* a piece of it */
} expected[] = {
    {"barrier_in_branch", VERDICT_FAULT, "barrier_divergence"},
    {"changes_input", VERDICT_INPUT_CHANGED, "input A"},
    {"dropped_k", VERDICT_TOO_FAR, "last product of k is missing"},
    {"first_k_twice", VERDICT_TOO_FAR, "too far off"},
    {"half_sum", VERDICT_WRONG_PRECISION, "FP16 sums"},
    {"ignores_alpha", VERDICT_TOO_FAR, "too far off"},
    {"last_tile", VERDICT_NOT_WRITTEN, "not written"},
    {"no_barrier", VERDICT_NOT_FINITE, "NaN or Inf"}, /* or stale numbers: see below */
    {"no_guard", VERDICT_FAULT, "out_of_bounds"},
    {"reads_c", VERDICT_NOT_FINITE, "NaN or Inf"},
    {"swapped_index", VERDICT_TOO_FAR, "too far off"},
    {"tile_no_zero", VERDICT_TOO_FAR, "too far off"},
    {"transposed_c", VERDICT_NOT_WRITTEN, "not written"},
    {"writes_nan", VERDICT_NOT_FINITE, "NaN or Inf"},
    {"writes_nothing", VERDICT_NOT_WRITTEN, "not written"},
    {"writes_outside", VERDICT_FAULT, "past the end of"},
};

/* On a real GPU nobody checks accesses: there the guard zones must do it. The device
 * behind the driver's functions is the simulated one. */
Test(wrong, guard_zones_find_writes_outside)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    int found = 0;
    wrong_init();
    fixture_open("a100", 0, &device);
    device.backend = BACKEND_GPU;
    cr_assert(rungs_load_images(&device, wrong_images, wrong_image_count, &list, &err));
    for (int i = 0; i < list.count; i++) {
        struct result result;
        if (strcmp(list.rungs[i].info.name, "writes_outside") != 0)
            continue;
        fixture_bench(&device, &list.rungs[i], (struct size){64, 64, 64}, &result);
        cr_expect_eq(result.verdict.kind, VERDICT_WROTE_OUTSIDE, "%s",
                     result.verdict.reason);
        cr_expect(strstr(result.verdict.reason, "4 bytes behind matrix C") != NULL, "%s",
                  result.verdict.reason);
        result_free(&result);
        found++;
    }
    cr_expect_eq(found, 1);
    rungs_free(&list);
    device_close(&device);
}

Test(wrong, every_planted_kernel_is_rejected_for_its_reason)
{
    struct device device;
    struct rung_list list;
    struct error err = {0};
    wrong_init();
    fixture_open("a100", 0, &device);
    cr_assert(rungs_load_images(&device, wrong_images, wrong_image_count, &list, &err),
              "%s", err.text);
    size_t wanted = sizeof expected / sizeof *expected;
    cr_expect_eq(list.broken_count, 0, "%s",
                 list.broken_count ? list.broken[0].text : "");
    cr_assert_eq((size_t)list.count, wanted, "%d kernels, %zu expected", list.count,
                 wanted);
    for (int i = 0; i < list.count; i++) {
        const char *name = list.rungs[i].info.name;
        size_t e = 0;
        while (e < wanted && strcmp(expected[e].name, name) != 0)
            e++;
        cr_assert(e < wanted, "no expectation for %s", name);
        struct result result;
        fixture_bench(&device, &list.rungs[i], (struct size){64, 64, 64}, &result);
        /* what a race reads is anybody's guess: rubbish of the block before, or numbers */
        if (strcmp(name, "no_barrier") == 0 && result.verdict.kind == VERDICT_TOO_FAR) {
            result_free(&result);
            continue;
        }
        cr_expect_eq(result.verdict.kind, expected[e].kind, "%s: %s (%s)", name,
                     verdict_name(result.verdict.kind), result.verdict.reason);
        cr_expect(strstr(result.verdict.reason, expected[e].reason) != NULL, "%s: %s",
                  name, result.verdict.reason);
        cr_expect_eq(result.tflops, 0, "%s printed a rate", name);
        result_free(&result);
    }
    rungs_free(&list);
    device_close(&device);
}
