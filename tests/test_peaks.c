/* test_peaks.c - the table of published peaks closes with its own arithmetic. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../host/report/peaks.h"
#include "../kernels/kernel.h"

/* Published figures that are not SMs x rate x clock, and why (NVIDIA's sheets quote
 * tensor peaks of these cards at a lower clock, round, or contradict themselves). */
static const char *const exceptions[] = {
    "NVIDIA H100 NVL", "NVIDIA H200 NVL", "NVIDIA H200",  "NVIDIA GH200 480GB",
    "NVIDIA L40S",     "NVIDIA B200",     "NVIDIA GB200", "NVIDIA GH200 144G HBM3e",
};

static bool is_exception(const char *name)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i], name) == 0)
            return true;
    return false;
}

static void close_to(const struct peak_row *row, const char *what, double published,
                     double rate, int mhz)
{
    if (!(published > 0) || !(rate > 0) || mhz <= 0 || is_exception(row->name))
        return;
    double computed = row->sm_count * rate * mhz * 1e6 / 1e12;
    cr_expect(fabs(published / computed - 1) < 0.011,
              "%s %s: published %g, SMs x rate x clock = %g", row->name, what, published,
              computed);
}

Test(peaks, every_row_closes_or_is_a_listed_exception)
{
    cr_assert_geq(peak_table_count, 56);
    for (int i = 0; i < peak_table_count; i++) {
        const struct peak_row *r = &peak_table[i];
        cr_expect(r->source[0] != '\0', "%s has no source", r->name);
        close_to(r, "FP32", r->pub_fp32, 2.0 * r->fp32_lanes_sm, r->boost_mhz);
        close_to(r, "FP16 tensor, FP32 sum", r->pub_fp16_tc_acc32, r->tc_fp16_acc32,
                 r->tensor_mhz);
        close_to(r, "FP16 tensor, FP16 sum", r->pub_fp16_tc_acc16, r->tc_fp16_acc16,
                 r->tensor_mhz);
        close_to(r, "BF16 tensor", r->pub_bf16_tc, r->tc_bf16, r->tensor_mhz);
        close_to(r, "TF32 tensor", r->pub_tf32_tc, r->tc_tf32, r->tensor_mhz);
        close_to(r, "INT8 tensor", r->pub_int8_tc, r->tc_int8, r->tensor_mhz);
    }
}

Test(peaks, the_three_reference_cards)
{
    static const struct {
        const char *alias;
        double fp32, tensor;
    } cases[] = {{"a100", 19.5, 312}, {"h100", 66.9, 989.4}, {"4090", 82.6, 165.2}};
    char candidates[100];
    for (size_t i = 0; i < 3; i++) {
        bool published;
        const struct peak_row *r =
            peak_find(cases[i].alias, candidates, sizeof candidates);
        cr_assert(r != NULL, "%s", cases[i].alias);
        cr_expect_eq(
            peak_tflops(r, KERNEL_CUDA_CORES, KERNEL_F32, KERNEL_F32, &published),
            cases[i].fp32);
        cr_expect(published);
        cr_expect_eq(
            peak_tflops(r, KERNEL_TENSOR_CORES, KERNEL_F16, KERNEL_F32, &published),
            cases[i].tensor);
    }
}

Test(peaks, names_are_matched_as_whole_words)
{
    char candidates[200];
    const struct peak_row *row = peak_find("4090", candidates, sizeof candidates);
    cr_expect_str_eq(row->name, "NVIDIA GeForce RTX 4090");
    row = peak_find("4090 d", candidates, sizeof candidates);
    cr_expect_str_eq(row->name, "NVIDIA GeForce RTX 4090 D");
    row = peak_find("L4", candidates, sizeof candidates);
    cr_expect_str_eq(row->name, "NVIDIA L4");
    cr_expect_null(peak_find("409", candidates, sizeof candidates));
    cr_expect_null(peak_find("3080", candidates, sizeof candidates));
    cr_expect(strstr(candidates, "3080") != NULL, "%s", candidates);
    cr_expect_null(peak_find("", candidates, sizeof candidates));
}

Test(peaks, a_device_must_agree_in_name_sms_and_memory)
{
    cr_expect_not_null(peak_match("NVIDIA A100-SXM4-80GB", 80, 108, 85029158912));
    cr_expect_null(peak_match("NVIDIA A100-SXM4-80GB", 80, 42, 85029158912));
    cr_expect_null(peak_match("NVIDIA A100-SXM4-80GB", 80, 108, 42405855232));
    cr_expect_null(peak_match("NVIDIA A100-SXM4-80GB MIG 1g.10gb", 80, 14, 10000000000));
    /* two cards of one name: memory tells them apart */
    const struct peak_row *ten =
        peak_match("NVIDIA GeForce RTX 3080", 86, 68, 10500000000);
    const struct peak_row *twelve =
        peak_match("NVIDIA GeForce RTX 3080", 86, 70, 12600000000);
    cr_assert(ten != NULL && twelve != NULL);
    cr_expect_neq(ten, twelve);
}

Test(peaks, what_a_card_lacks_has_no_peak)
{
    char candidates[100];
    bool published;
    const struct peak_row *v100 = peak_find("v100", candidates, sizeof candidates);
    cr_expect(isnan(
        peak_tflops(v100, KERNEL_TENSOR_CORES, KERNEL_BF16, KERNEL_F32, &published)));
}
