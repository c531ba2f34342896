/* test_json.c - what --json writes is JSON, whatever the kernel is called and however
 * wrong its numbers are. */
#include "../host/report/json.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a checker for RFC 8259: each function moves *at over one piece --------------- */

static bool value(const char **at);

static bool literal(const char **at, const char *text)
{
    size_t length = strlen(text);
    bool same = strncmp(*at, text, length) == 0;
    *at += same ? length : 0;
    return same;
}

static bool string(const char **at)
{
    if (*(*at)++ != '"')
        return false;
    for (; **at != '"'; ++*at) {
        if ((unsigned char)**at < 0x20)
            return false;
        if (**at != '\\')
            continue;
        ++*at;
        if (**at == 'u') {
            for (int i = 0; i < 4; i++)
                if (!isxdigit((unsigned char)*++*at))
                    return false;
        } else if (**at == '\0' || !strchr("\"\\/bfnrt", **at)) {
            return false;
        }
    }
    ++*at;
    return true;
}

static bool digits(const char **at)
{
    const char *start = *at;
    while (isdigit((unsigned char)**at))
        ++*at;
    return *at > start;
}

static bool number(const char **at)
{
    *at += **at == '-';
    bool zero = **at == '0';
    const char *start = *at;
    if (!digits(at) || (zero && *at - start > 1))
        return false;
    if (**at == '.') {
        ++*at;
        if (!digits(at))
            return false;
    }
    if (**at == 'e' || **at == 'E') {
        ++*at;
        *at += **at == '+' || **at == '-';
        return digits(at);
    }
    return true;
}

static bool members(const char **at, char close, bool keys)
{
    ++*at;
    if (**at == close) {
        ++*at;
        return true;
    }
    for (;; ++*at) {
        if (keys && (!string(at) || *(*at)++ != ':'))
            return false;
        if (!value(at))
            return false;
        if (**at == close) {
            ++*at;
            return true;
        }
        if (**at != ',')
            return false;
    }
}

static bool value(const char **at)
{
    switch (**at) {
    case '{':
        return members(at, '}', true);
    case '[':
        return members(at, ']', false);
    case '"':
        return string(at);
    case 't':
        return literal(at, "true");
    case 'f':
        return literal(at, "false");
    case 'n':
        return literal(at, "null");
    default:
        return number(at);
    }
}

/* One object on one line. */
static bool is_json_line(const char *text)
{
    const char *at = text;
    return *at == '{' && value(&at) && strcmp(at, "\n") == 0;
}

