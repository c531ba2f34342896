/* grid.c - see grid.h. */
#include "grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../error.h"

int grid_add_column(struct grid *grid, struct grid_column column)
{
    if (grid->columns == GRID_COLUMNS)
        die(EXIT_OURS, "a table has more than %d columns", GRID_COLUMNS);
    grid->column[grid->columns] = column;
    return grid->columns++;
}

int grid_add_row(struct grid *grid)
{
    size_t row_bytes = GRID_COLUMNS * sizeof *grid->cells;
    grid->cells = xrealloc(grid->cells, (size_t)(grid->rows + 1) * row_bytes);
    memset(&grid->cells[grid->rows * GRID_COLUMNS], 0, row_bytes);
    return grid->rows++;
}

static struct grid_cell *cell_at(const struct grid *grid, int row, int column)
{
    return &grid->cells[row * GRID_COLUMNS + column];
}

void grid_set(struct grid *grid, int row, int column, enum style style,
              const char *format, ...)
{
    if (column < 0)
        return;
    struct grid_cell *cell = cell_at(grid, row, column);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cell->text, sizeof cell->text, format, arguments);
    va_end(arguments);
    cell->style = style;
    for (char *c = cell->text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* --- widths ---------------------------------------------------------------------- */

struct layout {
    int width[GRID_COLUMNS]; /* 0 = dropped */
    int gap;
};

static int total_width(const struct grid *grid, const struct layout *layout)
{
    int total = -layout->gap;
    for (int c = 0; c < grid->columns; c++)
        if (layout->width[c] > 0)
            total += layout->width[c] + layout->gap;
    return total;
}

/* Cut the widest column that may be cut by one; false if there is none. */
static bool cut_one(const struct grid *grid, struct layout *layout)
{
    int widest = -1;
    for (int c = 0; c < grid->columns; c++)
        if (grid->column[c].shortest > 0 && layout->width[c] > grid->column[c].shortest &&
            (widest < 0 || layout->width[c] > layout->width[widest]))
            widest = c;
    if (widest < 0)
        return false;
    layout->width[widest]--;
    return true;
}

static bool drop_one(const struct grid *grid, struct layout *layout)
{
    int first = -1;
    for (int c = 0; c < grid->columns; c++)
        if (layout->width[c] > 0 && grid->column[c].drop > 0 &&
            (first < 0 || grid->column[c].drop > grid->column[first].drop))
            first = c;
    if (first < 0)
        return false;
    layout->width[first] = 0;
    return true;
}

static struct layout fit(const struct grid *grid)
{
    struct layout layout = {.gap = 2};
    for (int c = 0; c < grid->columns; c++) {
        layout.width[c] = (int)strlen(grid->column[c].title);
        for (int r = 0; r < grid->rows; r++) {
            int length = (int)strlen(cell_at(grid, r, c)->text);
            if (length > layout.width[c])
                layout.width[c] = length;
        }
    }
    if (total_width(grid, &layout) > PAGE_WIDTH)
        layout.gap = 1;
    while (total_width(grid, &layout) > PAGE_WIDTH &&
           (cut_one(grid, &layout) || drop_one(grid, &layout)))
        continue;
    return layout;
}

/* --- printing -------------------------------------------------------------------- */

/* `text` in `width` places; a text that is cut ends in "..". */
static void put_cell(FILE *out, const char *text, int width, bool left)
{
    int length = (int)strlen(text);
    int fill = length < width ? width - length : 0;
    if (!left)
        fprintf(out, "%*s", fill, "");
    if (length > width)
        fprintf(out, "%.*s..", width - 2, text);
    else
        fputs(text, out);
    if (left)
        fprintf(out, "%*s", fill, "");
}

/* The line above the titles: a name centred over the columns that share it. */
static void put_over_line(const struct grid *grid, const struct layout *layout, FILE *out)
{
    int pending = 0; /* blanks not yet printed: no line ends in blanks */
    bool any = false;
    for (int c = 0; c < grid->columns;) {
        const char *over = grid->column[c].over;
        int width = 0;
        do {
            if (layout->width[c] > 0)
                width += layout->width[c] + layout->gap;
            c++;
        } while (over && c < grid->columns && grid->column[c].over == over);
        width -= layout->gap;
        int rest = over ? width - (int)strlen(over) - 2 : -1;
        if (rest >= 0) {
            fprintf(out, "%*s", pending, "");
            for (int i = 0; i < rest / 2; i++)
                putc('-', out);
            fprintf(out, " %s", over);
            for (int i = rest / 2; i < rest; i++)
                fputs(i == rest / 2 ? " -" : "-", out);
            pending = layout->gap + (rest == 0);
            any = true;
        } else {
            pending += width + layout->gap;
        }
    }
    if (any)
        putc('\n', out);
}

/* Row -1 holds the titles. */
static void put_row(const struct grid *grid, const struct layout *layout, int row,
                    FILE *out)
{
    const char *text[GRID_COLUMNS];
    int last = 0;
    for (int c = 0; c < grid->columns; c++) {
        text[c] = row < 0 ? grid->column[c].title : cell_at(grid, row, c)->text;
        if (layout->width[c] > 0 && text[c][0])
            last = c;
    }
    for (int c = 0; c <= last; c++) {
        enum style style = row < 0 ? STYLE_BOLD : cell_at(grid, row, c)->style;
        bool left = grid->column[c].left;
        int length = (int)strlen(text[c]), width = layout->width[c];
        if (width == 0)
            continue;
        fputs(style == STYLE_PLAIN ? "" : style_of(style), out);
        put_cell(out, text[c], c == last && left && length < width ? length : width,
                 left);
        fputs(style == STYLE_PLAIN ? "" : style_of(STYLE_PLAIN), out);
        fprintf(out, "%*s", c < last ? layout->gap : 0, "");
    }
    putc('\n', out);
}

void grid_print(struct grid *grid, FILE *out)
{
    struct layout layout = fit(grid);
    put_over_line(grid, &layout, out);
    for (int row = -1; row < grid->rows; row++)
        put_row(grid, &layout, row, out);
    free(grid->cells);
    *grid = (struct grid){0};
}

void print_labelled(FILE *out, const char *label, const char *format, ...)
{
    enum { LABEL = 9 };
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(out, "%s%-*s%s", style_of(STYLE_BOLD), LABEL - 1, label,
            style_of(STYLE_PLAIN));
    int column = LABEL - 1;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \n", &rest); word;
         word = strtok_r(NULL, " \n", &rest)) {
        int length = (int)strlen(word);
        if (column + 1 + length > PAGE_WIDTH && column > LABEL) {
            fprintf(out, "\n%*s", LABEL - 1, "");
            column = LABEL - 1;
        }
        putc(' ', out);
        for (const char *c = word; *c; c++)
            putc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, out);
        column += 1 + length;
    }
    putc('\n', out);
}
