/* climb_text.c - the lines around the tables; see climb.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "climb.h"
#include "compare.h"
#include "report/grid.h"
#include "report/table.h"
#include "report/units.h"

static void print_device_line(const struct climb *climb)
{
    const struct picked *d = climb->devices;
    const struct device *gpu = &d->gpu;
    FILE *out = climb->text;
    if (!d->has_gpu)
        print_labelled(out, "device", "the CPU only: %s, %d threads", d->cpu.name,
                       d->cpu.cpu_threads);
    else if (gpu->backend == BACKEND_GPU)
        print_labelled(
            out, "device", "%s (%s): %s, %d SMs, %d MHz, driver for CUDA %s%s%s", gpu->id,
            gpu->name, format_memory((double)gpu->memory_bytes).s, gpu->sm_count,
            gpu->clock_mhz, format_cuda_version(gpu->driver_version).s,
            d->why[0] ? "; " : "", d->why);
    else
        print_labelled(out, "device", "%s%ssimulated %s (%s)%s%s", d->why,
                       d->why[0] ? "; running on the " : "", gpu->peak->name, gpu->id,
                       d->why[0] ? ". " : "", d->why[0] ? "More: ./run --devices" : "");
}

static void print_times_line(const struct climb *climb)
{
    const struct picked *d = climb->devices;
    bool cpu = climb->selection->cpu_count > 0;
    char threads[80] = "";
    if (cpu && d->has_gpu)
        snprintf(threads, sizeof threads, "CPU rows measured (%d threads, +-%% spread)",
                 d->cpu.cpu_threads);
    if (d->has_gpu && d->gpu.backend == BACKEND_SIM)
        print_labelled(climb->text, "times",
                       "PREDICTED by the simulator's model for GPU rows%s%s",
                       cpu ? "; " : "", threads);
    else
        print_labelled(
            climb->text, "times",
            "measured: median of the timed runs after warm-up, +-%% their spread%s%s",
            threads[0] ? "; " : "", threads);
}

static void print_size_line(const struct climb *climb, const struct size *sizes,
                            int count)
{
    const struct rung *guest = climb_guest(climb);
    bool only_run = guest && !guest->call->gemm && climb->selection->gpu_count == 1;
    if (count == 1 && only_run)
        print_labelled(climb->text, "size", "M %zu, N %zu, K %zu", sizes->m, sizes->n,
                       sizes->k);
    else if (count == 1)
        print_labelled(climb->text, "size",
                       "C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu): %s FLOP", sizes->m,
                       sizes->n, sizes->m, sizes->k, sizes->k, sizes->n,
                       format_count(2ull * sizes->m * sizes->n * sizes->k).s);
    else
        print_labelled(climb->text, "size", "%d sizes, M x N x K (one number: all three)",
                       count);
}

/* "lesson 3, kernels compiled by nvcc 13.0" */
static void print_title(const struct climb *climb)
{
    int lesson = climb->options->lesson ? climb->options->lesson : registry_lesson;
    const struct rung *guest = climb_guest(climb);
    char what[200];
    if (guest)
        snprintf(what, sizeof what, "kernel %s of %.130s%s", rung_name(guest),
                 guest->image->origin,
                 climb->options->kernels.count > 0 ? ", beside rungs" : "");
    else if (climb->options->kernels.count > 0)
        snprintf(what, sizeof what, "chosen rungs");
    else
        snprintf(what, sizeof what, "lesson %d", lesson);
    fprintf(climb->text, "%sPeakbound %s, %s%s%s%s\n", style_of(STYLE_BOLD),
            registry_version, what, style_of(STYLE_PLAIN),
            guest ? "" : ", kernels compiled by ", guest ? "" : registry_compiler);
}

