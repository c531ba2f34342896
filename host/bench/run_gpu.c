/* run_gpu.c - one rung on a GPU, real or simulated, through the CUDA driver API.
 *
 * On a real GPU each matrix lies in a buffer with a guard zone on both sides, filled with
 * a pattern that must be there afterwards. The simulator checks every access itself, and
 * without guard zones it sees the first byte outside. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_parts.h"

enum { GUARD = 4096, GUARD_BYTE = 0xa5 };

struct buffer {
    CUdeviceptr base, data; /* data = base + guard */
    size_t bytes, guard;
};

enum { A, B, C, MATRICES };
static const char *const matrix_names[MATRICES] = {"matrix A", "matrix B", "matrix C"};

struct gpu_buffers {
    CUmodule module;
    CUfunction function;
    struct buffer matrix[MATRICES];     /* not open if the kernel takes no such matrix */
    struct buffer extra[CALL_ARGS_MAX]; /* of a call's buf: arguments, by place */
    CUevent start, end;
};

bool verdict_set(struct verdict *v, enum verdict_kind kind, const char *format, ...)
{
    va_list list;
    v->kind = kind;
    va_start(list, format);
    vsnprintf(v->reason, sizeof v->reason, format, list);
    va_end(list);
    return false;
}

/* Keep the simulator's faults; the verdict names the first. */
static bool take_faults(struct runner *r)
{
    const struct sim_report *report =
        r->device->backend == BACKEND_SIM ? sim_last_report() : NULL;
    if (report == NULL || report->fault_count == 0)
        return false;
    struct result *result = r->result;
    free(result->faults);
    size_t bytes = (size_t)report->fault_count * sizeof *result->faults;
    result->faults = xmalloc(bytes);
    memcpy(result->faults, report->faults, bytes);
    result->fault_count = report->fault_count;
    const struct sim_fault *f = &result->faults[0];
    verdict_set(r->verdict, VERDICT_FAULT,
                "%s at %s:%d, block (%u,%u,%u) thread (%u,%u,%u): %s",
                sim_fault_name(f->kind), f->file, f->line, f->block[0], f->block[1],
                f->block[2], f->thread[0], f->thread[1], f->thread[2], f->detail);
    return true;
}

static bool failed(struct runner *r, const char *what, CUresult result)
{
    if (interrupt_pending())
        return verdict_set(r->verdict, VERDICT_INTERRUPTED, "interrupted");
    if (take_faults(r))
        return false;
    return verdict_set(r->verdict, VERDICT_LAUNCH_FAILED, "%s: %s", what,
                       load_failure(r->device, result));
}

/* --- buffers -------------------------------------------------------------------------- */

static bool buffer_open(struct runner *r, struct buffer *buffer, size_t bytes,
                        const char *name)
{
    const struct cuda_api *api = r->device->api;
    buffer->bytes = bytes;
    buffer->guard = r->device->backend == BACKEND_SIM ? 0 : GUARD;
    CUresult result = api->memory_alloc(&buffer->base, bytes + 2 * buffer->guard);
    if (result != CUDA_SUCCESS) {
        size_t free_bytes = 0, total = 0;
        api->memory_info(&free_bytes, &total);
        return verdict_set(r->verdict, VERDICT_LAUNCH_FAILED,
                           "%.2f GB are needed, the device has %.2f of %.2f GB free",
                           (double)bytes / 1e9, (double)free_bytes / 1e9,
                           (double)total / 1e9);
    }
    buffer->data = buffer->base + buffer->guard;
    if (r->device->backend == BACKEND_SIM)
        sim_name_memory(buffer->base, name);
    if (buffer->guard == 0)
        return true;
    if ((result = api->fill_u8(buffer->base, GUARD_BYTE, GUARD)) != CUDA_SUCCESS ||
        (result = api->fill_u8(buffer->data + bytes, GUARD_BYTE, GUARD)) != CUDA_SUCCESS)
        return failed(r, "filling a guard zone", result);
    return true;
}

static bool guards_intact(struct runner *r, const struct buffer *buffer, const char *name)
{
    unsigned char zone[GUARD];
    for (int side = 0; side < 2 && buffer->guard > 0; side++) {
        CUdeviceptr from = side == 0 ? buffer->base : buffer->data + buffer->bytes;
        CUresult result = r->device->api->copy_to_host(zone, from, GUARD);
        if (result != CUDA_SUCCESS)
            return failed(r, "reading a guard zone", result);
        int first = 0, last = GUARD - 1;
        while (first < GUARD && zone[first] == GUARD_BYTE)
            first++;
        while (last > first && zone[last] == GUARD_BYTE)
            last--;
        if (first < GUARD)
            return verdict_set(r->verdict, VERDICT_WROTE_OUTSIDE,
                               "the kernel wrote up to %d bytes %s %s: is the edge "
                               "guarded?",
                               side == 0 ? GUARD - first : last + 1,
                               side == 0 ? "before" : "behind", name);
    }
    return true;
}

