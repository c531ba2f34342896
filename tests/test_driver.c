/* test_driver.c - the simulated driver through its table of functions, as a
 * program would use the real one. The PTX programs were assembled by ptxas 13. */
#include "../host/sim/sim.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct cuda_api *cu;
static CUcontext context;

static const struct sim_spec card = {
    .name = "Test card (simulated)",
    .cc_major = 8,
    .sm_count = 108,
    .clock_mhz = 1410,
    .tensor_clock_mhz = 1410,
    .memory_clock_mhz = 1215,
    .memory_bus_bits = 5120,
    .dram_gbs = 1555,
    .memory_bytes = 1ull << 30,
    .l2_bytes = 40 << 20,
    .l1_bytes_sm = 192 << 10,
    .smem_bytes_sm = 164 << 10,
    .smem_bytes_block_optin = 163 << 10,
    .regs_sm = 65536,
    .max_threads_sm = 2048,
    .max_blocks_sm = 32,
    .fp32_lanes_sm = 64,
    .fp64_lanes_sm = 32,
    .int32_lanes_sm = 64,
    .sfu_lanes_sm = 16,
    .tensor_f16_acc32 = 2048,
    .tensor_f16_acc16 = 2048,
    .tensor_bf16 = 2048,
    .tensor_tf32 = 1024,
    .tensor_int8 = 4096,
    .tensor_fp64 = 128,
    .l2_bytes_clk = 5120,
    .latency_smem = 29,
    .latency_l1 = 33,
    .latency_l2 = 200,
    .latency_dram = 450,
    .launch_us = 2,
};

static void open_device(void)
{
    static struct sim_spec cards[2];
    cards[0] = cards[1] = card;
    cards[1].cc_major = 9;
    sim_configure(&(struct sim_options){.spec = cards, .spec_count = 2, .threads = 2});
    cu = sim_driver();
    cr_assert_eq(cu->init(0), CUDA_SUCCESS);
    cr_assert_eq(cu->context_retain(&context, 0), CUDA_SUCCESS);
    cr_assert_eq(cu->context_set(context), CUDA_SUCCESS);
}

static void close_device(void)
{
    sim_configure(&(struct sim_options){0});
}

TestSuite(driver, .init = open_device, .fini = close_device);

/* Assert success, with the simulator's own words if not. */
#define GOOD(call)                                                              \
    do {                                                                        \
        CUresult result_ = (call);                                              \
        cr_assert_eq(result_, CUDA_SUCCESS, #call " gave %d: %s", (int)result_, \
                     sim_last_error());                                         \
    } while (0)

#define HEADER ".version 7.0\n.target sm_80\n.address_size 64\n"

static CUmodule load(const char *text)
{
    CUmodule module = NULL;
    GOOD(cu->module_load(&module, text));
    return module;
}

static CUfunction load_function(const char *text, const char *name)
{
    CUfunction function = NULL;
    GOOD(cu->module_function(&function, load(text), name));
    return function;
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer = 0;
    GOOD(cu->memory_alloc(&pointer, bytes));
    return pointer;
}

static CUresult launch(CUfunction function, unsigned grid, unsigned block,
                       unsigned dynamic_smem, void **parameters)
{
    return cu->launch(function, grid, 1, 1, block, 1, 1, dynamic_smem, NULL, parameters,
                      NULL);
}

