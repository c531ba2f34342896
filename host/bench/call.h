/* call.h - how a kernel that knows nothing of kernel.h is called: the shape of its
 * launch, and what stands at each place of its parameter list. */
#ifndef PEAKBOUND_BENCH_CALL_H
#define PEAKBOUND_BENCH_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "../error.h"
#include "size.h"

enum call_kind {
    CALL_A, /* device pointers to the matrices */
    CALL_B,
    CALL_C,
    CALL_M, /* int: the sizes, and the strides in elements */
    CALL_N,
    CALL_K,
    CALL_LDA,
    CALL_LDB,
    CALL_LDC,
    CALL_F32, /* numbers */
    CALL_F64,
    CALL_F16,
    CALL_S32,
    CALL_S64,
    CALL_BUFFER /* device pointer to zeroed bytes */
};

enum { CALL_ARGS_MAX = 64 };

struct call_arg {
    enum call_kind kind;
    double real;         /* F32, F64, F16 */
    const char *formula; /* S32, S64, and the bytes of a BUFFER; may start with - */
    const char *word;    /* as it was written, for messages */
};

struct call {
    const char *entry;                     /* name in the module */
    const char *grid[3], *block[3], *smem; /* formulas; NULL = 1, for smem 0 */
    struct call_arg args[CALL_ARGS_MAX];
    int arg_count;
    bool by_columns[3]; /* how A, B, C lie in memory */
    bool cooperative;   /* all blocks must be there at once */
    bool tiled;         /* --grid tells which tile of C a block computes (info.bm, .bn) */
    bool gemm;          /* C = alpha * A * B + beta * C is promised, and checked */
    double alpha, beta;
};

struct call_shape {
    unsigned grid[3], block[3], smem;
};

/* Evaluate the formulas. False and *err (EXIT_USAGE, naming the option) if one is wrong
 * or its value is outside what CUDA allows anywhere. */
bool call_get_shape(const struct call *call, struct size size, struct call_shape *shape,
                    struct error *err);

/* Bytes that an argument takes in the parameter list. */
int call_arg_bytes(const struct call_arg *arg);
/* The first (0), second, ... F32, F64 or F16; NULL if there are fewer. */
const struct call_arg *call_find_real(const struct call *call, int which);
bool call_uses(const struct call *call, enum call_kind kind);

union call_value {
    uint64_t pointer;
    float f32;
    double f64;
    uint16_t f16;
    int32_t s32;
    int64_t s64;
};

/* The value of an argument; of a BUFFER its bytes in `pointer`, of A, B and C nothing.
 * `strides` are those of A, B and C. False and *err (EXIT_USAGE). */
bool call_get_value(const struct call_arg *arg, struct size size, const size_t strides[3],
                    union call_value *value, struct error *err);

#endif
