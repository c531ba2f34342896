/* access.h - from 32 lane addresses to host memory: state space, bounds, alignment,
 * and the event for the listeners. Static functions, because every ops_*.c that
 * touches memory is built per instruction set.
 *
 * The order is always: access_locate (or access_addresses and access_resolve), which
 * tells the listeners; then move the data through resolved.host. */
#ifndef PEAKBOUND_SIM_ACCESS_H
#define PEAKBOUND_SIM_ACCESS_H

#include "exec.h"
#include "memory.h"
#include "ops.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

/* Where the lanes' data lies. host + offset[l], unless `scattered`: then each lane
 * has its own pointer, lane[l]. */
struct resolved {
    uint32_t mask;
    uint8_t pattern; /* enum access_pattern */
    bool scattered;  /* lanes hit several allocations */
    uintptr_t host;  /* an integer: it may lie outside any object until offset is added */
    const uint64_t *offset;
    uint8_t *lane[LANES];
    uint64_t offsets[LANES];
};

static inline int first_lane(uint32_t mask)
{
    return __builtin_ctz(mask);
}

/* address[l] = base + imm; lanes that are off get the first active lane's, so that
 * whole-warp arithmetic on addresses stays harmless. */
static inline void access_addresses(struct warp *w, const struct op *op,
                                    uint64_t *address)
{
    if (op->flags & OP_BASE32) {
        const uint32_t *base = row32(w, op->s[0]);
        for (int l = 0; l < LANES; l++)
            address[l] = (uint64_t)base[l] + op->imm;
    } else {
        const uint64_t *base = row64(w, op->s[0]);
        for (int l = 0; l < LANES; l++)
            address[l] = base[l] + op->imm;
    }
    if (w->mask != FULL_MASK) {
        uint64_t first = address[first_lane(w->mask)];
        for (int l = 0; l < LANES; l++)
            address[l] = w->mask >> l & 1 ? address[l] : first;
    }
}

/* Four addresses at a time. */
typedef uint64_t address_vec __attribute__((vector_size(32)));

static inline uint64_t address_or(const address_vec *v)
{
    return (*v)[0] | (*v)[1] | (*v)[2] | (*v)[3];
}

/* All 32 bytes of it. */
static inline bool vector_is_zero(const void *v)
{
#if defined(__AVX__)
    __m256i all = _mm256_loadu_si256((const __m256i *)v);
    return _mm256_testz_si256(all, all);
#else
    address_vec all;
    memcpy(&all, v, sizeof all);
    return address_or(&all) == 0;
#endif
}

static inline uint8_t access_pattern(const uint64_t *address, uint32_t mask,
                                     uint32_t bytes)
{
    uint64_t a = address[0];
    address_vec first = {a, a, a, a}, step = {4, 4, 4, 4};
    address_vec expect = {a, a + bytes, a + 2 * (uint64_t)bytes, a + 3 * (uint64_t)bytes};
    address_vec differ = {0}, jump = {0};
    step *= bytes;
    for (int l = 0; l < LANES; l += 4) {
        address_vec v;
        memcpy(&v, address + l, sizeof v);
        differ |= v ^ first;
        jump |= v ^ expect;
        expect += step;
    }
    return vector_is_zero(&differ)                      ? PATTERN_UNIFORM
           : mask == FULL_MASK && vector_is_zero(&jump) ? PATTERN_CONSECUTIVE
                                                        : PATTERN_ANY;
}

static inline void access_notify(struct warp *w, const struct op *op, uint8_t space,
                                 uint8_t kind, uint32_t bytes, uint8_t pattern,
                                 const uint64_t *address)
{
    struct launch *launch = w->block->launch;
    struct access a = {.op = op,
                       .mask = w->mask,
                       .bytes = (uint16_t)bytes,
                       .space = space,
                       .kind = kind,
                       .pattern = pattern,
                       .address = address};
    for (int i = 0; i < launch->listener_count; i++)
        launch->listeners[i]->access(w, &a);
}

