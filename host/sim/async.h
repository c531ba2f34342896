/* async.h - asynchronous copies whose data come late, and mbarriers.
 *
 * A plain run copies when cp.async is issued, the earliest that the memory model allows.
 * With launch->check data come as late as it allows, so that a kernel which does not
 * wait computes with poison: when the issuing thread waits for the copy's group, or when
 * a thread looks at an mbarrier that the copy was tied to. Until then the destination
 * holds 0xff in every byte, and async_check_listener reports who touches it.
 *
 * An mbarrier is 64 opaque bits in shared memory (PTX ISA 9.0, 9.7.13.15). Here: 20 bits
 * of expected arrivals, 20 of pending ones, 21 of bytes still to come (signed), a mark
 * that it was made, and the phase. The state that an arrival returns is this word. */
#ifndef PEAKBOUND_SIM_ASYNC_H
#define PEAKBOUND_SIM_ASYNC_H

#include "exec.h"

/* Issue a late copy of `bytes` a lane for w->mask; `to` are offsets in shared memory. */
void async_copy(struct warp *w, const uint64_t *to, uint8_t (*data)[16], uint32_t bytes);
/* End the group of each lane in w->mask. */
void async_commit(struct warp *w);
/* Deliver all groups of w->mask's lanes but the `most` latest; all copies if all. */
void async_wait(struct warp *w, uint32_t most, bool all);
/* Have the barriers at to[lane] told once the lane's copies so far have come. */
void async_arrive_later(struct warp *w, const uint64_t *to);
/* The block ends: forget what never came. */
void async_drop(struct block *b);

/* Reports accesses of shared memory that a late copy is still to write. */
extern const struct listener async_check_listener;

enum { MBARRIER_MOST = (1 << 20) - 1 };

/* All take the current lane for messages and return false after a fault. */
bool mbarrier_init(struct warp *w, int lane, uint64_t offset, uint32_t count);
bool mbarrier_invalidate(struct warp *w, int lane, uint64_t offset);

struct mbarrier_change {
    uint32_t arrivals; /* pending arrivals that come in */
    uint32_t drop;     /* arrivals fewer in later phases */
    int64_t bytes;     /* that are to come (expect_tx), or came (negative) */
    uint32_t more;     /* arrivals more in this phase */
    bool must_not_complete;
};
/* *state gets the word before the change. */
bool mbarrier_change(struct warp *w, int lane, uint64_t offset,
                     const struct mbarrier_change *change, uint64_t *state);
/* Is the phase of `state` (or, parity: the latest one of parity `state & 1`) over? */
bool mbarrier_test(struct warp *w, int lane, uint64_t offset, uint64_t state, bool parity,
                   bool *over);
uint32_t mbarrier_pending(uint64_t state);

#endif
