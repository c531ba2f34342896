/* async.c - see async.h. Built once; ops_async.c has the instructions. */
#include "async.h"

#include "check.h"

#include <stdlib.h>

enum { MOST_COPIES = 1024, WORD = 4 };

struct late_copy {
    uint32_t left;  /* lanes whose data have not come */
    uint32_t bytes; /* a lane */
    const struct code *code;
    const struct op *op;
    uint32_t group[LANES], to[LANES];
    uint8_t data[LANES][16];
};

/* Lanes that have tied a barrier to their copies so far. */
struct late_arrival {
    uint32_t left;
    uint64_t copies; /* copies issued before it */
    uint32_t to[LANES];
};

struct warp_queue {
    struct late_copy *copies; /* in order of issue; number `first` is the oldest */
    int count, room;
    uint64_t first;
    struct late_arrival *arrivals;
    int arrival_count, arrival_room;
    uint32_t group[LANES]; /* groups that each lane has committed */
};

struct async_block {
    struct warp_queue *warps;
    uint8_t *coming; /* for each word of shared memory: late copies to it */
};

static void *grow(void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 8 : *room * 2;
    return xrealloc(array, (size_t)*room * size);
}

static struct warp_queue *queue_of(struct warp *w)
{
    struct block *b = w->block;
    if (b->async == NULL) {
        b->async = xcalloc(1, sizeof *b->async);
        b->async->warps = xcalloc(b->warp_count, sizeof *b->async->warps);
        b->async->coming = xcalloc(b->shared_bytes / WORD + 1, 1);
    }
    return &b->async->warps[w->index];
}

void async_drop(struct block *b)
{
    if (b->async == NULL)
        return;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        free(b->async->warps[i].copies);
        free(b->async->warps[i].arrivals);
    }
    free(b->async->warps);
    free(b->async->coming);
    free(b->async);
    b->async = NULL;
}

/* --- late copies ---------------------------------------------------------------------- */

static void count_coming(struct block *b, uint32_t to, uint32_t bytes, int change)
{
    for (uint32_t i = to / WORD; i < (to + bytes) / WORD; i++)
        b->async->coming[i] = (uint8_t)(b->async->coming[i] + change);
}

static void deliver(struct warp *w, struct late_copy *copy, uint32_t lanes)
{
    lanes &= copy->left;
    copy->left &= ~lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        memcpy(w->block->shared + copy->to[l], copy->data[l], copy->bytes);
        count_coming(w->block, copy->to[l], copy->bytes, -1);
        check_async_arrived(w, l, copy->to[l], copy->bytes, copy->code, copy->op);
    }
}

static void drop_delivered(struct warp_queue *q)
{
    int done = 0;
    while (done < q->count && q->copies[done].left == 0)
        done++;
    q->count -= done;
    q->first += (uint64_t)done;
    if (done > 0)
        memmove(q->copies, q->copies + done, (size_t)q->count * sizeof *q->copies);
}

void async_copy(struct warp *w, const uint64_t *to, uint8_t (*data)[16], uint32_t bytes)
{
    struct warp_queue *q = queue_of(w);
    if (q->count == MOST_COPIES) { /* nobody waits: let the oldest come */
        deliver(w, &q->copies[0], FULL_MASK);
        drop_delivered(q);
    }
    q->copies = grow(q->copies, q->count, &q->room, sizeof *q->copies);
    struct late_copy *copy = &q->copies[q->count++];
    *copy = (struct late_copy){
        .left = w->mask, .bytes = bytes, .code = w->code, .op = &w->code->ops[w->pc]};
    memcpy(copy->group, q->group, sizeof copy->group);
    memcpy(copy->data, data, sizeof copy->data);
    for (int l = 0; l < LANES; l++)
        if (w->mask >> l & 1) {
            copy->to[l] = (uint32_t)to[l];
            memset(w->block->shared + to[l], 0xff, bytes);
            count_coming(w->block, copy->to[l], bytes, 1);
        }
}

void async_commit(struct warp *w)
{
    struct warp_queue *q = queue_of(w);
    for (int l = 0; l < LANES; l++)
        q->group[l] += w->mask >> l & 1;
}

