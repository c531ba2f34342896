/* test_cli.c - ./run as its users meet it: a process with arguments, output and an
 * exit status. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_fixture.h"

Test(cli, answers_without_running_anything)
{
    static const struct {
        const char *arguments;
        int status;
        const char *texts[4];
    } cases[] = {
        {"--help", 0, {"usage: ./run", "--size", "Exit status"}},
        {"--version", 0, {"Peakbound", "kernels compiled by", "published peaks"}},
        {"--list", 0, {"naive", "shared_tile", "lesson"}},
        {"--list ptx", 0, {"fma", "ld", "\n"}},
        {"--devices", 0, {"NVIDIA GPUs", "CPU", "-d sim:a100", "-d sim:4090"}},
        {"--devices --json -", 0, {"\"device\":\"cpu\"", "\"device\":\"sim:a100\""}},
        {"-s 12x", 2, {"peakbound: --size: `12x` is not a size"}},
        {"--sizes 12", 2, {"did you mean --size?"}},
        {"--help", 0, {"Calculators", "--convert VALUE"}},
        {"--convet 1", 2, {"did you mean --convert?"}},
        {"--convert --help", 0, {"usage: ./run --convert", "--no-color"}},
        {"--convert 312TFLOPS", 0, {"0.312 PFLOPS", "312000 GFLOPS", "312000000 MFLOPS"}},
        {"--convert 312 TFLOPS", 0, {"0.312 PFLOPS"}},
        {"--convert=3.14e23FLOP", 0, {"314 ZFLOP", "amount of work"}},
        {"--convert 80GiB", 0, {"85.89934592 GB", "80 GiB"}},
        {"--convert 2TB/s", 0, {"2000 GB/s"}},
        {"--convert", 2, {"--convert needs a value"}},
        {"--convert fast", 2, {"`fast` is no number with a unit"}},
        {"--convert -1TFLOPS", 2, {"`-1TFLOPS` is no number"}},
        {"--convert 3parsec", 2, {"has no unit known here"}},
        {"--convert 1e999FLOP", 2, {"too large"}},
        {"--convert 1TFLOPS more words", 2, {"`words` has no place"}},
        {"--convert 1TFLOPS --colour", 2, {"`--colour` is no option"}},
        {"-k nonsense", 2, {"--kernel", "`nonsense`", "naive"}},
        {"-d sim:nonsense", 2, {"`nonsense`", "--devices"}},
        {"-d gpu:999", 3, {"peakbound: --device"}},
        {"-l 98", 2, {"lesson 98"}},
        {"--against nonsense", 2, {"--against", "`nonsense`"}},
        {"--a /nonexistent.npy --b /nonexistent.npy", 2, {"/nonexistent.npy"}},
        {"--json /nonexistent/x.json -s 8", 2, {"/nonexistent/x.json"}},
        {"-d sim -s 8,1000000 -k naive",
         2,
         {"--size: 1000000 x 1000000", "does not fit"}},
        {"-d cpu -s 1000000", 2, {"--size: 1000000 x 1000000", "this machine can give"}},
        {"-d sim:t4 -s 64 -k warp_tile", 3, {"kernels/06_warp_tile.cu: ", "sm_80"}},
        {"-d sim:t4 -s 64 -k 06_warp_tile", 3, {"kernels/06_warp_tile.cu: ", "sm_80"}},
        {"-d sim:t4 -s 64 -l 6", 3, {"no rung of lesson 6 could be loaded", "sm_80"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].arguments, cases[i].status, cases[i].texts, 4);
}

/* What takes long must not end with a message that could have come first. */
Test(cli, output_that_cannot_be_written_is_told_first)
{
    static const char *const paths[] = {"/nonexistent/c.npy", "/tmp", "/proc/c.npy"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char arguments[200], *text;
        /* the matrices are not looked at before */
        snprintf(arguments, sizeof arguments, "-d sim --a no.npy --b no.npy --out %s",
                 paths[i]);
        int status = shell("", arguments, "2>&1", &text);
        cr_expect(status == 2 && strstr(text, "--out: `") && strstr(text, paths[i]),
                  "status %d: %s", status, text);
        free(text);
    }
}

