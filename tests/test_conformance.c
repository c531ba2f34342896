/* test_conformance.c - the program that compares a GPU with the simulator
 * (gpu_conformance.c), with the simulator on both sides. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Runs it; the last line that it printed is in `line`. */
static int conform(const char *arguments, char *line, int room)
{
    const char *program = getenv("PEAKBOUND_CONFORMANCE");
    char command[400];
    cr_assert(program != NULL, "PEAKBOUND_CONFORMANCE is not set");
    snprintf(command, sizeof command, "%s %s 2>&1", program, arguments);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe != NULL);
    line[0] = '\0';
    for (char next[2000]; fgets(next, sizeof next, pipe) != NULL;)
        snprintf(line, (size_t)room, "%.390s", next);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(conformance, the_simulator_agrees_with_itself)
{
    char line[400];
    cr_expect_eq(conform("--self", line, sizeof line), 0, "%s", line);
    cr_expect(strstr(line, " 0 differ, 0 approximations") != NULL &&
                  atoi(line + strlen("gpu-conformance: ")) > 300,
              "%s", line);
}

Test(conformance, a_planted_bit_is_found)
{
    char line[400];
    cr_expect_eq(conform("--plant", line, sizeof line), 1, "%s", line);
    cr_expect_not_null(strstr(line, " 1 differ"), "%s", line);
}

Test(conformance, without_a_gpu_it_says_so)
{
    char line[400];
    setenv("PEAKBOUND_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    cr_expect_eq(conform("", line, sizeof line), 3, "%s", line);
    cr_expect_not_null(strstr(line, "no NVIDIA GPU"), "%s", line);
}
