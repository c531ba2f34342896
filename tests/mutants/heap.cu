/* Memory that kernels take from the device's heap; assertions. */
#include <assert.h>

#include "../planted.h"

/* A buffer that is read after it was given back.
 * launch: grid 1, block 32
 * fault: use_after_free */
KERNEL(read_after_free)
{
    int *room = (int *)malloc(64);
    room[0] = in[threadIdx.x];
    free(room);
    out[threadIdx.x] = ((volatile int *)room)[0]; /* FAULT */
}

/* Given back twice.
 * launch: grid 1, block 32
 * fault: double_free */
KERNEL(free_twice)
{
    int *room = (int *)malloc(64);
    ((volatile int *)room)[0] = in[threadIdx.x];
    out[threadIdx.x] = ((volatile int *)room)[0];
    free(room);
    free(room); /* FAULT */
}

/* Nobody gives it back.
 * launch: grid 1, block 32
 * fault: leak */
KERNEL(never_freed)
{
    int *room = (int *)malloc(64); /* FAULT */
    ((volatile int *)room)[0] = in[threadIdx.x];
    out[threadIdx.x] = ((volatile int *)room)[0];
}

/* malloc does not clear what it gives.
 * launch: grid 1, block 32
 * fault: uninitialized */
KERNEL(fresh_from_malloc)
{
    int *room = (int *)malloc(64);
    room[0] = in[threadIdx.x];
    out[threadIdx.x] = room[threadIdx.x % 2]; /* FAULT */
    free(room);
}

/* One element too few was asked for.
 * launch: grid 1, block 32
 * fault: out_of_bounds */
KERNEL(behind_the_heap_buffer)
{
    int *room = (int *)malloc(7 * sizeof(int));
    for (int i = 0; i < 8; i++)
        ((volatile int *)room)[i] = in[i]; /* FAULT */
    out[threadIdx.x] = room[threadIdx.x % 8];
    free(room);
}

/* An assertion that does not hold for the last thread.
 * launch: grid 1, block 32
 * fault: trap */
KERNEL(assertion)
{
    assert(threadIdx.x < 31); /* FAULT */
    out[threadIdx.x] = in[threadIdx.x];
}
