/* model.c - counts and a card -> a predicted time.
 *
 * Each resource of the card gets the time it would need alone; the largest rules, and
 * a factor stands for what never overlaps. A wave of blocks that does not fill the
 * card wastes the rest of it.
 *
 *   issue     4 schedulers a SM, one warp instruction a clock each
 *   FMA ...   results a clock and SM (CUDA C++ Programming Guide, 5.4.1)
 *   tensor    FLOP a clock and SM behind the published peaks, at the tensor clock
 *   shared    one wavefront a clock and SM
 *   L1        loads: 4 sectors a clock and SM (128 bytes), one request at least;
 *             a request moves 4 lines a clock
 *   L2, DRAM  bytes a clock of the chip, published bandwidth
 *   latency   Little's law: warps in flight against the latency of their loads
 *
 * Fit: on the H100 counters at 8192 cubed of HamzaElshafie/h100_gemm the busiest pipe
 * of the smem, 1-D, 2-D, vector and warp-tile kernels stood at 0.72 to 0.87 of its
 * limit, so BUSY = 0.82 for issue and shared memory. A stream of arithmetic alone loses
 * no issue slot: the loss grows with the square of the others' share and is whole from
 * OTHER_SHARE on (the warp tile has 14 % of them). PTX instructions stand in for
 * machine instructions; addresses and moves that ptxas folds away are counted as
 * PTX_SHARE of them, arithmetic fully.
 */
#include <math.h>

#include "counters.h"

#define BUSY 0.82      /* issue slots and shared memory */
#define BUSY_DRAM 0.91 /* a copy reaches 85 to 95 % of the published bandwidth */
#define BUSY_L2 0.85
#define PTX_SHARE 0.85     /* machine instructions for a PTX one, not arithmetic */
#define OTHER_SHARE 0.1    /* of the instructions, from which BUSY holds */
#define MMA_ON_HOPPER 0.63 /* mma.sync against wgmma: 490.7 of 756.5 (2402.13499) */

const char *sim_bound_name(enum sim_bound bound)
{
    static const char *const names[SIM_BOUNDS] = {
        [SIM_BOUND_LAUNCH] = "launch",       [SIM_BOUND_ISSUE] = "issue slots",
        [SIM_BOUND_FMA] = "FMA pipe",        [SIM_BOUND_ALU] = "ALU pipe",
        [SIM_BOUND_FP64] = "FP64 pipe",      [SIM_BOUND_XU] = "special functions",
        [SIM_BOUND_TENSOR] = "tensor cores", [SIM_BOUND_SHARED] = "shared memory",
        [SIM_BOUND_L1] = "L1 path",          [SIM_BOUND_L2] = "L2 bandwidth",
        [SIM_BOUND_DRAM] = "DRAM bandwidth", [SIM_BOUND_LATENCY] = "latency",
    };
    return names[bound];
}

const char *sim_pipe_name(enum sim_pipe pipe)
{
    static const char *const names[SIM_PIPES] = {
        [SIM_PIPE_FMA] = "fma",         [SIM_PIPE_ALU] = "alu",
        [SIM_PIPE_FP64] = "fp64",       [SIM_PIPE_FP16] = "fp16",
        [SIM_PIPE_XU] = "xu",           [SIM_PIPE_LSU] = "lsu",
        [SIM_PIPE_TENSOR] = "tensor",   [SIM_PIPE_CONTROL] = "cbu",
        [SIM_PIPE_UNIFORM] = "uniform",
    };
    return names[pipe];
}

/* Cycles that `warp_ops` warp operations take at `lanes` results a clock on one of
 * `sms` SMs. */
static double pipe_cycles(double warp_ops, double lanes, double sms)
{
    return lanes > 0 ? warp_ops * LANES / lanes / sms : 0;
}

/* Cycles of one SM for all tensor work. */
static double tensor_cycles(const struct sim_spec *s, const struct sim_counters *c)
{
    const int rates[TENSOR_CLASSES] = {[TENSOR_F16_ACC32] = s->tensor_f16_acc32,
                                       [TENSOR_F16_ACC16] = s->tensor_f16_acc16,
                                       [TENSOR_BF16] = s->tensor_bf16,
                                       [TENSOR_TF32] = s->tensor_tf32,
                                       [TENSOR_INT8] = s->tensor_int8,
                                       [TENSOR_F64] = s->tensor_fp64};
    double share = s->cc_major == 9 ? MMA_ON_HOPPER : 1, cycles = 0;
    for (int i = 0; i < TENSOR_CLASSES; i++)
        if (rates[i] > 0)
            cycles += (double)c->tensor_flops_by[i] / (rates[i] * share);
    return cycles;
}

/* Average latency of a load that must be waited for, cycles. */
static double load_latency(const struct sim_spec *s, const struct sim_counters *c)
{
    double sectors = (double)c->l1_sectors, hits = (double)c->l1_sector_hits;
    if (sectors == 0)
        return s->latency_smem;
    double l1 = hits / sectors;
    double reads = (double)c->l2_sectors_read;
    double l2 = reads > 0 ? (double)c->l2_sector_hits / reads : 1;
    return l1 * s->latency_l1 +
           (1 - l1) * (l2 * s->latency_l2 + (1 - l2) * s->latency_dram);
}

/* Little's law: every warp waits for its loads; a handful of independent loads are
 * in flight at once (LOADS_AHEAD), and resident warps overlap. */
