/* spec.h - what the simulator must know about a GPU. Filled by the caller
 * (host/report/peaks.c reads it from the published table). */
#ifndef PEAKBOUND_SIM_SPEC_H
#define PEAKBOUND_SIM_SPEC_H

#include <stdint.h>

struct sim_spec {
    char name[80]; /* "NVIDIA A100-SXM4-80GB (simulated)" */
    int cc_major, cc_minor;
    int sm_count;
    int clock_mhz;        /* boost */
    int tensor_clock_mhz; /* clock behind the tensor peaks */
    int memory_clock_mhz, memory_bus_bits;
    double dram_gbs; /* 1e9 bytes a second */
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    int l1_bytes_sm; /* L1 + shared memory of one SM */
    int smem_bytes_sm, smem_bytes_block_optin;
    int regs_sm, max_threads_sm, max_blocks_sm;
    /* results per clock per SM, FMA counted once */
    int fp32_lanes_sm, fp64_lanes_sm, int32_lanes_sm, sfu_lanes_sm;
    /* FLOP per clock per SM, dense */
    int tensor_f16_acc32, tensor_f16_acc16, tensor_bf16, tensor_tf32, tensor_int8,
        tensor_fp64;
    double l2_bytes_clk; /* whole chip, bytes per clock */
    int latency_smem, latency_l1, latency_l2, latency_dram; /* cycles */
    double launch_us;                                       /* cost of an empty launch */
};

#endif
