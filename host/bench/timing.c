/* timing.c - repeat until the median settles. */
#include <stdlib.h>

#include "run_parts.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Spread: half the distance of the quartiles, in percent of the median. */
static void summarise(double *times, int count, struct timing *t)
{
    qsort(times, (size_t)count, sizeof *times, ascending);
    t->median_ms =
        count % 2 == 1 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
    double width = times[(count - 1) * 3 / 4] - times[(count - 1) / 4];
    t->spread_pct = t->median_ms > 0 ? 50 * width / t->median_ms : 0;
    t->reps = count;
}

bool timing_repeat(bool (*launch)(struct runner *r, double *ms), struct runner *r,
                   int reps, int warmup, double budget_ms, int least, struct timing *t)
{
    enum { MOST = 1000 };
    double times[MOST], spent = 0;
    int count = 0, most = reps > 0 && reps < MOST ? reps : MOST;
    for (int i = 0; i < warmup; i++)
        if (!launch(r, NULL))
            return false;
    while (count < most && (reps > 0 || count < least || spent < budget_ms)) {
        if (!launch(r, &times[count]))
            return false;
        spent += times[count++];
        if (reps == 0 && count >= least && count % 8 == 0) {
            double copy[MOST];
            for (int i = 0; i < count; i++)
                copy[i] = times[i];
            summarise(copy, count, t);
            if (t->spread_pct < 0.5)
                break;
        }
        if (interrupt_pending())
            return verdict_set(r->verdict, VERDICT_INTERRUPTED, "interrupted");
    }
    summarise(times, count, t);
    return true;
}
