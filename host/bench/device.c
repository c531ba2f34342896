/* device.c - open a GPU (real or simulated, one code path) or the CPU. */
#include <ctype.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cpu/isa.h"
#include "bench.h"

const char *cuda_failure(const struct cuda_api *api, CUresult result)
{
    const char *text = NULL;
    if (api->error_string(result, &text) != CUDA_SUCCESS || text == NULL)
        return "unknown error";
    return text;
}

static int attribute(const struct device *d, int which)
{
    int value = 0;
    return d->api->device_attribute(&value, which, d->ordinal) == CUDA_SUCCESS ? value
                                                                               : 0;
}

bool device_open_cuda(struct device *device, const struct cuda_api *api,
                      enum backend backend, int ordinal, struct error *err)
{
    CUdevice handle;
    CUresult result;
    memset(device, 0, sizeof *device);
    device->backend = backend;
    device->api = api;
    snprintf(device->id, sizeof device->id, "%s:%d",
             backend == BACKEND_SIM ? "sim" : "gpu", ordinal);
    if ((result = api->init(0)) != CUDA_SUCCESS ||
        (result = api->device_get(&handle, ordinal)) != CUDA_SUCCESS ||
        (result = api->context_retain(&device->context, handle)) != CUDA_SUCCESS ||
        (result = api->context_set(device->context)) != CUDA_SUCCESS)
        return error_set(err, EXIT_MISSING, "device %s cannot be opened: %s", device->id,
                         cuda_failure(api, result));
    device->ordinal = handle;
    api->device_name(device->name, sizeof device->name, handle);
    api->device_memory(&device->memory_bytes, handle);
    api->driver_version(&device->driver_version);
    device->cc = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    device->sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    device->clock_mhz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
    device->peak =
        peak_match(device->name, device->cc, device->sm_count, device->memory_bytes);
    return true;
}

/* --- the CPU -------------------------------------------------------------------------- */

static void read_cpu_info(char *model, size_t room, double *mhz)
{
    char line[256];
    snprintf(model, room, "CPU");
    *mhz = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (colon == NULL)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        if (strncmp(line, "model name", 10) == 0 && strlen(colon) > 2)
            snprintf(model, room, "%s", colon + 2);
        double value = strncmp(line, "cpu MHz", 7) == 0 ? atof(colon + 1) : 0;
        *mhz = value > *mhz ? value : *mhz;
    }
    fclose(file);
}

/* FP32 lanes of the widest vectors that the rungs use here. */
static int simd_lanes(void)
{
    int level = cpu_isa_level();
    return level == 4 ? 16 : level == 3 ? 8 : 4;
}

void device_open_cpu(struct device *device)
{
    double mhz;
    memset(device, 0, sizeof *device);
    device->backend = BACKEND_CPU;
    snprintf(device->id, sizeof device->id, "cpu");
    read_cpu_info(device->name, sizeof device->name, &mhz);
    device->cpu_threads = omp_get_max_threads();
    int processors = omp_get_num_procs();
    if (device->cpu_threads > processors)
        device->cpu_threads = processors;
    device->clock_mhz = (int)mhz;
    /* two multiply-adds a clock on every core with FMA, one multiply and one add without */
    double flops_clock = 2.0 * simd_lanes() * (cpu_isa_level() >= 3 ? 2 : 1);
    device->cpu_peak_gflops = device->cpu_threads * flops_clock * mhz / 1e3;
}

void device_close(struct device *device)
{
    if (device->api != NULL && device->context != NULL)
        device->api->context_release(device->ordinal);
    memset(device, 0, sizeof *device);
}
