/* run_block.c - the warps of a block take turns; barriers; deadlock. */
#include <stdio.h>
#include <stdlib.h>

#include "access.h"
#include "run.h"

/* --- barriers --------------------------------------------------------------------- */

static uint32_t live_threads(const struct block *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->warp_count; i++)
        count += (uint32_t)__builtin_popcount(b->warps[i].alive & ~b->warps[i].exited);
    return count;
}

/* Paths of one warp that wait at one barrier must have come by the same way. */
static bool same_site(struct block *b, uint32_t id)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct warp *w = &b->warps[i];
        const struct path *first = NULL;
        for (uint32_t k = 0; k < w->path_count; k++) {
            const struct path *p = &w->paths[k];
            if (p->state != PATH_BARRIER || p->barrier != id)
                continue;
            if (first != NULL && (first->pc != p->pc || first->code != p->code)) {
                char file[256];
                int line;
                sim_locate(b->launch, first->code, first->pc, file, sizeof file, &line);
                w->code = p->code;
                w->pc = p->pc;
                sim_raise(w, SIM_BARRIER_DIVERGENCE, first_lane(p->mask), 0,
                          "lanes of one warp wait at different barriers: 0x%08x here, "
                          "0x%08x at line %d",
                          p->mask, first->mask, line);
                return false;
            }
            first = p;
        }
    }
    return true;
}

static void release_path(struct warp *w, struct path *p, const struct barrier *barrier)
{
    const struct op *op = &p->code->ops[p->pc];
    const struct barrier_op *bar = op->extra;
    uint8_t *rows = w->slab + p->frame;
    if (bar->kind == BARRIER_RED) {
        if (bar->red == RED_POPC) {
            uint32_t *d = (uint32_t *)(void *)(rows + op->d);
            for (int l = 0; l < LANES; l++)
                if (p->mask >> l & 1)
                    d[l] = barrier->red_true;
        } else {
            uint32_t *d = (uint32_t *)(void *)(rows + op->d);
            bool result = bar->red == RED_AND ? barrier->red_true == barrier->arrived
                                              : barrier->red_true != 0;
            *d = (*d & ~p->mask) | (result ? p->mask : 0);
        }
    }
    p->state = PATH_RUN;
    p->pc++;
}