/* c[i] = a[i] + b[i] for i < n */
static const char vector_add[] =
    HEADER ".visible .entry vector_add(.param .u64 pa, .param .u64 pb, .param .u64 pc,\n"
           "    .param .u32 pn)\n"
           "{\n"
           "    .reg .pred %p<2>;\n"
           "    .reg .f32 %f<4>;\n"
           "    .reg .b32 %r<6>;\n"
           "    .reg .b64 %rd<11>;\n"
           "    ld.param.u64 %rd1, [pa];\n"
           "    ld.param.u64 %rd2, [pb];\n"
           "    ld.param.u64 %rd3, [pc];\n"
           "    ld.param.u32 %r2, [pn];\n"
           "    mov.u32 %r3, %ctaid.x;\n"
           "    mov.u32 %r4, %ntid.x;\n"
           "    mov.u32 %r5, %tid.x;\n"
           "    mad.lo.s32 %r1, %r3, %r4, %r5;\n"
           "    setp.ge.s32 %p1, %r1, %r2;\n"
           "    @%p1 bra $done;\n"
           "    cvta.to.global.u64 %rd4, %rd1;\n"
           "    mul.wide.s32 %rd5, %r1, 4;\n"
           "    add.s64 %rd6, %rd4, %rd5;\n"
           "    cvta.to.global.u64 %rd7, %rd2;\n"
           "    add.s64 %rd8, %rd7, %rd5;\n"
           "    ld.global.f32 %f1, [%rd8];\n"
           "    ld.global.f32 %f2, [%rd6];\n"
           "    add.f32 %f3, %f2, %f1;\n"
           "    cvta.to.global.u64 %rd9, %rd3;\n"
           "    add.s64 %rd10, %rd9, %rd5;\n"
           "    st.global.f32 [%rd10], %f3;\n"
           "$done:\n"
           "    ret;\n"
           "}\n";

/* out[tid] = what the variables hold */
static const char variables[] =
    HEADER ".visible .global .align 4 .u32 table[4] = {11, 22, 33, 44};\n"
           ".visible .global .align 8 .u64 link = generic(table)+8;\n"
           ".visible .global .align 4 .b8 zeros[64];\n"
           ".visible .const .align 4 .u32 limits[2] = {7, 9};\n"
           ".visible .entry read(.param .u64 out)\n"
           "{\n"
           "    .reg .b32 %r<4>;\n"
           "    .reg .b64 %rd<6>;\n"
           "    ld.param.u64 %rd1, [out];\n"
           "    cvta.to.global.u64 %rd2, %rd1;\n"
           "    ld.global.u64 %rd3, [link];\n"
           "    ld.u32 %r1, [%rd3+4];\n"
           "    st.global.u32 [%rd2], %r1;\n"
           "    ld.const.u32 %r2, [limits+4];\n"
           "    st.global.u32 [%rd2+4], %r2;\n"
           "    ld.global.u32 %r3, [zeros+60];\n"
           "    st.global.u32 [%rd2+8], %r3;\n"
           "    ret;\n"
           "}\n";

/* Reverse a block through dynamic shared memory that lies behind 20 static
 * bytes; `both` is a module-scope variable of two kernels. */
static const char shared_memory[] = HEADER ".extern .shared .align 16 .b8 room[];\n"
                                           ".shared .align 4 .b8 both[8];\n"
                                           ".visible .entry reverse(.param .u64 data)\n"
                                           "{\n"
                                           "    .reg .b32 %r<8>;\n"
                                           "    .reg .b64 %rd<4>;\n"
                                           "    .shared .align 4 .b8 own[12];\n"
                                           "    ld.param.u64 %rd1, [data];\n"
                                           "    cvta.to.global.u64 %rd2, %rd1;\n"
                                           "    mov.u32 %r1, %tid.x;\n"
                                           "    mul.wide.u32 %rd3, %r1, 4;\n"
                                           "    add.s64 %rd2, %rd2, %rd3;\n"
                                           "    ld.global.u32 %r2, [%rd2];\n"
                                           "    mov.u32 %r3, room;\n"
                                           "    shl.b32 %r4, %r1, 2;\n"
                                           "    add.s32 %r5, %r3, %r4;\n"
                                           "    st.shared.u32 [%r5], %r2;\n"
                                           "    st.shared.u32 [own+8], %r2;\n"
                                           "    st.shared.u32 [both+4], %r2;\n"
                                           "    bar.sync 0;\n"
                                           "    mov.u32 %r6, %ntid.x;\n"
                                           "    sub.s32 %r6, %r6, %r1;\n"
                                           "    mad.lo.s32 %r7, %r6, 4, %r3;\n"
                                           "    ld.shared.u32 %r2, [%r7+-4];\n"
                                           "    st.global.u32 [%rd2], %r2;\n"
                                           "    ret;\n"
                                           "}\n"
                                           ".visible .entry small(.param .u64 data)\n"
                                           "{\n"
                                           "    .reg .b32 %r<2>;\n"
                                           "    mov.u32 %r1, %tid.x;\n"
                                           "    st.shared.u32 [both], %r1;\n"
                                           "    ret;\n"
                                           "}\n"
                                           ".visible .entry none()\n"
                                           "{\n"
                                           "    ret;\n"
                                           "}\n";

