/* sim_driver_launch.c - a launch: is it allowed, which blocks run, what came of
 * it. run_grid.c executes, counters.c counts, model.c predicts; this file puts
 * the three into the report and moves the stream's virtual clock on.
 *
 * Limits of a launch: CUDA C++ Programming Guide, technical specifications per
 * compute capability.
 */
#include "async.h"
#include "check.h"
#include "counters.h"
#include "explain.h"
#include "run.h"
#include "sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The last launch: its report, and which of its blocks ran. */
static struct {
    bool done;
    struct sim_report report;
    struct sim_fault *faults;
    uint64_t *blocks; /* sorted; NULL = all */
    uint64_t block_count;
    struct sim_site *sites;
    int site_count;
} last;

void sim_launch_reset(void)
{
    free(last.faults);
    free(last.blocks);
    free(last.sites);
    memset(&last, 0, sizeof last);
}

const struct sim_site *sim_last_sites(int *count)
{
    *count = last.site_count;
    return last.sites;
}

const struct sim_report *sim_last_report(void)
{
    return last.done ? &last.report : NULL;
}

/* --- sampling ------------------------------------------------------------- */

void sim_set_sample(uint64_t max_blocks, uint64_t seed)
{
    sim_state.sample_blocks = max_blocks;
    sim_state.sample_seed = seed;
}

/* splitmix64: a good stream of numbers from any seed. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* One block out of each of `wanted` equal parts of the grid: a random sample
 * that is spread over the grid, sorted, without repeats. */
static uint64_t *sample_blocks(uint64_t total, uint64_t wanted, uint64_t seed)
{
    uint64_t *blocks = xcalloc(wanted, sizeof *blocks);
    uint64_t part = total / wanted, longer = total % wanted, start = 0;
    for (uint64_t i = 0; i < wanted; i++) {
        uint64_t length = part + (i < longer);
        blocks[i] = start + random_next(&seed) % length;
        start += length;
    }
    return blocks;
}

static int compare_blocks(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool sim_block_ran(unsigned x, unsigned y, unsigned z)
{
    const unsigned *grid = last.report.grid;
    if (!last.done || x >= grid[0] || y >= grid[1] || z >= grid[2])
        return false;
    uint64_t linear = x + (uint64_t)grid[0] * (y + (uint64_t)grid[1] * z);
    return !last.blocks || bsearch(&linear, last.blocks, (size_t)last.block_count,
                                   sizeof linear, compare_blocks);
}

/* --- is it allowed -------------------------------------------------------- */

struct shape {
    unsigned grid[3], block[3];
    unsigned dynamic_smem;
};

static CUresult check_dimensions(const struct CUfunc_st *f, const struct shape *shape)
{
    static const unsigned grid_limit[3] = {0x7fffffff, 65535, 65535};
    static const unsigned block_limit[3] = {1024, 1024, 64};
    static const char axis[] = "xyz";
    for (int i = 0; i < 3; i++) {
        if (shape->grid[i] == 0 || shape->grid[i] > grid_limit[i])
            return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                              "kernel %s: grid.%c is %u; 1 to %u are possible",
                              f->ptx->name, axis[i], shape->grid[i], grid_limit[i]);
        if (shape->block[i] == 0 || shape->block[i] > block_limit[i])
            return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                              "kernel %s: block.%c is %u; 1 to %u are possible",
                              f->ptx->name, axis[i], shape->block[i], block_limit[i]);
        if (f->ptx->reqntid[0] > 0 &&
            (int)shape->block[i] != (f->ptx->reqntid[i] > 0 ? f->ptx->reqntid[i] : 1))
            return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                              "kernel %s: block.%c is %u, but it was compiled for %d",
                              f->ptx->name, axis[i], shape->block[i], f->ptx->reqntid[i]);
    }
    return CUDA_SUCCESS;
}

static CUresult check_resources(const struct CUfunc_st *f, const struct shape *shape)
{
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (threads > SIM_MAX_BLOCK_THREADS)
        return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                          "kernel %s: %llu threads a block; 1024 are the most",
                          f->ptx->name, (unsigned long long)threads);
    if (threads > (uint64_t)sim_function_max_threads(f))
        return sim_refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                          "kernel %s: %llu threads a block; its launch bounds and its %d "
                          "registers a thread allow %d",
                          f->ptx->name, (unsigned long long)threads, f->registers,
                          sim_function_max_threads(f));
    if (shape->dynamic_smem > (unsigned)f->max_dynamic_smem)
        return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                          "kernel %s: %u bytes of dynamic shared memory, %d are allowed; "
                          "raise it with cuFuncSetAttribute("
                          "MAX_DYNAMIC_SHARED_SIZE_BYTES), to %d at most",
                          f->ptx->name, shape->dynamic_smem, f->max_dynamic_smem,
                          f->module->context->spec->smem_bytes_block_optin -
                              (int)sim_function_dynamic_base(f));
    if (f->static_smem > SIM_DEFAULT_SMEM)
        return sim_refuse(CUDA_ERROR_INVALID_PTX,
                          "kernel %s: %llu bytes of static shared memory; %d are the "
                          "most, more must be dynamic",
                          f->ptx->name, (unsigned long long)f->static_smem,
                          SIM_DEFAULT_SMEM);
    return CUDA_SUCCESS;
}

