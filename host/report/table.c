/* table.c - the result table; see table.h. What a percent is a percent of is said
 * by table_print_peaks before the table. */
#include "table.h"

#include <math.h>
#include <string.h>

#include "grid.h"
#include "units.h"

static bool same_kind(const struct rung *a, const struct rung *b)
{
    return a->info.unit == b->info.unit && a->info.in == b->info.in &&
           a->info.acc == b->info.acc;
}

/* --- what is 100 % ------------------------------------------------------------------ */

/* GeForce cards sum FP16 products in FP32 at half their FP16 rate, so that one
 * card has three numbers, and the wrong one is the best known. */
static void explain_tensor_peaks(FILE *out, const struct rung *kind,
                                 const struct card *cards, int card_count)
{
    for (int i = 0; i < card_count; i++) {
        const struct peak_row *peak = cards[i].peak;
        bool published;
        double used =
            peak_tflops(peak, kind->info.unit, kind->info.in, kind->info.acc, &published);
        double cores =
            peak_tflops(peak, KERNEL_CUDA_CORES, KERNEL_F32, KERNEL_F32, &published);
        double narrow =
            peak_tflops(peak, KERNEL_TENSOR_CORES, KERNEL_F16, KERNEL_F16, &published);
        if (kind->info.in != KERNEL_F16 || kind->info.acc != KERNEL_F32 ||
            !(narrow > 1.5 * used))
            continue;
        print_labelled(
            out, "",
            "%s: %s is the rate of its tensor cores with FP32 sums; not %s, "
            "which is its CUDA cores (FP32, lessons 1 to 6), and not %s, which "
            "needs FP16 sums.",
            cards[i].label, format_peak(used).s, format_peak(cores).s,
            format_peak(narrow).s);
        return;
    }
}

/* "this GPU 19.5 TFLOPS (published)" */
static void describe_this(const struct rung *kind, const struct device *device,
                          char *text, size_t room)
{
    bool published = false;
    double peak = NAN;
    if (device->peak)
        peak = peak_tflops(device->peak, kind->info.unit, kind->info.in, kind->info.acc,
                           &published);
    if (peak > 0)
        snprintf(text, room, "this GPU %s TFLOPS (%s)",
                 published ? format_peak(peak).s : format_tflops(peak).s,
                 published ? "published" : "computed: SMs x rate x clock");
    else
        snprintf(text, room, "this GPU unknown: %s",
                 device->peak ? "it has no such unit, or no rate was published"
                              : "the card is not in our table of published peaks");
}

void table_print_peaks(FILE *out, const struct rung *kind, const struct device *device,
                       const struct device *cpu, const struct card *cards, int card_count)
{
    char text[900] = "";
    if (device)
        describe_this(kind, device, text, sizeof text);
    for (int i = 0; i < card_count; i++) {
        bool published = false;
        double peak = peak_tflops(cards[i].peak, kind->info.unit, kind->info.in,
                                  kind->info.acc, &published);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s%s", used ? ", " : "",
                 cards[i].label,
                 peak <= 0 || isnan(peak) ? "has no such unit"
                 : published              ? format_peak(peak).s
                                          : format_tflops(peak).s,
                 peak > 0 && !published ? " (computed)" : "");
    }
    print_labelled(out, "100 % =", "%s, dense: %s%s",
                   format_kind(kind->info.unit, kind->info.in, kind->info.acc).s, text,
                   device ? "" : " TFLOPS");
    if (kind->info.unit == KERNEL_TENSOR_CORES)
        explain_tensor_peaks(out, kind, cards, card_count);
    if (cpu && cpu->cpu_peak_gflops > 0)
        print_labelled(out, "", "CPU rows, column \"this\": of %s FP32, computed for %s",
                       format_flops(cpu->cpu_peak_gflops / 1e3).s, cpu->name);
    else if (cpu)
        print_labelled(out, "", "CPU rows: the peak of this CPU is not known (%s)",
                       cpu->name);
}

/* --- the table ---------------------------------------------------------------------- */

