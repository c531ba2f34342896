/* ceiling_gpu.c - launch and time a kernel of 00_machine.cu, real or simulated GPU.
 *
 * The number of steps grows until a launch takes TARGET ms, so that what a launch costs
 * (3 us) is lost in it. The simulator runs one block of
 * the grid, of a copy a few; all do the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ceiling_parts.h"

extern const unsigned char image_00_machine[];

static const double TARGET_GPU_MS = 5, TARGET_SIM_MS = 0.6;
enum { WARMUPS = 3, REPS = 15, REPS_MAX = 1000, SAMPLE = 1, COPY_SAMPLE = 16 };
/* TENSOR_CHAINS * steps * 16 products up to 2 * 2 stay below 2^24: exact in FP32 */
enum { FIRST_STEPS = 128, TENSOR_STEPS_MAX = 32256, FMA_STEPS_MAX = 1 << 20 };

static const char *const entries[CEILING_KINDS] = {[CEILING_FMA] = "fma_only",
                                                   [CEILING_TENSOR] = "tensor_only",
                                                   [CEILING_COPY] = "copy_only"};

bool ceiling_failed(struct ceiling_run *r, const char *what, CUresult result)
{
    return ceiling_fail(r->c, "%s: %s", what, load_failure(r->device, result));
}

bool ceiling_block_ran(const struct ceiling_run *r, unsigned block)
{
    return r->device->backend != BACKEND_SIM || sim_block_ran(block, 0, 0);
}

/* --- one launch --------------------------------------------------------------------- */

static CUresult enqueue(const struct ceiling_run *r)
{
    CUdeviceptr in = r->in, in_b = r->in_b, out = r->out;
    int steps = r->steps;
    void *fma[] = {&steps, &in, &out}, *tensor[] = {&steps, &in, &in_b, &out};
    void *copy[] = {&in, &out};
    void **parameters = r->c->kind == CEILING_FMA      ? fma
                        : r->c->kind == CEILING_TENSOR ? tensor
                                                       : copy;
    if (r->device->backend == BACKEND_SIM)
        sim_set_sample(r->c->kind == CEILING_COPY ? COPY_SAMPLE : SAMPLE,
                       r->options->seed);
    return r->device->api->launch(r->function, r->blocks, 1, 1, r->threads, 1, 1, 0, NULL,
                                  parameters, NULL);
}

/* Between two events on the device, and the host waits for the second. */
static bool launch(struct ceiling_run *r, double *ms)
{
    const struct cuda_api *api = r->device->api;
    float elapsed = 0;
    CUresult result;
    if ((result = api->event_record(r->start, NULL)) != CUDA_SUCCESS ||
        (result = enqueue(r)) != CUDA_SUCCESS ||
        (result = api->event_record(r->end, NULL)) != CUDA_SUCCESS ||
        (result = api->event_sync(r->end)) != CUDA_SUCCESS ||
        (result = api->event_elapsed(&elapsed, r->start, r->end)) != CUDA_SUCCESS)
        return ceiling_failed(r, "launching the kernel", result);
    *ms = elapsed;
    return true;
}

/* --- demonstrations: wrong on purpose ------------------------------------------------- */

/* A launch only puts work into a queue: the host is back long before the work is done.
 * On the simulator the queue costs what its model takes for a launch. */
static bool time_without_sync(struct ceiling_run *r, double *ms)
{
    double before = ceiling_now();
    CUresult result = enqueue(r);
    *ms = (ceiling_now() - before) * 1e3;
    if (result == CUDA_SUCCESS)
        result = r->device->api->context_sync();
    if (result == CUDA_SUCCESS && r->device->backend == BACKEND_SIM)
        *ms = sim_last_report()->ceiling_ms[SIM_BOUND_LAUNCH];
    return result == CUDA_SUCCESS || ceiling_failed(r, "launching the kernel", result);
}

static bool time_with_copies(struct ceiling_run *r, double *ms)
{
    const struct cuda_api *api = r->device->api;
    if (r->device->backend == BACKEND_SIM) {
        bool good = launch(r, ms);
        *ms += (double)(r->in_bytes + r->out_bytes) / (CEILING_LINK_GBS * 1e6);
        return good;
    }
    size_t bytes = r->in_bytes > r->out_bytes ? r->in_bytes : r->out_bytes;
    char *host = xmalloc(bytes);
    CUresult result = api->copy_to_host(host, r->in, r->in_bytes); /* what goes over */
    double before = ceiling_now();
    if (result == CUDA_SUCCESS)
        result = api->copy_to_device(r->in, host, r->in_bytes);
    if (result == CUDA_SUCCESS)
        result = enqueue(r);
    if (result == CUDA_SUCCESS)
        result = api->copy_to_host(host, r->out, r->out_bytes);
    *ms = (ceiling_now() - before) * 1e3;
    free(host);
    return result == CUDA_SUCCESS || ceiling_failed(r, "copying", result);
}

static bool time_once(struct ceiling_run *r, double *ms)
{
    switch (r->options->mistake) {
    case MISTAKE_NO_SYNC:
        return time_without_sync(r, ms);
    case MISTAKE_HOST_COPY:
        return time_with_copies(r, ms);
    default:
        return launch(r, ms);
    }
}

