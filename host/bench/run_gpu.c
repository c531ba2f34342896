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

struct gpu_buffers {
    CUmodule module;
    CUfunction function;
    struct buffer a, b, c;
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

static bool buffer_open(struct runner *r, struct buffer *buffer, size_t bytes)
{
    const struct cuda_api *api = r->device->api;
    buffer->bytes = bytes;
    buffer->guard = r->device->backend == BACKEND_SIM ? 0 : GUARD;
    CUresult result = api->memory_alloc(&buffer->base, bytes + 2 * buffer->guard);
    if (result != CUDA_SUCCESS) {
        size_t free_bytes = 0, total = 0;
        api->memory_info(&free_bytes, &total);
        return verdict_set(r->verdict, VERDICT_LAUNCH_FAILED,
                           "a matrix needs %.2f GB, the device has %.2f of %.2f GB free",
                           (double)bytes / 1e9, (double)free_bytes / 1e9,
                           (double)total / 1e9);
    }
    buffer->data = buffer->base + buffer->guard;
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
            return verdict_set(
                r->verdict, VERDICT_WROTE_OUTSIDE,
                "the kernel wrote up to %d bytes %s matrix %s: is the edge "
                "guarded?",
                side == 0 ? GUARD - first : last + 1, side == 0 ? "before" : "behind",
                name);
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

/* --- steps ---------------------------------------------------------------------------- */

static bool load_function(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    const struct kernel_info *info = &r->rung->info;
    struct gpu_buffers *g = r->gpu;
    CUresult result = api->module_load(&g->module, r->rung->image->data);
    if (result != CUDA_SUCCESS)
        return failed(r, "loading the module", result);
    result = api->module_function(&g->function, g->module, info->entry);
    if (result != CUDA_SUCCESS)
        return failed(r, "finding the kernel", result);
    if (info->dynamic_smem_bytes > 48 * 1024) {
        result = api->function_set_attribute(
            g->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            info->dynamic_smem_bytes);
        if (result != CUDA_SUCCESS)
            return failed(r, "asking for shared memory", result);
    }
    return true;
}

bool gpu_open(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    CUresult result;
    r->gpu = xcalloc(1, sizeof *r->gpu);
    struct gpu_buffers *g = r->gpu;
    if (!load_function(r) || !buffer_open(r, &g->a, r->a->bytes) ||
        !buffer_open(r, &g->b, r->b->bytes) || !buffer_open(r, &g->c, r->c->bytes))
        return false;
    if ((result = api->event_create(&g->start, CU_EVENT_DEFAULT)) != CUDA_SUCCESS ||
        (result = api->event_create(&g->end, CU_EVENT_DEFAULT)) != CUDA_SUCCESS ||
        (result = api->copy_to_device(g->a.data, r->a->data, r->a->bytes)) !=
            CUDA_SUCCESS ||
        (result = api->copy_to_device(g->b.data, r->b->data, r->b->bytes)) !=
            CUDA_SUCCESS)
        return failed(r, "copying the inputs", result);
    return true;
}

bool gpu_prepare(struct runner *r)
{
    if (r->c_before != NULL)
        memcpy(r->c->data, r->c_before->data, r->c->bytes);
    else
        matrix_poison(r->c);
    CUresult result =
        r->device->api->copy_to_device(r->gpu->c.data, r->c->data, r->c->bytes);
    return result == CUDA_SUCCESS || failed(r, "preparing C", result);
}

bool gpu_launch(struct runner *r, double *ms)
{
    const struct cuda_api *api = r->device->api;
    const struct kernel_info *info = &r->rung->info;
    struct gpu_buffers *g = r->gpu;
    int m = (int)r->size.m, n = (int)r->size.n, k = (int)r->size.k;
    int lda = (int)r->a->stride, ldb = (int)r->b->stride, ldc = (int)r->c->stride;
    float alpha = (float)r->alpha, beta = (float)r->beta;
    void *parameters[] = {&m,         &n,   &k,    &alpha,     &g->a.data, &lda,
                          &g->b.data, &ldb, &beta, &g->c.data, &ldc};
    unsigned down = (unsigned)((r->size.m + (size_t)info->bm - 1) / (size_t)info->bm);
    unsigned across = (unsigned)((r->size.n + (size_t)info->bn - 1) / (size_t)info->bn);
    bool x_is_n = info->grid == KERNEL_GRID_X_IS_N;
    CUresult result;
    float elapsed = 0;
    if (r->device->backend == BACKEND_SIM)
        sim_set_sample(r->sample_blocks, r->seed);
    if ((result = api->event_record(g->start, NULL)) != CUDA_SUCCESS ||
        (result = api->launch(g->function, x_is_n ? across : down, x_is_n ? down : across,
                              1, (unsigned)info->block_x, (unsigned)info->block_y, 1,
                              (unsigned)info->dynamic_smem_bytes, NULL, parameters,
                              NULL)) != CUDA_SUCCESS ||
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
    CUresult result = r->device->api->copy_to_host(r->c->data, g->c.data, r->c->bytes);
    if (result != CUDA_SUCCESS)
        return failed(r, "reading the result", result);
    return guards_intact(r, &g->c, "C") && guards_intact(r, &g->a, "A") &&
           guards_intact(r, &g->b, "B") && input_unchanged(r, &g->a, r->a, "A") &&
           input_unchanged(r, &g->b, r->b, "B");
}

void gpu_close(struct runner *r)
{
    const struct cuda_api *api = r->device->api;
    struct gpu_buffers *g = r->gpu;
    if (g == NULL)
        return;
    struct buffer *buffers[] = {&g->a, &g->b, &g->c};
    for (int i = 0; i < 3; i++)
        if (buffers[i]->base != 0)
            api->memory_free(buffers[i]->base);
    if (g->start != NULL)
        api->event_destroy(g->start);
    if (g->end != NULL)
        api->event_destroy(g->end);
    if (g->module != NULL)
        api->module_unload(g->module);
    free(g);
    r->gpu = NULL;
}
