/* Kernels that stop themselves. */
#include "../planted.h"

/* A default that cannot happen, and does.
 * launch: grid 2, block 64
 * fault: trap */
KERNEL(impossible_case)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 70)
        __trap(); /* FAULT */
    out[i] = in[i];
}
