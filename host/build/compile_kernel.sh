#!/bin/sh
# compile_kernel.sh COMPILER SOURCE IMAGE [ptx [MIN_CC]] - one rung to one image.
#
# nvcc: a fatbin with machine code for every architecture that this nvcc knows
# among those in ARCHS (from the rung's min_cc up, 75 if it names none), plus PTX, which newer cards
# compile themselves and which the simulator runs (`ptx`: only that, for one
# architecture). clang: PTX text only, where
# the toolkit is missing. Uncompressed, so that the PTX can be read in place.
set -eu

ARCHS="75 80 86 89 90a 100 120"
PTX_ARCHS="75 80"
if [ "${4:-}" = ptx ]; then
    ARCHS=""
    PTX_ARCHS=""
fi

compiler=$1
source=$2
image=$3
include=$(dirname "$0")/../../kernels
min_cc=$(sed -n 's/.*\.min_cc = \([0-9]*\).*/\1/p' "$source" | sort -n | head -n 1)
min_cc=${min_cc:-${5:-75}}

case $compiler in
*clang*)
    cc=$min_cc
    [ "$cc" -ge 70 ] || cc=70
    "$compiler" -x cuda -std=c++17 -O3 -g1 -nocudainc -nocudalib --cuda-device-only \
        --cuda-gpu-arch="sm_$cc" -Wno-unknown-cuda-version \
        -Xclang -target-feature -Xclang +ptx70 -I "$include/clang" \
        -I "$include" -include "$include/clang/cuda_basics.h" -S "$source" -o "$image"
    exit
    ;;
esac

known=$("$compiler" --list-gpu-arch | sed 's/compute_//')
gencode=""
for arch in $ARCHS; do
    number=${arch%a}
    if [ "$number" -ge "$min_cc" ] && echo "$known" | grep -qx "$number"; then
        gencode="$gencode -gencode arch=compute_$arch,code=sm_$arch"
    fi
done
for arch in $PTX_ARCHS $min_cc; do
    if [ "$arch" -ge "$min_cc" ] && echo "$known" | grep -qx "$arch"; then
        case $gencode in
        *code=compute_$arch*) ;;
        *) gencode="$gencode -gencode arch=compute_$arch,code=compute_$arch" ;;
        esac
    fi
done
compress=""
if "$compiler" --help | grep -q -e '--compress-mode'; then
    compress="--compress-mode=none"
fi
# What an exercise declares for the gap is not used before the gap is filled.
quiet=""
if grep -q 'FILL IN' "$source"; then
    quiet="-diag-suppress 177,550"
fi
# shellcheck disable=SC2086 # the lists are meant to split
"$compiler" -std=c++17 -O3 -lineinfo --threads 2 $compress $quiet -I "$include" $gencode \
    -fatbin "$source" -o "$image"
