/* matrix_warp.h - what all instructions on matrices share: they wait until every lane of
 * the warp is there, and are undefined if one is missing. */
#ifndef PEAKBOUND_SIM_MATRIX_WARP_H
#define PEAKBOUND_SIM_MATRIX_WARP_H

#include "access.h"
#include "ops.h"

/* Have the fetch loop wait for the whole warp. */
static inline void matrix_members(struct op *op)
{
    op->kind = OP_WARP_SYNC;
    op->sync = 0;
}

/* False after a fault: some lanes have left the kernel or never were. */
static inline bool matrix_whole_warp(struct warp *w)
{
    if (w->mask == FULL_MASK)
        return true;
    sim_raise(w, SIM_BAD_MASK, first_lane(w->mask), 0,
              "a matrix instruction with only lanes 0x%08x of the warp", w->mask);
    return false;
}

#endif
