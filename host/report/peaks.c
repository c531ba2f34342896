/* peaks.c - see peaks.h. */
#include "peaks.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../kernels/kernel.h"

/* --- finding a row ------------------------------------------------------------------ */

static const struct {
    const char *alias, *name;
} aliases[] = {
    {"a100", "NVIDIA A100-SXM4-80GB"},
    {"h100", "NVIDIA H100 80GB HBM3"},
    {"h200", "NVIDIA H200"},
    {"v100", "Tesla V100-SXM2-16GB"},
    {"t4", "Tesla T4"},
    {"4090", "NVIDIA GeForce RTX 4090"},
    {"3090", "NVIDIA GeForce RTX 3090"},
    {"5090", "NVIDIA GeForce RTX 5090"},
    {"a6000", "NVIDIA RTX A6000"},
    {"l4", "NVIDIA L4"},
    {"l40s", "NVIDIA L40S"},
    {"b200", "NVIDIA B200"},
};

static bool same_text(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return *a == *b;
}

/* Does `text` stand in `name` as whole words? "4090" is not in "4090x". */
static bool has_words(const char *name, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = name; *at != '\0'; at++) {
        size_t i = 0;
        while (i < length && at[i] != '\0' &&
               tolower((unsigned char)at[i]) == tolower((unsigned char)text[i]))
            i++;
        bool starts = at == name || !isalnum((unsigned char)at[-1]);
        if (i == length && starts && !isalnum((unsigned char)at[i]))
            return true;
    }
    return false;
}

static const struct peak_row *exact_row(const char *name)
{
    for (int i = 0; i < peak_table_count; i++)
        if (same_text(peak_table[i].name, name))
            return &peak_table[i];
    return NULL;
}

const struct peak_row *peak_find(const char *text, char *candidates, size_t room)
{
    if (room > 0)
        candidates[0] = '\0';
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (same_text(aliases[i].alias, text))
            return exact_row(aliases[i].name);
    const struct peak_row *row = exact_row(text);
    if (row != NULL || text[0] == '\0')
        return row;
    int hits = 0;
    size_t used = 0;
    for (int i = 0; i < peak_table_count; i++) {
        if (!has_words(peak_table[i].name, text))
            continue;
        row = &peak_table[i];
        if (hits++ < 4 && used < room)
            used += (size_t)snprintf(candidates + used, room - used, "%s%s",
                                     used > 0 ? ", " : "", peak_table[i].name);
    }
    return hits == 1 ? row : NULL;
}

const struct peak_row *peak_match(const char *name, int cc, int sm_count,
                                  size_t memory_bytes)
{
    for (int i = 0; i < peak_table_count; i++) {
        const struct peak_row *row = &peak_table[i];
        double gb = (double)memory_bytes / 1e9;
        /* a vendor's "80 GB" lies between 80e9 and 80 * 2^30 bytes */
        bool memory = isnan(row->mem_gb) ||
                      (gb > row->mem_gb * 0.94 && gb < row->mem_gb * 1.074 * 1.06);
        if (strcmp(row->name, name) == 0 && row->cc == cc && row->sm_count == sm_count &&
            memory)
            return row;
    }
    return NULL;
}

/* --- rates -------------------------------------------------------------------------- */

/* What a combination of unit, input and sum is called in the table. */
struct rate {
    double published;
    double flop_clk_sm; /* -1: no such unit */
    int mhz;
};

static struct rate find_rate(const struct peak_row *r, int unit, int in, int acc)
{
    struct rate none = {NAN, -1, r->boost_mhz};
    if (unit == KERNEL_CUDA_CORES) {
        if (in == KERNEL_F32)
            return (struct rate){r->pub_fp32, 2.0 * r->fp32_lanes_sm, r->boost_mhz};
        if (in == KERNEL_F64)
            return (struct rate){r->pub_fp64, 2.0 * r->fp64_lanes_sm, r->boost_mhz};
        if (in == KERNEL_F16)
            return (struct rate){r->pub_fp16, NAN, r->boost_mhz};
        if (in == KERNEL_BF16)
            return (struct rate){r->pub_bf16, NAN, r->boost_mhz};
        return none;
    }
    const struct {
        int in, acc;
        double published, rate;
    } table[] = {
        {KERNEL_F16, KERNEL_F32, r->pub_fp16_tc_acc32, r->tc_fp16_acc32},
        {KERNEL_F16, KERNEL_F16, r->pub_fp16_tc_acc16, r->tc_fp16_acc16},
        {KERNEL_BF16, KERNEL_F32, r->pub_bf16_tc, r->tc_bf16},
        {KERNEL_TF32, KERNEL_F32, r->pub_tf32_tc, r->tc_tf32},
        {KERNEL_F32, KERNEL_F32, r->pub_tf32_tc, r->tc_tf32},
        {KERNEL_S8, KERNEL_S32, r->pub_int8_tc, r->tc_int8},
        {KERNEL_F64, KERNEL_F64, r->pub_fp64_tc, r->tc_fp64},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].in == in && table[i].acc == acc)
            return (struct rate){table[i].published, table[i].rate, r->tensor_mhz};
    return none;
}

double peak_tflops(const struct peak_row *row, int unit, int in, int acc, bool *published)
{
    struct rate rate = find_rate(row, unit, in, acc);
    *published = rate.published > 0;
    if (*published)
        return rate.published;
    if (!(rate.flop_clk_sm > 0) || rate.mhz <= 0 || row->sm_count <= 0)
        return NAN;
    return row->sm_count * rate.flop_clk_sm * rate.mhz * 1e6 / 1e12;
}

