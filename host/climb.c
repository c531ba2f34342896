/* climb.c - see climb.h. */
#include "climb.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/npy.h"
#include "report/counters.h"
#include "report/explain.h"
#include "report/style.h"
#include "report/units.h"

void climb_note(struct climb *climb, const char *format, ...)
{
    climb->notes =
        xrealloc(climb->notes, (size_t)(climb->note_count + 1) * sizeof *climb->notes);
    char *note = climb->notes[climb->note_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof *climb->notes, format, arguments);
    va_end(arguments);
    for (int i = 0; i + 1 < climb->note_count; i++)
        if (strcmp(climb->notes[i], note) == 0) { /* said already */
            climb->note_count--;
            return;
        }
}

void climb_bench_options(struct climb *climb, const struct rung *rung,
                         const struct size *size, struct bench_options *bench)
{
    const struct options *o = climb->options;
    snprintf(climb->doing, sizeof climb->doing, "%s%.32s %s", rung->cpu ? "CPU " : "",
             rung_name(rung), format_size(size->m, size->n, size->k).s);
    *bench = (struct bench_options){
        .reps = o->reps,
        .warmup = o->warmup,
        .seed = o->seed,
        .alpha = rung->call ? rung->call->alpha : 1,
        .beta = rung->call ? rung->call->beta : 0,
        .check_all = o->check_all,
        .verify = o->verify && !(rung->call && !rung->call->gemm),
        .counters = o->counters || o->json,
        .explain = o->explain,
        .progress = progress_show,
        .progress_context = climb->doing,
    };
}

/* The rung whose result --out writes: the last, which is the lesson's own. */
static const struct rung *writing_rung(const struct climb *climb)
{
    const struct selection *s = climb->selection;
    return s->gpu_count > 0 ? s->gpu[s->gpu_count - 1] : s->cpu[s->cpu_count - 1];
}

const struct rung *climb_guest(const struct climb *climb)
{
    const struct selection *s = climb->selection;
    for (int i = 0; i < s->gpu_count; i++)
        if (s->gpu[i]->call)
            return s->gpu[i];
    return NULL;
}

bool climb_is_duel(const struct climb *climb)
{
    const struct selection *s = climb->selection;
    return s->gpu_count == 1 && s->cpu_count > 0 && s->gpu[0]->info.in == KERNEL_F32 &&
           climb->options->size_count <= 1 && climb->options->verify;
}

/* --- inputs ---------------------------------------------------------------------- */

/* Read one of the user's matrices in the type that the rungs take. */
static bool read_input(struct climb *climb, const char *path, int type,
                       struct matrix *into, struct error *err)
{
    bool rounded = false;
    if (into->data && into->type == type)
        return true;
    matrix_free(into);
    if (!npy_read(path, type, into, &rounded, err))
        return false;
    if (rounded)
        climb_note(climb, "%.200s: values rounded to %s, the rungs' input type", path,
                   type_label(type));
    return true;
}

/* Hand the user's matrices to bench, in the type that this rung takes. */
static bool give_inputs(struct climb *climb, const struct rung *rung,
                        struct bench_options *bench, struct error *err)
{
    const struct options *o = climb->options;
    if (!o->a)
        return true;
    bench->a = &climb->a;
    bench->b = &climb->b;
    return read_input(climb, o->a, rung->info.in, &climb->a, err) &&
           read_input(climb, o->b, rung->info.in, &climb->b, err);
}

/* The size that the user's matrices have. */
static bool size_of_inputs(struct climb *climb, struct size *size, struct error *err)
{
    const struct options *o = climb->options;
    int type = writing_rung(climb)->info.in;
    if (!read_input(climb, o->a, type, &climb->a, err) ||
        !read_input(climb, o->b, type, &climb->b, err))
        return false;
    const struct matrix *a = &climb->a, *b = &climb->b;
    if (a->cols != b->rows)
        return error_set(
            err, EXIT_USAGE,
            "--a, --b: %.80s is %zu x %zu and %.80s is %zu x %zu: the columns "
            "of A must be as many as the rows of B",
            o->a, a->rows, a->cols, o->b, b->rows, b->cols);
    if (a->rows == 0 || a->cols == 0 || b->cols == 0)
        return error_set(err, EXIT_USAGE, "--a, --b: a matrix is empty");
    if (a->rows > SIZE_LIMIT || a->cols > SIZE_LIMIT || b->cols > SIZE_LIMIT)
        return error_set(err, EXIT_USAGE, "--a, --b: more than %d rows or columns",
                         SIZE_LIMIT);
    *size = (struct size){a->rows, b->cols, a->cols};
    return true;
}

