/* ptx_variable.c - declarations of the PTX parser: registers, variables, initial
 * values, constant expressions (PTX ISA 9.0, 4.5, 4.6 and 5.4). */
#include <stdio.h>
#include <string.h>

#include "ptx_parts.h"

uint64_t parse_align_up(uint64_t value, uint64_t align)
{
    return align <= 1 ? value : (value + align - 1) / align * align;
}

static bool token_type(struct parser *p, enum ptx_type *type)
{
    char text[16];
    const struct token *token = &p->lex.token;
    if (token->kind != TOKEN_DOT || token->length >= sizeof text)
        return false;
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    *type = ptx_type_find(text);
    return *type != PTX_TYPE_NONE;
}

/* --- constant expressions ---------------------------------------------------------- */

static bool constant_binary(struct parser *p, int level, int depth, int64_t *value);

static bool constant_unary(struct parser *p, int depth, int64_t *value)
{
    if (depth > PTX_LIMIT_DEPTH)
        return parse_fail(p, EXIT_USAGE, "an expression is nested too deeply");
    const struct token *token = &p->lex.token;
    if (token->kind == TOKEN_INT) {
        *value = (int64_t)token->value;
        lex_next(&p->lex);
        return true;
    }
    char c = token->kind == TOKEN_PUNCT ? token->punct : '\0';
    if (c == '(') {
        lex_next(&p->lex);
        return constant_binary(p, 0, depth + 1, value) && expect_punct(p, ')');
    }
    if (c != '-' && c != '+' && c != '~' && c != '!')
        return parse_expected(p, "a number");
    lex_next(&p->lex);
    if (!constant_unary(p, depth + 1, value))
        return false;
    uint64_t bits = (uint64_t)*value;
    *value = (int64_t)(c == '-' ? 0 - bits : c == '~' ? ~bits : c == '!' ? !bits : bits);
    return true;
}

static int constant_level(const struct parser *p)
{
    static const char *const levels[] = {"|", "^", "&", "+-", "*/%"};
    if (p->lex.token.kind == TOKEN_PUNCT && p->lex.token.punct != '\0')
        for (int i = 0; i < 5; i++)
            if (strchr(levels[i], p->lex.token.punct) != NULL)
                return i;
    return -1;
}

static bool constant_apply(struct parser *p, char c, int64_t *value, int64_t right)
{
    uint64_t a = (uint64_t)*value, b = (uint64_t)right;
    if ((c == '/' || c == '%') && (right == 0 || (right == -1 && c == '%')))
        return right == 0 ? parse_fail(p, EXIT_USAGE, "division by zero in a constant")
                          : (*value = 0, true);
    switch (c) {
    case '|':
        a |= b;
        break;
    case '^':
        a ^= b;
        break;
    case '&':
        a &= b;
        break;
    case '+':
        a += b;
        break;
    case '-':
        a -= b;
        break;
    case '*':
        a *= b;
        break;
    case '/':
        a = right == -1 ? 0 - a : (uint64_t)(*value / right);
        break;
    default:
        a = (uint64_t)(*value % right);
        break;
    }
    *value = (int64_t)a;
    return true;
}

static bool constant_binary(struct parser *p, int level, int depth, int64_t *value)
{
    if (level == 5)
        return constant_unary(p, depth, value);
    if (!constant_binary(p, level + 1, depth, value))
        return false;
    while (constant_level(p) == level) {
        char c = p->lex.token.punct;
        int64_t right;
        lex_next(&p->lex);
        if (!constant_binary(p, level + 1, depth, &right) ||
            !constant_apply(p, c, value, right))
            return false;
    }
    return true;
}

bool parse_constant(struct parser *p, int64_t *value)
{
    return constant_binary(p, 0, 0, value);
}

/* --- registers --------------------------------------------------------------------- */

static bool parse_registers(struct parser *p)
{
    enum ptx_type type;
    lex_next(&p->lex); /* .reg */
    if (token_is(&p->lex.token, "v2") || token_is(&p->lex.token, "v4"))
        return parse_fail(p, EXIT_OURS, "vector registers are not supported");
    if (!token_type(p, &type))
        return parse_expected(p, "a register type like .b32");
    lex_next(&p->lex);
    do {
        if (p->lex.token.kind != TOKEN_WORD)
            return parse_expected(p, "a register name");
        struct name *name = parse_name(p, p->lex.token.text, p->lex.token.length);
        lex_next(&p->lex);
        if (accept_punct(p, '<')) {
            const struct token *token = &p->lex.token;
            if (token->kind != TOKEN_INT || token->value > PTX_LIMIT_REGS)
                return parse_expected(p, "a count of registers up to 1000000");
            struct binding *set = parse_bind(p, name, BIND_REG_SET, p->depth);
            set->count = (int)token->value;
            set->type = type;
            lex_next(&p->lex);
            if (!expect_punct(p, '>'))
                return false;
        } else {
            int index = parse_add_register(p, name->text, type);
            if (index < 0)
                return false;
            parse_bind(p, name, BIND_REG, p->depth)->index = index;
        }
    } while (accept_punct(p, ','));
    return expect_punct(p, ';');
}

