/* fake_libcuda.c - a libcuda.so.1 for tests of cuda_open: every function is
 * there and does nothing, but for those that tell whether there is a GPU. What
 * they say comes from the environment:
 *
 *   FAKE_INIT     what cuInit returns (0)
 *   FAKE_VERSION  what cuDriverGetVersion tells (13000)
 *   FAKE_COUNT    what cuDeviceGetCount tells (1)
 */
#include "../host/cuda/cuda_api.h"

#include <stdlib.h>
#include <string.h>

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int answer(const char *symbol, void *argument)
{
    if (strcmp(symbol, "cuInit") == 0)
        return setting("FAKE_INIT", CUDA_SUCCESS);
    if (strcmp(symbol, "cuDriverGetVersion") == 0)
        *(int *)argument = setting("FAKE_VERSION", 13000);
    if (strcmp(symbol, "cuDeviceGetCount") == 0)
        *(int *)argument = setting("FAKE_COUNT", 1);
    if (strcmp(symbol, "cuGetErrorName") == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* One argument is enough: callers' further ones are not looked at. */
#define FAKE(field, symbol, required, parameters) \
    int symbol(void *argument);                   \
    int symbol(void *argument)                    \
    {                                             \
        return answer(#symbol, argument);         \
    }
CUDA_FUNCTIONS(FAKE)
