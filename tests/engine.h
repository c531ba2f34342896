/* engine.h - run a small PTX kernel on the simulated driver and look at what it left. */
#ifndef PEAKBOUND_TESTS_ENGINE_H
#define PEAKBOUND_TESTS_ENGINE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/sim/sim.h"

enum { OUT_WORDS = 1 << 16 };

/* What to run. The kernel is `body` behind a head that declares registers (%r, %rd, %p,
 * %f, %fd, %h) and sets
 *   %r0 thread  %r1 block  %r2 threads a block  %r3 thread of the grid  %r4 n
 *   %r5 lane    %r6 warp   %rd0 out             %rd1 &out[%r3] (4 bytes each)
 * `globals` stands before the kernel, at module scope. */
struct program {
    const char *body, *globals;
    unsigned grid, block, smem, n; /* 0: one block, one warp, no dynamic memory */
    const char *target;            /* "sm_80" if NULL */
    int threads;                   /* host threads, 0 = 1 */
    bool check, cooperative;
    uint64_t step_limit;
    const uint32_t *in; /* first words of out before the launch, else zeros */
    int in_words;
    FILE *output; /* of printf, NULL: stdout */
    bool explain; /* keep account of each memory instruction */
    bool keep;    /* the driver's state, for a look at it */
};

/* What it did: valid until the next engine_run. */
struct outcome {
    CUresult launch, sync;
    uint32_t out[OUT_WORDS];
    uint64_t out_address;
    struct sim_counters counters;
    int fault_count, leak_count;
    struct sim_fault fault, leak; /* the first */
    char error[480];
};

static const struct sim_spec engine_card = {
    .name = "Test card (simulated)",
    .cc_major = 8,
    .sm_count = 16,
    .clock_mhz = 1000,
    .tensor_clock_mhz = 1000,
    .memory_clock_mhz = 1000,
    .memory_bus_bits = 1024,
    .dram_gbs = 1000,
    .memory_bytes = 1ull << 30,
    .l2_bytes = 8 << 20,
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

static const char engine_head[] =
    ".version 8.0\n"
    ".target %s\n"
    ".address_size 64\n"
    ".file 1 \"kernel.cu\"\n"
    "%s"
    ".visible .entry k(.param .u64 p_out, .param .u32 p_n)\n"
    "{\n"
    ".reg .pred %%p<20>;\n"
    ".reg .b16 %%h<10>;\n"
    ".reg .b32 %%r<60>;\n"
    ".reg .b64 %%rd<40>;\n"
    ".reg .f32 %%f<20>;\n"
    ".reg .f64 %%fd<20>;\n"
    ".loc 1 1 0\n"
    "mov.u32 %%r0, %%tid.x;\n"
    "mov.u32 %%r1, %%ctaid.x;\n"
    "mov.u32 %%r2, %%ntid.x;\n"
    "mad.lo.s32 %%r3, %%r1, %%r2, %%r0;\n"
    "ld.param.u32 %%r4, [p_n];\n"
    "mov.u32 %%r5, %%laneid;\n"
    "shr.u32 %%r6, %%r0, 5;\n"
    "ld.param.u64 %%rd0, [p_out];\n"
    "cvta.to.global.u64 %%rd0, %%rd0;\n"
    "mad.wide.u32 %%rd1, %%r3, 4, %%rd0;\n"
    "%s\n"
    "ret;\n"
    "}\n";

static struct outcome outcome;

static inline void must(CUresult result, const char *what)
{
    cr_assert_eq(result, CUDA_SUCCESS, "%s gave %d: %s", what, (int)result,
                 sim_last_error());
}

static inline void engine_launch(const struct cuda_api *cu, CUfunction function,
                                 const struct program *p, CUdeviceptr out)
{
    unsigned n = p->n, grid = p->grid ? p->grid : 1, block = p->block ? p->block : 32;
    void *parameters[] = {&out, &n};
    outcome.launch = p->cooperative
                         ? cu->launch_cooperative(function, grid, 1, 1, block, 1, 1,
                                                  p->smem, NULL, parameters)
                         : cu->launch(function, grid, 1, 1, block, 1, 1, p->smem, NULL,
                                      parameters, NULL);
    outcome.sync = cu->context_sync();
    const struct sim_report *report = sim_last_report();
    if (outcome.launch == CUDA_SUCCESS && report != NULL) {
        outcome.counters = report->counters;
        outcome.fault_count = report->fault_count;
        if (report->fault_count > 0)
            outcome.fault = report->faults[0];
    }
}

static inline const struct outcome *engine_run(const struct program *p)
{
    size_t room =
        sizeof engine_head + strlen(p->body) + strlen(p->globals ? p->globals : "");
    char *text = malloc(room);
    snprintf(text, room, engine_head, p->target ? p->target : "sm_80",
             p->globals ? p->globals : "", p->body);
    memset(&outcome, 0, sizeof outcome);
    struct sim_spec card = engine_card;
    card.cc_major = p->target != NULL && strcmp(p->target, "sm_90") == 0 ? 9 : 8;
    sim_configure(&(struct sim_options){.spec = &card,
                                        .spec_count = 1,
                                        .threads = p->threads ? p->threads : 1,
                                        .check = p->check,
                                        .explain = p->explain,
                                        .step_limit = p->step_limit,
                                        .output = p->output});
    const struct cuda_api *cu = sim_driver();
    CUcontext context;
    CUmodule module;
    CUfunction function;
    must(cu->init(0), "cuInit");
    must(cu->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cu->context_set(context), "cuCtxSetCurrent");
    outcome.launch = cu->module_load(&module, text);
    if (outcome.launch == CUDA_SUCCESS)
        outcome.launch = cu->module_function(&function, module, "k");
    if (outcome.launch == CUDA_SUCCESS) {
        must(cu->memory_alloc(&outcome.out_address, sizeof outcome.out), "cuMemAlloc");
        must(cu->fill_u32(outcome.out_address, 0, OUT_WORDS), "cuMemsetD32");
        if (p->in != NULL)
            must(cu->copy_to_device(outcome.out_address, p->in, (size_t)p->in_words * 4),
                 "cuMemcpyHtoD");
        engine_launch(cu, function, p, outcome.out_address);
        cu->copy_to_host(outcome.out, outcome.out_address, sizeof outcome.out);
    }
    snprintf(outcome.error, sizeof outcome.error, "%s", sim_last_error());
    if (outcome.out_address != 0)
        must(cu->memory_free(outcome.out_address), "cuMemFree");
    outcome.leak_count = sim_leaks(&outcome.leak, 1);
    free(text);
    if (!p->keep)
        sim_configure(&(struct sim_options){0});
    return &outcome;
}

/* The same, and it must be without fault. */
static inline const struct outcome *engine_good(const struct program *p)
{
    const struct outcome *o = engine_run(p);
    cr_assert_eq(o->launch, CUDA_SUCCESS, "launch gave %d: %s", (int)o->launch, o->error);
    cr_assert_eq(o->fault_count, 0, "%s at %s:%d: %s; %s", sim_fault_name(o->fault.kind),
                 o->fault.file, o->fault.line, o->fault.detail, p->body);
    cr_assert_eq(o->sync, CUDA_SUCCESS, "the launch gave %d", (int)o->sync);
    return o;
}

#endif