/* --- parameters ----------------------------------------------------------- */

/* cuLaunchKernel's `extra`: {1, buffer, 2, &size, 0}. */
static bool parse_extra(void **extra, const void **buffer, size_t *bytes)
{
    enum { END = 0, BUFFER_POINTER = 1, BUFFER_SIZE = 2, MOST_WORDS = 8 };
    for (int i = 0; i < MOST_WORDS && (uintptr_t)extra[i] != END; i += 2) {
        if ((uintptr_t)extra[i] == BUFFER_POINTER)
            *buffer = extra[i + 1];
        else if ((uintptr_t)extra[i] == BUFFER_SIZE && extra[i + 1])
            memcpy(bytes, extra[i + 1], sizeof *bytes);
        else
            return false;
    }
    return *buffer != NULL;
}

/* Copy the caller's values into one block laid out as the PTX says. */
static CUresult gather_parameters(const struct CUfunc_st *f, void **parameters,
                                  void **extra, uint8_t *block)
{
    const struct ptx_function *ptx = f->ptx;
    if (extra && parameters)
        return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                          "kernel %s: both kernelParams and extra are given", ptx->name);
    if (extra) {
        const void *buffer = NULL;
        size_t bytes = 0;
        if (!parse_extra(extra, &buffer, &bytes) || bytes > ptx->param_bytes)
            return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                              "kernel %s: extra is not {BUFFER_POINTER, p, BUFFER_SIZE, "
                              "&bytes, END} with at most %llu bytes",
                              ptx->name, (unsigned long long)ptx->param_bytes);
        memcpy(block, buffer, bytes);
        return CUDA_SUCCESS;
    }
    for (int i = 0; i < ptx->param_count; i++) {
        const struct ptx_var *p = ptx->params[i];
        if (!parameters || !parameters[i])
            return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                              "kernel %s takes %d parameters; number %d (%s) is missing",
                              ptx->name, ptx->param_count, i + 1, p->name);
        memcpy(block + p->offset_bytes, parameters[i], (size_t)p->size_bytes);
    }
    return CUDA_SUCCESS;
}

/* --- the launch ----------------------------------------------------------- */

