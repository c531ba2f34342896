/* test_options.c - the command line: what is taken, and how what is wrong is said. */
#include "../host/options.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WORDS = 16 };

/* Split at blanks into an argv that starts with ./run; "_" stands for "". */
static int split(char *line, char **argv)
{
    static char name[] = "./run", empty[] = "";
    int argc = 0;
    argv[argc++] = name;
    for (char *word = strtok(line, " "); word && argc < WORDS; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "_") == 0 ? empty : word;
    return argc;
}

static bool parse(const char *line, char *copy, struct options *o, struct error *err)
{
    char *argv[WORDS + 1] = {0};
    strcpy(copy, line);
    *err = (struct error){0};
    return options_parse(split(copy, argv), argv, o, err);
}

Test(options, takes_sizes)
{
    static const struct {
        const char *line;
        int count;
        struct size first, last;
    } cases[] = {
        {"-s 512", 1, {512, 512, 512}, {512, 512, 512}},
        {"-s512", 1, {512, 512, 512}, {512, 512, 512}},
        {"-s=512", 1, {512, 512, 512}, {512, 512, 512}},
        {"--size=1", 1, {1, 1, 1}, {1, 1, 1}},
        {"--size 1048576", 1, {1048576, 1048576, 1048576}, {1048576, 1048576, 1048576}},
        {"--size 3x5x7", 1, {3, 5, 7}, {3, 5, 7}},
        {"--size 32:96:32", 3, {32, 32, 32}, {96, 96, 96}},
        {"--size 32:95:32", 2, {32, 32, 32}, {64, 64, 64}},
        {"--size 8:8:1", 1, {8, 8, 8}, {8, 8, 8}},
        {"--size 7,1x2x3,10:20:5", 5, {7, 7, 7}, {20, 20, 20}},
        {"--size 7 --size 9", 1, {9, 9, 9}, {9, 9, 9}},
        {"--size 1:1000:1", 1000, {1, 1, 1}, {1000, 1000, 1000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        struct error err;
        char copy[200];
        cr_assert(parse(cases[i].line, copy, &o, &err), "%s: %s", cases[i].line,
                  err.text);
        cr_assert_eq(o.size_count, cases[i].count, "%s: %d sizes", cases[i].line,
                     o.size_count);
        cr_assert(memcmp(&o.sizes[0], &cases[i].first, sizeof(struct size)) == 0, "%s",
                  cases[i].line);
        cr_assert(
            memcmp(&o.sizes[o.size_count - 1], &cases[i].last, sizeof(struct size)) == 0,
            "%s", cases[i].line);
        options_free(&o);
    }
}

Test(options, takes_devices)
{
    static const struct {
        const char *line;
        enum device_wish device;
        int gpu;
        const char *card;
    } cases[] = {
        {"", WISH_AUTO, -1, NULL},
        {"-d auto", WISH_AUTO, -1, NULL},
        {"-d gpu", WISH_GPU, -1, NULL},
        {"-d gpu:0", WISH_GPU, 0, NULL},
        {"--device=gpu:7", WISH_GPU, 7, NULL},
        {"-d sim", WISH_SIM, -1, NULL},
        {"-d sim:h100", WISH_SIM, -1, "h100"},
        {"-d cpu", WISH_CPU, -1, NULL},
        {"-d gpu:3 -d auto", WISH_AUTO, -1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        struct error err;
        char copy[200];
        cr_assert(parse(cases[i].line, copy, &o, &err), "%s: %s", cases[i].line,
                  err.text);
        cr_assert_eq(o.device, cases[i].device, "%s", cases[i].line);
        cr_assert_eq(o.gpu, cases[i].gpu, "%s", cases[i].line);
        if (cases[i].card)
            cr_assert_str_eq(o.sim_card, cases[i].card);
        else
            cr_assert_null(o.sim_card, "%s", cases[i].line);
        options_free(&o);
    }
}

Test(options, takes_the_rest)
{
    struct options o;
    struct error err;
    char copy[300];
    cr_assert(parse("-k naive,3 -l 2 --reps 5 --warmup=2 --threads 3", copy, &o, &err));
    cr_assert_eq(o.kernels.count, 2);
    cr_assert_str_eq(o.kernels.items[0], "naive");
    cr_assert_str_eq(o.kernels.items[1], "3");
    cr_assert(o.lesson == 2 && o.reps == 5 && o.warmup == 2 && o.threads == 3);
    cr_assert(o.verify && !o.check_all && !o.counters && o.seed == 1 && o.steps == 0);
    options_free(&o);
    cr_assert(parse("--steps 9 --seed 18446744073709551615 --check --counters --no-color",
                    copy, &o, &err));
    cr_assert(o.seed == UINT64_MAX && o.steps == 9 && o.check_all && o.verify &&
              o.counters && o.no_color);
    options_free(&o);
    cr_assert(parse("--check 0 --json - --against h100,4090", copy, &o, &err));
    cr_assert(!o.check_all && !o.verify && o.against.count == 2);
    cr_assert_str_eq(o.json, "-");
    options_free(&o);
    cr_assert(parse("--a A.npy --b=-B.npy --out C.npy", copy, &o, &err));
    cr_assert_str_eq(o.a, "A.npy");
    cr_assert_str_eq(o.b, "-B.npy");
    cr_assert_str_eq(o.out, "C.npy");
    options_free(&o);
}

Test(options, takes_actions)
{
    static const struct {
        const char *line;
        enum action action;
    } cases[] = {
        {"", ACTION_RUN},
        {"--list", ACTION_LIST},
        {"--list ptx", ACTION_LIST_PTX},
        {"--list=ptx", ACTION_LIST_PTX},
        {"--devices", ACTION_DEVICES},
        {"--devices --json -", ACTION_DEVICES},
        {"--version", ACTION_VERSION},
        {"--help", ACTION_HELP},
        {"-h", ACTION_HELP},
        {"--help --nonsense", ACTION_HELP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        struct error err;
        char copy[200];
        cr_assert(parse(cases[i].line, copy, &o, &err), "%s: %s", cases[i].line,
                  err.text);
        cr_assert_eq(o.action, cases[i].action, "%s", cases[i].line);
        options_free(&o);
    }
}

/* Each message must name the option or value and say what is allowed. */
Test(options, refuses_and_says_why)
{
    static const struct {
        const char *line, *says[3];
    } cases[] = {
        {"-s 12x", {"--size", "`12x`", "MxNxK"}},
        {"-s 0", {"`0`", "from 1 to 1048576"}},
        {"-s -k 1", {"--size needs a value"}},
        {"-s 1048577", {"`1048577`", "1048576"}},
        {"-s 99999999999999999999", {"is not a size"}},
        {"-s 1x2", {"`1x2`"}},
        {"-s 1x2x3x4", {"`1x2x3x4`"}},
        {"-s 1x2:3", {"`1x2:3`"}},
        {"-s 1:2", {"`1:2`", "FROM:TO:STEP"}},
        {"-s 1:9:0", {"`1:9:0`"}},
        {"-s 9:1:1", {"FROM must not be larger"}},
        {"-s 1:2000:1", {"more than 1000 sizes"}},
        {"-s 5,", {"``"}},
        {"-s ,5", {"``"}},
        {"-s 5.5", {"`5.5`"}},
        {"-s 0x10", {"`0x10`"}},
        {"-s _", {"``"}},
        {"-s", {"--size needs a value"}},
        {"-s --json", {"--size needs a value"}},
        {"-d tpu", {"--device", "`tpu`", "auto, gpu"}},
        {"-d gpu:", {"`gpu:`"}},
        {"-d gpu:x", {"`gpu:x`"}},
        {"-d gpu:-1", {"`gpu:-1`"}},
        {"-d sim:", {"`sim:`"}},
        {"-k a,,b", {"--kernel", "empty name"}},
        {"-k _", {"empty name"}},
        {"-l 0", {"--lesson", "`0`", "from 1 to 99"}},
        {"-l three", {"`three`"}},
        {"--reps 0", {"--reps", "from 1 to 100000"}},
        {"--reps 1e3", {"`1e3`"}},
        {"--reps -1", {"--reps", "`-1`", "from 1 to 100000"}},
        {"-s -5", {"--size", "`-5`", "MxNxK"}},
        {"--warmup +1", {"--warmup", "`+1`"}},
        {"--threads 4096", {"--threads", "from 1 to 1024"}},
        {"--seed 18446744073709551616", {"--seed", "18446744073709551615"}},
        {"--seed=-1", {"--seed", "`-1`"}},
        {"--steps 0", {"--steps", "`0`", "from 1 to"}},
        {"--against a,b,c,d,e,f,g", {"--against", "at most 5"}},
        {"--json _", {"--json", "empty"}},
        {"--json", {"--json needs a value"}},
        {"--json - --list", {"--json", "--devices"}},
        {"--counters=3", {"--counters", "no value"}},
        {"--check=1", {"--check", "only 0"}},
        {"--list=sass", {"--list", "only ptx"}},
        {"--a A.npy", {"--a needs --b"}},
        {"--b B.npy", {"--b needs --a"}},
        {"--out C.npy", {"--out needs --a and --b"}},
        {"--a A.npy --b B.npy -s 5", {"--size cannot be given"}},
        {"--a A --b B --out C --check 0", {"--out cannot be given"}},
        {"--sise 5", {"`--sise`", "did you mean --size"}},
        {"--dev cpu", {"did you mean --device"}},
        {"--no-colour", {"did you mean --no-color"}},
        {"--counter", {"did you mean --counters"}},
        {"--frobnicate", {"`--frobnicate`", "--help"}},
        {"-z", {"`-z`", "--help"}},
        {"naive", {"`naive` is no option", "-k naive"}},
        {"-", {"`-` is no option"}},
        {"-- naive", {"no argument may follow"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        struct error err;
        char copy[200];
        cr_assert(!parse(cases[i].line, copy, &o, &err), "`%s` was taken", cases[i].line);
        cr_assert_eq(err.status, EXIT_USAGE, "%s: status %d", cases[i].line, err.status);
        for (int j = 0; j < 3 && cases[i].says[j]; j++)
            cr_assert(strstr(err.text, cases[i].says[j]), "%s: \"%s\" lacks \"%s\"",
                      cases[i].line, err.text, cases[i].says[j]);
    }
}

Test(options, help_shows_every_option_in_100_columns)
{
    static const char *const shown[] = {
        "-d, --device", "-s, --size", "-k, --kernel", "-l, --lesson", "--a A.npy",
        "--b ",         "--out",      "--against",    "--reps",       "--warmup",
        "--seed",       "--check",    "--counters",   "--json",       "--list [ptx]",
        "--devices",    "--threads",  "--steps",      "--no-color",   "--version",
        "-h, --help",   "Exit status"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    options_print_help(out);
    fclose(out);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        cr_assert(strstr(text, shown[i]), "--help lacks %s", shown[i]);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        cr_assert_leq(strlen(line), 100, "too wide: %s", line);
    free(text);
}
