/* test_model.c - occupancy against the CUDA occupancy calculator, predicted times against
 * peaks and against times of real cards. */
#include <criterion/criterion.h>
#include <math.h>

#include "../host/report/peaks.h"
#include "../host/sim/counters.h"

static struct sim_spec card(const char *alias)
{
    char candidates[100];
    struct sim_spec spec;
    const struct peak_row *row = peak_find(alias, candidates, sizeof candidates);
    cr_assert(row != NULL && peak_sim_spec(row, &spec), "%s", alias);
    return spec;
}

/* --- occupancy ------------------------------------------------------------------------ */

/* Blocks from cudaOccMaxActiveBlocksPerMultiprocessor of cuda_occupancy.h, CUDA 13.0. */
Test(model, blocks_per_sm_are_those_of_the_cuda_calculator)
{
    static const struct {
        const char *card;
        int registers, threads, shared, blocks;
    } cases[] = {
        {"a100", 128, 256, 33000, 2}, {"a100", 64, 1024, 0, 1},
        {"a100", 65, 1024, 0, 0},     {"a100", 32, 256, 0, 8},
        {"a100", 40, 384, 16384, 4},  {"a100", 33, 96, 1024, 16},
        {"a100", 16, 32, 0, 32},      {"3090", 32, 256, 0, 6},
        {"3090", 40, 1024, 0, 1},     {"3090", 168, 128, 49152, 2},
        {"4090", 72, 160, 8192, 5},   {"4090", 16, 33, 1, 24},
        {"h100", 168, 384, 66000, 1}, {"h100", 96, 320, 17000, 2},
        {"h100", 255, 256, 0, 1},     {"h100", 32, 1024, 163840, 1},
        {"t4", 64, 256, 16384, 4},    {"t4", 48, 192, 3000, 5},
        {"v100", 64, 288, 0, 3},      {"v100", 128, 128, 33000, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_spec spec = card(cases[i].card);
        struct sim_occupancy o = {0};
        occupancy_compute(&spec, cases[i].registers, cases[i].threads, 0,
                          (uint64_t)cases[i].shared, &o);
        cr_expect_eq(o.blocks_per_sm, cases[i].blocks,
                     "%s, %d registers, %d threads, %d bytes: %d blocks, must be %d",
                     cases[i].card, cases[i].registers, cases[i].threads, cases[i].shared,
                     o.blocks_per_sm, cases[i].blocks);
    }
}

/* Theoretical occupancy that Nsight Compute shows for a ladder on an H100
 * (HamzaElshafie/h100_gemm). */
Test(model, occupancy_is_that_of_nsight_compute)
{
    static const struct {
        int registers, threads, shared;
        double percent;
        const char *limiter;
    } cases[] = {
        {32, 1024, 8192, 100, "warps"},
        {39, 512, 4096, 75, "registers"},
        {96, 256, 8192, 25, "registers"},
        {107, 256, 8192, 25, "registers"},
        {165, 128, 16384, 18.75, "registers"},
        {32, 128, 65536, 18.75, "shared memory"},
        {16, 32, 0, 50, "blocks"},
    };
    struct sim_spec spec = card("h100");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_occupancy o = {0};
        occupancy_compute(&spec, cases[i].registers, cases[i].threads,
                          (uint64_t)cases[i].shared, 0, &o);
        cr_expect_float_eq(o.percent, cases[i].percent, 1e-9, "case %zu: %g, must be %g",
                           i, o.percent, cases[i].percent);
        cr_expect_str_eq(o.limiter, cases[i].limiter, "case %zu: %s, must be %s", i,
                         o.limiter, cases[i].limiter);
    }
}

/* --- time ----------------------------------------------------------------------------- */

static const char *const cards[] = {"a100", "h100", "4090", "3090", "a6000",
                                    "v100", "t4",   "l40s", "h200"};

/* A report of full waves: 64 blocks of 8 warps for each SM, 8 blocks at a time. */
static struct sim_report full_waves(const struct sim_spec *spec)
{
    struct sim_report r = {0};
    r.occupancy.blocks_per_sm = 8;
    r.occupancy.warps_per_sm = 64;
    r.counters.blocks = r.counters.blocks_run = (uint64_t)spec->sm_count * 64;
    r.counters.warps = r.counters.blocks * 8;
    return r;
}

