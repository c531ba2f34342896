/* run_call.c - calls and returns of device functions (PTX ISA 9.0, chapter 7).
 *
 * An activation is a frame in the warp's slab, behind its caller's. Lanes of one warp
 * can be in different functions at once; then the frames must not overlap, unless
 * they are the same function's at the same place, where each lane uses its own column.
 * A path knows its chain of callers; paths that came by the same call share it, so that
 * they can merge again. */
#include <stdlib.h>

#include "access.h"
#include "run.h"

enum { LINK_CHUNK = 256 };

struct link_chunk {
    struct link_chunk *next;
    struct call_frame links[LINK_CHUNK];
};

struct call_frame *call_frame_new(struct worker *worker)
{
    if (worker->free_links == NULL) {
        struct link_chunk *chunk = xcalloc(1, sizeof *chunk);
        chunk->next = worker->links;
        worker->links = chunk;
        for (int i = 0; i < LINK_CHUNK; i++) {
            chunk->links[i].caller = worker->free_links;
            worker->free_links = &chunk->links[i];
        }
    }
    struct call_frame *frame = worker->free_links;
    worker->free_links = frame->caller;
    return frame;
}

void call_frame_drop(struct worker *worker, struct call_frame *frame)
{
    while (frame != NULL && --frame->users == 0) {
        struct call_frame *caller = frame->caller;
        frame->caller = worker->free_links;
        worker->free_links = frame;
        frame = caller;
    }
}

void call_frames_free(struct worker *worker)
{
    while (worker->links != NULL) {
        struct link_chunk *next = worker->links->next;
        free(worker->links);
        worker->links = next;
    }
    worker->free_links = NULL;
}

/* Does an activation in use lie in the way of one of `callee` at `frame`? *end is
 * raised to where it ends. */
static bool in_the_way(const struct code *used, uint32_t at, const struct code *callee,
                       uint32_t frame, uint32_t *end)
{
    uint32_t used_end = at + used->frame_bytes;
    if (used_end > *end)
        *end = used_end;
    return at < frame + callee->frame_bytes && frame < used_end &&
           !(used == callee && at == frame);
}

/* A place for the callee's frame: behind the caller's, or, if other paths are in
 * other functions there, behind everything in use. */
static uint32_t place_frame(const struct warp *w, uint32_t self,
                            const struct code *callee)
{
    const struct path *p = &w->paths[self];
    uint32_t frame = p->frame + p->code->frame_bytes, end = frame;
    bool taken = false;
    for (uint32_t i = 0; i < w->path_count; i++) {
        const struct path *other = &w->paths[i];
        if (i == self)
            continue;
        taken |= in_the_way(other->code, other->frame, callee, frame, &end);
        for (const struct call_frame *c = other->caller; c != NULL; c = c->caller)
            taken |= in_the_way(c->code, c->frame, callee, frame, &end);
    }
    return taken ? end : frame;
}

/* The return address: another path's, if it came by the same call. */
static struct call_frame *link_to(struct warp *w, uint32_t self)
{
    struct path *p = &w->paths[self];
    for (uint32_t i = 0; i < w->path_count; i++)
        for (struct call_frame *c = w->paths[i].caller; c != NULL; c = c->caller)
            if (c->code == p->code && c->pc == p->pc && c->frame == p->frame &&
                c->caller == p->caller) {
                c->users++;
                call_frame_drop(w->worker, p->caller);
                return c;
            }
    struct call_frame *link = call_frame_new(w->worker);
    *link = (struct call_frame){p->caller, p->code, p->frame, p->pc, 1};
    return link;
}

static void copy_areas(const uint8_t *from, uint8_t *to, const struct call_copy *copy,
                       uint32_t mask)
{
    for (uint32_t l = 0; l < LANES; l++)
        if (mask >> l & 1)
            memcpy(to + copy->to + (size_t)l * copy->to_stride,
                   from + copy->from + (size_t)l * copy->from_stride, copy->bytes);
}

static const struct call_target *find_target(struct warp *w, const struct op *op,
                                             uint32_t mask)
{
    const struct call_op *c = op->extra;
    if (!c->indirect)
        return &c->targets[0];
    int lane = first_lane(mask);
    uint64_t address = row64(w, op->s[0])[lane];
    for (int i = 0; i < c->target_count; i++)
        if (c->targets[i].address == address)
            return &c->targets[i];
    sim_raise(w, SIM_OUT_OF_BOUNDS, lane, address,
              "call through 0x%llx, which is no function that takes these parameters",
              (unsigned long long)address);
    return NULL;
}

/* All lanes of the path enter one function. */
static void enter(struct warp *w, uint32_t self, const struct call_op *c,
                  const struct call_target *target)
{
    const struct code *caller = w->paths[self].code;
    const struct code *callee = caller->callees[target->callee];
    uint32_t frame = place_frame(w, self, callee), mask = w->paths[self].mask;
    if (frame + callee->frame_bytes > w->block->worker->run->slab_bytes) {
        sim_raise(w, SIM_UNSUPPORTED, first_lane(mask), 0,
                  "calls are nested too deeply (%u): the simulator's stack of %u bytes a "
                  "warp is full; is there an endless recursion?",
                  w->paths[self].depth, w->block->worker->run->slab_bytes);
        return;
    }
    run_frame_start(w, callee, w->slab + frame);
    for (int i = 0; i < c->arg_count; i++)
        copy_areas(w->slab + w->paths[self].frame + caller->param_area,
                   w->slab + frame + callee->param_area, &target->args[i], mask);
    struct call_frame *link = link_to(w, self);
    struct path *p = &w->paths[self];
    p->caller = link;
    p->code = callee;
    p->frame = frame;
    p->pc = 0;
    p->depth++;
}

void run_call(struct warp *w, uint32_t self, const struct op *op, uint32_t mask)
{
    const struct call_op *c = op->extra;
    const struct call_target *target = find_target(w, op, mask);
    if (target == NULL)
        return;
    uint32_t pc = w->paths[self].pc, whole = w->paths[self].mask, same = mask;
    if (c->indirect) {
        const uint64_t *address = row64(w, op->s[0]);
        same = 0;
        for (uint32_t l = 0; l < LANES; l++)
            same |= (uint32_t)((mask >> l & 1) && address[l] == target->address) << l;
    }
    /* lanes that the guard leaves out go on; those that call another function come
     * back to this instruction */
    if (whole & ~mask)
        run_split(w, self, whole & ~mask, pc + 1);
    if (mask & ~same)
        run_split(w, self, mask & ~same, pc);
    w->paths[self].mask = same;
    enter(w, self, c, target);
}

void run_return(struct warp *w, uint32_t self, uint32_t mask)
{
    struct path *p = &w->paths[self];
    if (p->mask & ~mask) {
        run_split(w, self, p->mask & ~mask, p->pc + 1);
        p = &w->paths[self];
        p->mask = mask;
    }
    struct call_frame *link = p->caller;
    const struct call_op *c = link->code->ops[link->pc].extra;
    const struct call_target *target = c->targets;
    while (link->code->callees[target->callee] != p->code)
        target++;
    for (int i = 0; i < c->ret_count; i++)
        copy_areas(w->slab + p->frame + p->code->param_area,
                   w->slab + link->frame + link->code->param_area, &target->rets[i],
                   mask);
    p->code = link->code;
    p->frame = link->frame;
    p->pc = link->pc + 1;
    p->caller = link->caller;
    p->depth--;
    if (p->caller != NULL)
        p->caller->users++;
    call_frame_drop(w->worker, link);
}
