/* registry.h - which rungs were built into this program. build/lessonN/
 * registry.c, written by the Makefile from the files in kernels/, defines it. */
#ifndef PEAKBOUND_REGISTRY_H
#define PEAKBOUND_REGISTRY_H

#include <stddef.h>

#include "cpu/rung.h"

enum image_kind {
    IMAGE_RUNG,     /* kernels/NN_name.cu */
    IMAGE_EXERCISE, /* lessons/NN_name/exercise.cu, shown as "exercise (yours)" */
    IMAGE_VARIANT   /* lessons/NN_name/other.cu: runs only if it is named */
};

/* A compiled .cu file. */
struct gpu_image {
    const char *stem;   /* "03_shared_tile", "03_shared_tile_exercise" */
    const char *origin; /* "kernels/03_shared_tile.cu" */
    enum image_kind kind;
    int gap_line; /* of an exercise: the line that still says FILL IN; 0 = none does */
    const unsigned char *data; /* fatbin, or PTX text when made by clang */
    size_t size;
};

extern struct gpu_image registry_images[];
extern const int registry_image_count;
extern const struct cpu_rung *registry_cpu_rungs[]; /* best build for this CPU */
extern const int registry_cpu_rung_count;
extern const int registry_lesson;           /* default lesson: 3 after make lesson3 */
extern const char *const registry_compiler; /* "nvcc 13.0.88" or "clang 14.0.6" */
extern const char *const registry_version;  /* "0.1.0" */

/* Fill in what is only known at run time (image sizes, the build of each CPU rung
 * that suits this CPU). Call once, first thing in main. */
void registry_init(void);

#endif
