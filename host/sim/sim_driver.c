/* sim_driver.c - the simulated CUDA driver: devices, contexts, streams, events.
 *
 * It stands behind the same table of functions as the real one. Three things
 * differ, all on purpose:
 *
 * - Launches run at once, in the calling thread; a stream is nothing but a
 *   virtual clock that the performance model's predicted times move on. Events
 *   read that clock. Copies, fills and allocations take no virtual time.
 * - A fault in a kernel is told once, by the next call that waits for the
 *   device (sync, event, copy to the host), with the code that hardware gives;
 *   then the context is good again. On hardware it would be lost, but a table
 *   of rungs has to go on with the next one.
 * - One thread may call. The current context belongs to the process.
 *
 * Source: CUDA Driver API reference manual, CUDA 13.
 */
#include "sim_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIM_DRIVER_VERSION = 13000, EVENT_DISABLE_TIMING = 2, DEFAULT_MAX_FAULTS = 16 };

struct sim_state sim_state;

/* --- helpers of all files ------------------------------------------------- */

CUresult sim_refuse(CUresult code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sim_state.error, sizeof sim_state.error, format, arguments);
    va_end(arguments);
    return code;
}

CUresult sim_ready(void)
{
    if (!sim_state.initialized)
        return sim_refuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
    if (!sim_state.current)
        return sim_refuse(CUDA_ERROR_INVALID_CONTEXT,
                          "no context is current: call cuCtxSetCurrent");
    return CUDA_SUCCESS;
}

CUresult sim_take_pending(CUcontext context)
{
    CUresult pending = context->pending;
    context->pending = CUDA_SUCCESS;
    return pending;
}

const char *sim_last_error(void)
{
    return sim_state.error;
}

/* --- configuration -------------------------------------------------------- */

static void context_clear(CUcontext context)
{
    while (context->modules) {
        CUmodule module = context->modules;
        context->modules = module->next;
        sim_module_destroy(module);
    }
    while (context->streams) {
        CUstream stream = context->streams;
        context->streams = stream->next;
        free(stream);
    }
    while (context->events) {
        CUevent event = context->events;
        context->events = event->next;
        free(event);
    }
    if (context->memory)
        memory_destroy(context->memory);
    *context = (struct CUctx_st){.spec = context->spec};
    if (sim_state.current == context)
        sim_state.current = NULL;
}

void sim_configure(const struct sim_options *options)
{
    for (int i = 0; i < sim_state.options.spec_count; i++)
        context_clear(&sim_state.contexts[i]);
    sim_launch_reset();
    free(sim_state.contexts);
    free(sim_state.specs);
    sim_state = (struct sim_state){.options = *options};
    if (sim_state.options.max_faults == 0)
        sim_state.options.max_faults = DEFAULT_MAX_FAULTS;
    size_t count = (size_t)options->spec_count;
    sim_state.specs = xcalloc(count + 1, sizeof *sim_state.specs);
    sim_state.contexts = xcalloc(count + 1, sizeof *sim_state.contexts);
    for (size_t i = 0; i < count; i++) {
        sim_state.specs[i] = options->spec[i];
        sim_state.contexts[i].spec = &sim_state.specs[i];
    }
    sim_state.options.spec = sim_state.specs;
}

void sim_set_explain(bool explain)
{
    sim_state.options.explain = explain;
}

void sim_set_check(bool check)
{
    sim_state.options.check = check;
}

CUresult sim_init(unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_state.options.spec_count == 0)
        return sim_refuse(CUDA_ERROR_NO_DEVICE, "no simulated device was configured");
    sim_state.initialized = true;
    return CUDA_SUCCESS;
}