Test(json, checker_itself_rejects)
{
    static const char *const bad[] = {
        "{\"a\":nan}\n",     "{\"a\":inf}\n", "{\"a\":1,}\n",    "{\"a\" 1}\n",
        "{\"a\":01}\n",      "{\"a\":1}",     "{\"a\":1}\n{}\n", "{\"a\":\"\n\"}\n",
        "{\"a\":\"\\x\"}\n", "{\"a\":1.}\n",  "{\"a\":-}\n",     "[1]\n",
        "{\"a\":[1,]}\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(!is_json_line(bad[i]), "taken: %s", bad[i]);
    cr_expect(is_json_line("{\"a\":[-1.5e-7,null,true],\"b\":{}}\n"));
}

static char *write_row(const struct row *row)
{
    static const struct card cards[] = {{"a100", NULL}, {"4090", NULL}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_write_row(out, row, cards, 2);
    fclose(out);
    return text;
}

static struct row good_row(const struct device *device)
{
    struct row row = {.x_cpu = 5.1};
    struct result *r = &row.result;
    r->device = device;
    r->rung.info =
        (struct kernel_info){.lesson = 3, .name = "shared_tile", .acc = KERNEL_F32};
    r->size = (struct size){512, 256, 128};
    r->predicted = true;
    r->time_ms = 0.1;
    r->reps = 1;
    r->tflops = 2.6;
    r->verdict = (struct verdict){
        .kind = VERDICT_PASS, .error = 3.1e-7, .bound = 1.5e-5, .cells = 4};
    r->bound_by = SIM_BOUND_SHARED;
    return row;
}

Test(json, a_result_has_all_keys)
{
    static const char *const pieces[] = {"\"lesson\":3,\"kernel\":\"shared_tile\"",
                                         "\"device\":\"sim:a100\"",
                                         "\"device_name\":\"A100\"",
                                         "\"backend\":\"sim\"",
                                         "\"m\":512,\"n\":256,\"k\":128",
                                         "\"in\":\"f32\",\"acc\":\"f32\",\"out\":\"f32\"",
                                         "\"time_ms\":0.1,",
                                         "\"time_kind\":\"predicted\"",
                                         "\"sampled\":false",
                                         "\"reps\":1",
                                         "\"spread_pct\":0",
                                         "\"tflops\":2.6",
                                         "\"peak\":{\"this\":",
                                         "\"pct\":{\"this\":",
                                         "\"a100\":null",
                                         "\"4090\":null",
                                         "\"x_cpu\":5.1",
                                         "\"error\":3.1e-07",
                                         "\"error_bound\":1.5e-05",
                                         "\"check\":\"pass\"",
                                         "\"bound_by\":\"shared memory\"",
                                         "\"counters\":null",
                                         "\"faults\":[]",
                                         "\"driver\":null",
                                         "\"compiler\":\"",
                                         "\"version\":\""};
    struct device device = {.backend = BACKEND_SIM, .id = "sim:a100", .name = "A100"};
    struct row row = good_row(&device);
    char *text = write_row(&row);
    cr_assert(is_json_line(text), "no JSON: %s", text);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        cr_expect(strstr(text, pieces[i]), "lacks %s: %s", pieces[i], text);
    free(text);
}

Test(json, stays_json_with_hostile_texts_and_numbers)
{
    static const char *const names[] = {"quote\"",
                                        "back\\slash",
                                        "new\nline",
                                        "tab\tbell\a",
                                        "\xff\xfe",
                                        "cut \xe2\x82",
                                        "\xed\xa0\x80 surrogate",
                                        "\xc0\x80",
                                        "gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\x80",
                                        "\x7f",
                                        ""};
    static const double numbers[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1e308, 5e-324};
    struct device device = {.backend = BACKEND_SIM, .id = "sim"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            struct row row = good_row(&device);
            struct sim_fault fault = {.kind = SIM_TRAP, .line = -1};
            row.result.faults = &fault;
            row.result.fault_count = 1;
            row.result.has_counters = true;
            row.result.occupancy.percent = numbers[j];
            row.result.time_ms = row.result.tflops = row.x_cpu = numbers[j];
            row.result.verdict.error = row.result.verdict.bound = numbers[j];
            snprintf(row.result.rung.info.name, sizeof row.result.rung.info.name, "%s",
                     names[i]);
            snprintf(device.name, sizeof device.name, "%s", names[i]);
            snprintf(fault.detail, sizeof fault.detail, "%s", names[i]);
            snprintf(row.result.verdict.reason, sizeof row.result.verdict.reason, "%s",
                     names[i]);
            char *text = write_row(&row);
            cr_expect(is_json_line(text), "name %zu, number %g: %s", i, numbers[j], text);
            free(text);
        }
}

Test(json, a_failed_result_shows_no_rate)
{
    struct device device = {.backend = BACKEND_SIM, .id = "sim"};
    struct row row = good_row(&device);
    row.result.verdict.kind = VERDICT_NOT_WRITTEN;
    char *text = write_row(&row);
    cr_expect(strstr(text, "\"check\":\"fail\""), "%s", text);
    cr_expect(strstr(text, "\"tflops\":null"), "%s", text);
    cr_expect(strstr(text, "\"time_ms\":null"), "%s", text);
    cr_expect(strstr(text, "\"x_cpu\":null"), "%s", text);
    cr_expect(strstr(text, "\"bound_by\":null"), "%s", text);
    free(text);
}

/* --- the file --------------------------------------------------------------------- */

static long bytes_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

Test(json, file_appears_whole_or_not_at_all)
{
    char folder[] = "/tmp/peakbound_json_XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.json", folder);
    struct json_file file;
    struct error err = {0};
    cr_assert(json_file_open(&file, path, &err), "%s", err.text);
    fputs("{}\n", file.stream);
    cr_expect_eq(bytes_of(path), -1, "there before it is complete");
    cr_assert(json_file_close(&file, false, &err));
    cr_expect_eq(bytes_of(path), -1, "kept though not wanted");
    cr_assert(json_file_open(&file, path, &err), "%s", err.text);
    fputs("{}\n", file.stream);
    cr_assert(json_file_close(&file, true, &err), "%s", err.text);
    cr_expect_eq(bytes_of(path), 3);
    cr_assert(json_file_open(&file, path, &err), "%s", err.text);
    fputs("{\"longer\":1}\n", file.stream);
    cr_assert(json_file_close(&file, false, &err));
    cr_expect_eq(bytes_of(path), 3, "an interrupted run changed the old file");
    unlink(path);
    cr_expect_eq(rmdir(folder), 0, "something was left in %s", folder);
}

Test(json, file_that_cannot_be_written_is_named)
{
    struct json_file file;
    struct error err = {0};
    cr_assert(!json_file_open(&file, "/nowhere/at/all.json", &err));
    cr_expect_eq(err.status, EXIT_USAGE);
    cr_expect(strstr(err.text, "/nowhere/at/all.json"), "%s", err.text);
    cr_assert(!json_file_open(&file, "/tmp", &err));
}

/* What is no regular file is written as it stands, never replaced: here a pipe. */
Test(json, pipe_stays_a_pipe)
{
    char folder[] = "/tmp/peakbound_json_XXXXXX", path[80], text[8] = "";
    struct json_file file;
    struct error err = {0};
    struct stat status;
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    cr_assert(json_file_open(&file, path, &err), "%s", err.text);
    fputs("{}\n", file.stream);
    cr_assert(json_file_close(&file, true, &err), "%s", err.text);
    cr_expect_eq(read(reader, text, sizeof text - 1), 3);
    cr_expect_str_eq(text, "{}\n");
    cr_expect(stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    close(reader);
    unlink(path);
    rmdir(folder);
}