/* How somebody else's kernel is called, and what it is held to. */
static void print_guest_lines(const struct climb *climb, const struct rung *guest)
{
    const struct guest_words *w = &climb->options->guest;
    const struct call *call = guest->call;
    const struct kernel_info *info = &guest->info;
    const struct call_arg *alpha = call_find_real(call, 0);
    const struct call_arg *beta = call_find_real(call, 1);
    if (strcmp(call->entry, rung_name(guest)) != 0)
        print_labelled(climb->text, "entry", "%s", call->entry);
    print_labelled(climb->text, "launch", "%sgrid %s, block %s, shared %s, parameters %s",
                   call->cooperative ? "cooperative, " : "", w->grid, w->block,
                   w->smem ? w->smem : "0", w->args ? w->args : "none");
    if (!call->gemm)
        print_labelled(climb->text, "expect",
                       "nothing: the result is not checked, so no rate is printed");
    else
        print_labelled(climb->text, "expect",
                       "C = alpha * A * B + beta * C with alpha %g (%s), beta %g (%s); "
                       "layout %s, in %s, sum %s, C %s",
                       call->alpha, alpha ? alpha->word : "no f: in --args", call->beta,
                       beta ? beta->word : "no second f: in --args",
                       w->layout ? w->layout : "row", type_label(info->in),
                       type_label(info->acc), type_label(info->out));
}

void climb_print_header(const struct climb *climb, const struct size *sizes, int count)
{
    const struct rung *guest = climb_guest(climb);
    print_title(climb);
    print_device_line(climb);
    print_times_line(climb);
    if (guest)
        print_guest_lines(climb, guest);
    print_size_line(climb, sizes, count);
    if (!climb->options->verify)
        print_labelled(climb->text, "check",
                       "switched off: without a verdict no rate is "
                       "printed");
}

/* --- tables ------------------------------------------------------------------------- */

static void print_baseline_line(const struct climb *climb, const struct table *table)
{
    const struct row *baseline = NULL;
    bool mixed = false;
    for (int i = 0; i < table->row_count; i++) {
        const struct row *here = climb_baseline(climb, &table->rows[i].result.size);
        mixed = mixed ||
                (baseline && here && here->result.rung.cpu != baseline->result.rung.cpu);
        baseline = here ? here : baseline;
    }
    if (!baseline)
        return;
    if (mixed)
        print_labelled(climb->text, "x CPU",
                       "times as fast as the fastest CPU rung at that size");
    else
        print_labelled(climb->text, "x CPU",
                       "times as fast as CPU %s (%s), the fastest CPU rung here",
                       baseline->result.rung.cpu->name, baseline->result.rung.cpu->title);
}

/* Copy the rows of one table to `rows`: for each size the GPU rungs of `kind`, then
 * the CPU rungs. The results stay owned by climb->rows. */
static int collect_rows(const struct climb *climb, const struct rung *kind, bool with_cpu,
                        struct row *rows)
{
    int count = 0;
    for (int i = 0; i < climb->row_count;) {
        int end = i;
        while (end < climb->row_count &&
               memcmp(&climb->rows[end].result.size, &climb->rows[i].result.size,
                      sizeof(struct size)) == 0)
            end++;
        for (int j = i; j < end; j++)
            if (!row_is_cpu(&climb->rows[j]) &&
                rungs_same_kind(&climb->rows[j].result.rung, kind))
                rows[count++] = climb->rows[j];
        for (int j = i; j < end; j++)
            if (row_is_cpu(&climb->rows[j]) && with_cpu)
                rows[count++] = climb->rows[j];
        i = end;
    }
    return count;
}

static void print_one_table(const struct climb *climb, const struct rung *kind,
                            bool with_cpu)
{
    const struct picked *d = climb->devices;
    struct row *rows = xcalloc((size_t)climb->row_count + 1, sizeof *rows);
    int count = collect_rows(climb, kind, with_cpu, rows);
    struct table table = {rows, count, climb->cards, climb->card_count, kind};
    if (kind->call && !kind->call->gemm) {
        table.card_count = 0; /* no rate, no peak */
    } else {
        table_print_peaks(climb->text, kind, d->has_gpu ? &d->gpu : NULL,
                          with_cpu && climb->selection->cpu_count > 0 ? &d->cpu : NULL,
                          climb->cards, climb->card_count);
        print_baseline_line(climb, &table);
    }
    fputc('\n', climb->text);
    table_print(climb->text, &table);
    free(rows);
}

/* One table for each kind of rung; the CPU rows stand in the first whose inputs are
 * FP32, else in the first. */
