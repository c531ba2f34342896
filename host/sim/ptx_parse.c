/* ptx_parse.c - module level of the PTX parser: arena, names, scopes, directives,
 * functions. Statements are in ptx_statement.c, variables in ptx_variable.c.
 * Grammar: PTX ISA 9.0, chapters 4, 5, 7 and 11. */
#include "ptx_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- arena ---------------------------------------------------------------------- */

struct chunk {
    struct chunk *next;
    size_t used, room;
    _Alignas(16) unsigned char data[];
};

enum { NAME_BUCKETS = 1 << 14 };

struct ptx_arena {
    struct chunk *chunks;
    size_t total;
    struct name *buckets[NAME_BUCKETS];
};

void *ptx_alloc(struct ptx_module *module, size_t bytes)
{
    struct ptx_arena *arena = module->arena;
    if (bytes > (size_t)PTX_LIMIT_ARENA_MIB << 20)
        die(EXIT_OURS, "%s: this PTX needs more than %d MiB", module->name,
            PTX_LIMIT_ARENA_MIB);
    bytes = (bytes + 15) & ~(size_t)15;
    if (arena->chunks == NULL || arena->chunks->room - arena->chunks->used < bytes) {
        size_t room = bytes > 256 * 1024 ? bytes : 256 * 1024;
        arena->total += room;
        if (arena->total > (size_t)PTX_LIMIT_ARENA_MIB << 20)
            die(EXIT_OURS, "%s: this PTX needs more than %d MiB", module->name,
                PTX_LIMIT_ARENA_MIB);
        struct chunk *chunk = xcalloc(1, sizeof *chunk + room);
        chunk->room = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *place = arena->chunks->data + arena->chunks->used;
    arena->chunks->used += bytes;
    return place;
}

void ptx_free(struct ptx_module *module)
{
    if (module == NULL)
        return;
    struct chunk *chunk = module->arena->chunks;
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(module->arena);
    free(module);
}

void *parse_grow(struct parser *p, void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    int wider = *room == 0 ? 16 : *room * 2;
    void *copy = ptx_alloc(p->module, (size_t)wider * size);
    if (count > 0)
        memcpy(copy, array, (size_t)count * size);
    *room = wider;
    return copy;
}

/* --- names and scopes ------------------------------------------------------------- */

/* The name, a new one if `make`; else NULL if it never occurred. */
static struct name *name_find(const struct ptx_module *module, const char *text,
                              size_t length, struct ptx_module *make)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    struct name **bucket = &module->arena->buckets[hash % NAME_BUCKETS];
    for (struct name *name = *bucket; name != NULL; name = name->next)
        if (name->hash == hash && name->length == length &&
            memcmp(name->text, text, length) == 0)
            return name;
    if (make == NULL)
        return NULL;
    struct name *name = ptx_alloc(make, sizeof *name);
    char *copy = ptx_alloc(make, length + 1);
    memcpy(copy, text, length);
    name->text = copy;
    name->length = length;
    name->hash = hash;
    name->next = *bucket;
    *bucket = name;
    return name;
}

const char *ptx_intern(struct ptx_module *module, const char *text, size_t length)
{
    return name_find(module, text, length, module)->text;
}

struct name *parse_name(struct parser *p, const char *text, size_t length)
{
    return name_find(p->module, text, length, p->module);
}

struct binding *parse_bind(struct parser *p, struct name *name, enum bind_kind kind,
                           int depth)
{
    struct binding *binding = ptx_alloc(p->module, sizeof *binding);
    binding->kind = kind;
    binding->depth = depth;
    binding->name = name;
    /* deeper meanings stay in front: a register of an outer set may be met first
     * inside an inner scope */
    struct binding **place = &name->binding;
    while (*place != NULL && (*place)->depth > depth)
        place = &(*place)->outer;
    binding->outer = *place;
    *place = binding;
    binding->scope_next = p->scopes[depth];
    p->scopes[depth] = binding;
    return binding;
}

bool parse_scope_open(struct parser *p)
{
    if (p->depth == PTX_LIMIT_DEPTH)
        return parse_fail(p, EXIT_USAGE, "more than %d nested { }", PTX_LIMIT_DEPTH);
    p->depth++;
    return true;
}