static double tflops(double flops, const struct sim_report *r)
{
    return flops / (r->predicted_ms * 1e9);
}

Test(model, multiply_adds_alone_reach_the_fp32_peak_and_no_more)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        struct sim_spec spec = card(cards[i]);
        struct sim_report r = full_waves(&spec);
        uint64_t fma = r.counters.warps * 200000;
        r.counters.pipe[SIM_PIPE_FMA] = fma;
        r.counters.inst_executed = fma + fma / 200; /* a well unrolled loop */
        model_predict(&spec, &r);
        double peak = 2e-6 * spec.fp32_lanes_sm * (double)spec.sm_count * spec.clock_mhz;
        double share = tflops((double)fma * 64, &r) / peak;
        cr_expect(share >= 0.98 && share <= 1, "%s: %.4f of the peak, %s", cards[i],
                  share, sim_bound_name(r.bound_by));
    }
}

Test(model, tensor_work_alone_reaches_what_mma_sync_can)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        struct sim_spec spec = card(cards[i]);
        struct sim_report r = full_waves(&spec);
        uint64_t flops = r.counters.warps * 100000 * 4096;
        r.counters.pipe[SIM_PIPE_TENSOR] = r.counters.inst_executed =
            r.counters.warps * 100000;
        r.counters.tensor_flops = r.counters.tensor_flops_by[TENSOR_F16_ACC32] = flops;
        model_predict(&spec, &r);
        double peak =
            1e-6 * spec.tensor_f16_acc32 * (double)spec.sm_count * spec.tensor_clock_mhz;
        double share = tflops((double)flops, &r) / peak;
        /* Hopper gives mma.sync less than two thirds of what wgmma gets */
        double least = spec.cc_major == 9 ? 0.61 : 0.98;
        double most = spec.cc_major == 9 ? 0.65 : 1;
        cr_expect(share >= least && share <= most, "%s: %.4f of the peak", cards[i],
                  share);
        cr_expect_eq(r.bound_by, SIM_BOUND_TENSOR, "%s: %s", cards[i],
                     sim_bound_name(r.bound_by));
    }
}

/* float4 in, float4 out, 1 GiB each. */
Test(model, a_copy_gets_85_to_95_percent_of_the_bandwidth)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        struct sim_spec spec = card(cards[i]);
        struct sim_report r = full_waves(&spec);
        struct sim_counters *c = &r.counters;
        uint64_t bytes = (uint64_t)1 << 30, requests = bytes / 512;
        c->blocks = requests / 8;
        c->warps = requests;
        c->inst_executed = 12 * requests;
        c->global_ld_requests = c->global_st_requests = requests;
        c->global_ld_sectors = c->global_st_sectors = c->l1_sectors = bytes / 32;
        c->l2_sectors_read = c->l2_sectors_write = bytes / 32;
        c->dram_bytes_read = c->dram_bytes_write = bytes;
        model_predict(&spec, &r);
        double share = 2.0 * (double)bytes / (r.predicted_ms * 1e6) / spec.dram_gbs;
        cr_expect(share >= 0.85 && share <= 0.95, "%s: %.3f of the bandwidth, %s",
                  cards[i], share, sim_bound_name(r.bound_by));
    }
}

/* Machine counters of five FP32 kernels at 8192 cubed on an H100, decoded from the
 * profiles of HamzaElshafie/h100_gemm; clock of the profiler 1.6 GHz. */
struct profile {
    const char *kernel;
    uint64_t blocks;
    int registers, threads, shared;
    double instructions, fma_share, wavefronts, load_sectors, load_requests, dram,
        l2_hits;
    double cycles;
};

