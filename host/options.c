/* options.c - the command line as one table.
 *
 * A row holds the name, the letter, the argument, the function that takes the
 * value, or the place of a text that is kept as it is, and the text for --help. A row
 * with a "word" takes that one word as an optional argument: --list ptx.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "calc/tool.h"
#include "nearest.h"

struct option_row {
    const char *name;
    char letter;          /* or 0 */
    const char *argument; /* shown in --help; NULL = takes none */
    const char *word;     /* the optional argument, or NULL */
    bool (*take)(struct options *o, const char *value, struct error *err);
    const char *help; /* lines separated by \n */
    size_t text;      /* without `take`: where in struct options the value goes */
};

/* --- values ---------------------------------------------------------------------- */

static bool parse_whole(const char *text, uint64_t from, uint64_t to, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < from || number > to)
        return false;
    *value = number;
    return true;
}

static bool take_int(const char *option, const char *value, int from, int to, int *into,
                     struct error *err)
{
    uint64_t number;
    if (!parse_whole(value, (uint64_t)from, (uint64_t)to, &number))
        return error_set(err, EXIT_USAGE,
                         "%s: `%.60s` will not do: give a whole number from %d to %d",
                         option, value, from, to);
    *into = (int)number;
    return true;
}

/* Cut a comma list up. Empty items are an error. */
static bool take_list(const char *option, const char *value, int limit,
                      struct name_list *list, struct error *err)
{
    free(list->storage);
    *list = (struct name_list){.storage = xstrdup(value)};
    char *rest = list->storage;
    while (rest) {
        char *comma = strchr(rest, ',');
        if (comma)
            *comma = '\0';
        if (*rest == '\0')
            return error_set(err, EXIT_USAGE,
                             "%s: `%.60s` has an empty name: give NAME or NAME,NAME",
                             option, value);
        if (list->count == limit)
            return error_set(err, EXIT_USAGE, "%s: at most %d names, `%.20s` is one more",
                             option, limit, rest);
        list->items[list->count++] = rest;
        rest = comma ? comma + 1 : NULL;
    }
    return true;
}

/* "12" -> 12, and *text moves behind it. 0 if it is not a size. */
static size_t read_size(const char **text)
{
    size_t value = 0;
    const char *at = *text;
    while (isdigit((unsigned char)*at) && value <= SIZE_LIMIT)
        value = value * 10 + (size_t)(*at++ - '0');
    *text = at;
    return value <= SIZE_LIMIT ? value : 0;
}

static bool add_size(struct options *o, struct size size, struct error *err)
{
    if (o->size_count == SIZES_MAX)
        return error_set(err, EXIT_USAGE,
                         "--size: more than %d sizes: take a larger STEP", SIZES_MAX);
    o->sizes = xrealloc(o->sizes, (size_t)(o->size_count + 1) * sizeof *o->sizes);
    o->sizes[o->size_count++] = size;
    return true;
}

/* One item: N, MxNxK or FROM:TO:STEP. */
static bool take_one_size(struct options *o, const char *item, struct error *err)
{
    const char *at = item;
    size_t first = read_size(&at), second = 0, third = 0;
    char between = *at;
    if (first > 0 && (between == 'x' || between == ':')) {
        at++;
        second = read_size(&at);
        if (second > 0 && *at == between) {
            at++;
            third = read_size(&at);
        }
    }
    bool single = first > 0 && between == '\0';
    bool triple = third > 0 && *at == '\0';
    if (!single && !triple)
        return error_set(err, EXIT_USAGE,
                         "--size: `%.60s` is not a size: give N, MxNxK or FROM:TO:STEP "
                         "with whole numbers from 1 to %d",
                         item, SIZE_LIMIT);
    if (single)
        return add_size(o, (struct size){first, first, first}, err);
    if (between == 'x')
        return add_size(o, (struct size){first, second, third}, err);
    if (first > second)
        return error_set(err, EXIT_USAGE,
                         "--size: `%.60s` counts from %zu to %zu: FROM must not be "
                         "larger than TO",
                         item, first, second);
    for (size_t n = first; n <= second; n += third)
        if (!add_size(o, (struct size){n, n, n}, err))
            return false;
    return true;
}

static bool take_sizes(struct options *o, const char *value, struct error *err)
{
    free(o->sizes);
    o->sizes = NULL;
    o->size_count = 0;
    char *copy = xstrdup(value);
    bool good = true;
    for (char *item = copy; item && good;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        good = take_one_size(o, item, err);
        item = comma ? comma + 1 : NULL;
    }
    free(copy);
    return good;
}

