/* planted.h - what the kernels in mutants/ and tricky/ share.
 *
 * Every kernel has the same parameters: `in` holds n numbers, `out` has room for n and
 * was never written, `work` holds n zeros. The comment before a kernel says how it is
 * launched and what must come of it; planted.awk makes the tests' table of that:
 *
 *   launch: grid 2, block 64x2 [, shared BYTES] [, n NUMBER] [, cooperative] [, freed]
 *   fault: KIND        of a mutant; FAULT marks the lines that may be named
 *   result: NAME       of a correct kernel: a reference in test_tricky.c
 *
 * Without a number, n is the number of threads. `freed`: the host has given `work` back. */
#ifndef PEAKBOUND_TESTS_PLANTED_H
#define PEAKBOUND_TESTS_PLANTED_H

#define KERNEL(name) \
    extern "C" __global__ void name(const int *in, int *out, int *work, int n)

#endif
