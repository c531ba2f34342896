/* peaks.h - published peaks, from host/report/gpus.tsv through the table that
 * the Makefile generates (build/peaks_table.c). A peak is keyed by card, unit,
 * input type, accumulator; always dense. */
#ifndef PEAKBOUND_REPORT_PEAKS_H
#define PEAKBOUND_REPORT_PEAKS_H

#include <stdbool.h>
#include <stddef.h>

#include "../sim/spec.h"

/* One row of gpus.tsv. NAN = not published, -1 = the hardware has no such unit. */
struct peak_row {
    const char *name, *variant, *architecture, *chip;
    int cc, sm_count, boost_mhz, tensor_mhz;
    int fp32_lanes_sm, fp64_lanes_sm;
    /* FLOP per clock per SM, dense */
    double tc_fp16_acc32, tc_fp16_acc16, tc_bf16, tc_tf32, tc_fp8_acc32, tc_fp8_acc16,
        tc_int8, tc_int4, tc_fp64;
    /* published, TFLOPS, dense */
    double pub_fp64, pub_fp64_tc, pub_fp32, pub_fp16, pub_bf16, pub_tf32_tc,
        pub_fp16_tc_acc32, pub_fp16_tc_acc16, pub_bf16_tc, pub_fp8_tc_acc32,
        pub_fp8_tc_acc16, pub_int8_tc, pub_int4_tc;
    double mem_gb, bw_gbs, l2_mb;
    int mem_bus_bits, smem_sm_kb, smem_block_optin_kb, regs_sm, max_threads_sm,
        max_blocks_sm;
    double tdp_w;
    const char *source, *notes;
};

extern const struct peak_row peak_table[];
extern const int peak_table_count;

/* "a100" "h100" "4090" or any name: the reference card of that alias (A100 SXM4
 * 80GB, H100 SXM, desktop RTX 4090), else the row whose name contains the text
 * as whole words; NULL if none or ambiguous (*candidates names some). */
const struct peak_row *peak_find(const char *text, char *candidates, size_t room);

/* Match a device by exact name, then compute capability, SM count and memory
 * (within 6 %); NULL if any disagrees. */
const struct peak_row *peak_match(const char *name, int cc, int sm_count,
                                  size_t memory_bytes);

/* TFLOPS for (unit, in, acc) (enums of kernel.h). *published false: computed
 * from SMs x rate x clock because none was published. NAN: no such unit. */
double peak_tflops(const struct peak_row *row, int unit, int in, int acc,
                   bool *published);

/* What the simulator needs to be this card. Alias as in peak_find. */
bool peak_sim_spec(const struct peak_row *row, struct sim_spec *spec);

/* "A100 312 = tensor cores, FP16 in, FP32 sum, dense" */
void peak_describe(const struct peak_row *row, int unit, int in, int acc, char *text,
                   size_t room);

#endif
