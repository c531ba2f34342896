/* run_block.c - the warps of a block take turns; barriers; deadlock. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "access.h"
#include "async.h"
#include "check.h"
#include "run.h"

enum { LOCAL_CLEAR_BYTES = 1 << 20 };

/* --- barriers --------------------------------------------------------------------- */

/* The fault of path p, which does not run now. */
static void look_at(struct warp *w, const struct path *p)
{
    w->code = p->code;
    w->pc = p->pc;
}

static bool is_aligned(const struct path *p)
{
    return ((const struct barrier_op *)p->code->ops[p->pc].extra)->aligned;
}

static int line_of(const struct block *b, const struct path *p)
{
    char file[256];
    int line;
    sim_locate(b->launch, p->code, p->pc, file, sizeof file, &line);
    return line;
}

/* Lanes of one warp wait at two barriers, or at two places of the program for one: an
 * aligned barrier must be executed by the whole warp together. */
static bool sites_differ(struct warp *w)
{
    const struct path *first = NULL;
    for (uint32_t k = 0; k < w->path_count; k++) {
        const struct path *p = &w->paths[k];
        if (p->state != PATH_BARRIER || !is_aligned(p))
            continue;
        if (first != NULL && (first->pc != p->pc || first->code != p->code)) {
            look_at(w, p);
            sim_raise(w, SIM_BARRIER_DIVERGENCE, first_lane(p->mask), 0,
                      "lanes of one warp wait at different barriers: 0x%08x here, "
                      "0x%08x at line %d",
                      p->mask, first->mask, line_of(w->block, first));
            return true;
        }
        first = p;
    }
    return false;
}

/* One place of the program, if the compiler did not make several of it. */
static bool same_line(const struct block *b, const struct path *p, const struct path *q)
{
    char file[2][256];
    int line[2];
    if (p->pc == q->pc && p->code == q->code)
        return true;
    sim_locate(b->launch, p->code, p->pc, file[0], sizeof file[0], &line[0]);
    sim_locate(b->launch, q->code, q->pc, file[1], sizeof file[1], &line[1]);
    return line[0] == line[1] && strcmp(file[0], file[1]) == 0;
}

/* For --check: lanes that have left the kernel while others of their warp wait at an
 * aligned barrier; warps that meet for __syncthreads() at different places. PTX lets them,
 * but CUDA C++ allows __syncthreads() in conditional code only if the whole block takes
 * the same way, and warps that are a barrier apart compute rubbish without hanging. Named
 * barriers with a count may meet anywhere. */
static bool check_release(struct block *b, uint32_t id)
{
    const struct path *first = NULL;
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t k = 0; k < b->warps[i].path_count; k++) {
            struct warp *w = &b->warps[i];
            const struct path *p = &w->paths[k];
            if (p->state != PATH_BARRIER || p->barrier != id || !is_aligned(p))
                continue;
            look_at(w, p);
            if (w->exited != 0) {
                sim_raise(w, SIM_BARRIER_DIVERGENCE, first_lane(w->exited), 0,
                          "threads 0x%08x of the warp have left the kernel while 0x%08x "
                          "wait at this barrier",
                          w->exited, p->mask);
                return false;
            }
            if (b->barriers[id].expected == 0 && first != NULL &&
                !same_line(b, first, p)) {
                sim_raise(w, SIM_BARRIER_DIVERGENCE, first_lane(p->mask), 0,
                          "warp %u meets the others at another barrier of the program: "
                          "they wait at line %d",
                          i, line_of(b, first));
                return false;
            }
            first = p;
        }
    return true;
}

static void release_path(struct warp *w, struct path *p, const struct barrier *barrier)
{
    const struct op *op = &p->code->ops[p->pc];
    const struct barrier_op *bar = op->extra;
    uint32_t *d = (uint32_t *)(void *)(w->slab + p->frame + op->d);
    if (bar->kind == BARRIER_RED && bar->red == RED_POPC) {
        for (int l = 0; l < LANES; l++)
            if (p->mask >> l & 1)
                d[l] = barrier->red_true;
    } else if (bar->kind == BARRIER_RED) {
        bool result = bar->red == RED_AND ? barrier->red_true == barrier->arrived
                                          : barrier->red_true != 0;
        *d = (*d & ~p->mask) | (result ? p->mask : 0);
    }
    p->state = PATH_RUN;
    p->pc++;
}

/* Tell the checks who waits at the barrier that opens. */
static void note_open(struct block *b, uint32_t id)
{
    uint32_t waiting[SIM_MAX_WARPS] = {0}, threads = 0;
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t k = 0; k < b->warps[i].path_count; k++) {
            const struct path *p = &b->warps[i].paths[k];
            if (p->state == PATH_BARRIER && p->barrier == id) {
                waiting[i] |= p->mask;
                threads += (uint32_t)__builtin_popcount(p->mask);
            }
        }
    check_barrier_open(b, id, threads >= b->live, waiting);
}

