/* machine.h - the CPU twins of kernels/00_machine.cu: one struct a build of
 * kernels/00_machine.c. Each function is the work of one thread. */
#ifndef PEAKBOUND_CPU_MACHINE_H
#define PEAKBOUND_CPU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum { CPU_MACHINE_CHAINS = 12, CPU_MACHINE_LANES_MAX = 16 };

struct cpu_machine {
    int lanes;  /* floats of a vector */
    bool fused; /* multiply and add are one instruction with one rounding */
    /* start and out [CPU_MACHINE_CHAINS][lanes]: `steps` times
     * x = x * MACHINE_SCALE + MACHINE_ADD (kernels/machine.h) */
    void (*fma)(size_t steps, const float *start, float *out);
    /* n floats, a multiple of 4 * lanes, aligned for a vector; no overlap */
    void (*copy)(float *to, const float *from, size_t n);
    /* to = b + scale * c */
    void (*triad)(float *to, const float *b, const float *c, float scale, size_t n);
};

/* The best build for this CPU. */
const struct cpu_machine *cpu_machine(void);

#endif