static bool take_device(struct options *o, const char *value, struct error *err)
{
    uint64_t ordinal = 0;
    o->gpu = -1;
    o->sim_card = NULL;
    if (strcmp(value, "auto") == 0) {
        o->device = WISH_AUTO;
    } else if (strcmp(value, "cpu") == 0) {
        o->device = WISH_CPU;
    } else if (strcmp(value, "gpu") == 0) {
        o->device = WISH_GPU;
    } else if (strncmp(value, "gpu:", 4) == 0 &&
               parse_whole(value + 4, 0, 1023, &ordinal)) {
        o->device = WISH_GPU;
        o->gpu = (int)ordinal;
    } else if (strcmp(value, "sim") == 0) {
        o->device = WISH_SIM;
    } else if (strncmp(value, "sim:", 4) == 0 && value[4] != '\0') {
        o->device = WISH_SIM;
        o->sim_card = value + 4;
    } else {
        return error_set(err, EXIT_USAGE,
                         "--device: `%.60s` is not a device: give auto, gpu, gpu:0, sim, "
                         "sim:a100 (./run --devices lists the cards) or cpu",
                         value);
    }
    return true;
}

static bool take_kernels(struct options *o, const char *value, struct error *err)
{
    return take_list("--kernel", value, LIST_MAX, &o->kernels, err);
}

static bool take_against(struct options *o, const char *value, struct error *err)
{
    return take_list("--against", value, AGAINST_MAX, &o->against, err);
}

static bool take_lesson(struct options *o, const char *value, struct error *err)
{
    return take_int("--lesson", value, 1, 99, &o->lesson, err);
}

static bool take_reps(struct options *o, const char *value, struct error *err)
{
    return take_int("--reps", value, 1, 100000, &o->reps, err);
}

static bool take_warmup(struct options *o, const char *value, struct error *err)
{
    return take_int("--warmup", value, 1, 100000, &o->warmup, err);
}

static bool take_threads(struct options *o, const char *value, struct error *err)
{
    return take_int("--threads", value, 1, 1024, &o->threads, err);
}

static bool take_whole(const char *option, const char *value, uint64_t least,
                       uint64_t *number, struct error *err)
{
    if (parse_whole(value, least, UINT64_MAX, number))
        return true;
    return error_set(
        err, EXIT_USAGE, "%s: `%.60s` will not do: give a whole number from %llu to %llu",
        option, value, (unsigned long long)least, (unsigned long long)UINT64_MAX);
}

static bool take_seed(struct options *o, const char *value, struct error *err)
{
    return take_whole("--seed", value, 0, &o->seed, err);
}

static bool take_steps(struct options *o, const char *value, struct error *err)
{
    return take_whole("--steps", value, 1, &o->steps, err);
}

static bool take_check(struct options *o, const char *value, struct error *err)
{
    (void)err;
    o->check_all = value == NULL;
    o->verify = value == NULL;
    return true;
}

static bool take_counters(struct options *o, const char *value, struct error *err)
{
    (void)value, (void)err;
    o->counters = true;
    return true;
}

static bool take_explain(struct options *o, const char *value, struct error *err)
{
    (void)value, (void)err;
    o->explain = true;
    return true;
}

static bool take_tensor_sums(struct options *o, const char *value, struct error *err)
{
    o->hw_sums = strcmp(value, "hw") == 0;
    if (!o->hw_sums && strcmp(value, "ieee") != 0)
        return error_set(err, EXIT_USAGE, "--tensor-sums: `%.40s` is neither ieee nor hw",
                         value);
    return true;
}

static bool take_no_color(struct options *o, const char *value, struct error *err)
{
    (void)value, (void)err;
    o->no_color = true;
    return true;
}

static bool take_list_action(struct options *o, const char *value, struct error *err)
{
    (void)err;
    o->action = value ? ACTION_LIST_PTX : ACTION_LIST;
    return true;
}

static bool take_devices(struct options *o, const char *value, struct error *err)
{
    (void)value, (void)err;
    o->action = ACTION_DEVICES;
    return true;
}

static bool take_version(struct options *o, const char *value, struct error *err)
{
    (void)value, (void)err;
    o->action = ACTION_VERSION;
    return true;
}

static bool take_help(struct options *o, const char *value, struct error *err)
{
    (void)value, (void)err;
    o->action = ACTION_HELP;
    return true;
}

