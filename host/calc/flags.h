/* flags.h - the options of one tool (tool.h) as a table.
 *
 *     --name VALUE, --name=VALUE or --name, and words without dashes. Every tool
 *     also takes --help and --no-color.
 */
#ifndef PEAKBOUND_CALC_FLAGS_H
#define PEAKBOUND_CALC_FLAGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../error.h"

enum flag_kind {
    FLAG_SWITCH, /* bool, takes no value */
    FLAG_TEXT,   /* const char *, not empty */
    FLAG_WHOLE,  /* uint64_t, from <= value <= to */
    FLAG_REAL,   /* double, finite, from <= value <= to */
    FLAG_CHOICE  /* int: which of the `choices` */
};

struct flag {
    const char *name;     /* "gpu" for --gpu */
    const char *argument; /* shown in the help: "CARD"; NULL for a switch */
    enum flag_kind kind;
    void *into;             /* stays as it is when the flag is not given */
    double from, to;        /* of FLAG_WHOLE and FLAG_REAL */
    const char *choices[8]; /* of FLAG_CHOICE, up to the first NULL */
    const char *help;       /* lines separated by \n */
};

struct flag_table {
    const char *summary; /* what the tool does, for its --help */
    const char *usage;   /* "./run --gpus [NAME ...] [options]" */
    const struct flag *flags;
    int count;
    int word_limit; /* words without dashes that may be given */
};

enum flags_read {
    FLAGS_GOOD,
    FLAGS_HELP, /* the help was printed: leave with EXIT_GOOD */
    FLAGS_BAD   /* *err says why */
};

/* Read argv[1..argc-1]. The words without dashes go to words[0..*word_count-1], which
 * has room for table->word_limit; both may be NULL if that is 0. Starts style.h. */
enum flags_read flags_parse(int argc, char **argv, const struct flag_table *table,
                            const char **words, int *word_count, struct error *err);

/* "7B", "2.5T", "1e9", "312" -> 7e9, 2.5e12, 1e9, 312: K, M, B or G, T, P and E are powers
 * of 1000. False, and *value unchanged, if `text` is no finite number >= 0. */
bool flags_read_scaled(const char *text, double *value);

#endif
