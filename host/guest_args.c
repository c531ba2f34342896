/* guest_args.c - what the command line says of somebody else's kernel; see guest.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/formula.h"
#include "guest.h"

/* --- types and layout ------------------------------------------------------------- */

static bool find_type(const char *option, const char *word, const int *allowed, int count,
                      int *type, struct error *err)
{
    char names[80] = "";
    for (int i = 0; i < count; i++) {
        if (strcasecmp(word, kernel_type_name(allowed[i])) == 0) {
            *type = allowed[i];
            return true;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                 kernel_type_name(allowed[i]));
    }
    return error_set(err, EXIT_USAGE, "%s: `%.40s` is not a type: give one of %s", option,
                     word, names);
}

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static bool parse_types(struct kernel_info *info, const struct guest_words *words,
                        struct error *err)
{
    static const int in[] = {KERNEL_F32,  KERNEL_F16, KERNEL_BF16,
                             KERNEL_TF32, KERNEL_F64, KERNEL_S8};
    static const int acc[] = {KERNEL_F32, KERNEL_F16, KERNEL_BF16, KERNEL_F64,
                              KERNEL_S32};
    info->in = KERNEL_F32;
    if (words->in && !find_type("--in", words->in, in, COUNT(in), &info->in, err))
        return false;
    info->acc = info->in == KERNEL_F64  ? KERNEL_F64
                : info->in == KERNEL_S8 ? KERNEL_S32
                                        : KERNEL_F32;
    if (words->acc && !find_type("--acc", words->acc, acc, COUNT(acc), &info->acc, err))
        return false;
    info->out = info->acc;
    return true;
}

static bool parse_layout(struct call *call, const char *word, struct error *err)
{
    static const struct {
        const char *name;
        bool by_columns[3];
    } layouts[] = {
        {"row", {false, false, false}},   {"nn", {false, false, false}},
        {"nt", {false, true, false}},     {"tn", {true, false, false}},
        {"tt", {true, true, false}},      {"row-nn", {false, false, false}},
        {"row-nt", {false, true, false}}, {"row-tn", {true, false, false}},
        {"row-tt", {true, true, false}},  {"col", {true, true, true}},
        {"col-nn", {true, true, true}},   {"col-nt", {true, false, true}},
        {"col-tn", {false, true, true}},  {"col-tt", {false, false, true}},
    };
    for (int i = 0; word && i < COUNT(layouts); i++)
        if (strcasecmp(word, layouts[i].name) == 0) {
            memcpy(call->by_columns, layouts[i].by_columns, sizeof call->by_columns);
            return true;
        }
    return !word || error_set(err, EXIT_USAGE,
                              "--layout: `%.40s` is not a layout: give row, col, nn, nt, "
                              "tn, tt, or col-nn, col-nt, col-tn, col-tt",
                              word);
}

/* --- lists -------------------------------------------------------------------------- */

/* Cut a comma list up in place. Returns the number of items, -1 if one is empty or there
 * are more than `most`. */
static int cut_list(char *text, const char **items, int most)
{
    int count = 0;
    for (char *rest = text; rest;) {
        char *comma = strchr(rest, ',');
        if (comma)
            *comma = '\0';
        if (*rest == '\0' || count == most)
            return -1;
        items[count++] = rest;
        rest = comma ? comma + 1 : NULL;
    }
    return count;
}

/* X, X,Y or X,Y,Z; each a formula. `word` is kept in guest->words. */
static bool parse_axes(const char *option, char *word, const char *axes[3],
                       struct error *err)
{
    char shown[60];
    snprintf(shown, sizeof shown, "%s", word);
    return cut_list(word, axes, 3) > 0 ||
           error_set(err, EXIT_USAGE,
                     "--%s: `%s` will not do: give X, X,Y or X,Y,Z, as in N/16,M/16",
                     option, shown);
}

/* --- the parameter list ------------------------------------------------------------- */

static const struct {
    const char *name;
    enum call_kind kind;
} plain_args[] =
    {
        {"A", CALL_A},     {"B", CALL_B},     {"C", CALL_C},
        {"M", CALL_M},     {"N", CALL_N},     {"K", CALL_K},
        {"lda", CALL_LDA}, {"ldb", CALL_LDB}, {"ldc", CALL_LDC},
},
  valued_args[] = {
      {"f:", CALL_F32}, {"d:", CALL_F64}, {"h:", CALL_F16},
      {"i:", CALL_S32}, {"l:", CALL_S64}, {"buf:", CALL_BUFFER},
};

