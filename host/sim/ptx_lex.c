/* ptx_lex.c - PTX text -> tokens with line and column (PTX ISA 9.0, 4.3 to 4.5). */
#include "ptx_lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           c == '%';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           is_digit(c);
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* From the opening of a comment to behind its end. One without an end is left as it is,
 * for the parser to stumble over. */
static bool skip_comment(struct lexer *lex)
{
    struct lexer begin = *lex;
    for (lex->at += 2; lex->at + 1 < lex->end; lex->at++) {
        if (lex->at[0] == '*' && lex->at[1] == '/') {
            lex->at += 2;
            return true;
        }
        if (*lex->at == '\n') {
            lex->line++;
            lex->line_start = lex->at + 1;
        }
    }
    *lex = begin;
    return false;
}

/* White space and comments; true if there was any. */
static bool skip_space(struct lexer *lex)
{
    const char *start = lex->at;
    while (lex->at < lex->end) {
        char c = *lex->at;
        if (c == '\n') {
            lex->line++;
            lex->line_start = ++lex->at;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lex->at++;
        } else if (c == '/' && lex->at + 1 < lex->end && lex->at[1] == '/') {
            const char *newline = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
            lex->at = newline != NULL ? newline : lex->end;
        } else if (c == '/' && lex->at + 1 < lex->end && lex->at[1] == '*') {
            if (!skip_comment(lex))
                break;
        } else {
            break;
        }
    }
    return lex->at != start;
}

/* 0f3F800000 or 0d3FF0000000000000: exact bits. */
static bool lex_exact_float(struct lexer *lex)
{
    char mark = lex->at + 1 < lex->end ? lex->at[1] : 0;
    int digits = mark == 'f' || mark == 'F' ? 8 : mark == 'd' || mark == 'D' ? 16 : 0;
    if (digits == 0 || lex->end - lex->at < digits + 2)
        return false;
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(lex->at[2 + i]);
        if (digit < 0)
            return false;
        bits = bits << 4 | (uint64_t)digit;
    }
    lex->at += digits + 2;
    lex->token.kind = digits == 8 ? TOKEN_F32 : TOKEN_F64;
    lex->token.value = bits;
    return true;
}

static void lex_integer(struct lexer *lex)
{
    int base = 10;
    if (*lex->at == '0' && lex->at + 1 < lex->end) {
        char mark = lex->at[1];
        if (mark == 'x' || mark == 'X')
            base = 16;
        else if (mark == 'b' || mark == 'B')
            base = 2;
        else if (is_digit(mark))
            base = 8;
        lex->at += base == 16 || base == 2 ? 2 : 0;
    }
    uint64_t value = 0;
    bool overflow = false, any = false;
    for (; lex->at < lex->end; lex->at++) {
        int digit = hex_digit(*lex->at);
        if (digit < 0 || digit >= base)
            break;
        any = true;
        overflow |= value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    if (lex->at < lex->end && *lex->at == 'U')
        lex->at++;
    bool bad = !any || overflow || (lex->at < lex->end && is_word(*lex->at));
    lex->token.kind = bad ? TOKEN_BAD : TOKEN_INT;
    lex->token.value = value;
}

/* A decimal floating-point literal, if that is what stands here. */
static bool lex_decimal_float(struct lexer *lex)
{
    const char *p = lex->at;
    while (p < lex->end && is_digit(*p))
        p++;
    bool fraction = p + 1 < lex->end && *p == '.' && is_digit(p[1]);
    if (fraction)
        for (p++; p < lex->end && is_digit(*p);)
            p++;
    bool exponent = false;
    if (p < lex->end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < lex->end && (*q == '+' || *q == '-'))
            q++;
        if (q < lex->end && is_digit(*q)) {
            exponent = true;
            while (q < lex->end && is_digit(*q))
                q++;
            p = q;
        }
    }
    if (!fraction && !exponent)
        return false;
    char copy[64];
    size_t length = (size_t)(p - lex->at);
    if (length >= sizeof copy)
        return false;
    memcpy(copy, lex->at, length);
    copy[length] = '\0';
    double value = strtod(copy, NULL);
    memcpy(&lex->token.value, &value, sizeof value);
    lex->token.kind = TOKEN_F64;
    lex->at = p;
    return true;
}

static void lex_string(struct lexer *lex)
{
    lex->at++;
    lex->token.text = lex->at;
    while (lex->at < lex->end && *lex->at != '"' && *lex->at != '\n')
        lex->at += *lex->at == '\\' && lex->at + 1 < lex->end ? 2 : 1;
    lex->token.length = (size_t)(lex->at - lex->token.text);
    lex->token.kind = lex->at < lex->end && *lex->at == '"' ? TOKEN_STRING : TOKEN_BAD;
    if (lex->at < lex->end)
        lex->at++;
}

void lex_start(struct lexer *lex, const char *text, size_t length)
{
    const char *nul = memchr(text, '\0', length);
    memset(lex, 0, sizeof *lex);
    lex->at = lex->line_start = text;
    lex->end = nul != NULL ? nul : text + length;
    lex->line = 1;
}

void lex_next(struct lexer *lex)
{
    struct token *token = &lex->token;
    token->spaced = skip_space(lex);
    token->text = lex->at;
    token->line = lex->line;
    token->col = (int)(lex->at - lex->line_start) + 1;
    token->value = 0;
    token->punct = 0;
    if (lex->at >= lex->end) {
        token->kind = TOKEN_END;
        token->length = 0;
        return;
    }
    char c = *lex->at;
    char next = lex->at + 1 < lex->end ? lex->at[1] : '\0';
    if (c == '"') {
        lex_string(lex);
        return;
    }
    if (is_word_start(c) || (c == '.' && (is_word_start(next) || is_digit(next)))) {
        token->kind = c == '.' ? TOKEN_DOT : TOKEN_WORD;
        lex->at++;
        token->text = c == '.' ? lex->at : token->text;
        while (lex->at < lex->end) {
            if (is_word(*lex->at))
                lex->at++;
            else if (c == '.' && lex->end - lex->at > 2 && lex->at[0] == ':' &&
                     lex->at[1] == ':' && is_word(lex->at[2]))
                lex->at += 2;
            else
                break;
        }
    } else if (is_digit(c)) {
        if (!(c == '0' && lex_exact_float(lex)) && !lex_decimal_float(lex))
            lex_integer(lex);
    } else {
        token->kind = TOKEN_PUNCT;
        token->punct = c;
        lex->at++;
    }
    token->length = (size_t)(lex->at - token->text);
}
