# peaks_table.awk - gpus.tsv -> the C table behind peaks.h.
# Columns are found by the names in the first line. Empty: not published (NAN);
# NA: the hardware has no such unit (-1).
BEGIN {
    FS = "\t"
    nstrings = split("name variant architecture chip", strings, " ")
    nints = split("compute_capability sm_count boost_mhz tensor_peak_mhz " \
        "fp32_lanes_sm fp64_lanes_sm", ints, " ")
    nreals = split("tc_fp16_acc32_flop_clk_sm tc_fp16_acc16_flop_clk_sm " \
        "tc_bf16_flop_clk_sm tc_tf32_flop_clk_sm tc_fp8_acc32_flop_clk_sm " \
        "tc_fp8_acc16_flop_clk_sm tc_int8_op_clk_sm tc_int4_op_clk_sm " \
        "tc_fp64_flop_clk_sm pub_fp64 pub_fp64_tc pub_fp32 pub_fp16_nontensor " \
        "pub_bf16_nontensor pub_tf32_tc pub_fp16_tc_acc32 pub_fp16_tc_acc16 " \
        "pub_bf16_tc pub_fp8_tc_acc32 pub_fp8_tc_acc16 pub_int8_tc pub_int4_tc " \
        "mem_gb bw_gbs l2_mb", reals, " ")
    nlimits = split("mem_bus_bits smem_sm_kb smem_block_optin_kb regs_sm " \
        "max_threads_sm max_blocks_sm", limits, " ")
    print "/* written by host/report/peaks_table.awk from host/report/gpus.tsv */"
    print "#include <math.h>"
    print "#include \"host/report/peaks.h\""
    print "const struct peak_row peak_table[] = {"
}
function text(s) {
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    return "\"" s "\""
}
# A range like 1455-2040 counts with its end; 8/16 with its start.
function number(s) {
    if (s == "NA") return -1
    sub(/^.*-/, "", s)
    sub(/\/.*$/, "", s)
    return s ~ /^[0-9.]+/ ? s + 0 : ""
}
function real(s) {
    s = number(s)
    return s == "" ? "NAN" : s
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
NF > 10 {
    row = "    {"
    for (i = 1; i <= nstrings; i++) row = row text($(column[strings[i]])) ", "
    for (i = 1; i <= nints; i++) {
        value = $(column[ints[i]])
        if (ints[i] == "compute_capability") value = int(value * 10 + 0.5)
        else value = int(number(value))
        row = row value ", "
    }
    for (i = 1; i <= nreals; i++) row = row real($(column[reals[i]])) ", "
    for (i = 1; i <= nlimits; i++) row = row int(number($(column[limits[i]]))) ", "
    row = row real($(column["tdp_w"])) ", "
    row = row text($(column["source"])) ", " text($(column["notes"])) "},"
    print row
    rows++
}
END {
    print "};"
    print "const int peak_table_count = " rows + 0 ";"
}
