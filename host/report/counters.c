/* counters.c - see counters.h. One table holds a row for each counter: what it tells,
 * how it is computed from the simulator's fields, how far to trust it, and the name of
 * the same thing in Nsight Compute (its documentation, "Metrics Reference").
 *
 * Instruction counts of Nsight Compute are of machine code (SASS); ours are of PTX, and
 * carry the mark (ptx).
 */
#include "counters.h"

#include <string.h>

#include "grid.h"
#include "units.h"

enum formula {
    COUNT,   /* a */
    RATIO,   /* a / b */
    SHARE,   /* a / b, in percent */
    REST,    /* (b - a) / b, in percent */
    EXCESS,  /* a - b */
    SECTORS, /* a * 32 bytes */
    BYTES,   /* a bytes */
    OCCUPANCY,
    LIMITER,
    BLOCKS_PER_SM,
    REGISTERS,
    SHARED_BYTES,
    LOCAL_BYTES
};

enum trust { EXACT, MODELLED, ESTIMATED };

#define FIELD(name) offsetof(struct sim_counters, name)
#define PIPE(index) (FIELD(pipe) + (index) * sizeof(uint64_t))

static const struct counter {
    const char *what;
    enum formula formula;
    size_t a, b; /* fields of struct sim_counters */
    enum trust trust;
    const char *metric;
} counters[] = {
    {"global loads: sectors/request", RATIO, FIELD(global_ld_sectors),
     FIELD(global_ld_requests), EXACT,
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"},
    {"global loads: requests", COUNT, FIELD(global_ld_requests), 0, EXACT,
     "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"global stores: sectors/request", RATIO, FIELD(global_st_sectors),
     FIELD(global_st_requests), EXACT,
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
    {"global stores: requests", COUNT, FIELD(global_st_requests), 0, EXACT,
     "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"global atomics: requests", COUNT, FIELD(global_atom_requests), 0, EXACT,
     "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
    {"global reductions: requests", COUNT, FIELD(global_red_requests), 0, EXACT,
     "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
    {"cp.async: sectors/request", RATIO, FIELD(async_sectors), FIELD(async_requests),
     EXACT, "sectors read / requests of cp.async"},
    {"cp.async: requests", COUNT, FIELD(async_requests), 0, EXACT,
     "smsp__inst_executed_op_ldgsts.sum"},
    {"cp.async: sectors read", COUNT, FIELD(async_sectors), 0, EXACT,
     "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_*.sum"},
    {"local loads: requests", COUNT, FIELD(local_ld_requests), 0, ESTIMATED,
     "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"},
    {"local stores: requests", COUNT, FIELD(local_st_requests), 0, ESTIMATED,
     "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"},
    {"L1 hit rate of global loads", SHARE, FIELD(l1_sector_hits), FIELD(l1_sectors),
     MODELLED, "l1tex__t_sector_hit_rate.pct"},
    {"shared: merged as ptxas does", COUNT, FIELD(shared_merged), 0, EXACT,
     "accesses of PTX counted as part of a 64- or 128-bit one"},
    {"shared loads: wavefronts", COUNT, FIELD(shared_ld_wavefronts), 0, EXACT,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
    {"  of these, bank conflicts", EXCESS, FIELD(shared_ld_wavefronts),
     FIELD(shared_ld_wavefronts_ideal), EXACT,
     "derived__memory_l1_wavefronts_shared_excessive, loads"},
    {"  of these, ldmatrix", COUNT, FIELD(ldmatrix_wavefronts), 0, EXACT,
     "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"},
    {"  conflicts of ldmatrix", EXCESS, FIELD(ldmatrix_wavefronts),
     FIELD(ldmatrix_wavefronts_ideal), EXACT,
     "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum"},
    {"ldmatrix: requests", COUNT, FIELD(ldmatrix_requests), 0, EXACT,
     "smsp__inst_executed_op_ldsm.sum"},
    {"shared stores: wavefronts", COUNT, FIELD(shared_st_wavefronts), 0, EXACT,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
    {"  of these, bank conflicts", EXCESS, FIELD(shared_st_wavefronts),
     FIELD(shared_st_wavefronts_ideal), EXACT,
     "derived__memory_l1_wavefronts_shared_excessive, stores"},
    {"cp.async: shared wavefronts", COUNT, FIELD(async_wavefronts), 0, EXACT,
     "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"},
    {"  conflicts of cp.async", EXCESS, FIELD(async_wavefronts),
     FIELD(async_wavefronts_ideal), EXACT,
     "derived__memory_l1_wavefronts_shared_excessive, of ldgsts"},
    {"shared atomics: requests", COUNT, FIELD(shared_atom_requests), 0, EXACT,
     "smsp__inst_executed_op_shared_atom.sum"},
    {"shared atomics: wavefronts", COUNT, FIELD(shared_atom_wavefronts), 0, MODELLED,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"},
    {"L2: sectors read", COUNT, FIELD(l2_sectors_read), 0, MODELLED,
     "lts__t_sectors_op_read.sum"},
    {"L2: sectors written", COUNT, FIELD(l2_sectors_write), 0, MODELLED,
     "lts__t_sectors_op_write.sum"},
    {"L2: read", SECTORS, FIELD(l2_sectors_read), 0, MODELLED,
     "lts__t_sectors_op_read.sum x 32 bytes"},
    {"L2: written", SECTORS, FIELD(l2_sectors_write), 0, MODELLED,
     "lts__t_sectors_op_write.sum x 32 bytes"},
    {"L2 hit rate of reads", SHARE, FIELD(l2_sector_hits), FIELD(l2_sectors_read),
     MODELLED, "lts__t_sector_op_read_hit_rate.pct"},
    {"DRAM: read", BYTES, FIELD(dram_bytes_read), 0, MODELLED, "dram__bytes_read.sum"},
    {"DRAM: written", BYTES, FIELD(dram_bytes_write), 0, MODELLED,
     "dram__bytes_write.sum"},
    {"warp instructions", COUNT, FIELD(inst_executed), 0, EXACT,
     "smsp__inst_executed.sum (ptx)"},
    {"  FMA pipe", SHARE, PIPE(SIM_PIPE_FMA), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_fma (ptx)"},
    {"  ALU pipe", SHARE, PIPE(SIM_PIPE_ALU), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_alu (ptx)"},
    {"  FP64 pipe", SHARE, PIPE(SIM_PIPE_FP64), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_fp64 (ptx)"},
    {"  FP16 pipe", SHARE, PIPE(SIM_PIPE_FP16), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_fp16 (ptx)"},
    {"  special functions (XU)", SHARE, PIPE(SIM_PIPE_XU), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_xu (ptx)"},
    {"  loads and stores (LSU)", SHARE, PIPE(SIM_PIPE_LSU), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_lsu (ptx)"},
    {"  tensor cores", SHARE, PIPE(SIM_PIPE_TENSOR), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_tensor (ptx)"},
    {"  branches and barriers", SHARE, PIPE(SIM_PIPE_CONTROL), FIELD(inst_executed),
     EXACT, "sm__inst_executed_pipe_cbu (ptx)"},
    {"  uniform for the warp", SHARE, PIPE(SIM_PIPE_UNIFORM), FIELD(inst_executed), EXACT,
     "sm__inst_executed_pipe_uniform (ptx)"},
    {"active lanes per instruction", RATIO, FIELD(thread_inst_executed),
     FIELD(inst_executed), EXACT,
     "smsp__thread_inst_executed_per_inst_executed.ratio (ptx)"},
    {"branches the warp takes as one", REST, FIELD(branches_divergent), FIELD(branches),
     EXACT, "smsp__sass_average_branch_targets_threads_uniform.pct"},
    {"occupancy, theoretical", OCCUPANCY, 0, 0, ESTIMATED,
     "sm__maximum_warps_per_active_cycle_pct"},
    {"  limited by", LIMITER, 0, 0, ESTIMATED,
     "launch__occupancy_limit_{registers,shared_mem,blocks,warps}"},
    {"  blocks per SM", BLOCKS_PER_SM, 0, 0, ESTIMATED, "the least of these"},
    {"registers per thread", REGISTERS, 0, 0, ESTIMATED, "launch__registers_per_thread"},
    {"shared memory per block", SHARED_BYTES, 0, 0, EXACT,
     "launch__shared_mem_per_block"},
    {"local memory per thread", LOCAL_BYTES, 0, 0, ESTIMATED,
     "cuFuncGetAttribute: LOCAL_SIZE_BYTES (arrays, spilled registers)"},
};
enum { COUNTERS = sizeof counters / sizeof *counters, RUNGS_ABREAST = 4 };

static uint64_t field(const struct result *r, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)&r->counters + offset, sizeof value);
    return value;
}

static struct unit_text as_ratio(double value)
{
    struct unit_text text;
    snprintf(text.s, sizeof text.s, "%.2f", value);
    return text;
}

static struct unit_text as_percent(double value)
{
    struct unit_text text;
    snprintf(text.s, sizeof text.s, "%.1f %%", value);
    return text;
}

static struct unit_text value_of(const struct counter *c, const struct result *r)
{
    static const struct unit_text none = {"-"};
    const struct sim_occupancy *o = &r->occupancy;
    uint64_t a = field(r, c->a), b = field(r, c->b);
    struct unit_text text = none;
    switch (c->formula) {
    case COUNT:
        return format_count(a);
    case EXCESS:
        return format_count(a > b ? a - b : 0);
    case SECTORS:
        return format_bytes(32.0 * (double)a);
    case BYTES:
        return format_bytes((double)a);
    case RATIO:
        return b > 0 ? as_ratio((double)a / (double)b) : none;
    case SHARE:
        return b > 0 ? as_percent(100 * (double)a / (double)b) : none;
    case REST:
        return b > 0 ? as_percent(100 * (double)(b - a) / (double)b) : none;
    case OCCUPANCY:
        return as_percent(o->percent);
    case LIMITER:
        snprintf(text.s, sizeof text.s, "%.20s", o->limiter ? o->limiter : "-");
        return text;
    case BLOCKS_PER_SM:
        return format_count((uint64_t)o->blocks_per_sm);
    case REGISTERS:
        return format_count((uint64_t)o->registers_per_thread);
    case SHARED_BYTES:
        return format_bytes((double)(o->smem_static_bytes + o->smem_dynamic_bytes));
    case LOCAL_BYTES:
        return format_bytes((double)o->local_bytes);
    }
    return text;
}

/* Registers are known where machine code for this card was compiled. */
static const char *trust_of(const struct counter *c, const struct row *const *rows,
                            int count)
{
    bool exact = c->trust == EXACT || c->formula >= OCCUPANCY;
    for (int i = 0; i < count && c->trust == ESTIMATED; i++)
        exact = exact && rows[i]->result.occupancy.registers_exact;
    return exact ? "exact" : c->trust == MODELLED ? "modelled" : "estimated";
}

/* Counters that are zero for all rungs are left out. */
static bool tells_something(const struct counter *c, const struct row *const *rows,
                            int count)
{
    for (int i = 0; i < count; i++)
        if (c->formula >= OCCUPANCY || c->formula == REST ||
            field(&rows[i]->result, c->a))
            return true;
    return false;
}

/* A few rungs side by side; `named` collects which counters were shown. */
static void print_abreast(FILE *out, const struct row *const *rows, int count,
                          bool *named)
{
    struct grid grid = {0};
    char titles[RUNGS_ABREAST][64];
    grid_add_column(
        &grid, (struct grid_column){.title = "counter", .left = true, .shortest = 24});
    for (int i = 0; i < count; i++) {
        const struct result *r = &rows[i]->result;
        row_name(rows[i], titles[i], sizeof titles[i]);
        size_t used = strlen(titles[i]);
        snprintf(titles[i] + used, sizeof titles[i] - used, " %s",
                 format_size(r->size.m, r->size.n, r->size.k).s);
        grid_add_column(&grid, (struct grid_column){.title = titles[i], .shortest = 14});
    }
    grid_add_column(&grid, (struct grid_column){.title = "how", .left = true});
    for (int i = 0; i < COUNTERS; i++) {
        if (!tells_something(&counters[i], rows, count))
            continue;
        named[i] = true;
        int at = grid_add_row(&grid);
        grid_set(&grid, at, 0, STYLE_PLAIN, "%s", counters[i].what);
        for (int j = 0; j < count; j++)
            grid_set(&grid, at, 1 + j, STYLE_PLAIN, "%s",
                     value_of(&counters[i], &rows[j]->result).s);
        grid_set(&grid, at, 1 + count, STYLE_PLAIN, "%s",
                 trust_of(&counters[i], rows, count));
    }
    fputc('\n', out);
    grid_print(&grid, out);
}

static void print_legend(FILE *out, const bool *named)
{
    struct grid grid = {0};
    grid_add_column(&grid, (struct grid_column){.title = "counter", .left = true});
    grid_add_column(
        &grid, (struct grid_column){.title = "its name in Nsight Compute", .left = true});
    for (int i = 0; i < COUNTERS; i++) {
        if (!named[i])
            continue;
        int at = grid_add_row(&grid);
        grid_set(&grid, at, 0, STYLE_PLAIN, "%s", counters[i].what);
        grid_set(&grid, at, 1, STYLE_PLAIN, "%s", counters[i].metric);
    }
    fputc('\n', out);
    grid_print(&grid, out);
    fputc('\n', out);
    print_labelled(
        out, "how",
        "exact: for the PTX that ran, neighbouring accesses to shared memory merged as "
        "ptxas does. "
        "modelled: by a documented model of the caches. estimated: a guess with "
        "a stated rule.");
}

void counters_print(FILE *out, const struct row *rows, int row_count)
{
    const struct row *abreast[RUNGS_ABREAST];
    bool named[COUNTERS] = {false}, sampled = false, any = false;
    int count = 0;
    for (int i = 0; i < row_count; i++) {
        if (rows[i].result.has_counters && !row_failed(&rows[i])) {
            abreast[count++] = &rows[i];
            sampled = sampled || rows[i].result.sampled;
            any = true;
        }
        if (count == RUNGS_ABREAST || (count > 0 && i == row_count - 1)) {
            print_abreast(out, abreast, count, named);
            count = 0;
        }
    }
    if (!any) {
        print_labelled(out, "counters",
                       "only the simulator counts: -d sim. On a real GPU "
                       "use NVIDIA Nsight Compute (ncu ./run ...)");
        return;
    }
    print_legend(out, named);
    if (sampled)
        print_labelled(out, "sampled", "counts are scaled up from the blocks that ran");
}
