/* output_file.h - files that appear whole or not at all: written beside their final
 * name and renamed. What is not a regular file (/dev/null, a pipe) is never
 * replaced but written directly.
 */
#ifndef PEAKBOUND_OUTPUT_FILE_H
#define PEAKBOUND_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

struct output_file {
    FILE *stream;    /* write here */
    char *path;      /* final name, behind symbolic links */
    char *temporary; /* NULL if written directly */
};

/* On failure false, errno says why, and *file is empty. The temporary file is known
 * to temporary_remove_all. An existing file's mode is kept. */
bool output_file_open(struct output_file *file, const char *path);

/* Could it be written, as far as can be told without touching it? Else *err (EXIT_USAGE,
 * naming the option). For files that are written only after a long run. */
bool output_can_write(const char *path, const char *option, struct error *err);

/* Close, and with `keep` give the file its name, else remove it. False, with errno
 * (0 if unknown), if what should be kept could not be written; then the old file is
 * as it was. */
bool output_file_close(struct output_file *file, bool keep);

/* Put /dev/null (unwritable) where standard input, output or error is closed, so
 * that no file opened later gets their number and their text. Call it first. */
void output_hold_standard_streams(void);

#endif
