/* style.h - colour, and one line of progress, for people; neither reaches a file
 * or a pipe. Colour only if standard output is a terminal, NO_COLOR is unset
 * (https://no-color.org) and --no-color is not given. */
#ifndef PEAKBOUND_REPORT_STYLE_H
#define PEAKBOUND_REPORT_STYLE_H

#include <stdbool.h>

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_WARN };

void style_init(bool no_color);
/* The escape sequence that starts a style, "" when there is no colour. Any style
 * ends with STYLE_PLAIN. */
const char *style_of(enum style style);

/* Signature of bench_options.progress; `context` is a text. Shows "context: what 43 %"
 * on standard error if that is a terminal and the work has taken a second. */
void progress_show(void *context, const char *what, double fraction);
/* Wipe the line. Call before anything else is printed. */
void progress_clear(void);

#endif
