/* run_cpu.c - one CPU rung. C is followed and preceded by guard zones. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_parts.h"

enum { GUARD = 4096, GUARD_BYTE = 0xa5 };

struct gpu_buffers {
    unsigned char *zone; /* guard, C, guard */
    uint64_t hash_a, hash_b;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

bool cpu_open(struct runner *r)
{
    r->gpu = xcalloc(1, sizeof *r->gpu);
    r->gpu->zone = xmalloc(r->c->bytes + 2 * GUARD);
    memset(r->gpu->zone, GUARD_BYTE, r->c->bytes + 2 * GUARD);
    r->gpu->hash_a = matrix_hash(r->a);
    r->gpu->hash_b = matrix_hash(r->b);
    return true;
}

bool cpu_prepare(struct runner *r)
{
    if (r->c_before != NULL)
        memcpy(r->c->data, r->c_before->data, r->c->bytes);
    else
        matrix_poison(r->c);
    memcpy(r->gpu->zone + GUARD, r->c->data, r->c->bytes);
    return true;
}

bool cpu_launch(struct runner *r, double *ms)
{
    struct gemm g = {.m = r->size.m,
                     .n = r->size.n,
                     .k = r->size.k,
                     .alpha = (float)r->alpha,
                     .a = (const float *)(const void *)r->a->data,
                     .lda = r->a->stride,
                     .b = (const float *)(const void *)r->b->data,
                     .ldb = r->b->stride,
                     .beta = (float)r->beta,
                     .c = (float *)(void *)(r->gpu->zone + GUARD),
                     .ldc = r->c->stride};
    double start = now_ms();
    r->rung->cpu->run(&g);
    double end = now_ms();
    if (ms != NULL)
        *ms = end - start;
    return true;
}

bool cpu_collect(struct runner *r)
{
    const unsigned char *zone = r->gpu->zone;
    memcpy(r->c->data, zone + GUARD, r->c->bytes);
    for (size_t i = 0; i < GUARD; i++) {
        if (zone[i] != GUARD_BYTE || zone[GUARD + r->c->bytes + i] != GUARD_BYTE)
            return verdict_set(r->verdict, VERDICT_WROTE_OUTSIDE,
                               "the rung wrote outside C");
    }
    if (matrix_hash(r->a) != r->gpu->hash_a || matrix_hash(r->b) != r->gpu->hash_b)
        return verdict_set(r->verdict, VERDICT_INPUT_CHANGED,
                           "the rung changed an input");
    return true;
}

void cpu_close(struct runner *r)
{
    if (r->gpu == NULL)
        return;
    free(r->gpu->zone);
    free(r->gpu);
    r->gpu = NULL;
}
