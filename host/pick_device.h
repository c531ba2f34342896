/* pick_device.h - from --device to open devices. */
#ifndef PEAKBOUND_PICK_DEVICE_H
#define PEAKBOUND_PICK_DEVICE_H

#include "bench/bench.h"
#include "cuda/cuda_open.h"
#include "options.h"

struct picked {
    struct cuda_driver driver; /* looked for with auto and gpu only */
    struct device gpu;         /* real or simulated, if has_gpu */
    bool has_gpu;
    struct device cpu; /* always open */
    char why[300];     /* why this one, for the first line; "" = it was asked for */
};

/* auto: the first NVIDIA GPU that opens, else the simulated A100. False and
 * *err: EXIT_MISSING if the asked-for GPU is not there, EXIT_USAGE if no card
 * has the asked-for name. */
bool devices_pick(const struct options *options, struct picked *picked,
                  struct error *err);
/* After auto: the GPU opened, but runs none of the rungs (too old). Take the
 * simulated A100 instead. */
bool devices_fall_back(const struct options *options, struct picked *picked,
                       const char *why, struct error *err);
/* Only the simulated A100, to read the rungs' own descriptions. */
bool devices_pick_reader(struct picked *picked, struct error *err);
void devices_close(struct picked *picked);

#endif
