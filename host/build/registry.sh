#!/bin/sh
# registry.sh PREFIX LESSON COMPILER VERSION IMAGE_SOURCE... -- CPU_RUNG...
#
# Writes the C file that lists what is built in (host/registry.h): the images of
# the given .cu files and the CPU rungs of the given .c files. PREFIX is
# "registry"; the tests use another for their planted wrong kernels.
set -eu

prefix=$1
lesson=$2
compiler=$3
version=$4
shift 4
sources=""
rungs=""
while [ $# -gt 0 ] && [ "$1" != "--" ]; do
    sources="$sources $1"
    shift
done
[ $# -eq 0 ] || shift
rungs="$*"

# kernels/03_shared_tile.cu -> 03_shared_tile; lessons/03_x/exercise.cu -> 03_x_exercise
stem_of() {
    stem=$(basename "${1%.*}")
    case $1 in
    lessons/*) echo "$(basename "$(dirname "$1")")_$stem" ;;
    *) echo "$stem" ;;
    esac
}

# Its enum image_kind and the line of an exercise that is still to be filled in.
kind_of() {
    case $1 in
    */exercise.cu)
        gap=$(grep -n 'FILL IN' "$1" | head -n 1 | cut -d: -f1)
        echo "IMAGE_EXERCISE, ${gap:-0}"
        ;;
    lessons/*) echo "IMAGE_VARIANT, 0" ;;
    *) echo "IMAGE_RUNG, 0" ;;
    esac
}

echo '/* written by host/build/registry.sh */'
echo '#include "host/registry.h"'
[ -z "$rungs" ] || echo '#include "host/cpu/isa.h"'
for source in $sources; do
    stem=$(stem_of "$source")
    echo "extern const unsigned char image_${stem}[];"
    echo "extern const unsigned long image_${stem}_size;"
done
for rung in $rungs; do
    stem=$(stem_of "$rung")
    echo "extern const struct cpu_rung CPU_ISA_NAMES(cpu_rung_$stem);"
done

count=0
echo "struct gpu_image ${prefix}_images[] = {"
for source in $sources; do
    stem=$(stem_of "$source")
    echo "    {\"$stem\", \"$source\", $(kind_of "$source"), image_$stem, 0},"
    count=$((count + 1))
done
[ $count -gt 0 ] || echo "    {0, 0, IMAGE_RUNG, 0, 0, 0},"
echo "};"
echo "const int ${prefix}_image_count = $count;"

if [ "$prefix" = registry ]; then
    count=0
    echo "const struct cpu_rung *registry_cpu_rungs[] = {"
    for rung in $rungs; do
        echo "    0,"
        count=$((count + 1))
    done
    [ $count -gt 0 ] || echo "    0,"
    echo "};"
    echo "const int registry_cpu_rung_count = $count;"
    echo "const int registry_lesson = $lesson;"
    echo "const char *const registry_compiler = \"$compiler\";"
    echo "const char *const registry_version = \"$version\";"
fi

echo "void ${prefix}_init(void)"
echo "{"
index=0
for source in $sources; do
    stem=$(stem_of "$source")
    echo "    ${prefix}_images[$index].size = image_${stem}_size;"
    index=$((index + 1))
done
index=0
for rung in $rungs; do
    stem=$(stem_of "$rung")
    echo "    registry_cpu_rungs[$index] = CPU_ISA_PICK(cpu_rung_$stem);"
    index=$((index + 1))
done
[ $index -gt 0 ] || [ -n "$sources" ] || echo "    /* nothing built in */"
echo "}"