/* --- initial values ---------------------------------------------------------------- */

static bool add_reloc(struct parser *p, struct ptx_var *var, uint64_t offset,
                      const char *symbol, int64_t addend, bool generic)
{
    int room = var->reloc_count == 0 ? 0 : 16;
    while (room != 0 && room < var->reloc_count)
        room *= 2;
    var->relocs =
        parse_grow(p, var->relocs, var->reloc_count, &room, sizeof *var->relocs);
    var->relocs[var->reloc_count++] = (struct ptx_reloc){
        .offset_bytes = offset, .symbol = symbol, .addend = addend, .generic = generic};
    return true;
}

/* symbol, symbol + n, generic(symbol) + n */
static bool initial_symbol(struct parser *p, struct ptx_var *var, uint64_t offset)
{
    bool generic = token_is(&p->lex.token, "generic");
    const char *symbol = ptx_intern(p->module, p->lex.token.text, p->lex.token.length);
    int64_t addend = 0;
    lex_next(&p->lex);
    if (at_punct(p, '(')) {
        if (!generic)
            return parse_fail(p, EXIT_OURS,
                              "%s(...) in an initial value is not supported", symbol);
        lex_next(&p->lex);
        if (p->lex.token.kind != TOKEN_WORD)
            return parse_expected(p, "a variable");
        symbol = ptx_intern(p->module, p->lex.token.text, p->lex.token.length);
        lex_next(&p->lex);
        if (!expect_punct(p, ')'))
            return false;
    } else {
        generic = false;
    }
    if ((at_punct(p, '+') || at_punct(p, '-')) && !parse_constant(p, &addend))
        return false;
    return add_reloc(p, var, offset, symbol, addend, generic);
}

static bool initial_value(struct parser *p, struct ptx_var *var, uint64_t *offset)
{
    uint64_t bytes = (uint64_t)ptx_type_bits(var->type) / 8;
    if (var->type == PTX_B128 || bytes == 0)
        return parse_fail(p, EXIT_OURS, "initial values of type .%s are not supported",
                          ptx_type_name(var->type));
    if (*offset + bytes > var->size_bytes)
        return parse_fail(p, EXIT_USAGE, "more initial values than `%s` has room for",
                          var->name);
    bool negative = false;
    uint64_t bits;
    if (p->lex.token.kind == TOKEN_WORD) {
        if (bytes != 8)
            return parse_fail(p, EXIT_OURS, "an address needs 8 bytes, `%s` has .%s",
                              var->name, ptx_type_name(var->type));
        if (!initial_symbol(p, var, *offset))
            return false;
        *offset += bytes;
        return true;
    }
    if (p->lex.token.kind == TOKEN_PUNCT && p->lex.token.punct == '-') {
        struct lexer ahead = p->lex;
        lex_next(&ahead);
        if (ahead.token.kind == TOKEN_F32 || ahead.token.kind == TOKEN_F64) {
            negative = true;
            p->lex = ahead;
        }
    }
    const struct token *token = &p->lex.token;
    if (token->kind == TOKEN_F32 || token->kind == TOKEN_F64) {
        bits = token->value;
        if (token->kind == TOKEN_F64 && var->type == PTX_F32) {
            double wide;
            memcpy(&wide, &bits, sizeof wide);
            float narrow = (float)wide;
            uint32_t narrow_bits;
            memcpy(&narrow_bits, &narrow, sizeof narrow);
            bits = narrow_bits;
        }
        if (negative)
            bits ^= (uint64_t)1 << (bytes * 8 - 1);
        lex_next(&p->lex);
    } else {
        int64_t value;
        if (!parse_constant(p, &value))
            return false;
        bits = (uint64_t)value;
    }
    for (uint64_t i = 0; i < bytes; i++)
        var->init[*offset + i] = (uint8_t)(bits >> (8 * i));
    *offset += bytes;
    return true;
}