/* Bind the fixups of this scope to its labels; the rest moves outwards. The latest come
 * first, so those of outer scopes stand behind. */
static void scope_resolve(struct parser *p)
{
    struct fixup **place = &p->fixups;
    while (*place != NULL && (*place)->depth == p->depth) {
        struct fixup *fixup = *place;
        struct binding *binding = fixup->name->binding;
        while (binding != NULL && binding->kind != BIND_LABEL)
            binding = binding->outer;
        if (binding != NULL && binding->depth == p->depth) {
            *fixup->target = binding->index;
            *place = fixup->next;
            continue;
        }
        fixup->depth--;
        place = &fixup->next;
    }
}

void parse_scope_close(struct parser *p)
{
    scope_resolve(p);
    for (struct binding *b = p->scopes[p->depth]; b != NULL; b = b->scope_next) {
        struct binding **place = &b->name->binding;
        while (*place != NULL && *place != b)
            place = &(*place)->outer;
        if (*place == b)
            *place = b->outer;
    }
    p->scopes[p->depth] = NULL;
    p->depth--;
}

int parse_add_register(struct parser *p, const char *name, enum ptx_type type)
{
    struct ptx_function *f = p->function;
    if (f->reg_count >= PTX_LIMIT_REGS) {
        parse_fail(p, EXIT_USAGE, "more than %d registers in %s", PTX_LIMIT_REGS,
                   f->name);
        return -1;
    }
    f->regs = parse_grow(p, f->regs, f->reg_count, &p->reg_room, sizeof *f->regs);
    f->regs[f->reg_count] = (struct ptx_reg){.name = name, .type = type};
    return f->reg_count++;
}

int parse_register(struct parser *p, struct name *name)
{
    struct binding *known = name->binding;
    if (known != NULL)
        return known->kind == BIND_REG ? known->index : -1;
    size_t digits = name->length;
    while (digits > 0 && name->text[digits - 1] >= '0' && name->text[digits - 1] <= '9')
        digits--;
    if (digits == name->length || digits == 0 || name->length - digits > 9 ||
        (name->text[digits] == '0' && name->length - digits > 1))
        return -1;
    struct name *set = parse_name(p, name->text, digits);
    int number = atoi(name->text + digits);
    for (struct binding *b = set->binding; b != NULL; b = b->outer)
        if (b->kind == BIND_REG_SET && number < b->count) {
            int index = parse_add_register(p, name->text, b->type);
            if (index >= 0)
                parse_bind(p, name, BIND_REG, b->depth)->index = index;
            return index;
        }
    return -1;
}

/* --- errors and tokens ------------------------------------------------------------ */

bool parse_fail(struct parser *p, int status, const char *format, ...)
{
    if (p->failed)
        return false;
    p->failed = true;
    char text[360];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return error_set(p->err, status, "%s:%d:%d: %s", p->module->name, p->lex.token.line,
                     p->lex.token.col, text);
}

bool parse_expected(struct parser *p, const char *what)
{
    const struct token *token = &p->lex.token;
    if (token->kind == TOKEN_END)
        return parse_fail(p, EXIT_USAGE, "the text ends where %s should stand", what);
    int length = token->length > 40 ? 40 : (int)token->length;
    return parse_fail(p, EXIT_USAGE, "`%s%.*s` stands where %s should",
                      token->kind == TOKEN_DOT ? "." : "", length, token->text, what);
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_DOT) &&
           strlen(text) == token->length && memcmp(token->text, text, token->length) == 0;
}

bool accept_punct(struct parser *p, char c)
{
    if (!at_punct(p, c))
        return false;
    lex_next(&p->lex);
    return true;
}

bool expect_punct(struct parser *p, char c)
{
    char what[4] = {'`', c, '`', '\0'};
    return accept_punct(p, c) || parse_expected(p, what);
}

static bool expect_int(struct parser *p, int max, int *value)
{
    const struct token *token = &p->lex.token;
    if (token->kind != TOKEN_INT)
        return parse_expected(p, "a whole number");
    if (token->value > (uint64_t)max)
        return parse_fail(p, EXIT_USAGE, "%llu is too large (at most %d)",
                          (unsigned long long)token->value, max);
    *value = (int)token->value;
    lex_next(&p->lex);
    return true;
}