/* Slow paths, in access.c */
bool access_fault_bounds(struct warp *w, uint8_t space, uint8_t kind, uint32_t bytes,
                         int lane, uint64_t address);
bool access_fault_align(struct warp *w, uint8_t space, uint8_t kind, uint32_t bytes,
                        uint32_t align, int lane, uint64_t address);
bool access_scattered(struct warp *w, uint8_t kind, uint32_t bytes,
                      const uint64_t *address, struct resolved *r);

/* All lanes: address >= low and address + bytes <= low + size? The first and the last
 * lane stand for all if the addresses are equal or consecutive. */
static inline bool access_inside(const uint64_t *address, uint8_t pattern, uint64_t low,
                                 uint64_t size, uint32_t bytes)
{
    if (size < bytes)
        return false;
    uint64_t last = low + size - bytes;
    uint64_t outside = (address[0] - low) | (last - address[LANES - 1]) |
                       (last - address[0]) | (address[LANES - 1] - low);
    if (pattern == PATTERN_ANY) {
        address_vec lows = {low, low, low, low}, lasts = {last, last, last, last},
                    out = {0};
        for (int l = 0; l < LANES; l += 4) {
            address_vec v;
            memcpy(&v, address + l, sizeof v);
            out |= (v - lows) | (lasts - v);
        }
        outside |= address_or(&out);
    }
    return (int64_t)outside >= 0;
}

static inline bool access_aligned(const uint64_t *address, uint8_t pattern,
                                  uint32_t align)
{
    uint64_t odd = address[0];
    if (pattern == PATTERN_ANY) {
        address_vec any = {0};
        for (int l = 0; l < LANES; l += 4) {
            address_vec v;
            memcpy(&v, address + l, sizeof v);
            any |= v;
        }
        odd = address_or(&any);
    }
    return (odd & (align - 1)) == 0;
}

/* The addresses of a whole warp and what is to know of them: true if all are aligned and
 * inside [low, low + size), with the pattern; else look closer. address is filled in only
 * for PATTERN_ANY; else just address[0]. */
static inline bool access_scan64(const uint64_t *base, uint64_t imm, uint64_t low,
                                 uint64_t size, uint32_t bytes, uint32_t align,
                                 uint64_t *address, uint8_t *pattern)
{
    if (size < bytes)
        return false;
    uint64_t a = base[0] + imm, end = low + size - bytes, b = bytes, c = base[0];
    address_vec first = {c, c, c, c}, expect = {c, c + b, c + 2 * b, c + 3 * b};
    address_vec step = {4 * b, 4 * b, 4 * b, 4 * b}, more = {imm, imm, imm, imm};
    address_vec lows = {low, low, low, low}, ends = {end, end, end, end};
    address_vec differ = {0}, jump = {0}, out = {0}, odd = {0};
    address[0] = a;
    for (int l = 0; l < LANES; l += 4) {
        address_vec v;
        memcpy(&v, base + l, sizeof v);
        differ |= v ^ first;
        jump |= v ^ expect;
        expect += step;
    }
    /* the first and the last lane stand for all */
    bool uniform = vector_is_zero(&differ);
    if (uniform || vector_is_zero(&jump)) {
        uint64_t last = uniform ? a : a + (LANES - 1) * b;
        *pattern = uniform ? PATTERN_UNIFORM : PATTERN_CONSECUTIVE;
        return a - low <= end - low && last - low <= end - low && (a & (align - 1)) == 0;
    }
    *pattern = PATTERN_ANY;
    for (int l = 0; l < LANES; l += 4) {
        address_vec v;
        memcpy(&v, base + l, sizeof v);
        v += more;
        memcpy(address + l, &v, sizeof v);
        out |= (v - lows) | (ends - v);
        odd |= v;
    }
    return (int64_t)address_or(&out) >= 0 && (address_or(&odd) & (align - 1)) == 0;
}

/* The same for 32-bit addresses in shared memory, [0, size). */
typedef uint32_t offset_vec __attribute__((vector_size(32)));

