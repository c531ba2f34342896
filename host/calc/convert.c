/* convert.c - ./run --convert 312TFLOPS: one value in every unit of its kind.
 *
 * FLOPS is a rate (floating-point operations a second), FLOP an amount of work. Decimal
 * prefixes are powers of 1000, KiB, MiB, GiB and TiB of 1024 (IEC 80000-13).
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "flags.h"

struct unit {
    const char *name;
    double factor;
};

struct unit_kind {
    const char *what;
    struct unit units[16];
};

static const struct unit_kind kinds[] = {
    {"rate of work",
     {{"FLOPS", 1},
      {"KFLOPS", 1e3},
      {"MFLOPS", 1e6},
      {"GFLOPS", 1e9},
      {"TFLOPS", 1e12},
      {"PFLOPS", 1e15},
      {"EFLOPS", 1e18}}},
    {"amount of work",
     {{"FLOP", 1},
      {"KFLOP", 1e3},
      {"MFLOP", 1e6},
      {"GFLOP", 1e9},
      {"TFLOP", 1e12},
      {"PFLOP", 1e15},
      {"EFLOP", 1e18},
      {"ZFLOP", 1e21}}},
    {"size",
     {{"B", 1},
      {"KB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
      {"TB", 1e12},
      {"KiB", 1024.0},
      {"MiB", 1048576.0},
      {"GiB", 1073741824.0},
      {"TiB", 1099511627776.0}}},
    {"bandwidth",
     {{"B/s", 1},
      {"MB/s", 1e6},
      {"GB/s", 1e9},
      {"TB/s", 1e12},
      {"GiB/s", 1073741824.0},
      {"TiB/s", 1099511627776.0}}},
};

static bool same_unit(const char *a, const char *b)
{
    while (*a && toupper((unsigned char)*a) == toupper((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

static const struct unit_kind *find_unit(const char *text, double *factor)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (const struct unit *unit = kinds[k].units; unit->name; unit++)
            if (same_unit(text, unit->name)) {
                *factor = unit->factor;
                return &kinds[k];
            }
    return NULL;
}

static bool read_value(const char *text, const char *unit, double *value,
                       const struct unit_kind **kind, struct error *err)
{
    char *end = NULL;
    double factor;
    bool starts = isdigit((unsigned char)*text) || *text == '.';
    double number = starts ? strtod(text, &end) : NAN;
    if (!starts || end == text)
        return error_set(err, EXIT_USAGE,
                         "--convert: `%.60s` is no number with a unit: give one like "
                         "312TFLOPS, 3.14e23FLOP, 80GB or 2TB/s",
                         text);
    while (*end == ' ')
        end++;
    *kind = find_unit(*end == '\0' && unit ? unit : end, &factor);
    if (!*kind || (*end != '\0' && unit))
        return error_set(
            err, EXIT_USAGE,
            "--convert: `%.60s` has no unit known here: give FLOPS (a rate), "
            "FLOP (work), B, GiB (sizes) or GB/s, with a prefix K to E",
            text);
    *value = number * factor;
    if (!isfinite(*value) || *value > 1e36)
        return error_set(err, EXIT_USAGE, "--convert: `%.60s` is too large", text);
    return true;
}

int convert_main(int argc, char **argv, struct error *err)
{
    const char *text = NULL, *unit = NULL;
    int words = 0;
    const struct flag flags[] = {
        {"convert", "VALUE", FLAG_TEXT, &text, 0, 0, {0}, "312TFLOPS, 3.14e23FLOP, 80GB"},
    };
    const struct flag_table table = {
        "A value in every unit of its kind. FLOPS is a rate, FLOP an amount of work.",
        "./run --convert VALUE", flags, sizeof flags / sizeof *flags, 1};
    enum flags_read read = flags_parse(argc, argv, &table, &unit, &words, err);
    double value = 0;
    const struct unit_kind *kind = NULL;
    if (read == FLAGS_HELP)
        return EXIT_GOOD;
    if (read == FLAGS_BAD || !read_value(text, unit, &value, &kind, err))
        return err->status;
    printf("%s%s%s, a %s:\n", text, unit ? " " : "", unit ? unit : "", kind->what);
    for (const struct unit *row = kind->units; row->name; row++)
        printf("  %20.10g %s\n", value / row->factor, row->name);
    return EXIT_GOOD;
}