void async_wait(struct warp *w, uint32_t most, bool all)
{
    struct warp_queue *q = queue_of(w);
    for (int i = 0; i < q->count; i++) {
        uint32_t lanes = 0;
        for (int l = 0; l < LANES; l++) {
            uint64_t after = (uint64_t)q->copies[i].group[l] + most;
            lanes |= (uint32_t)(all || after < q->group[l]) << l;
        }
        deliver(w, &q->copies[i], lanes & w->mask);
    }
    drop_delivered(q);
}

void async_arrive_later(struct warp *w, const uint64_t *to)
{
    struct warp_queue *q = queue_of(w);
    q->arrivals =
        grow(q->arrivals, q->arrival_count, &q->arrival_room, sizeof *q->arrivals);
    struct late_arrival *arrival = &q->arrivals[q->arrival_count++];
    *arrival =
        (struct late_arrival){.left = w->mask, .copies = q->first + (uint64_t)q->count};
    for (int l = 0; l < LANES; l++)
        arrival->to[l] = w->mask >> l & 1 ? (uint32_t)to[l] : 0;
}

/* --- mbarriers ------------------------------------------------------------------------- */

struct mbarrier {
    uint32_t expected, pending;
    int64_t bytes;
    bool made, phase; /* made: bit 62 set and bit 61 clear, unlike fresh memory */
};

static uint64_t pack(const struct mbarrier *m)
{
    return (uint64_t)m->expected | (uint64_t)m->pending << 20 |
           ((uint64_t)m->bytes & 0x1fffff) << 40 | (uint64_t)m->made << 62 |
           (uint64_t)m->phase << 63;
}

static struct mbarrier unpack(uint64_t word)
{
    return (struct mbarrier){.expected = word & 0xfffff,
                             .pending = word >> 20 & 0xfffff,
                             .bytes =
                                 (int64_t)((word >> 40 & 0x1fffff) ^ 0x100000) - 0x100000,
                             .made = (word >> 61 & 3) == 2,
                             .phase = word >> 63};
}

uint32_t mbarrier_pending(uint64_t state)
{
    return unpack(state).pending;
}

static bool load_barrier(struct warp *w, int lane, uint64_t offset, struct mbarrier *m)
{
    uint64_t word;
    memcpy(&word, w->block->shared + offset, sizeof word);
    *m = unpack(word);
    if (m->made)
        return true;
    sim_raise(w, SIM_UNINITIALIZED, lane, offset,
              "the mbarrier at shared address 0x%llx was not made by mbarrier.init",
              (unsigned long long)offset);
    return false;
}

static void store_barrier(struct warp *w, uint64_t offset, const struct mbarrier *m)
{
    uint64_t word = pack(m);
    memcpy(w->block->shared + offset, &word, sizeof word);
}

bool mbarrier_init(struct warp *w, int lane, uint64_t offset, uint32_t count)
{
    if (count == 0 || count > MBARRIER_MOST) {
        sim_raise(w, SIM_UNSUPPORTED, lane, offset,
                  "an mbarrier for %u arrivals; 1 to %d are allowed", count,
                  MBARRIER_MOST);
        return false;
    }
    store_barrier(w, offset,
                  &(struct mbarrier){.expected = count, .pending = count, .made = true});
    return true;
}

bool mbarrier_invalidate(struct warp *w, int lane, uint64_t offset)
{
    struct mbarrier m;
    if (!load_barrier(w, lane, offset, &m))
        return false;
    store_barrier(w, offset, &(struct mbarrier){0});
    return true;
}

