/* test_mutants.c - every planted fault is found, with its kind and line; see planted.h. */
#include "planted_fixture.h"

static bool is_marked(const struct planted *p, int line)
{
    for (int i = 0; i < p->line_count; i++)
        if (p->lines[i] == line)
            return true;
    return false;
}

/* The fault says what, where and who. */
static void expect_complete(const struct planted *p, const struct sim_fault *f)
{
    bool accesses = f->kind != SIM_BARRIER_DIVERGENCE && f->kind != SIM_DEADLOCK &&
                    f->kind != SIM_TIMEOUT && f->kind != SIM_BAD_MASK &&
                    f->kind != SIM_TRAP;
    const char *slash = strrchr(f->file, '/');
    size_t stem = strlen(p->file);
    cr_expect(strcmp(f->kernel, p->name) == 0 || f->kind == SIM_LEAK, "%s: kernel %s",
              p->name, f->kernel);
    cr_expect(strncmp(slash != NULL ? slash + 1 : f->file, p->file, stem) == 0,
              "%s: file %s", p->name, f->file);
    cr_expect_gt(strlen(f->detail), 10, "%s: `%s`", p->name, f->detail);
    cr_expect(!accesses || f->address != 0 || strstr(f->detail, "0x0") != NULL ||
                  strstr(f->detail, "a register") != NULL,
              "%s: no address: %s", p->name, f->detail);
    for (int i = 0; i < 3; i++)
        cr_expect(f->block[i] < p->grid[i] && f->thread[i] < p->block[i],
                  "%s: block %u, thread %u", p->name, f->block[i], f->thread[i]);
}

static void expect_found(const struct planted *p, int threads)
{
    const struct planted_run *run = planted_launch(p, threads, true);
    if (run->fault_count == 0) {
        cr_expect_fail("%s (%s.cu:%d): no fault, not %s", p->name, p->file, p->lines[0],
                       p->fault);
        return;
    }
    const struct sim_fault *f = &run->fault;
    cr_expect(strcmp(sim_fault_name(f->kind), p->fault) == 0 && is_marked(p, f->line),
              "%s (%s.cu:%d): not %s but %s at line %d: %s", p->name, p->file,
              p->lines[0], p->fault, sim_fault_name(f->kind), f->line, f->detail);
    cr_expect(run->sync != CUDA_SUCCESS || f->kind == SIM_LEAK,
              "%s: the driver says success", p->name);
    expect_complete(p, f);
}

Test(mutants, every_one_is_found)
{
    for (int i = 0; i < planted_count; i++)
        if (planted[i].fault[0] != '\0')
            for (int threads = 1; threads <= 3; threads++)
                expect_found(&planted[i], threads);
}

/* Without checks a mutant may compute rubbish or fault, but the simulator stands. */
Test(mutants, unchecked_runs_end)
{
    for (int i = 0; i < planted_count; i++)
        if (planted[i].fault[0] != '\0')
            for (int threads = 1; threads <= 2; threads++)
                planted_launch(&planted[i], threads, false);
}

Test(mutants, say_what_they_are)
{
    int mutants = 0;
    for (int i = 0; i < planted_count; i++) {
        const struct planted *p = &planted[i];
        bool is_mutant = p->fault[0] != '\0';
        mutants += is_mutant;
        cr_expect(is_mutant != (p->result[0] != '\0'), "%s: fault or result?", p->name);
        cr_expect_eq(is_mutant, p->line_count > 0, "%s: %d lines are marked", p->name,
                     p->line_count);
        cr_expect(planted_image(p) != NULL, "%s: no image", p->name);
    }
    cr_expect_geq(mutants, 44, "only %d mutants", mutants);
}