/* --- directives ------------------------------------------------------------------- */

/* .version 9.0: the lexer reads 9.0 as one decimal or as 9 and .0 */
static bool parse_version(struct parser *p)
{
    const struct token *token = &p->lex.token;
    char text[16];
    if ((token->kind != TOKEN_F64 && token->kind != TOKEN_INT) ||
        token->length >= sizeof text)
        return parse_expected(p, "a version like 8.0");
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    if (sscanf(text, "%d.%d", &p->module->version_major, &p->module->version_minor) < 1)
        return parse_expected(p, "a version like 8.0");
    lex_next(&p->lex);
    return true;
}

static bool parse_target(struct parser *p)
{
    do {
        const struct token *token = &p->lex.token;
        if (token->kind != TOKEN_WORD)
            return parse_expected(p, "a target like sm_80");
        int sm;
        char suffix = '\0';
        char text[32];
        snprintf(text, sizeof text, "%.*s", token->length > 31 ? 31 : (int)token->length,
                 token->text);
        if (sscanf(text, "sm_%d%c", &sm, &suffix) >= 1) {
            memcpy(p->module->target, text, sizeof text);
            p->module->target_sm = sm;
            p->module->target_arch_specific = suffix == 'a';
        }
        lex_next(&p->lex);
    } while (accept_punct(p, ','));
    return true;
}

/* .file n "name" {, timestamp, size} */
static bool parse_file(struct parser *p)
{
    struct ptx_module *module = p->module;
    int index = 0;
    if (!expect_int(p, 65535, &index))
        return false;
    if (p->lex.token.kind != TOKEN_STRING)
        return parse_expected(p, "a file name in quotes");
    if (index >= module->file_count) {
        int room = p->file_room;
        while (p->file_room <= index)
            p->file_room = p->file_room == 0 ? 16 : p->file_room * 2;
        if (p->file_room > room) {
            const char **files = ptx_alloc(module, (size_t)p->file_room * sizeof *files);
            if (module->file_count > 0)
                memcpy(files, module->files, (size_t)module->file_count * sizeof *files);
            module->files = files;
        }
        module->file_count = index + 1;
    }
    module->files[index] = ptx_intern(module, p->lex.token.text, p->lex.token.length);
    lex_next(&p->lex);
    while (accept_punct(p, ','))
        lex_next(&p->lex);
    return true;
}

/* .section .debug_info { ... }: skipped. */
static bool skip_section(struct parser *p)
{
    while (!at_punct(p, '{') && p->lex.token.kind != TOKEN_END)
        lex_next(&p->lex);
    int depth = 0;
    do {
        if (p->lex.token.kind == TOKEN_END)
            return parse_expected(p, "`}` of a .section");
        depth += at_punct(p, '{') - at_punct(p, '}');
        lex_next(&p->lex);
    } while (depth > 0);
    return true;
}

static bool skip_statement(struct parser *p)
{
    while (!accept_punct(p, ';')) {
        if (p->lex.token.kind == TOKEN_END)
            return parse_expected(p, "`;`");
        lex_next(&p->lex);
    }
    return true;
}

/* --- functions -------------------------------------------------------------------- */

static bool parse_parameter_list(struct parser *p, struct ptx_var ***list, int *count,
                                 uint64_t *bytes)
{
    int room = 0;
    uint64_t offset = 0;
    if (!expect_punct(p, '('))
        return false;
    while (!accept_punct(p, ')')) {
        if (*count > 0 && !expect_punct(p, ','))
            return false;
        struct ptx_var *var = parse_parameter(p);
        if (var == NULL)
            return false;
        offset = parse_align_up(offset, (uint64_t)var->align_bytes);
        var->offset_bytes = offset;
        offset += var->size_bytes;
        if (offset > 1 << 20)
            return parse_fail(p, EXIT_USAGE, "more than 1 MiB of parameters");
        *list = parse_grow(p, *list, *count, &room, sizeof **list);
        (*list)[(*count)++] = var;
    }
    *bytes = offset;
    return true;
}