static const struct profile ladder[] = {
    {"shared tile", 65536, 32, 1024, 8192, 4.52e10, .38, 2.696e10, 4.303e9, 1.076e9,
     69.8e9, .389, 233.6e6},
    {"1-D", 16384, 39, 512, 4096, 2.82e10, .609, 1.1323e10, 2.156e9, 5.39e8, 34.1e9, .409,
     106.6e6},
    {"2-D", 4096, 96, 256, 8192, 2.49e10, .69, 8.904e9, 1.141e9, 2.71e8, 4.93e9, .772,
     84.9e6},
    {"2-D, float4", 4096, 107, 256, 8192, 2.02e10, .849, 5.804e9, 1.091e9, 6.76e7, 14.3e9,
     .513, 58.0e6},
    {"warp tile", 4096, 165, 128, 16384, 1.99e10, .862, 3.364e9, 1.082e9, 6.76e7, 12.1e9,
     .543, 52.3e6},
};

static double predict_cycles(const struct profile *p)
{
    struct sim_spec spec = card("h100");
    struct sim_report r = {0};
    struct sim_counters *c = &r.counters;
    spec.clock_mhz = 1600;
    occupancy_compute(&spec, p->registers, p->threads, (uint64_t)p->shared, 0,
                      &r.occupancy);
    c->blocks = p->blocks;
    c->warps = p->blocks * (uint64_t)p->threads / 32;
    c->inst_executed = (uint64_t)p->instructions;
    c->pipe[SIM_PIPE_FMA] = (uint64_t)(p->instructions * p->fma_share);
    c->shared_ld_wavefronts = (uint64_t)p->wavefronts;
    c->global_ld_sectors = c->l1_sectors = (uint64_t)p->load_sectors;
    c->global_ld_requests = (uint64_t)p->load_requests;
    c->l2_sectors_read = (uint64_t)p->load_sectors;
    c->l2_sector_hits = (uint64_t)(p->load_sectors * p->l2_hits);
    c->dram_bytes_read = (uint64_t)p->dram;
    model_predict(&spec, &r);
    return r.predicted_ms * spec.clock_mhz * 1e3;
}

Test(model, the_ladder_of_an_h100_keeps_its_order_and_its_times)
{
    double before = INFINITY, sum = 0;
    size_t count = sizeof ladder / sizeof *ladder;
    for (size_t i = 0; i < count; i++) {
        double cycles = predict_cycles(&ladder[i]);
        double error = cycles / ladder[i].cycles - 1;
        cr_expect(fabs(error) <= 0.15, "%s: %.1f M cycles, measured %.1f: %+.1f %%",
                  ladder[i].kernel, cycles / 1e6, ladder[i].cycles / 1e6, 100 * error);
        cr_expect_lt(cycles, before, "%s is not faster than the rung before",
                     ladder[i].kernel);
        before = cycles;
        sum += fabs(error);
    }
    cr_expect_leq(sum / (double)count, 0.08, "mean error %.3f", sum / (double)count);
}

Test(model, a_launch_without_work_costs_the_launch)
{
    struct sim_spec spec = card("a100");
    struct sim_report r = {0};
    model_predict(&spec, &r);
    cr_expect_float_eq(r.predicted_ms, spec.launch_us / 1e3, 1e-12);
    cr_expect_eq(r.bound_by, SIM_BOUND_LAUNCH);
    cr_expect_float_eq(r.wave_efficiency, 1, 1e-12);
}

/* One block more than the SMs hold takes a second round. */
Test(model, a_started_wave_is_paid_for)
{
    struct sim_spec spec = card("a100");
    double ms[2];
    for (uint64_t i = 0; i < 2; i++) {
        struct sim_report r = full_waves(&spec);
        r.occupancy.blocks_per_sm = 1;
        r.counters.blocks = (uint64_t)spec.sm_count + i;
        r.counters.warps = r.counters.blocks * 8;
        r.counters.pipe[SIM_PIPE_FMA] = r.counters.inst_executed =
            r.counters.warps * 1000000;
        model_predict(&spec, &r);
        ms[i] = r.ceiling_ms[SIM_BOUND_FMA];
    }
    cr_expect_float_eq(ms[1] / ms[0], 2, 1e-6, "%g, then %g ms", ms[0], ms[1]);
}
