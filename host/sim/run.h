/* run.h - run a prepared launch (run_grid.c), and what its parts share.
 *
 *   run_grid.c   blocks over host threads, merging of counts
 *   run_block.c  warps of a block in turn, barriers, deadlock
 *   run_warp.c   fetch, guards, branches, paths of diverged lanes, calls
 */
#ifndef PEAKBOUND_SIM_RUN_H
#define PEAKBOUND_SIM_RUN_H

#include "exec.h"

/* Execute the blocks listed (sorted, linear numbers), or all if blocks is NULL.
 * threads: host threads, 0 = OpenMP's default. Counts of the blocks that ran are
 * put into *counters. Faults are in launch->faults afterwards. False if the user
 * interrupted it. */
bool run_launch(struct launch *launch, const uint64_t *blocks, uint64_t block_count,
                int threads, struct sim_counters *counters);

/* --- between the parts -------------------------------------------------------- */

enum { RUN_SLICE = 50000 }; /* warp instructions before another warp gets a turn */

/* Run paths of w until none can go on, or the slice is used up. Returns the number
 * of warp instructions executed. */
uint32_t run_warp(struct warp *w, uint32_t slice);
void run_warp_start(struct warp *w);
void run_warp_free(struct warp *w);

/* Run block `linear` of the launch on this worker to its end (or a fault). */
void run_block(struct worker *worker, uint64_t linear);
/* A path has arrived at a barrier or threads have left: release what is complete. */
void run_barrier_arrive(struct warp *w, struct path *path, const struct op *op,
                        uint32_t mask);
void run_barriers_check(struct block *b);

/* A call frame that lives as long as the block. */
struct call_frame *worker_link(struct worker *worker);

/* bar/barrier, decoded (op->extra) */
enum barrier_kind { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED };
enum barrier_red { RED_NONE, RED_AND, RED_OR, RED_POPC };
struct barrier_op {
    uint8_t kind, red;
    bool aligned, negated, has_count;
    uint32_t id_row, count_row, pred; /* rows */
};

/* call, decoded (op->extra) */
enum builtin {
    BUILTIN_NONE,
    BUILTIN_VPRINTF,
    BUILTIN_ASSERT,
    BUILTIN_MALLOC,
    BUILTIN_FREE
};
struct call_copy {
    uint32_t from, from_stride, to, to_stride, bytes; /* areas of the two frames */
};
struct call_op {
    int callee;      /* index in code->callees, -1 = builtin or indirect */
    uint32_t target; /* row of an indirect call */
    uint8_t builtin;
    int arg_count, ret_count;
    struct call_copy *args, *rets;
};
struct call_frame {
    struct call_frame *caller;
    const struct code *code;
    uint32_t frame, pc;
};

#endif
