/* run_warp.c - a warp: fetch, guards, branches, diverged paths, calls.
 *
 * Lanes at one place form a path. While there is one path the loop below runs it
 * alone. When lanes part, the path with the deepest call and the smallest pc runs
 * first, up to the place where the next one waits, and paths that meet are merged:
 * code laid out in the usual order reconverges as early as the hardware would. A
 * path that has run long while others could gets a turn's rest, so that lanes which
 * wait for one another make progress. */
#include <stdlib.h>

#include "access.h"
#include "run.h"

enum { PATH_SLICE = 10000, CALL_STACK_BYTES = 1 << 20 };

/* --- start and end ---------------------------------------------------------------- */

static uint64_t sreg_value(const struct warp *w, int sreg, uint32_t lane)
{
    const struct block *b = w->block;
    const struct launch *launch = b->launch;
    uint32_t thread = w->index * LANES + lane;
    const unsigned *dim = launch->dim;
    switch (sreg) {
    case SREG_TID_X:
        return thread % dim[0];
    case SREG_TID_Y:
        return thread / dim[0] % dim[1];
    case SREG_TID_Z:
        return thread / dim[0] / dim[1];
    case SREG_NTID_X:
        return dim[0];
    case SREG_NTID_Y:
        return dim[1];
    case SREG_NTID_Z:
        return dim[2];
    case SREG_CTAID_X:
        return b->id[0];
    case SREG_CTAID_Y:
        return b->id[1];
    case SREG_CTAID_Z:
        return b->id[2];
    case SREG_NCTAID_X:
        return launch->grid[0];
    case SREG_NCTAID_Y:
        return launch->grid[1];
    case SREG_NCTAID_Z:
        return launch->grid[2];
    case SREG_LANEID:
        return lane;
    case SREG_WARPID:
        return w->index;
    case SREG_NWARPID:
        return (uint64_t)launch->spec->max_threads_sm / LANES;
    case SREG_SMID:
        return b->linear % (uint64_t)launch->spec->sm_count;
    case SREG_NSMID:
        return (uint64_t)launch->spec->sm_count;
    case SREG_LANEMASK_EQ:
        return (uint64_t)1 << lane;
    case SREG_LANEMASK_LT:
        return ((uint64_t)1 << lane) - 1;
    case SREG_LANEMASK_LE:
        return ((uint64_t)2 << lane) - 1;
    case SREG_LANEMASK_GT:
        return FULL_MASK & ~(((uint64_t)2 << lane) - 1);
    case SREG_LANEMASK_GE:
        return FULL_MASK & ~(((uint64_t)1 << lane) - 1);
    case SREG_DYNAMIC_SMEM:
        return launch->dynamic_smem;
    case SREG_TOTAL_SMEM:
        return launch->static_smem + launch->dynamic_smem;
    case SREG_CLUSTER_ONE:
        return 1;
    default:
        return 0;
    }
}

/* Constants and special registers of a new activation. */
static void frame_start(struct warp *w, const struct code *code, uint8_t *rows)
{
    memcpy(rows, code->preset, code->preset_bytes);
    for (uint32_t i = 0; i < code->sreg_count; i++) {
        const struct sreg_row *s = &code->sregs[i];
        for (uint32_t l = 0; l < LANES; l++) {
            uint64_t value = sreg_value(w, s->sreg, l);
            memcpy(rows + s->row + l * s->bytes, &value, s->bytes);
        }
    }
}

static struct path *add_path(struct warp *w)
{
    if (w->path_count == w->path_room) {
        w->path_room = w->path_room == 0 ? 4 : w->path_room * 2;
        w->paths = xrealloc(w->paths, w->path_room * sizeof *w->paths);
    }
    return &w->paths[w->path_count++];
}

