/* test_launch.c - launches through the simulated driver: parameters, shared memory,
 * limits, faults, samples. */
#include "driver_fixture.h"

TestSuite(launch, .init = open_device, .fini = close_device);

/* --- launches ------------------------------------------------------------- */

Test(launch, adds_vectors_of_any_length)
{
    static const unsigned lengths[] = {1, 31, 32, 33, 127, 128, 129, 1000};
    CUfunction add = load_function(vector_add, "vector_add");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned n = lengths[i];
        float a[1001], b[1001], c[1001];
        for (unsigned j = 0; j <= n; j++) {
            a[j] = (float)j;
            b[j] = 2 * (float)j;
            c[j] = -1;
        }
        size_t bytes = (n + 1) * sizeof(float);
        CUdeviceptr da = allocate(bytes), db = allocate(bytes), dc = allocate(bytes);
        GOOD(cu->copy_to_device(da, a, bytes));
        GOOD(cu->copy_to_device(db, b, bytes));
        GOOD(cu->copy_to_device(dc, c, bytes));
        GOOD(launch(add, (n + 127) / 128, 128, 0, (void *[]){&da, &db, &dc, &n}));
        GOOD(cu->context_sync());
        GOOD(cu->copy_to_host(c, dc, bytes));
        for (unsigned j = 0; j < n; j++)
            cr_assert_eq(c[j], 3 * (float)j, "n %u: c[%u] is %g", n, j, (double)c[j]);
        cr_assert_eq(c[n], -1, "n %u: wrote past the end", n);
        GOOD(cu->memory_free(da));
        GOOD(cu->memory_free(db));
        GOOD(cu->memory_free(dc));
    }
    const struct sim_report *report = sim_last_report();
    cr_assert_not_null(report);
    cr_expect_str_eq(report->kernel, "vector_add");
    cr_expect_eq(report->grid[0], 8);
    cr_expect_eq(report->block[0], 128);
    cr_expect_eq(report->fault_count, 0);
    cr_expect_eq(report->counters.blocks, 8);
    cr_expect_eq(report->counters.warps, 32);
    cr_expect_eq(report->counters.global_st_requests, 32, "%llu",
                 (unsigned long long)report->counters.global_st_requests);
    cr_expect_eq(report->counters.global_st_sectors, 125, "%llu",
                 (unsigned long long)report->counters.global_st_sectors);
    cr_expect_gt(report->predicted_ms, 0);
}

