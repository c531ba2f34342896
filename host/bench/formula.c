/* formula.c - see formula.h: one function a rule of the grammar. */
#include "formula.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 50 };
static const int64_t LARGEST = 1ll << 53;

struct reader {
    const char *text, *at;
    struct size size;
    int depth;
    struct error *err;
};

static bool fail(struct reader *r, const char *what)
{
    return error_set(r->err, EXIT_USAGE,
                     "`%.80s`: %s at `%.20s`; a formula has numbers, M, N, K, + - * / "
                     "(which rounds up) and ( )",
                     r->text, what, *r->at ? r->at : "its end");
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool read_sum(struct reader *r, int64_t *value);

static bool read_group(struct reader *r, int64_t *value)
{
    if (++r->depth > DEEPEST)
        return fail(r, "too many ( inside each other");
    r->at++;
    if (!read_sum(r, value))
        return false;
    if (*r->at != ')')
        return fail(r, "a ) is missing");
    r->at++;
    r->depth--;
    return true;
}

static bool read_number(struct reader *r, int64_t *value)
{
    *value = 0;
    while (isdigit((unsigned char)*r->at)) {
        *value = *value * 10 + (*r->at - '0');
        if (*value > LARGEST)
            return fail(r, "the number is too large");
        r->at++;
    }
    return true;
}

static bool read_factor(struct reader *r, int64_t *value)
{
    static const char names[] = "MNK";
    const size_t sides[] = {r->size.m, r->size.n, r->size.k};
    skip_blanks(r);
    bool good = true;
    const char *name = *r->at ? strchr(names, toupper((unsigned char)*r->at)) : NULL;
    if (isdigit((unsigned char)*r->at)) {
        good = read_number(r, value);
    } else if (name && !isalnum((unsigned char)r->at[1])) {
        *value = (int64_t)sides[name - names];
        r->at++;
    } else if (strncmp(r->at, "ceil(", 5) == 0) {
        r->at += 4;
        good = read_group(r, value);
    } else if (*r->at == '(') {
        good = read_group(r, value);
    } else {
        return fail(r, "a number, M, N, K or ( should stand");
    }
    skip_blanks(r);
    return good;
}

static bool read_product(struct reader *r, int64_t *value)
{
    if (!read_factor(r, value))
        return false;
    while (*r->at == '*' || *r->at == '/') {
        char operation = *r->at++;
        int64_t right;
        if (!read_factor(r, &right))
            return false;
        if (operation == '/' && right == 0)
            return fail(r, "division by zero");
        if (operation == '/')
            *value = *value / right + (*value % right != 0);
        else if (__builtin_mul_overflow(*value, right, value) || *value > LARGEST)
            return fail(r, "the product is too large");
    }
    return true;
}

static bool read_sum(struct reader *r, int64_t *value)
{
    if (!read_product(r, value))
        return false;
    while (*r->at == '+' || *r->at == '-') {
        char operation = *r->at++;
        int64_t right;
        if (!read_product(r, &right))
            return false;
        *value = operation == '+' ? *value + right : *value - right;
        if (*value < 0 || *value > LARGEST)
            return fail(r, *value < 0 ? "below zero" : "the sum is too large");
    }
    return true;
}

bool formula_evaluate(const char *text, struct size size, uint64_t *value,
                      struct error *err)
{
    struct reader r = {.text = text, .at = text, .size = size, .err = err};
    int64_t result;
    if (!read_sum(&r, &result))
        return false;
    if (*r.at != '\0')
        return fail(&r, "an operator or the end should stand");
    *value = (uint64_t)result;
    return true;
}

bool formula_is_tiles(const char *text, char *side, int *tile)
{
    char copy[40];
    int used = 0, length = (int)strlen(text);
    bool wrapped = strncmp(text, "ceil(", 5) == 0 && text[length - 1] == ')';
    snprintf(copy, sizeof copy, "%.*s", wrapped ? length - 6 : length,
             wrapped ? text + 5 : text);
    if (sscanf(copy, "%c/%5d%n", side, tile, &used) != 2 || copy[used] != '\0')
        return false;
    *side = (char)toupper((unsigned char)*side);
    return *tile > 0 && strchr("MNK", *side) != NULL;
}
