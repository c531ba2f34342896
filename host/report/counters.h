/* counters.h - what the simulator counted, under Nsight Compute's names. */
#ifndef PEAKBOUND_REPORT_COUNTERS_H
#define PEAKBOUND_REPORT_COUNTERS_H

#include <stdio.h>

#include "row.h"

/* The rungs side by side, then the metrics' full names. Rungs without counters (CPU,
 * real GPU, failed) are left out. Each line says how far to trust it: exact (for the
 * PTX that ran), modelled, or estimated. */
void counters_print(FILE *out, const struct row *rows, int row_count);

#endif
