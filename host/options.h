/* options.h - the command line. One table (options.c) drives both the parsing
 * and --help. */
#ifndef PEAKBOUND_OPTIONS_H
#define PEAKBOUND_OPTIONS_H

#include <stdio.h>

#include "bench/bench.h"
#include "error.h"

enum action {
    ACTION_RUN,
    ACTION_LIST,
    ACTION_LIST_PTX,
    ACTION_DEVICES,
    ACTION_VERSION,
    ACTION_HELP
};

enum device_wish { WISH_AUTO, WISH_GPU, WISH_SIM, WISH_CPU };

enum { SIZE_LIMIT = 1048576, SIZES_MAX = 1000, LIST_MAX = 64, AGAINST_MAX = 5 };

/* A comma list, cut up. */
struct name_list {
    char *storage;
    const char *items[LIST_MAX];
    int count;
};

/* Somebody else's kernel, in the words of the command line; guest_args.c reads them.
 * NULL where none was given. */
struct guest_words {
    const char *ptx, *cu, *entry, *grid, *block, *cluster, *smem, *args, *expect;
    const char *in, *acc, *layout;
};

struct options {
    enum action action;
    enum device_wish device;
    int gpu;              /* -1 = the first that opens */
    const char *sim_card; /* NULL = a100 */
    struct size *sizes;   /* none given: size_count == 0 */
    int size_count;
    struct name_list kernels; /* none given: the lesson's */
    int lesson;               /* 0 = the one that was built */
    const char *a, *b, *out;  /* .npy files, or NULL */
    struct name_list against;
    int reps, warmup, threads; /* 0 = choose */
    uint64_t seed, steps;      /* steps 0 = the simulator's limit */
    bool check_all, verify, counters, no_color;
    bool explain, hw_sums;
    const char *json; /* NULL, "-" or a file */
    struct guest_words guest;
};

/* False and *err (status EXIT_USAGE) if the command line is wrong. Strings point
 * into argv. */
bool options_parse(int argc, char **argv, struct options *options, struct error *err);
void options_free(struct options *options);
void options_print_help(FILE *out);

#endif
