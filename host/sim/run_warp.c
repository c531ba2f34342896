/* run_warp.c - a warp: fetch, guards, branches, diverged paths.
 *
 * Lanes at one place form a path. While there is one path the loop below runs it
 * alone. When lanes part, the path with the deepest call and the smallest pc runs
 * first, up to the place where the next one waits, and paths that meet are merged:
 * code laid out in the usual order reconverges as early as the hardware would. A
 * path that has had its turn while others could run rests until they have had
 * theirs, so that lanes which wait for one another make progress; polling (volatile
 * loads, atomics) uses a turn up faster than computing. */
#include <stdlib.h>

#include "access.h"
#include "check.h"
#include "run.h"

/* --- start and end ---------------------------------------------------------------- */

static struct path *add_path(struct warp *w)
{
    if (w->path_count == w->path_room) {
        w->path_room = w->path_room == 0 ? 4 : w->path_room * 2;
        w->paths = xrealloc(w->paths, w->path_room * sizeof *w->paths);
    }
    return &w->paths[w->path_count++];
}

static void remove_path(struct warp *w, uint32_t i)
{
    call_frame_drop(w->worker, w->paths[i].caller);
    w->paths[i] = w->paths[--w->path_count];
}

void run_warp_start(struct warp *w)
{
    const struct code *code = w->block->launch->code;
    w->exited = 0;
    w->code = code;
    w->rows = w->slab;
    /* what was never written reads as a NaN, in every run the same */
    memset(w->slab, 0xff, code->frame_bytes);
    run_frame_start(w, code, w->slab);
    *add_path(w) = (struct path){.mask = w->alive, .code = code, .state = PATH_RUN};
}

void run_warp_drop(struct warp *w)
{
    while (w->path_count > 0)
        remove_path(w, w->path_count - 1);
}

/* --- paths ------------------------------------------------------------------------ */

void run_split(struct warp *w, uint32_t self, uint32_t mask, uint32_t pc)
{
    struct path *added = add_path(w);
    *added = w->paths[self];
    added->mask = mask;
    added->pc = pc;
    if (added->caller != NULL)
        added->caller->users++;
}

static bool same_place(const struct path *a, const struct path *b)
{
    return a->pc == b->pc && a->code == b->code && a->frame == b->frame &&
           a->caller == b->caller && a->state != PATH_BARRIER && b->state != PATH_BARRIER;
}

static void merge_paths(struct warp *w)
{
    for (uint32_t i = 0; i < w->path_count; i++)
        for (uint32_t k = i + 1; k < w->path_count;) {
            struct path *a = &w->paths[i];
            const struct path *b = &w->paths[k];
            if (!same_place(a, b)) {
                k++;
                continue;
            }
            a->mask |= b->mask;
            a->state = PATH_RUN;
            a->used = a->used > b->used ? a->used : b->used;
            remove_path(w, k);
        }
}

/* Does path a go before path b? */
static bool goes_first(const struct path *a, const struct path *b)
{
    return a->depth != b->depth ? a->depth > b->depth : a->pc < b->pc;
}

/* --- waiting for lanes of the warp --------------------------------------------------- */

static const uint32_t *member_masks(const struct warp *w, const struct path *p,
                                    const struct op *op)
{
    static const uint32_t all[LANES] = {
        FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK,
        FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK,
        FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK,
        FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK,
        FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK};
    if (op->sync == 0)
        return all;
    return (const uint32_t *)(const void *)(w->slab + p->frame + op->s[op->sync - 1]);
}

uint32_t run_member_mask(const struct warp *w, const struct path *p)
{
    return member_masks(w, p, &p->code->ops[p->pc])[first_lane(p->mask)];
}

/* The lanes of `mask` whose mask of members is `members`. */
static uint32_t lanes_with(const uint32_t *masks, uint32_t mask, uint32_t members)
{
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < LANES; l++)
        lanes |= (uint32_t)(masks[l] == members) << l;
    return lanes & mask;
}

