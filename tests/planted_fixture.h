/* planted_fixture.h - runs the kernels of mutants/ and tricky/ (see planted.h). */
#ifndef PEAKBOUND_TESTS_PLANTED_FIXTURE_H
#define PEAKBOUND_TESTS_PLANTED_FIXTURE_H

#include "../host/registry.h"
#include "driver_fixture.h"

/* What stands before a kernel. A mutant has a fault, a correct kernel a result. */
struct planted {
    const char *file, *name, *fault, *result;
    unsigned grid[3], block[3], shared_bytes;
    int n; /* 0: the number of threads */
    int cooperative, freed;
    int lines[16], line_count; /* that may be named */
};
extern const struct planted planted[];
extern const int planted_count;

extern struct gpu_image planted_images[];
extern const int planted_image_count;
void planted_init(void);

enum { PLANTED_MOST = 4096, PLANTED_STEPS = 2000000 };

struct planted_run {
    CUresult launch, sync;
    int n, fault_count;
    struct sim_fault fault; /* the first */
    int in[PLANTED_MOST], out[PLANTED_MOST];
};

static inline const void *planted_image(const struct planted *p)
{
    planted_init();
    for (int i = 0; i < planted_image_count; i++)
        if (strcmp(planted_images[i].stem, p->file) == 0)
            return planted_images[i].data;
    return NULL;
}

/* The kernel in a fresh driver. The result is valid until the next run. */
static inline const struct planted_run *planted_launch(const struct planted *p,
                                                       int threads, bool check)
{
    static struct planted_run run;
    const unsigned *grid = p->grid, *block = p->block;
    unsigned all = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    CUmodule module = NULL;
    CUfunction function = NULL;
    run = (struct planted_run){.n = p->n > 0 ? p->n : (int)all};
    cr_assert_leq(run.n, PLANTED_MOST, "%s: n is too big", p->name);
    sim_configure(&(struct sim_options){.spec = &card,
                                        .spec_count = 1,
                                        .threads = threads,
                                        .check = check,
                                        .step_limit = PLANTED_STEPS});
    cu = sim_driver();
    GOOD(cu->init(0));
    GOOD(cu->context_retain(&context, 0));
    GOOD(cu->context_set(context));
    GOOD(cu->module_load(&module, planted_image(p)));
    GOOD(cu->module_function(&function, module, p->name));
    for (int i = 0; i < run.n; i++)
        run.in[i] = (i * 37 + 11) % 101 + 1; /* 1 to 101 in disorder */
    size_t bytes = (size_t)run.n * sizeof(int);
    CUdeviceptr in = allocate(bytes), out = allocate(bytes), work = allocate(bytes);
    GOOD(cu->copy_to_device(in, run.in, bytes));
    GOOD(cu->fill_u8(work, 0, bytes));
    if (p->freed)
        GOOD(cu->memory_free(work));
    void *parameters[] = {&in, &out, &work, &run.n};
    if (p->cooperative)
        run.launch =
            cu->launch_cooperative(function, grid[0], grid[1], grid[2], block[0],
                                   block[1], block[2], p->shared_bytes, NULL, parameters);
    else
        run.launch = cu->launch(function, grid[0], grid[1], grid[2], block[0], block[1],
                                block[2], p->shared_bytes, NULL, parameters, NULL);
    cr_assert_eq(run.launch, CUDA_SUCCESS, "%s: %s", p->name, sim_last_error());
    run.sync = cu->context_sync();
    const struct sim_report *report = sim_last_report();
    run.fault_count = report->fault_count;
    if (run.fault_count > 0)
        run.fault = report->faults[0];
    if (run.sync != CUDA_SUCCESS)
        return &run;
    GOOD(cu->copy_to_host(run.out, out, bytes));
    GOOD(cu->memory_free(in));
    GOOD(cu->memory_free(out));
    if (!p->freed)
        GOOD(cu->memory_free(work));
    run.fault_count += sim_leaks(&run.fault, 1);
    return &run;
}

#endif