static bool several_sizes(const struct table *table)
{
    for (int i = 1; i < table->row_count; i++)
        if (memcmp(&table->rows[i].result.size, &table->rows[0].result.size,
                   sizeof(struct size)) != 0)
            return true;
    return false;
}

static bool any_row(const struct table *table, bool (*has)(const struct result *))
{
    for (int i = 0; i < table->row_count; i++)
        if (has(&table->rows[i].result))
            return true;
    return false;
}

static bool has_spread(const struct result *r)
{
    return !r->predicted && r->reps > 1 &&
           (r->verdict.kind == VERDICT_PASS || r->verdict.kind == VERDICT_SKIPPED);
}

static bool has_bound(const struct result *r)
{
    return r->predicted;
}

static void set_verdict(struct grid *grid, int at, int column, const struct row *row)
{
    bool sampled = row->result.sampled || row->timed_rows > 0;
    if (row_failed(row))
        grid_set(grid, at, column, STYLE_BAD, "FAIL");
    else
        grid_set(grid, at, column, row_passed(row) ? STYLE_GOOD : STYLE_WARN, "%s%s",
                 row_passed(row) ? "pass" : "unchecked", sampled ? ", sampled" : "");
}

static void set_error(struct grid *grid, int at, int column, const struct row *row)
{
    const struct verdict *v = &row->result.verdict;
    if (!row_passed(row) || !isfinite(v->error))
        grid_set(grid, at, column, STYLE_PLAIN, "-");
    else if (v->error == 0)
        grid_set(grid, at, column, STYLE_PLAIN, "exact");
    else
        grid_set(grid, at, column, STYLE_PLAIN, "%.1e (%s%%)", v->error,
                 100 * v->error / v->bound < 0.5
                     ? "<1"
                     : format_count((uint64_t)(100 * v->error / v->bound + 0.5)).s);
}

/* Is a rate promised? Somebody else's kernel may be anything. */
static bool has_rate(const struct result *r)
{
    return !(r->rung.call && !r->rung.call->gemm);
}

/* Somebody else's kernel alone: no CPU rung ran. */
static bool lacks_baseline(const struct table *table)
{
    for (int i = 0; i < table->row_count; i++)
        if (!table->rows[i].result.rung.call || table->rows[i].x_cpu > 0)
            return false;
    return table->row_count > 0;
}

/* Where the columns are; -1 = not in this table. */
struct places {
    int name, size, time, spread, rate, self, cards, ratio, error, verdict, bound;
};

static struct places add_columns(struct grid *grid, const struct table *table)
{
    static const char over[] = "% of peak";
#define ADD(...) grid_add_column(grid, (struct grid_column){__VA_ARGS__})
    struct places p;
    p.name = ADD(.title = "kernel", .left = true, .shortest = 15);
    p.size = several_sizes(table) ? ADD(.title = "size") : -1;
    p.time = ADD(.title = "time");
    p.spread = any_row(table, has_spread) ? ADD(.title = "+-%", .drop = 4) : -1;
    bool rate = any_row(table, has_rate);
    p.rate = rate ? ADD(.title = "TFLOPS") : -1;
    p.self = rate ? ADD(.title = "this", .over = over) : -1;
    p.cards = grid->columns;
    for (int i = 0; i < table->card_count; i++)
        ADD(.title = table->cards[i].label, .over = over, .shortest = 6);
    p.ratio = lacks_baseline(table) ? -1 : ADD(.title = "x CPU", .drop = 1);
    p.error = rate ? ADD(.title = "error", .drop = 2) : -1;
    p.verdict = ADD(.title = "verdict", .left = true);
    p.bound = any_row(table, has_bound)
                  ? ADD(.title = "bound by", .left = true, .drop = 3)
                  : -1;
#undef ADD
    return p;
}