/* { a, b, { c, d } }: inner braces begin on a whole inner array. */
static bool initial_list(struct parser *p, struct ptx_var *var, uint64_t *offset,
                         const uint64_t *dims, int dim_count, int depth)
{
    if (depth > 8)
        return parse_fail(p, EXIT_USAGE, "initial values are nested too deeply");
    uint64_t inner = (uint64_t)ptx_type_bits(var->type) / 8;
    for (int i = depth + 1; i < dim_count; i++)
        inner *= dims[i];
    uint64_t start = *offset;
    while (!accept_punct(p, '}')) {
        if (accept_punct(p, '{')) {
            uint64_t from = *offset;
            if (!initial_list(p, var, offset, dims, dim_count, depth + 1))
                return false;
            *offset = from + inner;
        } else if (!initial_value(p, var, offset)) {
            return false;
        }
        if (!at_punct(p, '}') && !expect_punct(p, ','))
            return false;
    }
    return *offset >= start;
}

/* --- variables --------------------------------------------------------------------- */

struct declaration {
    enum ptx_space space;
    enum ptx_type type;
    int align, vector;
};

/* .space {.align n} {.vN} .type */
static bool parse_declaration(struct parser *p, struct declaration *d)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_GLOBAL}, {"const", PTX_CONST}, {"shared", PTX_SHARED},
                  {"local", PTX_LOCAL},   {"param", PTX_PARAM}, {"reg", PTX_REG}};
    *d = (struct declaration){.vector = 1};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (token_is(&p->lex.token, spaces[i].name))
            d->space = spaces[i].space;
    if (d->space == PTX_GENERIC)
        return parse_fail(p, EXIT_OURS,
                          "textures, samplers and surfaces (.%.*s) are not "
                          "supported",
                          (int)p->lex.token.length, p->lex.token.text);
    lex_next(&p->lex);
    for (; p->lex.token.kind == TOKEN_DOT; lex_next(&p->lex)) {
        if (token_is(&p->lex.token, "align")) {
            lex_next(&p->lex);
            const struct token *token = &p->lex.token;
            if (token->kind != TOKEN_INT || token->value == 0 || token->value > 65536 ||
                (token->value & (token->value - 1)) != 0)
                return parse_expected(p, "an alignment (a power of two up to 65536)");
            d->align = (int)token->value;
        } else if (token_is(&p->lex.token, "v2") || token_is(&p->lex.token, "v4")) {
            d->vector = p->lex.token.text[1] - '0';
        } else if (!token_is(&p->lex.token, "ptr") &&
                   !token_is(&p->lex.token, "managed") &&
                   !token_is(&p->lex.token, "attribute")) {
            break;
        }
    }
    if (!token_type(p, &d->type))
        return parse_expected(p, "a type like .b32");
    lex_next(&p->lex);
    return true;
}

/* name[a][b]; fills in size and alignment. dims[0] == 0: open array */
static bool parse_shape(struct parser *p, const struct declaration *d,
                        struct ptx_var *var, uint64_t *dims, int *dim_count)
{
    uint64_t bytes = (uint64_t)(ptx_type_bits(d->type) + 7) / 8;
    var->align_bytes = d->align != 0 ? d->align : (int)bytes * d->vector;
    uint64_t size = bytes * (uint64_t)d->vector;
    *dim_count = 0;
    while (accept_punct(p, '[')) {
        int64_t extent = 0;
        if (!at_punct(p, ']') && !parse_constant(p, &extent))
            return false;
        if (!expect_punct(p, ']'))
            return false;
        if (*dim_count == 8)
            return parse_fail(p, EXIT_USAGE, "`%s` has more than 8 dimensions",
                              var->name);
        if (extent < 0 || (extent > 0 && size > ((uint64_t)1 << 46) / (uint64_t)extent))
            return parse_fail(p, EXIT_USAGE, "`%s` is too large", var->name);
        dims[(*dim_count)++] = (uint64_t)extent;
        size *= (uint64_t)extent;
    }
    if (d->vector > 1 && *dim_count < 8)
        dims[(*dim_count)++] = (uint64_t)d->vector;
    var->size_bytes = size;
    return true;
}

static bool add_variable(struct parser *p, struct ptx_var *var)
{
    struct ptx_function *f = p->function;
    if (f == NULL) {
        int count = p->module->var_count;
        int room = count == 0 ? 0 : 16;
        while (room != 0 && room < count)
            room *= 2;
        p->module->vars = parse_grow(p, p->module->vars, count, &room, sizeof var);
        p->module->vars[p->module->var_count++] = var;
        return true;
    }
    uint64_t *space = var->space == PTX_LOCAL   ? &f->local_bytes
                      : var->space == PTX_PARAM ? &f->param_local_bytes
                                                : NULL;
    if (space != NULL) {
        *space = parse_align_up(*space, (uint64_t)var->align_bytes);
        var->offset_bytes = *space;
        *space += var->size_bytes;
        if (*space > (uint64_t)512 << 20)
            return parse_fail(p, EXIT_USAGE,
                              "more than 512 MiB of local memory a thread");
    }
    f->vars = parse_grow(p, f->vars, f->var_count, &p->var_room, sizeof var);
    f->vars[f->var_count++] = var;
    return true;
}

