/* syscall.c - see syscall.h: arguments, assertions, the device heap. */
#include "syscall.h"

#include <stdio.h>

#include "access.h"
#include "check.h"
#include "memory.h"

/* --- arguments -------------------------------------------------------------------------- */

uint64_t syscall_arg(const struct warp *w, const struct op *op, int i, int bytes,
                     int lane)
{
    const struct syscall_op *s = op->extra;
    const uint8_t *at =
        w->rows + w->code->param_area + s->arg[i].area + (size_t)lane * s->arg[i].stride;
    uint64_t value = 0;
    memcpy(&value, at, (size_t)bytes);
    return value;
}

void syscall_return(struct warp *w, const struct op *op, int bytes, int lane,
                    uint64_t value)
{
    const struct syscall_op *s = op->extra;
    if (s->has_ret)
        memcpy(w->rows + w->code->param_area + s->ret.area + (size_t)lane * s->ret.stride,
               &value, (size_t)bytes);
}

const uint8_t *syscall_memory(const struct warp *w, int lane, uint64_t address,
                              uint64_t *bytes)
{
    uint64_t inside, local = w->block->launch->local_bytes;
    uint8_t space = access_generic(address, &inside);
    if (space == PTX_SHARED) {
        if (inside >= w->block->shared_bytes)
            return NULL;
        *bytes = w->block->shared_bytes - inside;
        return w->block->shared + inside;
    }
    if (space == PTX_LOCAL) {
        if (inside >= local)
            return NULL;
        *bytes = local - inside;
        return w->local + (uint64_t)lane * local + inside;
    }
    const struct allocation *a = memory_find(w->block->launch->memory, address, 1);
    if (a == NULL)
        return NULL;
    *bytes = a->bytes - (address - a->address);
    return a->host + (address - a->address);
}

bool syscall_string(const struct warp *w, int lane, uint64_t address, char *text,
                    size_t room)
{
    uint64_t bytes = 0;
    const uint8_t *from = syscall_memory(w, lane, address, &bytes);
    size_t length = 0;
    while (from != NULL && length < bytes && length + 1 < room && from[length] != '\0') {
        text[length] = (char)from[length];
        length++;
    }
    text[length] = '\0';
    return from != NULL && (length < bytes || length + 1 == room);
}

/* --- assert ------------------------------------------------------------------------------ */

/* __assertfail(message, file, line, function, bytes a character) */
static void assert_fail(struct warp *w, const struct op *op)
{
    char message[80], file[80], function[80];
    int lane = first_lane(w->mask);
    syscall_string(w, lane, syscall_arg(w, op, 0, 8, lane), message, sizeof message);
    syscall_string(w, lane, syscall_arg(w, op, 1, 8, lane), file, sizeof file);
    syscall_string(w, lane, syscall_arg(w, op, 3, 8, lane), function, sizeof function);
    sim_raise(w, SIM_TRAP, lane, 0, "assertion `%s` failed in %s (%s:%u)", message,
              function, file, (unsigned)syscall_arg(w, op, 2, 4, lane));
}

/* --- the heap ---------------------------------------------------------------------------- */

static void thread_of(const struct warp *w, int lane, unsigned thread[3])
{
    const unsigned *dim = w->block->launch->dim;
    uint32_t t = w->index * LANES + (uint32_t)lane;
    thread[0] = t % dim[0];
    thread[1] = t / dim[0] % dim[1];
    thread[2] = t / dim[0] / dim[1];
}

static void who(const struct warp *w, int lane, char *text, size_t room)
{
    unsigned thread[3];
    char where[80];
    thread_of(w, lane, thread);
    check_where(w->block->launch, &w->code->ops[w->pc], where, sizeof where);
    snprintf(text, room, "thread (%u,%u,%u) of block (%u,%u,%u) at %s", thread[0],
             thread[1], thread[2], w->block->id[0], w->block->id[1], w->block->id[2],
             where);
}

static void heap_malloc(struct warp *w, const struct op *op)
{
    const struct launch *launch = w->block->launch;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        int l = first_lane(left);
        struct allocation made = {0};
        who(w, l, made.made_by, sizeof made.made_by);
        sim_locate(launch, w->code, w->pc, made.made_file, sizeof made.made_file,
                   &made.made_line);
        thread_of(w, l, made.made_thread);
        memcpy(made.made_block, w->block->id, sizeof made.made_block);
        uint64_t bytes = syscall_arg(w, op, 0, 8, l);
        syscall_return(w, op, 8, l,
                       memory_heap_allocate(launch->memory, bytes, &made, launch->check));
    }
}

static void heap_free(struct warp *w, const struct op *op)
{
    struct launch *launch = w->block->launch;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        int l = first_lane(left);
        uint64_t address = syscall_arg(w, op, 0, 8, l);
        char by[sizeof((struct allocation *)0)->made_by];
        who(w, l, by, sizeof by);
        if (address == 0 || memory_heap_release(launch->memory, address, by))
            continue;
        const struct allocation *a = memory_nearest(launch->memory, address);
        bool twice = a != NULL && a->heap && a->freed && a->address == address;
        sim_raise(w, SIM_DOUBLE_FREE, l, address, "free of 0x%llx, which %s%s",
                  (unsigned long long)address,
                  twice ? "has been freed by " : "malloc did not give out",
                  twice ? a->freed_by : "");
        return;
    }
    /* what ops remember of allocations may be gone */
    memset(w->worker->last, 0,
           (size_t)launch->code->total_ops * sizeof(*w->worker->last));
}

/* --- the table ---------------------------------------------------------------------------- */

static const struct syscall calls[] = {
    {"vprintf", syscall_vprintf, 2, {8, 8}, 4},
    {"__assertfail", assert_fail, 5, {8, 8, 4, 8, 8}, 0},
    {"malloc", heap_malloc, 1, {8}, 8},
    {"free", heap_free, 1, {8}, 0},
};

const struct syscall *syscall_find(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}
