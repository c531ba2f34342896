/* explain.h - what a rung's memory accesses cost, instruction by instruction, and the
 * most wasteful one as a picture. */
#ifndef PEAKBOUND_REPORT_EXPLAIN_H
#define PEAKBOUND_REPORT_EXPLAIN_H

#include <stdio.h>

#include "row.h"

/* For each rung that ran on the simulator with bench_options.explain. */
void explain_print(FILE *out, const struct row *rows, int row_count);
/* One access: sectors of global memory, a 128-byte line a row and a character a word; or
 * banks of shared memory, a wavefront a row. A lane is 0..9a..v, * is several lanes, . a
 * word that is fetched in vain. */
void explain_picture(FILE *out, const struct sim_site *site);
/* What to do about it, one sentence. */
void explain_advice(char *text, size_t room, const struct sim_site *site);

#endif
