/* counters.h - the listener that counts like Nsight Compute, and the model
 * that turns counts into time. */
#ifndef PEAKBOUND_SIM_COUNTERS_H
#define PEAKBOUND_SIM_COUNTERS_H

#include "exec.h"

extern const struct listener counters_listener;

/* Distinct 32-byte sectors of a global access; address[l] valid for mask. */
uint32_t count_sectors(const uint64_t *address, uint32_t mask, uint32_t bytes);
/* The distinct values of the active lanes, into distinct[LANES]; returns how many. */
uint32_t count_distinct(const uint64_t *values, uint32_t mask, uint64_t *distinct);
/* Shared-memory wavefronts of one access: bytes a lane 1..16; wide accesses go
 * in phases (64-bit: 2 half-warps, 128-bit: 4 quarter-warps); the same word is
 * broadcast. packs: an ordinary load, two phases of which go as one if pairs of lanes
 * share addresses. *ideal gets the count without conflicts. */
uint32_t count_wavefronts(const uint64_t *offset, uint32_t mask, uint32_t bytes,
                          bool packs, uint32_t *ideal);

/* Everything the listener needs per launch and per worker. */
bool counters_begin(struct launch *launch, struct worker *workers, int worker_count);
/* Sum the workers' counts (same result for any number of workers) and run the
 * L2/DRAM model; frees what counters_begin made. */
void counters_end(struct launch *launch, struct worker *workers, int worker_count,
                  uint64_t blocks_run, struct sim_counters *total);

/* Blocks an SM can hold. registers 0 = unknown. */
void occupancy_compute(const struct sim_spec *spec, int registers, int threads,
                       uint64_t static_smem, uint64_t dynamic_smem,
                       struct sim_occupancy *occupancy);

/* Fill ceiling_ms, predicted_ms, bound_by and wave_efficiency of a report whose
 * counters and occupancy are set. */
void model_predict(const struct sim_spec *spec, struct sim_report *report);

#endif
