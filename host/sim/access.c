/* access.c - the slow paths of access.h: faults, and lanes that hit several
 * allocations. */
#include "access.h"

#include <stdio.h>

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {
        "load", "store", "atomic", "matrix load", "matrix store", "asynchronous copy"};
    return names[kind];
}

static const char *space_name(uint8_t space)
{
    return space == PTX_SHARED  ? "shared"
           : space == PTX_LOCAL ? "local"
           : space == PTX_PARAM ? "parameter"
                                : "global";
}

static void describe_global(char *text, size_t room, const struct allocation *a,
                            uint64_t address, uint32_t bytes)
{
    if (a == NULL) {
        snprintf(text, room, "nothing is allocated");
        return;
    }
    uint64_t end = a->address + a->bytes;
    char state[sizeof a->freed_by + 16] = "";
    if (a->freed)
        snprintf(state, sizeof state, " (freed%s%s)", a->freed_by[0] ? " by " : "",
                 a->freed_by);
    else if (a->read_only)
        snprintf(state, sizeof state, " (read-only)");
    if (address >= end)
        snprintf(text, room, "%llu bytes past the end of %s [0x%llx, 0x%llx)%s",
                 (unsigned long long)(address - end), a->label,
                 (unsigned long long)a->address, (unsigned long long)end, state);
    else if (address < a->address)
        snprintf(text, room, "%llu bytes before %s [0x%llx, 0x%llx)%s",
                 (unsigned long long)(a->address - address), a->label,
                 (unsigned long long)a->address, (unsigned long long)end, state);
    else if (address + bytes > end)
        snprintf(text, room, "reaches past the end of %s [0x%llx, 0x%llx)%s", a->label,
                 (unsigned long long)a->address, (unsigned long long)end, state);
    else
        snprintf(text, room, "in %s [0x%llx, 0x%llx)%s", a->label,
                 (unsigned long long)a->address, (unsigned long long)end, state);
}

bool access_fault_bounds(struct warp *w, uint8_t space, uint8_t kind, uint32_t bytes,
                         int lane, uint64_t address)
{
    char where[320];
    enum sim_fault_kind fault = SIM_OUT_OF_BOUNDS;
    if (space == PTX_SHARED) {
        snprintf(where, sizeof where, "shared memory of the block is [0, %u)",
                 w->block->shared_bytes);
    } else if (space == PTX_LOCAL) {
        snprintf(where, sizeof where, "local memory of the thread is [0, %llu)",
                 (unsigned long long)w->block->launch->local_bytes);
    } else if (space == PTX_PARAM) {
        snprintf(where, sizeof where, "the parameters are [0, %llu)",
                 (unsigned long long)w->block->launch->param_bytes);
    } else {
        struct allocation *a = memory_nearest(w->block->launch->memory, address);
        bool inside =
            a != NULL && address >= a->address && address < a->address + a->bytes;
        fault = inside && a->freed ? SIM_USE_AFTER_FREE : fault;
        describe_global(where, sizeof where, a, address, bytes);
    }
    sim_raise(w, fault, lane, address, "%u-byte %s %s at 0x%llx: %s", bytes,
              space_name(space), kind_name(kind), (unsigned long long)address, where);
    return false;
}

bool access_fault_align(struct warp *w, uint8_t space, uint8_t kind, uint32_t bytes,
                        uint32_t align, int lane, uint64_t address)
{
    sim_raise(w, SIM_MISALIGNED, lane, address,
              "%u-byte %s %s at 0x%llx: the address must be a multiple of %u", bytes,
              space_name(space), kind_name(kind), (unsigned long long)address, align);
    return false;
}

bool access_scattered(struct warp *w, uint8_t kind, uint32_t bytes,
                      const uint64_t *address, struct resolved *r)
{
    r->scattered = true;
    r->pattern = PATTERN_ANY;
    struct allocation *a = NULL;
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        if (a == NULL || address[l] < a->address || address[l] - a->address >= a->bytes ||
            bytes > a->bytes - (address[l] - a->address))
            a = memory_find(w->block->launch->memory, address[l], bytes);
        if (a == NULL || (a->read_only && kind != ACCESS_LOAD))
            return access_fault_bounds(w, PTX_GLOBAL, kind, bytes, l, address[l]);
        r->lane[l] = a->host + (address[l] - a->address);
    }
    return true;
}