static bool input_unchanged(struct runner *r, const struct buffer *buffer,
                            const struct matrix *host, const char *name)
{
    struct matrix copy = *host;
    copy.data = xmalloc(host->bytes);
    CUresult result = r->device->api->copy_to_host(copy.data, buffer->data, host->bytes);
    bool same = result == CUDA_SUCCESS && matrix_hash(&copy) == matrix_hash(host);
    free(copy.data);
    if (result != CUDA_SUCCESS)
        return failed(r, "reading an input back", result);
    return same || verdict_set(r->verdict, VERDICT_INPUT_CHANGED,
                               "the kernel changed its input %s", name);
}

/* The host's side of buffer A, B or C; without data if the kernel takes none. */
static const struct matrix *host_matrix(const struct runner *r, int which)
{
    const struct matrix *const matrices[MATRICES] = {r->a, r->b, r->c};
    return matrices[which];
}

/* --- opening -------------------------------------------------------------------------- */

/* How the kernel is launched: a rung's tiles, or what a call says. */
static bool get_shape(struct runner *r, struct call_shape *shape)
{
    const struct kernel_info *info = &r->rung->info;
    struct error err = {0};
    if (r->rung->call)
        return call_get_shape(r->rung->call, r->size, shape, &err) ||
               verdict_set(r->verdict, VERDICT_LAUNCH_FAILED, "%s", err.text);
    unsigned down = (unsigned)((r->size.m + (size_t)info->bm - 1) / (size_t)info->bm);
    unsigned across = (unsigned)((r->size.n + (size_t)info->bn - 1) / (size_t)info->bn);
    bool x_is_n = info->grid == KERNEL_GRID_X_IS_N;
    *shape = (struct call_shape){
        .grid = {x_is_n ? across : down, x_is_n ? down : across, 1},
        .block = {(unsigned)info->block_x, (unsigned)info->block_y, 1},
        .smem = (unsigned)info->dynamic_smem_bytes};
    return true;
}

static bool load_function(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    struct gpu_buffers *g = r->gpu;
    struct call_shape shape;
    CUresult result = api->module_load(&g->module, r->rung->image->data);
    if (result != CUDA_SUCCESS)
        return failed(r, "loading the module", result);
    result =
        api->module_function(&g->function, g->module,
                             r->rung->call ? r->rung->call->entry : r->rung->info.entry);
    if (result != CUDA_SUCCESS)
        return failed(r, "finding the kernel", result);
    if (!get_shape(r, &shape))
        return false;
    if (shape.smem > 48 * 1024) {
        result = api->function_set_attribute(
            g->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            (int)shape.smem);
        if (result != CUDA_SUCCESS)
            return failed(r, "asking for shared memory", result);
    }
    return true;
}

static bool open_matrices(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    for (int i = 0; i < MATRICES; i++) {
        const struct matrix *host = host_matrix(r, i);
        struct buffer *buffer = &r->gpu->matrix[i];
        if (host->data == NULL)
            continue;
        if (!buffer_open(r, buffer, host->bytes, matrix_names[i]))
            return false;
        CUresult result =
            i == C ? CUDA_SUCCESS
                   : api->copy_to_device(buffer->data, host->data, host->bytes);
        if (result != CUDA_SUCCESS)
            return failed(r, "copying the inputs", result);
    }
    return true;
}

static bool open_extra(struct runner *r)
{
    const struct call *call = r->rung->call;
    for (int i = 0; call && i < call->arg_count; i++) {
        static const size_t no_strides[MATRICES];
        union call_value bytes;
        struct error err = {0};
        if (call->args[i].kind != CALL_BUFFER)
            continue;
        if (!call_get_value(&call->args[i], r->size, no_strides, &bytes, &err))
            return verdict_set(r->verdict, VERDICT_LAUNCH_FAILED, "%s", err.text);
        if (!buffer_open(r, &r->gpu->extra[i], (size_t)bytes.pointer, call->args[i].word))
            return false;
    }
    return true;
}

bool gpu_open(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    CUresult result;
    r->gpu = xcalloc(1, sizeof *r->gpu);
    if (!load_function(r) || !open_matrices(r) || !open_extra(r))
        return false;
    if ((result = api->event_create(&r->gpu->start, CU_EVENT_DEFAULT)) != CUDA_SUCCESS ||
        (result = api->event_create(&r->gpu->end, CU_EVENT_DEFAULT)) != CUDA_SUCCESS)
        return failed(r, "creating an event", result);
    return true;
}

bool gpu_prepare(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    CUresult result = CUDA_SUCCESS;
    if (r->c_before != NULL)
        memcpy(r->c->data, r->c_before->data, r->c->bytes);
    else
        matrix_poison(r->c);
    if (r->c->data != NULL)
        result = api->copy_to_device(r->gpu->matrix[C].data, r->c->data, r->c->bytes);
    for (int i = 0; i < CALL_ARGS_MAX && result == CUDA_SUCCESS; i++) {
        const struct buffer *extra = &r->gpu->extra[i];
        if (extra->base != 0)
            result = api->fill_u8(extra->data, 0, extra->bytes);
    }
    return result == CUDA_SUCCESS || failed(r, "preparing C", result);
}

/* --- running -------------------------------------------------------------------------- */

