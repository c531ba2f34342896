/* ptx_statement.c - statements and operands of the PTX parser (PTX ISA 9.0, 4.5.2,
 * 4.6, 6 and 9.7). Opcodes are split at their dots and not looked at. */
#include <stdio.h>
#include <string.h>

#include "ptx_parts.h"

static bool parse_operand(struct parser *p, struct ptx_operand *o, int depth);

static void add_fixup(struct parser *p, int *target, struct name *name)
{
    struct fixup *fixup = ptx_alloc(p->module, sizeof *fixup);
    *fixup = (struct fixup){.target = target,
                            .name = name,
                            .depth = p->depth,
                            .line = p->lex.token.line,
                            .col = p->lex.token.col,
                            .next = p->fixups};
    p->fixups = fixup;
}

/* %tid.x: a word and, right behind it, .x */
static void special_register(struct parser *p, struct ptx_operand *o, struct token word)
{
    size_t length = word.length;
    if (p->lex.token.kind == TOKEN_DOT && !p->lex.token.spaced &&
        p->lex.token.length == 1) {
        length += 1 + p->lex.token.length;
        lex_next(&p->lex);
    }
    o->kind = PTX_OPERAND_SREG;
    o->symbol = ptx_intern(p->module, word.text, length);
}

/* A word: register, special register, variable, function or label. */
static bool operand_word(struct parser *p, struct ptx_operand *o)
{
    struct token word = p->lex.token;
    if (word.length == 1 && word.text[0] == '_') {
        o->kind = PTX_OPERAND_SINK;
        lex_next(&p->lex);
        return true;
    }
    struct name *name = parse_name(p, word.text, word.length);
    int reg = parse_register(p, name);
    if (p->failed)
        return false;
    lex_next(&p->lex);
    if (reg >= 0) {
        o->kind = PTX_OPERAND_REG;
        o->reg = reg;
        return true;
    }
    if (name->binding != NULL && name->binding->kind == BIND_VAR) {
        o->kind = PTX_OPERAND_SYMBOL;
        o->symbol = name->text;
        o->var = name->binding->var;
    } else if (word.text[0] == '%') {
        special_register(p, o, word);
        return true;
    } else if (token_is(&word, "WARP_SZ")) {
        o->kind = PTX_OPERAND_IMM;
        o->imm = 32;
        return true;
    } else {
        /* a function or a label; the caller knows which */
        o->kind = PTX_OPERAND_SYMBOL;
        o->symbol = name->text;
    }
    if (at_punct(p, '+') || (at_punct(p, '-') && o->var != NULL))
        return parse_constant(p, &o->offset);
    return true;
}

/* [base], [base + imm], [imm], [tensor, {coordinates}] */
static bool operand_address(struct parser *p, struct ptx_operand *o, int depth)
{
    o->kind = PTX_OPERAND_ADDR;
    lex_next(&p->lex);
    if (p->lex.token.kind == TOKEN_WORD) {
        struct ptx_operand base = {.reg = -1, .reg2 = -1, .target = -1};
        if (!operand_word(p, &base))
            return false;
        if (base.kind != PTX_OPERAND_REG && base.kind != PTX_OPERAND_SYMBOL)
            return parse_fail(p, EXIT_USAGE, "an address needs a register or a variable");
        o->base_is_reg = base.kind == PTX_OPERAND_REG;
        o->reg = base.reg;
        o->symbol = base.symbol;
        o->var = base.var;
        o->offset = base.offset;
        if (base.kind == PTX_OPERAND_SYMBOL && base.var == NULL)
            return parse_fail(p, EXIT_USAGE, "`%s` is not declared", base.symbol);
        if ((at_punct(p, '+') || at_punct(p, '-')) && !parse_constant(p, &o->offset))
            return false;
    } else if (!parse_constant(p, &o->offset)) {
        return false;
    }
    if (accept_punct(p, ',')) {
        o->elements = ptx_alloc(p->module, sizeof *o->elements);
        o->element_count = 1;
        if (!parse_operand(p, o->elements, depth + 1))
            return false;
    }
    return expect_punct(p, ']');
}

static bool operand_vector(struct parser *p, struct ptx_operand *o, int depth)
{
    int room = 0;
    o->kind = PTX_OPERAND_VECTOR;
    lex_next(&p->lex);
    while (!accept_punct(p, '}')) {
        if (o->element_count > 0 && !expect_punct(p, ','))
            return false;
        if (o->element_count == 256)
            return parse_fail(p, EXIT_USAGE, "more than 256 elements in { }");
        o->elements =
            parse_grow(p, o->elements, o->element_count, &room, sizeof *o->elements);
        if (!parse_operand(p, &o->elements[o->element_count++], depth + 1))
            return false;
    }
    return true;
}