void run_warp_start(struct warp *w)
{
    const struct code *code = w->block->launch->code;
    w->path_count = 0;
    w->exited = 0;
    w->code = code;
    frame_start(w, code, w->slab);
    *add_path(w) = (struct path){.mask = w->alive, .code = code, .state = PATH_RUN};
}

void run_warp_free(struct warp *w)
{
    free(w->paths);
    w->paths = NULL;
    w->path_room = w->path_count = 0;
}

/* --- paths ------------------------------------------------------------------------ */

static bool same_place(const struct path *a, const struct path *b)
{
    return a->pc == b->pc && a->code == b->code && a->frame == b->frame &&
           a->caller == b->caller && a->state != PATH_BARRIER && b->state != PATH_BARRIER;
}

static void merge_paths(struct warp *w)
{
    for (uint32_t i = 0; i < w->path_count; i++)
        for (uint32_t k = i + 1; k < w->path_count;)
            if (same_place(&w->paths[i], &w->paths[k])) {
                w->paths[i].mask |= w->paths[k].mask;
                w->paths[i].state = PATH_RUN;
                w->paths[k] = w->paths[--w->path_count];
            } else {
                k++;
            }
}

/* May path p run its *.sync instruction: are all members that live here? */
static bool sync_ready(struct warp *w, const struct path *p)
{
    const struct op *op = &p->code->ops[p->pc];
    const uint32_t *member =
        (const uint32_t *)(const void *)(w->slab + p->frame + op->s[op->sync - 1]);
    uint32_t members = member[first_lane(p->mask)];
    return (members & ~w->exited & w->alive & ~p->mask) == 0;
}

/* Next path to run; `not` is the one that has had its turn (or -1). */
static int pick_path(struct warp *w, int not )
{
    int best = -1;
    for (uint32_t i = 0; i < w->path_count; i++) {
        struct path *p = &w->paths[i];
        if (p->state == PATH_WARP_SYNC && sync_ready(w, p))
            p->state = PATH_RUN;
        if (p->state != PATH_RUN || (int)i == not )
            continue;
        if (best < 0 || p->depth > w->paths[best].depth ||
            (p->depth == w->paths[best].depth && p->pc < w->paths[best].pc))
            best = (int)i;
    }
    return best;
}

/* The nearest place in front of path `self` where another path waits. */
static uint32_t meeting_pc(const struct warp *w, const struct path *self)
{
    uint32_t limit = UINT32_MAX;
    for (uint32_t i = 0; i < w->path_count; i++) {
        const struct path *p = &w->paths[i];
        if (p != self && p->state != PATH_BARRIER && p->code == self->code &&
            p->frame == self->frame && p->pc > self->pc && p->pc < limit)
            limit = p->pc;
    }
    return limit;
}

/* --- control instructions ----------------------------------------------------------- */

static void split_path(struct warp *w, uint32_t self, uint32_t mask, uint32_t pc)
{
    struct path *added = add_path(w);
    *added = w->paths[self];
    added->mask = mask;
    added->pc = pc;
}

static void branch_table(struct warp *w, uint32_t self, const struct op *op,
                         uint32_t mask)
{
    const uint32_t *index = row32(w, op->s[0]);
    uint32_t left = mask, moved = 0;
    while (left != 0) {
        uint32_t lead = (uint32_t)first_lane(left), same = 0;
        for (uint32_t l = 0; l < LANES; l++)
            same |= (uint32_t)((left >> l & 1) && index[l] == index[lead]) << l;
        if (index[lead] >= op->imm) {
            sim_raise(w, SIM_OUT_OF_BOUNDS, (int)lead, 0,
                      "brx.idx with index %u; the table has %llu targets", index[lead],
                      (unsigned long long)op->imm);
            return;
        }
        split_path(w, self, same, op->list[index[lead]]);
        moved |= same;
        left &= ~same;
    }
    w->paths[self].mask &= ~moved;
    w->paths[self].pc++;
    if (w->paths[self].mask == 0)
        w->paths[self] = w->paths[--w->path_count];
}

