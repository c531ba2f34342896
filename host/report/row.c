/* row.c - see row.h. */
#include "row.h"

#include <math.h>
#include <stdio.h>

bool row_is_cpu(const struct row *row)
{
    return row->result.rung.cpu != NULL;
}

bool row_passed(const struct row *row)
{
    return row->result.verdict.kind == VERDICT_PASS;
}

bool row_failed(const struct row *row)
{
    return !row_passed(row) && row->result.verdict.kind != VERDICT_SKIPPED;
}

const char *rung_name(const struct rung *rung)
{
    return rung->cpu ? rung->cpu->name : rung->info.name;
}

int rung_lesson(const struct rung *rung)
{
    return rung->cpu ? rung->cpu->lesson : rung->info.lesson;
}

void row_name(const struct row *row, char *name, size_t room)
{
    const struct rung *rung = &row->result.rung;
    if (rung->is_exercise)
        snprintf(name, room, "exercise (yours)");
    else
        snprintf(name, room, "%s%.40s", rung->cpu ? "CPU " : "", rung_name(rung));
}

double row_peak(const struct row *row, const struct card *card, bool *published)
{
    bool ignored;
    if (!published)
        published = &ignored;
    *published = false;
    const struct result *r = &row->result;
    if (!card && row_is_cpu(row))
        return r->device->cpu_peak_gflops > 0 ? r->device->cpu_peak_gflops / 1e3 : NAN;
    const struct peak_row *peak = card ? card->peak : r->device->peak;
    const struct kernel_info *info = &r->rung.info;
    return peak ? peak_tflops(peak, info->unit, info->in, info->acc, published) : NAN;
}

double row_percent(const struct row *row, const struct card *card)
{
    double peak = row_peak(row, card, NULL);
    if (!row_passed(row) || !(row->result.tflops > 0) || !(peak > 0))
        return NAN;
    return 100 * row->result.tflops / peak;
}
