#!/bin/sh
# deps.sh [dev] - install what is missing to build, run and test Peakbound.
# Says what it does; does nothing when all is there. `dev` adds what the lint,
# clang, sanitizer and valgrind checks need.
set -eu

mode=${1:-user}
cc=${CC:-cc}
work=$(mktemp -d "${TMPDIR:-/tmp}/peakbound.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

have() { command -v "$1" >/dev/null 2>&1; }
compiles() { # compiles FLAGS <<C
    cat >"$work/probe.c"
    # shellcheck disable=SC2086 # the flags are meant to split
    "$cc" "$work/probe.c" -o "$work/probe" $1 >/dev/null 2>&1
}

want=""
need() { # need DEBIAN FEDORA BREW
    case $manager in
    apt) want="$want $1" ;;
    dnf) want="$want $2" ;;
    brew) want="$want $3" ;;
    none) want="$want $1" ;;
    esac
}

manager=none
for candidate in apt-get dnf brew; do
    if have $candidate; then
        manager=${candidate%-get}
        break
    fi
done

have "$cc" || need gcc gcc gcc
echo 'int main(void){return 0;}' | compiles "" || need libc6-dev glibc-devel gcc
printf '#include <omp.h>\nint main(void){return omp_get_max_threads()<1;}' |
    compiles -fopenmp || need libgomp1 libgomp libomp
printf '#include <criterion/criterion.h>\nTest(a,b){}' | compiles -lcriterion ||
    need libcriterion-dev criterion-devel criterion
if ! have "${NVCC:-nvcc}" && ! have clang; then
    echo "deps: no nvcc on PATH: clang will make the PTX instead (see README.md)"
    need clang clang llvm
fi
if [ "$mode" = dev ]; then
    have clang || need clang clang llvm
    have clang-format || need clang-format clang-tools-extra clang-format
    have valgrind || need valgrind valgrind valgrind
    have shellcheck || need shellcheck ShellCheck shellcheck
    if have clang; then
        printf '#include <omp.h>\nint main(void){return omp_get_max_threads()<1;}' >"$work/probe.c"
        clang "$work/probe.c" -o "$work/probe" -fopenmp >/dev/null 2>&1 ||
            need libomp-dev libomp-devel libomp
    else
        need libomp-dev libomp-devel libomp
    fi
fi

if [ -z "$want" ]; then
    echo "deps: everything is here"
    exit 0
fi
root=""
if [ "$(id -u)" != 0 ] && [ "$manager" != brew ]; then
    if ! have sudo; then
        echo "deps: missing:$want; not root and no sudo: ask your administrator" >&2
        exit 3
    fi
    root=sudo
fi
case $manager in
apt)
    echo "deps: installing with apt-get:$want"
    log=$work/log
    # shellcheck disable=SC2086 # a list of packages
    if ! { $root apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        $root apt-get install -y -qq --no-install-recommends $want; } >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        echo "deps: apt-get failed (above); install by hand:$want" >&2
        exit 3
    fi
    ;;
dnf)
    echo "deps: installing with dnf:$want"
    # shellcheck disable=SC2086
    $root dnf install -y -q $want
    ;;
brew)
    echo "deps: installing with brew:$want"
    # shellcheck disable=SC2086
    brew install -q $want
    ;;
none)
    echo "deps: no apt-get, dnf or brew here; install by hand:$want" >&2
    exit 3
    ;;
esac
echo "deps: done"