/* --- running --------------------------------------------------------------------- */

static struct row *new_row(struct climb *climb)
{
    climb->rows =
        xrealloc(climb->rows, (size_t)(climb->row_count + 1) * sizeof *climb->rows);
    struct row *row = &climb->rows[climb->row_count++];
    *row = (struct row){0};
    return row;
}

static bool run_gpu(struct climb *climb, const struct rung *rung, struct size size,
                    struct error *err)
{
    struct bench_options bench;
    climb_bench_options(climb, rung, &size, &bench);
    if (!give_inputs(climb, rung, &bench, err))
        return false;
    if (climb_is_duel(climb) || (climb->options->out && rung == writing_rung(climb)))
        bench.c = &climb->c;
    bench_run(&climb->devices->gpu, rung, size, &bench, &new_row(climb)->result);
    return true;
}

static bool run_cpu(struct climb *climb, const struct rung *rung, struct size size,
                    struct error *err)
{
    if (!climb->options->a) {
        climb_run_cpu(climb, rung, size, new_row(climb));
        return true;
    }
    struct bench_options bench;
    climb_bench_options(climb, rung, &size, &bench);
    if (!give_inputs(climb, rung, &bench, err))
        return false;
    if (climb->options->out && rung == writing_rung(climb))
        bench.c = &climb->c;
    bench_run(&climb->devices->cpu, rung, size, &bench, &new_row(climb)->result);
    return true;
}

const struct row *climb_baseline(const struct climb *climb, const struct size *size)
{
    const struct row *best = NULL;
    for (int i = 0; i < climb->row_count; i++) {
        const struct row *row = &climb->rows[i];
        if (row_is_cpu(row) && row_passed(row) && row->result.time_ms > 0 &&
            memcmp(&row->result.size, size, sizeof *size) == 0 &&
            (!best || row->result.time_ms < best->result.time_ms))
            best = row;
    }
    return best;
}

/* With all of one size done: compare with the CPU, and hand out the JSON. */
static void finish_size(struct climb *climb, int first)
{
    const struct row *baseline = climb_baseline(climb, &climb->rows[first].result.size);
    for (int i = first; i < climb->row_count; i++) {
        struct row *row = &climb->rows[i];
        if (baseline && row_passed(row) && row->result.time_ms > 0)
            row->x_cpu = baseline->result.time_ms / row->result.time_ms;
        if (climb->json)
            json_write_row(climb->json->stream, row, climb->cards, climb->card_count);
    }
    if (climb->json && fflush(climb->json->stream) != 0)
        climb->reader_gone = true;
}

static bool run_size(struct climb *climb, struct size size, struct error *err)
{
    const struct selection *s = climb->selection;
    int first = climb->row_count;
    for (int i = 0; i < s->cpu_count && !interrupt_pending(); i++)
        if (!run_cpu(climb, s->cpu[i], size, err))
            return false;
    for (int i = 0; i < s->gpu_count && !interrupt_pending(); i++)
        if (!run_gpu(climb, s->gpu[i], size, err))
            return false;
    if (!interrupt_pending())
        finish_size(climb, first);
    return true;
}

/* --- the whole ------------------------------------------------------------------- */

struct size climb_default_size(const struct picked *devices)
{
    static const size_t edge[] = {
        [BACKEND_GPU] = 4096, [BACKEND_SIM] = 512, [BACKEND_CPU] = 1024};
    size_t n = edge[devices->has_gpu ? devices->gpu.backend : BACKEND_CPU];
    return (struct size){n, n, n};
}

