/* ceiling_cpu.c - ceilings of the CPU, all threads at once, each with its own data.
 *
 * Arithmetic is timed in windows of a few ms of the thread's own CPU time, so that being
 * scheduled out by something else does not count; memory by the steady clock. A thread's
 * median counts; the rates of the threads are added up. Bytes are counted as STREAM does:
 * copy 2 arrays, triad 3. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../cpu/machine.h"
#include "ceiling_parts.h"

enum { REPS = 15, REPS_MAX = 1000, WINDOWS = 101 };
enum { CELLS_MAX = CPU_MACHINE_CHAINS * CPU_MACHINE_LANES_MAX, ARRAYS = 3 };
static const double WINDOW_S = 0.004;
static const size_t MIB = 1 << 20;

static double thread_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- arithmetic ----------------------------------------------------------------------- */

static void make_starts(uint64_t seed, int thread, float *start)
{
    unsigned state = (unsigned)seed * 7919u + (unsigned)thread + 1;
    for (int i = 0; i < CELLS_MAX; i++)
        start[i] = (float)rand_r(&state) / (float)RAND_MAX * 2 - 1;
}

/* Every lane of a short run; one lane a chain of a long one. */
static bool chains_right(const struct cpu_machine *m, size_t steps, const float *start,
                         const float *out, bool all)
{
    for (int chain = 0; chain < CPU_MACHINE_CHAINS; chain++)
        for (int lane = all ? 0 : chain % m->lanes; lane < m->lanes;
             lane += all ? 1 : m->lanes) {
            int i = chain * m->lanes + lane;
            if (out[i] != ceiling_chain(start[i], steps, m->fused))
                return false;
        }
    return true;
}

/* FLOP a second of this thread; 0 if the result is wrong. */
static double thread_fma(const struct cpu_machine *m, uint64_t seed, int thread)
{
    float start[CELLS_MAX], out[CELLS_MAX];
    double rates[WINDOWS];
    size_t steps = 10000;
    make_starts(seed, thread, start);
    m->fma(steps, start, out);
    if (!chains_right(m, steps, start, out, true))
        return 0;
    for (double took = 0; took < WINDOW_S / 2 && steps < SIZE_MAX / 4; steps *= 2) {
        double before = thread_now();
        m->fma(steps, start, out);
        took = thread_now() - before;
    }
    for (int i = 0; i < WINDOWS; i++) {
        double before = thread_now();
        m->fma(steps, start, out);
        double took = thread_now() - before;
        rates[i] = 2.0 * CPU_MACHINE_CHAINS * m->lanes * (double)steps / took;
    }
    return chains_right(m, steps, start, out, false)
               ? ceiling_median(rates, WINDOWS, NULL)
               : 0;
}

static void measure_fma(const struct device *device, const struct ceiling_options *o,
                        struct ceiling *c)
{
    const struct cpu_machine *m = cpu_machine();
    double rate = 0;
    int wrong = 0;
#pragma omp parallel num_threads(device->cpu_threads) reduction(+ : rate, wrong)
    {
        double mine = thread_fma(m, o->seed, omp_get_thread_num());
        rate += mine;
        wrong += mine == 0;
    }
    c->reps = WINDOWS;
    c->work = rate * WINDOW_S;
    c->time_ms = WINDOW_S * 1e3;
    if (wrong > 0)
        ceiling_fail(c, "%d threads got a wrong result", wrong);
}

/* --- memory --------------------------------------------------------------------------- */

/* A thread's arrays: together larger than four times the last cache. */
static size_t array_floats(int threads, int arrays)
{
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t total = l3 > 0 && (size_t)l3 * 4 > 512 * MIB ? (size_t)l3 * 4 : 512 * MIB;
    size_t bytes = total / (size_t)threads;
    bytes = bytes < 32 * MIB ? 32 * MIB : bytes;
    return bytes / sizeof(float) / (size_t)arrays / 1024 * 1024;
}

static float *map_floats(size_t count)
{
    void *memory = mmap(NULL, count * sizeof(float), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, count * sizeof(float), MADV_HUGEPAGE);
    return memory;
}

static void fill(float *memory, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        memory[i] = (float)(seed >> 8) / 0x1p24f;
    }
}

static bool moved_right(const struct cpu_machine *m, const struct ceiling *c,
                        const float *to, const float *b, const float *d, float scale,
                        size_t n)
{
    if (c->kind == CEILING_COPY)
        return memcmp(to, b, n * sizeof *to) == 0;
    for (size_t i = 0; i < n; i += 61) {
        float product = scale * d[i];
        if (to[i] != (m->fused ? fmaf(scale, d[i], b[i]) : product + b[i]))
            return false;
    }
    return true;
}

/* One thread's share of a repetition, bytes a second. */
static double move_once(const struct cpu_machine *m, enum ceiling_kind kind, float *to,
                        const float *b, const float *d, float scale, size_t n)
{
    double before = ceiling_now();
    if (kind == CEILING_COPY)
        m->copy(to, b, n);
    else
        m->triad(to, b, d, scale, n);
    return (double)n * sizeof *to * (kind == CEILING_COPY ? 2 : 3) /
           (ceiling_now() - before);
}

static void measure_memory(const struct device *device, const struct ceiling_options *o,
                           struct ceiling *c)
{
    const struct cpu_machine *m = cpu_machine();
    const int arrays = c->kind == CEILING_COPY ? 2 : 3;
    const size_t n = array_floats(device->cpu_threads, arrays);
    const float scale = 3;
    double rates[REPS_MAX] = {0};
    int reps = o->reps > 0 && o->reps < REPS_MAX ? o->reps : REPS;
    int wrong = 0, without = 0;
#pragma omp parallel num_threads(device->cpu_threads) reduction(+ : wrong, without)
    {
        float *memory = map_floats(n * (size_t)arrays);
        without += memory == NULL;
        if (memory) {
            fill(memory, n * (size_t)arrays, (unsigned)omp_get_thread_num());
            move_once(m, c->kind, memory, memory + n, memory + 2 * n, scale, n);
        }
        for (int rep = 0; rep < reps; rep++) {
#pragma omp barrier
            double mine = memory ? move_once(m, c->kind, memory, memory + n,
                                             memory + 2 * n, scale, n)
                                 : 0;
#pragma omp atomic
            rates[rep] += mine;
        }
        if (memory) {
            wrong += !moved_right(m, c, memory, memory + n, memory + 2 * n, scale, n);
            munmap(memory, n * (size_t)arrays * sizeof *memory);
        }
    }
    double bytes_s = ceiling_median(rates, reps, &c->spread_pct);
    c->reps = reps;
    c->work = (double)n * sizeof(float) * arrays * device->cpu_threads;
    c->time_ms = bytes_s > 0 ? c->work / bytes_s * 1e3 : 0;
    if (wrong + without > 0)
        ceiling_fail(
            c, without ? "%d threads found no memory" : "%d threads got a wrong result",
            without ? without : wrong);
}

void ceiling_cpu(const struct device *device, const struct ceiling_options *o,
                 struct ceiling *c)
{
    if (c->kind == CEILING_TENSOR)
        ceiling_fail(c, "no tensor cores that this program uses");
    else if (c->kind == CEILING_FMA)
        measure_fma(device, o, c);
    else
        measure_memory(device, o, c);
}
