/* memory.c - see memory.h. Allocations are kept in an array sorted by address;
 * addresses only grow, so that a freed address is never given out again. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../error.h"
#include "exec.h"
#include "shadow.h"

enum {
    GAP_BYTES = 512,
    ALIGN_BYTES = 256,
    FREED_KEPT = 1024,
    SMALL_BYTES = 64 << 10, /* below, no mapping of its own */
    HEAP_BYTES = 8 << 20    /* of a kernel's malloc, CUDA's default */
};

struct device_memory {
    struct allocation **list;
    int count, room, freed;
    uint64_t next, used, capacity, heap_used;
    uint32_t accesses;
};

struct device_memory *memory_create(uint64_t capacity_bytes)
{
    struct device_memory *memory = xcalloc(1, sizeof *memory);
    memory->next = SIM_GLOBAL_BASE;
    memory->capacity = capacity_bytes;
    return memory;
}

static void host_free(struct allocation *a)
{
    if (a->mapped)
        munmap(a->host, (size_t)a->bytes + GAP_BYTES);
    else
        free(a->host);
    a->host = NULL;
    a->mapped = false;
    shadow_free(a->shadow);
    a->shadow = NULL;
}

void memory_destroy(struct device_memory *memory)
{
    if (memory == NULL)
        return;
    for (int i = 0; i < memory->count; i++) {
        host_free(memory->list[i]);
        free(memory->list[i]);
    }
    free(memory->list);
    free(memory);
}

uint64_t memory_allocate(struct device_memory *memory, uint64_t bytes, const char *label)
{
    if (bytes == 0 || bytes > memory->capacity - memory->used || bytes > SIZE_MAX / 2)
        return 0;
    /* one gap more than asked for: wide host reads near the end stay inside */
    bool mapped = bytes >= SMALL_BYTES;
    void *host = mapped ? mmap(NULL, (size_t)bytes + GAP_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                        : calloc((size_t)bytes + GAP_BYTES, 1);
    if (host == MAP_FAILED || host == NULL)
        return 0;
    struct allocation *a = xcalloc(1, sizeof *a);
    a->address = memory->next;
    a->bytes = bytes;
    a->host = host;
    a->mapped = mapped;
    snprintf(a->label, sizeof a->label, "%s", label);
    memory->next +=
        ((bytes + ALIGN_BYTES - 1) & ~(uint64_t)(ALIGN_BYTES - 1)) + GAP_BYTES;
    memory->used += bytes;
    if (memory->count == memory->room) {
        memory->room = memory->room == 0 ? 64 : memory->room * 2;
        memory->list =
            xrealloc(memory->list, (size_t)memory->room * sizeof(*memory->list));
    }
    memory->list[memory->count++] = a;
    return a->address;
}

/* Index of the last allocation that begins at or before the address; -1 if none. */
static int find_index(const struct device_memory *memory, uint64_t address)
{
    int low = 0, high = memory->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (memory->list[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Forget the oldest freed range once too many are kept for messages. */
static void drop_freed(struct device_memory *memory)
{
    for (int i = 0; memory->freed > FREED_KEPT && i < memory->count; i++)
        if (memory->list[i]->freed) {
            free(memory->list[i]);
            memmove(&memory->list[i], &memory->list[i + 1],
                    (size_t)(memory->count - i - 1) * sizeof *memory->list);
            memory->count--;
            memory->freed--;
        }
}

int memory_release(struct device_memory *memory, uint64_t address)
{
    int index = find_index(memory, address);
    if (index < 0 || memory->list[index]->address != address)
        return 1;
    struct allocation *a = memory->list[index];
    if (a->freed)
        return 2;
    a->freed = true;
    memory->used -= a->bytes;
    memory->freed++;
    host_free(a);
    drop_freed(memory);
    return 0;
}

uint64_t memory_heap_allocate(struct device_memory *memory, uint64_t bytes,
                              const struct allocation *made, bool watch)
{
    if (bytes > HEAP_BYTES - memory->heap_used)
        return 0;
    uint64_t address = memory_allocate(memory, bytes, "malloc'ed memory");
    struct allocation *a = address != 0 ? memory_find(memory, address, 1) : NULL;
    if (a == NULL)
        return 0;
    a->heap = true;
    memcpy(a->made_by, made->made_by, sizeof a->made_by);
    memcpy(a->made_file, made->made_file, sizeof a->made_file);
    a->made_line = made->made_line;
    memcpy(a->made_block, made->made_block, sizeof a->made_block);
    memcpy(a->made_thread, made->made_thread, sizeof a->made_thread);
    memory->heap_used += bytes;
    if (watch)
        memory_watch(a, true);
    return address;
}

bool memory_heap_release(struct device_memory *memory, uint64_t address,
                         const char *freed_by)
{
    struct allocation *a = memory_find(memory, address, 1);
    if (a == NULL || !a->heap || a->address != address)
        return false;
    memory->heap_used -= a->bytes;
    snprintf(a->freed_by, sizeof a->freed_by, "%s", freed_by);
    return memory_release(memory, address) == 0;
}

uint64_t memory_used(const struct device_memory *memory)
{
    return memory->used;
}

struct allocation *memory_find(struct device_memory *memory, uint64_t address,
                               uint64_t bytes)
{
    int index = find_index(memory, address);
    if (index < 0)
        return NULL;
    struct allocation *a = memory->list[index];
    uint64_t offset = address - a->address;
    return !a->freed && offset < a->bytes && bytes <= a->bytes - offset ? a : NULL;
}

struct allocation *memory_nearest(struct device_memory *memory, uint64_t address)
{
    int index = find_index(memory, address);
    if (index < 0)
        return memory->count > 0 ? memory->list[0] : NULL;
    struct allocation *before = memory->list[index];
    if (index + 1 < memory->count) {
        struct allocation *after = memory->list[index + 1];
        uint64_t past = address - before->address;
        past = past > before->bytes ? past - before->bytes : 0;
        if (after->address - address < past)
            return after;
    }
    return before;
}

void memory_each(struct device_memory *memory,
                 void (*each)(void *context, struct allocation *a), void *context)
{
    for (int i = 0; i < memory->count; i++)
        each(context, memory->list[i]);
}

void memory_watch(struct allocation *a, bool fresh)
{
    if (a->shadow == NULL)
        a->shadow = shadow_new(a->bytes);
    if (a->shadow == NULL)
        die(EXIT_OURS, "out of memory for the checks of %s, %llu bytes", a->label,
            (unsigned long long)a->bytes);
    a->shadow->all_init = !fresh;
}

uint32_t *memory_accesses(struct device_memory *memory)
{
    return &memory->accesses;
}
