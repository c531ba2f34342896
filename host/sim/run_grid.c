/* run_grid.c - blocks over host threads.
 *
 * Blocks are independent as a rule, so each host thread takes the next one in order and
 * runs it to its end. Counts are sums, so they are the same for any number of threads.
 * Blocks that talk to one another (code->float_atomics) run on one thread, for their
 * order decides the result; a block that seems to wait for another, or takes very long,
 * makes room: further blocks are begun beside it and all get turns, as the blocks that
 * are resident on a GPU would. A fault ends the launch, but blocks with smaller numbers
 * go on, so that the fault that is reported is the same in every run. */
#include "run.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "check.h"
#include "counters.h"
#include "memory.h"

enum { STACK_FRAMES = 128, WORKSPACE_BYTES = 256 };
#define STACK_MOST_BYTES ((uint64_t)16 << 20)
#define LIVE_MOST_BYTES ((uint64_t)1 << 30) /* of all blocks that a worker holds */

/* Bytes for the frames of one warp: the entry, and room for calls if there are any. */
static uint32_t slab_bytes(const struct code *code)
{
    uint64_t deepest = 0;
    for (uint32_t i = 0; i < code->callee_count; i++)
        if (code->callees[i]->frame_bytes > deepest)
            deepest = code->callees[i]->frame_bytes;
    uint64_t calls = code->callee_count > 1 ? deepest * STACK_FRAMES : 0;
    if (calls > STACK_MOST_BYTES)
        calls = STACK_MOST_BYTES > deepest ? STACK_MOST_BYTES : deepest;
    return code->frame_bytes + (uint32_t)calls;
}

/* --- blocks of a worker ------------------------------------------------------------- */

static size_t round_up(size_t bytes, size_t step)
{
    return (bytes + step - 1) / step * step;
}

static struct block *block_new(struct worker *worker)
{
    const struct run *run = worker->run;
    const struct launch *launch = run->launch;
    uint32_t threads = launch->dim[0] * launch->dim[1] * launch->dim[2];
    uint32_t warps = (threads + LANES - 1) / LANES;
    struct block *b = xcalloc(1, sizeof *b);
    b->memory_bytes = run->shared_bytes + warps * (run->slab_bytes + run->local_bytes);
    b->memory = mmap(NULL, b->memory_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->memory == MAP_FAILED)
        die(EXIT_OURS, "out of memory: %zu bytes for a block of the simulated GPU",
            b->memory_bytes);
    b->launch = worker->launch;
    b->worker = worker;
    b->threads = threads;
    b->warp_count = warps;
    b->shared_bytes = launch->static_smem + launch->dynamic_smem;
    b->warps = xcalloc(warps, sizeof *b->warps);
    /* local memory first: whole pages, so that they can be given back */
    uint8_t *local = b->memory, *slab = local + warps * run->local_bytes;
    b->shared = slab + (size_t)warps * run->slab_bytes;
    for (uint32_t i = 0; i < warps; i++) {
        struct warp *w = &b->warps[i];
        uint32_t lanes = threads - i * LANES;
        w->block = b;
        w->worker = worker;
        w->index = i;
        w->alive = lanes >= LANES ? FULL_MASK : ((uint32_t)1 << lanes) - 1;
        w->slab = slab + (size_t)i * run->slab_bytes;
        w->local = local + i * run->local_bytes;
    }
    return b;
}

static void block_free(struct block *b)
{
    check_block_free(b);
    for (uint32_t i = 0; i < b->warp_count; i++)
        free(b->warps[i].paths);
    munmap(b->memory, b->memory_bytes);
    free(b->warps);
    free(b);
}

/* The next block of the launch, begun; NULL if there is none left to begin. */
static struct block *begin_next(struct worker *worker)
{
    struct run *run = worker->run;
    if (__atomic_load_n(&run->interrupted, __ATOMIC_RELAXED))
        return NULL;
    uint64_t index = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
    if (index >= run->count)
        return NULL;
    uint64_t linear = run->blocks != NULL ? run->blocks[index] : index;
    if (__atomic_load_n(&run->stop_from, __ATOMIC_RELAXED) <= linear)
        return NULL;
    struct block *b = worker->idle;
    if (b != NULL)
        worker->idle = b->next;
    else
        b = block_new(worker);
    run_block_start(b, linear);
    return b;
}