static bool operand_number(struct parser *p, struct ptx_operand *o)
{
    bool negative = false;
    struct lexer ahead = p->lex;
    if (at_punct(p, '-')) {
        lex_next(&ahead);
        negative = true;
    }
    o->kind = PTX_OPERAND_IMM;
    if (ahead.token.kind == TOKEN_F32 || ahead.token.kind == TOKEN_F64) {
        bool wide = ahead.token.kind == TOKEN_F64;
        o->literal = wide ? PTX_LITERAL_F64 : PTX_LITERAL_F32;
        o->imm = ahead.token.value ^ (negative ? (uint64_t)1 << (wide ? 63 : 31) : 0);
        p->lex = ahead;
        lex_next(&p->lex);
        return true;
    }
    int64_t value;
    if (!parse_constant(p, &value))
        return false;
    o->imm = (uint64_t)value;
    return true;
}

/* Is it -r? Then step over the sign. */
static bool minus_register(struct parser *p)
{
    struct lexer ahead = p->lex;
    if (!at_punct(p, '-'))
        return false;
    lex_next(&ahead);
    if (ahead.token.kind != TOKEN_WORD || token_is(&ahead.token, "WARP_SZ"))
        return false;
    p->lex = ahead;
    return true;
}

static bool parse_operand(struct parser *p, struct ptx_operand *o, int depth)
{
    *o = (struct ptx_operand){.reg = -1, .reg2 = -1, .target = -1};
    if (depth > 4)
        return parse_fail(p, EXIT_USAGE, "operands are nested too deeply");
    if (accept_punct(p, '!')) {
        o->negated = true;
        if (p->lex.token.kind != TOKEN_WORD)
            return parse_expected(p, "a predicate");
    }
    if (minus_register(p))
        o->minus = true;
    if (p->lex.token.kind == TOKEN_WORD) {
        if (!operand_word(p, o))
            return false;
        if (o->minus && o->kind != PTX_OPERAND_REG)
            return parse_fail(p, EXIT_USAGE,
                              "a number or a register must stand behind -");
        if (o->kind == PTX_OPERAND_REG && p->lex.token.kind == TOKEN_DOT &&
            !p->lex.token.spaced) {
            o->part = ptx_intern(p->module, p->lex.token.text, p->lex.token.length);
            lex_next(&p->lex);
        }
        if (o->kind == PTX_OPERAND_REG && accept_punct(p, '|')) {
            struct ptx_operand second;
            if (!parse_operand(p, &second, depth + 1))
                return false;
            if (second.kind != PTX_OPERAND_REG && second.kind != PTX_OPERAND_SINK)
                return parse_fail(p, EXIT_USAGE, "a register must stand behind |");
            o->reg2 = second.reg;
        } else if (o->kind == PTX_OPERAND_SINK && accept_punct(p, '|')) {
            struct ptx_operand second;
            if (!parse_operand(p, &second, depth + 1))
                return false;
            o->reg2 = second.reg;
        }
        return true;
    }
    if (at_punct(p, '['))
        return operand_address(p, o, depth);
    if (at_punct(p, '{'))
        return operand_vector(p, o, depth);
    return operand_number(p, o);
}

/* ld.global.L2::128B.v4.f32 -> base and suffixes */
static bool parse_opcode(struct parser *p, struct ptx_insn *insn)
{
    const char *start = p->lex.token.text;
    insn->base = ptx_intern(p->module, p->lex.token.text, p->lex.token.length);
    const char *end = start + p->lex.token.length;
    lex_next(&p->lex);
    const char *suffix[PTX_MAX_SUFFIXES];
    while (p->lex.token.kind == TOKEN_DOT) {
        if (insn->suffix_count == PTX_MAX_SUFFIXES)
            return parse_fail(p, EXIT_USAGE, "more than %d suffixes", PTX_MAX_SUFFIXES);
        suffix[insn->suffix_count++] =
            ptx_intern(p->module, p->lex.token.text, p->lex.token.length);
        end = p->lex.token.text + p->lex.token.length;
        lex_next(&p->lex);
    }
    size_t bytes = (size_t)insn->suffix_count * sizeof *suffix;
    insn->suffix = ptx_alloc(p->module, bytes);
    memcpy(insn->suffix, suffix, bytes);
    insn->text = ptx_intern(p->module, start, (size_t)(end - start));
    return true;
}

