/* forms.c - see forms.h. */
#include "forms.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- expressions ------------------------------------------------------------------- */

struct reader {
    const char *at;
    int thread;
    bool bad;
};

static uint64_t read_sum(struct reader *r, int level);

static uint64_t read_unit(struct reader *r)
{
    char c = *r->at;
    if (c == '(') {
        r->at++;
        uint64_t value = read_sum(r, 0);
        r->bad |= *r->at != ')';
        r->at += *r->at == ')';
        return value;
    }
    if (c == '~' || c == '-') {
        r->at++;
        uint64_t value = read_unit(r);
        return c == '~' ? ~value : 0 - value;
    }
    if (c == 'L' || c == 'T') {
        r->at++;
        return (uint64_t)(c == 'L' ? r->thread % 32 : r->thread);
    }
    char *end;
    uint64_t value = strtoull(r->at, &end, 0);
    r->bad |= end == r->at;
    r->at = end;
    return value;
}

/* Levels from loose to tight: ^ & <<>> +- * */
static uint64_t read_sum(struct reader *r, int level)
{
    static const char *const operators[] = {"^", "&", "<>", "+-", "*"};
    if (level == 5 || r->bad)
        return read_unit(r);
    uint64_t value = read_sum(r, level + 1);
    while (!r->bad && *r->at != '\0' && strchr(operators[level], *r->at) != NULL) {
        char c = *r->at++;
        r->at += c == '<' || c == '>';
        uint64_t right = read_sum(r, level + 1);
        value = c == '^'   ? value ^ right
                : c == '&' ? value & right
                : c == '<' ? value << (right & 63)
                : c == '>' ? value >> (right & 63)
                : c == '+' ? value + right
                : c == '-' ? value - right
                           : value * right;
    }
    return value;
}

bool form_value(const char *expression, int thread, uint64_t *value)
{
    struct reader r = {expression, thread, false};
    *value = read_sum(&r, 0);
    return !r.bad && *r.at == '\0';
}

/* --- files -------------------------------------------------------------------------- */

static char *trim(char *text)
{
    while (*text == ' ')
        text++;
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\n'))
        text[--length] = '\0';
    return text;
}

/* a=r:5 b=r:L */
static bool read_registers(char *text, struct form_register *list, int *count)
{
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        uint64_t value;
        if (*count == FORM_MOST_REGISTERS || strlen(word) < 5 || word[1] != '=' ||
            strchr("hrlqp", word[2]) == NULL || word[3] != ':' ||
            strlen(word + 4) >= sizeof list->value || !form_value(word + 4, 0, &value))
            return false;
        struct form_register *reg = &list[(*count)++];
        reg->name = word[0];
        reg->kind = word[2];
        strcpy(reg->value, word + 4);
    }
    return true;
}

static bool read_setting(char *line, struct form *form)
{
    if (sscanf(line, "#target %15s", form->target) == 1)
        return true;
    if (sscanf(line, "#threads %d", &form->threads) == 1)
        return form->threads > 0 && form->threads <= FORM_MOST_THREADS;
    if (strncmp(line, "#module", 7) == 0)
        snprintf(form->module, sizeof form->module, "%s", trim(line + 7));
    return true;
}

static bool read_case(char *line, struct form *form)
{
    /* " | " splits: d|p has no blanks */
    char *in = strstr(line, " | "), *out = in != NULL ? strstr(in + 3, " | ") : NULL;
    if (in == NULL)
        return false;
    *in = '\0';
    in = trim(in + 3);
    form->in_count = form->out_count = 0;
    form->refused[0] = '\0';
    snprintf(form->body, sizeof form->body, "%s", trim(line));
    if (strncmp(in, "refused: ", 9) == 0) {
        snprintf(form->refused, sizeof form->refused, "%s", in + 9);
        return true;
    }
    if (out == NULL)
        return false;
    *out = '\0';
    return read_registers(trim(in), form->in, &form->in_count) &&
           read_registers(trim(out + 3), form->out, &form->out_count) &&
           form->out_count > 0;
}