static double latency_cycles(const struct sim_spec *s, const struct sim_report *r,
                             double sms)
{
    enum { LOADS_AHEAD = 4 };
    const struct sim_counters *c = &r->counters;
    double warps = (double)c->warps;
    if (warps == 0 || r->occupancy.warps_per_sm == 0)
        return 0;
    double loads = (double)(c->global_ld_requests + c->async_requests +
                            c->global_atom_requests + c->global_red_requests);
    double shared = (double)c->shared_ld_requests;
    double wait = loads / warps * load_latency(s, c) / LOADS_AHEAD +
                  shared / warps * s->latency_smem / LOADS_AHEAD / 2;
    double resident = fmin(r->occupancy.warps_per_sm, warps / sms);
    return wait * warps / sms / (resident > 1 ? resident : 1);
}

/* Cycles of the issue slots of one SM for all instructions. */
static double issue_cycles(const struct sim_counters *c)
{
    enum { SCHEDULERS = 4 };
    double all = (double)c->inst_executed;
    double arithmetic =
        (double)(c->pipe[SIM_PIPE_FMA] + c->pipe[SIM_PIPE_FP64] + c->pipe[SIM_PIPE_FP16] +
                 c->pipe[SIM_PIPE_XU] + c->pipe[SIM_PIPE_TENSOR]);
    double other = fmax(all - arithmetic, 0);
    double mix = fmin(other / fmax(all, 1) / OTHER_SHARE, 1);
    double loss = (1 - BUSY) * mix * mix;
    return (all - other + other * PTX_SHARE) / SCHEDULERS / (1 - loss);
}

void model_predict(const struct sim_spec *s, struct sim_report *r)
{
    const struct sim_counters *c = &r->counters;
    double blocks = (double)c->blocks;
    double slots = (double)s->sm_count *
                   (r->occupancy.blocks_per_sm > 0 ? r->occupancy.blocks_per_sm : 1);
    /* SMs that work, and how full the last wave is */
    double sms = fmin(blocks, s->sm_count);
    double waves = ceil(blocks / slots);
    double even = ceil(blocks / s->sm_count) * s->sm_count;
    double fill = blocks <= s->sm_count ? 1 : blocks / even;
    if (waves > 8)
        fill = fmax(fill, blocks / (waves * slots));
    r->wave_efficiency = blocks > 0 ? fill : 1;
    sms = fmax(sms * fill, 1);
    double clock = s->clock_mhz * 1e3; /* cycles a millisecond */
    double tensor_clock = s->tensor_clock_mhz * 1e3;
    double *ms = r->ceiling_ms;
    double loads = (double)(c->global_ld_sectors + c->async_sectors);
    double local = (double)(c->local_ld_sectors + c->local_st_sectors);
    double l1 = fmax(loads / 4, (double)(c->global_ld_requests + c->async_requests +
                                         c->global_st_requests)) +
                (double)c->global_st_sectors / 4 + local / 4;
    /* requests for many lines: one line of tags each quarter clock */
    double wavefronts = (double)(c->shared_ld_wavefronts + c->shared_st_wavefronts +
                                 c->shared_atom_wavefronts + c->async_wavefronts);
    ms[SIM_BOUND_LAUNCH] = s->launch_us / 1e3;
    ms[SIM_BOUND_ISSUE] = issue_cycles(c) / sms / clock;
    ms[SIM_BOUND_FMA] =
        pipe_cycles((double)c->pipe[SIM_PIPE_FMA], s->fp32_lanes_sm, sms) / clock;
    ms[SIM_BOUND_ALU] =
        pipe_cycles((double)c->pipe[SIM_PIPE_ALU] * PTX_SHARE, s->int32_lanes_sm, sms) /
        clock;
    ms[SIM_BOUND_FP64] =
        pipe_cycles((double)c->pipe[SIM_PIPE_FP64], s->fp64_lanes_sm, sms) / clock;
    ms[SIM_BOUND_XU] =
        pipe_cycles((double)c->pipe[SIM_PIPE_XU], s->sfu_lanes_sm, sms) / clock;
    ms[SIM_BOUND_TENSOR] = tensor_cycles(s, c) / sms / tensor_clock;
    ms[SIM_BOUND_SHARED] = wavefronts / sms / BUSY / clock;
    ms[SIM_BOUND_L1] = l1 / sms / BUSY / clock;
    ms[SIM_BOUND_L2] = (double)(c->l2_sectors_read + c->l2_sectors_write) * 32 /
                       (s->l2_bytes_clk * BUSY_L2) / clock;
    ms[SIM_BOUND_DRAM] = (double)(c->dram_bytes_read + c->dram_bytes_write) /
                         (s->dram_gbs * 1e6 * BUSY_DRAM);
    ms[SIM_BOUND_LATENCY] = latency_cycles(s, r, fmin(blocks, s->sm_count)) / clock;
    int best = SIM_BOUND_LAUNCH;
    double rest = 0;
    for (int i = SIM_BOUND_ISSUE; i < SIM_BOUNDS; i++) {
        if (ms[i] > (best == SIM_BOUND_LAUNCH ? 0 : ms[best])) {
            best = i;
            rest = ms[i];
        }
    }
    r->predicted_ms = ms[SIM_BOUND_LAUNCH] + rest;
    r->bound_by = rest < ms[SIM_BOUND_LAUNCH] ? SIM_BOUND_LAUNCH : (enum sim_bound)best;
}
