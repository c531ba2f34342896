/* cuda_open.h - find the real CUDA driver, if there is one. */
#ifndef PEAKBOUND_CUDA_OPEN_H
#define PEAKBOUND_CUDA_OPEN_H

#include "cuda_api.h"

enum cuda_absence {
    CUDA_PRESENT,
    CUDA_NO_DRIVER,      /* libcuda.so.1 cannot be opened */
    CUDA_DRIVER_TOO_OLD, /* a required function is missing, or version < 11.0 */
    CUDA_DRIVER_BROKEN,  /* cuInit failed: mismatch, stub library, no permission */
    CUDA_NO_DEVICE       /* driver works, no GPU visible */
};

struct cuda_driver {
    struct cuda_api api; /* valid when absence == CUDA_PRESENT */
    enum cuda_absence absence;
    int version; /* 12040 = 12.4; 0 = unknown */
    int device_count;
    char reason[200]; /* why there is no GPU, one line; "" when present */
    char advice[240]; /* what to do about it, one line */
    void *handle;
};

/* Opens libcuda.so.1 (also WSL's /usr/lib/wsl/lib), fills the table, calls
 * cuInit and counts devices. Never fails loudly: absence says what is wrong.
 * PEAKBOUND_LIBCUDA names another library to open (for tests). */
void cuda_open(struct cuda_driver *driver);

/* Version of the CUDA runtime library if one can be opened (13000), else 0. */
int cuda_runtime_version(void);

#endif
