/* json.h - results for programs: one JSON object a line (RFC 8259, UTF-8).
 *
 * NaN and infinities become null, unknown values null; every key is always
 * there. The keys of a result are fixed: plots and graders read them.
 */
#ifndef PEAKBOUND_REPORT_JSON_H
#define PEAKBOUND_REPORT_JSON_H

#include <stdio.h>

#include "../output_file.h"
#include "row.h"

/* Writes members in order, with the commas. `key` NULL inside an array. */
struct json {
    FILE *out;
    bool comma; /* one is due before the next member */
};
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_string(struct json *j, const char *key, const char *text); /* NULL: null */
void json_number(struct json *j, const char *key, double value);
void json_whole(struct json *j, const char *key, unsigned long long value);
void json_bool(struct json *j, const char *key, bool value);
void json_line_end(struct json *j);

/* One result, one line. */
void json_write_row(FILE *out, const struct row *row, const struct card *cards,
                    int card_count);

/* "-" is standard output, anything else an output_file. */
struct json_file {
    FILE *stream; /* write here */
    struct output_file file;
};
bool json_file_open(struct json_file *json, const char *path, struct error *err);
/* keep false: remove it. */
bool json_file_close(struct json_file *json, bool keep, struct error *err);

#endif
