/* isa.c - see isa.h. */
#include "isa.h"

#include <stdlib.h>
#include <string.h>

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

bool cpu_isa_check(struct error *err)
{
    const char *wish = getenv("PEAKBOUND_ISA");
    if (wish == NULL || *wish == '\0' || (strchr("134", *wish) && wish[1] == '\0'))
        return true;
    return error_set(err, EXIT_USAGE,
                     "PEAKBOUND_ISA: `%.20s` is no instruction set: give 1 (SSE2), 3 "
                     "(AVX2) or 4 (AVX-512)",
                     wish);
}

int cpu_isa_level(void)
{
    static int level;
    if (level == 0) {
        int found = cpu_isa_detect();
        const char *wish = getenv("PEAKBOUND_ISA");
        int limit = wish != NULL ? atoi(wish) : 0;
        level = limit >= 1 && limit < found ? limit : found;
    }
    return level;
}