static inline uint32_t offset_or(const offset_vec *v)
{
    address_vec wide;
    memcpy(&wide, v, sizeof wide);
    uint64_t all = address_or(&wide);
    return (uint32_t)(all | all >> 32);
}

static inline bool access_scan32(const uint32_t *base, uint32_t imm, uint32_t size,
                                 uint32_t bytes, uint32_t align, uint64_t *address,
                                 uint8_t *pattern)
{
    if (size < bytes)
        return false;
    uint32_t a = base[0] + imm, end = size - bytes;
    offset_vec zero = {0}, lane = {0, 1, 2, 3, 4, 5, 6, 7}, first = zero + base[0],
               expect = lane * bytes + base[0];
    offset_vec differ = zero, jump = zero, out = zero, odd = zero;
    address[0] = a;
    for (int l = 0; l < LANES; l += 8) {
        offset_vec v;
        memcpy(&v, base + l, sizeof v);
        differ |= v ^ first;
        jump |= v ^ expect;
        expect += 8 * bytes;
    }
    /* the first and the last lane stand for all */
    bool uniform = vector_is_zero(&differ);
    if (uniform || vector_is_zero(&jump)) {
        uint32_t last = uniform ? a : a + (LANES - 1) * bytes;
        *pattern = uniform ? PATTERN_UNIFORM : PATTERN_CONSECUTIVE;
        return a <= end && last <= end && (a & (align - 1)) == 0;
    }
    *pattern = PATTERN_ANY;
    for (int l = 0; l < LANES; l += 8) {
        offset_vec v;
        memcpy(&v, base + l, sizeof v);
        v += imm;
        out |= v | (end - v);
        odd |= v;
    }
    for (int l = 0; l < LANES; l++)
        address[l] = base[l] + imm;
    return (int32_t)offset_or(&out) >= 0 && (offset_or(&odd) & (align - 1)) == 0;
}

/* Check and locate one access of w->mask's lanes, of `bytes` a lane aligned to
 * `align`, in `space` (generic already resolved). False after a fault. */
static inline bool access_find(struct warp *w, uint8_t space, uint8_t kind,
                               uint32_t bytes, uint32_t align, const uint64_t *address,
                               struct resolved *r)
{
    r->host = 0;
    r->offset = address;
    r->pattern = access_pattern(address, w->mask, bytes);
    if (!access_aligned(address, r->pattern, align))
        for (int l = 0; l < LANES; l++)
            if ((w->mask >> l & 1) && (address[l] & (align - 1)))
                return access_fault_align(w, space, kind, bytes, align, l, address[l]);
    r->mask = w->mask;
    r->scattered = false;
    if (space == PTX_SHARED) {
        if (!access_inside(address, r->pattern, 0, w->block->shared_bytes, bytes))
            for (int l = 0; l < LANES; l++)
                if ((w->mask >> l & 1) && (address[l] > w->block->shared_bytes ||
                                           bytes > w->block->shared_bytes - address[l]))
                    return access_fault_bounds(w, space, kind, bytes, l, address[l]);
        r->host = (uintptr_t)w->block->shared;
    } else if (space == PTX_LOCAL) {
        uint64_t size = w->block->launch->local_bytes;
        for (int l = 0; l < LANES; l++)
            if ((w->mask >> l & 1) && (address[l] > size || bytes > size - address[l]))
                return access_fault_bounds(w, space, kind, bytes, l, address[l]);
        for (int l = 0; l < LANES; l++)
            r->offsets[l] = address[l] + (uint64_t)l * size;
        r->host = (uintptr_t)w->local;
        r->offset = r->offsets;
    } else {
        struct allocation **last = &w->worker->last[w->code->base + w->pc];
        struct allocation *a = *last;
        if (a == NULL ||
            !access_inside(address, r->pattern, a->address, a->bytes, bytes)) {
            a = memory_find(w->block->launch->memory, address[first_lane(w->mask)],
                            bytes);
            if (a == NULL)
                return access_fault_bounds(w, space, kind, bytes, first_lane(w->mask),
                                           address[first_lane(w->mask)]);
            *last = a;
            if (!access_inside(address, r->pattern, a->address, a->bytes, bytes))
                return access_scattered(w, kind, bytes, address, r);
        }
        if (a->read_only && kind != ACCESS_LOAD)
            return access_fault_bounds(w, space, kind, bytes, first_lane(w->mask),
                                       address[first_lane(w->mask)]);
        r->host = (uintptr_t)a->host - a->address;
    }
    if (space == PTX_LOCAL)
        r->pattern = PATTERN_ANY; /* equal offsets, but a memory for each lane */
    return true;
}

