/* formula.h - whole numbers that depend on the sizes: `N/16`, `ceil(M/(2*32))`, `4*K`.
 *
 *     formula = term { (+|-) term }       term = factor { (*|/) factor }
 *     factor  = digits | M | N | K | ceil ( formula ) | ( formula )
 *
 * Grids cover a matrix, so / rounds up, with or without ceil. */
#ifndef PEAKBOUND_BENCH_FORMULA_H
#define PEAKBOUND_BENCH_FORMULA_H

#include <stdint.h>

#include "../error.h"
#include "size.h"

/* False and *err (EXIT_USAGE: what is wrong, and where in the text) if it is no formula,
 * divides by zero or leaves 0 .. 2^53 on the way. */
bool formula_evaluate(const char *text, struct size size, uint64_t *value,
                      struct error *err);

/* Is it just a side cut into tiles, N/16 or ceil(M/128)? Then *side is 'M', 'N' or 'K'. */
bool formula_is_tiles(const char *text, char *side, int *tile);

#endif
