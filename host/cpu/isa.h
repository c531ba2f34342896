/* isa.h - the same source, built once per instruction set of the host CPU, and
 * the choice among the builds at run time.
 *
 * On x86-64 the Makefile compiles the CPU rungs for three levels of the psABI:
 * baseline (SSE2), x86-64-v3 (AVX2 and FMA) and x86-64-v4 (AVX-512). Elsewhere
 * there is one build. A symbol gets the suffix of its level.
 */
#ifndef PEAKBOUND_CPU_ISA_H
#define PEAKBOUND_CPU_ISA_H

#if defined(__x86_64__)
#define CPU_ISA_NAMES(symbol) symbol##_v1, symbol##_v3, symbol##_v4
#define CPU_ISA_PICK(symbol)               \
    (cpu_isa_level() == 4   ? &symbol##_v4 \
     : cpu_isa_level() == 3 ? &symbol##_v3 \
                            : &symbol##_v1)
#else
#define CPU_ISA_NAMES(symbol) symbol##_v1
#define CPU_ISA_PICK(symbol) (&symbol##_v1)
#endif

#include <stdbool.h>

#include "../error.h"

/* False and *err (EXIT_USAGE) if PEAKBOUND_ISA holds anything but 1, 3 or 4. */
bool cpu_isa_check(struct error *err);
/* 1, 3 or 4: the highest level that this CPU and kernel support.
 * PEAKBOUND_ISA=1|3|4 lowers it (for tests); it cannot raise it. */
int cpu_isa_level(void);

#endif
