/* flags.c - see flags.h. */
#include "flags.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../nearest.h"
#include "../report/style.h"

static bool is_common(const char *name, size_t length, const char *common)
{
    return strlen(common) == length && strncmp(name, common, length) == 0;
}

static const struct flag *find_flag(const struct flag_table *table, const char *name,
                                    size_t length)
{
    for (int i = 0; i < table->count; i++)
        if (is_common(name, length, table->flags[i].name))
            return &table->flags[i];
    return NULL;
}

static bool unknown_flag(const struct flag_table *table, const char *word, size_t length,
                         struct error *err)
{
    const char *names[64];
    char name[40];
    int count = 0;
    for (int i = 0; i < table->count && i < 64; i++)
        names[count++] = table->flags[i].name;
    snprintf(name, sizeof name, "%.*s", (int)(length < 39 ? length : 39), word + 2);
    const char *nearest = name_nearest(name, names, count);
    if (nearest)
        return error_set(err, EXIT_USAGE,
                         "`%.60s` is no option of %s: did you mean --%s?", word,
                         table->usage, nearest);
    return error_set(err, EXIT_USAGE, "`%.60s` is no option of %s: add --help for a list",
                     word, table->usage);
}

static bool take_number(const struct flag *flag, const char *text, struct error *err)
{
    char *end = NULL;
    errno = 0;
    bool whole = flag->kind == FLAG_WHOLE;
    bool starts = isdigit((unsigned char)*text) || (!whole && *text == '.');
    unsigned long long count = starts && whole ? strtoull(text, &end, 10) : 0;
    double value = starts && !whole ? strtod(text, &end) : (double)count;
    if (!starts || errno != 0 || *end != '\0' || !isfinite(value) || value < flag->from ||
        value > flag->to)
        return error_set(err, EXIT_USAGE,
                         "--%s: `%.60s` will not do: give a %snumber from %.10g to %.10g",
                         flag->name, text, whole ? "whole " : "", flag->from, flag->to);
    if (whole)
        *(uint64_t *)flag->into = count;
    else
        *(double *)flag->into = value;
    return true;
}

static bool take_choice(const struct flag *flag, const char *text, struct error *err)
{
    enum { CHOICES = sizeof flag->choices / sizeof *flag->choices };
    char list[200] = "";
    for (int i = 0; i < CHOICES && flag->choices[i]; i++) {
        size_t used = strlen(list);
        if (strcmp(text, flag->choices[i]) == 0) {
            *(int *)flag->into = i;
            return true;
        }
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                 flag->choices[i]);
    }
    return error_set(err, EXIT_USAGE, "--%s: `%.60s` will not do: give one of %s",
                     flag->name, text, list);
}

static bool take_value(const struct flag *flag, const char *text, struct error *err)
{
    switch (flag->kind) {
    case FLAG_SWITCH:
        *(bool *)flag->into = true;
        return true;
    case FLAG_TEXT:
        if (*text == '\0')
            return error_set(err, EXIT_USAGE, "--%s: the value is empty: give --%s %s",
                             flag->name, flag->name, flag->argument);
        *(const char **)flag->into = text;
        return true;
    case FLAG_CHOICE:
        return take_choice(flag, text, err);
    case FLAG_WHOLE:
    case FLAG_REAL:
        break;
    }
    return take_number(flag, text, err);
}

/* Take the option at argv[*index] and its value; *index moves to the last word used. */
static bool take_flag(int argc, char **argv, int *index, const struct flag_table *table,
                      struct error *err)
{
    const char *word = argv[*index], *equals = strchr(word, '=');
    size_t length = (equals ? (size_t)(equals - word) : strlen(word)) - 2;
    const struct flag *flag = find_flag(table, word + 2, length);
    const char *value = equals ? equals + 1 : NULL;
    if (!flag)
        return unknown_flag(table, word, length, err);
    if (flag->kind == FLAG_SWITCH && value)
        return error_set(err, EXIT_USAGE, "--%s: `%.60s` will not do: it takes no value",
                         flag->name, value);
    if (flag->kind != FLAG_SWITCH && !value) {
        if (*index + 1 == argc || strncmp(argv[*index + 1], "--", 2) == 0)
            return error_set(err, EXIT_USAGE, "--%s needs a value: --%s %s", flag->name,
                             flag->name, flag->argument);
        value = argv[++*index];
    }
    return take_value(flag, value, err);
}

static void print_help(const struct flag_table *table)
{
    printf("usage: %s\n\n%s\n\n", table->usage, table->summary);
    for (int i = 0; i < table->count; i++) {
        const struct flag *flag = &table->flags[i];
        char left[60];
        snprintf(left, sizeof left, "  --%s%s%s", flag->name, flag->argument ? " " : "",
                 flag->argument ? flag->argument : "");
        const char *line = flag->help;
        for (const char *shown = left; line; shown = "") {
            const char *end = strchr(line, '\n');
            printf("%-24s %.*s\n", shown, end ? (int)(end - line) : (int)strlen(line),
                   line);
            line = end ? end + 1 : NULL;
        }
    }
    printf("%-24s %s\n%-24s %s\n", "  --no-color", "no colour, whatever the terminal is",
           "  --help", "this text");
}

enum flags_read flags_parse(int argc, char **argv, const struct flag_table *table,
                            const char **words, int *word_count, struct error *err)
{
    bool no_color = false;
    if (word_count)
        *word_count = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(table);
            return FLAGS_HELP;
        }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-color") == 0) {
            no_color = true;
        } else if (strncmp(argv[i], "--", 2) == 0) {
            if (!take_flag(argc, argv, &i, table, err))
                return FLAGS_BAD;
        } else if (!word_count || *word_count == table->word_limit) {
            error_set(err, EXIT_USAGE, "`%.60s` has no place in %s: add --help", argv[i],
                      table->usage);
            return FLAGS_BAD;
        } else {
            words[(*word_count)++] = argv[i];
        }
    }
    style_init(no_color);
    return FLAGS_GOOD;
}

bool flags_read_scaled(const char *text, double *value)
{
    static const struct {
        char letter;
        double factor;
    } scales[] = {{'K', 1e3},  {'M', 1e6},  {'B', 1e9}, {'G', 1e9},
                  {'T', 1e12}, {'P', 1e15}, {'E', 1e18}};
    char *end = NULL;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (*end && toupper((unsigned char)*end) == scales[i].letter && end[1] == '\0') {
            number *= scales[i].factor;
            end++;
        }
    if (end == text || *end != '\0' || !isfinite(number))
        return false;
    *value = number;
    return true;
}
