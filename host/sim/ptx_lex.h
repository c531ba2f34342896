/* ptx_lex.h - PTX text -> tokens. */
#ifndef PEAKBOUND_SIM_PTX_LEX_H
#define PEAKBOUND_SIM_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD, /* identifier, with %, $, _ : add  %r1  $L__BB0_2  foo */
    TOKEN_DOT,  /* directive or suffix: text is what follows the dot */
    TOKEN_INT,
    TOKEN_F32, /* 0fXXXXXXXX or a decimal: value is the bits */
    TOKEN_F64,
    TOKEN_STRING,
    TOKEN_PUNCT, /* one character in punct */
    TOKEN_BAD
};

struct token {
    enum token_kind kind;
    const char *text; /* start in the source */
    size_t length;
    char punct;
    uint64_t value;
    int line, col;
    bool spaced; /* white space stood before it */
};

struct lexer {
    const char *at, *end, *line_start;
    int line;
    struct token token; /* the current one */
};

void lex_start(struct lexer *lex, const char *text, size_t length);
void lex_next(struct lexer *lex);

#endif
