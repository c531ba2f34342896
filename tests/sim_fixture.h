/* sim_fixture.h - a simulated card and a bench run, for tests. */
#ifndef PEAKBOUND_TESTS_SIM_FIXTURE_H
#define PEAKBOUND_TESTS_SIM_FIXTURE_H

#include <criterion/criterion.h>

#include "../host/bench/bench.h"
#include "../host/bench/run_parts.h"

static inline void fixture_open(const char *card, int threads, struct device *device)
{
    static struct sim_spec spec;
    char candidates[80];
    struct error err = {0};
    const struct peak_row *row = peak_find(card, candidates, sizeof candidates);
    cr_assert(row != NULL && peak_sim_spec(row, &spec), "no card %s", card);
    struct sim_options options = {.spec = &spec, .spec_count = 1, .threads = threads};
    registry_init();
    sim_configure(&options);
    cr_assert(device_open_cuda(device, sim_driver(), BACKEND_SIM, 0, &err), "%s",
              err.text);
}

static inline void fixture_bench(const struct device *device, const struct rung *rung,
                                 struct size size, struct result *result)
{
    struct bench_options options = {.seed = 7, .alpha = 1, .verify = true};
    bench_run(device, rung, size, &options, result);
}

#endif
