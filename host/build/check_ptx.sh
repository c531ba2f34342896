#!/bin/sh
# check_ptx.sh RUN_TESTS FOLDER - have ptxas assemble the PTX of the test cases, so that
# no test proves what a GPU would refuse. Without ptxas it says so and is content.
set -eu
tests=$1
folder=$2

if ! command -v ptxas >/dev/null; then
    echo "check-ptx: no ptxas on PATH (it comes with the CUDA toolkit): nothing checked"
    exit 0
fi
rm -rf "$folder"
mkdir -p "$folder"
PEAKBOUND_PTX_DIR=$folder "$tests" -j1 --filter '@(forms|ops_*)/*' >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
}
bad=0 count=0
for file in "$folder"/*.ptx; do
    [ -e "$file" ] || { echo "check-ptx: the tests wrote no PTX" >&2; exit 1; }
    target=$(sed -n 's/^\.target \([a-z0-9_]*\).*/\1/p' "$file")
    count=$((count + 1))
    if ! ptxas -arch="$target" -o "$folder/out.cubin" "$file" 2>"$folder/errors"; then
        bad=$((bad + 1))
        echo "$file: $(head -n 1 "$folder/errors")" >&2
    fi
done
echo "check-ptx: $count modules, $bad refused by ptxas"
[ "$bad" -eq 0 ]
