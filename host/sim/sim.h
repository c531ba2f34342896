/* sim.h - the simulated GPU, seen from outside. The functions a program calls
 * are the CUDA driver API (host/cuda/cuda_api.h), which sim_driver.c
 * implements; this header holds what the real driver has no word for: which
 * card to be, what to check, and what was counted.
 *
 * Everything counted is exact for the PTX that ran unless marked: "modelled"
 * follows a documented model, "estimated" is a guess with a stated rule.
 */
#ifndef PEAKBOUND_SIM_H
#define PEAKBOUND_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../cuda/cuda_api.h"
#include "../error.h"
#include "spec.h"

/* Before cuInit of the simulated driver. Several cards may be offered; device
 * ordinal i is spec[i]. */
struct sim_options {
    const struct sim_spec *spec;
    int spec_count;
    int threads;         /* host threads; 0 = OpenMP's default */
    bool check;          /* all checks, else bounds and alignment only */
    bool explain;        /* as sim_set_explain */
    bool hw_sums;        /* tensor cores round as measured, not as IEEE (mma_sums.h) */
    uint64_t max_faults; /* stop collecting after so many (default 16) */
    uint64_t step_limit; /* warp instructions that a block may take, a poll counted as
                            100; 0 = 2^28, 2^27 with checks; UINT64_MAX = no limit */
    FILE *output;        /* of printf in kernels; NULL = stdout */
};
void sim_configure(const struct sim_options *options);
void sim_set_check(bool check);
/* Keep an account of each memory instruction of the next launches (sim_last_sites). */
void sim_set_explain(bool explain);

/* What the images loaded from now on are called in messages and faults (cut at 199
 * bytes; "" or NULL = "PTX"). */
void sim_set_image_name(const char *name);

/* What to call an allocation in faults; else it is "cuMemAlloc #3". */
void sim_name_memory(CUdeviceptr pointer, const char *name);

/* The simulator's implementations, same table as the real driver's. */
const struct cuda_api *sim_driver(void);

/* Run only this many blocks of the next launches, chosen at random from `seed`
 * (0 = all). Counters and time are scaled to the whole grid. */
void sim_set_sample(uint64_t max_blocks, uint64_t seed);

/* Was block (x, y, z) of the last launch executed? */
bool sim_block_ran(unsigned x, unsigned y, unsigned z);

enum sim_fault_kind {
    SIM_OUT_OF_BOUNDS,
    SIM_MISALIGNED,
    SIM_UNINITIALIZED,
    SIM_RACE_SHARED,
    SIM_RACE_GLOBAL,
    SIM_BARRIER_DIVERGENCE,
    SIM_DEADLOCK,
    SIM_TIMEOUT,
    SIM_IN_FLIGHT,
    SIM_BAD_MASK,
    SIM_UNSUPPORTED,
    SIM_TRAP,
    SIM_USE_AFTER_FREE,
    SIM_DOUBLE_FREE,
    SIM_LEAK,
    SIM_FAULT_KINDS
};
const char *sim_fault_name(enum sim_fault_kind kind); /* "out_of_bounds" */

struct sim_fault {
    enum sim_fault_kind kind;
    char kernel[64];
    char file[256]; /* source file if -lineinfo gave one, else the PTX's name */
    int line;
    unsigned block[3], thread[3];
    uint64_t address;
    char detail[400]; /* "4-byte load at 0x..., 4 bytes past buffer [0x.., 0x..)" */
};

/* Instruction classes for the mix: the pipe that would run them. */
enum sim_pipe {
    SIM_PIPE_FMA,
    SIM_PIPE_ALU,
    SIM_PIPE_FP64,
    SIM_PIPE_FP16,
    SIM_PIPE_XU,
    SIM_PIPE_LSU,
    SIM_PIPE_TENSOR,
    SIM_PIPE_CONTROL,
    SIM_PIPE_UNIFORM,
    SIM_PIPES
};
const char *sim_pipe_name(enum sim_pipe pipe);

/* Counts of one launch, whole grid (scaled if sampled). Names follow Nsight
 * Compute; see counters.c for the metric each field stands for. */
