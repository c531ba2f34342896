/* explain.c - see explain.h. */
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>

static void fill_site(const struct launch *launch, const struct code *code, uint32_t pc,
                      const struct op_counts *o, struct sim_site *site)
{
    sim_locate(launch, code, pc, site->file, sizeof site->file, &site->line);
    if (code->ops[pc].merged != 0)
        snprintf(site->text, sizeof site->text, "%.60s, merged to %d bytes",
                 code->function->insns[pc].text, code->ops[pc].merged);
    else
        snprintf(site->text, sizeof site->text, "%s", code->function->insns[pc].text);
    site->shared = o->shared;
    site->store = o->store;
    site->bytes = o->bytes;
    site->requests = o->requests;
    site->cost = o->cost;
    site->ideal = o->ideal;
    site->worst_cost = o->worst_cost;
    site->worst_ideal = o->worst_ideal;
    site->mask = o->mask;
    site->warp = o->warp;
    site->block[0] = (unsigned)(o->block % launch->grid[0]);
    site->block[1] = (unsigned)(o->block / launch->grid[0] % launch->grid[1]);
    site->block[2] = (unsigned)(o->block / launch->grid[0] / launch->grid[1]);
    memcpy(site->address, o->address, sizeof site->address);
}

static int by_place(const void *a, const void *b)
{
    const struct sim_site *x = a, *y = b;
    int file = strcmp(x->file, y->file), text = strcmp(x->text, y->text);
    return x->line != y->line ? x->line - y->line
           : file != 0        ? file
           : text != 0        ? text
                              : x->shared - y->shared;
}

/* A line that the compiler unrolled is one site: copies of an instruction are summed, and
 * the access that wastes most stands for all. */
static int merge_copies(struct sim_site *sites, int count)
{
    int kept = 0;
    qsort(sites, (size_t)count, sizeof *sites, by_place);
    for (int i = 0; i < count; i++) {
        struct sim_site *last = kept > 0 ? &sites[kept - 1] : NULL;
        if (last == NULL || by_place(last, &sites[i]) != 0) {
            sites[kept++] = sites[i];
            continue;
        }
        uint64_t requests = last->requests + sites[i].requests,
                 cost = last->cost + sites[i].cost, ideal = last->ideal + sites[i].ideal;
        if (sites[i].worst_cost - sites[i].worst_ideal >
            last->worst_cost - last->worst_ideal)
            *last = sites[i];
        last->requests = requests;
        last->cost = cost;
        last->ideal = ideal;
    }
    return kept;
}

static int by_excess(const void *a, const void *b)
{
    const struct sim_site *x = a, *y = b;
    uint64_t ex = x->cost - x->ideal, ey = y->cost - y->ideal;
    return ex != ey             ? (ex < ey) - (ex > ey)
           : x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost)
                                : x->line - y->line;
}

struct sim_site *explain_sites(const struct launch *launch, int *count)
{
    struct sim_site *sites = xcalloc(launch->code->total_ops + 1, sizeof *sites);
    *count = 0;
    for (uint32_t i = 0; i < launch->code->callee_count; i++) {
        const struct code *code = launch->code->callees[i];
        for (uint32_t pc = 0; pc < code->op_count; pc++)
            if (launch->op_counts[code->base + pc].requests > 0)
                fill_site(launch, code, pc, &launch->op_counts[code->base + pc],
                          &sites[(*count)++]);
    }
    *count = merge_copies(sites, *count);
    qsort(sites, (size_t)*count, sizeof *sites, by_excess);
    return sites;
}