/* The lanes of `mask` whose fellow members are all in `mask` too, or gone. Lanes at one
 * instruction may form several groups with a mask each. */
static uint32_t ready_lanes(const struct warp *w, const uint32_t *masks, uint32_t mask)
{
    uint32_t ready = 0, left = mask;
    while (left != 0) {
        uint32_t members = masks[first_lane(left)];
        uint32_t group = lanes_with(masks, left, members);
        if ((members & w->alive & ~w->exited & ~group) == 0)
            ready |= group;
        left &= ~group;
    }
    return ready;
}

static void count_sync(struct warp *w, const struct code *code, uint32_t pc, uint32_t ran)
{
    w->worker->executed[code->base + pc]++;
    w->worker->threads[code->base + pc] += (uint64_t)__builtin_popcount(ran);
}

/* bar.warp.sync may be met at different places of the program: release all paths that
 * wait at one, if their lanes together are the members. */
static void release_warp_barrier(struct warp *w, uint32_t self)
{
    const struct path *p = &w->paths[self];
    const struct op *op = &p->code->ops[p->pc];
    uint32_t members = member_masks(w, p, op)[first_lane(p->mask)], here = 0;
    if (op->fn != NULL)
        return;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < w->path_count; i++) {
            struct path *q = &w->paths[i];
            const struct op *at = &q->code->ops[q->pc];
            if (q->state != PATH_WARP_SYNC || at->fn != NULL ||
                lanes_with(member_masks(w, q, at), q->mask, members) != q->mask)
                continue;
            here |= q->mask;
            if (pass == 1) {
                count_sync(w, q->code, q->pc, q->mask);
                q->state = PATH_RUN;
                q->pc++;
            }
        }
        if ((members & w->alive & ~w->exited & ~here) != 0)
            return;
        if (pass == 0)
            check_warp_sync(w, here);
    }
}

/* Next path to run, -1 if none can. */
static int pick_path(struct warp *w)
{
    for (uint32_t i = 0; i < w->path_count; i++) {
        struct path *p = &w->paths[i];
        if (p->state != PATH_WARP_SYNC)
            continue;
        if (ready_lanes(w, member_masks(w, p, &p->code->ops[p->pc]), p->mask) != 0)
            p->state = PATH_RUN;
        else
            release_warp_barrier(w, i);
    }
    for (int round = 0; round < 2; round++) {
        int best = -1;
        bool resting = false;
        for (uint32_t i = 0; i < w->path_count; i++) {
            const struct path *p = &w->paths[i];
            resting |= p->state == PATH_RUN && p->used >= PATH_SLICE;
            if (p->state == PATH_RUN && p->used < PATH_SLICE &&
                (best < 0 || goes_first(p, &w->paths[best])))
                best = (int)i;
        }
        if (best >= 0 || !resting)
            return best;
        for (uint32_t i = 0; i < w->path_count; i++)
            w->paths[i].used = 0;
    }
    return -1;
}

/* May path `self` go on at `pc`, before all others? *limit: the nearest place in front
 * of it where another path waits. */
static bool look_ahead(const struct warp *w, uint32_t self, uint32_t pc, uint32_t *limit)
{
    const struct path *p = &w->paths[self];
    *limit = UINT32_MAX;
    for (uint32_t i = 0; i < w->path_count; i++) {
        const struct path *q = &w->paths[i];
        if (i == self || q->state == PATH_BARRIER)
            continue;
        if (q->code == p->code && q->frame == p->frame) {
            if (q->pc == pc || (q->pc < pc && q->state == PATH_RUN))
                return false;
            if (q->pc > pc && q->pc < *limit)
                *limit = q->pc;
        }
    }
    return true;
}

/* --- control instructions ----------------------------------------------------------- */