struct sim_counters {
    uint64_t blocks, blocks_run; /* grid, executed */
    uint64_t warps;
    uint64_t inst_executed; /* warp instructions, PTX not SASS */
    uint64_t thread_inst_executed;
    uint64_t pipe[SIM_PIPES];    /* warp instructions by pipe */
    uint64_t tensor_flops;       /* 2 per multiply-add, by tensor instructions */
    uint64_t tensor_flops_by[6]; /* enum tensor_class of exec.h */
    uint64_t fp32_flops;
    uint64_t branches, branches_divergent;
    uint64_t barriers;
    uint64_t global_ld_requests, global_ld_sectors;
    uint64_t global_st_requests, global_st_sectors;
    uint64_t global_atom_requests, global_atom_sectors; /* that return a value */
    uint64_t global_red_requests, global_red_sectors;
    uint64_t async_requests, async_sectors; /* cp.async */
    uint64_t async_wavefronts, async_wavefronts_ideal;
    uint64_t l1_sectors, l1_sector_hits; /* loads, modelled */
    uint64_t shared_merged; /* accesses of PTX that ptxas makes part of a wider one */
    uint64_t shared_ld_requests, shared_ld_wavefronts, shared_ld_wavefronts_ideal;
    uint64_t shared_st_requests, shared_st_wavefronts, shared_st_wavefronts_ideal;
    uint64_t ldmatrix_requests, ldmatrix_wavefronts; /* of shared_ld */
    uint64_t ldmatrix_wavefronts_ideal;
    uint64_t shared_atom_requests, shared_atom_wavefronts, shared_atom_wavefronts_ideal;
    uint64_t local_ld_requests, local_ld_sectors, local_st_requests, local_st_sectors;
    uint64_t l2_sectors_read, l2_sectors_write, l2_sector_hits; /* modelled */
    uint64_t dram_bytes_read, dram_bytes_write;                 /* modelled */
};

/* What bounds the predicted time. */
enum sim_bound {
    SIM_BOUND_LAUNCH,
    SIM_BOUND_ISSUE,
    SIM_BOUND_FMA,
    SIM_BOUND_ALU,
    SIM_BOUND_FP64,
    SIM_BOUND_XU,
    SIM_BOUND_TENSOR,
    SIM_BOUND_SHARED,
    SIM_BOUND_L1,
    SIM_BOUND_L2,
    SIM_BOUND_DRAM,
    SIM_BOUND_LATENCY,
    SIM_BOUNDS
};
const char *sim_bound_name(enum sim_bound bound); /* "shared memory" */

struct sim_occupancy {
    int blocks_per_sm, warps_per_sm;
    double percent;      /* warps_per_sm of the maximum */
    const char *limiter; /* "registers", "shared memory", ... */
    int registers_per_thread;
    bool registers_exact; /* from machine code, else estimated from PTX */
    uint64_t smem_static_bytes, smem_dynamic_bytes, local_bytes;
};

/* Everything known of the last finished launch. Owned by the simulator, valid
 * until the next launch. NULL before the first. */
struct sim_report {
    char kernel[64];
    unsigned grid[3], block[3];
    bool sampled;
    struct sim_counters counters;
    struct sim_occupancy occupancy;
    enum sim_bound bound_by;
    double ceiling_ms[SIM_BOUNDS]; /* time each ceiling alone would give */
    double predicted_ms;
    double wave_efficiency; /* 1 = no tail */
    const struct sim_fault *faults;
    int fault_count;
    double host_seconds; /* what the simulation itself took */
};
const struct sim_report *sim_last_report(void);

/* One memory instruction of the last launch. Cost: sectors of global memory, wavefronts
 * of shared memory; ideal: what as many bytes would need if lanes lay side by side
 * (Nsight Compute: L2 theoretical sectors, shared wavefronts ideal). */
struct sim_site {
    char file[256], text[96]; /* source, and the PTX instruction; "..., merged to 16
                                 bytes" if ptxas makes it and neighbours one access */
    int line;
    bool shared, store;
    uint32_t bytes; /* a lane */
    uint64_t requests, cost, ideal;
    /* the access that costs most above its ideal */
    uint32_t worst_cost, worst_ideal, mask, warp;
    unsigned block[3];
    uint64_t address[32]; /* of the lanes in mask: in memory, or in shared memory */
};
/* Sorted by cost above the ideal, most first. None unless sim_set_explain was called. */
const struct sim_site *sim_last_sites(int *count);

/* Memory that was allocated and never freed, on the current device: device memory, and
 * blocks of a kernel's malloc. Up to `most` faults of kind SIM_LEAK; returns how many
 * there are. */
int sim_leaks(struct sim_fault *faults, int most);

/* Text of the last load failure (unsupported instruction, broken image): the
 * CUDA API can only say CUDA_ERROR_INVALID_PTX. Empty when none. */
const char *sim_last_error(void);

/* All supported instruction forms, one a line, from the instruction table. */
void sim_list_ptx(void (*line)(void *context, const char *text), void *context);

#endif
