/* isa.c - see isa.h. */
#include "isa.h"

#include <stdlib.h>

static int cpu_isa_detect(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 1;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 4;
    return 3;
#else
    return 1;
#endif
}

int cpu_isa_level(void)
{
    static int level;
    if (level == 0) {
        int found = cpu_isa_detect();
        const char *wish = getenv("PEAKBOUND_ISA");
        int limit = wish != NULL ? atoi(wish) : 0;
        level = limit >= 1 && limit < found ? (limit == 2 ? 1 : limit) : found;
    }
    return level;
}