static void branch_table(struct warp *w, uint32_t self, const struct op *op,
                         uint32_t mask)
{
    const uint32_t *index = row32(w, op->s[0]);
    uint32_t left = mask, pc = w->paths[self].pc;
    for (uint32_t l = 0; l < LANES; l++)
        if ((mask >> l & 1) && index[l] >= op->imm) {
            sim_raise(w, SIM_OUT_OF_BOUNDS, (int)l, 0,
                      "brx.idx with index %u; the table has %llu targets", index[l],
                      (unsigned long long)op->imm);
            return;
        }
    if (w->paths[self].mask & ~mask)
        run_split(w, self, w->paths[self].mask & ~mask, pc + 1);
    while (left != 0) {
        uint32_t to = index[first_lane(left)], same = lanes_with(index, left, to);
        left &= ~same;
        if (left != 0) {
            run_split(w, self, same, op->list[to]);
        } else {
            w->paths[self].mask = same;
            w->paths[self].pc = op->list[to];
        }
    }
}

/* bar.warp.sync and *.sync: run it for the lanes whose members are all here; the others
 * wait. */
static void warp_sync(struct warp *w, uint32_t self, const struct op *op, uint32_t mask)
{
    struct path *p = &w->paths[self];
    const uint32_t *masks = member_masks(w, p, op);
    for (uint32_t l = 0; l < LANES; l++)
        if ((mask >> l & 1) && !(masks[l] >> l & 1)) {
            sim_raise(w, SIM_BAD_MASK, (int)l, 0,
                      "lane %u executes `%s` but is not in its member mask 0x%08x", l,
                      p->code->function->insns[p->pc].text, masks[l]);
            return;
        }
    uint32_t ready = ready_lanes(w, masks, mask), wait = mask & ~ready;
    uint32_t pc = p->pc, off = p->mask & ~mask;
    w->worked = 0;
    if (wait != 0 && (ready | off) != 0) {
        run_split(w, self, wait, pc);
        w->paths[w->path_count - 1].state = PATH_WARP_SYNC;
        p = &w->paths[self];
        p->mask = ready | off;
    } else if (wait != 0) {
        p->state = PATH_WARP_SYNC;
        return;
    }
    p->pc = pc + 1;
    if (ready != 0)
        count_sync(w, w->code, pc, ready);
    for (uint32_t left = ready; left != 0 && !w->worker->stop;) {
        w->mask = lanes_with(masks, left, masks[first_lane(left)]);
        left &= ~w->mask;
        if (op->fn != NULL)
            op->fn(w, op);
        else
            check_warp_sync(w, w->mask);
    }
}

static void leave(struct warp *w, uint32_t self, uint32_t mask)
{
    struct path *p = &w->paths[self];
    if (w->path_count > 1 && (w->worked & mask) != 0)
        run_mask_leave(w, mask);
    w->exited |= mask;
    w->block->live -= (uint32_t)__builtin_popcount(mask);
    p->mask &= ~mask;
    p->pc++;
    if (p->mask == 0)
        remove_path(w, self);
    run_barriers_check(w->block);
}

/* What the loop does not do itself. `active` lanes of path self execute op. */
static void control(struct warp *w, uint32_t self, const struct op *op, uint32_t active)
{
    struct path *p = &w->paths[self];
    switch (op->kind) {
    case OP_BRANCH: /* lanes part */
        w->worker->counters.branches_divergent++;
        run_split(w, self, active, op->target);
        w->paths[self].mask &= ~active;
        w->paths[self].pc++;
        break;
    case OP_BRANCH_TABLE:
        w->worker->counters.branches++;
        branch_table(w, self, op, active);
        break;
    case OP_EXIT:
        leave(w, self, active);
        break;
    case OP_BARRIER:
        run_barrier_arrive(w, self, op, active);
        break;
    case OP_CALL:
        run_call(w, self, op, active);
        break;
    case OP_RET:
        run_return(w, self, active);
        break;
    case OP_CLOCK:
        w->mask = active;
        op->fn(w, op);
        p->pc++;
        break;
    default: /* OP_YIELD */
        w->worker->polls += MOST_POLLS / 4;
        p->used = PATH_SLICE;
        p->pc++;
        break;
    }
}

/* --- the loop --------------------------------------------------------------------- */

/* A group of lanes meets *.sync: the usual case, one group that is complete, stays in
 * the loop. */
