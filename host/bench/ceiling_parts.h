/* ceiling_parts.h - what the parts of the ceilings share.
 *
 *   ceiling.c      published peaks, rates, the host's own chain of multiply-adds
 *   ceiling_gpu.c  launch and time a kernel of 00_machine.cu
 *   ceiling_gpu_check.c  its inputs, and whether its results are right
 *   ceiling_cpu.c  the same work by the threads of the CPU
 */
#ifndef PEAKBOUND_BENCH_CEILING_PARTS_H
#define PEAKBOUND_BENCH_CEILING_PARTS_H

#include "../../kernels/machine.h"
#include "ceiling.h"

void ceiling_gpu(const struct device *device, const struct ceiling_options *options,
                 struct ceiling *c);
void ceiling_cpu(const struct device *device, const struct ceiling_options *options,
                 struct ceiling *c);

/* Keep the reason (the first one stays); false, for `return ceiling_fail(...)`. */
bool ceiling_fail(struct ceiling *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* x after `steps` steps of x = x * MACHINE_SCALE + MACHINE_ADD, with one rounding a step
 * or with two. */
float ceiling_chain(float x, size_t steps, bool fused);

double ceiling_median(double *values, int count, double *spread_pct);
/* Seconds of the host's steady clock. */
double ceiling_now(void);

/* A kernel of 00_machine.cu on a device. */
struct ceiling_run {
    const struct device *device;
    const struct ceiling_options *options;
    struct ceiling *c;
    CUmodule module;
    CUfunction function;
    CUevent start, end;
    CUdeviceptr in, in_b, out;
    size_t in_bytes, out_bytes;
    unsigned blocks, threads;
    int steps;
    double load_ms; /* of the module, by the host's clock */
};

/* Allocate and fill the buffers. */
bool ceiling_inputs(struct ceiling_run *r);
/* Compare the results of the last launch with what they must be. */
bool ceiling_check(struct ceiling_run *r);
/* Only for CEILING_COPY on the simulator: give the blocks that ran something to copy. */
bool ceiling_fill_sampled(struct ceiling_run *r);
bool ceiling_block_ran(const struct ceiling_run *r, unsigned block);
bool ceiling_failed(struct ceiling_run *r, const char *what, CUresult result);

#endif