bool form_read(const char *path, void (*each)(void *context, const struct form *form),
               void *context, char *wrong, int room)
{
    FILE *file = fopen(path, "r");
    snprintf(wrong, (size_t)room, "cannot read %s", path);
    if (file == NULL)
        return false;
    static char line[4096];
    struct form form = {.file = path, .target = "sm_80", .threads = 32};
    bool good = true;
    while (good && fgets(line, sizeof line, file) != NULL) {
        form.line++;
        char *text = trim(line);
        if (text[0] == '#')
            good = read_setting(text, &form);
        else if (text[0] != '\0' && (good = read_case(text, &form)))
            each(context, &form);
    }
    fclose(file);
    if (!good)
        snprintf(wrong, (size_t)room, "%s:%d is no case", path, form.line);
    return good;
}

/* --- the kernel --------------------------------------------------------------------- */

struct writer {
    char *text;
    int used, room;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w,
                                                      const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int room = w->room > w->used ? w->room - w->used : 0;
    w->used += vsnprintf(w->text + (room > 0 ? w->used : 0), (size_t)room, format, list);
    va_end(list);
}

static const char *class_of(char kind)
{
    return kind == 'h'   ? "b16"
           : kind == 'r' ? "b32"
           : kind == 'l' ? "b64"
           : kind == 'q' ? "b128"
                         : "pred";
}

static void put_load(struct writer *w, const struct form_register *reg, int at)
{
    if (reg->kind == 'p')
        put(w, "ld.global.b32 %%w, [%%io+%d];\nsetp.ne.u32 %c, %%w, 0;\n", at, reg->name);
    else if (reg->kind == 'q')
        put(w, "ld.global.b64 %%x, [%%io+%d];\nmov.b128 %c, {%%x, %%x};\n", at,
            reg->name);
    else
        put(w, "ld.global.%s %c, [%%io+%d];\n", class_of(reg->kind), reg->name, at);
}

static void put_store(struct writer *w, const struct form_register *reg, int at)
{
    if (reg->kind == 'p')
        put(w, "selp.b32 %%w, 1, 0, %c;\nst.global.b32 [%%io+%d], %%w;\n", reg->name, at);
    else if (reg->kind == 'q')
        put(w, "mov.b128 {%%x, %%y}, %c;\nst.global.v2.b64 [%%io+%d], {%%x, %%y};\n",
            reg->name, at);
    else
        put(w, "st.global.%s [%%io+%d], %c;\n", class_of(reg->kind), at, reg->name);
}

bool form_text(const struct form *form, char *text, int room)
{
    struct writer w = {text, 0, room};
    bool known[128] = {false};
    put(&w,
        ".version 8.4\n.target %s\n.address_size 64\n"
        ".const .align 16 .u32 cm[4] = {11, 22, 33, 44};\n%s\n"
        ".visible .entry k(.param .u64 io)\n{\n"
        ".reg .b64 %%io, %%g, %%G, %%x, %%y;\n.reg .b32 %%w, %%n;\n"
        ".shared .align 128 .b8 sm[1024];\n.local .align 16 .b8 lm[64];\n",
        form->target, form->module);
    for (int i = 0; i < form->in_count + form->out_count; i++) {
        const struct form_register *reg =
            i < form->in_count ? &form->in[i] : &form->out[i - form->in_count];
        if (!known[(int)reg->name])
            put(&w, ".reg .%s %c;\n", class_of(reg->kind), reg->name);
        known[(int)reg->name] = true;
    }
    put(&w,
        "ld.param.u64 %%io, [io];\ncvta.to.global.u64 %%io, %%io;\n"
        "mov.u32 %%w, %%tid.x;\nmov.u32 %%n, %%ntid.x;\n"
        "mad.wide.u32 %%G, %%n, %d, %%io;\nmad.wide.u32 %%g, %%w, 64, %%G;\n"
        "mad.wide.u32 %%io, %%w, %d, %%io;\n",
        FORM_SLOT * FORM_MOST_REGISTERS, FORM_SLOT * FORM_MOST_REGISTERS);
    for (int i = 0; i < form->in_count; i++)
        put_load(&w, &form->in[i], FORM_SLOT * i);
    put(&w, "%s\n", form->body);
    for (int i = 0; i < form->out_count; i++)
        put_store(&w, &form->out[i], FORM_SLOT * i);
    put(&w, "ret;\n}\n");
    return w.used < w.room;
}
