/* run.h - run a prepared launch (run_grid.c), and what its parts share.
 *
 *   run_grid.c   blocks over host threads, merging of counts
 *   run_block.c  warps of a block in turn, barriers, deadlock
 *   run_warp.c   fetch, guards, branches, paths of diverged lanes
 *   run_call.c   calls and returns
 *   run_mask.c   warp functions whose members do not all come
 *   run_frame.c  constants and special registers of an activation
 */
#ifndef PEAKBOUND_SIM_RUN_H
#define PEAKBOUND_SIM_RUN_H

#include "exec.h"

/* Execute the blocks listed (sorted, linear numbers), or all if blocks is NULL.
 * threads: host threads, 0 = OpenMP's default. Counts of the blocks that ran are
 * put into *counters. Faults, all of one block, the first of the list that had any,
 * are in launch->faults afterwards. False if the user interrupted it. */
bool run_launch(struct launch *launch, const uint64_t *blocks, uint64_t block_count,
                int threads, struct sim_counters *counters);

/* --- between the parts -------------------------------------------------------- */

enum {
    WARP_SLICE = 4096,     /* warp instructions before another warp gets a turn */
    PATH_SLICE = 10000,    /* ... before another path of the warp does */
    BLOCK_SLICE = 1 << 20, /* ... before another block is begun beside this one */
    POLL_COST = 100,       /* what a poll (worker->polls) takes off a path's turn */
    MOST_POLLS = 64,       /* polls that end a warp's turn */
    CYCLES_A_STEP = 4      /* %clock per warp instruction of the block: an estimate */
};
/* Warp instructions after which a block is held for endless: half a minute or less. With
 * checks all takes longer. */
#define DEFAULT_STEPS ((uint64_t)1 << 28)
#define DEFAULT_CHECKED_STEPS ((uint64_t)1 << 27)

/* What the workers of a launch share. */
struct run {
    struct launch *launch;
    const uint64_t *blocks; /* as for run_launch */
    uint64_t count;
    uint64_t next;      /* atomic: index of the next block to begin */
    uint64_t stop_from; /* atomic: blocks from this linear number on need not run */
    bool interrupted;   /* atomic */
    uint32_t slab_bytes;
    size_t local_bytes, shared_bytes; /* of a warp; of a block */
    uint64_t most_live;               /* blocks that one worker may hold */
};

/* Begin: all lanes at the first instruction of the kernel. */
void run_warp_start(struct warp *w);
/* Give back what the paths hold. */
void run_warp_drop(struct warp *w);
/* Run paths of w until none can go on, or the slice is used up. Returns the number
 * of warp instructions executed. */
uint32_t run_warp(struct warp *w, uint32_t slice);
/* Add a path: a copy of `self` for other lanes at another place. */
void run_split(struct warp *w, uint32_t self, uint32_t mask, uint32_t pc);

/* The member mask with which the first lane of a path waits for lanes of its warp. */
uint32_t run_member_mask(const struct warp *w, const struct path *p);
/* In a launch with checks: lanes leave for which others wait, and which did the work
 * behind the place where they wait. */
void run_mask_leave(struct warp *w, uint32_t lanes);
/* Nobody can go on: is it because of masks? */
bool run_mask_deadlock(struct warp *w);
extern const struct listener mask_check_listener;

/* Constants and special registers of a new activation at `rows`. */
void run_frame_start(struct warp *w, const struct code *code, uint8_t *rows);

void run_call(struct warp *w, uint32_t self, const struct op *op, uint32_t mask);
void run_return(struct warp *w, uint32_t self, uint32_t mask);

enum block_state { BLOCK_DONE, BLOCK_SLICED, BLOCK_SPINS, BLOCK_STOPPED };
/* Run a begun block until it is done, has a fault, waits for others (as it seems),
 * or has had its slice. */
void run_block_start(struct block *b, uint64_t linear);
enum block_state run_block(struct block *b);
void run_block_end(struct block *b);
/* A path has arrived at a barrier or threads have left: release what is complete. */
void run_barrier_arrive(struct warp *w, uint32_t self, const struct op *op,
                        uint32_t mask);
void run_barriers_check(struct block *b);

/* --- call frames -------------------------------------------------------------- */

/* Where to return to. Shared by the paths that came by the same call. */
struct call_frame {
    struct call_frame *caller; /* of a free one: the next free one */
    const struct code *code;
    uint32_t frame, pc, users;
};
struct call_frame *call_frame_new(struct worker *worker);
/* One user less; the chain is freed as far as nobody uses it. */
void call_frame_drop(struct worker *worker, struct call_frame *frame);
void call_frames_free(struct worker *worker);

/* --- decoded control instructions (op->extra) ---------------------------------- */

enum barrier_kind { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED };
enum barrier_red { RED_NONE, RED_AND, RED_OR, RED_POPC };
struct barrier_op {
    uint8_t kind, red;
    bool aligned, negated, has_count;
};

struct call_copy {
    uint32_t from, from_stride, to, to_stride, bytes; /* areas of the two frames */
};
/* One function that a call may reach. */
struct call_target {
    uint64_t address; /* what a pointer to it holds */
    int callee;       /* index in code->callees */
    struct call_copy *args, *rets;
};
struct call_op {
    bool indirect; /* the address is in row op->s[0] */
    int target_count, arg_count, ret_count;
    struct call_target *targets;
};

/* "Address" of a function: the n-th of the module. */
#define SIM_FUNCTION_BASE 0x0000040000000000ull
enum { SIM_FUNCTION_STEP = 16 };

#endif
