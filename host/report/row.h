/* row.h - one line of the report: a result, and what can be said about it only
 * beside others or beside a published peak. */
#ifndef PEAKBOUND_REPORT_ROW_H
#define PEAKBOUND_REPORT_ROW_H

#include "../bench/bench.h"

/* A card to compare with, under the name that the user gave. */
struct card {
    const char *label; /* "a100" */
    const struct peak_row *peak;
};

struct row {
    struct result result; /* owned */
    double x_cpu;         /* times as fast as the best CPU rung; 0 = not known */
    size_t timed_rows;    /* CPU rung timed on so many rows of C; 0 = all */
};

bool row_is_cpu(const struct row *row);
bool row_passed(const struct row *row);
/* Neither passed nor skipped. */
bool row_failed(const struct row *row);
/* "naive", "CPU naive", "exercise (yours)". */
void row_name(const struct row *row, char *name, size_t room);
const char *rung_name(const struct rung *rung);
int rung_lesson(const struct rung *rung);

/* TFLOPS of a card (NULL: of the row's own device) for this row's unit and
 * types; NAN if unknown. *published (may be NULL): a printed figure, else
 * computed. */
double row_peak(const struct row *row, const struct card *card, bool *published);
/* Percent of that peak; NAN if there is no rate or no peak. */
double row_percent(const struct row *row, const struct card *card);

#endif
