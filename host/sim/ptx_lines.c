/* ptx_lines.c - source lines (.loc, PTX ISA 9.0, 11.5.3). Code of inlined functions
 * carries the place of the call too. A place in a header of the toolkit, say the body of
 * atomicAdd(), means nothing to a reader: there the place of the call stands for it. The
 * names of files may follow at the end of the text, so this is settled last. */
#include <string.h>

#include "ptx_parts.h"

enum { LOOK_BACK = 256 }; /* a call's own .loc stands near */

static bool parse_place(struct parser *p, struct place *place)
{
    int *fields[3] = {&place->file, &place->line, &place->col};
    for (int i = 0; i < 3; i++) {
        if (p->lex.token.kind != TOKEN_INT || p->lex.token.value > INT32_MAX)
            return parse_expected(p, "a line number");
        *fields[i] = (int)p->lex.token.value;
        lex_next(&p->lex);
    }
    return true;
}

/* .loc file line column {, function_name label {+ offset}, inlined_at file line column} */
bool parse_loc(struct parser *p)
{
    struct inlined code = {0};
    p->inlined = 0;
    if (!parse_place(p, &p->place))
        return false;
    while (accept_punct(p, ',')) {
        int line = p->lex.token.line;
        if (token_is(&p->lex.token, "inlined_at")) {
            lex_next(&p->lex);
            code.place = p->place;
            if (!parse_place(p, &code.call))
                return false;
            p->inlines = parse_grow(p, p->inlines, p->inlined_count, &p->inlined_room,
                                    sizeof *p->inlines);
            p->inlines[p->inlined_count++] = code;
            p->inlined = p->inlined_count;
        }
        while (!at_punct(p, ',') && p->lex.token.kind != TOKEN_END &&
               p->lex.token.line == line)
            lex_next(&p->lex);
    }
    return true;
}

static bool is_toolkit(const struct ptx_module *module, int file)
{
    const char *name = file < module->file_count ? module->files[file] : NULL;
    return name != NULL && strstr(name, "/include/") != NULL;
}

/* Where inlined code was written or, if that is in the toolkit, called. */
static struct place shown(const struct parser *p, int number)
{
    const struct inlined *code = &p->inlines[number];
    if (!is_toolkit(p->module, code->place.file))
        return code->place;
    for (int i = number - 1; i >= 0 && i >= number - LOOK_BACK; i--)
        if (memcmp(&p->inlines[i].place, &code->call, sizeof code->call) == 0)
            return p->inlines[i].shown;
    return code->call;
}

void parse_lines_end(struct parser *p)
{
    for (int i = 0; i < p->inlined_count; i++)
        p->inlines[i].shown = shown(p, i);
    for (int f = 0; f < p->module->function_count && p->inlined_count > 0; f++)
        for (int i = 0; i < p->module->functions[f]->insn_count; i++) {
            struct ptx_insn *insn = &p->module->functions[f]->insns[i];
            if (insn->inlined == 0)
                continue;
            struct place place = p->inlines[insn->inlined - 1].shown;
            insn->loc_file = place.file;
            insn->loc_line = place.line;
            insn->loc_col = place.col;
        }
}
