/* style.c - colour and progress; see style.h. */
#include "style.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool colored;
static bool progress_visible;

void style_init(bool no_color)
{
    const char *wish = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    colored =
        !no_color && !dumb && (wish == NULL || *wish == '\0') && isatty(STDOUT_FILENO);
}

const char *style_of(enum style style)
{
    static const char *const escapes[] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m", [STYLE_DIM] = "\033[2m",
        [STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[31m", [STYLE_WARN] = "\033[33m",
    };
    return colored ? escapes[style] : "";
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_show(void *context, const char *what, double fraction)
{
    const char *whose = context;
    static double first, last;
    static int terminal = -1;
    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (!terminal)
        return;
    double now = seconds_now();
    if (first == 0)
        first = now;
    if (now - first < 1 || now - last < 0.1)
        return;
    last = now;
    progress_visible = true;
    fprintf(stderr, "\r\033[K%.48s: %.20s %3.0f %%", whose, what, 100 * fraction);
    fflush(stderr);
}

void progress_clear(void)
{
    if (!progress_visible)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress_visible = false;
}