/* .maxntid 128, 1, 1 and its like; true also when there is none. */
static bool parse_performance(struct parser *p, struct ptx_function *f)
{
    while (p->lex.token.kind == TOKEN_DOT) {
        struct token word = p->lex.token;
        int values[3] = {0, 1, 1};
        int count = 0;
        lex_next(&p->lex);
        if (token_is(&word, "pragma")) {
            if (!skip_statement(p))
                return false;
            continue;
        }
        while (p->lex.token.kind == TOKEN_INT && count < 3) {
            if (!expect_int(p, 1 << 30, &values[count++]))
                return false;
            if (!accept_punct(p, ','))
                break;
        }
        if (token_is(&word, "maxntid"))
            memcpy(f->maxntid, values, sizeof values);
        else if (token_is(&word, "reqntid"))
            memcpy(f->reqntid, values, sizeof values);
        else if (token_is(&word, "minnctapersm"))
            f->minnctapersm = values[0];
        else if (token_is(&word, "reqnctapercluster") ||
                 token_is(&word, "explicitcluster") ||
                 token_is(&word, "maxclusterrank") || token_is(&word, "maxnreg") ||
                 token_is(&word, "noreturn") || token_is(&word, "maxnctapersm") ||
                 token_is(&word, "unified") || token_is(&word, "blocksareclusters") ||
                 token_is(&word, "abi_preserve") ||
                 token_is(&word, "abi_preserve_control"))
            continue;
        else
            return parse_fail(p, EXIT_OURS,
                              "directive .%.*s of a function is not supported",
                              (int)word.length, word.text);
    }
    return true;
}

static struct ptx_function *function_declare(struct parser *p, struct name *name)
{
    struct ptx_module *module = p->module;
    struct ptx_function *f = name->function;
    if (f != NULL)
        return f;
    f = ptx_alloc(module, sizeof *f);
    name->function = f;
    f->name = name->text;
    f->index = module->function_count;
    f->is_declaration = true;
    static const int first = 16;
    int count = module->function_count;
    if (count == 0 || (count >= first && (count & (count - 1)) == 0)) {
        size_t room = count == 0 ? (size_t)first : (size_t)count * 2;
        struct ptx_function **wider = ptx_alloc(module, room * sizeof *wider);
        if (count > 0)
            memcpy(wider, module->functions, (size_t)count * sizeof *wider);
        module->functions = wider;
    }
    module->functions[module->function_count++] = f;
    return f;
}

/* The table that each brx.idx names: it may stand behind it. */
static void resolve_tables(struct parser *p, struct ptx_function *f)
{
    for (int i = 0; i < f->insn_count && f->table_count > 0; i++) {
        struct ptx_insn *insn = &f->insns[i];
        if (insn->operand_count != 2 || strcmp(insn->base, "brx") != 0)
            continue;
        const char *name = insn->operand[1].symbol;
        insn->operand[1].target = parse_name(p, name, strlen(name))->table - 1;
    }
    for (int i = 0; i < f->table_count; i++)
        parse_name(p, f->tables[i].name, strlen(f->tables[i].name))->table = 0;
}

static bool parse_body(struct parser *p, struct ptx_function *f)
{
    p->function = f;
    p->reg_room = p->insn_room = p->var_room = p->table_room = 0;
    p->place = (struct place){0};
    p->inlined = 0;
    f->is_declaration = false;
    while (!at_punct(p, '}'))
        if (!parse_statement(p))
            return false;
    /* a label at the very end needs an instruction to point to */
    f->insns = parse_grow(p, f->insns, f->insn_count, &p->insn_room, sizeof *f->insns);
    struct ptx_insn *last = &f->insns[f->insn_count++];
    memset(last, 0, sizeof *last);
    last->text = last->base = "ret";
    last->guard = -1;
    last->line = p->lex.token.line;
    parse_scope_close(p);
    resolve_tables(p, f);
    p->function = NULL;
    if (p->fixups != NULL) {
        struct fixup *fixup = p->fixups;
        p->lex.token.line = fixup->line;
        p->lex.token.col = fixup->col;
        return parse_fail(p, EXIT_USAGE, "label `%s` is not defined", fixup->name->text);
    }
    lex_next(&p->lex);
    return true;
}

