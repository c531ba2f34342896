/* counters.c - see counters.h. Names and meaning of the metrics: Nsight Compute
 * documentation, "Metrics Reference"; formulas: host/sim/counters.c.
 *
 * Instruction counts of Nsight Compute are of machine code (SASS); ours are of
 * PTX, and carry the mark (ptx).
 */
#include "counters.h"

#include <math.h>
#include <string.h>

#include "grid.h"
#include "units.h"

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static const char exact[] = "exact", modelled[] = "modelled", estimated[] = "estimated";

/* One line: what it means, its value, how far to trust it, and its metric. */
static void put(struct grid *grid, const char *what, const struct unit_text value,
                const char *trust, const char *metric)
{
    int row = grid_add_row(grid);
    grid_set(grid, row, 0, STYLE_PLAIN, "%s", what);
    grid_set(grid, row, 1, STYLE_PLAIN, "%s", value.s);
    grid_set(grid, row, 2, STYLE_PLAIN, "%s", trust);
    grid_set(grid, row, 3, STYLE_DIM, "%s", metric);
}

static struct unit_text as_ratio(uint64_t part, uint64_t whole)
{
    struct unit_text text = {"-"};
    if (whole > 0)
        snprintf(text.s, sizeof text.s, "%.2f", ratio(part, whole));
    return text;
}

static struct unit_text as_percent(uint64_t part, uint64_t whole)
{
    struct unit_text text = {"-"};
    if (whole > 0)
        snprintf(text.s, sizeof text.s, "%.1f %%", 100 * ratio(part, whole));
    return text;
}