static bool parse_initial(struct parser *p, struct ptx_var *var, uint64_t *dims,
                          int dim_count)
{
    uint64_t offset = 0;
    if (var->size_bytes == 0 && token_is(&p->lex.token, "generic"))
        return parse_fail(p, EXIT_OURS, "`%s` has no size", var->name);
    if (p->init_bytes + var->size_bytes > PTX_LIMIT_INIT)
        return parse_fail(p, EXIT_USAGE, "more than %d MiB of initial values",
                          PTX_LIMIT_INIT >> 20);
    p->init_bytes += var->size_bytes;
    var->init = ptx_alloc(p->module, var->size_bytes);
    if (accept_punct(p, '{'))
        return initial_list(p, var, &offset, dims, dim_count, 0);
    return initial_value(p, var, &offset);
}

/* How many elements does the list that follows `=` have? For `v[] = {...}`. */
static uint64_t count_elements(struct lexer ahead)
{
    uint64_t count = 0;
    int depth = 0;
    bool open = false; /* an element has begun */
    for (; ahead.token.kind != TOKEN_END && ahead.token.kind != TOKEN_BAD;
         lex_next(&ahead)) {
        int mark = ahead.token.kind == TOKEN_PUNCT ? ahead.token.punct : 0;
        if (mark == '}' && --depth == 0)
            return count + open;
        if (mark == ',' && depth == 1) {
            count += open;
            open = false;
        } else if (depth >= 1 && mark != '}') {
            open = true;
        }
        depth += mark == '{';
        if (depth == 0 && mark != '=')
            return 1; /* no list */
    }
    return count;
}

bool parse_variable(struct parser *p, bool is_extern, bool is_visible)
{
    struct declaration d;
    if (token_is(&p->lex.token, "reg") && p->function != NULL)
        return parse_registers(p);
    if (!parse_declaration(p, &d))
        return false;
    do {
        if (p->lex.token.kind != TOKEN_WORD)
            return parse_expected(p, "the name of a variable");
        struct ptx_var *var = ptx_alloc(p->module, sizeof *var);
        struct name *name = parse_name(p, p->lex.token.text, p->lex.token.length);
        uint64_t dims[8];
        int dim_count;
        var->name = name->text;
        var->space = d.space;
        var->type = d.type;
        var->is_extern = is_extern;
        var->is_visible = is_visible;
        var->line = p->lex.token.line;
        lex_next(&p->lex);
        if (!parse_shape(p, &d, var, dims, &dim_count))
            return false;
        if (at_punct(p, '=') && dim_count > 0 && dims[0] == 0) {
            dims[0] = count_elements(p->lex);
            var->size_bytes = (uint64_t)(ptx_type_bits(d.type) + 7) / 8;
            for (int i = 0; i < dim_count; i++) {
                if (dims[i] > 0 && var->size_bytes > ((uint64_t)1 << 46) / dims[i])
                    return parse_fail(p, EXIT_USAGE, "`%s` is too large", var->name);
                var->size_bytes *= dims[i];
            }
        }
        if (accept_punct(p, '=') && !parse_initial(p, var, dims, dim_count))
            return false;
        parse_bind(p, name, BIND_VAR, p->depth)->var = var;
        if (!add_variable(p, var))
            return false;
    } while (accept_punct(p, ','));
    return expect_punct(p, ';');
}

struct ptx_var *parse_parameter(struct parser *p)
{
    struct declaration d;
    struct ptx_var *var = ptx_alloc(p->module, sizeof *var);
    uint64_t dims[8];
    int dim_count;
    if (!parse_declaration(p, &d))
        return NULL;
    /* .ptr .global .align 16 after the type */
    for (; p->lex.token.kind == TOKEN_DOT; lex_next(&p->lex))
        if (token_is(&p->lex.token, "align"))
            lex_next(&p->lex);
    struct name *name = parse_name(p, "_", 1);
    if (p->lex.token.kind == TOKEN_WORD) {
        name = parse_name(p, p->lex.token.text, p->lex.token.length);
        lex_next(&p->lex);
    }
    var->name = name->text;
    var->space = PTX_PARAM;
    var->type = d.type;
    var->line = p->lex.token.line;
    if (!parse_shape(p, &d, var, dims, &dim_count))
        return NULL;
    parse_bind(p, name, BIND_VAR, p->depth)->var = var;
    return var;
}
