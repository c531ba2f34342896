/* run_mask.c - warp functions (shfl, vote, match, bar.warp.sync) whose members do not all
 * come. PTX ISA 9.0, 9.7.9 and 9.7.13: they wait until all threads of the member mask that
 * have not left execute the same instruction with the same mask. */
#include <stdlib.h>

#include "access.h"
#include "run.h"

static void look_at(struct warp *w, const struct path *p)
{
    w->code = p->code;
    w->pc = p->pc;
}

static const char *text_of(const struct path *p)
{
    return p->code->function->insns[p->pc].text;
}

/* Lanes for which path p waits. */
static uint32_t awaited(const struct warp *w, const struct path *p)
{
    return p->state == PATH_WARP_SYNC
               ? run_member_mask(w, p) & w->alive & ~w->exited & ~p->mask
               : 0;
}

/* --- members that leave --------------------------------------------------------------- */

/* Can `to` be executed after `from`? Calls return. */
static bool reaches(const struct code *code, uint32_t from, uint32_t to)
{
    uint32_t count = code->op_count, depth = 1;
    uint8_t *seen = xcalloc(count, 1);
    uint32_t *stack = xcalloc(count, sizeof *stack);
    stack[0] = from;
    while (depth > 0 && !seen[to]) {
        const struct op *op = &code->ops[stack[--depth]];
        bool ends = op->kind == OP_EXIT || op->kind == OP_RET || op->kind == OP_BRANCH ||
                    op->kind == OP_BRANCH_TABLE;
        uint64_t targets = op->kind == OP_BRANCH         ? 1
                           : op->kind == OP_BRANCH_TABLE ? op->imm
                                                         : 0;
        for (uint64_t i = 0; i <= targets; i++) {
            uint32_t next = i == targets                  ? op->pc + 1
                            : op->kind == OP_BRANCH_TABLE ? op->list[i]
                                                          : op->target;
            bool falls = i == targets;
            if (next >= count || seen[next] || (falls && ends && op->guard == NO_GUARD))
                continue;
            seen[next] = 1;
            stack[depth++] = next;
        }
    }
    bool found = seen[to];
    free(stack);
    free(seen);
    return found;
}

/* A member may leave early: `if (i >= n) return;`. One that does the work behind the
 * waiting instruction first has gone around it. */
void run_mask_leave(struct warp *w, uint32_t lanes)
{
    for (uint32_t i = 0; i < w->path_count; i++) {
        const struct path *p = &w->paths[i];
        uint32_t missing = awaited(w, p) & lanes & w->worked;
        if (missing == 0 || p->code != w->code || !reaches(p->code, p->pc, w->worked_pc))
            continue;
        look_at(w, p);
        sim_raise(w, SIM_BAD_MASK, first_lane(p->mask), 0,
                  "`%s` with member mask 0x%08x: lanes 0x%08x wait here, but 0x%08x go "
                  "another way and leave; name only lanes that come",
                  text_of(p), run_member_mask(w, p), p->mask, missing);
        return;
    }
}

static void on_access(struct warp *w, const struct access *a)
{
    w->worked |= w->path_count > 1 ? a->mask : 0;
    w->worked_pc = w->pc;
}

const struct listener mask_check_listener = {.access = on_access};

/* --- members that wait elsewhere -------------------------------------------------------- */

bool run_mask_deadlock(struct warp *w)
{
    for (uint32_t i = 0; i < w->path_count; i++) {
        const struct path *p = &w->paths[i];
        uint32_t missing = awaited(w, p);
        for (uint32_t k = 0; k < w->path_count; k++) {
            const struct path *q = &w->paths[k];
            if (k == i || q->state != PATH_WARP_SYNC || (q->mask & missing) == 0)
                continue;
            char file[256];
            int line;
            sim_locate(w->block->launch, q->code, q->pc, file, sizeof file, &line);
            look_at(w, p);
            sim_raise(w, SIM_BAD_MASK, first_lane(p->mask), 0,
                      "`%s` with member mask 0x%08x: lanes 0x%08x wait here for 0x%08x, "
                      "which wait at line %d in `%s` with mask 0x%08x",
                      text_of(p), run_member_mask(w, p), p->mask, q->mask & missing, line,
                      text_of(q), run_member_mask(w, q));
            return true;
        }
    }
    return false;
}
