/* image.h - what cuModuleLoadData may be given: PTX text, a fatbin, a cubin. */
#ifndef PEAKBOUND_SIM_IMAGE_H
#define PEAKBOUND_SIM_IMAGE_H

#include "../error.h"
#include "ptx.h"

/* Registers and shared memory that ptxas gave a kernel, read from the machine
 * code that stands beside the PTX in a fatbin. */
struct image_kernel {
    char *name; /* as in the PTX, however long */
    int registers;
    int static_smem_bytes;
    int local_bytes;
};

struct image {
    char *ptx; /* NUL-terminated text; NULL if the image has none */
    size_t ptx_length;
    int ptx_arch;                 /* 80 from .target or the fatbin, 0 = not said */
    struct image_kernel *kernels; /* of the machine code chosen for device_cc */
    int kernel_count;
    int machine_arch; /* 0 = none for this device */
};

/* Take the PTX with the highest architecture <= device_cc and the machine code
 * for device_cc. `limit` bounds the bytes that may be read (SIZE_MAX: as
 * cuModuleLoadData, the image tells its own size). False and *err on broken
 * (EXIT_USAGE) or unsupported (EXIT_OURS) input, and when nothing in it is for
 * this device (EXIT_MISSING). Machine code that cannot be read is no error: the
 * kernels are then unknown. */
bool image_open(const void *data, size_t limit, int device_cc, struct image *image,
                struct error *err);
void image_close(struct image *image);

#endif
