/* test_tricky.c - correct kernels of all sorts raise no fault and compute what they
 * should; see planted.h. */
#include "planted_fixture.h"

/* What `out` must hold: references, written as plainly as can be. `b` is the number of
 * threads of a block. */
static int sum(const int *in, int from, int to)
{
    int total = 0;
    for (int i = from; i < to; i++)
        total += in[i];
    return total;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int even_numbers(const int *in, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += in[i] % 2 == 0;
    return count;
}

static int copy(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return in[i];
}

static int swap_pairs(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return in[i ^ 1];
}

static int swap_halves(const int *in, int n, int b, int i)
{
    (void)b;
    return in[(i + n / 2) % n];
}

static int reverse_64(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return in[i / 64 * 64 + 63 - i % 64];
}

static int reverse_all(const int *in, int n, int b, int i)
{
    (void)b;
    return in[n - 1 - i];
}

static int first_half_twice(const int *in, int n, int b, int i)
{
    (void)b;
    return in[i % (n / 2)];
}

static int first_third_thrice(const int *in, int n, int b, int i)
{
    (void)b;
    return in[i % (n / 3)];
}

static int twice(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return 2 * in[i];
}

static int least(const int *in, int n, int b, int i)
{
    int value = in[0];
    (void)b, (void)i;
    for (int k = 1; k < n; k++)
        value = in[k] < value ? in[k] : value;
    return value;
}

static int sum_of_halves(const int *in, int n, int b, int i)
{
    (void)b;
    return in[i % (n / 2)] + in[i % (n / 2) + n / 2];
}

static int warp_sum(const int *in, int n, int b, int i)
{
    int block = i / b * b, first = block + (i - block) / 32 * 32;
    return sum(in, first, smaller(first + 32, smaller(block + b, n)));
}

static int block_sum(const int *in, int n, int b, int i)
{
    return sum(in, i / b * b, smaller(i / b * b + b, n));
}

static int grid_sum(const int *in, int n, int b, int i)
{
    (void)b, (void)i;
    return sum(in, 0, n);
}

static int warp_scan(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return sum(in, i / 32 * 32, i + 1);
}

static int block_scan(const int *in, int n, int b, int i)
{
    (void)n;
    return sum(in, i / b * b, i + 1);
}

static int grid_scan(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return sum(in, 0, i + 1);
}

static int transpose_64(const int *in, int n, int b, int i)
{
    (void)n, (void)b;
    return in[i % 64 * 64 + i / 64];
}

static int histogram_8(const int *in, int n, int b, int i)
{
    int count = 0;
    (void)b;
    for (int k = 0; k < n; k++)
        count += in[k] % 8 == i % 8;
    return count;
}

static int even_count(const int *in, int n, int b, int i)
{
    (void)b, (void)i;
    return even_numbers(in, n);
}

static int even_first(const int *in, int n, int b, int i)
{
    int evens = even_numbers(in, n), wanted = i < evens ? i : i - evens, k = 0;
    (void)b;
    for (;; k++)
        if ((in[k] % 2 == 0) == (i < evens) && wanted-- == 0)
            return in[k];
}

static int warp_matches(const int *in, int n, int b, int i)
{
    int count = 0;
    (void)n, (void)b;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
        count += in[k] % 4 == in[i] % 4;
    return count;
}

#define REFERENCE(name) \
    {                   \
#name, name     \
    }
static const struct {
    const char *name;
    int (*value)(const int *in, int n, int b, int i);
} references[] = {
    REFERENCE(copy),          REFERENCE(swap_pairs),   REFERENCE(swap_halves),
    REFERENCE(reverse_64),    REFERENCE(reverse_all),  REFERENCE(first_half_twice),
    REFERENCE(sum_of_halves), REFERENCE(warp_sum),     REFERENCE(block_sum),
    REFERENCE(grid_sum),      REFERENCE(warp_scan),    REFERENCE(block_scan),
    REFERENCE(grid_scan),     REFERENCE(transpose_64), REFERENCE(histogram_8),
    REFERENCE(even_count),    REFERENCE(even_first),   REFERENCE(first_third_thrice),
    REFERENCE(twice),         REFERENCE(least),        REFERENCE(warp_matches),
};

static void expect_right(const struct planted *p, int threads, bool check)
{
    const struct planted_run *run = planted_launch(p, threads, check);
    int b = (int)(p->block[0] * p->block[1] * p->block[2]);
    size_t r = 0;
    while (r < sizeof references / sizeof *references &&
           strcmp(references[r].name, p->result) != 0)
        r++;
    cr_assert(r < sizeof references / sizeof *references, "%s: no reference %s", p->name,
              p->result);
    if (run->fault_count > 0) {
        const struct sim_fault *f = &run->fault;
        cr_expect_fail(
            "%s (%s.cu), %d threads, check %d: %s at line %d, block %u, thread "
            "%u: %s",
            p->name, p->file, threads, check, sim_fault_name(f->kind), f->line,
            f->block[0], f->thread[0], f->detail);
        return;
    }
    cr_expect_eq(run->sync, CUDA_SUCCESS, "%s", p->name);
    for (int i = 0; i < run->n; i++) {
        int wanted = references[r].value(run->in, run->n, b, i);
        if (run->out[i] == wanted)
            continue;
        cr_expect_fail("%s (%s.cu), %d threads, check %d: out[%d] is %d, not %d", p->name,
                       p->file, threads, check, i, run->out[i], wanted);
        return;
    }
}

Test(tricky, correct_kernels_raise_no_fault)
{
    for (int i = 0; i < planted_count; i++)
        if (planted[i].result[0] != '\0')
            for (int threads = 1; threads <= 2; threads++)
                expect_right(&planted[i], threads, true);
}

Test(tricky, plain_runs_are_right_again_and_again)
{
    for (int i = 0; i < planted_count; i++)
        if (planted[i].result[0] != '\0')
            for (int repeat = 0; repeat < 4; repeat++)
                expect_right(&planted[i], 1 + repeat % 2, false);
}

Test(tricky, there_are_enough)
{
    int count = 0;
    for (int i = 0; i < planted_count; i++)
        count += planted[i].result[0] != '\0';
    cr_expect_geq(count, 24, "only %d", count);
}
