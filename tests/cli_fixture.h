/* cli_fixture.h - run ./run as its users do. PEAKBOUND_RUN says where the program is
 * (the Makefile sets it). */
#ifndef PEAKBOUND_TESTS_CLI_FIXTURE_H
#define PEAKBOUND_TESTS_CLI_FIXTURE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static inline const char *program(void)
{
    const char *path = getenv("PEAKBOUND_RUN");
    path = path ? path : "./run";
    if (access(path, X_OK) != 0)
        cr_skip_test("no program at %s", path);
    return path;
}

/* Run `PROGRAM arguments` in a shell, after `before` ("env -i", "cd /; "), with
 * `after` behind it ("| head -1"). Returns the status; *text is all it printed. */
static inline int shell(const char *before, const char *arguments, const char *after,
                        char **text)
{
    char command[1200], full[900];
    cr_assert_not_null(realpath(program(), full) ? full : NULL);
    snprintf(command, sizeof command, "%s %s %s %s", before, full, arguments, after);
    size_t size = 0;
    FILE *copy = open_memstream(text, &size), *from = popen(command, "r");
    cr_assert(copy && from, "%s", command);
    for (int c = getc(from); c != EOF; c = getc(from))
        putc(c, copy);
    fclose(copy);
    int status = pclose(from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The status, and standard output and error must hold all the texts. */
static inline void expect(const char *arguments, int status, const char *const texts[],
                          int count)
{
    char *text;
    int got = shell("CUDA_VISIBLE_DEVICES=", arguments, "2>&1", &text);
    cr_expect_eq(got, status, "%s: status %d, not %d:\n%s", arguments, got, status, text);
    for (int i = 0; i < count && texts[i]; i++)
        cr_expect(strstr(text, texts[i]), "%s: lacks \"%s\":\n%s", arguments, texts[i],
                  text);
    free(text);
}

#endif
