/* json.c - see json.h. */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* --- members --------------------------------------------------------------------- */

/* Length of the valid UTF-8 character at `s` (Unicode 15, table 3-7), 0 if there is
 * none. */
static int utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char from, to, second_from, second_to;
        int length;
    } forms[] = {
        {0x20, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*s < forms[i].from || *s > forms[i].to)
            continue;
        if (forms[i].length > 1 &&
            (s[1] < forms[i].second_from || s[1] > forms[i].second_to))
            return 0;
        for (int j = 2; j < forms[i].length; j++)
            if ((s[j] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

static void put_text(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    putc('"', out);
    while (*s) {
        int length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else if (length == 0)
            fputs("\\ufffd", out);
        else
            fwrite(s, 1, (size_t)length, out);
        s += length > 0 ? length : 1;
    }
    putc('"', out);
}

static void put_key(struct json *j, const char *key)
{
    if (j->comma)
        putc(',', j->out);
    j->comma = true;
    if (key) {
        put_text(j->out, key);
        putc(':', j->out);
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    put_key(j, key);
    putc(bracket, j->out);
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    putc(bracket, j->out);
    j->comma = true;
}

void json_string(struct json *j, const char *key, const char *text)
{
    put_key(j, key);
    if (text)
        put_text(j->out, text);
    else
        fputs("null", j->out);
}

void json_number(struct json *j, const char *key, double value)
{
    put_key(j, key);
    if (isfinite(value))
        fprintf(j->out, "%.12g", value);
    else
        fputs("null", j->out);
}

void json_whole(struct json *j, const char *key, unsigned long long value)
{
    put_key(j, key);
    fprintf(j->out, "%llu", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
    put_key(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_line_end(struct json *j)
{
    putc('\n', j->out);
    j->comma = false;
}

/* --- a result -------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t offset;
} counter_keys[] = {
#define COUNTER(field)                               \
    {                                                \
#field, offsetof(struct sim_counters, field) \
    }
    COUNTER(blocks),
    COUNTER(blocks_run),
    COUNTER(warps),
    COUNTER(inst_executed),
    COUNTER(thread_inst_executed),
    COUNTER(tensor_flops),
    COUNTER(fp32_flops),
    COUNTER(branches),
    COUNTER(branches_divergent),
    COUNTER(barriers),
    COUNTER(global_ld_requests),
    COUNTER(global_ld_sectors),
    COUNTER(global_st_requests),
    COUNTER(global_st_sectors),
    COUNTER(global_atom_requests),
    COUNTER(global_atom_sectors),
    COUNTER(global_red_requests),
    COUNTER(global_red_sectors),
    COUNTER(async_requests),
    COUNTER(async_sectors),
    COUNTER(async_wavefronts),
    COUNTER(async_wavefronts_ideal),
    COUNTER(l1_sectors),
    COUNTER(l1_sector_hits),
    COUNTER(shared_merged),
    COUNTER(shared_ld_requests),
    COUNTER(shared_ld_wavefronts),
    COUNTER(shared_ld_wavefronts_ideal),
    COUNTER(shared_st_requests),
    COUNTER(shared_st_wavefronts),
    COUNTER(shared_st_wavefronts_ideal),
    COUNTER(ldmatrix_requests),
    COUNTER(ldmatrix_wavefronts),
    COUNTER(ldmatrix_wavefronts_ideal),
    COUNTER(shared_atom_requests),
    COUNTER(shared_atom_wavefronts),
    COUNTER(shared_atom_wavefronts_ideal),
    COUNTER(local_ld_requests),
    COUNTER(local_ld_sectors),
    COUNTER(local_st_requests),
    COUNTER(local_st_sectors),
    COUNTER(l2_sectors_read),
    COUNTER(l2_sectors_write),
    COUNTER(l2_sector_hits),
    COUNTER(dram_bytes_read),
    COUNTER(dram_bytes_write),
#undef COUNTER
};

static void put_counters(struct json *j, const struct result *r)
{
    if (!r->has_counters) {
        json_string(j, "counters", NULL);
        return;
    }
    json_open(j, "counters", '{');
    for (size_t i = 0; i < sizeof counter_keys / sizeof *counter_keys; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&r->counters + counter_keys[i].offset, sizeof value);
        json_whole(j, counter_keys[i].key, value);
    }
    for (int pipe = 0; pipe < SIM_PIPES; pipe++) {
        char key[40];
        snprintf(key, sizeof key, "inst_executed_pipe_%.20s", sim_pipe_name(pipe));
        json_whole(j, key, r->counters.pipe[pipe]);
    }
    json_number(j, "occupancy_pct", r->occupancy.percent);
    json_string(j, "occupancy_limiter", r->occupancy.limiter);
    json_number(j, "registers_per_thread", r->occupancy.registers_per_thread);
    json_bool(j, "registers_exact", r->occupancy.registers_exact);
    json_whole(j, "local_bytes_per_thread", r->occupancy.local_bytes);
    json_close(j, '}');
}

static void put_faults(struct json *j, const struct result *r)
{
    json_open(j, "faults", '[');
    for (int i = 0; i < r->fault_count; i++) {
        const struct sim_fault *fault = &r->faults[i];
        json_open(j, NULL, '{');
        json_string(j, "kind", sim_fault_name(fault->kind));
        json_string(j, "file", fault->file);
        json_number(j, "line", fault->line);
        json_open(j, "block", '[');
        for (int axis = 0; axis < 3; axis++)
            json_whole(j, NULL, fault->block[axis]);
        json_close(j, ']');
        json_open(j, "thread", '[');
        for (int axis = 0; axis < 3; axis++)
            json_whole(j, NULL, fault->thread[axis]);
        json_close(j, ']');
        json_string(j, "detail", fault->detail);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_peaks(struct json *j, const struct row *row, const struct card *cards,
                      int card_count)
{
    json_open(j, "peak", '{');
    json_number(j, "this", row_peak(row, NULL, NULL));
    for (int i = 0; i < card_count; i++)
        json_number(j, cards[i].label, row_peak(row, &cards[i], NULL));
    json_close(j, '}');
    json_open(j, "pct", '{');
    json_number(j, "this", row_percent(row, NULL));
    for (int i = 0; i < card_count; i++)
        json_number(j, cards[i].label, row_percent(row, &cards[i]));
    json_close(j, '}');
}

void json_write_row(FILE *out, const struct row *row, const struct card *cards,
                    int card_count)
{
    static const char *const backends[] = {
        [BACKEND_GPU] = "gpu", [BACKEND_SIM] = "sim", [BACKEND_CPU] = "cpu"};
    const struct result *r = &row->result;
    const struct kernel_info *info = &r->rung.info;
    bool passed = row_passed(row), timed = passed || !row_failed(row);
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    json_number(&j, "lesson", rung_lesson(&r->rung));
    json_string(&j, "kernel", rung_name(&r->rung));
    json_bool(&j, "exercise", r->rung.is_exercise);
    if (r->rung.call) {
        json_string(&j, "entry", r->rung.call->entry);
        json_string(&j, "source", r->rung.image->origin);
    }
    json_string(&j, "device", r->device->id);
    json_string(&j, "device_name", r->device->name);
    json_string(&j, "backend", backends[r->device->backend]);
    json_whole(&j, "m", r->size.m);
    json_whole(&j, "n", r->size.n);
    json_whole(&j, "k", r->size.k);
    json_string(&j, "unit", unit_key(info->unit));
    json_string(&j, "in", kernel_type_name(info->in));
    json_string(&j, "acc", kernel_type_name(info->acc));
    json_string(&j, "out", kernel_type_name(info->out));
    json_number(&j, "time_ms", timed && r->time_ms > 0 ? r->time_ms : NAN);
    json_string(&j, "time_kind", r->predicted ? "predicted" : "measured");
    json_bool(&j, "sampled", r->sampled || row->timed_rows > 0);
    json_number(&j, "reps", r->reps);
    json_number(&j, "spread_pct", r->spread_pct);
    json_number(&j, "tflops", passed && r->tflops > 0 ? r->tflops : NAN);
    put_peaks(&j, row, cards, card_count);
    json_number(&j, "x_cpu", passed && row->x_cpu > 0 ? row->x_cpu : NAN);
    bool judged = r->verdict.kind != VERDICT_SKIPPED && r->verdict.cells > 0;
    json_number(&j, "error", judged ? r->verdict.error : NAN);
    json_number(&j, "error_bound", judged ? r->verdict.bound : NAN);
    json_string(&j, "check", passed ? "pass" : row_failed(row) ? "fail" : "skipped");
    json_string(&j, "verdict", verdict_name(r->verdict.kind));
    json_string(&j, "reason", r->verdict.reason[0] ? r->verdict.reason : NULL);
    json_string(&j, "bound_by",
                r->predicted && timed && r->time_ms > 0 ? sim_bound_name(r->bound_by)
                                                        : NULL);
    put_counters(&j, r);
    put_faults(&j, r);
    struct unit_text driver = format_cuda_version(r->device->driver_version);
    json_string(&j, "driver", r->device->backend == BACKEND_GPU ? driver.s : NULL);
    json_string(&j, "compiler", r->rung.call ? NULL : registry_compiler);
    json_string(&j, "version", registry_version);
    json_close(&j, '}');
    json_line_end(&j);
}

/* --- the file -------------------------------------------------------------------- */

bool json_file_open(struct json_file *json, const char *path, struct error *err)
{
    *json = (struct json_file){0};
    if (strcmp(path, "-") == 0) {
        json->stream = stdout;
        return true;
    }
    if (!output_file_open(&json->file, path))
        return error_set(err, EXIT_USAGE, "--json: `%.200s` cannot be written: %s", path,
                         strerror(errno));
    json->stream = json->file.stream;
    return true;
}

bool json_file_close(struct json_file *json, bool keep, struct error *err)
{
    bool on_disk = json->file.stream != NULL;
    char path[201];
    json->stream = NULL;
    if (!on_disk)
        return true;
    snprintf(path, sizeof path, "%s", json->file.path);
    return output_file_close(&json->file, keep) ||
           error_set(err, EXIT_OURS, "--json: writing `%s` failed: %s", path,
                     errno ? strerror(errno) : "the device is full or gone");
}
