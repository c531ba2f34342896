/* bench.h - one rung, one size, one device -> one result row. */
#ifndef PEAKBOUND_BENCH_BENCH_H
#define PEAKBOUND_BENCH_BENCH_H

#include "../cuda/cuda_api.h"
#include "../registry.h"
#include "../report/peaks.h"
#include "../sim/sim.h"
#include "call.h"
#include "size.h"
#include "verdict.h"

enum backend { BACKEND_GPU, BACKEND_SIM, BACKEND_CPU };

/* A device that is open and ready. */
struct device {
    enum backend backend;
    char id[32]; /* "gpu:0", "sim:a100", "cpu" */
    char name[96];
    const struct cuda_api *api; /* NULL for the CPU */
    int ordinal;
    CUcontext context;
    int cc; /* 80 */
    int sm_count, clock_mhz;
    size_t memory_bytes;
    int driver_version;
    const struct peak_row *peak; /* NULL = card unknown, no percent is printed */
    double cpu_peak_gflops;      /* CPU: cores x lanes x 2 x clock, 0 = unknown */
    int cpu_threads;
};
bool device_open_cuda(struct device *device, const struct cuda_api *api,
                      enum backend backend, int ordinal, struct error *err);
void device_open_cpu(struct device *device);
void device_close(struct device *device);
/* What a failed call means; the simulator knows more than the result's name. */
const char *load_failure(const struct device *device, CUresult result);

struct bench_options {
    int reps, warmup; /* 0 = choose: until the median settles */
    uint64_t seed;
    double alpha, beta;
    bool check_all; /* --check: all simulator checks */
    bool verify;    /* false: no verdict, no rate */
    bool counters;
    bool explain;               /* keep an account of each memory instruction */
    const struct matrix *a, *b; /* user's matrices, or NULL: seeded random */
    struct matrix *c;           /* where the result goes, or NULL */
    uint64_t sample_blocks;     /* simulator: 0 = choose by size */
    void (*progress)(void *context, const char *what, double fraction);
    void *progress_context;
};

/* A rung found in a loaded image, or somebody else's kernel, dressed up as one. */
struct rung {
    struct kernel_info info;
    const struct gpu_image *image; /* NULL for a CPU rung */
    const struct cpu_rung *cpu;
    bool is_exercise;
    const struct call *call; /* somebody else's: how it is called; else NULL */
};
/* An image that cannot be loaded here, and why. */
struct broken_image {
    const struct gpu_image *image;
    int status; /* EXIT_MISSING: it is not for this device; else EXIT_OURS */
    char text[400];
};
/* Read kernel_info out of every image (through the device's own loader). */
struct rung_list {
    struct rung *rungs;
    int count;
    struct broken_image *broken;
    int broken_count;
};
bool rungs_load(const struct device *device, struct rung_list *list, struct error *err);
void rungs_free(struct rung_list *list);

struct result {
    struct rung rung;
    const struct device *device;
    struct size size;
    bool predicted; /* time comes from the model */
    bool sampled;   /* only some blocks ran */
    double time_ms, spread_pct;
    int reps;
    double tflops; /* 0 unless verdict.kind == VERDICT_PASS */
    struct verdict verdict;
    bool has_counters;
    struct sim_site *sites; /* owned, if bench_options.explain */
    int site_count;
    struct sim_counters counters;
    struct sim_occupancy occupancy;
    enum sim_bound bound_by;
    struct sim_fault *faults; /* owned */
    int fault_count;
    double wall_seconds;
};

/* Is there memory for A, B and C, here and on the device? False and *err (EXIT_USAGE:
 * how much is needed, how much there is). */
bool bench_fits(const struct device *device, const struct rung *rung, struct size size,
                struct error *err);

/* Runs the whole protocol: whole-number pass, poisoned random pass, timing,
 * check again after timing. Always fills *result; its verdict says how it
 * went. */
void bench_run(const struct device *device, const struct rung *rung, struct size size,
               const struct bench_options *options, struct result *result);
void result_free(struct result *result);

#endif