/* --- the table ------------------------------------------------------------------- */

#define TEXT(field) offsetof(struct options, field)
#define GUEST(field) offsetof(struct options, guest.field)

static const struct option_row rows[] = {
    {"device", 'd', "DEVICE", NULL, take_device,
     "auto (default: the first NVIDIA GPU, else the simulated A100),\n"
     "gpu, gpu:1, sim, sim:a100, sim:h100, sim:4090, sim:NAME, cpu",
     0},
    {"size", 's', "SIZE", NULL, take_sizes,
     "N for N x N x N, MxNxK, FROM:TO:STEP, or a comma list of these;\n"
     "C is M x N, the sums run over K",
     0},
    {"kernel", 'k', "NAMES", NULL, take_kernels,
     "only these rungs: name (naive), stem (01_naive), lesson number (1),\n"
     "exercise, all; comma list",
     0},
    {"lesson", 'l', "N", NULL, take_lesson,
     "the rungs of lesson N (default: the lesson that was built)", 0},
    {"a", 0, "A.npy", NULL, NULL, "your own matrix A, M x K, in NumPy's format", TEXT(a)},
    {"b", 0, "B.npy", NULL, NULL, "your own matrix B, K x N", TEXT(b)},
    {"out", 0, "C.npy", NULL, NULL, "write A * B here, if it passed the check",
     TEXT(out)},
    {"against", 0, "CARDS", NULL, take_against,
     "compare with these published peaks (default a100,h100,4090)", 0},
    {"reps", 0, "N", NULL, take_reps, "timed runs (default: until the median settles)",
     0},
    {"warmup", 0, "N", NULL, take_warmup, "runs before the timed ones", 0},
    {"seed", 0, "N", NULL, take_seed, "of the random matrices (default 1)", 0},
    {"threads", 0, "N", NULL, take_threads,
     "threads of the CPU rungs and of the simulator", 0},
    {"check", 0, NULL, "0", take_check,
     "all checks of the simulator: races, uninitialized reads, ...;\n"
     "--check 0: no verdict, and so no rate",
     0},
    {"steps", 0, "N", NULL, take_steps,
     "instructions of a block's warps after which the simulator takes it\n"
     "to be in an endless loop (default 2^28, with --check 2^27)",
     0},
    {"tensor-sums", 0, "ieee|hw", NULL, take_tensor_sums,
     "how simulated tensor cores add: rounded at every step (default), or as\n"
     "measured on cards: aligned, cut off, a group of products at once",
     0},
    {"counters", 0, NULL, NULL, take_counters,
     "what the simulator counted, under Nsight Compute's names", 0},
    {"explain", 0, NULL, NULL, take_explain,
     "what each memory instruction costs, and the worst access as a picture", 0},
    {"json", 0, "FILE|-", NULL, NULL,
     "one JSON object a line; with - nothing else goes to standard output", TEXT(json)},
    {"cu", 0, "FILE", NULL, NULL,
     "run somebody else's kernel: CUDA C, compiled by nvcc (or clang) now;\n"
     "with -k beside these rungs",
     GUEST(cu)},
    {"ptx", 0, "FILE", NULL, NULL, "the same from PTX, a fatbin or a cubin", GUEST(ptx)},
    {"entry", 0, "NAME", NULL, NULL, "its name, or a part that no other kernel has",
     GUEST(entry)},
    {"grid", 0, "X[,Y,Z]", NULL, NULL,
     "its blocks: numbers or formulas in M, N, K; / rounds up: N/16,M/16", GUEST(grid)},
    {"block", 0, "X[,Y,Z]", NULL, NULL, "threads of a block", GUEST(block)},
    {"cluster", 0, "X[,Y,Z]", NULL, NULL, "blocks of a cluster (only 1 so far)",
     GUEST(cluster)},
    {"smem", 0, "BYTES", NULL, NULL, "its dynamic shared memory", GUEST(smem)},
    {"args", 0, "LIST", NULL, NULL,
     "its parameters in order: A, B, C (pointers), M, N, K, lda, ldb, ldc,\n"
     "f:1.5 d:1.5 h:1.5 (float, double, half), i:3 l:M (32, 64 bits),\n"
     "buf:BYTES (zeroed memory); C:f16 if C is not of the sum's type",
     GUEST(args)},
    {"expect", 0, "WHAT", NULL, NULL,
     "gemm: check C = alpha * A * B + beta * C; the first f: is alpha,\n"
     "the second beta (else 1 and 0). none: only run it",
     GUEST(expect)},
    {"in", 0, "TYPE", NULL, NULL, "of its A and B: f32, f16, bf16, tf32, f64, s8",
     GUEST(in)},
    {"acc", 0, "TYPE", NULL, NULL, "of its sums: f32, f16, bf16, f64, s32", GUEST(acc)},
    {"layout", 0, "LAYOUT", NULL, NULL,
     "row (default) or col; nn, nt, tn, tt: t = A or B lies transposed;\n"
     "both: col-nt",
     GUEST(layout)},
    {"list", 0, NULL, "ptx", take_list_action,
     "the rungs in this program; --list ptx: the PTX that the simulator knows", 0},
    {"devices", 0, NULL, NULL, take_devices,
     "what is in this machine, and what can be simulated", 0},
    {"no-color", 0, NULL, NULL, take_no_color, "no colours (also: NO_COLOR=1)", 0},
    {"version", 0, NULL, NULL, take_version, "version, compilers, number of known cards",
     0},
    {"help", 'h', NULL, NULL, take_help, "this text", 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

void options_print_help(FILE *out)
{
    fputs("usage: ./run [OPTION]...\n"
          "Runs the rungs of a lesson on the best device here, checks every result, and\n"
          "compares the rate with published peaks.\n\n",
          out);
    for (int i = 0; i < ROWS; i++) {
        char left[40], letter[8] = "    ";
        if (rows[i].letter)
            snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
        snprintf(left, sizeof left, "  %s--%s%s%s%s%s", letter, rows[i].name,
                 rows[i].argument ? " " : "", rows[i].argument ? rows[i].argument : "",
                 rows[i].word ? " " : "", rows[i].word ? "[" : "");
        if (rows[i].word)
            snprintf(left + strlen(left), sizeof left - strlen(left), "%s]",
                     rows[i].word);
        const char *line = rows[i].help;
        for (const char *shown = left; line; shown = "") {
            const char *end = strchr(line, '\n');
            int length = end ? (int)(end - line) : (int)strlen(line);
            fprintf(out, "%-24s %.*s\n", shown, length, line);
            line = end ? end + 1 : NULL;
        }
    }
    tools_print_help(out);
    fputs(
        "\nExit status: 0 good; 1 a wrong result or a fault found in a kernel; 2 bad "
        "usage\n"
        "or bad input; 3 the asked-for device or tool is missing; 4 a fault of our own;\n"
        "130 interrupted.\n",
        out);
}

/* --- parsing --------------------------------------------------------------------- */

static bool unknown_option(const char *shown, const char *name, struct error *err)
{
    const char *names[ROWS + TOOLS_MAX];
    for (int i = 0; i < ROWS; i++)
        names[i] = rows[i].name;
    int count = ROWS + tools_names(names + ROWS);
    const char *nearest = name_nearest(name, names, count);
    if (nearest)
        return error_set(err, EXIT_USAGE,
                         "there is no option `%.60s`: did you mean --%s?", shown,
                         nearest);
    return error_set(err, EXIT_USAGE, "there is no option `%.60s`: see ./run --help",
                     shown);
}

/* The row of `argument`, and *value if it is written in the same word:
 * --size=512, -s512. */
static const struct option_row *find_row(const char *argument, const char **value,
                                         struct error *err)
{
    const char *equals = strchr(argument, '=');
    bool is_long = argument[1] == '-';
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    for (int i = 0; i < ROWS; i++) {
        if (is_long && strlen(rows[i].name) == length - 2 &&
            strncmp(rows[i].name, argument + 2, length - 2) == 0) {
            *value = equals ? equals + 1 : NULL;
            return &rows[i];
        }
        if (!is_long && rows[i].letter == argument[1]) {
            *value = argument[2] ? argument + 2 + (argument[2] == '=') : NULL;
            return &rows[i];
        }
    }
    char name[64];
    size_t skip = is_long ? 2 : 1;
    snprintf(name, sizeof name, "%.*s", (int)(length - skip), argument + skip);
    unknown_option(argument, name, err);
    return NULL;
}

/* Is this word an option? "-1" is a value, though hardly a good one; "-" is a file. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]);
}

static bool take_value(const struct option_row *row, struct options *o, const char *value,
                       struct error *err)
{
    if (row->take)
        return row->take(o, value, err);
    if (*value == '\0')
        return error_set(err, EXIT_USAGE, "--%s: the value is empty: give --%s %s",
                         row->name, row->name, row->argument);
    memcpy((char *)o + row->text, &value, sizeof value);
    return true;
}

/* Take the option at argv[*index] and its value, and move *index to the last word
 * used. */
static bool take_option(int argc, char **argv, int *index, struct options *o,
                        struct error *err)
{
    const char *argument = argv[*index], *value = NULL;
    if (argument[0] != '-' || argument[1] == '\0')
        return error_set(err, EXIT_USAGE,
                         "`%.60s` is no option: did you mean -k %.60s or -s %.60s? See "
                         "./run --help",
                         argument, argument, argument);
    if (strcmp(argument, "--") == 0)
        return *index + 1 == argc ||
               error_set(err, EXIT_USAGE, "`%.60s`: no argument may follow --",
                         argv[*index + 1]);
    const struct option_row *row = find_row(argument, &value, err);
    if (!row)
        return false;
    const char *next = *index + 1 < argc ? argv[*index + 1] : NULL;
    if (!value && row->argument) {
        if (!next || is_option(next))
            return error_set(err, EXIT_USAGE, "--%s needs a value: --%s %s", row->name,
                             row->name, row->argument);
        value = next;
        ++*index;
    } else if (!value && row->word && next && strcmp(next, row->word) == 0) {
        value = next;
        ++*index;
    } else if (value && !row->argument && !(row->word && strcmp(value, row->word) == 0)) {
        return error_set(err, EXIT_USAGE, "--%s: `%.60s` will not do: it takes %s%s",
                         row->name, value, row->word ? "only " : "no value",
                         row->word ? row->word : "");
    }
    return take_value(row, o, value, err);
}

/* Options of somebody else's kernel, and what does not go with one. */
static bool check_guest(const struct options *o, struct error *err)
{
    bool guest = o->guest.ptx || o->guest.cu;
    for (int i = 0; i < ROWS; i++) {
        const char *given = NULL;
        if (!rows[i].take && rows[i].text >= TEXT(guest))
            memcpy(&given, (const char *)o + rows[i].text, sizeof given);
        if (given && !guest)
            return error_set(err, EXIT_USAGE, "--%s goes with --cu FILE or --ptx FILE",
                             rows[i].name);
    }
    if (!guest)
        return true;
    const char *wrong = o->guest.ptx && o->guest.cu ? "--ptx"
                        : o->lesson > 0             ? "--lesson"
                        : o->a                      ? "--a and --b"
                        : o->device == WISH_CPU     ? "--device cpu"
                                                    : NULL;
    return !wrong || error_set(err, EXIT_USAGE, "%s cannot be given with --%s", wrong,
                               o->guest.cu ? "cu" : "ptx");
}

/* Options that cannot stand together. */
static bool check_conflicts(const struct options *o, struct error *err)
{
    if (!o->a != !o->b)
        return error_set(err, EXIT_USAGE,
                         "--%s needs --%s as well: a product has two "
                         "factors",
                         o->a ? "a" : "b", o->a ? "b" : "a");
    if (o->out && !o->a)
        return error_set(err, EXIT_USAGE,
                         "--out needs --a and --b: without them the "
                         "matrices are random");
    if (o->a && o->size_count > 0)
        return error_set(err, EXIT_USAGE,
                         "--size cannot be given with --a and --b: the "
                         "files say how large the matrices are");
    if (o->out && !o->verify)
        return error_set(err, EXIT_USAGE,
                         "--out cannot be given with --check 0: only a "
                         "checked result is written");
    if (o->json && o->action != ACTION_RUN && o->action != ACTION_DEVICES)
        return error_set(err, EXIT_USAGE,
                         "--json goes with a run or with --devices only");
    return check_guest(o, err);
}

bool options_parse(int argc, char **argv, struct options *options, struct error *err)
{
    *options = (struct options){.gpu = -1, .seed = 1, .verify = true};
    for (int i = 1; i < argc; i++) {
        if (!take_option(argc, argv, &i, options, err)) {
            options_free(options);
            return false;
        }
        if (options->action == ACTION_HELP)
            return true;
    }
    if (!check_conflicts(options, err)) {
        options_free(options);
        return false;
    }
    return true;
}

void options_free(struct options *options)
{
    free(options->sizes);
    free(options->kernels.storage);
    free(options->against.storage);
    options->sizes = NULL;
    options->size_count = 0;
    options->kernels = options->against = (struct name_list){0};
}
