/* pick_device.c - see pick_device.h. */
#include "pick_device.h"

#include <ctype.h>
#include <omp.h>
#include <string.h>

#include "report/peaks.h"

static const char default_card[] = "a100";

static bool open_simulated(const struct options *o, const char *card,
                           struct picked *picked, struct error *err)
{
    char candidates[300] = "";
    const struct peak_row *peak = peak_find(card, candidates, sizeof candidates);
    if (!peak && candidates[0])
        return error_set(err, EXIT_USAGE,
                         "--device: `sim:%.40s` could be several cards: %.300s", card,
                         candidates);
    if (!peak)
        return error_set(err, EXIT_USAGE,
                         "--device: no card is called `%.60s`: ./run --devices lists "
                         "those that can be simulated",
                         card);
    static struct sim_spec spec; /* the simulator keeps a pointer to it */
    if (!peak_sim_spec(peak, &spec))
        return error_set(err, EXIT_USAGE,
                         "--device: too little is published of %.60s to simulate it: "
                         "./run --devices lists those that can be",
                         peak->name);
    struct sim_options options = {
        .spec = &spec,
        .spec_count = 1,
        .threads = o ? o->threads : 0,
        .check = o && o->check_all,
        .hw_sums = o && o->hw_sums,
        .step_limit = o ? o->steps : 0,
        .max_faults = 16,
        /* --json - has standard output for itself */
        .output = o && o->json && strcmp(o->json, "-") == 0 ? stderr : NULL};
    sim_configure(&options);
    if (!device_open_cuda(&picked->gpu, sim_driver(), BACKEND_SIM, 0, err))
        return false;
    picked->has_gpu = true;
    picked->gpu.peak = peak;
    snprintf(picked->gpu.id, sizeof picked->gpu.id, "sim:%.27s", card);
    for (char *c = picked->gpu.id; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return true;
}

/* The GPU with this ordinal, or with -1 the first that opens. */
static bool open_real(struct picked *picked, int ordinal, struct error *err)
{
    const struct cuda_driver *driver = &picked->driver;
    if (driver->absence != CUDA_PRESENT)
        return error_set(err, EXIT_MISSING, "--device gpu: %s. To do: %s", driver->reason,
                         driver->advice);
    int last_gpu = driver->device_count - 1;
    if (ordinal > last_gpu)
        return error_set(
            err, EXIT_MISSING,
            "--device: there is no gpu:%d: this machine has %d NVIDIA GPU%s, "
            "the last is gpu:%d",
            ordinal, driver->device_count, last_gpu > 0 ? "s" : "", last_gpu);
    int first = ordinal < 0 ? 0 : ordinal;
    int last = ordinal < 0 ? last_gpu : ordinal;
    for (int i = first; i <= last && !picked->has_gpu; i++)
        picked->has_gpu =
            device_open_cuda(&picked->gpu, &driver->api, BACKEND_GPU, i, err);
    if (picked->has_gpu)
        snprintf(picked->gpu.id, sizeof picked->gpu.id, "gpu:%d", picked->gpu.ordinal);
    return picked->has_gpu;
}

static bool open_best(const struct options *o, struct picked *picked, struct error *err)
{
    struct error why_not = {0};
    cuda_open(&picked->driver);
    if (open_real(picked, -1, &why_not)) {
        snprintf(picked->why, sizeof picked->why, "%s",
                 picked->driver.device_count > 1 ? "the first of several: see --devices"
                                                 : "");
        return true;
    }
    if (picked->driver.absence == CUDA_PRESENT)
        snprintf(picked->why, sizeof picked->why, "the NVIDIA GPU does not open: %.220s",
                 why_not.text);
    else
        snprintf(picked->why, sizeof picked->why, "no NVIDIA GPU: %.220s",
                 picked->driver.reason);
    return open_simulated(o, default_card, picked, err);
}

bool devices_pick(const struct options *o, struct picked *picked, struct error *err)
{
    *picked = (struct picked){0};
    if (o->threads > 0)
        omp_set_num_threads(o->threads);
    device_open_cpu(&picked->cpu);
    switch (o->device) {
    case WISH_AUTO:
        return open_best(o, picked, err);
    case WISH_GPU:
        cuda_open(&picked->driver);
        return open_real(picked, o->gpu, err);
    case WISH_SIM:
        return open_simulated(o, o->sim_card ? o->sim_card : default_card, picked, err);
    case WISH_CPU:
        break;
    }
    return true;
}

bool devices_fall_back(const struct options *o, struct picked *picked, const char *why,
                       struct error *err)
{
    snprintf(picked->why, sizeof picked->why, "%.90s runs none of these rungs (%.180s)",
             picked->gpu.name[0] ? picked->gpu.name : "the NVIDIA GPU", why);
    device_close(&picked->gpu);
    picked->has_gpu = false;
    return open_simulated(o, default_card, picked, err);
}

bool devices_pick_reader(struct picked *picked, struct error *err)
{
    *picked = (struct picked){0};
    device_open_cpu(&picked->cpu);
    return open_simulated(NULL, default_card, picked, err);
}

void devices_close(struct picked *picked)
{
    if (picked->has_gpu)
        device_close(&picked->gpu);
    device_close(&picked->cpu);
    *picked = (struct picked){0};
}
