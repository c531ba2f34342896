# results_to_tsv.awk - the JSON lines of `run --json` -> tab-separated columns for gnuplot:
# label  tflops  percent  m  time_kind  device  peak.this  peak.a100  peak.h100  peak.4090
# Rows whose check did not pass carry no rate and are left out.
function text(key,    start, rest) {
    start = index($0, "\"" key "\":\"")
    if (start == 0) return ""
    rest = substr($0, start + length(key) + 4)
    return substr(rest, 1, index(rest, "\"") - 1)
}
function number(key,    start, rest) {
    start = index($0, "\"" key "\":")
    if (start == 0) return "NaN"
    rest = substr($0, start + length(key) + 3)
    sub(/[,}].*$/, "", rest)
    return rest ~ /^[-+0-9.eE]+$/ ? rest : "NaN"
}
function inner(object, key,    start, rest) {
    start = index($0, "\"" object "\":{")
    if (start == 0) return "NaN"
    rest = substr($0, start)
    rest = substr(rest, 1, index(rest, "}"))
    if (!match(rest, "\"" key "\":[-+0-9.eE]+")) return "NaN"
    rest = substr(rest, RSTART, RLENGTH)
    sub(/^.*:/, "", rest)
    return rest
}
/"check":"pass"/ {
    label = (text("backend") == "cpu" ? "CPU " : "") text("kernel")
    gsub(/_/, " ", label)
    printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", label, number("tflops"),
        inner("pct", "this"), number("m"), text("time_kind"), text("device_name"),
        inner("peak", "this"), inner("peak", "a100"), inner("peak", "h100"),
        inner("peak", "4090")
}