/* kernel.h says what a rung takes. */
static void rung_parameters(struct runner *r, union call_value *values)
{
    struct gpu_buffers *g = r->gpu;
    const union call_value list[] = {
        {.s32 = (int)r->size.m},        {.s32 = (int)r->size.n},
        {.s32 = (int)r->size.k},        {.f32 = (float)r->alpha},
        {.pointer = g->matrix[A].data}, {.s32 = (int)r->a->stride},
        {.pointer = g->matrix[B].data}, {.s32 = (int)r->b->stride},
        {.f32 = (float)r->beta},        {.pointer = g->matrix[C].data},
        {.s32 = (int)r->c->stride}};
    memcpy(values, list, sizeof list);
}

static bool call_parameters(struct runner *r, union call_value *values)
{
    const struct call *call = r->rung->call;
    const size_t strides[MATRICES] = {r->a->stride, r->b->stride, r->c->stride};
    for (int i = 0; i < call->arg_count; i++) {
        const struct call_arg *arg = &call->args[i];
        struct error err = {0};
        if (arg->kind <= CALL_C)
            values[i].pointer = r->gpu->matrix[arg->kind - CALL_A].data;
        else if (arg->kind == CALL_BUFFER)
            values[i].pointer = r->gpu->extra[i].data;
        else if (!call_get_value(arg, r->size, strides, &values[i], &err))
            return verdict_set(r->verdict, VERDICT_LAUNCH_FAILED, "%s", err.text);
    }
    return true;
}

static CUresult launch(const struct runner *r, const struct call_shape *s,
                       void **parameters)
{
    const struct cuda_api *api = r->device->api;
    CUfunction f = r->gpu->function;
    const unsigned *grid = s->grid, *block = s->block;
    if (r->rung->call && r->rung->call->cooperative && api->launch_cooperative)
        return api->launch_cooperative(f, grid[0], grid[1], grid[2], block[0], block[1],
                                       block[2], s->smem, NULL, parameters);
    return api->launch(f, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                       s->smem, NULL, parameters, NULL);
}

bool gpu_launch(struct runner *r, double *ms)
{
    const struct cuda_api *api = r->device->api;
    struct gpu_buffers *g = r->gpu;
    struct call_shape shape;
    union call_value values[CALL_ARGS_MAX];
    void *parameters[CALL_ARGS_MAX];
    CUresult result;
    float elapsed = 0;
    for (int i = 0; i < CALL_ARGS_MAX; i++)
        parameters[i] = &values[i];
    if (!get_shape(r, &shape))
        return false;
    if (!r->rung->call)
        rung_parameters(r, values);
    else if (!call_parameters(r, values))
        return false;
    if (r->device->backend == BACKEND_SIM)
        sim_set_sample(r->sample_blocks, r->seed);
    if ((result = api->event_record(g->start, NULL)) != CUDA_SUCCESS ||
        (result = launch(r, &shape, parameters)) != CUDA_SUCCESS ||
        (result = api->event_record(g->end, NULL)) != CUDA_SUCCESS ||
        (result = api->event_sync(g->end)) != CUDA_SUCCESS ||
        (result = api->event_elapsed(&elapsed, g->start, g->end)) != CUDA_SUCCESS)
        return failed(r, "launching the kernel", result);
    if (take_faults(r))
        return false;
    if (ms != NULL)
        *ms = elapsed;
    return true;
}

bool gpu_collect(struct runner *r)
{
    struct gpu_buffers *g = r->gpu;
    bool may_change = r->rung->call && !r->rung->call->gemm;
    if (r->c->data != NULL) {
        CUresult result =
            r->device->api->copy_to_host(r->c->data, g->matrix[C].data, r->c->bytes);
        if (result != CUDA_SUCCESS)
            return failed(r, "reading the result", result);
    }
    for (int i = MATRICES - 1; i >= 0; i--)
        if (g->matrix[i].base != 0 && !guards_intact(r, &g->matrix[i], matrix_names[i]))
            return false;
    for (int i = 0; i < CALL_ARGS_MAX; i++)
        if (g->extra[i].base != 0 &&
            !guards_intact(r, &g->extra[i], r->rung->call->args[i].word))
            return false;
    return may_change || (input_unchanged(r, &g->matrix[A], r->a, "A") &&
                          input_unchanged(r, &g->matrix[B], r->b, "B"));
}

static void buffer_close(const struct cuda_api *api, const struct buffer *buffer)
{
    if (buffer->base != 0)
        api->memory_free(buffer->base);
}

void gpu_close(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    struct gpu_buffers *g = r->gpu;
    if (g == NULL)
        return;
    for (int i = 0; i < MATRICES; i++)
        buffer_close(api, &g->matrix[i]);
    for (int i = 0; i < CALL_ARGS_MAX; i++)
        buffer_close(api, &g->extra[i]);
    if (g->start != NULL)
        api->event_destroy(g->start);
    if (g->end != NULL)
        api->event_destroy(g->end);
    if (g->module != NULL)
        api->module_unload(g->module);
    free(g);
    r->gpu = NULL;
}
