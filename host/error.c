/* error.c - see error.h. */
#include "error.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEMPORARIES = 16 };

static volatile sig_atomic_t interrupted;
static char *temporaries[MAX_TEMPORARIES];

bool error_set(struct error *err, int status, const char *format, ...)
{
    if (err == NULL)
        return false;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(err->text, sizeof err->text, format, list);
    va_end(list);
    if (length >= (int)sizeof err->text)
        memcpy(err->text + sizeof err->text - 4, "...", 4);
    err->status = status;
    return false;
}

_Noreturn void die(int status, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *c = text; *c; c++) /* the user's words must not steer the terminal */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "peakbound: %s\n", text);
    temporary_remove_all();
    exit(status);
}

static void *checked(void *memory, size_t bytes)
{
    if (memory == NULL)
        die(EXIT_OURS, "out of memory: %zu bytes", bytes);
    return memory;
}

void *xmalloc(size_t bytes)
{
    return checked(malloc(bytes > 0 ? bytes : 1), bytes);
}

void *xcalloc(size_t count, size_t bytes)
{
    return checked(calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1), count * bytes);
}

void *xrealloc(void *old, size_t bytes)
{
    return checked(realloc(old, bytes > 0 ? bytes : 1), bytes);
}

char *xstrdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(xmalloc(bytes), text, bytes);
}

void temporary_add(const char *path)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i] == NULL) {
            temporaries[i] = xstrdup(path);
            return;
        }
}

void temporary_forget(const char *path)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i] != NULL && strcmp(temporaries[i], path) == 0) {
            char *done = temporaries[i];
            temporaries[i] = NULL; /* the signal handler looks at it */
            free(done);
        }
}

void temporary_remove_all(void)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i] != NULL) {
            char *done = temporaries[i];
            unlink(done);
            temporaries[i] = NULL;
            free(done);
        }
}

bool interrupt_pending(void)
{
    return interrupted != 0;
}

static void on_signal(int number)
{
    /* the second time the user means it: no tidying up beyond the files */
    if (interrupted) {
        for (int i = 0; i < MAX_TEMPORARIES; i++)
            if (temporaries[i] != NULL)
                unlink(temporaries[i]);
        _exit(128 + number);
    }
    interrupted = number;
}

void interrupt_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hang_up;
    sigaction(SIGHUP, NULL, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
}