/* block id -> out[block id] */
static const char stamp[] = HEADER ".visible .entry stamp(.param .u64 out)\n"
                                   "{\n"
                                   "    .reg .b32 %r<3>;\n"
                                   "    .reg .b64 %rd<4>;\n"
                                   "    ld.param.u64 %rd1, [out];\n"
                                   "    cvta.to.global.u64 %rd1, %rd1;\n"
                                   "    mov.u32 %r1, %ctaid.x;\n"
                                   "    mul.wide.u32 %rd2, %r1, 4;\n"
                                   "    add.s64 %rd3, %rd1, %rd2;\n"
                                   "    add.s32 %r2, %r1, 1;\n"
                                   "    st.global.u32 [%rd3], %r2;\n"
                                   "    ret;\n"
                                   "}\n";

/* Store a word wherever the parameter points. */
static const char store[] = HEADER ".visible .entry store(.param .u64 where)\n"
                                   "{\n"
                                   "    .reg .b64 %rd<2>;\n"
                                   "    ld.param.u64 %rd1, [where];\n"
                                   "    st.global.u32 [%rd1], 5;\n"
                                   "    ret;\n"
                                   "}\n"
                                   ".visible .entry stop()\n"
                                   "{\n"
                                   "    trap;\n"
                                   "}\n";

/* Loop for ever; wait at a barrier that a whole warp never reaches. */
static const char endless[] = HEADER ".visible .entry loop()\n"
                                     "{\n"
                                     "$again:\n"
                                     "    bra $again;\n"
                                     "}\n"
                                     ".visible .entry wait()\n"
                                     "{\n"
                                     "    .reg .pred %p<2>;\n"
                                     "    .reg .b32 %r<2>;\n"
                                     "    mov.u32 %r1, %tid.x;\n"
                                     "    setp.lt.u32 %p1, %r1, 32;\n"
                                     "    @%p1 bra $first;\n"
                                     "    barrier.sync 2, 64;\n"
                                     "    ret;\n"
                                     "$first:\n"
                                     "    barrier.sync 1, 64;\n"
                                     "    ret;\n"
                                     "}\n";

static const char bounded[] = HEADER ".visible .entry bounded()\n"
                                     ".maxntid 64, 1, 1\n"
                                     "{\n"
                                     "    ret;\n"
                                     "}\n"
                                     ".visible .entry fixed()\n"
                                     ".reqntid 32, 2, 1\n"
                                     "{\n"
                                     "    ret;\n"
                                     "}\n";

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

/* --- launches ------------------------------------------------------------- */

Test(driver, adds_vectors_of_any_length)
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

Test(driver, takes_parameters_as_one_buffer)
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

Test(driver, lays_out_static_and_dynamic_shared_memory)
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

Test(driver, opts_in_to_large_shared_memory)
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

Test(driver, refuses_impossible_launches)
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

Test(driver, tells_a_fault_once_and_goes_on)
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

Test(driver, ends_kernels_that_never_would)
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

/* --- samples -------------------------------------------------------------- */

Test(driver, runs_a_sample_of_the_blocks)
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

Test(driver, occupancy_follows_threads_and_shared_memory)
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
