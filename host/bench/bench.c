/* bench.c - the protocol of a result row.
 *
 *   1. a tiny shape, none of whose sides is even, with whole numbers: exact or wrong,
 *      with alpha and beta, so that a missing edge guard or a dropped term shows
 *      (not for somebody else's kernel, which may be made for one size alone);
 *   2. the size asked for: random numbers, NaN-poisoned C, guard zones, every cell
 *      checked against double-precision sums;
 *   3. warm-up, repeats until the median settles, and the check once more.
 *
 * Any failure ends it: no rate without a verdict.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_parts.h"

struct steps {
    bool (*open)(struct runner *r);
    bool (*prepare)(struct runner *r);
    bool (*launch)(struct runner *r, double *ms);
    bool (*collect)(struct runner *r);
    void (*close)(struct runner *r);
};

static const struct steps gpu_steps = {gpu_open, gpu_prepare, gpu_launch, gpu_collect,
                                       gpu_close};
static const struct steps cpu_steps = {cpu_open, cpu_prepare, cpu_launch, cpu_collect,
                                       cpu_close};

static const struct steps *steps_of(const struct device *device)
{
    return device->backend == BACKEND_CPU ? &cpu_steps : &gpu_steps;
}

/* --- which cells are due ---------------------------------------------------------------- */

/* A sampled launch: the cells of the blocks that ran. */
static bool cell_selected(const void *context, size_t row, size_t col)
{
    const struct kernel_info *info = context;
    unsigned by_n = (unsigned)(col / (size_t)info->bn);
    unsigned by_m = (unsigned)(row / (size_t)info->bm);
    return info->grid == KERNEL_GRID_X_IS_N ? sim_block_ran(by_n, by_m, 0)
                                            : sim_block_ran(by_m, by_n, 0);
}

static bool check(struct runner *r, bool exact)
{
    const struct kernel_info *info = &r->rung->info;
    struct problem problem = {.alpha = r->alpha,
                              .beta = r->beta,
                              .a = r->a,
                              .b = r->b,
                              .c_before = r->c_before,
                              .acc = info->acc,
                              .unit = info->unit,
                              .selected = r->sample_blocks > 0 ? cell_selected : NULL,
                              .context = info};
    verdict_check(&problem, r->c, exact, r->verdict);
    return r->verdict->kind == VERDICT_PASS;
}

/* --- the tiny exact run ------------------------------------------------------------------- */

/* Sides of the tiny problem: odd, or the multiples that the rung demands. */
static struct size tiny_size(const struct kernel_info *info)
{
    struct size size = {33, 35, 37};
    if (info->multiple_m > 1)
        size.m = (size_t)info->multiple_m;
    if (info->multiple_n > 1)
        size.n = (size_t)info->multiple_n;
    if (info->multiple_k > 1)
        size.k = (size_t)info->multiple_k;
    return size;
}

/* Largest whole numbers whose sums of k products stay exact in the narrowest type. */
static int whole_limit(const struct kernel_info *info, size_t k)
{
    double exact = info->acc == KERNEL_F16 || info->out == KERNEL_F16     ? 2048
                   : info->acc == KERNEL_BF16 || info->out == KERNEL_BF16 ? 256
                                                                          : 16777216;
    double most = sqrt(exact / 4 / (double)k);
    return most >= 8 ? 8 : most >= 1 ? (int)most : 1;
}

