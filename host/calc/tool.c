/* tool.c - the table of tools. Of two tools on one command line the first row runs. */
#include "tool.h"

#include <string.h>

#include "calc.h"

static const struct tool tools[] = {
    {"convert", "VALUE", "a rate, an amount of work or a size in every unit",
     convert_main},
};

enum { TOOLS = sizeof tools / sizeof *tools };

_Static_assert(sizeof tools / sizeof *tools <= TOOLS_MAX, "raise TOOLS_MAX");

/* "--gpus", "--gpus=..." */
static bool is_option(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
           (word[2 + length] == '\0' || word[2 + length] == '=');
}

const struct tool *tool_find(int argc, char **argv)
{
    for (int t = 0; t < TOOLS; t++)
        for (int i = 1; i < argc; i++)
            if (is_option(argv[i], tools[t].name))
                return &tools[t];
    return NULL;
}

void tools_print_help(FILE *out)
{
    fputs("\nCalculators (each takes --help):\n", out);
    for (int t = 0; t < TOOLS; t++) {
        char left[40];
        snprintf(left, sizeof left, "      --%s %s", tools[t].name, tools[t].argument);
        fprintf(out, "%-24s %s\n", left, tools[t].help);
    }
}

int tools_names(const char *names[TOOLS_MAX])
{
    for (int t = 0; t < TOOLS; t++)
        names[t] = tools[t].name;
    return TOOLS;
}
