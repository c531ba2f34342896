/* explain.h - the memory instructions of a launch as a list (sim.h: struct sim_site). */
#ifndef PEAKBOUND_SIM_EXPLAIN_H
#define PEAKBOUND_SIM_EXPLAIN_H

#include "exec.h"

/* From launch->op_counts; those that ran, most costly above the ideal first. Returns an
 * array to be freed, and its length. */
struct sim_site *explain_sites(const struct launch *launch, int *count);

#endif