static void release(struct block *b, uint32_t id)
{
    struct barrier *barrier = &b->barriers[id];
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (barrier->here[i] != 0 && b->warps[i].path_count > 1 &&
            sites_differ(&b->warps[i]))
            return;
    if (b->launch->check && !check_release(b, id))
        return;
    if (b->launch->check)
        note_open(b, id);
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t k = 0; k < b->warps[i].path_count; k++) {
            struct path *p = &b->warps[i].paths[k];
            if (p->state == PATH_BARRIER && p->barrier == id)
                release_path(&b->warps[i], p, barrier);
        }
    *barrier = (struct barrier){0};
    b->worker->counters.barriers++;
    for (int i = 0; i < b->launch->listener_count; i++)
        if (b->launch->listeners[i]->barrier != NULL)
            b->launch->listeners[i]->barrier(b, id);
}

/* Have all come? A count is in whole warps: lanes that never existed or have left come
 * with the lanes of their warp. */
static bool is_complete(const struct block *b, const struct barrier *barrier)
{
    if (barrier->arrived == 0)
        return false;
    if (barrier->expected == 0)
        return barrier->arrived >= b->live;
    uint32_t arrived = barrier->arrived;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const struct warp *w = &b->warps[i];
        if (barrier->here[i] != 0)
            arrived +=
                (uint32_t)__builtin_popcount((~w->alive | w->exited) & ~barrier->here[i]);
    }
    return arrived >= barrier->expected;
}

void run_barriers_check(struct block *b)
{
    for (uint32_t id = 0; id < SIM_MAX_BARRIERS; id++)
        if (is_complete(b, &b->barriers[id]))
            release(b, id);
}

static bool barrier_counts(struct warp *w, const struct op *op, uint32_t mask,
                           uint32_t *id, uint32_t *count)
{
    const struct barrier_op *bar = op->extra;
    int lane = first_lane(mask);
    const uint32_t *ids = row32(w, op->s[0]);
    const uint32_t *counts = bar->has_count ? row32(w, op->s[1]) : NULL;
    *id = ids[lane];
    *count = counts != NULL ? counts[lane] : 0;
    for (int l = 0; l < LANES; l++)
        if ((mask >> l & 1) &&
            (ids[l] != *id || (counts != NULL && counts[l] != *count))) {
            sim_raise(w, SIM_BARRIER_DIVERGENCE, l, 0,
                      "lanes of one warp name different barriers: %u here, %u in lane %d",
                      ids[l], *id, lane);
            return false;
        }
    if (*id >= SIM_MAX_BARRIERS)
        sim_raise(w, SIM_UNSUPPORTED, lane, 0, "barrier %u; a block has 0 to 15", *id);
    else if (bar->has_count && (*count == 0 || *count % LANES != 0))
        sim_raise(w, SIM_UNSUPPORTED, lane, 0,
                  "a barrier for %u threads; the count must be a multiple of 32", *count);
    else
        return true;
    return false;
}

void run_barrier_arrive(struct warp *w, uint32_t self, const struct op *op, uint32_t mask)
{
    const struct barrier_op *bar = op->extra;
    struct block *b = w->block;
    uint32_t id, count, off = w->paths[self].mask & ~mask;
    if (off != 0 && bar->aligned) {
        sim_raise(
            w, SIM_BARRIER_DIVERGENCE, first_lane(mask), 0,
            "a barrier under a condition that lanes of one warp decide differently: "
            "0x%08x arrive, 0x%08x do not",
            mask, off);
        return;
    }
    if (!barrier_counts(w, op, mask, &id, &count))
        return;
    struct barrier *barrier = &b->barriers[id];
    if (barrier->arrived != 0 && barrier->expected != count) {
        sim_raise(w, SIM_BARRIER_DIVERGENCE, first_lane(mask), 0,
                  "barrier %u for %u threads here, for %u where others wait (0 = all)",
                  id, count, barrier->expected);
        return;
    }
    if (off != 0)
        run_split(w, self, off, w->paths[self].pc + 1);
    struct path *path = &w->paths[self];
    path->mask = mask;
    barrier->expected = count;
    barrier->arrived += (uint32_t)__builtin_popcount(mask);
    barrier->here[w->index] |= mask;
    if (bar->kind == BARRIER_RED) {
        uint32_t value = *pred(w, op->s[2]) ^ (bar->negated ? FULL_MASK : 0);
        barrier->red_true += (uint32_t)__builtin_popcount(value & mask);
    }
    if (bar->kind == BARRIER_ARRIVE) {
        check_barrier_arrive(w, id, mask);
        path->pc++;
    } else {
        path->state = PATH_BARRIER;
        path->barrier = id;
    }
    if (is_complete(b, barrier))
        release(b, id);
}

/* --- the block -------------------------------------------------------------------- */