/* Only the rungs that were asked for are missed. */
Test(cli, rungs_that_do_not_load_are_named_if_asked_for)
{
    static const struct {
        const char *arguments;
        bool named;
    } cases[] = {{"-d sim:t4 -s 32 -l 3", false},
                 {"-d sim:t4 -s 32 -l 5", false},
                 {"-d sim:t4 -s 32 -k naive,2", false},
                 {"-d sim:t4 -s 32 -k all", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        int status = shell("", cases[i].arguments, "2>&1", &text);
        cr_expect_eq(status, 0, "%s: %s", cases[i].arguments, text);
        cr_expect_eq(strstr(text, "left out: kernels/06_warp_tile.cu") != NULL,
                     cases[i].named, "%s: %s", cases[i].arguments, text);
        free(text);
    }
}

Test(cli, knows_the_instruction_sets)
{
    static const struct {
        const char *before;
        int status;
    } cases[] = {{"PEAKBOUND_ISA=1", 0},  {"PEAKBOUND_ISA=4", 0}, {"PEAKBOUND_ISA=", 0},
                 {"PEAKBOUND_ISA=x", 2},  {"PEAKBOUND_ISA=2", 2}, {"PEAKBOUND_ISA=33", 2},
                 {"PEAKBOUND_ISA=v3", 2}, {"PEAKBOUND_ISA=0", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        int status = shell(cases[i].before, "--version", "2>&1", &text);
        cr_expect_eq(status, cases[i].status, "%s: %d: %s", cases[i].before, status,
                     text);
        cr_expect(status == 0 || strstr(text, "give 1 (SSE2), 3 (AVX2) or 4"), "%s",
                  text);
        free(text);
    }
}

Test(cli, runs_lessons_on_the_simulator)
{
    static const char *const lesson3[] = {
        "naive", "coalesced", "shared_tile", "pass", "PREDICTED", "19.5", "66.9", "82.6"};
    static const char *const lesson7[] = {"wmma",  "pass",  "312",
                                          "989.4", "165.2", "82.6"};
    static const char *const counters[] = {"l1tex__average_t_sectors_per_request",
                                           "exact", "modelled", "dram__bytes_read.sum"};
    expect("-d sim:a100 -l 3 -s 64", 0, lesson3, 8);
    expect("-d sim:a100 -l 7 -s 64", 0, lesson7, 6);
    expect("-d sim:a100 -k naive -s 33x65x17 --counters", 0, counters, 4);
}

Test(cli, compares_gpu_and_cpu)
{
    static const char *const texts[] = {"speed-up", "largest difference", "warm-up",
                                        "synchronised", "over 4,096 of"};
    expect("-d sim:a100 -l 1 -s 64", 0, texts, 5);
}

Test(cli, json_alone_on_standard_output)
{
    char *text;
    int status = shell("", "-d sim:a100 -l 3 -s 40,50 --json -", "", &text);
    cr_expect_eq(status, 0, "status %d", status);
    int lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++)
        cr_expect(line[0] == '{' && line[strlen(line) - 1] == '}' &&
                      strstr(line, "\"check\":\"pass\""),
                  "%s", line);
    cr_expect(lines >= 6 && lines % 2 == 0, "%d lines", lines);
    free(text);
}

Test(cli, table_is_at_most_100_columns_wide)
{
    char *text;
    shell("", "-d sim:a100 -k all -s 20,300x100x77 --counters", "2>&1", &text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        cr_expect_leq(strlen(line), 100, "%zu columns: %s", strlen(line), line);
    free(text);
}

Test(cli, needs_no_environment_and_no_folder_to_write)
{
    char *text;
    int status =
        shell("cd /proc && env -i PATH=/usr/bin:/bin", "-d sim -s 32", "2>&1", &text);
    cr_expect_eq(status, 0, "status %d:\n%s", status, text);
    cr_expect(!strchr(text, '\033'), "colour in a pipe");
    free(text);
}

Test(cli, reader_may_leave_early)
{
    char *text;
    shell("", "-d sim -s 64", "2>&1 | head -1", &text);
    cr_expect(strncmp(text, "Peakbound", 9) == 0 && strchr(text, '\n')[1] == '\0',
              "more than one line: %s", text);
    free(text);
    shell("", "--list ptx", "2>&1 >/dev/full", &text);
    cr_expect(strstr(text, "No space left"), "a full disk was not noticed: %s", text);
    free(text);
}

Test(cli, interrupted_run_leaves_no_file)
{
    char folder[] = "/tmp/peakbound_cli_XXXXXX", arguments[160];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(arguments, sizeof arguments,
             "-d sim -s 1000:3000:100 --json %s/x.json >/dev/null", folder);
    char *text;
    int status = shell("timeout --preserve-status -s INT 1", arguments, "2>&1", &text);
    cr_expect_eq(status, 130, "status %d: %s", status, text);
    cr_expect_str_eq(text, "");
    cr_expect_eq(rmdir(folder), 0, "a file was left in %s", folder);
    free(text);
}

/* Without a reader of the table, or without any standard output, the file is made. */
Test(cli, file_is_written_though_nobody_reads_the_table)
{
    static const struct {
        const char *after;
        int status;
    } cases[] = {{"2>&1 >&-", 4}, {"2>&1 | true", 0}};
    char file[] = "/tmp/peakbound_cli_XXXXXX", arguments[160], *text;
    int descriptor = mkstemp(file);
    cr_assert_geq(descriptor, 0);
    close(descriptor);
    snprintf(arguments, sizeof arguments, "-d sim -s 32,33 -k 1 --json %s", file);
    for (int i = 0; i < 2; i++) {
        char first[2] = "";
        int status = shell("", arguments, cases[i].after, &text);
        cr_expect_eq(status, cases[i].status, "status %d: %s", status, text);
        free(text);
        descriptor = open(file, O_RDWR);
        cr_expect(read(descriptor, first, 1) == 1 && first[0] == '{',
                  "%s: not JSON: '%s'", cases[i].after, first);
        cr_expect_eq(ftruncate(descriptor, 0), 0);
        close(descriptor);
    }
    unlink(file);
}

Test(cli, messages_do_not_steer_the_terminal)
{
    char *text;
    int status = shell("", "-d \"$(printf 'a\\033[2Jb')\"", "2>&1", &text);
    cr_expect_eq(status, 2);
    cr_expect(!strchr(text, '\033') && strstr(text, "a?[2Jb"), "%s", text);
    free(text);
}
