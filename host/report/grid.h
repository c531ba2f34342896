/* grid.h - text in columns that never gets wider than a page: gaps shrink first,
 * then long names are cut, then the least important columns go. */
#ifndef PEAKBOUND_REPORT_GRID_H
#define PEAKBOUND_REPORT_GRID_H

#include <stdio.h>

#include "style.h"

enum { GRID_COLUMNS = 20, PAGE_WIDTH = 100 };

struct grid_column {
    const char *title;
    const char *over; /* title above it; neighbours with the same one share it */
    bool left;        /* aligned left; numbers stand right */
    int drop;         /* goes first if larger; 0 = never */
    int shortest;     /* may be cut down to this width; 0 = never */
};

struct grid {
    struct grid_column column[GRID_COLUMNS];
    int columns, rows;
    struct grid_cell {
        char text[96];
        enum style style;
    } * cells; /* [rows][GRID_COLUMNS] */
};

/* The index of the new column. */
int grid_add_column(struct grid *grid, struct grid_column column);
int grid_add_row(struct grid *grid);
/* Bytes that are not printable ASCII become '?'. */
void grid_set(struct grid *grid, int row, int column, enum style style,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Prints and frees. */
void grid_print(struct grid *grid, FILE *out);

/* "label    text", the text wrapped at PAGE_WIDTH and indented under itself. */
void print_labelled(FILE *out, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
