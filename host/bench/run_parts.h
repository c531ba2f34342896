/* run_parts.h - what the parts of the bench share.
 *
 *   bench.c    the protocol: tiny odd shape, whole numbers, random numbers, timing
 *   run_gpu.c  one rung on one device: buffers with guard zones, launch, read back
 *   run_cpu.c  the same for a CPU rung
 *   timing.c   repeat until the median settles
 */
#ifndef PEAKBOUND_BENCH_RUN_PARTS_H
#define PEAKBOUND_BENCH_RUN_PARTS_H

#include "bench.h"

const char *cuda_failure(const struct cuda_api *api, CUresult result);
bool rungs_load_images(const struct device *device, const struct gpu_image *images,
                       int count, struct rung_list *list, struct error *err);

/* One problem on one device. The runner owns device buffers; a, b and c are host
 * matrices of the rung's types. */
struct runner {
    const struct device *device;
    const struct rung *rung;
    struct size size;
    double alpha, beta;
    const struct matrix *a, *b;
    struct matrix *c;              /* read back here */
    const struct matrix *c_before; /* when beta != 0 */
    uint64_t sample_blocks, seed;
    struct verdict *verdict; /* launch errors, faults, guards go here */
    struct result *result;
    struct gpu_buffers *gpu;
};

/* Load the module, allocate and fill the buffers. False: verdict is set. */
bool gpu_open(struct runner *r);
/* Poison C (or put c_before there), launch once. ms: from events, NULL = not wanted. */
bool gpu_prepare(struct runner *r);
bool gpu_launch(struct runner *r, double *ms);
/* Copy C back; check guard zones and inputs. False: verdict is set. */
bool gpu_collect(struct runner *r);
void gpu_close(struct runner *r);

bool cpu_open(struct runner *r);
bool cpu_prepare(struct runner *r);
bool cpu_launch(struct runner *r, double *ms);
bool cpu_collect(struct runner *r);
void cpu_close(struct runner *r);

/* Median and spread of repeated launches. `launch` returns false on failure. */
struct timing {
    double median_ms, spread_pct;
    int reps;
};
bool timing_repeat(bool (*launch)(struct runner *r, double *ms), struct runner *r,
                   int reps, int warmup, double budget_ms, int least, struct timing *t);

/* Set the verdict's kind and reason; returns false. */
bool verdict_set(struct verdict *v, enum verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