static bool parse_real(const char *text, double *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static bool parse_arg(struct guest *g, const char *word, struct call_arg *arg,
                      struct error *err)
{
    static const int out[] = {KERNEL_F32, KERNEL_F16, KERNEL_BF16, KERNEL_F64,
                              KERNEL_S32};
    *arg = (struct call_arg){.word = word};
    for (int i = 0; i < COUNT(plain_args); i++)
        if (strcasecmp(word, plain_args[i].name) == 0) {
            arg->kind = plain_args[i].kind;
            return true;
        }
    if (strncasecmp(word, "C:", 2) == 0) {
        arg->kind = CALL_C;
        return find_type("--args", word + 2, out, COUNT(out), &g->rung.info.out, err);
    }
    for (int i = 0; i < COUNT(valued_args); i++) {
        size_t length = strlen(valued_args[i].name);
        if (strncmp(word, valued_args[i].name, length) != 0)
            continue;
        arg->kind = valued_args[i].kind;
        arg->formula = word + length;
        if (arg->kind == CALL_F32 || arg->kind == CALL_F64 || arg->kind == CALL_F16)
            return parse_real(word + length, &arg->real) ||
                   error_set(err, EXIT_USAGE, "--args: `%.40s` holds no number", word);
        return true;
    }
    return error_set(err, EXIT_USAGE,
                     "--args: `%.40s` is no argument: give A, B, C, M, N, K, lda, ldb, "
                     "ldc, f:1.5, d:1.5, h:1.5, i:3, l:3 or buf:BYTES",
                     word);
}

static bool parse_args(struct guest *g, char *list, struct error *err)
{
    const char *items[CALL_ARGS_MAX];
    int count = list ? cut_list(list, items, CALL_ARGS_MAX) : 0;
    if (count < 0)
        return error_set(err, EXIT_USAGE,
                         "--args: an argument is empty, or there are more than %d",
                         CALL_ARGS_MAX);
    for (int i = 0; i < count; i++)
        if (!parse_arg(g, items[i], &g->call.args[i], err))
            return false;
    g->call.arg_count = count;
    return true;
}

/* --- what is promised --------------------------------------------------------------- */

static bool parse_expect(struct guest *g, const char *word, struct error *err)
{
    struct call *call = &g->call;
    bool all =
        call_uses(call, CALL_A) && call_uses(call, CALL_B) && call_uses(call, CALL_C);
    if (word && strcmp(word, "gemm") != 0 && strcmp(word, "none") != 0)
        return error_set(err, EXIT_USAGE,
                         "--expect: `%.40s` will not do: give gemm or "
                         "none",
                         word);
    if (word && strcmp(word, "gemm") == 0 && !all)
        return error_set(err, EXIT_USAGE,
                         "--expect gemm: A, B and C must be among --args");
    call->gemm = word ? strcmp(word, "gemm") == 0 : all;
    /* the first two numbers are alpha and beta, as in every BLAS */
    const struct call_arg *alpha = call_find_real(call, 0);
    const struct call_arg *beta = call_find_real(call, 1);
    call->alpha = call->gemm && alpha ? alpha->real : 1;
    call->beta = call->gemm && beta ? beta->real : 0;
    return true;
}

/* --- all of it ---------------------------------------------------------------------- */

static bool check_cluster(const char *axes[3], struct error *err)
{
    for (int i = 0; i < 3; i++)
        if (axes[i] && strcmp(axes[i], "1") != 0)
            return error_set(err, EXIT_OURS,
                             "--cluster: clusters of thread blocks are not supported; "
                             "only 1,1,1 is");
    return true;
}

/* A copy of `text` in the room at *at, which moves on. */
static char *keep(char **at, const char *text)
{
    if (!text)
        return NULL;
    char *copy = strcpy(*at, text);
    *at += strlen(text) + 1;
    return copy;
}

/* --grid N/16,M/16: a block per tile of C, which lets the simulator run a sample. */
static void find_tiles(struct guest *g)
{
    struct kernel_info *info = &g->rung.info;
    char x = 0, y = 0;
    int across = 1, down = 1;
    const char *const *grid = g->call.grid;
    info->bm = info->bn = 1;
    if (!grid[1] || grid[2] || !formula_is_tiles(grid[0], &x, &across) ||
        !formula_is_tiles(grid[1], &y, &down))
        return;
    if (!(x == 'N' && y == 'M') && !(x == 'M' && y == 'N'))
        return;
    g->call.tiled = g->call.gemm && g->call.beta == 0;
    info->grid = x == 'N' ? KERNEL_GRID_X_IS_N : KERNEL_GRID_X_IS_M;
    info->bn = x == 'N' ? across : down;
    info->bm = x == 'N' ? down : across;
}

bool guest_parse_words(struct guest *g, const struct guest_words *w, struct error *err)
{
    const char *const texts[] = {w->grid, w->block, w->cluster, w->args};
    const char *cluster[3] = {0};
    size_t room = 1;
    if (!w->grid || !w->block)
        return error_set(err, EXIT_USAGE,
                         "--%s is missing: say %s, as in --grid N/16,M/16 --block 16,16",
                         w->grid ? "block" : "grid",
                         w->grid ? "how many threads a block has"
                                 : "how many blocks to launch");
    for (int i = 0; i < COUNT(texts); i++)
        room += texts[i] ? strlen(texts[i]) + 1 : 0;
    char *at = g->words = xmalloc(room);
    g->call.smem = w->smem;
    bool good =
        parse_types(&g->rung.info, w, err) && parse_layout(&g->call, w->layout, err) &&
        parse_axes("grid", keep(&at, w->grid), g->call.grid, err) &&
        parse_axes("block", keep(&at, w->block), g->call.block, err) &&
        (!w->cluster || parse_axes("cluster", keep(&at, w->cluster), cluster, err)) &&
        check_cluster(cluster, err) && parse_args(g, keep(&at, w->args), err) &&
        parse_expect(g, w->expect, err);
    if (good)
        find_tiles(g);
    return good;
}
