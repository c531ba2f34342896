/* test_cuda_open.c - every way not to have a GPU gets its own reason. */
#include "../host/cuda/cuda_open.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The Makefile builds the fake driver and says where it is. */
static const char *fake_library(void)
{
    const char *path = getenv("PEAKBOUND_FAKE");
    if (!path)
        cr_skip_test("PEAKBOUND_FAKE does not name the fake libcuda");
    return path;
}

Test(cuda_open, finds_a_driver_and_counts_devices)
{
    setenv("PEAKBOUND_LIBCUDA", fake_library(), 1);
    setenv("FAKE_COUNT", "3", 1);
    struct cuda_driver driver;
    cuda_open(&driver);
    cr_assert_eq(driver.absence, CUDA_PRESENT, "absence %d: %s", (int)driver.absence,
                 driver.reason);
    cr_assert_eq(driver.device_count, 3);
    cr_assert_eq(driver.version, 13000);
    cr_assert_str_eq(driver.reason, "");
    cr_assert_str_eq(driver.advice, "");
    int count = 0;
    cr_assert_eq(driver.api.device_count(&count), CUDA_SUCCESS);
    cr_assert_eq(count, 3);
}

Test(cuda_open, says_why_there_is_no_gpu)
{
    static const struct {
        const char *init, *version, *count, *visible;
        enum cuda_absence absence;
        const char *reason, *advice; /* must occur in the texts */
    } cases[] = {
        {"100", "13000", "1", NULL, CUDA_NO_DEVICE, "sees no GPU", "--gpus all"},
        {"100", "13000", "1", "7", CUDA_NO_DEVICE, "CUDA_VISIBLE_DEVICES is \"7\"",
         "unset"},
        {"0", "13000", "0", NULL, CUDA_NO_DEVICE, "sees no GPU", "nvidia-smi"},
        {"34", "0", "1", NULL, CUDA_DRIVER_BROKEN, "stub", "LD_LIBRARY_PATH"},
        {"803", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "different versions", "reboot"},
        {"804", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "cuda-compat", "driver"},
        {"802", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "fabric", "fabricmanager"},
        {"800", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "not permitted", "container"},
        {"304", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "device files", "/dev/nvidia"},
        {"999", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "unknown error", "reboot"},
        {"4711", "12040", "1", NULL, CUDA_DRIVER_BROKEN, "cuInit gave 4711",
         "nvidia-smi"},
        {"0", "10020", "1", NULL, CUDA_DRIVER_TOO_OLD, "CUDA 10.2", "11.0"},
    };
    setenv("PEAKBOUND_LIBCUDA", fake_library(), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("FAKE_INIT", cases[i].init, 1);
        setenv("FAKE_VERSION", cases[i].version, 1);
        setenv("FAKE_COUNT", cases[i].count, 1);
        unsetenv("CUDA_VISIBLE_DEVICES");
        if (cases[i].visible)
            setenv("CUDA_VISIBLE_DEVICES", cases[i].visible, 1);
        struct cuda_driver driver;
        cuda_open(&driver);
        cr_expect_eq(driver.absence, cases[i].absence, "cuInit %s: absence %d, not %d",
                     cases[i].init, (int)driver.absence, (int)cases[i].absence);
        cr_expect(strstr(driver.reason, cases[i].reason), "cuInit %s: reason \"%s\"",
                  cases[i].init, driver.reason);
        cr_expect(strstr(driver.advice, cases[i].advice), "cuInit %s: advice \"%s\"",
                  cases[i].init, driver.advice);
        cr_expect_null(driver.handle);
        cr_expect_null(driver.api.init);
    }
}

Test(cuda_open, names_the_function_that_an_old_driver_lacks)
{
    setenv("PEAKBOUND_LIBCUDA", "libm.so.6", 1);
    struct cuda_driver driver;
    cuda_open(&driver);
    cr_assert_eq(driver.absence, CUDA_DRIVER_TOO_OLD);
    cr_assert(strstr(driver.reason, "no function cuInit"), "%s", driver.reason);
}

Test(cuda_open, says_when_the_library_cannot_be_opened)
{
    setenv("PEAKBOUND_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    struct cuda_driver driver;
    cuda_open(&driver);
    cr_assert_eq(driver.absence, CUDA_NO_DRIVER);
    cr_assert(strstr(driver.reason, "/nowhere/libcuda.so.1"), "%s", driver.reason);
    cr_assert(strstr(driver.advice, "PEAKBOUND_LIBCUDA"), "%s", driver.advice);
}

Test(cuda_open, always_says_why)
{
    unsetenv("PEAKBOUND_LIBCUDA");
    struct cuda_driver driver;
    cuda_open(&driver);
    if (driver.absence == CUDA_PRESENT) {
        cr_assert_gt(driver.device_count, 0);
    } else {
        cr_assert_neq(driver.reason[0], '\0');
        cr_assert_neq(driver.advice[0], '\0');
    }
}

Test(cuda_open, runtime_version_is_nothing_or_plausible)
{
    int version = cuda_runtime_version();
    cr_assert(version == 0 || (version >= 9000 && version < 30000), "%d", version);
}