static void put_global(struct grid *grid, const struct sim_counters *c)
{
    put(grid, "global loads: sectors per request",
        as_ratio(c->global_ld_sectors, c->global_ld_requests), exact,
        "l1tex__average_t_sectors_per_request_..._op_ld");
    put(grid, "global loads: requests", format_count(c->global_ld_requests), exact,
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld");
    put(grid, "global stores: sectors per request",
        as_ratio(c->global_st_sectors, c->global_st_requests), exact,
        "l1tex__average_t_sectors_per_request_..._op_st");
    put(grid, "global stores: requests", format_count(c->global_st_requests), exact,
        "l1tex__t_requests_pipe_lsu_mem_global_op_st");
    if (c->global_atom_requests > 0)
        put(grid, "global atomics: sectors per request",
            as_ratio(c->global_atom_sectors, c->global_atom_requests), exact,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_atom");
    put(grid, "L1 hit rate of loads", as_percent(c->l1_sector_hits, c->l1_sectors),
        modelled, "l1tex__t_sector_hit_rate.pct");
    if (c->local_requests > 0)
        put(grid, "local memory (spills): sectors", format_count(c->local_sectors),
            estimated, "l1tex__t_sectors_pipe_lsu_mem_local");
}

static void put_shared(struct grid *grid, const struct sim_counters *c)
{
    uint64_t all = c->shared_ld_wavefronts + c->shared_st_wavefronts;
    uint64_t ideal = c->shared_ld_wavefronts_ideal + c->shared_st_wavefronts_ideal;
    if (all == 0)
        return;
    put(grid, "shared memory: wavefronts", format_count(all), exact,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared");
    put(grid, "shared memory: ideal wavefronts", format_count(ideal), exact,
        "memory_l1_wavefronts_shared_ideal");
    put(grid, "shared memory: lost to bank conflicts",
        format_count(all > ideal ? all - ideal : 0), exact,
        "derived__memory_l1_wavefronts_shared_excessive");
}

static void put_traffic(struct grid *grid, const struct sim_counters *c)
{
    put(grid, "L2: read", format_bytes(32.0 * (double)c->l2_sectors_read), modelled,
        "lts__t_sectors_op_read x 32");
    put(grid, "L2: written", format_bytes(32.0 * (double)c->l2_sectors_write), modelled,
        "lts__t_sectors_op_write x 32");
    put(grid, "L2 hit rate",
        as_percent(c->l2_sector_hits, c->l2_sectors_read + c->l2_sectors_write), modelled,
        "lts__t_sector_hit_rate.pct");
    put(grid, "DRAM: read", format_bytes((double)c->dram_bytes_read), modelled,
        "dram__bytes_read.sum");
    put(grid, "DRAM: written", format_bytes((double)c->dram_bytes_write), modelled,
        "dram__bytes_write.sum");
}

static void put_instructions(struct grid *grid, const struct sim_counters *c)
{
    put(grid, "warp instructions", format_count(c->inst_executed), exact,
        "smsp__inst_executed.sum (ptx)");
    for (int pipe = 0; pipe < SIM_PIPES; pipe++) {
        char what[40], metric[48];
        if (c->pipe[pipe] == 0)
            continue;
        snprintf(what, sizeof what, "  of these on the %.16s pipe", sim_pipe_name(pipe));
        snprintf(metric, sizeof metric, "sm__inst_executed_pipe_%.12s (ptx)",
                 sim_pipe_name(pipe));
        put(grid, what, as_percent(c->pipe[pipe], c->inst_executed), exact, metric);
    }
    put(grid, "lanes active per warp instruction",
        as_ratio(c->thread_inst_executed, c->inst_executed), exact,
        "smsp__thread_inst_executed_per_inst (ptx)");
    if (c->branches > 0)
        put(grid, "branches where the warp stayed together",
            as_percent(c->branches - c->branches_divergent, c->branches), exact,
            "smsp__sass_average_branch_targets_threads_un..");
    if (c->barriers > 0)
        put(grid, "barriers waited at, by warps", format_count(c->barriers), exact, "-");
}

static void put_occupancy(struct grid *grid, const struct sim_occupancy *o)
{
    const char *trust = o->registers_exact ? exact : estimated;
    struct unit_text text;
    snprintf(text.s, sizeof text.s, "%.0f %%", o->percent);
    put(grid, "occupancy (theoretical)", text, trust,
        "sm__maximum_warps_per_active_cycle_pct");
    snprintf(text.s, sizeof text.s, "%.24s", o->limiter ? o->limiter : "-");
    put(grid, "  limited by", text, trust, "launch__occupancy_limit_...");
    put(grid, "blocks per SM", format_count((uint64_t)o->blocks_per_sm), trust,
        "launch__occupancy_limit_...");
    put(grid, "registers per thread", format_count((uint64_t)o->registers_per_thread),
        trust, "launch__registers_per_thread");
    put(grid, "shared memory per block",
        format_bytes((double)(o->smem_static_bytes + o->smem_dynamic_bytes)), exact,
        "launch__shared_mem_per_block");
}

void counters_print(FILE *out, const struct row *rows, int row_count)
{
    bool any = false;
    for (int i = 0; i < row_count; i++) {
        const struct result *r = &rows[i].result;
        if (!r->has_counters)
            continue;
        any = true;
        char name[64];
        row_name(&rows[i], name, sizeof name);
        fprintf(out, "\n%s%s, %s%s%s\n", style_of(STYLE_BOLD), name,
                format_size(r->size.m, r->size.n, r->size.k).s,
                r->sampled ? ", scaled up from a sample of blocks" : "",
                style_of(STYLE_PLAIN));
        struct grid grid = {0};
        grid_add_column(&grid, (struct grid_column){.title = "counter", .left = true});
        grid_add_column(&grid, (struct grid_column){.title = "value"});
        grid_add_column(&grid, (struct grid_column){.title = "how", .left = true});
        grid_add_column(&grid, (struct grid_column){.title = "Nsight Compute",
                                                    .left = true,
                                                    .shortest = 20});
        put_global(&grid, &r->counters);
        put_shared(&grid, &r->counters);
        put_traffic(&grid, &r->counters);
        put_instructions(&grid, &r->counters);
        put_occupancy(&grid, &r->occupancy);
        grid_print(&grid, out);
    }
    fputc('\n', out);
    if (any)
        print_labelled(out, "exact",
                       "for the PTX that ran; machine code may merge or reorder loads. "
                       "modelled: follows a documented cache model. estimated: a guess "
                       "with a stated rule.");
    else
        print_labelled(out, "counters",
                       "only the simulator counts: -d sim. On a real GPU "
                       "use NVIDIA Nsight Compute (ncu ./run ...).");
}
