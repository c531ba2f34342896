/* sim_driver_memory.c - cuMemAlloc, cuMemcpy and the like. Every range is
 * checked against one live allocation; sim_last_error says what was wrong. */
#include "shadow.h"
#include "sim_parts.h"

#include <stdio.h>
#include <string.h>

CUresult sim_memory_info(size_t *free_bytes, size_t *total)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!free_bytes || !total)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t all = sim_state.current->spec->memory_bytes;
    uint64_t used = memory_used(sim_state.current->memory);
    *total = (size_t)all;
    *free_bytes = (size_t)(used < all ? all - used : 0);
    return CUDA_SUCCESS;
}

CUresult sim_memory_alloc(CUdeviceptr *pointer, size_t bytes)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!pointer || bytes == 0)
        return sim_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc of %zu bytes", bytes);
    char label[32];
    snprintf(label, sizeof label, "cuMemAlloc #%d", sim_state.current->allocations + 1);
    CUdeviceptr address = memory_allocate(sim_state.current->memory, bytes, label);
    if (!address)
        return sim_refuse(CUDA_ERROR_OUT_OF_MEMORY,
                          "cuMemAlloc of %zu bytes: %llu of the %llu bytes of %s are in "
                          "use",
                          bytes,
                          (unsigned long long)memory_used(sim_state.current->memory),
                          (unsigned long long)sim_state.current->spec->memory_bytes,
                          sim_state.current->spec->name);
    sim_state.current->allocations++;
    if (sim_state.options.check)
        memory_watch(memory_find(sim_state.current->memory, address, 1), true);
    *pointer = address;
    return CUDA_SUCCESS;
}

void sim_name_memory(CUdeviceptr pointer, const char *name)
{
    struct allocation *a =
        sim_ready() ? NULL : memory_find(sim_state.current->memory, pointer, 1);
    if (a)
        snprintf(a->label, sizeof a->label, "%s", name);
}

CUresult sim_memory_free(CUdeviceptr pointer)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (pointer == 0)
        return CUDA_SUCCESS;
    static const char *const problems[] = {NULL, "was never allocated",
                                           "has been freed already"};
    int problem = memory_release(sim_state.current->memory, pointer);
    if (problem == 0)
        return CUDA_SUCCESS;
    return sim_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemFree: 0x%llx %s",
                      (unsigned long long)pointer, problems[problem]);
}

/* The host has written a range. */
static void note_written(CUdeviceptr address, uint64_t bytes)
{
    struct allocation *a = memory_find(sim_state.current->memory, address, bytes);
    shadow_mark(a->shadow, address - a->address, bytes, true);
}

/* Host memory behind [address, address + bytes), or NULL and sim_last_error. */
static uint8_t *find_range(const char *call, CUdeviceptr address, uint64_t bytes)
{
    struct device_memory *memory = sim_state.current->memory;
    struct allocation *a = memory_find(memory, address, bytes);
    if (a)
        return a->host + (address - a->address);
    a = memory_nearest(memory, address);
    if (a)
        sim_refuse(CUDA_ERROR_INVALID_VALUE,
                   "%s: 0x%llx + %llu bytes is not inside one allocation; the nearest is "
                   "%s%s, [0x%llx, 0x%llx)",
                   call, (unsigned long long)address, (unsigned long long)bytes, a->label,
                   a->freed ? " (freed)" : "", (unsigned long long)a->address,
                   (unsigned long long)(a->address + a->bytes));
    else
        sim_refuse(CUDA_ERROR_INVALID_VALUE, "%s: 0x%llx, but nothing is allocated", call,
                   (unsigned long long)address);
    return NULL;
}

CUresult sim_copy_to_device(CUdeviceptr to, const void *from, size_t bytes)
{
    CUresult ready = sim_ready();
    if (ready || bytes == 0)
        return ready;
    uint8_t *host = from ? find_range("cuMemcpyHtoD", to, bytes) : NULL;
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(host, from, bytes);
    note_written(to, bytes);
    return sim_take_pending(sim_state.current);
}

CUresult sim_copy_to_host(void *to, CUdeviceptr from, size_t bytes)
{
    CUresult ready = sim_ready();
    if (ready || bytes == 0)
        return ready;
    const uint8_t *host = to ? find_range("cuMemcpyDtoH", from, bytes) : NULL;
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, host, bytes);
    return sim_take_pending(sim_state.current);
}

CUresult sim_copy_on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult ready = sim_ready();
    if (ready || bytes == 0)
        return ready;
    const uint8_t *source = find_range("cuMemcpyDtoD", from, bytes);
    uint8_t *target = source ? find_range("cuMemcpyDtoD", to, bytes) : NULL;
    if (!target)
        return CUDA_ERROR_INVALID_VALUE;
    memmove(target, source, bytes);
    struct device_memory *memory = sim_state.current->memory;
    struct allocation *a = memory_find(memory, to, bytes),
                      *b = memory_find(memory, from, bytes);
    shadow_copy(a->shadow, to - a->address, b->shadow, from - b->address, bytes);
    return sim_take_pending(sim_state.current);
}

CUresult sim_fill_u8(CUdeviceptr to, unsigned char value, size_t count)
{
    CUresult ready = sim_ready();
    if (ready || count == 0)
        return ready;
    uint8_t *host = find_range("cuMemsetD8", to, count);
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    memset(host, value, count);
    note_written(to, count);
    return CUDA_SUCCESS;
}

CUresult sim_fill_u32(CUdeviceptr to, unsigned value, size_t count)
{
    CUresult ready = sim_ready();
    if (ready || count == 0)
        return ready;
    if (to % 4 != 0 || count > SIZE_MAX / 4)
        return sim_refuse(CUDA_ERROR_INVALID_VALUE,
                          "cuMemsetD32: 0x%llx is not a multiple of 4",
                          (unsigned long long)to);
    uint8_t *host = find_range("cuMemsetD32", to, count * 4);
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    uint32_t word = value;
    for (size_t i = 0; i < count; i++)
        memcpy(host + i * 4, &word, 4);
    note_written(to, count * 4);
    return CUDA_SUCCESS;
}

/* --- leaks ------------------------------------------------------------------------ */

struct leaks {
    struct sim_fault *faults;
    int count, most;
};

static void note_leak(void *context, struct allocation *a)
{
    struct leaks *leaks = context;
    if (a->freed || (!a->heap && strncmp(a->label, "cuMemAlloc", 10) != 0))
        return;
    if (leaks->count++ >= leaks->most)
        return;
    struct sim_fault *fault = &leaks->faults[leaks->count - 1];
    *fault =
        (struct sim_fault){.kind = SIM_LEAK, .address = a->address, .line = a->made_line};
    memcpy(fault->file, a->made_file, sizeof fault->file);
    memcpy(fault->block, a->made_block, sizeof fault->block);
    memcpy(fault->thread, a->made_thread, sizeof fault->thread);
    snprintf(fault->detail, sizeof fault->detail,
             "%llu bytes of %s at 0x%llx%s%s were "
             "never freed",
             (unsigned long long)a->bytes, a->label, (unsigned long long)a->address,
             a->heap ? ", by " : "", a->made_by);
}

int sim_leaks(struct sim_fault *faults, int most)
{
    struct leaks leaks = {.faults = faults, .most = most};
    if (sim_ready() == CUDA_SUCCESS)
        memory_each(sim_state.current->memory, note_leak, &leaks);
    return leaks.count;
}