CUresult sim_driver_version(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = SIM_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

/* --- error texts ---------------------------------------------------------- */

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "device is busy or unavailable"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX",
     "a PTX compilation failed: invalid or unsupported PTX"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the PTX was made by a toolkit newer than this driver"},
    {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
     "an operating system call failed"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY",
     "system not yet initialized"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
     "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "forward compatibility was attempted on non supported HW"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult error_lookup(CUresult error, const char **text, bool want_name)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error)
            *text = want_name ? errors[i].name : errors[i].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_error_name(CUresult error, const char **text)
{
    return error_lookup(error, text, true);
}

CUresult sim_error_string(CUresult error, const char **text)
{
    return error_lookup(error, text, false);
}

/* --- devices -------------------------------------------------------------- */

static const struct sim_spec *device_spec(CUdevice device)
{
    bool known = device >= 0 && device < sim_state.options.spec_count;
    return known ? &sim_state.specs[device] : NULL;
}

CUresult sim_device_count(int *count)
{
    if (!sim_state.initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sim_state.options.spec_count;
    return CUDA_SUCCESS;
}

CUresult sim_device_get(CUdevice *device, int ordinal)
{
    if (!sim_state.initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_spec(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_device_name(char *name, int length, CUdevice device)
{
    const struct sim_spec *spec = device_spec(device);
    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!spec)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", spec->name);
    return CUDA_SUCCESS;
}

CUresult sim_device_memory(size_t *bytes, CUdevice device)
{
    const struct sim_spec *spec = device_spec(device);
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!spec)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = (size_t)spec->memory_bytes;
    return CUDA_SUCCESS;
}

CUresult sim_device_attribute(int *value, int attribute, CUdevice device)
{
    const struct sim_spec *spec = device_spec(device);
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!spec)
        return CUDA_ERROR_INVALID_DEVICE;
    const struct {
        int attribute, value;
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, SIM_MAX_BLOCK_THREADS},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SIM_DEFAULT_SMEM},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, LANES},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, spec->clock_mhz * 1000},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, spec->sm_count},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, spec->memory_clock_mhz * 1000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, spec->memory_bus_bits},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, (int)spec->l2_bytes},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, spec->max_threads_sm},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, spec->cc_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, spec->cc_minor},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, spec->smem_bytes_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, spec->regs_sm},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
         spec->smem_bytes_block_optin},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, spec->max_blocks_sm},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].attribute == attribute) {
            *value = rows[i].value;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* --- contexts ------------------------------------------------------------- */

CUresult sim_context_retain(CUcontext *context, CUdevice device)
{
    if (!sim_state.initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_spec(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext c = &sim_state.contexts[device];
    if (c->retained == 0 && !(c->memory = memory_create(c->spec->memory_bytes)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->retained++;
    *context = c;
    return CUDA_SUCCESS;
}

CUresult sim_context_release(CUdevice device)
{
    if (!device_spec(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext c = &sim_state.contexts[device];
    if (c->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--c->retained == 0)
        context_clear(c);
    return CUDA_SUCCESS;
}

CUresult sim_context_set(CUcontext context)
{
    if (!sim_state.initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    bool known = !context;
    for (int i = 0; i < sim_state.options.spec_count; i++)
        known |= context == &sim_state.contexts[i] && context->retained > 0;
    if (!known)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_state.current = context;
    return CUDA_SUCCESS;
}

CUresult sim_context_sync(void)
{
    CUresult ready = sim_ready();
    return ready ? ready : sim_take_pending(sim_state.current);
}

/* --- streams -------------------------------------------------------------- */

bool sim_stream_known(CUcontext context, CUstream stream)
{
    if (!stream)
        return true;
    for (CUstream s = context->streams; s; s = s->next)
        if (s == stream)
            return true;
    return false;
}

/* When work that is submitted to the stream now would start. */
static double stream_now(CUcontext context, CUstream stream)
{
    double now = context->default_clock_ns;
    for (CUstream s = context->streams; s; s = s->next)
        if ((!stream || s == stream) && s->clock_ns > now)
            now = s->clock_ns;
    return now;
}

void sim_stream_advance(CUcontext context, CUstream stream, double ms)
{
    double end = stream_now(context, stream) + ms * 1e6;
    *(stream ? &stream->clock_ns : &context->default_clock_ns) = end;
}

CUresult sim_stream_create(CUstream *stream, unsigned flags)
{
    (void)flags;
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!stream)
        return CUDA_ERROR_INVALID_VALUE;
    CUstream s = xcalloc(1, sizeof *s);
    s->clock_ns = sim_state.current->default_clock_ns;
    s->next = sim_state.current->streams;
    sim_state.current->streams = s;
    *stream = s;
    return CUDA_SUCCESS;
}

CUresult sim_stream_destroy(CUstream stream)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    CUcontext context = sim_state.current;
    if (!stream || !sim_stream_known(context, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    struct CUstream_st **at = &context->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    free(stream);
    return CUDA_SUCCESS;
}

CUresult sim_stream_sync(CUstream stream)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!sim_stream_known(sim_state.current, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_take_pending(sim_state.current);
}

/* --- events --------------------------------------------------------------- */

static bool event_known(CUevent event)
{
    for (CUevent e = sim_state.current->events; e; e = e->next)
        if (e == event)
            return true;
    return false;
}

CUresult sim_event_create(CUevent *event, unsigned flags)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!event)
        return CUDA_ERROR_INVALID_VALUE;
    CUevent e = xcalloc(1, sizeof *e);
    e->has_timing = !(flags & EVENT_DISABLE_TIMING);
    e->next = sim_state.current->events;
    sim_state.current->events = e;
    *event = e;
    return CUDA_SUCCESS;
}

CUresult sim_event_destroy(CUevent event)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!event_known(event))
        return CUDA_ERROR_INVALID_HANDLE;
    struct CUevent_st **at = &sim_state.current->events;
    while (*at != event)
        at = &(*at)->next;
    *at = event->next;
    free(event);
    return CUDA_SUCCESS;
}

CUresult sim_event_record(CUevent event, CUstream stream)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!event_known(event) || !sim_stream_known(sim_state.current, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    event->recorded = true;
    event->time_ns = stream_now(sim_state.current, stream);
    return CUDA_SUCCESS;
}

CUresult sim_event_sync(CUevent event)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!event_known(event))
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_take_pending(sim_state.current);
}

CUresult sim_event_elapsed(float *ms, CUevent start, CUevent end)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!ms)
        return CUDA_ERROR_INVALID_VALUE;
    if (!event_known(start) || !event_known(end) || !start->recorded || !end->recorded ||
        !start->has_timing || !end->has_timing)
        return CUDA_ERROR_INVALID_HANDLE;
    *ms = (float)((end->time_ns - start->time_ns) * 1e-6);
    return CUDA_SUCCESS;
}

/* --- the table ------------------------------------------------------------ */

const struct cuda_api *sim_driver(void)
{
    static const struct cuda_api api = {
#define SIM_ROW(field, symbol, required, parameters) .field = sim_##field,
        CUDA_FUNCTIONS(SIM_ROW)
#undef SIM_ROW
    };
    return &api;
}
