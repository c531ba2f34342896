/* test_exercises.c - every lesson's exercise fails as it comes, says where to look, does
 * not disturb the lesson, and passes with the reference solution in its gap. */
#include "../host/select.h"
#include "cli_fixture.h"
#include "sim_fixture.h"

extern struct gpu_image solved_images[]; /* exercises, filled in */
extern const int solved_image_count;
void solved_init(void);

static const struct {
    const char *stem;
    enum verdict_kind kind;
    const char *reason; /* a piece of it */
} expected[] = {
    {"01_naive_exercise", VERDICT_TOO_FAR, "C[0][0] is 0"},
    {"02_coalesced_exercise", VERDICT_TOO_FAR, "C[0][32] is 0"},
    {"03_shared_tile_exercise", VERDICT_TOO_FAR, "C[0][0] is 0"},
    {"04_register_tile_exercise", VERDICT_TOO_FAR, "C[0][0] is 0"},
    {"05_vector_loads_exercise", VERDICT_NOT_FINITE, "a tile read before it is written"},
    {"06_warp_tile_exercise", VERDICT_NOT_FINITE, "a tile read before it is written"},
    {"07_wmma_exercise", VERDICT_TOO_FAR, "C[0][0] is 0"},
};
enum { EXERCISES = sizeof expected / sizeof *expected };

static const struct rung *find(const struct rung_list *list, const char *stem)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->rungs[i].image->stem, stem) == 0)
            return &list->rungs[i];
    return NULL;
}

static void open_all(struct device *device, struct rung_list *list)
{
    struct error err = {0};
    fixture_open("a100", 0, device);
    cr_assert(rungs_load(device, list, &err), "%s", err.text);
    cr_expect_eq(list->broken_count, 0);
}

Test(exercises, as_they_come_they_fail_with_a_reason)
{
    struct device device;
    struct rung_list list;
    open_all(&device, &list);
    for (int i = 0; i < EXERCISES; i++) {
        const struct rung *rung = find(&list, expected[i].stem);
        struct result result;
        cr_assert(rung != NULL, "no %s", expected[i].stem);
        cr_expect(rung->is_exercise);
        cr_expect_eq(rung->info.lesson, i + 1, "%s", expected[i].stem);
        if (rung->image->gap_line == 0) {
            cr_log_warn("%s was filled in: not tested as it came", expected[i].stem);
            continue;
        }
        fixture_bench(&device, rung, (struct size){64, 64, 64}, &result);
        cr_expect_eq(result.verdict.kind, expected[i].kind, "%s: %s", expected[i].stem,
                     result.verdict.reason);
        cr_expect(strstr(result.verdict.reason, expected[i].reason), "%s: %s",
                  expected[i].stem, result.verdict.reason);
        result_free(&result);
    }
    rungs_free(&list);
    device_close(&device);
}

Test(exercises, with_the_solution_they_pass_every_check)
{
    static const struct size shapes[] = {
        {1, 1, 1}, {64, 64, 64}, {33, 97, 41}, {130, 70, 35}, {16, 129, 100}};
    struct device device;
    struct rung_list list;
    struct error err = {0};
    solved_init();
    fixture_open("a100", 0, &device);
    cr_assert(rungs_load_images(&device, solved_images, solved_image_count, &list, &err));
    cr_expect_eq(list.broken_count, 0);
    cr_expect_eq(list.count, EXERCISES);
    for (int i = 0; i < list.count; i++)
        for (size_t s = 0; s < 2 * sizeof shapes / sizeof *shapes; s++) {
            struct bench_options options = {.seed = 7,
                                            .alpha = 1,
                                            .beta = s % 2 ? 0.5 : 0,
                                            .verify = true,
                                            .check_all = true};
            struct size size = shapes[s / 2];
            struct result result;
            bench_run(&device, &list.rungs[i], size, &options, &result);
            cr_expect_eq(result.verdict.kind, VERDICT_PASS, "%s %zux%zux%zu: %s",
                         list.rungs[i].image->stem, size.m, size.n, size.k,
                         result.verdict.reason);
            result_free(&result);
        }
    rungs_free(&list);
    device_close(&device);
}

static bool selected(const struct selection *s, const struct rung *rung)
{
    for (int i = 0; i < s->gpu_count; i++)
        if (s->gpu[i] == rung)
            return true;
    return false;
}

/* What runs without -k, with the gap and without it; and of -k all. */
Test(exercises, one_runs_once_it_is_filled_in)
{
    struct device device;
    struct rung_list list;
    open_all(&device, &list);
    for (int i = 0; i < EXERCISES; i++) {
        const struct rung *rung = find(&list, expected[i].stem);
        struct gpu_image *image = NULL;
        for (int j = 0; j < registry_image_count; j++)
            if (&registry_images[j] == rung->image)
                image = &registry_images[j];
        for (int filled = 0; filled < 2; filled++)
            for (int all = 0; all < 2; all++) {
                struct options options = {.lesson = i + 1};
                struct rung_list no_cpu = {0};
                struct selection selection;
                struct error err = {0};
                options.kernels.count = all;
                options.kernels.items[0] = "all";
                image->gap_line = filled ? 0 : 7;
                cr_assert(
                    rungs_select(&list, &no_cpu, &device, &options, &selection, &err),
                    "%s", err.text);
                cr_expect_eq(selected(&selection, rung), filled == 1, "%s, %d, %d",
                             expected[i].stem, filled, all);
                cr_expect_eq(selection.gap != NULL, !filled && !all);
            }
    }
    rungs_free(&list);
    device_close(&device);
}

Test(exercises, run_names_the_gap_and_ends_well)
{
    static const char *const note[] = {"exercise (yours): not filled in yet",
                                       "lessons/03_shared_tile/exercise.cu:", "pass"};
    static const char *const failure[] = {"FAIL", "exercise (yours)",
                                          "see FILL IN at lessons/03_shared_tile/"};
    static const char *const list[] = {"exercise (yours)"};
    registry_init();
    for (int i = 0; i < registry_image_count; i++)
        if (registry_images[i].kind == IMAGE_EXERCISE && registry_images[i].gap_line == 0)
            cr_skip_test("%s was filled in", registry_images[i].origin);
    expect("--lesson 3 -s 40", 0, note, 3);
    expect("-k 03_shared_tile_exercise -s 40", 1, failure, 3);
    expect("-k exercise -s 40", 1, failure, 3);
    expect("--list", 0, list, 1);
}
