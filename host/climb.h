/* climb.h - run the chosen rungs over the chosen sizes and report.
 *
 * climb.c        the order of things: header, sizes, rungs, tables
 * climb_cpu.c    a CPU rung that would take too long is timed on some rows of C
 * climb_text.c   the lines around the tables
 */
#ifndef PEAKBOUND_CLIMB_H
#define PEAKBOUND_CLIMB_H

#include "options.h"
#include "pick_device.h"
#include "report/json.h"
#include "report/row.h"
#include "select.h"

struct climb {
    /* given */
    const struct options *options;
    const struct picked *devices;
    const struct selection *selection;
    struct card cards[AGAINST_MAX];
    int card_count;
    FILE *text;             /* where the tables go; NULL: nowhere */
    struct json_file *json; /* NULL: none */
    /* found */
    struct row *rows; /* as they ran: for each size the CPU's, then the GPU's */
    int row_count;
    struct matrix a, b; /* the user's matrices */
    struct matrix c;    /* the result to compare or to write */
    char (*notes)[300]; /* printed below the tables */
    int note_count;
    char doing[96];   /* for the line of progress */
    bool reader_gone; /* what was printed is not taken: no use going on */
};

/* What runs where no size was asked for. */
struct size climb_default_size(const struct picked *devices);
/* The exit status. An error that is no result (an unreadable matrix, ...) goes to
 * *err, whose status is returned. */
int climb_run(struct climb *climb, struct error *err);
void climb_free(struct climb *climb);

/* --- for the parts of climb --------------------------------------------------------- */

void climb_note(struct climb *climb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fill in the bench options that the command line decides; progress will name this
 * rung and size. */
void climb_bench_options(struct climb *climb, const struct rung *rung,
                         const struct size *size, struct bench_options *bench);
/* The rung that is somebody else's kernel, or NULL. */
const struct rung *climb_guest(const struct climb *climb);
/* GPU against CPU, one rung each, FP32: the differences are worth a line. */
bool climb_is_duel(const struct climb *climb);

/* Time one CPU rung, on fewer rows if all would take too long. */
void climb_run_cpu(struct climb *climb, const struct rung *rung, struct size size,
                   struct row *row);

void climb_print_header(const struct climb *climb, const struct size *sizes, int count);
void climb_print_tables(const struct climb *climb);
void climb_print_duel(const struct climb *climb);
void climb_print_notes(const struct climb *climb);
/* The fastest CPU rung that passed at this size, or NULL. */
const struct row *climb_baseline(const struct climb *climb, const struct size *size);

#endif
