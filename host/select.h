/* select.h - which rungs to run: those of a lesson, or those named by --kernel. */
#ifndef PEAKBOUND_SELECT_H
#define PEAKBOUND_SELECT_H

#include "bench/bench.h"
#include "options.h"

enum { SELECTED_MAX = 256 };

struct selection {
    const struct rung *gpu[SELECTED_MAX]; /* by kind, then by lesson */
    int gpu_count;
    const struct rung *cpu[SELECTED_MAX]; /* by lesson */
    int cpu_count;
    char note[300];         /* what was left out and why, or "" */
    const struct rung *gap; /* the lesson's exercise, not filled in yet, or NULL */
};

/* Default: the lesson's own rungs and its exercise, once that is filled in; the rungs
 * before it that use the same unit and input type; and the CPU rungs up to it; where the inputs are not FP32,
 * of the CPU rungs only the last, as a baseline. `gpu` is NULL if only the CPU
 * runs. */
bool rungs_select(const struct rung_list *gpu, const struct rung_list *cpu,
                  const struct device *device, const struct options *options,
                  struct selection *selection, struct error *err);

/* Is this image, as far as its name tells, among what the options ask for? */
bool rungs_asked_for(const struct gpu_image *image, const struct options *options);

/* Put one more rung in, behind those of its kind. */
void rungs_select_also(struct selection *selection, const struct rung *rung);

/* Same unit, input type and accumulator: one table, one peak. Kernels that are only run
 * stand apart. */
bool rungs_same_kind(const struct rung *a, const struct rung *b);

#endif