/* (a, b) of a call */
static bool call_list(struct parser *p, struct ptx_operand **list, int *count)
{
    int room = 0;
    lex_next(&p->lex);
    while (!accept_punct(p, ')')) {
        if (*count > 0 && !expect_punct(p, ','))
            return false;
        if (*count == 256)
            return parse_fail(p, EXIT_USAGE, "more than 256 arguments");
        *list = parse_grow(p, *list, *count, &room, sizeof **list);
        if (!parse_operand(p, &(*list)[(*count)++], 0))
            return false;
    }
    return true;
}

static bool parse_call(struct parser *p, struct ptx_insn *insn)
{
    struct ptx_call *call = ptx_alloc(p->module, sizeof *call);
    insn->call = call;
    for (int i = 0; i < insn->suffix_count; i++)
        call->uniform |= strcmp(insn->suffix[i], "uni") == 0;
    if (at_punct(p, '(')) {
        if (!call_list(p, &call->ret, &call->ret_count) || !expect_punct(p, ','))
            return false;
    }
    if (p->lex.token.kind != TOKEN_WORD)
        return parse_expected(p, "the function to call");
    if (!parse_operand(p, &call->callee, 0))
        return false;
    while (accept_punct(p, ',')) {
        if (at_punct(p, '(')) {
            if (!call_list(p, &call->arg, &call->arg_count))
                return false;
        } else if (p->lex.token.kind == TOKEN_WORD) {
            call->prototype =
                ptx_intern(p->module, p->lex.token.text, p->lex.token.length);
            lex_next(&p->lex);
        } else {
            return parse_expected(p, "the arguments of a call");
        }
    }
    return expect_punct(p, ';');
}

/* bra L; brx.idx r, table: names become places in the code */
static bool parse_branch(struct parser *p, struct ptx_insn *insn)
{
    bool indexed = strcmp(insn->base, "brx") == 0;
    insn->operand = ptx_alloc(p->module, 2 * sizeof *insn->operand);
    if (indexed) {
        if (!parse_operand(p, &insn->operand[0], 0) || !expect_punct(p, ','))
            return false;
        insn->operand_count = 1;
    }
    if (p->lex.token.kind != TOKEN_WORD)
        return parse_expected(p, "a label");
    struct ptx_operand *o = &insn->operand[insn->operand_count++];
    *o = (struct ptx_operand){
        .kind = PTX_OPERAND_LABEL, .reg = -1, .reg2 = -1, .target = -1};
    struct name *name = parse_name(p, p->lex.token.text, p->lex.token.length);
    o->symbol = name->text;
    if (!indexed)
        add_fixup(p, &o->target, name);
    lex_next(&p->lex);
    return expect_punct(p, ';');
}

static bool parse_operands(struct parser *p, struct ptx_insn *insn)
{
    struct ptx_operand operand[PTX_MAX_OPERANDS];
    while (!accept_punct(p, ';')) {
        if (insn->operand_count > 0 && !expect_punct(p, ','))
            return false;
        if (insn->operand_count == PTX_MAX_OPERANDS)
            return parse_fail(p, EXIT_USAGE, "more than %d operands", PTX_MAX_OPERANDS);
        if (!parse_operand(p, &operand[insn->operand_count++], 0))
            return false;
    }
    size_t bytes = (size_t)insn->operand_count * sizeof *operand;
    insn->operand = ptx_alloc(p->module, bytes);
    memcpy(insn->operand, operand, bytes);
    return true;
}

static bool parse_instruction(struct parser *p)
{
    struct ptx_function *f = p->function;
    if (f->insn_count >= PTX_LIMIT_INSNS)
        return parse_fail(p, EXIT_USAGE, "more than %d instructions", PTX_LIMIT_INSNS);
    f->insns = parse_grow(p, f->insns, f->insn_count, &p->insn_room, sizeof *f->insns);
    struct ptx_insn *insn = &f->insns[f->insn_count];
    *insn = (struct ptx_insn){.guard = -1,
                              .line = p->lex.token.line,
                              .loc_file = p->place.file,
                              .loc_line = p->place.line,
                              .loc_col = p->place.col,
                              .inlined = p->inlined};
    if (accept_punct(p, '@')) {
        insn->guard_negated = accept_punct(p, '!');
        if (p->lex.token.kind != TOKEN_WORD)
            return parse_expected(p, "a predicate");
        insn->guard =
            parse_register(p, parse_name(p, p->lex.token.text, p->lex.token.length));
        if (insn->guard < 0 || f->regs[insn->guard].type != PTX_PRED)
            return parse_expected(p, "a predicate register");
        lex_next(&p->lex);
    }
    if (p->lex.token.kind != TOKEN_WORD)
        return parse_expected(p, "an instruction");
    if (!parse_opcode(p, insn))
        return false;
    bool good = strcmp(insn->base, "call") == 0 ? parse_call(p, insn)
                : strcmp(insn->base, "bra") == 0 || strcmp(insn->base, "brx") == 0
                    ? parse_branch(p, insn)
                    : parse_operands(p, insn);
    f->insn_count += good;
    return good;
}

