/* table.h - the result table, as projected in class. */
#ifndef PEAKBOUND_REPORT_TABLE_H
#define PEAKBOUND_REPORT_TABLE_H

#include <stdio.h>

#include "row.h"

/* Rows of one kind (unit, input type, accumulator) plus CPU rows to compare
 * with. */
struct table {
    const struct row *rows;
    int row_count;
    const struct card *cards;
    int card_count;
    const struct rung *kind; /* any rung of the kind */
};

/* Which peak is 100 %: card, unit, types, dense, published or computed. Printed
 * before anything runs. `cpu` may be NULL. */
void table_print_peaks(FILE *out, const struct rung *kind, const struct device *device,
                       const struct device *cpu, const struct card *cards,
                       int card_count);
/* The table, then a line for each failure and each fault. */
void table_print(FILE *out, const struct table *table);

#endif