/* A fault in block `linear`: later blocks need not run. */
static void stop_from(struct run *run, uint64_t linear)
{
    uint64_t old = __atomic_load_n(&run->stop_from, __ATOMIC_RELAXED);
    while (linear < old &&
           !__atomic_compare_exchange_n(&run->stop_from, &old, linear, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* One turn of a live block. True if it is still to be run. */
static bool block_turn(struct worker *worker, struct block *b, uint64_t *ran)
{
    struct run *run = worker->run;
    enum block_state state = run_block(b);
    if (state == BLOCK_STOPPED && worker->stop)
        stop_from(run, b->linear);
    /* what it waits for may have been stopped */
    bool stopping = __atomic_load_n(&run->stop_from, __ATOMIC_RELAXED) != UINT64_MAX;
    if (state == BLOCK_SLICED || (state == BLOCK_SPINS && !stopping))
        return true;
    worker->stop = false;
    run_block_end(b);
    *ran += state == BLOCK_DONE;
    b->next = worker->idle;
    worker->idle = b;
    return false;
}

/* Returns the number of blocks that ran to their end. */
static uint64_t worker_run(struct worker *worker)
{
    struct block **live = NULL;
    uint64_t count = 0, room = 0, ran = 0;
    for (;;) {
        struct block *b = count < worker->run->most_live ? begin_next(worker) : NULL;
        if (b == NULL && count == 0)
            break;
        if (count == room) {
            room = room == 0 ? 4 : room * 2;
            live = xrealloc(live, room * sizeof(*live));
        }
        if (b != NULL)
            live[count++] = b;
        uint64_t kept = 0;
        for (uint64_t i = 0; i < count; i++)
            if (block_turn(worker, live[i], &ran))
                live[kept++] = live[i];
        count = kept;
    }
    free(live);
    return ran;
}

static void worker_start(struct worker *worker, struct run *run, int index)
{
    size_t ops = (size_t)run->launch->code->total_ops + 1;
    worker->launch = run->launch;
    worker->run = run;
    worker->index = index;
    worker->executed = xcalloc(ops, sizeof *worker->executed);
    worker->threads = xcalloc(ops, sizeof *worker->threads);
    worker->last = xcalloc(ops, sizeof(*worker->last));
}

static void worker_free(struct worker *worker)
{
    while (worker->idle != NULL) {
        struct block *next = worker->idle->next;
        block_free(worker->idle);
        worker->idle = next;
    }
    call_frames_free(worker);
    free(worker->executed);
    free(worker->threads);
    free(worker->last);
}

/* Per-op counts -> totals. */
static void sum_ops(const struct launch *launch, const struct worker *worker,
                    struct sim_counters *total)
{
    for (uint32_t c = 0; c < launch->code->callee_count; c++) {
        const struct code *code = launch->code->callees[c];
        for (uint32_t i = 0; i < code->op_count; i++) {
            const struct op *op = &code->ops[i];
            uint64_t executed = worker->executed[code->base + i];
            uint64_t lanes = worker->threads[code->base + i];
            if (op->merged == MERGED_AWAY)
                continue;
            total->inst_executed += executed;
            total->thread_inst_executed += lanes;
            total->pipe[op->pipe] += executed;
            uint64_t flops = op->flops * lanes / LANES;
            if (op->pipe == SIM_PIPE_TENSOR) {
                total->tensor_flops += flops;
                total->tensor_flops_by[op->tensor] += flops;
            } else if (op->pipe == SIM_PIPE_FMA) {
                total->fp32_flops += flops;
            }
        }
    }
    total->branches += worker->counters.branches;
    total->branches_divergent += worker->counters.branches_divergent;
    total->barriers += worker->counters.barriers;
}

/* How many blocks one worker may hold: as many as the card would have resident. */
static uint64_t most_live(const struct run *run)
{
    const struct launch *launch = run->launch;
    uint32_t threads = launch->dim[0] * launch->dim[1] * launch->dim[2];
    uint64_t warps = (threads + LANES - 1) / LANES;
    uint64_t bytes = run->shared_bytes + warps * (run->slab_bytes + run->local_bytes);
    uint64_t fit = (uint64_t)launch->spec->max_threads_sm / threads;
    uint64_t most = (uint64_t)launch->spec->sm_count * (fit > 0 ? fit : 1);
    if (launch->cooperative)
        return UINT64_MAX;
    if (most > LIVE_MOST_BYTES / bytes)
        most = LIVE_MOST_BYTES / bytes;
    return most > 0 ? most : 1;
}

static void run_prepare(struct run *run, struct launch *launch)
{
    const long page = 65536; /* of any host */
    size_t local = (size_t)launch->local_bytes * LANES;
    run->launch = launch;
    run->stop_from = UINT64_MAX;
    run->slab_bytes = slab_bytes(launch->code);
    run->local_bytes = round_up(local, local < (size_t)page ? 64 : (size_t)page);
    run->shared_bytes =
        round_up((size_t)launch->static_smem + launch->dynamic_smem + 64, 64);
    run->most_live = most_live(run);
    if (launch->cooperative)
        launch->grid_workspace =
            memory_allocate(launch->memory, WORKSPACE_BYTES, "grid barrier workspace");
}

bool run_launch(struct launch *launch, const uint64_t *blocks, uint64_t block_count,
                int threads, struct sim_counters *counters)
{
    uint64_t grid = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    struct run run = {.blocks = blocks, .count = blocks != NULL ? block_count : grid};
    int workers = threads > 0 ? threads : omp_get_max_threads();
    run_prepare(&run, launch);
    if (launch->code->float_atomics || launch->cooperative || launch->check)
        workers = 1;
    if ((uint64_t)workers > run.count)
        workers = run.count > 0 ? (int)run.count : 1;
    memset(counters, 0, sizeof *counters);
    if (launch->check)
        check_begin(launch);
    struct worker *list = xcalloc((size_t)workers, sizeof *list);
    for (int i = 0; i < workers; i++)
        worker_start(&list[i], &run, i);
    bool counting = counters_begin(launch, list, workers);
    uint64_t ran = 0;
#pragma omp parallel num_threads(workers) reduction(+ : ran) if (workers > 1)
    ran += worker_run(&list[omp_get_thread_num()]);
    if (counting)
        counters_end(launch, list, workers, ran, counters);
    for (int i = 0; i < workers; i++) {
        sum_ops(launch, &list[i], counters);
        worker_free(&list[i]);
    }
    free(list);
    check_end(launch);
    if (launch->grid_workspace != 0)
        memory_release(launch->memory, launch->grid_workspace);
    launch->grid_workspace = 0;
    uint64_t warps_block = (launch->dim[0] * launch->dim[1] * launch->dim[2] + 31) / 32;
    counters->blocks = grid;
    counters->blocks_run = ran;
    counters->warps = ran * warps_block;
    return !run.interrupted;
}
