/* test_driver.c - the simulated driver through its table of functions, as a
 * program would use the real one: devices, memory, modules, time. */
#include "driver_fixture.h"

TestSuite(driver, .init = open_device, .fini = close_device);

/* --- devices -------------------------------------------------------------- */

Test(driver, describes_the_card)
{
    int count = 0, value = 0;
    GOOD(cu->device_count(&count));
    cr_expect_eq(count, 2);
    CUdevice device = -1;
    GOOD(cu->device_get(&device, 1));
    char name[10];
    GOOD(cu->device_name(name, sizeof name, device));
    cr_expect_str_eq(name, "Test card", "cut to the room given: \"%s\"", name);
    size_t bytes = 0;
    GOOD(cu->device_memory(&bytes, device));
    cr_expect_eq(bytes, card.memory_bytes);
    static const struct {
        int attribute, value;
    } cases[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                 {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 108},
                 {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1410000},
                 {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                 {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                 {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
                 {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 166912}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GOOD(cu->device_attribute(&value, cases[i].attribute, device));
        cr_expect_eq(value, cases[i].value, "attribute %d: %d, not %d",
                     cases[i].attribute, value, cases[i].value);
    }
    cr_expect_eq(cu->device_attribute(&value, 9999, device), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(cu->device_get(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    cr_expect_eq(cu->device_get(&device, -1), CUDA_ERROR_INVALID_DEVICE);
}

Test(driver, names_every_error)
{
    static const int codes[] = {0,   1,   2,   3,   100, 101, 200, 201, 209, 218, 222,
                                400, 500, 700, 701, 702, 710, 716, 719, 720, 999};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const char *name = NULL, *text = NULL;
        GOOD(cu->error_name(codes[i], &name));
        GOOD(cu->error_string(codes[i], &text));
        cr_expect(strncmp(name, "CUDA_", 5) == 0 && *text, "code %d", codes[i]);
    }
    const char *name = "x";
    cr_expect_eq(cu->error_name(12345, &name), CUDA_ERROR_INVALID_VALUE);
    cr_expect_null(name);
}

Test(driver, wants_cuInit_and_a_context_first)
{
    sim_configure(&(struct sim_options){.spec = &card, .spec_count = 1});
    CUdeviceptr pointer;
    int count;
    cr_expect_eq(cu->device_count(&count), CUDA_ERROR_NOT_INITIALIZED);
    cr_expect_eq(cu->memory_alloc(&pointer, 4), CUDA_ERROR_NOT_INITIALIZED);
    cr_expect_eq(cu->init(1), CUDA_ERROR_INVALID_VALUE);
    GOOD(cu->init(0));
    cr_expect_eq(cu->memory_alloc(&pointer, 4), CUDA_ERROR_INVALID_CONTEXT);
    cr_expect_eq(cu->context_set((CUcontext)&count), CUDA_ERROR_INVALID_CONTEXT);
    GOOD(cu->context_retain(&context, 0));
    GOOD(cu->context_set(context));
    GOOD(cu->memory_alloc(&pointer, 4));
    GOOD(cu->context_release(0));
    cr_expect_eq(cu->memory_alloc(&pointer, 4), CUDA_ERROR_INVALID_CONTEXT);
    sim_configure(&(struct sim_options){0});
    cr_expect_eq(cu->init(0), CUDA_ERROR_NO_DEVICE);
}

/* --- memory --------------------------------------------------------------- */

Test(driver, checks_copies_and_frees)
{
    CUdeviceptr a = allocate(100);
    unsigned char host[128] = {0};
    static const struct {
        int64_t offset;
        size_t bytes;
        CUresult result;
    } cases[] = {{0, 100, CUDA_SUCCESS},
                 {99, 1, CUDA_SUCCESS},
                 {0, 101, CUDA_ERROR_INVALID_VALUE},
                 {100, 1, CUDA_ERROR_INVALID_VALUE},
                 {-1, 1, CUDA_ERROR_INVALID_VALUE},
                 {0, 0, CUDA_SUCCESS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUdeviceptr at = a + (uint64_t)cases[i].offset;
        cr_expect_eq(cu->copy_to_device(at, host, cases[i].bytes), cases[i].result,
                     "to device, case %zu", i);
        cr_expect_eq(cu->copy_to_host(host, at, cases[i].bytes), cases[i].result,
                     "to host, case %zu", i);
        cr_expect_eq(cu->fill_u8(at, 1, cases[i].bytes), cases[i].result,
                     "fill, case %zu", i);
    }
    cr_expect_eq(cu->fill_u32(a, 7, 25), CUDA_SUCCESS);
    cr_expect_eq(cu->fill_u32(a, 7, 26), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(cu->fill_u32(a + 1, 7, 1), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(cu->memory_free(a + 4), CUDA_ERROR_INVALID_VALUE);
    GOOD(cu->memory_free(a));
    cr_expect_eq(cu->memory_free(a), CUDA_ERROR_INVALID_VALUE);
    cr_expect(strstr(sim_last_error(), "freed already"), "%s", sim_last_error());
    cr_expect_eq(cu->copy_to_host(host, a, 4), CUDA_ERROR_INVALID_VALUE);
    cr_expect(strstr(sim_last_error(), "(freed)"), "%s", sim_last_error());
    GOOD(cu->memory_free(0));
}

Test(driver, moves_bytes)
{
    CUdeviceptr a = allocate(64), b = allocate(64);
    unsigned char in[64], out[64];
    for (int i = 0; i < 64; i++)
        in[i] = (unsigned char)(i * 3);
    GOOD(cu->copy_to_device(a, in, 64));
    GOOD(cu->copy_on_device(b + 32, a, 32));
    GOOD(cu->fill_u8(b, 0xee, 16));
    GOOD(cu->fill_u32(b + 16, 0x04030201, 4));
    GOOD(cu->copy_to_host(out, b, 64));
    for (int i = 0; i < 64; i++) {
        int want = i < 16 ? 0xee : i < 32 ? i % 4 + 1 : in[i - 32];
        cr_expect_eq(out[i], want, "byte %d: %d, not %d", i, out[i], want);
    }
}

Test(driver, runs_out_of_memory_politely)
{
    size_t before = 0, during = 0, after = 0, total = 0;
    CUdeviceptr big = 0, more = 0;
    GOOD(cu->memory_info(&before, &total));
    cr_expect_eq(total, card.memory_bytes);
    GOOD(cu->memory_alloc(&big, 900u << 20));
    cr_expect_eq(cu->memory_alloc(&more, 900u << 20), CUDA_ERROR_OUT_OF_MEMORY);
    cr_expect_eq(cu->memory_alloc(&more, 0), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(cu->memory_alloc(&more, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    GOOD(cu->memory_info(&during, &total));
    cr_expect_leq(during, before - (900u << 20));
    GOOD(cu->memory_free(big));
    GOOD(cu->memory_info(&after, &total));
    cr_expect_eq(after, before);
}

/* --- modules -------------------------------------------------------------- */

Test(driver, refuses_bad_modules_with_a_reason)
{
    static const struct {
        const char *image;
        CUresult result;
    } cases[] = {
        {"hello", CUDA_ERROR_INVALID_PTX},
        {"\177ELF\2\1\1 machine code only", CUDA_ERROR_NO_BINARY_FOR_GPU},
        {".version 8.0\n.target sm_90\n.address_size 64\n", CUDA_ERROR_NO_BINARY_FOR_GPU},
        {HEADER ".visible .entry k() { never_heard_of %r1; ret; }",
         CUDA_ERROR_INVALID_PTX},
        {HEADER ".global .align 4 .b8 huge[2000000000];", CUDA_ERROR_OUT_OF_MEMORY},
        {HEADER ".global .align 8 .u64 p = nothing;", CUDA_ERROR_INVALID_PTX},
        {HEADER ".visible .entry k() { .local .b8 x[600000]; ret; }",
         CUDA_ERROR_INVALID_PTX},
        {HEADER ".visible .entry k() { .shared .b8 x[200000]; ret; }",
         CUDA_ERROR_INVALID_PTX},
        {HEADER ".visible .entry k(.param .b8 x[40000]) { ret; }",
         CUDA_ERROR_INVALID_PTX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUmodule module = NULL;
        CUfunction function;
        CUresult result = cu->module_load(&module, cases[i].image);
        if (result == CUDA_SUCCESS)
            result = cu->module_function(&function, module, "k");
        cr_expect_eq(result, cases[i].result, "case %zu gave %d: %s", i, (int)result,
                     sim_last_error());
        cr_expect_neq(sim_last_error()[0], '\0', "case %zu", i);
    }
}

Test(driver, finds_functions_and_variables_by_name)
{
    CUmodule module = load(variables);
    CUfunction a = NULL, b = NULL;
    GOOD(cu->module_function(&a, module, "read"));
    GOOD(cu->module_function(&b, module, "read"));
    cr_expect_eq(a, b);
    cr_expect_eq(cu->module_function(&a, module, "rea"), CUDA_ERROR_NOT_FOUND);
    cr_expect_eq(cu->module_function(&a, module, ""), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr at = 0;
    size_t bytes = 0;
    GOOD(cu->module_global(&at, &bytes, module, "table"));
    cr_expect_eq(bytes, 16);
    uint32_t words[4] = {0};
    GOOD(cu->copy_to_host(words, at, sizeof words));
    cr_expect(words[0] == 11 && words[1] == 22 && words[2] == 33 && words[3] == 44);
    uint64_t link = 0;
    CUdeviceptr link_at = 0;
    GOOD(cu->module_global(&link_at, NULL, module, "link"));
    GOOD(cu->copy_to_host(&link, link_at, sizeof link));
    cr_expect_eq(link, at + 8);
    cr_expect_eq(cu->module_global(&at, &bytes, module, "read"), CUDA_ERROR_NOT_FOUND);
}

Test(driver, gives_kernels_their_variables)
{
    CUmodule module = load(variables);
    CUfunction read = NULL;
    GOOD(cu->module_function(&read, module, "read"));
    CUdeviceptr out = allocate(12), zeros = 0, limits = 0;
    GOOD(launch(read, 1, 1, 0, (void *[]){&out}));
    uint32_t got[3] = {1, 1, 1};
    GOOD(cu->copy_to_host(got, out, sizeof got));
    cr_expect(got[0] == 44 && got[1] == 9 && got[2] == 0, "%u %u %u", got[0], got[1],
              got[2]);
    GOOD(cu->module_global(&zeros, NULL, module, "zeros"));
    GOOD(cu->module_global(&limits, NULL, module, "limits"));
    uint32_t fresh[2] = {70, 90};
    GOOD(cu->copy_to_device(limits, fresh, sizeof fresh)); /* cudaMemcpyToSymbol */
    GOOD(cu->fill_u32(zeros, 6, 16));
    GOOD(launch(read, 1, 1, 0, (void *[]){&out}));
    GOOD(cu->copy_to_host(got, out, sizeof got));
    cr_expect(got[0] == 44 && got[1] == 90 && got[2] == 6, "%u %u %u", got[0], got[1],
              got[2]);
}

Test(driver, unloading_frees_the_variables)
{
    size_t before = 0, loaded = 0, after = 0, total = 0;
    GOOD(cu->memory_info(&before, &total));
    CUmodule module = load(HEADER ".visible .global .align 4 .b8 much[1000000];");
    GOOD(cu->memory_info(&loaded, &total));
    cr_expect_leq(loaded, before - 1000000);
    GOOD(cu->module_unload(module));
    GOOD(cu->memory_info(&after, &total));
    cr_expect_eq(after, before);
    cr_expect_eq(cu->module_unload(module), CUDA_ERROR_INVALID_HANDLE);
}

/* --- time ----------------------------------------------------------------- */

Test(driver, events_read_the_virtual_clock)
{
    CUfunction f = load_function(stamp, "stamp");
    CUdeviceptr out = allocate(4 * 64);
    CUevent a = NULL, b = NULL, c = NULL, none = NULL;
    GOOD(cu->event_create(&a, CU_EVENT_DEFAULT));
    GOOD(cu->event_create(&b, CU_EVENT_DEFAULT));
    GOOD(cu->event_create(&c, CU_EVENT_DEFAULT));
    GOOD(cu->event_create(&none, CU_EVENT_DEFAULT));
    GOOD(cu->event_record(a, NULL));
    GOOD(launch(f, 64, 32, 0, (void *[]){&out}));
    double once = sim_last_report()->predicted_ms;
    GOOD(cu->event_record(b, NULL));
    GOOD(launch(f, 64, 32, 0, (void *[]){&out}));
    GOOD(launch(f, 64, 32, 0, (void *[]){&out}));
    GOOD(cu->event_record(c, NULL));
    GOOD(cu->event_sync(c));
    float ab = 0, bc = 0, aa = 1;
    GOOD(cu->event_elapsed(&ab, a, b));
    GOOD(cu->event_elapsed(&bc, b, c));
    GOOD(cu->event_elapsed(&aa, a, a));
    cr_expect_gt(once, 0);
    cr_expect_lt(fabs((double)ab - once), once * 1e-5, "%g, %g", (double)ab, once);
    cr_expect_lt(fabs((double)bc - 2 * once), once * 1e-5, "%g, %g", (double)bc, once);
    cr_expect_eq(aa, 0);
    cr_expect_eq(cu->event_elapsed(&ab, a, none), CUDA_ERROR_INVALID_HANDLE);
    GOOD(cu->event_destroy(a));
    cr_expect_eq(cu->event_destroy(a), CUDA_ERROR_INVALID_HANDLE);
    cr_expect_eq(cu->event_record(a, NULL), CUDA_ERROR_INVALID_HANDLE);
}

Test(driver, streams_run_side_by_side)
{
    CUfunction f = load_function(stamp, "stamp");
    CUdeviceptr out = allocate(4 * 64);
    CUstream one = NULL, two = NULL;
    GOOD(cu->stream_create(&one, CU_STREAM_DEFAULT));
    GOOD(cu->stream_create(&two, CU_STREAM_DEFAULT));
    CUevent start = NULL, end = NULL, end_all = NULL;
    GOOD(cu->event_create(&start, 0));
    GOOD(cu->event_create(&end, 0));
    GOOD(cu->event_create(&end_all, 0));
    GOOD(cu->event_record(start, NULL));
    void *parameters[] = {&out};
    GOOD(cu->launch(f, 64, 1, 1, 32, 1, 1, 0, one, parameters, NULL));
    GOOD(cu->launch(f, 64, 1, 1, 32, 1, 1, 0, two, parameters, NULL));
    GOOD(cu->launch(f, 64, 1, 1, 32, 1, 1, 0, two, parameters, NULL));
    double once = sim_last_report()->predicted_ms;
    GOOD(cu->event_record(end, one));
    GOOD(cu->event_record(end_all, NULL)); /* the default stream waits for all */
    float ms = 0, all_ms = 0;
    GOOD(cu->event_elapsed(&ms, start, end));
    GOOD(cu->event_elapsed(&all_ms, start, end_all));
    cr_expect_lt(fabs((double)ms - once), once * 1e-5);
    cr_expect_lt(fabs((double)all_ms - 2 * once), once * 1e-5);
    GOOD(cu->stream_sync(one));
    GOOD(cu->stream_destroy(one));
    cr_expect_eq(cu->stream_destroy(one), CUDA_ERROR_INVALID_HANDLE);
    cr_expect_eq(cu->launch(f, 64, 1, 1, 32, 1, 1, 0, one, parameters, NULL),
                 CUDA_ERROR_INVALID_HANDLE);
}