static void fill_row(struct grid *grid, const struct places *p, const struct table *table,
                     const struct row *row)
{
    const struct result *r = &row->result;
    bool passed = row_passed(row), timed = !row_failed(row) && r->time_ms > 0;
    bool comparable = same_kind(&r->rung, table->kind);
    char text[64];
    int at = grid_add_row(grid);
    row_name(row, text, sizeof text);
    grid_set(grid, at, p->name, STYLE_PLAIN, "%s", text);
    grid_set(grid, at, p->size, STYLE_PLAIN, "%s",
             format_size(r->size.m, r->size.n, r->size.k).s);
    grid_set(grid, at, p->time, STYLE_PLAIN, "%s",
             timed ? format_time(r->time_ms).s : "-");
    grid_set(grid, at, p->spread, STYLE_PLAIN, "%s",
             has_spread(r) ? format_percent(r->spread_pct).s : "");
    grid_set(grid, at, p->rate, STYLE_BOLD, "%s",
             passed ? format_tflops(r->tflops).s : "-");
    grid_set(grid, at, p->self, STYLE_PLAIN, "%s",
             format_percent(row_percent(row, NULL)).s);
    for (int c = 0; c < table->card_count; c++)
        grid_set(grid, at, p->cards + c, STYLE_PLAIN, "%s",
                 comparable ? format_percent(row_percent(row, &table->cards[c])).s : "-");
    grid_set(grid, at, p->ratio, STYLE_PLAIN, "%s",
             passed ? format_ratio(row->x_cpu).s : "-");
    set_error(grid, at, p->error, row);
    set_verdict(grid, at, p->verdict, row);
    grid_set(grid, at, p->bound, STYLE_PLAIN, "%s",
             r->predicted && timed ? sim_bound_name(r->bound_by) : "");
}

/* --- what went wrong ---------------------------------------------------------------- */

/* The path from kernels/ or lessons/ on: the compiler writes the whole one. */
static const char *short_path(const char *path)
{
    static const char *const roots[] = {"/kernels/", "/lessons/", "/tests/"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *at = strstr(path, roots[i]);
        if (at)
            return at + 1;
    }
    return path;
}

static void print_faults(FILE *out, const struct result *r)
{
    enum { SHOWN = 4 };
    for (int i = 0; i < r->fault_count && i < SHOWN; i++) {
        const struct sim_fault *f = &r->faults[i];
        print_labelled(out, "", "%s at %s:%d, block (%u,%u,%u), thread (%u,%u,%u): %s",
                       sim_fault_name(f->kind), short_path(f->file), f->line, f->block[0],
                       f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
                       f->detail);
    }
    if (r->fault_count > SHOWN)
        print_labelled(out, "", "and %d more faults", r->fault_count - SHOWN);
}

static void print_failure(FILE *out, const struct row *row)
{
    const struct result *r = &row->result;
    const char *kind = verdict_name(r->verdict.kind), *reason = r->verdict.reason;
    char name[64];
    row_name(row, name, sizeof name);
    /* a reason may begin with the kind already; faults are told below, whole */
    if (r->fault_count > 0 || strncmp(reason, kind, strlen(kind)) == 0)
        kind = r->fault_count > 0 ? "the simulator found" : "";
    print_labelled(out, "FAIL", "%s %s: %s%s%s", name,
                   format_size(r->size.m, r->size.n, r->size.k).s, kind,
                   *kind && r->fault_count == 0 && *reason ? ": " : "",
                   r->fault_count > 0 ? "" : reason);
    print_faults(out, r);
    if (r->rung.is_exercise && r->rung.image->gap_line > 0)
        print_labelled(out, "", "not filled in yet: see FILL IN at %.80s:%d",
                       r->rung.image->origin, r->rung.image->gap_line);
}

void table_print(FILE *out, const struct table *table)
{
    struct grid grid = {0};
    struct places places = add_columns(&grid, table);
    for (int i = 0; i < table->row_count; i++)
        fill_row(&grid, &places, table, &table->rows[i]);
    grid_print(&grid, out);
    bool first = true;
    for (int i = 0; i < table->row_count; i++)
        if (row_failed(&table->rows[i])) {
            if (first)
                fputc('\n', out);
            first = false;
            print_failure(out, &table->rows[i]);
        }
}