bool mbarrier_change(struct warp *w, int lane, uint64_t offset,
                     const struct mbarrier_change *change, uint64_t *state)
{
    struct mbarrier m;
    if (!load_barrier(w, lane, offset, &m))
        return false;
    *state = pack(&m);
    int64_t bytes = m.bytes + change->bytes;
    uint64_t pending = (uint64_t)m.pending + change->more;
    if (change->arrivals > pending || change->drop > m.expected ||
        pending > MBARRIER_MOST || bytes > MBARRIER_MOST || bytes < -MBARRIER_MOST) {
        sim_raise(w, SIM_BARRIER_DIVERGENCE, lane, offset,
                  "an mbarrier that expects %u arrivals more gets %u (%lld bytes to "
                  "come)",
                  (unsigned)pending, change->arrivals, (long long)bytes);
        return false;
    }
    m.bytes = bytes;
    m.expected -= change->drop;
    m.pending = (uint32_t)pending - change->arrivals;
    bool over = m.pending == 0 && m.bytes == 0;
    if (over && change->must_not_complete) {
        sim_raise(w, SIM_BARRIER_DIVERGENCE, lane, offset,
                  "the phase of an mbarrier ends by an arrival with .noComplete");
        return false;
    }
    if (over) {
        m.phase = !m.phase;
        m.pending = m.expected;
    }
    store_barrier(w, offset, &m);
    if (change->arrivals > 0)
        check_mbarrier_arrive(w, lane, offset, over);
    return true;
}

/* Somebody looks at the barrier: let arrive what is tied to copies, and these copies. */
static bool arrive_now(struct warp *from, uint64_t offset)
{
    struct warp_queue *q = &from->block->async->warps[from->index];
    int kept = 0;
    for (int i = 0; i < q->arrival_count; i++) {
        struct late_arrival *arrival = &q->arrivals[i];
        for (uint32_t lanes = arrival->left; lanes != 0; lanes &= lanes - 1) {
            int l = __builtin_ctz(lanes);
            uint64_t state;
            if (arrival->to[l] != offset)
                continue;
            arrival->left &= ~((uint32_t)1 << l);
            for (int c = 0; c < q->count && q->first + (uint64_t)c < arrival->copies; c++)
                deliver(from, &q->copies[c], (uint32_t)1 << l);
            if (!mbarrier_change(from, l, offset,
                                 &(struct mbarrier_change){.arrivals = 1}, &state))
                return false;
        }
        if (arrival->left != 0)
            q->arrivals[kept++] = *arrival;
    }
    q->arrival_count = kept;
    drop_delivered(q);
    return true;
}

bool mbarrier_test(struct warp *w, int lane, uint64_t offset, uint64_t state, bool parity,
                   bool *over)
{
    struct block *b = w->block;
    struct mbarrier m;
    for (uint32_t i = 0; b->async != NULL && i < b->warp_count; i++)
        if (!arrive_now(&b->warps[i], offset))
            return false;
    if (!load_barrier(w, lane, offset, &m))
        return false;
    *over = m.phase != (parity ? (bool)(state & 1) : (bool)(state >> 63));
    if (*over)
        check_mbarrier_passed(w, lane, offset);
    return true;
}

/* --- who touches what has not come -------------------------------------------------- */

/* Where lane l's access begins; the pattern may stand for the addresses. */
static uint64_t lane_address(const struct access *a, uint32_t l)
{
    return a->pattern == PATTERN_UNIFORM       ? a->address[0]
           : a->pattern == PATTERN_CONSECUTIVE ? a->address[0] + (uint64_t)l * a->bytes
                                               : a->address[l];
}

/* Is one of the words that hold [address, address + bytes) still to come? */
static inline bool is_coming(const uint8_t *coming, uint64_t address, uint32_t bytes)
{
    uint64_t first = address / WORD, last = (address + bytes - 1) / WORD;
    uint32_t four;
    if (last - first == 3) {
        memcpy(&four, coming + first, sizeof four);
        return four != 0;
    }
    for (uint64_t i = first; i <= last; i++)
        if (coming[i] != 0)
            return true;
    return false;
}

static void on_access(struct warp *w, const struct access *a)
{
    const struct async_block *async = w->block->async;
    if (async == NULL || a->space != PTX_SHARED)
        return;
    uint32_t left = a->pattern == PATTERN_UNIFORM ? a->mask & -a->mask : a->mask;
    for (; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t address = lane_address(a, l);
        if (!is_coming(async->coming, address, a->bytes))
            continue;
        sim_raise(w, SIM_IN_FLIGHT, (int)l, address,
                  "%u bytes at shared address 0x%llx, which a cp.async is still "
                  "to write: wait for its group first",
                  a->bytes, (unsigned long long)address);
        return;
    }
}

const struct listener async_check_listener = {.access = on_access};