static bool parse_function(struct parser *p, bool is_entry)
{
    struct ptx_var **rets = NULL, **params = NULL;
    int ret_count = 0, param_count = 0, line = p->lex.token.line;
    uint64_t ret_bytes = 0, param_bytes = 0;
    if (!parse_scope_open(p)) /* parameters live in the scope of the body */
        return false;
    if (!is_entry && at_punct(p, '(') &&
        !parse_parameter_list(p, &rets, &ret_count, &ret_bytes))
        return false;
    if (p->lex.token.kind != TOKEN_WORD)
        return parse_expected(p, "the name of a function");
    struct name *name = parse_name(p, p->lex.token.text, p->lex.token.length);
    lex_next(&p->lex);
    if (at_punct(p, '(') && !parse_parameter_list(p, &params, &param_count, &param_bytes))
        return false;
    struct ptx_function *f = function_declare(p, name);
    if (f->insn_count > 0 && at_punct(p, '{'))
        return parse_fail(p, EXIT_USAGE, "function %s is defined twice", name->text);
    if (f->insn_count == 0) {
        f->is_entry = is_entry;
        f->params = params;
        f->param_count = param_count;
        f->param_bytes = param_bytes;
        f->rets = rets;
        f->ret_count = ret_count;
        f->line = line;
    }
    if (!parse_performance(p, f))
        return false;
    if (accept_punct(p, '{'))
        return parse_body(p, f);
    parse_scope_close(p);
    accept_punct(p, ';');
    return true;
}

/* --- module ----------------------------------------------------------------------- */

static bool parse_directive(struct parser *p)
{
    bool is_extern = false, is_visible = false;
    if (p->lex.token.kind != TOKEN_DOT)
        return parse_expected(p, "a directive");
    while (token_is(&p->lex.token, "extern") || token_is(&p->lex.token, "visible") ||
           token_is(&p->lex.token, "weak") || token_is(&p->lex.token, "common")) {
        is_extern |= token_is(&p->lex.token, "extern");
        is_visible |= !token_is(&p->lex.token, "extern");
        lex_next(&p->lex);
    }
    struct token word = p->lex.token;
    if (token_is(&word, "global") || token_is(&word, "const") ||
        token_is(&word, "shared") || token_is(&word, "texref") ||
        token_is(&word, "samplerref") || token_is(&word, "surfref"))
        return parse_variable(p, is_extern, is_visible);
    lex_next(&p->lex);
    if (token_is(&word, "entry") || token_is(&word, "func"))
        return parse_function(p, token_is(&word, "entry"));
    if (token_is(&word, "version"))
        return parse_version(p);
    if (token_is(&word, "target"))
        return parse_target(p);
    if (token_is(&word, "address_size")) {
        int bits = 0;
        if (!expect_int(p, 1024, &bits))
            return false;
        return bits == 64 ||
               parse_fail(p, EXIT_OURS, "only .address_size 64 is supported");
    }
    if (token_is(&word, "file"))
        return parse_file(p);
    if (token_is(&word, "section"))
        return skip_section(p);
    if (token_is(&word, "pragma") || token_is(&word, "alias"))
        return skip_statement(p);
    return parse_fail(p, EXIT_OURS, "directive .%.*s is not supported",
                      word.length > 40 ? 40 : (int)word.length, word.text);
}

struct ptx_module *ptx_parse(const char *text, size_t length, const char *name,
                             struct error *err)
{
    struct ptx_module *module = xcalloc(1, sizeof *module);
    module->arena = xcalloc(1, sizeof *module->arena);
    module->name = ptx_intern(module, name, strlen(name));
    struct parser parser = {.module = module, .err = err};
    struct parser *p = &parser;
    lex_start(&p->lex, text, length);
    lex_next(&p->lex);
    while (p->lex.token.kind != TOKEN_END && parse_directive(p))
        ;
    if (!p->failed && module->version_major == 0)
        parse_fail(p, EXIT_USAGE, "this is not PTX: there is no .version");
    if (p->failed) {
        ptx_free(module);
        return NULL;
    }
    parse_lines_end(p);
    return module;
}

struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name)
{
    for (int i = 0; i < module->var_count; i++)
        if (strcmp(module->vars[i]->name, name) == 0)
            return module->vars[i];
    return NULL;
}

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name)
{
    const struct name *known = name_find(module, name, strlen(name), NULL);
    return known != NULL ? known->function : NULL;
}
