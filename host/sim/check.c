/* check.c - see check.h: begin and end of launches and blocks, the logs of accesses. */
#include "check_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

/* --- the logs --------------------------------------------------------------------------- */

static void forget_allocation(void *context, struct allocation *a)
{
    (void)context;
    shadow_forget(a->shadow);
}

static void forget_global(struct check *check)
{
    memory_each(check->launch->memory, forget_allocation, NULL);
    check->log.first = check->log.next = 1;
    check->forgot++;
}

static void forget_times(struct check_block *c, int log)
{
    c->barrier_at[log] = 1;
    memset(c->sync_at[log], 0, sizeof c->sync_at[log]);
    memset(c->clock_at[log], 0, sizeof c->clock_at[log]);
}

static void forget_shared(struct check_block *c)
{
    c->log.first = c->log.next = 1;
    forget_times(c, 1);
    memset(c->cache, 0, (size_t)c->block->launch->code->total_ops * 2 * sizeof *c->cache);
}

static uint32_t log_add(struct access_log *log, const struct entry *entry)
{
    uint32_t at = log->next - log->first;
    if (at == log->room) {
        log->room = log->room == 0 ? 1024 : log->room * 2;
        log->entries = xrealloc(log->entries, log->room * sizeof *log->entries);
    }
    log->entries[at] = *entry;
    return log->next++;
}

uint32_t check_id(struct check_block *c, struct access_log *log, const struct warp *w,
                  const struct code *code, const struct op *op)
{
    bool shared = log == &c->log;
    uint32_t clock = c->clock[w->index];
    if (log->next >= LOG_MOST && shared) {
        shadow_forget(c->shadow);
        forget_shared(c);
    } else if (log->next >= LOG_MOST) {
        forget_global(c->check);
    }
    if (c->forgot != c->check->forgot) {
        memset(c->cache, 0,
               (size_t)c->block->launch->code->total_ops * 2 * sizeof *c->cache);
        forget_times(c, 0);
        c->forgot = c->check->forgot;
    }
    struct log_cache *cache = &c->cache[2 * (code->base + op->pc) + shared];
    if (cache->clock != clock)
        *cache = (struct log_cache){
            clock, log_add(log, &(struct entry){op, c->block->linear, clock})};
    return cache->index << CELL_THREAD_BITS | w->index << CELL_LANE_BITS;
}

void check_where(const struct launch *launch, const struct op *op, char *text,
                 size_t room)
{
    char file[256] = "";
    int line = 0;
    for (uint32_t i = 0; i < launch->code->callee_count; i++) {
        const struct code *code = launch->code->callees[i];
        if (op >= code->ops && op < code->ops + code->op_count)
            sim_locate(launch, code, op->pc, file, sizeof file, &line);
    }
    const char *slash = strrchr(file, '/');
    snprintf(text, room, "%s:%d", slash != NULL ? slash + 1 : file, line);
}

/* --- blocks ----------------------------------------------------------------------------- */

static struct check_block *block_new(struct block *b)
{
    struct check_block *c = xcalloc(1, sizeof *c);
    c->check = b->launch->check_state;
    c->block = b;
    c->threads = b->warp_count * LANES;
    c->fence = xcalloc(c->threads, sizeof *c->fence);
    c->fence_scope = xcalloc(c->threads, 1);
    c->cache = xcalloc(b->launch->code->total_ops + 1, 2 * sizeof *c->cache);
    if (b->shared_bytes > 0)
        c->shadow = shadow_new(b->shared_bytes);
    if (b->shared_bytes > 0 && c->shadow == NULL)
        die(EXIT_OURS, "out of memory for the checks of %u bytes of shared memory",
            b->shared_bytes);
    check_values_new(c);
    return c;
}

void check_block_free(struct block *b)
{
    struct check_block *c = check_of(b);
    if (c == NULL)
        return;
    check_order_free(c);
    shadow_free(c->shadow);
    free(c->fence);
    free(c->fence_scope);
    free(c->cache);
    free(c->log.entries);
    free(c->defined);
    free(c->origin);
    free(c->origins);
    free(c->local);
    free(c);
    b->shadow = NULL;
}

static void on_block_begin(struct block *b)
{
    if (b->shadow == NULL)
        b->shadow = block_new(b);
    struct check_block *c = check_of(b);
    if (c->shadow != NULL)
        shadow_clear(c->shadow);
    forget_shared(c);
    forget_times(c, 0);
    c->barrier_at[0] = c->check->log.next;
    c->forgot = c->check->forgot;
    check_order_start(c);
    check_values_start(c);
}

const struct listener check_listener = {.block_begin = on_block_begin,
                                        .access = check_access};

/* --- launches --------------------------------------------------------------------------- */

static bool has_block_scope(const struct code *code)
{
    for (uint32_t i = 0; i < code->op_count; i++)
        if (code->ops[i].order != ORDER_WEAK && code->ops[i].scope == SCOPE_CTA &&
            code->ops[i].space != PTX_SHARED)
            return true;
    return false;
}

void check_begin(struct launch *launch)
{
    struct check *check = xcalloc(1, sizeof *check);
    uint32_t next = *memory_accesses(launch->memory);
    check->launch = launch;
    check->log.first = check->log.next = next > 0 ? next : 1;
    for (uint32_t i = 0; i < launch->code->callee_count; i++)
        check->block_scope |= has_block_scope(launch->code->callees[i]);
    launch->check_state = check;
    if (check->log.next > LOG_MOST / 2)
        forget_global(check);
}

void check_end(struct launch *launch)
{
    struct check *check = launch->check_state;
    if (check == NULL)
        return;
    check_values_end(launch);
    *memory_accesses(launch->memory) = check->log.next;
    check_flags_free(check);
    free(check->log.entries);
    free(check);
    launch->check_state = NULL;
}