static bool write_result(struct climb *climb, struct error *err)
{
    const struct row *last = &climb->rows[climb->row_count - 1];
    char name[64];
    row_name(last, name, sizeof name);
    if (!row_passed(last)) {
        climb_note(climb, "%.150s was not written: %s did not pass", climb->options->out,
                   name);
        return true;
    }
    if (!npy_write(climb->options->out, &climb->c, err))
        return false;
    climb_note(climb, "%.150s: %zu x %zu, %s, computed by %s", climb->options->out,
               climb->c.rows, climb->c.cols, type_label(climb->c.type), name);
    return true;
}

static int status_of_rows(const struct climb *climb)
{
    int status = EXIT_GOOD;
    for (int i = 0; i < climb->row_count; i++) {
        const struct result *r = &climb->rows[i].result;
        if (row_failed(&climb->rows[i]) && status == EXIT_GOOD)
            status = EXIT_WRONG;
        for (int f = 0; f < r->fault_count; f++)
            if (r->faults[f].kind == SIM_UNSUPPORTED)
                status = EXIT_OURS;
    }
    return status;
}

/* Push out what was printed; false if nobody takes it (main tells why) and no file
 * was asked for. */
static bool flush_text(struct climb *climb)
{
    if (climb->text && fflush(climb->text) != 0) {
        climb->text = NULL;
        climb->reader_gone |= !climb->json && !climb->options->out;
    }
    return !climb->reader_gone;
}

/* Better now than after an hour of smaller sizes. */
static bool check_memory(const struct climb *climb, const struct size *sizes, int count,
                         struct error *err)
{
    const struct selection *s = climb->selection;
    const char *option = climb->options->a ? "--a, --b" : "--size";
    struct error why = {0};
    bool fits = true;
    for (int i = 0; i < count && fits; i++) {
        for (int j = 0; j < s->gpu_count && fits; j++)
            fits = bench_fits(&climb->devices->gpu, s->gpu[j], sizes[i], &why);
        for (int j = 0; j < s->cpu_count && fits; j++)
            fits = bench_fits(&climb->devices->cpu, s->cpu[j], sizes[i], &why);
    }
    return fits || error_set(err, why.status, "%s: %s", option, why.text);
}

static bool run_all(struct climb *climb, struct error *err)
{
    const struct options *o = climb->options;
    struct size one = climb_default_size(climb->devices);
    if (o->a && !size_of_inputs(climb, &one, err))
        return false;
    const struct size *sizes = o->size_count > 0 ? o->sizes : &one;
    int count = o->size_count > 0 ? o->size_count : 1;
    if (!check_memory(climb, sizes, count, err))
        return false;
    if (climb->text)
        climb_print_header(climb, sizes, count);
    for (int i = 0; i < count && flush_text(climb) && !interrupt_pending(); i++)
        if (!run_size(climb, sizes[i], err))
            return false;
    progress_clear();
    if (interrupt_pending() || climb->reader_gone)
        return true;
    if (climb->text)
        climb_print_tables(climb);
    if (climb->text && climb_is_duel(climb))
        climb_print_duel(climb);
    bool written = !o->out || write_result(climb, err);
    if (climb->text)
        climb_print_notes(climb);
    if (climb->text && o->counters)
        counters_print(climb->text, climb->rows, climb->row_count);
    if (climb->text && o->explain)
        explain_print(climb->text, climb->rows, climb->row_count);
    flush_text(climb);
    return written;
}

int climb_run(struct climb *climb, struct error *err)
{
    bool good = run_all(climb, err);
    progress_clear();
    if (interrupt_pending())
        return EXIT_INTERRUPTED;
    return good ? status_of_rows(climb) : err->status;
}

void climb_free(struct climb *climb)
{
    for (int i = 0; i < climb->row_count; i++)
        result_free(&climb->rows[i].result);
    free(climb->rows);
    free(climb->notes);
    matrix_free(&climb->a);
    matrix_free(&climb->b);
    matrix_free(&climb->c);
}
