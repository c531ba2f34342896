/* error.h - how the program ends when something is wrong.
 *
 * Exit status (also in --help):
 *   0  good
 *   1  a wrong result, or a fault found in a kernel
 *   2  bad usage or bad input
 *   3  the asked-for device or tool is missing
 *   4  a fault of our own (unsupported PTX, internal limit, out of memory)
 *
 * Modules below main return errors as values (a bool and a message in a
 * struct error); only main, options and bench decide to end the program.
 */
#ifndef PEAKBOUND_ERROR_H
#define PEAKBOUND_ERROR_H

#include <stdbool.h>
#include <stddef.h>

enum exit_status {
    EXIT_GOOD = 0,
    EXIT_WRONG = 1,
    EXIT_USAGE = 2,
    EXIT_MISSING = 3,
    EXIT_OURS = 4,
    EXIT_INTERRUPTED = 130
};

/* A message that says what is wrong, where, and what to do. */
struct error {
    int status; /* enum exit_status to leave with; 0 = no error */
    char text[480];
};

/* Fill *err (ignored when NULL) and return false, so that callers can
 * `return error_set(err, EXIT_USAGE, "...")`. Long texts are cut with "...". */
bool error_set(struct error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print "peakbound: MESSAGE" on stderr, remove temporary files, leave. */
_Noreturn void die(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* malloc/calloc/realloc that end the program (status 4) with a message naming
 * the size. For small bookkeeping only; matrices use matrix_alloc. */
void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* Files that must not stay if the program ends early: die, and the signal handler,
 * remove them. temporary_forget once the file has its final name. */
void temporary_add(const char *path);
void temporary_forget(const char *path);
void temporary_remove_all(void);

/* True once SIGINT, SIGTERM or SIGHUP arrived (set by interrupt_install's handler).
 * Long loops look at it and return early; main then leaves with status 130. */
bool interrupt_pending(void);
void interrupt_install(void);

#endif