void climb_print_tables(const struct climb *climb)
{
    const struct selection *s = climb->selection;
    int cpu_in = 0;
    for (int i = s->gpu_count - 1; i >= 0; i--)
        if (s->gpu[i]->info.in == KERNEL_F32)
            cpu_in = i;
    while (cpu_in > 0 && rungs_same_kind(s->gpu[cpu_in], s->gpu[cpu_in - 1]))
        cpu_in--;
    for (int i = 0; i < s->gpu_count; i++) {
        if (i > 0 && rungs_same_kind(s->gpu[i], s->gpu[i - 1]))
            continue;
        if (i > 0)
            fputc('\n', climb->text);
        print_one_table(climb, s->gpu[i], i == cpu_in);
    }
    if (s->gpu_count == 0)
        print_one_table(climb, s->cpu[0], true);
}

/* Once for those who have not begun, with how to see it fail. */
static void print_gap(const struct climb *climb)
{
    const struct rung *gap = climb->selection->gap;
    if (gap)
        print_labelled(climb->text, "exercise",
                       "(yours): not filled in yet. Look for FILL IN at %.80s:%d, then "
                       "make lesson%d && ./run",
                       gap->image->origin, gap->image->gap_line, rung_lesson(gap));
}

void climb_print_notes(const struct climb *climb)
{
    for (int i = 0; i < climb->row_count; i++)
        if (climb->rows[i].result.sampled) {
            print_labelled(climb->text, "sampled",
                           "the simulator ran a random part of the thread blocks; their "
                           "cells of C were all checked, counts and time are scaled up");
            break;
        }
    if (climb->selection->note[0])
        print_labelled(climb->text, "note", "%s", climb->selection->note);
    for (int i = 0; i < climb->note_count; i++)
        print_labelled(climb->text, "note", "%s", climb->notes[i]);
    print_gap(climb);
}

/* --- GPU against CPU ---------------------------------------------------------------- */

/* The inputs as bench made them from the seed, or the user's. */
static bool duel_inputs(const struct climb *climb, struct size size, struct matrix *a,
                        struct matrix *b)
{
    if (climb->options->a)
        return true;
    if (!matrix_alloc(a, KERNEL_F32, size.m, size.k, NULL) ||
        !matrix_alloc(b, KERNEL_F32, size.k, size.n, NULL))
        return false;
    matrix_fill_uniform(a, climb->options->seed);
    matrix_fill_uniform(b, climb->options->seed + 1);
    return true;
}

static void print_difference(const struct climb *climb, const struct row *cpu)
{
    static const double seconds = 4;
    struct matrix a = {0}, b = {0};
    struct difference d = {0};
    const struct matrix *c = &climb->c;
    if (c->data && duel_inputs(climb, cpu->result.size, &a, &b))
        compare_with_cpu(cpu->result.rung.cpu, a.data ? &a : &climb->a,
                         b.data ? &b : &climb->b, c, seconds, &d);
    if (d.cells > 0)
        print_labelled(climb->text, "",
                       "largest difference |GPU - CPU| %.2e at C[%zu][%zu] (%.7g and "
                       "%.7g), over %s of %s cells",
                       d.largest, d.row, d.col, d.gpu, d.cpu, format_count(d.cells).s,
                       format_count(c->rows * c->cols).s);
    matrix_free(&a);
    matrix_free(&b);
}

void climb_print_duel(const struct climb *climb)
{
    const struct row *gpu = &climb->rows[climb->row_count - 1];
    const struct row *cpu = climb_baseline(climb, &gpu->result.size);
    char name[64];
    if (!row_passed(gpu) || !cpu)
        return;
    row_name(gpu, name, sizeof name);
    fputc('\n', climb->text);
    print_labelled(climb->text, "GPU-CPU",
                   "%s %s (%s) against CPU %s %s (%s): speed-up %s",
                   gpu->result.predicted ? "simulated GPU" : "GPU", name,
                   format_time(gpu->result.time_ms).s, cpu->result.rung.cpu->name,
                   format_time(cpu->result.time_ms).s,
                   cpu->timed_rows ? "measured on some rows, scaled" : "measured",
                   format_ratio(gpu->x_cpu).s);
    print_labelled(
        climb->text, "",
        "both: warm-up first, then timed runs; the clock is read only after the "
        "device has finished (synchronised); copies to and from the GPU are not "
        "in the time");
    print_difference(climb, cpu);
}
