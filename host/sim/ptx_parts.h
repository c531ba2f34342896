/* ptx_parts.h - what the parts of the PTX parser share.
 *
 * ptx_parse.c     module level: directives, functions, scopes, names
 * ptx_statement.c instructions and operands
 * ptx_variable.c  declarations and initial values
 * ptx_lines.c     source lines
 */
#ifndef PEAKBOUND_SIM_PTX_PARTS_H
#define PEAKBOUND_SIM_PTX_PARTS_H

#include "ptx.h"
#include "ptx_lex.h"

enum {
    PTX_LIMIT_DEPTH = 64,
    PTX_LIMIT_REGS = 1000000,
    PTX_LIMIT_INSNS = 8000000,
    PTX_LIMIT_INIT = 256 << 20,
    PTX_LIMIT_ARENA_MIB = 1024
};

enum bind_kind { BIND_REG, BIND_REG_SET, BIND_VAR, BIND_LABEL, BIND_TABLE };

/* What a name means in one scope; `outer` is what it meant outside. */
struct binding {
    enum bind_kind kind;
    int index; /* register, instruction or table index */
    int count; /* of a register set */
    enum ptx_type type;
    struct ptx_var *var;
    int depth;
    struct name *name;
    struct binding *outer;      /* same name, enclosing scope */
    struct binding *scope_next; /* same scope, another name */
};

struct name {
    const char *text;
    size_t length;
    uint32_t hash;
    struct binding *binding;
    struct ptx_function *function; /* the one of this name */
    int table; /* of the function being read: index + 1 of its .branchtargets, or 0 */
    struct name *next;
};

/* A label that was used before it was known. */
struct fixup {
    int *target;
    struct name *name;
    int depth, line, col;
    struct fixup *next;
};

struct place {
    int file, line, col;
};
/* Code of an inlined function: where it was written, where the function was called, and
 * which of the two a reader is told. */
struct inlined {
    struct place place, call, shown;
};

struct parser {
    struct lexer lex;
    struct ptx_module *module;
    struct error *err;
    bool failed;
    struct binding *scopes[PTX_LIMIT_DEPTH + 1];
    int depth;
    struct fixup *fixups;
    /* the function being read */
    struct ptx_function *function;
    int reg_room, insn_room, var_room, table_room;
    struct place place; /* the latest .loc */
    int inlined;        /* its number in inlines[] + 1, or 0 */
    struct inlined *inlines;
    int inlined_count, inlined_room;
    int file_room;
    uint64_t init_bytes;
};

bool parse_fail(struct parser *p, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool parse_expected(struct parser *p, const char *what);

static inline bool at_punct(const struct parser *p, char c)
{
    return p->lex.token.kind == TOKEN_PUNCT && p->lex.token.punct == c;
}
bool token_is(const struct token *token, const char *text);
bool accept_punct(struct parser *p, char c);
bool expect_punct(struct parser *p, char c);

/* Grow *array (arena) to hold count + 1 elements. */
void *parse_grow(struct parser *p, void *array, int count, int *room, size_t size);

struct name *parse_name(struct parser *p, const char *text, size_t length);
struct binding *parse_bind(struct parser *p, struct name *name, enum bind_kind kind,
                           int depth);
bool parse_scope_open(struct parser *p);
void parse_scope_close(struct parser *p);
/* The register that the name stands for; -1 if it is none. */
int parse_register(struct parser *p, struct name *name);
int parse_add_register(struct parser *p, const char *name, enum ptx_type type);

/* A variable or register declaration at the current token (".reg", ".global" ...).
 * Module scope if p->function is NULL. */
bool parse_variable(struct parser *p, bool is_extern, bool is_visible);
/* One .param of a function's list; returns NULL after parse_fail. */
struct ptx_var *parse_parameter(struct parser *p);
/* .reg .b32 x;  as a parameter of old PTX: also a variable */
bool parse_constant(struct parser *p, int64_t *value);
uint64_t parse_align_up(uint64_t value, uint64_t align);

/* After `.loc`; and when all of the text is read. */
bool parse_loc(struct parser *p);
void parse_lines_end(struct parser *p);

/* One statement of a body: instruction, label, directive or nested scope. */
bool parse_statement(struct parser *p);

#endif