static bool exact_run(const struct device *device, const struct rung *rung,
                      struct size size, double alpha, double beta, struct result *result)
{
    const struct kernel_info *info = &rung->info;
    struct matrix a = {0}, b = {0}, c = {0}, before = {0};
    struct error err = {0};
    struct verdict *v = &result->verdict;
    bool good = matrix_alloc(&a, info->in, size.m, size.k, &err) &&
                matrix_alloc(&b, info->in, size.k, size.n, &err) &&
                matrix_alloc(&c, info->out, size.m, size.n, &err) &&
                matrix_alloc(&before, info->out, size.m, size.n, &err);
    if (!good)
        verdict_set(v, VERDICT_LAUNCH_FAILED, "%s", err.text);
    int limit = whole_limit(info, size.k);
    struct runner r = {.device = device,
                       .rung = rung,
                       .size = size,
                       .alpha = alpha,
                       .beta = beta,
                       .a = &a,
                       .b = &b,
                       .c = &c,
                       .c_before = beta != 0 ? &before : NULL,
                       .verdict = v,
                       .result = result};
    const struct steps *steps = steps_of(device);
    if (good) {
        matrix_fill_whole(&a, 11, limit);
        matrix_fill_whole(&b, 22, limit);
        matrix_fill_whole(&before, 33, limit);
        good = steps->open(&r) && steps->prepare(&r) && steps->launch(&r, NULL) &&
               steps->collect(&r) && check(&r, true);
        steps->close(&r);
        if (!good && v->kind != VERDICT_INTERRUPTED && v->kind != VERDICT_FAULT) {
            char reason[sizeof v->reason];
            memcpy(reason, v->reason, sizeof reason);
            snprintf(v->reason, sizeof v->reason,
                     "at %zux%zux%zu with whole numbers: %.300s", size.m, size.n, size.k,
                     reason);
        }
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
    matrix_free(&before);
    return good;
}

/* --- the size asked for --------------------------------------------------------------- */

/* Multiply-adds that the simulator may run for one launch before it samples. */
static double simulated_budget(const struct device *device,
                               const struct kernel_info *info)
{
    (void)device;
    return info->unit == KERNEL_TENSOR_CORES ? 4e9 : 6e8;
}

/* 0 = run all blocks */
static uint64_t choose_sample(const struct device *device, const struct kernel_info *info,
                              struct size size, uint64_t wanted)
{
    double work = (double)size.m * (double)size.n * (double)size.k;
    double down = ceil((double)size.m / info->bm),
           across = ceil((double)size.n / info->bn);
    double blocks = down * across;
    if (device->backend != BACKEND_SIM)
        return 0;
    if (wanted > 0)
        return wanted < blocks ? wanted : 0;
    if (work <= simulated_budget(device, info))
        return 0;
    double per_block = (double)info->bm * info->bn * (double)size.k;
    double sample = floor(simulated_budget(device, info) / 4 / per_block);
    sample = sample < 4 ? 4 : sample;
    return sample < blocks ? (uint64_t)sample : 0;
}

static bool divides(const struct kernel_info *info, struct size size, struct verdict *v)
{
    if (size.m % (size_t)info->multiple_m == 0 &&
        size.n % (size_t)info->multiple_n == 0 && size.k % (size_t)info->multiple_k == 0)
        return true;
    return verdict_set(v, VERDICT_LAUNCH_FAILED,
                       "this rung needs m, n, k to be multiples of %d, %d, %d",
                       info->multiple_m, info->multiple_n, info->multiple_k);
}

static void take_report(struct result *result, const struct device *device)
{
    const struct sim_report *report =
        device->backend == BACKEND_SIM ? sim_last_report() : NULL;
    if (report == NULL)
        return;
    result->has_counters = true;
    result->sampled = report->sampled;
    result->counters = report->counters;
    result->occupancy = report->occupancy;
    result->bound_by = report->bound_by;
    int count;
    const struct sim_site *sites = sim_last_sites(&count);
    free(result->sites);
    result->sites = NULL;
    result->site_count = count;
    if (count > 0) {
        result->sites = xmalloc((size_t)count * sizeof *sites);
        memcpy(result->sites, sites, (size_t)count * sizeof *sites);
    }
}

/* A rate above 1.15 x the peak, or a time of nothing, is a mistake somewhere. */
static bool plausible(struct result *result, double tflops)
{
    const struct device *d = result->device;
    const struct kernel_info *info = &result->rung.info;
    bool published;
    double peak = d->backend == BACKEND_CPU ? d->cpu_peak_gflops / 1e3
                  : d->peak != NULL
                      ? peak_tflops(d->peak, info->unit, info->in, info->acc, &published)
                      : NAN;
    if (!(result->time_ms > 1e-4))
        return verdict_set(&result->verdict, VERDICT_TOO_FAST,
                           "%.3g ms is below what the clock can tell", result->time_ms);
    /* a CPU's clock is not known well: its turbo may double it */
    double slack = d->backend == BACKEND_CPU ? 3 : 1.15;
    if (peak > 0 && tflops > slack * peak)
        return verdict_set(&result->verdict, VERDICT_TOO_FAST,
                           "%.1f TFLOPS is more than the card's peak of %.1f", tflops,
                           peak);
    return true;
}

static void progress(const struct bench_options *o, const char *what, double fraction)
{
    if (o->progress != NULL)
        o->progress(o->progress_context, what, fraction);
}

static bool timed_run(struct runner *r, const struct bench_options *o,
                      struct result *result)
{
    const struct steps *steps = steps_of(r->device);
    bool sim = r->device->backend == BACKEND_SIM, cpu = r->device->backend == BACKEND_CPU;
    struct timing timing = {0};
    if (!steps->open(r) || !steps->prepare(r))
        return false;
    progress(o, "running", 0.2);
    double first_ms = 0;
    if (!steps->launch(r, &first_ms))
        return false;
    take_report(result, r->device);
    if (!steps->collect(r))
        return false;
    progress(o, "checking", 0.6);
    if (o->verify && !check(r, false))
        return false;
    if (sim) { /* the model gives the same time every time */
        timing = (struct timing){.median_ms = first_ms, .reps = 1};
    } else {
        progress(o, "timing", 0.8);
        double budget = cpu ? 600 : 1000;
        int warmup = o->warmup > 0 ? o->warmup : cpu ? 1 : 3;
        if (cpu && first_ms > 2000)
            warmup = 0;
        int least = cpu ? (first_ms > 2000 ? 1 : 3) : 10;
        struct verdict kept = result->verdict;
        if (!timing_repeat(steps->launch, r, o->reps, warmup, budget, least, &timing))
            return false;
        /* right before the timing is not right after it */
        if (!steps->prepare(r) || !steps->launch(r, NULL) || !steps->collect(r))
            return false;
        if (o->verify && !check(r, false))
            return false;
        result->verdict = kept;
    }
    result->time_ms = timing.median_ms;
    result->spread_pct = timing.spread_pct;
    result->reps = timing.reps;
    if (!o->verify) {
        result->verdict.kind = VERDICT_SKIPPED;
        return true;
    }
    double flops = 2.0 * (double)r->size.m * (double)r->size.n * (double)r->size.k;
    double tflops = flops / (result->time_ms * 1e-3) / 1e12;
    if (!plausible(result, tflops))
        return false;
    result->tflops = tflops;
    return true;
}

/* Matrix A, B or C; it stays without data if the call does not take it. */
static bool new_matrix(const struct rung *rung, enum call_kind which, int type,
                       size_t rows, size_t cols, struct matrix *m, struct error *err)
{
    const struct call *call = rung->call;
    if (call && !call_uses(call, which)) {
        *m = (struct matrix){.type = type,
                             .stride = call->by_columns[which] ? rows : cols};
        return true;
    }
    if (!matrix_alloc(m, type, rows, cols, err))
        return false;
    if (call && call->by_columns[which])
        matrix_by_columns(m);
    return true;
}

/* Which cells a block of somebody else's kernel computes is a guess: no sample of it may
 * say that the result is wrong. */
static bool may_be_sampled_wrongly(const struct rung *rung, const struct result *result)
{
    enum verdict_kind kind = result->verdict.kind;
    return rung->call && (kind == VERDICT_NOT_WRITTEN || kind == VERDICT_WROTE_OUTSIDE ||
                          kind == VERDICT_NOT_FINITE || kind == VERDICT_TOO_FAR ||
                          kind == VERDICT_WRONG_PRECISION);
}

static bool big_run(const struct device *device, const struct rung *rung,
                    struct size size, const struct bench_options *o,
                    struct result *result)
{
    const struct kernel_info *info = &rung->info;
    struct matrix a = {0}, b = {0}, c = {0}, before = {0};
    struct error err = {0};
    bool own = o->a == NULL;
    bool good =
        new_matrix(rung, CALL_C, info->out, size.m, size.n, &c, &err) &&
        (!own || (new_matrix(rung, CALL_A, info->in, size.m, size.k, &a, &err) &&
                  new_matrix(rung, CALL_B, info->in, size.k, size.n, &b, &err))) &&
        (o->beta == 0 ||
         new_matrix(rung, CALL_C, info->out, size.m, size.n, &before, &err));
    if (!good) {
        verdict_set(&result->verdict, VERDICT_LAUNCH_FAILED, "%s", err.text);
    } else {
        if (own) {
            matrix_fill_uniform(&a, o->seed);
            matrix_fill_uniform(&b, o->seed + 1);
        }
        if (o->beta != 0)
            matrix_fill_uniform(&before, o->seed + 2);
        struct runner r = {.device = device,
                           .rung = rung,
                           .size = size,
                           .alpha = o->alpha,
                           .beta = o->beta,
                           .a = own ? &a : o->a,
                           .b = own ? &b : o->b,
                           .c = &c,
                           .c_before = o->beta != 0 ? &before : NULL,
                           .seed = o->seed,
                           .verdict = &result->verdict,
                           .result = result};
        if (own && (!rung->call || rung->call->tiled))
            r.sample_blocks = choose_sample(device, info, size, o->sample_blocks);
        good = timed_run(&r, o, result);
        steps_of(device)->close(&r);
        if (!good && r.sample_blocks > 0 && may_be_sampled_wrongly(rung, result)) {
            r.sample_blocks = 0;
            good = timed_run(&r, o, result);
            steps_of(device)->close(&r);
        }
        if (device->backend == BACKEND_SIM)
            sim_set_sample(0, 0);
    }
    if (good && o->c != NULL) {
        matrix_free(o->c);
        *o->c = c;
        memset(&c, 0, sizeof c);
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
    matrix_free(&before);
    return good;
}

/* --- memory ---------------------------------------------------------------------------- */

/* What a call's buf: arguments take. */
static double extra_bytes(const struct call *call, struct size size)
{
    static const size_t strides[3];
    double sum = 0;
    for (int i = 0; call && i < call->arg_count; i++) {
        union call_value value;
        if (call->args[i].kind == CALL_BUFFER &&
            call_get_value(&call->args[i], size, strides, &value, NULL))
            sum += (double)value.pointer;
    }
    return sum;
}

bool bench_fits(const struct device *device, const struct rung *rung, struct size size,
                struct error *err)
{
    const struct kernel_info *info = &rung->info;
    const struct call *call = rung->call;
    double m = (double)size.m, n = (double)size.n, k = (double)size.k;
    const double bytes[3] = {m * k * kernel_type_bytes(info->in),
                             k * n * kernel_type_bytes(info->in),
                             m * n * kernel_type_bytes(info->out)};
    double matrices = 0, here, has = matrix_memory();
    for (int i = 0; i < 3; i++)
        if (!call || call_uses(call, (enum call_kind)(CALL_A + i)))
            matrices += bytes[i];
    here = matrices;
    if (device->backend != BACKEND_CPU) {
        size_t free_bytes = 0, total = 0;
        double there = matrices + extra_bytes(call, size);
        device->api->memory_info(&free_bytes, &total);
        if (there > (double)free_bytes)
            return error_set(
                err, EXIT_USAGE,
                "%zu x %zu x %zu does not fit: the matrices need %.3g GB, %s "
                "has %.3g GB free",
                size.m, size.n, size.k, there / 1e9, device->id,
                (double)free_bytes / 1e9);
        here += device->backend == BACKEND_SIM ? there : 0;
    }
    return here <= has ||
           error_set(err, EXIT_USAGE,
                     "%zu x %zu x %zu does not fit: the matrices need %.3g GB%s, this "
                     "machine can give %.3g GB",
                     size.m, size.n, size.k, here / 1e9,
                     device->backend == BACKEND_SIM ? ", once here and once in the "
                                                      "simulated GPU"
                                                    : "",
                     has / 1e9);
}

/* --- leaks ----------------------------------------------------------------------------- */

static int count_leaks(const struct device *device, const struct bench_options *o)
{
    return device->backend == BACKEND_SIM && o->check_all ? sim_leaks(NULL, 0) : 0;
}

/* What the kernel's malloc gave out and its free did not take back, in all its launches:
 * more leaks than `before`. */
static void take_leaks(struct result *result, const struct bench_options *o, int before)
{
    int count = count_leaks(result->device, o);
    if (count <= before || result->fault_count > 0)
        return;
    struct sim_fault *leaks = xcalloc((size_t)count, sizeof *leaks);
    sim_leaks(leaks, count);
    free(result->faults);
    result->faults = xmalloc(sizeof *leaks);
    *result->faults = leaks[before];
    result->fault_count = 1;
    result->tflops = 0;
    const struct sim_fault *f = result->faults;
    verdict_set(&result->verdict, VERDICT_FAULT,
                "leak at %s:%d, block (%u,%u,%u), thread (%u,%u,%u): %s; %d such in all",
                f->file, f->line, f->block[0], f->block[1], f->block[2], f->thread[0],
                f->thread[1], f->thread[2], f->detail, count - before);
    free(leaks);
}

/* --- all of it ------------------------------------------------------------------------- */

void bench_run(const struct device *device, const struct rung *rung, struct size size,
               const struct bench_options *o, struct result *result)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    memset(result, 0, sizeof *result);
    result->rung = *rung;
    result->device = device;
    result->size = size;
    result->predicted = device->backend == BACKEND_SIM;
    result->verdict.kind = VERDICT_SKIPPED;
    const struct kernel_info *info = &rung->info;
    const int leaks = count_leaks(device, o);
    if (device->backend == BACKEND_SIM)
        sim_set_check(o->check_all);
    sim_set_explain(o->explain);
    if (device->backend != BACKEND_CPU && device->cc < info->min_cc) {
        verdict_set(&result->verdict, VERDICT_LAUNCH_FAILED,
                    "this rung needs compute capability %d.%d, the device has %d.%d",
                    info->min_cc / 10, info->min_cc % 10, device->cc / 10,
                    device->cc % 10);
    } else if (divides(info, size, &result->verdict)) {
        struct size tiny = tiny_size(info);
        bool good = true;
        if (o->verify && o->a == NULL && !rung->call) {
            progress(o, "exact check", 0);
            good = exact_run(device, rung, tiny, 1, 0, result) &&
                   exact_run(device, rung, tiny, 3, 2, result);
        }
        if (good)
            big_run(device, rung, size, o, result);
        take_leaks(result, o, leaks);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    result->wall_seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

void result_free(struct result *result)
{
    free(result->faults);
    free(result->sites);
    result->sites = NULL;
    result->site_count = 0;
    result->faults = NULL;
    result->fault_count = 0;
}
