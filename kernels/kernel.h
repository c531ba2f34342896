/* kernel.h - the contract between a rung and the program that runs it.
 *
 * A rung is one .cu file. Beside its __global__ functions it defines, with
 * KERNEL_INFO, a constant table that says how to launch them and what they
 * promise. The host finds the table in the loaded module under the name
 * `kernel_info`, so dropping a .cu file into kernels/ is all it takes.
 *
 * Every rung has the same parameter list and computes
 *
 *     C = alpha * A * B + beta * C        beta == 0 never reads C
 *
 *     a  [m][k], row stride lda >= k      b  [k][n], row stride ldb >= n
 *     c  [m][n], row stride ldc >= n      all row-major, strides in elements
 *
 *     (int m, int n, int k, float alpha, const IN *a, int lda,
 *      const IN *b, int ldb, float beta, OUT *c, int ldc)
 *
 * This header is read by CUDA C and by plain C11; both see the same bytes.
 */
#ifndef PEAKBOUND_KERNEL_H
#define PEAKBOUND_KERNEL_H

/* Input, sum and output types. The names shown to the user are in
 * host/report/units.c. */
enum kernel_type {
    KERNEL_F32 = 0,
    KERNEL_F16 = 1,
    KERNEL_BF16 = 2,
    KERNEL_TF32 = 3,
    KERNEL_F64 = 4,
    KERNEL_S8 = 5,
    KERNEL_S32 = 6
};

/* The unit that does the multiplying. With the types it picks the peak. */
enum kernel_unit { KERNEL_CUDA_CORES = 0, KERNEL_TENSOR_CORES = 1 };

/* Which output coordinate blockIdx.x walks along. The other is blockIdx.y. */
enum kernel_grid { KERNEL_GRID_X_IS_N = 0, KERNEL_GRID_X_IS_M = 1 };

enum { KERNEL_INFO_VERSION = 1 };

struct kernel_info {
    int version;            /* KERNEL_INFO_VERSION */
    int lesson;             /* lesson number, 1.. */
    char name[32];          /* stem without the number: "shared_tile" */
    char entry[64];         /* extern "C" name of the __global__ function */
    char title[96];         /* one line for --list */
    int bm, bn, bk;         /* block tile: bm x bn outputs, bk steps of k at a time */
    int block_x, block_y;   /* threads of a block */
    int grid;               /* enum kernel_grid */
    int dynamic_smem_bytes; /* shared memory to ask for at launch */
    int unit;               /* enum kernel_unit */
    int in, acc, out;       /* enum kernel_type */
    int min_cc;             /* 75 = compute capability 7.5 */
    int multiple_m, multiple_n, multiple_k; /* sizes must divide by; 1 = any */
};

#ifdef __CUDACC__
/* KERNEL_INFO = { {...}, {...} };  one entry a kernel in this file. */
#define KERNEL_INFO extern "C" __device__ const struct kernel_info kernel_info[]
#endif

#endif