static inline bool sync_at_once(struct warp *w, const struct path *p, const struct op *op,
                                uint32_t active)
{
    const uint32_t *masks = member_masks(w, p, op);
    uint32_t members = masks[first_lane(active)], differ = 0;
    for (int l = 0; l < LANES; l++)
        differ |= masks[l] ^ members;
    if (differ != 0 || (members & w->alive & ~w->exited) != active)
        return false;
    if (op->fn != NULL) {
        w->mask = active;
        op->fn(w, op);
    } else {
        check_warp_sync(w, active);
    }
    return true;
}

/* Run path `self` for at most `turn` instructions, until it must be scheduled anew.
 * Returns how many it executed; at least one. */
static uint32_t run_path(struct warp *w, uint32_t self, uint32_t turn)
{
    struct path *p = &w->paths[self];
    struct worker *worker = w->worker;
    const struct code *code = p->code;
    const struct op *ops = code->ops, *special = NULL;
    uint64_t *executed = worker->executed + code->base;
    uint64_t *threads = worker->threads + code->base;
    const uint32_t mask = p->mask, polls = worker->polls;
    uint32_t pc = p->pc, left = turn, active = mask, limit = UINT32_MAX;
    const bool alone = w->path_count == 1, checked = w->block->launch->check;
    if (!alone)
        look_ahead(w, self, pc, &limit);
    w->code = code;
    w->rows = w->slab + p->frame;
    while (left > 0 && pc < limit) {
        const struct op *op = &ops[pc];
        active = mask;
        if (op->guard != NO_GUARD) {
            uint32_t guard = *(const uint32_t *)(const void *)(w->rows + op->guard);
            active &= op->guard_negated ? ~guard : guard;
        }
        executed[pc]++;
        threads[pc] += active == FULL_MASK ? LANES : (uint64_t)__builtin_popcount(active);
        w->pc = pc;
        left--;
        if (op->kind == OP_PLAIN) {
            if (active != 0) {
                w->mask = active;
                op->fn(w, op);
                if (worker->stop)
                    break;
            }
            pc++;
            continue;
        }
        worker->counters.branches += op->kind == OP_BRANCH;
        if (op->guard != NO_GUARD && op->kind == OP_BRANCH && checked)
            check_branch(w, op, mask);
        if (active == 0) {
            pc++;
            continue;
        }
        if (op->kind == OP_BRANCH && active == mask) {
            pc = op->target;
            if (pc <= w->pc && worker->polls - polls > MOST_POLLS)
                break;
            if (!alone && !look_ahead(w, self, pc, &limit))
                break;
            continue;
        }
        if (op->kind == OP_WARP_SYNC && sync_at_once(w, p, op, active)) {
            if (worker->stop)
                break;
            pc++;
            continue;
        }
        special = op;
        break;
    }
    p->pc = pc;
    p->used += alone ? 0 : turn - left + (worker->polls - polls) * POLL_COST;
    w->block->steps += turn - left;
    w->block->clock = w->block->steps * CYCLES_A_STEP;
    if (special != NULL && special->kind == OP_WARP_SYNC) {
        executed[pc]--; /* counted when it runs */
        threads[pc] -= (uint64_t)__builtin_popcount(active);
        warp_sync(w, self, special, active);
    } else if (special != NULL) {
        control(w, self, special, active);
    }
    return turn - left;
}

uint32_t run_warp(struct warp *w, uint32_t slice)
{
    struct worker *worker = w->worker;
    uint32_t left = slice, polls = worker->polls;
    while (left > 0 && !worker->stop && worker->polls - polls <= MOST_POLLS) {
        if (w->path_count > 1)
            merge_paths(w);
        int next = pick_path(w);
        if (next < 0)
            break;
        uint32_t turn = left;
        if (w->path_count == 1)
            w->paths[next].used = 0;
        else if (turn > PATH_SLICE - w->paths[next].used)
            turn = PATH_SLICE - w->paths[next].used;
        left -= run_path(w, (uint32_t)next, turn);
    }
    return slice - left;
}