static void copy_areas(uint8_t *from, uint8_t *to, const struct call_copy *copy,
                       uint32_t mask)
{
    for (uint32_t l = 0; l < LANES; l++)
        if (mask >> l & 1)
            memcpy(to + copy->to + (size_t)l * copy->to_stride,
                   from + copy->from + (size_t)l * copy->from_stride, copy->bytes);
}

static void call(struct warp *w, uint32_t self, const struct op *op, uint32_t mask)
{
    const struct call_op *c = op->extra;
    struct path *p = &w->paths[self];
    const struct code *caller = p->code;
    const struct code *callee = caller->callees[c->callee];
    uint32_t frame = p->frame + caller->frame_bytes;
    if (frame + callee->frame_bytes > w->slab_bytes) {
        sim_raise(w, SIM_UNSUPPORTED, first_lane(mask), 0,
                  "calls are nested too deeply (%u): the simulator's stack is full",
                  p->depth);
        return;
    }
    if (mask != p->mask) { /* a guarded call: the others go on */
        split_path(w, self, p->mask & ~mask, p->pc + 1);
        p = &w->paths[self];
        p->mask = mask;
    }
    /* lanes of other paths may be in this frame: constants are the same for all */
    frame_start(w, callee, w->slab + frame);
    for (int i = 0; i < c->arg_count; i++)
        copy_areas(w->slab + p->frame + caller->param_area,
                   w->slab + frame + callee->param_area, &c->args[i], mask);
    struct call_frame *link = worker_link(w->worker);
    *link = (struct call_frame){p->caller, caller, p->frame, p->pc};
    p->caller = link;
    p->code = callee;
    p->frame = frame;
    p->pc = 0;
    p->depth++;
}

static void ret(struct warp *w, uint32_t self, uint32_t mask)
{
    struct path *p = &w->paths[self];
    if (mask != p->mask) {
        split_path(w, self, p->mask & ~mask, p->pc + 1);
        p = &w->paths[self];
        p->mask = mask;
    }
    const struct call_frame *link = p->caller;
    const struct call_op *c = link->code->ops[link->pc].extra;
    for (int i = 0; i < c->ret_count; i++)
        copy_areas(w->slab + p->frame + p->code->param_area,
                   w->slab + link->frame + link->code->param_area, &c->rets[i], mask);
    p->code = link->code;
    p->frame = link->frame;
    p->pc = link->pc + 1;
    p->caller = link->caller;
    p->depth--;
}

/* bar.warp.sync and *.sync: run if all members are here, else wait. */
static bool warp_sync(struct warp *w, uint32_t self, const struct op *op, uint32_t mask)
{
    struct path *p = &w->paths[self];
    const uint32_t *member = row32(w, op->s[op->sync - 1]);
    for (uint32_t l = 0; l < LANES; l++)
        if ((mask >> l & 1) && !(member[l] >> l & 1)) {
            sim_raise(w, SIM_BAD_MASK, (int)l, 0,
                      "lane %u executes `%s` but is not in its member mask 0x%08x", l,
                      p->code->function->insns[p->pc].text, member[l]);
            return false;
        }
    uint32_t members = member[first_lane(mask)];
    if ((members & ~w->exited & w->alive & ~mask) != 0) {
        if (mask != p->mask) { /* lanes that the guard switched off go on */
            split_path(w, self, p->mask & ~mask, p->pc + 1);
            p = &w->paths[self];
            p->mask = mask;
        }
        p->state = PATH_WARP_SYNC;
        return false;
    }
    w->mask = mask;
    op->fn(w, op);
    return true;
}

/* --- the loop --------------------------------------------------------------------- */

/* What made run_path return. */
enum stop { STOP_SCHEDULE, STOP_SLICE };

