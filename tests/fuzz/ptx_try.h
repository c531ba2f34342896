/* ptx_try.h - what a hostile PTX text goes through: parsed, decoded and run for a few
 * steps. Shared by the libFuzzer target and by the test that replays its corpus. */
#ifndef PEAKBOUND_TESTS_PTX_TRY_H
#define PEAKBOUND_TESTS_PTX_TRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../host/sim/ptx.h"
#include "../../host/sim/sim.h"

enum {
    TRY_STEPS = 3000,
    TRY_MEMORY = 64 << 20,
    TRY_BUFFER = 4096,
    TRY_THREADS = 64,
    TRY_PARAMETERS = 64,
    TRY_KERNELS = 2
};

static const struct sim_spec try_card = {
    .name = "fuzz",
    .cc_major = 8,
    .cc_minor = 9,
    .sm_count = 2,
    .clock_mhz = 1000,
    .tensor_clock_mhz = 1000,
    .memory_clock_mhz = 1000,
    .memory_bus_bits = 64,
    .dram_gbs = 16,
    .memory_bytes = TRY_MEMORY,
    .l2_bytes = 1 << 20,
    .l1_bytes_sm = 128 << 10,
    .smem_bytes_sm = 100 << 10,
    .smem_bytes_block_optin = 99 << 10,
    .regs_sm = 65536,
    .max_threads_sm = 1536,
    .max_blocks_sm = 16,
    .fp32_lanes_sm = 128,
    .fp64_lanes_sm = 2,
    .int32_lanes_sm = 64,
    .sfu_lanes_sm = 16,
    .tensor_f16_acc32 = 512,
    .tensor_f16_acc16 = 1024,
    .tensor_bf16 = 512,
    .tensor_tf32 = 256,
    .tensor_int8 = 1024,
    .tensor_fp64 = 2,
    .l2_bytes_clk = 512,
    .latency_smem = 29,
    .latency_l1 = 33,
    .latency_l2 = 200,
    .latency_dram = 450,
    .launch_us = 2,
};

/* Parameters of 8 bytes are pointers to a buffer, all others are small numbers. */
static inline void try_launch(const struct cuda_api *cu, const struct ptx_function *entry,
                              CUfunction function, CUdeviceptr buffer)
{
    static uint64_t block[4096];
    void *parameters[TRY_PARAMETERS + 1];
    unsigned threads = TRY_THREADS;
    if (entry->param_count > TRY_PARAMETERS)
        return;
    memset(block, 0, sizeof block);
    block[0] = buffer;
    block[1] = 8;
    for (int i = 0; i < entry->param_count; i++)
        parameters[i] = entry->params[i]->size_bytes == 8  ? &block[0]
                        : entry->params[i]->size_bytes < 8 ? &block[1]
                                                           : &block[2];
    if (entry->reqntid[0] > 0 && entry->reqntid[0] <= 256)
        threads = (unsigned)entry->reqntid[0];
    cu->launch(function, 2, 1, 1, threads, 1, 1, 1024, NULL, parameters, NULL);
    cu->context_sync();
}

/* False: a refusal without a reason, or what was parsed could not be found. */
static inline bool try_ptx(const char *text, size_t length, bool check)
{
    struct error err = {0};
    struct ptx_module *ptx = ptx_parse(text, length, "fuzz.ptx", &err);
    if (ptx == NULL)
        return (err.status == EXIT_USAGE || err.status == EXIT_OURS) && err.text[0];
    const struct cuda_api *cu = sim_driver();
    bool good = true;
    char *copy = xmalloc(length + 1);
    CUcontext context;
    CUdeviceptr buffer = 0;
    CUmodule module;
    memcpy(copy, text, length);
    copy[length] = '\0';
    sim_configure(&(struct sim_options){.spec = &try_card,
                                        .spec_count = 1,
                                        .threads = 1,
                                        .check = check,
                                        .step_limit = TRY_STEPS});
    cu->init(0);
    cu->context_retain(&context, 0);
    cu->context_set(context);
    cu->memory_alloc(&buffer, TRY_BUFFER);
    cu->fill_u8(buffer, 1, TRY_BUFFER);
    if (cu->module_load(&module, copy) != CUDA_SUCCESS) {
        good = sim_last_error()[0] != '\0';
    } else {
        for (int i = 0, tried = 0; i < ptx->function_count && tried < TRY_KERNELS; i++) {
            const struct ptx_function *entry = ptx->functions[i];
            CUfunction function;
            if (!entry->is_entry)
                continue;
            tried++;
            if (cu->module_function(&function, module, entry->name) == CUDA_SUCCESS)
                try_launch(cu, entry, function, buffer);
            else
                good = good && sim_last_error()[0] != '\0';
        }
    }
    sim_configure(&(struct sim_options){0});
    free(copy);
    ptx_free(ptx);
    return good;
}

#endif
