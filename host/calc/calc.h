/* calc.h - the tools of tool.c, one a file. Each reads its own command line and returns
 * the exit status (struct tool). */
#ifndef PEAKBOUND_CALC_CALC_H
#define PEAKBOUND_CALC_CALC_H

#include "../error.h"

int convert_main(int argc, char **argv, struct error *err);

#endif
