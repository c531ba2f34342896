/* tool.h - calculators beside the lessons: ./run --convert, --gpus, --train, --vram.
 *
 * A tool is the row of a table. It runs instead of a lesson as soon as its option is on
 * the command line, and reads that command line itself (flags.h).
 */
#ifndef PEAKBOUND_CALC_TOOL_H
#define PEAKBOUND_CALC_TOOL_H

#include <stdio.h>

#include "../error.h"

struct tool {
    const char *name;     /* "gpus" for --gpus */
    const char *argument; /* shown in --help, or "" */
    const char *help;     /* one line, at most 70 characters */
    /* Returns the exit status; if that is not EXIT_GOOD and err->text is set, it is
     * printed by main. argv[0] is the program's name. */
    int (*run)(int argc, char **argv, struct error *err);
};

/* The tool that the command line asks for, or NULL. */
const struct tool *tool_find(int argc, char **argv);
/* One line a tool, for --help. */
void tools_print_help(FILE *out);
/* The names, for messages about unknown options; returns how many were written. */
enum { TOOLS_MAX = 16 };
int tools_names(const char *names[TOOLS_MAX]);

#endif