/* Who waits where, for messages: "warp 0 lanes 0xffffffff at line 12: barrier 1; ...". */
static void describe_paths(const struct block *b, char *text, size_t room)
{
    size_t used = 0;
    *text = '\0';
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t k = 0; k < b->warps[i].path_count; k++) {
            const struct path *p = &b->warps[i].paths[k];
            if (used + 80 > room) {
                snprintf(text + used, room - used, "; ...");
                return;
            }
            used += (size_t)snprintf(text + used, room - used,
                                     "%swarp %u lanes 0x%08x at line %d",
                                     used == 0 ? "" : "; ", i, p->mask, line_of(b, p));
            if (p->state == PATH_BARRIER)
                used += (size_t)snprintf(text + used, room - used, ": barrier %u",
                                         p->barrier);
        }
}

static void report_deadlock(struct block *b)
{
    char text[200];
    struct warp *culprit = NULL;
    for (uint32_t i = b->warp_count; i-- > 0;) {
        struct warp *w = &b->warps[i];
        if (sites_differ(w) || run_mask_deadlock(w))
            return;
        if (w->path_count > 0)
            culprit = w;
    }
    if (culprit == NULL)
        return;
    describe_paths(b, text, sizeof text);
    look_at(culprit, &culprit->paths[0]);
    sim_raise(culprit, SIM_DEADLOCK, first_lane(culprit->paths[0].mask), 0,
              "nobody can go on: %s", text);
}

static bool block_done(const struct block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (b->warps[i].path_count != 0)
            return false;
    return true;
}

static void timeout(struct block *b)
{
    char text[120];
    struct warp *w = &b->warps[0];
    while (w->path_count == 0)
        w++;
    describe_paths(b, text, sizeof text);
    look_at(w, &w->paths[0]);
    sim_raise(w, SIM_TIMEOUT, first_lane(w->paths[0].mask), 0,
              "the block has executed %llu warp instructions: is there an endless loop? "
              "(--steps allows more) %s",
              (unsigned long long)b->steps, text);
}

/* One turn for every warp. Returns the instructions executed. */
static uint64_t block_turn(struct block *b)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < b->warp_count && !b->worker->stop; i++)
        if (b->warps[i].path_count != 0)
            steps += run_warp(&b->warps[i], WARP_SLICE);
    return steps;
}

/* Zero the local memory; big ones by giving the pages back. */
static void clear_local(struct block *b, size_t warp_bytes)
{
    for (uint32_t i = 0; i < b->warp_count && warp_bytes > 0; i++) {
        uint8_t *local = b->warps[i].local;
        if (warp_bytes < LOCAL_CLEAR_BYTES ||
            madvise(local, warp_bytes, MADV_DONTNEED) != 0)
            memset(local, 0, warp_bytes);
    }
}

void run_block_start(struct block *b, uint64_t linear)
{
    const struct launch *launch = b->launch;
    const unsigned *grid = launch->grid;
    b->linear = linear;
    b->id[0] = (unsigned)(linear % grid[0]);
    b->id[1] = (unsigned)(linear / grid[0] % grid[1]);
    b->id[2] = (unsigned)(linear / grid[0] / grid[1]);
    b->live = b->threads;
    b->steps = b->spent = b->clock = 0;
    memset(b->barriers, 0, sizeof b->barriers);
    memset(b->shared, 0xff, b->shared_bytes);
    clear_local(b, b->worker->run->local_bytes);
    for (uint32_t i = 0; i < b->warp_count; i++)
        run_warp_start(&b->warps[i]);
    for (int i = 0; i < launch->listener_count; i++)
        if (launch->listeners[i]->block_begin != NULL)
            launch->listeners[i]->block_begin(b);
}

void run_block_end(struct block *b)
{
    const struct launch *launch = b->launch;
    for (int i = 0; i < launch->listener_count; i++)
        if (launch->listeners[i]->block_end != NULL)
            launch->listeners[i]->block_end(b);
    for (uint32_t i = 0; i < b->warp_count; i++)
        run_warp_drop(&b->warps[i]);
    async_drop(b);
}

enum block_state run_block(struct block *b)
{
    struct worker *worker = b->worker;
    struct run *run = worker->run;
    for (uint64_t ran = 0; ran < BLOCK_SLICE;) {
        uint32_t polls = worker->polls;
        uint64_t steps = block_turn(b);
        ran += steps;
        b->spent += steps + (uint64_t)(worker->polls - polls) * POLL_COST;
        if (!worker->stop && block_done(b) && check_block_done(b))
            return BLOCK_DONE;
        if (!worker->stop && steps == 0)
            report_deadlock(b);
        if (!worker->stop && b->spent > b->launch->step_limit)
            timeout(b);
        if (interrupt_pending())
            __atomic_store_n(&run->interrupted, true, __ATOMIC_RELAXED);
        if (worker->stop || __atomic_load_n(&run->interrupted, __ATOMIC_RELAXED) ||
            __atomic_load_n(&run->stop_from, __ATOMIC_RELAXED) <= b->linear)
            return BLOCK_STOPPED;
        if ((uint64_t)(worker->polls - polls) * LANES >= steps)
            return BLOCK_SPINS;
    }
    return BLOCK_SLICED;
}