static const char *type_word(int type)
{
    static const char *const words[] = {
        [KERNEL_F32] = "FP32",  [KERNEL_F16] = "FP16", [KERNEL_BF16] = "BF16",
        [KERNEL_TF32] = "TF32", [KERNEL_F64] = "FP64", [KERNEL_S8] = "INT8",
        [KERNEL_S32] = "INT32"};
    return type >= 0 && type <= KERNEL_S32 ? words[type] : "?";
}

void peak_describe(const struct peak_row *row, int unit, int in, int acc, char *text,
                   size_t room)
{
    bool published;
    double tflops = peak_tflops(row, unit, in, acc, &published);
    if (isnan(tflops)) {
        snprintf(text, room, "%s: no peak for %s in, %s sum", row->name, type_word(in),
                 type_word(acc));
        return;
    }
    snprintf(text, room, "%s %.4g TFLOPS = %s, %s in, %s sum, dense, %s", row->name,
             tflops, unit == KERNEL_TENSOR_CORES ? "tensor cores" : "CUDA cores",
             type_word(in), type_word(acc),
             published ? "published" : "computed from SMs x rate x clock");
}

/* --- the simulated card ------------------------------------------------------------- */

/* What the table does not have, by architecture. Latencies in cycles: RRZE gpu-cache
 * and HPMLL logs, Abdelkhalik et al. (A100), arXiv 2402.13499 (shared memory); L2 bytes
 * a clock of the chip: RRZE gpu-cache (A100 5.4 TB/s at 1.41 GHz, L40 5.2 at 2.49, H200
 * 9.7 at 1.98), scaled by SMs. L1 and shared memory of an SM, KiB: CUDA C++ Programming
 * Guide. V100, T4 and Blackwell latencies are the neighbour's (from memory). */
static const struct {
    int cc, l1_kib;
    double l2_bytes_clk_sm;
    int smem, l1, l2, dram;
    int int32_lanes, sfu;
} chips[] = {
    {70, 128, 32, 23, 33, 205, 560, 64, 16},  {75, 96, 32, 23, 33, 205, 560, 64, 16},
    {80, 192, 35, 23, 33, 205, 560, 64, 16},  {86, 128, 16, 30, 36, 280, 600, 64, 16},
    {87, 192, 16, 30, 36, 280, 600, 64, 16},  {89, 128, 15, 30, 36, 280, 600, 64, 16},
    {90, 256, 37, 29, 32, 270, 660, 64, 16},  {100, 256, 37, 29, 32, 270, 660, 64, 16},
    {120, 128, 15, 30, 36, 280, 600, 64, 16},
};

static int int_rate(double rate)
{
    return rate > 0 ? (int)rate : 0;
}

/* The clock behind the published tensor peaks. Some of them are of a lower clock than the
 * table knows (L40S 362.05, H100 NVL 835.5, B200 2250): a published peak is the better
 * word, a card cannot be predicted to be faster than its maker says. */
static int tensor_clock(const struct peak_row *row)
{
    int mhz = row->tensor_mhz > 0 ? row->tensor_mhz : row->boost_mhz;
    double published =
        row->pub_fp16_tc_acc32 * 1e6 / (row->sm_count * row->tc_fp16_acc32);
    return row->tc_fp16_acc32 > 0 && published < mhz ? (int)published : mhz;
}

bool peak_sim_spec(const struct peak_row *row, struct sim_spec *s)
{
    size_t i = 0;
    while (i < sizeof chips / sizeof *chips && chips[i].cc != row->cc)
        i++;
    if (i == sizeof chips / sizeof *chips || row->boost_mhz <= 0 || row->sm_count <= 0 ||
        row->max_threads_sm <= 0 || !(row->bw_gbs > 0) || !(row->mem_gb > 0))
        return false;
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", row->name);
    s->cc_major = row->cc / 10;
    s->cc_minor = row->cc % 10;
    s->sm_count = row->sm_count;
    s->clock_mhz = row->boost_mhz;
    s->tensor_clock_mhz = tensor_clock(row);
    s->memory_bus_bits = row->mem_bus_bits;
    s->memory_clock_mhz =
        row->mem_bus_bits > 0 ? (int)(row->bw_gbs * 1e3 * 8 / 2 / row->mem_bus_bits) : 0;
    s->dram_gbs = row->bw_gbs;
    s->memory_bytes = (uint64_t)(row->mem_gb * 1e9);
    s->l2_bytes = (uint64_t)(row->l2_mb * 1024 * 1024);
    s->l1_bytes_sm = chips[i].l1_kib * 1024;
    s->smem_bytes_sm = row->smem_sm_kb * 1024;
    s->smem_bytes_block_optin = row->smem_block_optin_kb * 1024;
    s->regs_sm = row->regs_sm;
    s->max_threads_sm = row->max_threads_sm;
    s->max_blocks_sm = row->max_blocks_sm;
    s->fp32_lanes_sm = row->fp32_lanes_sm;
    s->fp64_lanes_sm = row->fp64_lanes_sm;
    s->int32_lanes_sm = chips[i].int32_lanes;
    s->sfu_lanes_sm = chips[i].sfu;
    s->tensor_f16_acc32 = int_rate(row->tc_fp16_acc32);
    s->tensor_f16_acc16 = int_rate(row->tc_fp16_acc16);
    s->tensor_bf16 = int_rate(row->tc_bf16);
    s->tensor_tf32 = int_rate(row->tc_tf32);
    s->tensor_int8 = int_rate(row->tc_int8);
    s->tensor_fp64 = int_rate(row->tc_fp64);
    s->l2_bytes_clk = chips[i].l2_bytes_clk_sm * row->sm_count;
    s->latency_smem = chips[i].smem;
    s->latency_l1 = chips[i].l1;
    s->latency_l2 = chips[i].l2;
    s->latency_dram = chips[i].dram;
    s->launch_us = 3.0;
    return true;
}
