/* check.h - the checks of a launch: races and uninitialized reads.
 *
 *   check.c         begin and end, the log of accesses, messages
 *   check_order.c   what happens before what: barriers, warps, fences, flags
 *   check_access.c  two accesses without order, memory that was never written
 *   check_values.c  undefined values on their way through registers
 *   shadow.c        cells: what is remembered of memory
 *
 * A race (PTX ISA, memory consistency model): two accesses of one place by different
 * threads, one of them a write, not both strong (atomic, volatile, relaxed, ...) in a
 * scope that holds both, and neither happens before the other. Order comes from block
 * barriers, bar.warp.sync, mbarriers, and from fences with strong accesses: what a
 * thread did before its fence is seen by whoever reads, in a strong way, what the thread
 * wrote after it. Shuffles and votes order nothing. A strong read-modify-write takes what
 * was released there without a fence of its own, as most programs that use a ticket have
 * it; two writes of the same value are let pass, and a plain read beside a compare-and-
 * swap, which most loops around one begin with: it finds out if the value is old.
 *
 * Where the record is too short to be sure, nothing is reported: a correct kernel never
 * gets a fault. What is lost so: of several readers since the last write only the latest
 * is known; knowledge of other blocks counts for a whole warp.
 *
 * A value from memory that was never written is undefined. It may be copied, and be
 * computed with; a fault is to branch on it, to use it as an address, or to store it in
 * global memory. The fault names the line where it came in. */
#ifndef PEAKBOUND_SIM_CHECK_H
#define PEAKBOUND_SIM_CHECK_H

#include "exec.h"

/* A launch with checks. All blocks must run on one host thread. */
void check_begin(struct launch *launch);
void check_end(struct launch *launch);
extern const struct listener check_listener;
/* Drop what the checks keep of a block. */
void check_block_free(struct block *b);

/* Synchronisation, told by the executor. All do nothing in a launch without checks. */

/* Lanes of w arrive at barrier `id` and go on: bar.arrive. */
void check_barrier_arrive(struct warp *w, uint32_t id, uint32_t lanes);
/* The barrier opens, for all threads of the block or some. waiting[i]: lanes of warp i
 * that wait there. */
void check_barrier_open(struct block *b, uint32_t id, bool all, const uint32_t *waiting);
/* bar.warp.sync of these lanes, which now go on together. */
void check_warp_sync(struct warp *w, uint32_t lanes);
void check_fence(struct warp *w, uint8_t scope);
/* Lane arrives at the mbarrier at `offset`, whose phase then ends (over) or not. */
void check_mbarrier_arrive(struct warp *w, int lane, uint64_t offset, bool over);
/* Lane sees that a phase is over. */
void check_mbarrier_passed(struct warp *w, int lane, uint64_t offset);
/* Data of an asynchronous copy by `lane` of `from` have come to shared memory. */
void check_async_arrived(struct warp *from, int lane, uint64_t offset, uint32_t bytes,
                         const struct code *code, const struct op *copy);
/* Lanes that got the value of a lane which does not take part in their shuffle. */
void check_shuffle(struct warp *w, uint32_t lanes);
/* The lanes of a path branch by op's guard. */
void check_branch(struct warp *w, const struct op *op, uint32_t lanes);

/* "file:line" of an op of the program. */
void check_where(const struct launch *launch, const struct op *op, char *text,
                 size_t room);
/* A fault comes in: one of another kind than a race is what an undefined value led to. */
void check_before_fault(struct warp *w, enum sim_fault_kind kind);
/* All threads of the block have left. False after a fault. */
bool check_block_done(struct block *b);

/* --- decode -------------------------------------------------------------------------- */

struct decoder;
/* Note what order an instruction gives: op->order, op->scope. */
void check_note_order(const struct ptx_insn *in, struct op *op);
/* Have undefined values followed through the ops of an entry: wraps their executors. */
void check_follow_values(struct decoder *dec);

#endif