/* --- all of them ---------------------------------------------------------------------- */

static bool load(struct ceiling_run *r)
{
    const struct cuda_api *api = r->device->api;
    double before = ceiling_now();
    CUresult result = api->module_load(&r->module, image_00_machine);
    if (result == CUDA_SUCCESS)
        result = api->module_function(&r->function, r->module, entries[r->c->kind]);
    r->load_ms = (ceiling_now() - before) * 1e3;
    if (result != CUDA_SUCCESS)
        return ceiling_failed(r, "loading kernels/00_machine.cu", result);
    if ((result = api->event_create(&r->start, CU_EVENT_DEFAULT)) != CUDA_SUCCESS ||
        (result = api->event_create(&r->end, CU_EVENT_DEFAULT)) != CUDA_SUCCESS)
        return ceiling_failed(r, "creating an event", result);
    return true;
}

/* As many blocks as fit at once; a copy: as many as it has pieces. */
static bool choose_grid(struct ceiling_run *r)
{
    int resident = 0;
    r->threads = r->c->kind == CEILING_FMA      ? FMA_THREADS
                 : r->c->kind == CEILING_TENSOR ? TENSOR_THREADS
                                                : COPY_THREADS;
    CUresult result =
        r->device->api->occupancy(&resident, r->function, (int)r->threads, 0);
    if (result != CUDA_SUCCESS || resident < 1)
        return ceiling_failed(r, "asking for the occupancy", result);
    r->blocks = (unsigned)resident * (unsigned)r->device->sm_count;
    return true;
}

static double work(const struct ceiling_run *r)
{
    double blocks = r->blocks, steps = r->steps;
    switch (r->c->kind) {
    case CEILING_FMA:
        return blocks * FMA_THREADS * FMA_CHAINS * steps * 2;
    case CEILING_TENSOR:
        return blocks * (TENSOR_THREADS / 32) * TENSOR_CHAINS * steps * 2 * TENSOR_TILE *
               TENSOR_TILE * TENSOR_TILE;
    default:
        return blocks * COPY_BLOCK_BYTES * 2;
    }
}

/* Steps enough for TARGET ms; a multiple of the unrolled ones. */
static bool choose_steps(struct ceiling_run *r, double *first_ms)
{
    double target = r->device->backend == BACKEND_SIM ? TARGET_SIM_MS : TARGET_GPU_MS;
    bool tensor = r->c->kind == CEILING_TENSOR;
    int most = tensor ? TENSOR_STEPS_MAX : FMA_STEPS_MAX;
    int unroll = tensor ? TENSOR_UNROLL : FMA_UNROLL;
    r->steps = FIRST_STEPS;
    if (!launch(r, first_ms))
        return false;
    for (double ms = *first_ms;
         r->c->kind != CEILING_COPY && ms < 0.95 * target && r->steps < most;) {
        double more = fmin(target / ms, 16) * r->steps;
        r->steps = more < most ? ((int)more / unroll + 1) * unroll : most;
        if (!launch(r, &ms))
            return false;
    }
    return true;
}

static bool run(struct ceiling_run *r)
{
    bool sim = r->device->backend == BACKEND_SIM;
    double times[REPS_MAX], first_ms = 0, ms;
    int reps = r->options->reps ? r->options->reps : REPS;
    if (!load(r) || !choose_grid(r) || !ceiling_inputs(r) ||
        !choose_steps(r, &first_ms) || !ceiling_fill_sampled(r))
        return false;
    for (int i = 0; i < WARMUPS && !sim; i++)
        if (!launch(r, &ms))
            return false;
    reps = sim ? 1 : reps < REPS_MAX ? reps : REPS_MAX;
    for (int i = 0; i < reps; i++)
        if (interrupt_pending() || !time_once(r, &times[i]))
            return ceiling_fail(r->c, "interrupted");
    struct ceiling *c = r->c;
    c->reps = reps;
    c->work = work(r);
    c->time_ms = ceiling_median(times, reps, &c->spread_pct);
    if (r->options->mistake == MISTAKE_COLD)
        c->time_ms = r->load_ms + fmax(c->time_ms, sim ? 0 : first_ms);
    return ceiling_check(r);
}

void ceiling_gpu(const struct device *device, const struct ceiling_options *options,
                 struct ceiling *c)
{
    const struct cuda_api *api = device->api;
    struct ceiling_run r = {.device = device, .options = options, .c = c};
    const CUdeviceptr *const buffers[] = {&r.in, &r.in_b, &r.out};
    c->predicted = device->backend == BACKEND_SIM;
    if (c->kind == CEILING_TRIAD) {
        ceiling_fail(c, "measured on the CPU only");
        return;
    }
    run(&r);
    for (int i = 0; i < 3; i++)
        if (*buffers[i])
            api->memory_free(*buffers[i]);
    if (r.start)
        api->event_destroy(r.start);
    if (r.end)
        api->event_destroy(r.end);
    if (r.module)
        api->module_unload(r.module);
    if (device->backend == BACKEND_SIM)
        sim_set_sample(0, 0);
}
