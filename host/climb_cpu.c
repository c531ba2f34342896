/* climb_cpu.c - CPU rungs. The naive one needs minutes at 5000 x 5000 x 5000, and a
 * run repeats it. Where a whole product would take more than TOO_LONG seconds, the
 * rung computes only the first rows of C, with all of B; time is scaled to the whole.
 * A matmul does the same work for each row, so this is fair as long as there are
 * enough rows for blocks and threads.
 */
#include <math.h>
#include <time.h>

#include "climb.h"
#include "report/units.h"

static const double TOO_LONG = 3;      /* seconds a product may take */
static const double SAMPLE = 0.7;      /* seconds that the sampled rows shall take */
static const double NO_QUESTION = 4e9; /* FLOP that take no estimate */
enum { ROWS_A_THREAD = 2 };            /* to begin with */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* How many rows of C to compute: all if that is quick enough. Grows a piece until
 * its time says enough about the whole. 0 if there is not the memory to try. */
static size_t choose_rows(const struct cpu_rung *rung, struct size size, int threads)
{
    struct matrix a = {0}, b = {0}, c = {0};
    size_t first = ROWS_A_THREAD * (size_t)threads, chosen = 0;
    size_t rows = first < size.m ? first : size.m;
    if (matrix_alloc(&a, KERNEL_F32, size.m, size.k, NULL) &&
        matrix_alloc(&b, KERNEL_F32, size.k, size.n, NULL) &&
        matrix_alloc(&c, KERNEL_F32, size.m, size.n, NULL)) {
        matrix_fill_uniform(&b, 1);
        while (chosen == 0 && !interrupt_pending()) {
            struct gemm g = {rows,
                             size.n,
                             size.k,
                             1,
                             (const float *)(const void *)a.data,
                             a.stride,
                             (const float *)(const void *)b.data,
                             b.stride,
                             0,
                             (float *)(void *)c.data,
                             c.stride};
            double start = seconds_now();
            rung->run(&g);
            double took = seconds_now() - start;
            double whole = took * (double)size.m / (double)rows;
            if (whole < TOO_LONG)
                chosen = size.m;
            else if (took > SAMPLE / 3)
                chosen = rows;
            else
                rows = rows * 3 < size.m ? rows * 3 : size.m;
        }
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
    return chosen;
}

void climb_run_cpu(struct climb *climb, const struct rung *rung, struct size size,
                   struct row *row)
{
    struct bench_options bench;
    climb_bench_options(climb, rung, &size, &bench);
    double flop = 2.0 * (double)size.m * (double)size.n * (double)size.k;
    size_t rows = flop > NO_QUESTION
                      ? choose_rows(rung->cpu, size, climb->devices->cpu.cpu_threads)
                      : size.m;
    if (rows == 0)
        rows = size.m;
    bench_run(&climb->devices->cpu, rung, (struct size){rows, size.n, size.k}, &bench,
              &row->result);
    row->result.size = size;
    if (rows == size.m || interrupt_pending())
        return;
    row->timed_rows = rows;
    row->result.time_ms *= (double)size.m / (double)rows;
    climb_note(
        climb,
        "CPU %s, %s: timed on %zu of %zu rows of C (all would take %s a run), time "
        "scaled up; those rows were checked",
        rung->cpu->name, format_size(size.m, size.n, size.k).s, rows, size.m,
        format_time(row->result.time_ms).s);
}
