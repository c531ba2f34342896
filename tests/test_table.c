/* test_table.c - the table fits on a projector, and says nothing it should not. */
#include "../host/report/table.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../host/compare.h"
#include "../host/report/grid.h"

static const struct device sim = {
    .backend = BACKEND_SIM, .id = "sim:a100", .name = "A100"};
static const struct device cpu = {
    .backend = BACKEND_CPU, .id = "cpu", .name = "CPU", .cpu_peak_gflops = 100};
static const struct cpu_rung naive = {1, "naive_with_a_very_long_name_indeed", "t", NULL};

static struct row make_row(int i)
{
    struct row row = {.x_cpu = 12.3};
    struct result *r = &row.result;
    r->device = i % 2 ? &cpu : &sim;
    r->rung.cpu = i % 2 ? &naive : NULL;
    snprintf(r->rung.info.name, sizeof r->rung.info.name,
             "a_kernel_of_thirty_one_letters%d", i);
    r->size = (struct size){1048576 - (size_t)i, 1048576, 1048576};
    r->predicted = i % 2 == 0;
    r->reps = 9;
    r->spread_pct = 12.3;
    r->time_ms = 123456.7;
    r->tflops = 0.09;
    r->sampled = true;
    r->bound_by = SIM_BOUND_XU;
    r->verdict = (struct verdict){.error = 3.1e-7, .bound = 3.2e-7, .cells = 4};
    return row;
}

static char *print_table(const struct row *rows, int count, int cards)
{
    static const struct card card[] = {{"rtx 6000 ada generation", NULL},
                                       {"h100", NULL},
                                       {"4090", NULL},
                                       {"a100", NULL},
                                       {"nvidia geforce rtx 3090 ti", NULL}};
    struct table table = {rows, count, card, cards, &rows[0].result.rung};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    table_print(out, &table);
    fclose(out);
    return text;
}

Test(table, is_at_most_100_columns_wide)
{
    for (int cards = 1; cards <= 5; cards++) {
        struct row rows[4];
        for (int i = 0; i < 4; i++)
            rows[i] = make_row(i);
        rows[2].result.verdict.kind = VERDICT_NOT_WRITTEN;
        memset(rows[2].result.verdict.reason, 'x', 200);
        strcpy(rows[2].result.verdict.reason + 200, " is the reason");
        char *text = print_table(rows, 4, cards);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            cr_expect(strlen(line) <= PAGE_WIDTH || strstr(line, "xxxx"),
                      "%d cards, %zu columns: %s", cards, strlen(line), line);
            cr_expect(line[strlen(line) - 1] != ' ', "ends in a blank: \"%s\"", line);
        }
        free(text);
    }
}

Test(table, failed_row_shows_no_rate_but_reason_and_place)
{
    struct row row = make_row(0);
    struct sim_fault fault = {.kind = SIM_RACE_SHARED,
                              .file = "/home/x/kernels/03_shared_tile.cu",
                              .line = 41,
                              .block = {1, 2, 3},
                              .thread = {4, 5, 6},
                              .detail = "the detail"};
    row.result.verdict.kind = VERDICT_FAULT;
    strcpy(row.result.verdict.reason, "the reason");
    row.result.faults = &fault;
    row.result.fault_count = 1;
    char *text = print_table(&row, 1, 2);
    static const char *const wanted[] = {
        "FAIL",          "the simulator found",
        "race_shared",   "at kernels/03_shared_tile.cu:41",
        "block (1,2,3)", "thread (4,5,6)",
        "the detail"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_expect(strstr(text, wanted[i]), "lacks \"%s\":\n%s", wanted[i], text);
    cr_expect(!strstr(text, "0.090"), "shows a rate:\n%s", text);
    cr_expect(!strstr(text, "pass"), "%s", text);
    free(text);
}

Test(table, marks_samples_and_shares_of_the_bound)
{
    struct row row = make_row(0);
    char *text = print_table(&row, 1, 1);
    cr_expect(strstr(text, "pass, sampled"), "%s", text);
    cr_expect(strstr(text, "3.1e-07 (97%)"), "%s", text);
    free(text);
    row.result.sampled = false;
    row.result.verdict.kind = VERDICT_SKIPPED;
    text = print_table(&row, 1, 1);
    cr_expect(strstr(text, "unchecked") && !strstr(text, "pass"), "%s", text);
    free(text);
}

Test(table, shows_a_cpu_row_against_its_own_peak)
{
    struct row rows[2] = {make_row(0), make_row(1)};
    cr_expect_float_eq(row_percent(&rows[1], NULL), 90, 1e-9);
    cr_expect(isnan(row_percent(&rows[0], NULL)),
              "a card that is not known has a percent");
}

Test(table, grid_hides_control_characters)
{
    struct grid grid = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    grid_add_column(&grid, (struct grid_column){.title = "t", .left = true});
    grid_set(&grid, grid_add_row(&grid), 0, STYLE_PLAIN, "a\033[31mb\xffg");
    grid_print(&grid, out);
    print_labelled(out, "label", "%s", "a\033b");
    fclose(out);
    cr_expect(strstr(text, "a?[31mb?g"), "%s", text);
    cr_expect(!strchr(text, '\033'), "an escape came through");
    free(text);
}

/* --- compare ------------------------------------------------------------------------ */

static void multiply(const struct gemm *g)
{
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            float sum = 0;
            for (size_t k = 0; k < g->k; k++)
                sum += g->a[i * g->lda + k] * g->b[k * g->ldb + j];
            g->c[i * g->ldc + j] = sum;
        }
}

Test(compare, finds_the_one_cell_that_differs)
{
    static const struct cpu_rung rung = {1, "t", "t", multiply};
    enum { M = 150, N = 70, K = 9 };
    struct matrix a = {0}, b = {0}, c = {0};
    struct error err = {0};
    cr_assert(matrix_alloc(&a, KERNEL_F32, M, K, &err), "%s", err.text);
    cr_assert(matrix_alloc(&b, KERNEL_F32, K, N, &err), "%s", err.text);
    cr_assert(matrix_alloc(&c, KERNEL_F32, M, N, &err), "%s", err.text);
    matrix_fill_whole(&a, 1, 4);
    matrix_fill_whole(&b, 2, 4);
    matrix_poison(&c);
    struct difference d;
    compare_with_cpu(&rung, &a, &b, &c, 60, &d);
    cr_expect_eq(d.cells, 0, "%zu cells of an unwritten matrix", d.cells);
    size_t written = 0;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += matrix_get(&a, i, k) * matrix_get(&b, k, j);
            if ((i / 32 + j / 32) % 2 == 0 || i == 149) {
                matrix_set(&c, i, j, sum);
                written++;
            }
        }
    compare_with_cpu(&rung, &a, &b, &c, 60, &d);
    cr_expect_eq(d.cells, written, "%zu of %zu cells compared", d.cells, written);
    cr_expect_eq(d.largest, 0, "%g at %zu, %zu", d.largest, d.row, d.col);
    matrix_set(&c, 149, 69, matrix_get(&c, 149, 69) + 3);
    compare_with_cpu(&rung, &a, &b, &c, 60, &d);
    cr_expect(d.largest == 3 && d.row == 149 && d.col == 69, "%g at %zu, %zu", d.largest,
              d.row, d.col);
    matrix_set(&c, 0, 0, INFINITY);
    compare_with_cpu(&rung, &a, &b, &c, 60, &d);
    cr_expect(isinf(d.largest) && d.row == 0 && d.col == 0);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
}