/* name: .branchtargets a, b;   name: .calltargets f;   name: .callprototype ...; */
static bool parse_table(struct parser *p, struct name *name)
{
    struct ptx_function *f = p->function;
    bool targets = token_is(&p->lex.token, "branchtargets");
    lex_next(&p->lex);
    f->tables =
        parse_grow(p, f->tables, f->table_count, &p->table_room, sizeof *f->tables);
    struct ptx_table *table = &f->tables[f->table_count++];
    *table = (struct ptx_table){.name = name->text};
    if (!targets) {
        while (!accept_punct(p, ';')) {
            if (p->lex.token.kind == TOKEN_END)
                return parse_expected(p, "`;`");
            lex_next(&p->lex);
        }
        return true;
    }
    /* the list may grow, so targets are resolved in cells of their own */
    struct lexer ahead = p->lex;
    int count = 1;
    for (; !(ahead.token.kind == TOKEN_PUNCT && ahead.token.punct == ';');
         lex_next(&ahead)) {
        if (ahead.token.kind == TOKEN_END)
            return parse_expected(p, "`;`");
        count += ahead.token.kind == TOKEN_PUNCT && ahead.token.punct == ',';
    }
    table->target = ptx_alloc(p->module, (size_t)count * sizeof *table->target);
    name->table = f->table_count;
    do {
        if (p->lex.token.kind != TOKEN_WORD)
            return parse_expected(p, "a label");
        add_fixup(p, &table->target[table->count++],
                  parse_name(p, p->lex.token.text, p->lex.token.length));
        lex_next(&p->lex);
    } while (accept_punct(p, ','));
    return expect_punct(p, ';');
}

static bool parse_label(struct parser *p, struct name *name)
{
    if (p->lex.token.kind == TOKEN_DOT && (token_is(&p->lex.token, "branchtargets") ||
                                           token_is(&p->lex.token, "calltargets") ||
                                           token_is(&p->lex.token, "callprototype")))
        return parse_table(p, name);
    if (name->binding != NULL && name->binding->kind == BIND_LABEL &&
        name->binding->depth == p->depth)
        return parse_fail(p, EXIT_USAGE, "label `%s` is defined twice", name->text);
    parse_bind(p, name, BIND_LABEL, p->depth)->index = p->function->insn_count;
    return true;
}

static bool statement_directive(struct parser *p)
{
    if (token_is(&p->lex.token, "loc")) {
        lex_next(&p->lex);
        return parse_loc(p);
    }
    if (token_is(&p->lex.token, "pragma")) {
        while (!accept_punct(p, ';')) {
            if (p->lex.token.kind == TOKEN_END)
                return parse_expected(p, "`;`");
            lex_next(&p->lex);
        }
        return true;
    }
    return parse_variable(p, false, false);
}

/* { ... }: nested scopes are walked with a counter, not by recursion. */
bool parse_statement(struct parser *p)
{
    int base = p->depth;
    do {
        if (p->lex.token.kind == TOKEN_END)
            return parse_expected(p, "`}`");
        if (accept_punct(p, '{')) {
            if (!parse_scope_open(p))
                return false;
            continue;
        }
        if (p->depth > base && at_punct(p, '}')) {
            lex_next(&p->lex);
            parse_scope_close(p);
            continue;
        }
        if (accept_punct(p, ';'))
            continue;
        if (p->lex.token.kind == TOKEN_DOT) {
            if (!statement_directive(p))
                return false;
            continue;
        }
        if (p->lex.token.kind == TOKEN_WORD) {
            struct lexer ahead = p->lex;
            lex_next(&ahead);
            if (ahead.token.kind == TOKEN_PUNCT && ahead.token.punct == ':') {
                struct name *name = parse_name(p, p->lex.token.text, p->lex.token.length);
                p->lex = ahead;
                lex_next(&p->lex);
                if (!parse_label(p, name))
                    return false;
                continue;
            }
        }
        if (!parse_instruction(p))
            return false;
    } while (p->depth > base);
    return true;
}
