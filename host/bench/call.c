/* call.c - see call.h. Limits of a launch: CUDA C++ Programming Guide, technical
 * specifications per compute capability. */
#include "call.h"

#include <stdio.h>
#include <string.h>

#include "formula.h"
#include "matrix.h"

static bool get_axes(const char *option, const char *const formulas[3],
                     const uint64_t limits[3], struct size size, unsigned axes[3],
                     struct error *err)
{
    for (int i = 0; i < 3; i++) {
        uint64_t value = 1;
        struct error why = {0};
        if (formulas[i] && !formula_evaluate(formulas[i], size, &value, &why))
            return error_set(err, EXIT_USAGE, "--%s: %s", option, why.text);
        if (value < 1 || value > limits[i])
            return error_set(err, EXIT_USAGE,
                             "--%s: `%.80s` is %llu at size %zux%zux%zu; along %c 1 to "
                             "%llu are possible",
                             option, formulas[i], (unsigned long long)value, size.m,
                             size.n, size.k, "xyz"[i], (unsigned long long)limits[i]);
        axes[i] = (unsigned)value;
    }
    return true;
}

bool call_get_shape(const struct call *call, struct size size, struct call_shape *shape,
                    struct error *err)
{
    static const uint64_t grid_limits[3] = {0x7fffffff, 65535, 65535};
    static const uint64_t block_limits[3] = {1024, 1024, 64};
    enum { MOST_THREADS = 1024, MOST_SMEM = 1 << 20 };
    uint64_t smem = 0;
    struct error why = {0};
    if (!get_axes("grid", call->grid, grid_limits, size, shape->grid, err) ||
        !get_axes("block", call->block, block_limits, size, shape->block, err))
        return false;
    unsigned threads = shape->block[0] * shape->block[1] * shape->block[2];
    if (threads > MOST_THREADS)
        return error_set(err, EXIT_USAGE,
                         "--block: %u x %u x %u are %u threads; a block "
                         "has %d at most",
                         shape->block[0], shape->block[1], shape->block[2], threads,
                         MOST_THREADS);
    if (call->smem && !formula_evaluate(call->smem, size, &smem, &why))
        return error_set(err, EXIT_USAGE, "--smem: %s", why.text);
    if (smem > MOST_SMEM)
        return error_set(err, EXIT_USAGE,
                         "--smem: %llu bytes are more than any GPU's shared memory",
                         (unsigned long long)smem);
    shape->smem = (unsigned)smem;
    return true;
}

int call_arg_bytes(const struct call_arg *arg)
{
    switch (arg->kind) {
    case CALL_A:
    case CALL_B:
    case CALL_C:
    case CALL_BUFFER:
    case CALL_F64:
    case CALL_S64:
        return 8;
    case CALL_F16:
        return 2;
    default:
        return 4;
    }
}

const struct call_arg *call_find_real(const struct call *call, int which)
{
    for (int i = 0; i < call->arg_count; i++) {
        enum call_kind kind = call->args[i].kind;
        bool real = kind == CALL_F32 || kind == CALL_F64 || kind == CALL_F16;
        if (real && which-- == 0)
            return &call->args[i];
    }
    return NULL;
}

bool call_uses(const struct call *call, enum call_kind kind)
{
    for (int i = 0; i < call->arg_count; i++)
        if (call->args[i].kind == kind)
            return true;
    return false;
}

/* A formula with an optional minus before it, between `least` and `most`. */
static bool get_whole(const struct call_arg *arg, struct size size, int64_t least,
                      int64_t most, int64_t *whole, struct error *err)
{
    bool negative = arg->formula[0] == '-';
    uint64_t value = 0;
    struct error why = {0};
    if (!formula_evaluate(arg->formula + negative, size, &value, &why))
        return error_set(err, EXIT_USAGE, "--args: %s", why.text);
    *whole = negative ? -(int64_t)value : (int64_t)value;
    if (*whole >= least && *whole <= most)
        return true;
    return error_set(err, EXIT_USAGE,
                     "--args: `%.80s` is %lld; %lld to %lld are possible", arg->word,
                     (long long)*whole, (long long)least, (long long)most);
}

bool call_get_value(const struct call_arg *arg, struct size size, const size_t strides[3],
                    union call_value *value, struct error *err)
{
    const int64_t largest = 1ll << 53;
    int64_t whole = 0;
    bool good = true;
    memset(value, 0, sizeof *value);
    switch (arg->kind) {
    case CALL_M:
        value->s32 = (int32_t)size.m;
        break;
    case CALL_N:
        value->s32 = (int32_t)size.n;
        break;
    case CALL_K:
        value->s32 = (int32_t)size.k;
        break;
    case CALL_LDA:
    case CALL_LDB:
    case CALL_LDC:
        value->s32 = (int32_t)strides[arg->kind - CALL_LDA];
        break;
    case CALL_F32:
        value->f32 = (float)arg->real;
        break;
    case CALL_F64:
        value->f64 = arg->real;
        break;
    case CALL_F16:
        value->f16 = float_to_half((float)arg->real);
        break;
    case CALL_S32: /* or unsigned */
        good = get_whole(arg, size, INT32_MIN, UINT32_MAX, &whole, err);
        value->s32 = (int32_t)(uint32_t)whole;
        break;
    case CALL_S64:
        good = get_whole(arg, size, -largest, largest, &value->s64, err);
        break;
    case CALL_BUFFER:
        good = get_whole(arg, size, 1, largest, &whole, err);
        value->pointer = (uint64_t)whole;
        break;
    default:
        break;
    }
    return good;
}
