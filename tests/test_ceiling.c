/* test_ceiling.c - ceilings: predicted ones against published peaks for every card that can
 * be simulated, checks that can fail, the CPU's twins. */
#include <math.h>

#include "../host/bench/ceiling_parts.h"
#include "../host/cpu/machine.h"
#include "sim_fixture.h"

static const struct ceiling_options plain = {.seed = 3};

/* Calls `test` with each card of ./run --devices, opened. */
static void for_each_card(void (*test)(const struct device *device))
{
    struct sim_spec spec;
    int cards = 0;
    for (int i = 0; i < peak_table_count; i++) {
        struct device device;
        struct error err = {0};
        if (peak_table[i].cc < 75 || !peak_sim_spec(&peak_table[i], &spec))
            continue;
        struct sim_options options = {.spec = &spec, .spec_count = 1, .threads = 1};
        sim_configure(&options);
        cr_assert(device_open_cuda(&device, sim_driver(), BACKEND_SIM, 0, &err), "%s",
                  err.text);
        device.peak = &peak_table[i];
        test(&device);
        device_close(&device);
        cards++;
    }
    cr_expect_gt(cards, 40);
}

static void expect_share(const struct device *device, enum ceiling_kind kind, double from,
                         double to)
{
    struct ceiling c;
    bool published;
    double peak = ceiling_peak(device->peak, kind, &published);
    ceiling_measure(device, kind, &plain, &c);
    cr_expect(c.passed, "%s: %s", device->peak->name, c.why);
    double percent = 100 * c.rate / peak;
    cr_expect(percent >= from && percent <= to, "%s (%s): %.4g of %.4g = %.2f %%",
              device->peak->name, device->peak->variant, c.rate, peak, percent);
}

static void fma_case(const struct device *device)
{
    expect_share(device, CEILING_FMA, 98, 100);
}

Test(ceiling, fma_reaches_the_published_fp32_peak_of_every_card)
{
    for_each_card(fma_case);
}

/* On Hopper mma.sync, and so WMMA, cannot feed the tensor cores: 62 to 63 % of what wgmma
 * reaches (arXiv 2402.13499). */
static void tensor_case(const struct device *device)
{
    bool hopper = device->cc / 10 == 9;
    expect_share(device, CEILING_TENSOR, hopper ? 61 : 98, hopper ? 63 : 100);
}

Test(ceiling, wmma_reaches_the_published_tensor_peak_of_every_card_but_hopper)
{
    for_each_card(tensor_case);
}

static void copy_case(const struct device *device)
{
    expect_share(device, CEILING_COPY, 85, 95);
}

Test(ceiling, copy_reaches_85_to_95_percent_of_the_published_bandwidth)
{
    for_each_card(copy_case);
}

/* --- a rate only for a right result ------------------------------------------------- */

Test(ceiling, a_wrong_result_has_no_rate)
{
    struct device device;
    struct ceiling c = {.kind = CEILING_FMA};
    fixture_open("a100", 1, &device);
    struct ceiling_run r = {.device = &device, .options = &plain, .c = &c, .blocks = 108};
    cr_assert(ceiling_inputs(&r));
    CUdeviceptr right = r.in;
    r.in = r.out; /* nothing was launched: what is there is no chain of 64 steps */
    r.steps = 64;
    device.backend = BACKEND_GPU; /* look at every block */
    cr_expect_not(ceiling_check(&r));
    cr_expect(strstr(c.why, "block 0 is wrong"), "%s", c.why);
    device.api->memory_free(right);
    device.api->memory_free(r.out);
    device.backend = BACKEND_SIM;
    device_close(&device);
}

Test(ceiling, triad_and_cpu_tensor_cores_say_that_there_are_none)
{
    struct device gpu, cpu;
    struct ceiling c;
    fixture_open("a100", 1, &gpu);
    device_open_cpu(&cpu);
    ceiling_measure(&gpu, CEILING_TRIAD, &plain, &c);
    cr_expect(!c.passed && c.rate == 0 && c.why[0]);
    ceiling_measure(&cpu, CEILING_TENSOR, &plain, &c);
    cr_expect(!c.passed && c.rate == 0 && c.why[0]);
    device_close(&gpu);
}

/* --- the CPU ------------------------------------------------------------------------ */

Test(ceiling, a_chain_with_two_roundings_differs)
{
    float start = 0.3f;
    cr_expect_eq(ceiling_chain(start, 1, true),
                 (float)(start * (double)MACHINE_SCALE + (double)MACHINE_ADD));
    int differ = 0;
    for (int i = 0; i < 100; i++)
        differ += ceiling_chain((float)i / 100, 200, true) !=
                  ceiling_chain((float)i / 100, 200, false);
    cr_expect_gt(differ, 20, "%d", differ);
}

/* The build for this CPU, lane by lane (PEAKBOUND_ISA chooses another). */
Test(ceiling, cpu_kernels_compute_what_they_say)
{
    const struct cpu_machine *m = cpu_machine();
    enum { N = 1024 };
    static float to[N] __attribute__((aligned(64))), b[N] __attribute__((aligned(64))),
        d[N] __attribute__((aligned(64)));
    float start[CPU_MACHINE_CHAINS * CPU_MACHINE_LANES_MAX], out[sizeof start / 4];
    int cells = CPU_MACHINE_CHAINS * m->lanes;
    for (int i = 0; i < cells; i++)
        start[i] = (float)i / (float)cells - 0.5f;
    m->fma(100, start, out);
    for (int i = 0; i < cells; i++)
        cr_expect_eq(out[i], ceiling_chain(start[i], 100, m->fused), "cell %d", i);
    for (int i = 0; i < N; i++) {
        b[i] = (float)i;
        d[i] = (float)(2 * i);
    }
    m->copy(to, b, N);
    cr_expect_eq(memcmp(to, b, sizeof to), 0);
    m->triad(to, b, d, 3, N);
    for (int i = 0; i < N; i++)
        cr_expect_eq(to[i], (float)(7 * i), "cell %d", i);
}

/* Only that it is checked and told; how fast is no matter for a test. */
Test(ceiling, cpu_fma_gives_a_checked_rate)
{
    struct device cpu;
    struct ceiling c;
    device_open_cpu(&cpu);
    ceiling_measure(&cpu, CEILING_FMA, &plain, &c);
    cr_expect(c.passed, "%s", c.why);
    cr_expect(!c.predicted && c.rate > 0);
}