Test(launch, takes_parameters_as_one_buffer)
{
    CUfunction add = load_function(vector_add, "vector_add");
    CUdeviceptr a = allocate(4), b = allocate(4), c = allocate(4);
    float one = 1, two = 2, got = 0;
    GOOD(cu->copy_to_device(a, &one, 4));
    GOOD(cu->copy_to_device(b, &two, 4));
    struct {
        CUdeviceptr a, b, c;
        int n;
    } block = {a, b, c, 1};
    size_t bytes = 28;
    void *extra[] = {(void *)1, &block, (void *)2, &bytes, NULL};
    GOOD(cu->launch(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    GOOD(cu->copy_to_host(&got, c, 4));
    cr_expect_eq(got, 3);
    bytes = 29;
    cr_expect_eq(cu->launch(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
                 CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(cu->launch(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                 CUDA_ERROR_INVALID_VALUE);
}

Test(launch, lays_out_static_and_dynamic_shared_memory)
{
    CUmodule module = load(shared_memory);
    static const struct {
        const char *name;
        int static_bytes;
    } cases[] = {{"reverse", 20}, {"small", 8}, {"none", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUfunction f = NULL;
        int bytes = -1;
        GOOD(cu->module_function(&f, module, cases[i].name));
        GOOD(cu->function_attribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
        cr_expect_eq(bytes, cases[i].static_bytes, "%s: %d", cases[i].name, bytes);
    }
    CUfunction reverse = NULL;
    GOOD(cu->module_function(&reverse, module, "reverse"));
    uint32_t data[256];
    CUdeviceptr d = allocate(sizeof data);
    for (uint32_t i = 0; i < 256; i++)
        data[i] = i * 7;
    GOOD(cu->copy_to_device(d, data, sizeof data));
    GOOD(launch(reverse, 1, 256, 1024, (void *[]){&d}));
    GOOD(cu->copy_to_host(data, d, sizeof data));
    for (uint32_t i = 0; i < 256; i++)
        cr_assert_eq(data[i], (255 - i) * 7, "data[%u] is %u", i, data[i]);
    /* one word too few: the last thread's store must be found */
    GOOD(launch(reverse, 1, 256, 1020, (void *[]){&d}));
    cr_expect_eq(cu->context_sync(), CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_assert_eq(sim_last_report()->fault_count, 1);
    cr_expect_eq(sim_last_report()->faults[0].kind, SIM_OUT_OF_BOUNDS);
    cr_expect_eq(sim_last_report()->faults[0].thread[0], 255);
}

Test(launch, opts_in_to_large_shared_memory)
{
    CUfunction f = load_function(shared_memory, "reverse");
    CUdeviceptr d = allocate(4096);
    int most = 0;
    GOOD(cu->function_attribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                f));
    cr_expect_eq(most, 49152 - 20);
    GOOD(launch(f, 1, 32, 49152 - 32, (void *[]){&d}));
    cr_expect_eq(launch(f, 1, 32, 49152, (void *[]){&d}), CUDA_ERROR_INVALID_VALUE);
    cr_expect(strstr(sim_last_error(), "cuFuncSetAttribute"), "%s", sim_last_error());
    int attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    cr_expect_eq(cu->function_set_attribute(f, attribute, 163 << 10),
                 CUDA_ERROR_INVALID_VALUE);
    GOOD(cu->function_set_attribute(f, attribute, 100 << 10));
    GOOD(launch(f, 1, 32, 100 << 10, (void *[]){&d}));
    GOOD(cu->context_sync());
    cr_expect_eq(cu->function_set_attribute(f, attribute, -1), CUDA_ERROR_INVALID_VALUE);
}

Test(launch, refuses_impossible_launches)
{
    CUfunction f = load_function(bounded, "bounded"), fixed = NULL,
               none = load_function(shared_memory, "none");
    CUmodule module = load(bounded);
    GOOD(cu->module_function(&fixed, module, "fixed"));
    const struct {
        CUfunction function;
        unsigned grid[3], block[3];
        CUresult result;
    } cases[] = {
        {none, {1, 1, 1}, {1024, 1, 1}, CUDA_SUCCESS},
        {none, {1, 1, 1}, {1, 1, 64}, CUDA_SUCCESS},
        {none, {0, 1, 1}, {32, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {none, {1, 1, 1}, {32, 0, 1}, CUDA_ERROR_INVALID_VALUE},
        {none, {1, 1, 1}, {1025, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {none, {1, 1, 1}, {32, 33, 1}, CUDA_ERROR_INVALID_VALUE},
        {none, {1, 1, 1}, {1, 1, 65}, CUDA_ERROR_INVALID_VALUE},
        {none, {1, 65536, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {none, {1, 1, 65536}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {none, {0x80000000u, 1, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {f, {1, 1, 1}, {64, 1, 1}, CUDA_SUCCESS},
        {f, {1, 1, 1}, {65, 1, 1}, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
        {fixed, {1, 1, 1}, {32, 2, 1}, CUDA_SUCCESS},
        {fixed, {1, 1, 1}, {64, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {(CUfunction)(void *)&module, {1, 1, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_HANDLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned *g = cases[i].grid, *b = cases[i].block;
        CUresult result = cu->launch(cases[i].function, g[0], g[1], g[2], b[0], b[1],
                                     b[2], 0, NULL, NULL, NULL);
        cr_expect_eq(result, cases[i].result, "case %zu gave %d: %s", i, (int)result,
                     sim_last_error());
    }
    cr_expect_eq(cu->launch_cooperative(none, 108 * 33, 1, 1, 32, 1, 1, 0, NULL, NULL),
                 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    GOOD(cu->launch_cooperative(none, 108, 1, 1, 32, 1, 1, 0, NULL, NULL));
}

Test(launch, tells_a_fault_once_and_goes_on)
{
    CUmodule module = load(store);
    CUfunction f = NULL, stop = NULL;
    GOOD(cu->module_function(&f, module, "store"));
    GOOD(cu->module_function(&stop, module, "stop"));
    CUdeviceptr word = allocate(64), gone = allocate(64);
    GOOD(cu->memory_free(gone));
    const struct {
        CUfunction function;
        CUdeviceptr where;
        CUresult result;
        enum sim_fault_kind kind;
    } cases[] = {{f, word + 64, CUDA_ERROR_ILLEGAL_ADDRESS, SIM_OUT_OF_BOUNDS},
                 {f, 0, CUDA_ERROR_ILLEGAL_ADDRESS, SIM_OUT_OF_BOUNDS},
                 {f, gone, CUDA_ERROR_ILLEGAL_ADDRESS, SIM_USE_AFTER_FREE},
                 {f, word + 2, CUDA_ERROR_MISALIGNED_ADDRESS, SIM_MISALIGNED},
                 {stop, 0, CUDA_ERROR_LAUNCH_FAILED, SIM_TRAP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUdeviceptr where = cases[i].where;
        GOOD(launch(cases[i].function, 1, 1, 0, (void *[]){&where}));
        CUresult result = cu->context_sync();
        cr_expect_eq(result, cases[i].result, "case %zu: %d", i, (int)result);
        cr_assert_eq(sim_last_report()->fault_count, 1, "case %zu", i);
        const struct sim_fault *fault = &sim_last_report()->faults[0];
        cr_expect_eq(fault->kind, cases[i].kind, "case %zu: %s, %s", i,
                     sim_fault_name(fault->kind), fault->detail);
        GOOD(cu->context_sync());
        uint32_t got = 0;
        GOOD(launch(f, 1, 1, 0, (void *[]){&word}));
        GOOD(cu->copy_to_host(&got, word, 4));
        cr_expect_eq(got, 5);
        cr_expect_eq(sim_last_report()->fault_count, 0);
        GOOD(cu->fill_u32(word, 0, 1));
    }
}

Test(launch, ends_kernels_that_never_would)
{
    sim_configure(&(struct sim_options){
        .spec = &card, .spec_count = 1, .threads = 1, .step_limit = 100000});
    GOOD(cu->init(0));
    GOOD(cu->context_retain(&context, 0));
    GOOD(cu->context_set(context));
    CUmodule module = load(endless);
    static const struct {
        const char *name;
        enum sim_fault_kind kind;
    } cases[] = {{"loop", SIM_TIMEOUT}, {"wait", SIM_DEADLOCK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUfunction f = NULL;
        GOOD(cu->module_function(&f, module, cases[i].name));
        GOOD(launch(f, 3, 64, 0, NULL));
        cr_expect_eq(cu->context_sync(), CUDA_ERROR_LAUNCH_TIMEOUT, "%s", cases[i].name);
        cr_assert_gt(sim_last_report()->fault_count, 0, "%s", cases[i].name);
        cr_expect_eq(sim_last_report()->faults[0].kind, cases[i].kind, "%s: %s",
                     cases[i].name, sim_fault_name(sim_last_report()->faults[0].kind));
    }
}

/* --- samples -------------------------------------------------------------- */

Test(launch, runs_a_sample_of_the_blocks)
{
    enum { BLOCKS = 1000, SAMPLE = 50 };
    CUfunction f = load_function(stamp, "stamp");
    CUdeviceptr out = allocate(4 * BLOCKS);
    uint32_t got[2][BLOCKS];
    for (int round = 0; round < 2; round++) {
        GOOD(cu->fill_u32(out, 0, BLOCKS));
        sim_set_sample(SAMPLE, 42);
        GOOD(launch(f, BLOCKS, 32, 0, (void *[]){&out}));
        GOOD(cu->copy_to_host(got[round], out, sizeof got[round]));
    }
    cr_expect_arr_eq(got[0], got[1], sizeof got[0], "same seed, same sample");
    unsigned ran = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        cr_assert_eq(sim_block_ran(i, 0, 0), got[0][i] != 0, "block %u", i);
        ran += got[0][i] != 0;
    }
    cr_expect_eq(ran, SAMPLE);
    const struct sim_report *report = sim_last_report();
    cr_expect(report->sampled);
    cr_expect_eq(report->counters.blocks, BLOCKS);
    cr_expect_eq(report->counters.blocks_run, SAMPLE);
    cr_expect_eq(report->counters.global_st_requests, BLOCKS, "scaled to the grid: %llu",
                 (unsigned long long)report->counters.global_st_requests);
    double sampled_ms = report->predicted_ms;
    sim_set_sample(0, 0);
    GOOD(launch(f, BLOCKS, 32, 0, (void *[]){&out}));
    cr_expect_not(sim_last_report()->sampled);
    cr_expect(sim_block_ran(999, 0, 0));
    cr_expect_not(sim_block_ran(1000, 0, 0));
    cr_expect_lt(fabs(sim_last_report()->predicted_ms - sampled_ms), 0.1 * sampled_ms,
                 "%g, sampled %g", sim_last_report()->predicted_ms, sampled_ms);
    sim_set_sample(2000, 1);
    GOOD(launch(f, BLOCKS, 32, 0, (void *[]){&out}));
    cr_expect_not(sim_last_report()->sampled, "the sample is the whole grid");
}

Test(launch, occupancy_follows_threads_and_shared_memory)
{
    CUfunction f = load_function(shared_memory, "none");
    static const struct {
        int threads;
        size_t smem;
        int blocks;
    } cases[] = {{1024, 0, 2}, {512, 0, 4}, {32, 0, 32}, {32, 40 << 10, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int blocks = 0;
        GOOD(cu->occupancy(&blocks, f, cases[i].threads, cases[i].smem));
        cr_expect_eq(blocks, cases[i].blocks, "%d threads, %zu bytes: %d",
                     cases[i].threads, cases[i].smem, blocks);
    }
}
