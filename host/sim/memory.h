/* memory.h - device memory of the simulator: allocations with device addresses
 * that do not depend on the host (same run, same addresses), 256-byte aligned
 * and at least 512 bytes apart, so that an access past the end hits nothing. */
#ifndef PEAKBOUND_SIM_MEMORY_H
#define PEAKBOUND_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct allocation {
    uint64_t address, bytes;
    uint8_t *host;
    bool read_only;      /* .const, kernel_info */
    bool freed;          /* kept for use-after-free messages */
    bool heap;           /* of a kernel's malloc */
    bool mapped;         /* host memory is from mmap */
    char made_file[256]; /* heap: where malloc was called */
    int made_line;
    unsigned made_block[3], made_thread[3];
    char made_by[160], freed_by[160]; /* heap: which thread, where */
    char label[64];                   /* "cuMemAlloc #3" or the variable's name */
    struct shadow *shadow;            /* of the checks, or NULL */
};

struct device_memory;
struct device_memory *memory_create(uint64_t capacity_bytes);
void memory_destroy(struct device_memory *memory);
/* 0 = out of memory. Pages are taken from the host when touched. */
uint64_t memory_allocate(struct device_memory *memory, uint64_t bytes, const char *label);
/* malloc and free of a kernel. made: whose made_* are copied. 0: the heap is full. False: not a live block of it. */
uint64_t memory_heap_allocate(struct device_memory *memory, uint64_t bytes,
                              const struct allocation *made, bool watch);
bool memory_heap_release(struct device_memory *memory, uint64_t address,
                         const char *freed_by);
/* 0 good, 1 never allocated, 2 already freed */
int memory_release(struct device_memory *memory, uint64_t address);
uint64_t memory_used(const struct device_memory *memory);
/* The live allocation that holds [address, address + bytes), or NULL. */
struct allocation *memory_find(struct device_memory *memory, uint64_t address,
                               uint64_t bytes);
void memory_each(struct device_memory *memory,
                 void (*each)(void *context, struct allocation *a), void *context);
/* Have the checks watch it. fresh: nothing was written there yet. */
void memory_watch(struct allocation *a, bool fresh);
/* Where the numbers of accesses go on from launch to launch (check_parts.h). */
uint32_t *memory_accesses(struct device_memory *memory);
/* The nearest allocation, live or freed, for messages; NULL if there is none. */
struct allocation *memory_nearest(struct device_memory *memory, uint64_t address);

#endif
