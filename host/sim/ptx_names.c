/* ptx_names.c - the types of PTX by name (PTX ISA 9.0, 5.2). */
#include <string.h>

#include "ptx.h"

static const struct {
    const char *name;
    int bits;
} types[PTX_TYPE_COUNT] = {
    [PTX_TYPE_NONE] = {"", 0},     [PTX_PRED] = {"pred", 1},
    [PTX_B8] = {"b8", 8},          [PTX_B16] = {"b16", 16},
    [PTX_B32] = {"b32", 32},       [PTX_B64] = {"b64", 64},
    [PTX_B128] = {"b128", 128},    [PTX_U8] = {"u8", 8},
    [PTX_U16] = {"u16", 16},       [PTX_U32] = {"u32", 32},
    [PTX_U64] = {"u64", 64},       [PTX_S8] = {"s8", 8},
    [PTX_S16] = {"s16", 16},       [PTX_S32] = {"s32", 32},
    [PTX_S64] = {"s64", 64},       [PTX_F16] = {"f16", 16},
    [PTX_F16X2] = {"f16x2", 32},   [PTX_BF16] = {"bf16", 16},
    [PTX_BF16X2] = {"bf16x2", 32}, [PTX_TF32] = {"tf32", 32},
    [PTX_F32] = {"f32", 32},       [PTX_F64] = {"f64", 64},
    [PTX_U16X2] = {"u16x2", 32},   [PTX_S16X2] = {"s16x2", 32},
    [PTX_F32X2] = {"f32x2", 64},   [PTX_E4M3] = {"e4m3", 8},
    [PTX_E5M2] = {"e5m2", 8},      [PTX_E4M3X2] = {"e4m3x2", 16},
    [PTX_E5M2X2] = {"e5m2x2", 16}, [PTX_U4] = {"u4", 4},
    [PTX_S4] = {"s4", 4},          [PTX_U2] = {"u2", 2},
    [PTX_S2] = {"s2", 2},          [PTX_B1] = {"b1", 1},
};

int ptx_type_bits(enum ptx_type type)
{
    return types[type].bits;
}

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

enum ptx_type ptx_type_find(const char *name)
{
    for (int i = 1; i < PTX_TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0)
            return (enum ptx_type)i;
    return PTX_TYPE_NONE;
}