/* The same, and the listeners are told. */
static inline bool access_resolve(struct warp *w, const struct op *op, uint8_t space,
                                  uint8_t kind, uint32_t bytes, uint32_t align,
                                  const uint64_t *address, struct resolved *r)
{
    if (!access_find(w, space, kind, bytes, align, address, r))
        return false;
    access_notify(w, op, space, kind, bytes, r->pattern, address);
    return true;
}

/* Compute the addresses, check and locate: first the quick way, which serves a whole warp
 * inside the allocation that this instruction hit last. Listeners are told. */
static inline bool access_locate(struct warp *w, const struct op *op, uint8_t space,
                                 uint8_t kind, uint32_t bytes, struct resolved *r)
{
    uint64_t *address = w->worker->address;
    if (w->mask == FULL_MASK && space == PTX_SHARED && (op->flags & OP_BASE32)) {
        if (access_scan32(row32(w, op->s[0]), (uint32_t)op->imm, w->block->shared_bytes,
                          bytes, bytes, address, &r->pattern)) {
            r->host = (uintptr_t)w->block->shared;
            r->scattered = false;
            r->offset = address;
            access_notify(w, op, space, kind, bytes, r->pattern, address);
            return true;
        }
    } else if (w->mask == FULL_MASK && space == PTX_GLOBAL && !(op->flags & OP_BASE32)) {
        const struct allocation *a = w->worker->last[w->code->base + w->pc];
        if (a != NULL && !(a->read_only && kind != ACCESS_LOAD) &&
            access_scan64(row64(w, op->s[0]), op->imm, a->address, a->bytes, bytes, bytes,
                          address, &r->pattern)) {
            r->host = (uintptr_t)a->host - a->address;
            r->scattered = false;
            r->offset = address;
            access_notify(w, op, space, kind, bytes, r->pattern, address);
            return true;
        }
    }
    access_addresses(w, op, address);
    return access_resolve(w, op, space, kind, bytes, bytes, address, r);
}

static inline uint8_t *access_lane(const struct resolved *r, int lane)
{
    return r->scattered ? r->lane[lane] : (uint8_t *)(r->host + r->offset[lane]);
}

/* The space of a generic address; *inside gets the address in that space. */
static inline uint8_t access_generic(uint64_t address, uint64_t *inside)
{
    if (address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) {
        *inside = address - SIM_SHARED_WINDOW;
        return PTX_SHARED;
    }
    if (address - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES) {
        *inside = address - SIM_LOCAL_WINDOW;
        return PTX_LOCAL;
    }
    *inside = address;
    return PTX_GLOBAL;
}

/* Take lanes of one space out of *left: fills address in that space for them (and
 * copies of the first for the others), sets w->mask, returns the space. */
static inline uint8_t access_split(struct warp *w, uint32_t *left,
                                   const uint64_t *generic, uint64_t *address)
{
    uint64_t inside;
    int lead = first_lane(*left);
    uint8_t space = access_generic(generic[lead], &inside);
    uint64_t first = inside;
    uint32_t mask = 0;
    for (int l = 0; l < LANES; l++) {
        bool same = (*left >> l & 1) && access_generic(generic[l], &inside) == space;
        address[l] = same ? inside : first;
        mask |= (uint32_t)same << l;
    }
    w->mask = mask;
    *left &= ~mask;
    return space;
}

#endif