static void release(struct block *b, uint32_t id)
{
    struct barrier *barrier = &b->barriers[id];
    if (!same_site(b, id))
        return;
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

void run_barriers_check(struct block *b)
{
    for (uint32_t id = 0; id < SIM_MAX_BARRIERS; id++) {
        struct barrier *barrier = &b->barriers[id];
        if (barrier->arrived == 0)
            continue;
        if (barrier->expected != 0 ? barrier->arrived >= barrier->expected
                                   : barrier->arrived >= live_threads(b))
            release(b, id);
    }
}

static bool barrier_counts(struct warp *w, const struct op *op, uint32_t lane,
                           uint32_t *id, uint32_t *count)
{
    const struct barrier_op *bar = op->extra;
    *id = row32(w, op->s[0])[lane];
    *count = bar->has_count ? row32(w, op->s[1])[lane] : 0;
    if (*id >= SIM_MAX_BARRIERS) {
        sim_raise(w, SIM_UNSUPPORTED, (int)lane, 0, "barrier %u; a block has 0 to 15",
                  *id);
        return false;
    }
    if (bar->has_count && (*count == 0 || *count % LANES != 0)) {
        sim_raise(w, SIM_UNSUPPORTED, (int)lane, 0,
                  "a barrier for %u threads; the count must be a multiple of 32", *count);
        return false;
    }
    return true;
}

void run_barrier_arrive(struct warp *w, struct path *path, const struct op *op,
                        uint32_t mask)
{
    const struct barrier_op *bar = op->extra;
    struct block *b = w->block;
    uint32_t lane = (uint32_t)first_lane(mask), id, count;
    if (mask != path->mask && bar->aligned) {
        sim_raise(
            w, SIM_BARRIER_DIVERGENCE, (int)lane, 0,
            "a barrier under a condition that lanes of one warp decide differently: "
            "0x%08x arrive, 0x%08x do not",
            mask, path->mask & ~mask);
        return;
    }
    if (!barrier_counts(w, op, lane, &id, &count))
        return;
    if (b->launch->check && w->exited != 0 && bar->aligned) {
        sim_raise(w, SIM_BARRIER_DIVERGENCE, first_lane(w->exited), 0,
                  "threads 0x%08x of the warp have left the kernel before this barrier",
                  w->exited);
        return;
    }
    struct barrier *barrier = &b->barriers[id];
    if (barrier->arrived != 0 && barrier->expected != count) {
        sim_raise(w, SIM_BARRIER_DIVERGENCE, (int)lane, 0,
                  "barrier %u for %u threads here, for %u where others wait", id, count,
                  barrier->expected);
        return;
    }
    /* a count is in whole warps: lanes that never existed come along */
    uint32_t extra = count != 0 && mask == (w->alive & ~w->exited)
                         ? LANES - (uint32_t)__builtin_popcount(mask)
                         : 0;
    barrier->expected = count;
    barrier->arrived += (uint32_t)__builtin_popcount(mask) + extra;
    if (bar->kind == BARRIER_RED) {
        uint32_t value = *pred(w, op->s[2]) ^ (bar->negated ? FULL_MASK : 0);
        barrier->red_true += (uint32_t)__builtin_popcount(value & mask);
    }
    if (bar->kind == BARRIER_ARRIVE) {
        path->pc++;
    } else {
        path->state = PATH_BARRIER;
        path->barrier = id;
    }
    run_barriers_check(b);
}

/* --- the block -------------------------------------------------------------------- */

static void report_deadlock(struct block *b)
{
    char text[200] = "";
    size_t used = 0;
    struct warp *culprit = &b->warps[0];
    const struct path *at = NULL;
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t k = 0; k < b->warps[i].path_count; k++) {
            const struct path *p = &b->warps[i].paths[k];
            char file[256];
            int line;
            sim_locate(b->launch, p->code, p->pc, file, sizeof file, &line);
            if (at == NULL) {
                at = p;
                culprit = &b->warps[i];
            }
            if (used < sizeof text - 60)
                used += (size_t)snprintf(text + used, sizeof text - used,
                                         "%swarp %u lanes 0x%08x at line %d",
                                         used == 0 ? "" : "; ", i, p->mask, line);
        }
    if (at == NULL)
        return;
    culprit->code = at->code;
    culprit->pc = at->pc;
    sim_raise(culprit, SIM_DEADLOCK, first_lane(at->mask), 0, "nobody can go on: %s",
              text);
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
    struct warp *w = &b->warps[0];
    while (w->path_count == 0)
        w++;
    w->code = w->paths[0].code;
    w->pc = w->paths[0].pc;
    sim_raise(w, SIM_TIMEOUT, first_lane(w->paths[0].mask), 0,
              "the launch has executed %llu warp instructions: is there an endless loop?",
              (unsigned long long)b->launch->step_limit);
}

/* One turn for every warp. Returns the instructions executed. */
static uint64_t block_turn(struct block *b)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < b->warp_count && !b->worker->stop; i++)
        if (b->warps[i].path_count != 0)
            steps += run_warp(&b->warps[i], RUN_SLICE);
    return steps;
}

static void block_start(struct block *b)
{
    const struct launch *launch = b->launch;
    const unsigned *grid = launch->grid;
    b->id[0] = (unsigned)(b->linear % grid[0]);
    b->id[1] = (unsigned)(b->linear / grid[0] % grid[1]);
    b->id[2] = (unsigned)(b->linear / grid[0] / grid[1]);
    memset(b->barriers, 0, sizeof b->barriers);
    for (uint32_t i = 0; i < b->warp_count; i++)
        run_warp_start(&b->warps[i]);
    for (int i = 0; i < launch->listener_count; i++)
        if (launch->listeners[i]->block_begin != NULL)
            launch->listeners[i]->block_begin(b);
}

void run_block(struct worker *worker, uint64_t linear)
{
    struct block *b = worker->block;
    struct launch *launch = b->launch;
    b->linear = linear;
    block_start(b);
    while (!worker->stop && !block_done(b)) {
        uint64_t steps = block_turn(b);
        worker->steps += steps;
        if (worker->stop)
            break;
        if (steps == 0)
            report_deadlock(b);
        if (launch->step_limit != 0 && worker->steps > launch->step_limit)
            timeout(b);
        if (interrupt_pending())
            worker->stop = true;
    }
    for (int i = 0; i < launch->listener_count; i++)
        if (launch->listeners[i]->block_end != NULL)
            launch->listeners[i]->block_end(b);
}
