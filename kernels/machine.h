/* machine.h - what 00_machine.cu and its host (host/bench/ceiling.h) agree on. The three
 * kernels are no matmuls: each keeps one unit of the GPU busy and nothing else, so that
 * its rate is the ceiling under which every rung of the course has to stay.
 *
 * This header is read by CUDA C and by plain C11. */
#ifndef PEAKBOUND_MACHINE_H
#define PEAKBOUND_MACHINE_H

enum {
    /* fma_only: every thread turns FMA_CHAINS chains x = x * MACHINE_SCALE + MACHINE_ADD.
     * One chain would wait for its own last result; several hide that wait. */
    FMA_THREADS = 256,
    FMA_CHAINS = 8,
    /* tensor_only: every warp adds A * B to TENSOR_CHAINS sums of 16 x 16; sum i starts
     * at i. */
    TENSOR_THREADS = 128,
    TENSOR_CHAINS = 8,
    TENSOR_TILE = 16,
    /* copy_only: every thread moves COPY_VECTORS pieces of 16 bytes. */
    COPY_THREADS = 256,
    COPY_VECTORS = 4,
    COPY_BLOCK_BYTES = COPY_THREADS * COPY_VECTORS * 16,
    /* steps that the loops are unrolled by: the number of steps is a multiple of it */
    FMA_UNROLL = 64,
    TENSOR_UNROLL = 8
};

/* scale < 1: a chain drifts towards add / (1 - scale), about 0.5, and never overflows; with
 * so many digits one rounding a step and two differ. Of a negative factor nvcc makes a
 * subtraction, which PTX has not in one instruction. */
#define MACHINE_SCALE 0.99901234f
#define MACHINE_ADD 0.00049383f

#endif
