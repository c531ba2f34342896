/* driver_fixture.h - what the tests of the simulated driver share: a card, ways to
 * load and launch, and PTX programs, which were all assembled by ptxas 13. */
#ifndef PEAKBOUND_TESTS_DRIVER_FIXTURE_H
#define PEAKBOUND_TESTS_DRIVER_FIXTURE_H

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

static inline void open_device(void)
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

static inline void close_device(void)
{
    sim_configure(&(struct sim_options){0});
}

/* Assert success, with the simulator's own words if not. */
#define GOOD(call)                                                              \
    do {                                                                        \
        CUresult result_ = (call);                                              \
        cr_assert_eq(result_, CUDA_SUCCESS, #call " gave %d: %s", (int)result_, \
                     sim_last_error());                                         \
    } while (0)

#define HEADER ".version 7.0\n.target sm_80\n.address_size 64\n"

static inline CUmodule load(const char *text)
{
    CUmodule module = NULL;
    GOOD(cu->module_load(&module, text));
    return module;
}

static inline CUfunction load_function(const char *text, const char *name)
{
    CUfunction function = NULL;
    GOOD(cu->module_function(&function, load(text), name));
    return function;
}

static inline CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer = 0;
    GOOD(cu->memory_alloc(&pointer, bytes));
    return pointer;
}

static inline CUresult launch(CUfunction function, unsigned grid, unsigned block,
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

#endif
