/* devices.h - ./run --devices: what is in this machine, what can be simulated. */
#ifndef PEAKBOUND_REPORT_DEVICES_H
#define PEAKBOUND_REPORT_DEVICES_H

#include <stdio.h>

#include "../bench/bench.h"
#include "../cuda/cuda_open.h"

void devices_print(FILE *out, const struct cuda_driver *driver, const struct device *cpu);
/* The same, one JSON object a line. */
void devices_write_json(FILE *out, const struct cuda_driver *driver,
                        const struct device *cpu);

#endif
