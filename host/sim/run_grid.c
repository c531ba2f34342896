/* run_grid.c - blocks over host threads.
 *
 * Blocks are independent, so each host thread takes the next one in order. Counts
 * are sums, so they are the same for any number of threads; kernels whose result
 * depends on the order of atomics on floats run on one. */
#include "run.h"

#include <omp.h>
#include <stdlib.h>

#include "counters.h"

enum { STACK_FRAMES = 128, LINK_CHUNK = 1024 };

struct link_chunk {
    struct link_chunk *next;
    int used;
    struct call_frame links[LINK_CHUNK];
};

struct call_frame *worker_link(struct worker *worker)
{
    struct link_chunk *chunk = worker->links;
    if (chunk == NULL || chunk->used == LINK_CHUNK) {
        chunk = xcalloc(1, sizeof *chunk);
        chunk->next = worker->links;
        worker->links = chunk;
    }
    return &chunk->links[chunk->used++];
}

/* Call frames of finished blocks are dead: keep one chunk for the next. */
static void links_reset(struct worker *worker, bool all)
{
    struct link_chunk *chunk = worker->links;
    while (chunk != NULL && (all || chunk->next != NULL)) {
        struct link_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    worker->links = chunk;
    if (chunk != NULL)
        chunk->used = 0;
}

/* Bytes for the frames of one warp: the entry, and room for calls if there are any. */
static uint32_t slab_bytes(const struct code *code)
{
    uint32_t deepest = 0;
    for (uint32_t i = 1; i < code->callee_count; i++)
        if (code->callees[i]->frame_bytes > deepest)
            deepest = code->callees[i]->frame_bytes;
    uint64_t calls = (uint64_t)deepest * STACK_FRAMES;
    uint64_t most = (uint64_t)16 << 20;
    if (calls > most)
        calls = most > deepest ? most : deepest;
    return code->frame_bytes + (uint32_t)calls;
}

static void worker_start(struct worker *worker, struct launch *launch, int index)
{
    uint32_t threads = launch->dim[0] * launch->dim[1] * launch->dim[2];
    uint32_t warps = (threads + LANES - 1) / LANES;
    uint32_t slab = slab_bytes(launch->code);
    size_t ops = (size_t)launch->code->total_ops + 1;
    size_t local = ((size_t)launch->local_bytes * LANES + 63) & ~(size_t)63;
    size_t shared =
        ((size_t)launch->static_smem + launch->dynamic_smem + 63 + 64) & ~(size_t)63;
    memset(worker, 0, sizeof *worker);
    worker->launch = launch;
    worker->index = index;
    worker->executed = xcalloc(ops, sizeof *worker->executed);
    worker->threads = xcalloc(ops, sizeof *worker->threads);
    worker->last = xcalloc(ops, sizeof *worker->last);
    size_t bytes = warps * ((size_t)slab + local) + shared;
    worker->memory = aligned_alloc(64, bytes);
    if (worker->memory == NULL)
        die(EXIT_OURS, "out of memory: %zu bytes for a block of the simulated GPU",
            bytes);
    memset(worker->memory, 0, bytes);
    struct block *b = worker->block = xcalloc(1, sizeof *b);
    b->launch = launch;
    b->worker = worker;
    b->threads = threads;
    b->warp_count = warps;
    b->shared_bytes = launch->static_smem + launch->dynamic_smem;
    b->shared = worker->memory;
    b->warps = xcalloc(warps, sizeof *b->warps);
    uint8_t *place = (uint8_t *)worker->memory + shared;
    for (uint32_t i = 0; i < warps; i++) {
        struct warp *w = &b->warps[i];
        uint32_t lanes = threads - i * LANES;
        w->block = b;
        w->worker = worker;
        w->index = i;
        w->alive = lanes >= LANES ? FULL_MASK : ((uint32_t)1 << lanes) - 1;
        w->slab = place;
        w->slab_bytes = slab;
        w->local = place + slab;
        place += (size_t)slab + local;
    }
}

static void worker_free(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->block->warp_count; i++)
        run_warp_free(&worker->block->warps[i]);
    links_reset(worker, true);
    free(worker->links);
    free(worker->block->warps);
    free(worker->block);
    free(worker->executed);
    free(worker->threads);
    free(worker->last);
    free(worker->memory);
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

bool run_launch(struct launch *launch, const uint64_t *blocks, uint64_t block_count,
                int threads, struct sim_counters *counters)
{
    uint64_t grid = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t count = blocks != NULL ? block_count : grid;
    int workers = threads > 0 ? threads : omp_get_max_threads();
    if (launch->code->float_atomics)
        workers = 1;
    if ((uint64_t)workers > count)
        workers = (int)count;
    memset(counters, 0, sizeof *counters);
    struct worker *list = xcalloc((size_t)workers, sizeof *list);
    for (int i = 0; i < workers; i++)
        worker_start(&list[i], launch, i);
    bool counting = counters_begin(launch, list, workers);
    volatile bool stop = false;
    uint64_t ran = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers) reduction(+ : ran)
    for (uint64_t i = 0; i < count; i++) {
        struct worker *worker = &list[omp_get_thread_num()];
        if (stop)
            continue;
        run_block(worker, blocks != NULL ? blocks[i] : i);
        links_reset(worker, false);
        ran++;
        if (worker->stop)
            stop = true;
    }
    if (counting)
        counters_end(launch, list, workers, ran, counters);
    for (int i = 0; i < workers; i++) {
        sum_ops(launch, &list[i], counters);
        worker_free(&list[i]);
    }
    free(list);
    uint64_t warps_block = (launch->dim[0] * launch->dim[1] * launch->dim[2] + 31) / 32;
    counters->blocks = grid;
    counters->blocks_run = ran;
    counters->warps = ran * warps_block;
    return !(stop && launch->fault_count == 0);
}