/* What the hardware would say of a fault. */
static CUresult fault_code(const struct sim_fault *fault)
{
    switch (fault->kind) {
    case SIM_OUT_OF_BOUNDS:
    case SIM_USE_AFTER_FREE:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SIM_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SIM_TIMEOUT:
    case SIM_DEADLOCK:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case SIM_TRAP:
        return strstr(fault->detail, "assert") ? CUDA_ERROR_ASSERT
                                               : CUDA_ERROR_LAUNCH_FAILED;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* Scale the counts of a sample to the whole grid. Every field behind the first
 * two is a count that grows with the blocks. */
static void scale_counters(struct sim_counters *c)
{
    enum { FIRST = offsetof(struct sim_counters, warps) / sizeof(uint64_t) };
    uint64_t fields[sizeof *c / sizeof(uint64_t)];
    memcpy(fields, c, sizeof *c);
    double factor = (double)c->blocks / (double)c->blocks_run;
    for (size_t i = FIRST; i < sizeof fields / sizeof *fields; i++)
        fields[i] = (uint64_t)((double)fields[i] * factor + 0.5);
    memcpy(c, fields, sizeof *c);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start_report(const struct CUfunc_st *f, const struct shape *shape)
{
    sim_launch_reset();
    struct sim_report *r = &last.report;
    snprintf(r->kernel, sizeof r->kernel, "%s", f->ptx->name);
    memcpy(r->grid, shape->grid, sizeof r->grid);
    memcpy(r->block, shape->block, sizeof r->block);
    last.faults = xcalloc(sim_state.options.max_faults, sizeof *last.faults);
    r->faults = last.faults;
    uint64_t total = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2];
    uint64_t wanted = sim_state.sample_blocks;
    if (wanted > 0 && wanted < total) {
        r->sampled = true;
        last.block_count = wanted;
        last.blocks = sample_blocks(total, wanted, sim_state.sample_seed);
    }
}

/* Occupancy and time, from the counts. */
static void finish_report(const struct CUfunc_st *f, const struct shape *shape)
{
    struct sim_report *r = &last.report;
    const struct sim_spec *spec = f->module->context->spec;
    if (r->counters.blocks_run > 0 && r->counters.blocks_run < r->counters.blocks)
        scale_counters(&r->counters);
    int threads = (int)(shape->block[0] * shape->block[1] * shape->block[2]);
    occupancy_compute(spec, f->registers, threads, f->static_smem, shape->dynamic_smem,
                      &r->occupancy);
    r->occupancy.registers_exact = f->registers_exact;
    r->occupancy.local_bytes = (uint64_t)f->local_bytes;
    model_predict(spec, r);
    last.done = true;
}

static uint64_t step_limit(const struct sim_options *options)
{
    return options->step_limit != 0 ? options->step_limit
           : options->check         ? DEFAULT_CHECKED_STEPS
                                    : DEFAULT_STEPS;
}

static CUresult run(CUfunction f, const struct shape *shape, const uint8_t *params,
                    bool cooperative, CUstream stream)
{
    CUcontext context = f->module->context;
    const struct ptx_module *ptx = f->module->ptx;
    start_report(f, shape);
    struct sim_report *r = &last.report;
    struct launch launch = {
        .code = f->code,
        .spec = context->spec,
        .kernel = f->ptx->name,
        .files = ptx->files,
        .file_count = ptx->file_count,
        .module_name = ptx->name,
        .grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
        .dim = {shape->block[0], shape->block[1], shape->block[2]},
        .static_smem = (uint32_t)sim_function_dynamic_base(f),
        .dynamic_smem = shape->dynamic_smem,
        .params = params,
        .param_bytes = f->ptx->param_bytes,
        .memory = context->memory,
        .local_bytes = f->frame_bytes,
        .cooperative = cooperative,
        .check = sim_state.options.check,
        .hw_sums = sim_state.options.hw_sums,
        .step_limit = step_limit(&sim_state.options),
        .listeners = {&counters_listener, &async_check_listener, &check_listener,
                      &mask_check_listener},
        .listener_count = sim_state.options.check ? 4 : 1,
        .output = sim_state.options.output,
        .faults = last.faults,
        .max_faults = (int)sim_state.options.max_faults,
    };
    if (sim_state.options.explain)
        launch.op_counts =
            xcalloc((size_t)f->code->total_ops + 1, sizeof *launch.op_counts);
    double start = seconds_now();
    bool complete = run_launch(&launch, last.blocks, last.block_count,
                               sim_state.options.threads, &r->counters);
    r->host_seconds = seconds_now() - start;
    r->fault_count = launch.fault_count;
    if (launch.op_counts != NULL)
        last.sites = explain_sites(&launch, &last.site_count);
    free(launch.op_counts);
    finish_report(f, shape);
    if (launch.fault_count > 0)
        context->pending = fault_code(&last.faults[0]);
    else if (!complete)
        context->pending = CUDA_ERROR_LAUNCH_TIMEOUT;
    sim_stream_advance(context, stream, r->predicted_ms);
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, const struct shape *shape, CUstream stream,
                       void **parameters, void **extra, bool cooperative)
{
    CUresult result = sim_ready();
    if (result)
        return result;
    sim_state.error[0] = '\0';
    CUcontext context = sim_state.current;
    CUfunction f = sim_function_find(context, function);
    if (!f || !sim_stream_known(context, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    result = check_dimensions(f, shape);
    if (!result)
        result = check_resources(f, shape);
    if (!result)
        result = sim_function_decode(f);
    if (result)
        return result;
    uint8_t *params = xcalloc(f->ptx->param_bytes + 16, 1);
    result = gather_parameters(f, parameters, extra, params);
    if (!result)
        result = run(f, shape, params, cooperative, stream);
    free(params);
    return result;
}

CUresult sim_launch(CUfunction function, unsigned grid_x, unsigned grid_y,
                    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                    unsigned dynamic_smem, CUstream stream, void **parameters,
                    void **extra)
{
    struct shape shape = {
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_smem};
    return launch(function, &shape, stream, parameters, extra, false);
}

CUresult sim_occupancy(int *blocks, CUfunction function, int threads, size_t dynamic_smem)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    CUfunction f = sim_function_find(sim_state.current, function);
    if (!f)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!blocks || threads <= 0 || threads > SIM_MAX_BLOCK_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_occupancy occupancy = {0};
    occupancy_compute(f->module->context->spec, f->registers, threads, f->static_smem,
                      dynamic_smem, &occupancy);
    *blocks = occupancy.blocks_per_sm;
    return CUDA_SUCCESS;
}

CUresult sim_launch_cooperative(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned dynamic_smem, CUstream stream,
                                void **parameters)
{
    struct shape shape = {
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_smem};
    uint64_t threads = (uint64_t)block_x * block_y * block_z;
    int resident = 0;
    if (threads > 0 && threads <= SIM_MAX_BLOCK_THREADS) {
        CUresult result = sim_occupancy(&resident, function, (int)threads, dynamic_smem);
        if (result)
            return result;
        uint64_t most = (uint64_t)resident * (uint64_t)sim_state.current->spec->sm_count;
        if ((uint64_t)grid_x * grid_y * grid_z > most)
            return sim_refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                              "%u x %u x %u blocks cannot be resident at once; %llu can",
                              grid_x, grid_y, grid_z, (unsigned long long)most);
    }
    return launch(function, &shape, stream, parameters, NULL, true);
}
