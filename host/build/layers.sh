#!/bin/sh
# layers.sh - an include may only point down: main -> report, bench -> cuda -> sim.
# `sim` knows nothing of matmul, `cpu` nothing of the rest, kernels/ only kernel.h.
set -eu

bad=0
forbid() { # forbid WHERE PATTERN WHY
    # shellcheck disable=SC2086 # a list of files
    if grep -nE "#include \"[^\"]*($2)" $1 2>/dev/null; then
        echo "layers: $3" >&2
        bad=1
    fi
}
forbid "host/sim/*.c host/sim/*.h" "bench/|report/|kernel\.h|registry\.h|options\.h|rung\.h" \
    "sim includes something above it"
forbid "host/cuda/*.c host/cuda/*.h" "bench/|report/|kernel\.h|registry\.h|options\.h" \
    "cuda includes something above it"
forbid "host/cpu/*.c host/cpu/*.h" "bench/|report/|sim/|cuda/" "cpu includes something beside it"
forbid "host/bench/*.c host/bench/*.h" "options\.h|report/table|report/json|report/devices" \
    "bench includes something above it"
forbid "kernels/*.cu kernels/kernel.h" "host/" "a kernel includes the host"
exit $bad