/* Run path `self` until it must be scheduled anew. *steps counts down. */
static enum stop run_path(struct warp *w, uint32_t self, uint32_t *steps)
{
    struct path *p = &w->paths[self];
    struct worker *worker = w->worker;
    const struct op *ops = p->code->ops;
    uint64_t *executed = worker->executed + p->code->base;
    uint64_t *threads = worker->threads + p->code->base;
    uint32_t pc = p->pc, mask = p->mask, left = *steps;
    bool alone = w->path_count == 1;
    uint32_t limit = alone ? UINT32_MAX : meeting_pc(w, p);
    w->code = p->code;
    w->rows = w->slab + p->frame;
    for (;; left--) {
        if (left == 0 || pc >= limit) {
            p->pc = pc;
            *steps = left;
            return left == 0 ? STOP_SLICE : STOP_SCHEDULE;
        }
        const struct op *op = &ops[pc];
        uint32_t active = mask;
        if (op->guard != NO_GUARD) {
            uint32_t guard = *(const uint32_t *)(const void *)(w->rows + op->guard);
            active &= op->guard_negated ? ~guard : guard;
        }
        executed[pc]++;
        threads[pc] += active == FULL_MASK ? LANES : (uint64_t)__builtin_popcount(active);
        w->pc = pc;
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
        if (op->kind == OP_BRANCH) {
            worker->counters.branches++;
            if (active == 0) {
                pc++;
            } else if (active == mask) {
                pc = op->target;
                if (!alone) {
                    p->pc = pc;
                    limit = meeting_pc(w, p);
                    if (pc < w->pc) { /* a loop: let the others catch up */
                        left--;
                        break;
                    }
                }
            } else {
                worker->counters.branches_divergent++;
                p->pc = pc + 1;
                p->mask = mask & ~active;
                split_path(w, self, active, op->target);
                left--;
                *steps = left;
                return STOP_SCHEDULE;
            }
            continue;
        }
        if (active == 0) {
            pc++;
            continue;
        }
        p->pc = pc;
        left--;
        if (op->kind == OP_WARP_SYNC) {
            if (!warp_sync(w, self, op, active) || worker->stop)
                break;
            p->pc = ++pc;
            left++;
            continue;
        }
        if (op->kind == OP_EXIT) {
            w->exited |= active;
            p->mask = mask & ~active;
            p->pc = pc + 1;
            if (p->mask == 0)
                w->paths[self] = w->paths[--w->path_count];
            run_barriers_check(w->block);
        } else if (op->kind == OP_BARRIER) {
            run_barrier_arrive(w, p, op, active);
        } else if (op->kind == OP_BRANCH_TABLE) {
            worker->counters.branches++;
            branch_table(w, self, op, active);
        } else if (op->kind == OP_CALL) {
            call(w, self, op, active);
        } else if (op->kind == OP_RET) {
            ret(w, self, active);
        } else { /* OP_YIELD */
            p->pc = pc + 1;
            *steps = left;
            return STOP_SLICE;
        }
        *steps = left;
        return STOP_SCHEDULE;
    }
    *steps = left;
    return STOP_SCHEDULE;
}

uint32_t run_warp(struct warp *w, uint32_t slice)
{
    uint32_t steps = slice;
    int rest = -1;
    while (steps > 0 && !w->worker->stop) {
        if (w->path_count > 1)
            merge_paths(w);
        int next = pick_path(w, w->path_count > 1 ? rest : -1);
        if (next < 0)
            next = pick_path(w, -1);
        if (next < 0)
            break;
        rest = -1;
        uint32_t turn = w->path_count > 1 && steps > PATH_SLICE ? PATH_SLICE : steps;
        uint32_t left = turn;
        enum stop stop = run_path(w, (uint32_t)next, &left);
        steps -= turn - left;
        if (turn == left)
            steps--; /* a path that only met another costs a step: no endless loop */
        if (stop == STOP_SLICE) {
            if (w->path_count == 1)
                break;
            rest = next;
        }
    }
    return slice - steps;
}
