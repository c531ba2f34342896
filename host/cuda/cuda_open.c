/* cuda_open.c - find the real CUDA driver, and if there is none, say why in
 * words that help.
 *
 * The library belongs to the NVIDIA driver, not to the toolkit: it is opened at
 * run time, so that Peakbound builds and runs where neither is installed.
 * Source for the codes of cuInit: CUDA Driver API reference, CUresult.
 */
#include "cuda_open.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST_VERSION = 11000 }; /* CUDA 11.0, driver 450 */

static const char *const driver_names[] = {"libcuda.so.1",
                                           "/usr/lib/wsl/lib/libcuda.so.1"};
static const char *const runtime_names[] = {
    "libcudart.so.13",
    "libcudart.so.12",
    "libcudart.so.11.0",
    "libcudart.so",
    "/usr/local/cuda/lib64/libcudart.so",
};

static const struct {
    const char *symbol;
    size_t offset; /* in struct cuda_api */
    int required;
} functions[] = {
#define CUDA_ROW(field, symbol, required, parameters) \
    {#symbol, offsetof(struct cuda_api, field), required},
    CUDA_FUNCTIONS(CUDA_ROW)
#undef CUDA_ROW
};

/* What cuInit's errors mean to someone who wants to run a lesson. */
static const struct init_error {
    CUresult code;
    enum cuda_absence absence;
    const char *reason, *advice;
} init_errors[] = {
    {CUDA_ERROR_NO_DEVICE, CUDA_NO_DEVICE, "the NVIDIA driver works but sees no GPU",
     "if nvidia-smi shows one: a container must be started with --gpus all; a virtual "
     "machine needs the GPU passed through"},
    {CUDA_ERROR_STUB_LIBRARY, CUDA_DRIVER_BROKEN,
     "the libcuda.so.1 found is the CUDA toolkit's stub, which can only be linked with",
     "take the toolkit's .../stubs folder out of LD_LIBRARY_PATH; install the NVIDIA "
     "driver if there is none"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_DRIVER_BROKEN,
     "the running kernel driver and libcuda.so.1 are of different versions",
     "the driver was updated: reboot; in a container, rebuild it or update the host's "
     "driver"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, CUDA_DRIVER_BROKEN,
     "the libcuda.so.1 found is a cuda-compat library, which this GPU does not allow",
     "take cuda-compat out of LD_LIBRARY_PATH, or update the NVIDIA driver"},
    {CUDA_ERROR_SYSTEM_NOT_READY, CUDA_DRIVER_BROKEN,
     "the system is not ready: the fabric manager of an NVSwitch machine is not running",
     "ask the administrator to start nvidia-fabricmanager"},
    {CUDA_ERROR_NOT_PERMITTED, CUDA_DRIVER_BROKEN,
     "this user or container is not permitted to use the GPU",
     "start the container with --gpus all, or ask for access to /dev/nvidia*"},
    {CUDA_ERROR_OPERATING_SYSTEM, CUDA_DRIVER_BROKEN,
     "the driver could not open its device files (operating system call failed)",
     "check that /dev/nvidia* can be read and written: ls -l /dev/nvidia*"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_DRIVER_BROKEN,
     "the GPU is in use by another program that asked for it exclusively",
     "see who with nvidia-smi, or try again later"},
    {CUDA_ERROR_UNKNOWN, CUDA_DRIVER_BROKEN,
     "the driver failed to start (unknown error 999)",
     "try: sudo modprobe nvidia_uvm; after a suspended laptop or an update: reboot"},
    {CUDA_ERROR_OUT_OF_MEMORY, CUDA_DRIVER_BROKEN, "the driver had no memory to start",
     "raise ulimit -v, or close programs that use the GPU (see nvidia-smi)"},
};

static void say(struct cuda_driver *driver, enum cuda_absence absence, const char *reason,
                const char *advice)
{
    driver->absence = absence;
    snprintf(driver->reason, sizeof driver->reason, "%s", reason);
    snprintf(driver->advice, sizeof driver->advice, "%s", advice);
}

static bool file_starts_with(const char *path, const char *text)
{
    char start[8] = "";
    FILE *file = fopen(path, "r");
    bool good = file && fgets(start, sizeof start, file);
    if (file)
        fclose(file);
    return good && strncmp(start, text, strlen(text)) == 0;
}

/* Is an NVIDIA display controller (class 03) on the PCI bus? The card's audio
 * and USB functions have other classes. */
static bool machine_has_nvidia_gpu(void)
{
    glob_t found = {0};
    bool has = false;
    if (glob("/sys/bus/pci/devices/*/vendor", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !has; i++) {
            char *path = found.gl_pathv[i];
            has = file_starts_with(path, "0x10de");
            memcpy(strrchr(path, '/'), "/class", 7); /* not longer */
            has = has && file_starts_with(path, "0x03");
        }
    }
    globfree(&found);
    return has;
}

static void say_no_library(struct cuda_driver *driver, bool wished, const char *why)
{
    char reason[sizeof driver->reason];
    if (wished) {
        snprintf(reason, sizeof reason, "PEAKBOUND_LIBCUDA cannot be opened: %.150s",
                 why);
        say(driver, CUDA_NO_DRIVER, reason,
            "name a libcuda.so.1, or unset PEAKBOUND_LIBCUDA");
    } else if (!strstr(why, "No such file")) {
        snprintf(reason, sizeof reason, "libcuda.so.1 cannot be loaded: %.150s", why);
        say(driver, CUDA_NO_DRIVER, reason, "reinstall the NVIDIA driver");
    } else if (access("/dev/nvidiactl", F_OK) == 0 ||
               access("/proc/driver/nvidia/version", F_OK) == 0) {
        say(driver, CUDA_NO_DRIVER,
            "the NVIDIA kernel driver runs, but its libcuda.so.1 is not here",
            "in a container: start it with --gpus all (nvidia-container-toolkit); else "
            "install the driver's library (Debian: libcuda1)");
    } else if (machine_has_nvidia_gpu()) {
        say(driver, CUDA_NO_DRIVER,
            "this machine has an NVIDIA GPU, but no NVIDIA driver (libcuda.so.1)",
            "install it (Debian: nvidia-driver, Ubuntu: sudo ubuntu-drivers install), "
            "reboot, and check with nvidia-smi");
    } else {
        say(driver, CUDA_NO_DRIVER, "no NVIDIA driver (libcuda.so.1 was not found)",
            "with an NVIDIA GPU: install its driver and check with nvidia-smi; without "
            "one the simulated GPUs do");
    }
}

static void say_init_error(struct cuda_driver *driver, CUresult code)
{
    const char *hidden = getenv("CUDA_VISIBLE_DEVICES");
    if (code == CUDA_ERROR_NO_DEVICE && hidden) {
        char reason[sizeof driver->reason];
        snprintf(reason, sizeof reason,
                 "the NVIDIA driver shows no GPU: CUDA_VISIBLE_DEVICES is \"%.60s\"",
                 hidden);
        say(driver, CUDA_NO_DEVICE, reason,
            "unset CUDA_VISIBLE_DEVICES, or name a GPU that nvidia-smi -L lists");
        return;
    }
    for (size_t i = 0; i < sizeof init_errors / sizeof *init_errors; i++) {
        if (init_errors[i].code == code) {
            say(driver, init_errors[i].absence, init_errors[i].reason,
                init_errors[i].advice);
            return;
        }
    }
    const char *name = NULL;
    char reason[sizeof driver->reason];
    if (driver->api.error_name(code, &name) != CUDA_SUCCESS || !name)
        name = "unknown code";
    snprintf(reason, sizeof reason, "the driver failed to start: cuInit gave %d, %.80s",
             code, name);
    say(driver, CUDA_DRIVER_BROKEN, reason,
        "check that nvidia-smi works; if it does not, reinstall the driver or reboot");
}

/* Fill the table. False: *missing is a required function that is not there. */
static bool load_functions(struct cuda_driver *driver, const char **missing)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(driver->handle, functions[i].symbol);
        if (!symbol && functions[i].required) {
            *missing = functions[i].symbol;
            return false;
        }
        memcpy((char *)&driver->api + functions[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

/* With the library open: is there a driver behind it, new enough, and a GPU? */
static void start_driver(struct cuda_driver *driver)
{
    static const char update[] =
        "update the NVIDIA driver: CUDA 11.0 or later is needed, driver 450 or later";
    char reason[sizeof driver->reason];
    const char *missing = NULL;
    if (!load_functions(driver, &missing)) {
        snprintf(reason, sizeof reason, "the NVIDIA driver has no function %s", missing);
        say(driver, CUDA_DRIVER_TOO_OLD, reason, update);
        return;
    }
    int version = 0;
    if (driver->api.driver_version(&version) == CUDA_SUCCESS)
        driver->version = version;
    CUresult code = driver->api.init(0);
    if (code != CUDA_SUCCESS) {
        say_init_error(driver, code);
        return;
    }
    if (driver->version < OLDEST_VERSION) {
        snprintf(reason, sizeof reason, "the NVIDIA driver is for CUDA %d.%d",
                 driver->version / 1000, driver->version % 1000 / 10);
        say(driver, CUDA_DRIVER_TOO_OLD, reason, update);
        return;
    }
    code = driver->api.device_count(&driver->device_count);
    if (code != CUDA_SUCCESS || driver->device_count <= 0) {
        driver->device_count = 0;
        say_init_error(driver, code != CUDA_SUCCESS ? code : CUDA_ERROR_NO_DEVICE);
        return;
    }
    driver->absence = CUDA_PRESENT;
}

/* Open the first of `names` that is there. On failure `why` tells the first
 * reason that is more than "No such file", else the last. */
static void *open_first(const char *const *names, size_t count, char *why, size_t room)
{
    snprintf(why, room, "No such file");
    for (size_t i = 0; i < count && strstr(why, "No such file"); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
        const char *text = dlerror();
        snprintf(why, room, "%s", text ? text : "no reason given");
    }
    return NULL;
}

void cuda_open(struct cuda_driver *driver)
{
    *driver = (struct cuda_driver){.absence = CUDA_NO_DRIVER};
    const char *wish = getenv("PEAKBOUND_LIBCUDA");
    bool wished = wish && *wish;
    char why[sizeof driver->reason];
    driver->handle = open_first(wished ? &wish : driver_names,
                                wished ? 1 : sizeof driver_names / sizeof *driver_names,
                                why, sizeof why);
    if (!driver->handle) {
        say_no_library(driver, wished, why);
        return;
    }
    start_driver(driver);
    if (driver->absence != CUDA_PRESENT) {
        /* stays open: a driver that failed halfway may have started threads */
        driver->handle = NULL;
        driver->api = (struct cuda_api){0};
    }
}

int cuda_runtime_version(void)
{
    int version = 0;
    for (size_t i = 0; i < sizeof runtime_names / sizeof *runtime_names; i++) {
        void *library = dlopen(runtime_names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
        CUresult (*get_version)(int *) = NULL;
        void *symbol = dlsym(library, "cudaRuntimeGetVersion");
        memcpy(&get_version, &symbol, sizeof symbol);
        if (get_version && get_version(&version) != CUDA_SUCCESS)
            version = 0;
        dlclose(library);
        if (version > 0)
            break;
    }
    return version;
}
