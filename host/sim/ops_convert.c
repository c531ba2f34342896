/* ops_convert.c - cvt (PTX ISA 9.0, 9.7.9.21 and 9.7.9.22).
 *
 * cvt: a source is widened to a double or a 64-bit integer, which is exact for every
 * type but 64-bit integers, and then narrowed once with the rounding asked for. The
 * usual pairs have executors of their own. */
#include <fenv.h>

#include "numeric.h"
#include "ops.h"

#define U16(x) ((uint32_t)(uint16_t)(x))
#define S16(x) ((int32_t)(int16_t)(x))

/* --- conversion: the usual pairs -------------------------------------------------- */

LANEWISE(copy_32, uint32_t, uint32_t, a)
LANEWISE(low_16, uint32_t, uint32_t, U16(a))
LANEWISE(low_8, uint32_t, uint32_t, a & 0xff)
LANEWISE(s16_s32, uint32_t, uint32_t, (uint32_t)S16(a))
LANEWISE(s8_s32, uint32_t, uint32_t, (uint32_t)(int32_t)(int8_t)a)
LANEWISE(u32_u64, uint64_t, uint32_t, a)
LANEWISE(s32_s64, uint64_t, uint32_t, (uint64_t)(int64_t)(int32_t)a)
LANEWISE(u64_u32, uint32_t, uint64_t, a)
LANEWISE(f16_f32, uint32_t, uint32_t, canon_f32(half_value(U16(a))))
LANEWISE(f32_f16, uint32_t, uint32_t, f32_to_half_bits(a))
LANEWISE(bf16_f32, uint32_t, uint32_t, U16(a) << 16)
LANEWISE(f32_bf16, uint32_t, uint32_t, f32_to_bfloat_bits(a))
LANEWISE(s32_f32, uint32_t, uint32_t, f32_to_bits((float)(int32_t)a))
LANEWISE(u32_f32, uint32_t, uint32_t, f32_to_bits((float)a))
LANEWISE(f32_f64, uint64_t, uint32_t, f64_to_bits((double)bits_to_f32(a)))
LANEWISE(f64_f32, uint32_t, uint64_t, canon_f32((float)bits_to_f64(a)))
LANEWISE(s32_f64, uint64_t, uint32_t, f64_to_bits((double)(int32_t)a))
LANEWISE(u32_f64, uint64_t, uint32_t, f64_to_bits((double)a))
LANEWISE(tf32_rna, uint32_t, uint32_t, f32_to_tf32_bits(a))
LANEWISE(tf32_rn, uint32_t, uint32_t, f32_to_tf32_even(a))
static inline uint32_t tf32_toward_zero(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits & 0xffffe000u;
}
LANEWISE(tf32_rz, uint32_t, uint32_t, tf32_toward_zero(a))

/* .relu: what is not greater than 0 becomes +0, NaN stays */
static inline uint32_t relu_f32(uint32_t bits)
{
    return (bits & 0x80000000u) && (bits & 0x7fffffffu) <= 0x7f800000u ? 0 : bits;
}
LANEWISE(tf32_rna_relu, uint32_t, uint32_t, f32_to_tf32_bits(relu_f32(a)))
/* .satfinite: infinity and what would become it stay finite */
static inline uint32_t tf32_finite(uint32_t bits)
{
    uint32_t rounded = f32_to_tf32_bits(bits);
    bool infinite = (rounded & 0x7fffffffu) == 0x7f800000u;
    return infinite ? (bits & 0x80000000u) | 0x7f7fe000u : rounded;
}
LANEWISE(tf32_rna_finite, uint32_t, uint32_t, tf32_finite(a))
LANEWISE(tf32_rz_relu, uint32_t, uint32_t, tf32_toward_zero(relu_f32(a)))
LANEWISE(tf32_rn_relu, uint32_t, uint32_t, f32_to_tf32_even(relu_f32(a)))

/* two f32 -> two halves, nearest even; a goes to the upper half */
LANEWISE(pack_f16, uint32_t, uint32_t, f32_to_half_bits(a) << 16 | f32_to_half_bits(b))
LANEWISE(pack_bf16, uint32_t, uint32_t,
         f32_to_bfloat_bits(a) << 16 | f32_to_bfloat_bits(b))
LANEWISE(pack_f16_relu, uint32_t, uint32_t,
         f32_to_half_bits(relu_f32(a)) << 16 | f32_to_half_bits(relu_f32(b)))
LANEWISE(pack_bf16_relu, uint32_t, uint32_t,
         f32_to_bfloat_bits(relu_f32(a)) << 16 | f32_to_bfloat_bits(relu_f32(b)))

/* f32 -> 32-bit integers: round, then clamp; NaN gives 0 */
#define IN_F32 bits_to_f32(op->flags ? flush_bits(a) : a)
static inline uint32_t clamp_to_s32(float x)
{
    int32_t whole = (int32_t)(x >= -2147483648.0f && x < 2147483648.0f ? x : 0.0f);
    uint32_t value = x >= 2147483648.0f ? 0x7fffffffu : (uint32_t)whole;
    return x < -2147483648.0f ? 0x80000000u : value;
}
static inline uint32_t clamp_to_u32(float x)
{
    uint32_t high = x >= 2147483648.0f;
    float low = high ? x - 2147483648.0f : x;
    int32_t whole = (int32_t)(low > 0.0f && low < 2147483648.0f ? low : 0.0f);
    uint32_t value = (uint32_t)whole | high << 31;
    return x >= 4294967296.0f ? 0xffffffffu : value;
}
#define TO_INT(mode, function)                                                   \
    LANEWISE(f32_s32_##mode, uint32_t, uint32_t, clamp_to_s32(function(IN_F32))) \
    LANEWISE(f32_u32_##mode, uint32_t, uint32_t, clamp_to_u32(function(IN_F32))) \
    LANEWISE(f32_##mode, uint32_t, uint32_t, canon_f32(function(IN_F32)))
TO_INT(rni, __builtin_nearbyintf)
TO_INT(rzi, __builtin_truncf)
TO_INT(rmi, __builtin_floorf)
TO_INT(rpi, __builtin_ceilf)
LANEWISE(f32_sat, uint32_t, uint32_t, saturate_f32(op->flags ? flush_bits(a) : a))
LANEWISE(f32_ftz, uint32_t, uint32_t, canon_f32(bits_to_f32(flush_bits(a))))

/* --- conversion: everything ------------------------------------------------------- */

struct conversion {
    enum ptx_type to, from;
    enum mod_round round;
    bool ftz, sat, relu, satfinite;
};

static bool is_float(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64 ||
           type == PTX_TF32;
}

static double read_float(enum ptx_type type, uint64_t bits, bool ftz)
{
    switch (type) {
    case PTX_F16:
        return bits_to_f32(canon_f32(half_value((uint32_t)bits & 0xffff)));
    case PTX_BF16:
        return bfloat_value((uint32_t)bits & 0xffff);
    case PTX_F32:
        return bits_to_f32(ftz ? flush_bits((uint32_t)bits) : (uint32_t)bits);
    default:
        return bits_to_f64(bits);
    }
}

/* Round a double to an integral double. */
static double round_integral(double x, enum mod_round round)
{
    switch (round) {
    case RND_RNI:
    case RND_RN:
        return nearbyint(x);
    case RND_RMI:
    case RND_RM:
        return floor(x);
    case RND_RPI:
    case RND_RP:
        return ceil(x);
    default:
        return trunc(x);
    }
}

/* Clamp. NaN gives 0, or the top bit alone for a 64-bit result or a double. */
static uint64_t float_to_int(double x, enum ptx_type to, bool wide_source)
{
    int bits = ptx_type_bits(to);
    bool is_signed = is_signed_type(to);
    if (x != x)
        return bits == 64 || wide_source ? (uint64_t)1 << (bits - 1) : 0;
    double most = ldexp(1.0, is_signed ? bits - 1 : bits);
    double least = is_signed ? -most : 0.0;
    uint64_t top = is_signed    ? ((uint64_t)1 << (bits - 1)) - 1
                   : bits == 64 ? UINT64_MAX
                                : ((uint64_t)1 << bits) - 1;
    if (x >= most)
        return top;
    if (x <= least)
        return is_signed ? (uint64_t)1 << (bits - 1) : 0;
    uint64_t value = is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
    return bits == 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

/* Narrow with the host's rounding mode set by the caller. */
static uint32_t narrow_to_f32(double x)
{
    volatile float value = (float)x;
    return canon_f32(value);
}

/* f64 or f32 value -> 16-bit float, one rounding (round to odd in f32 first). */
static uint32_t narrow_to_16(double x, enum ptx_type to, enum mod_round round,
                             bool satfinite)
{
    if (x != x)
        return 0x7fff;
    int fraction = to == PTX_F16 ? 10 : 7, bias = to == PTX_F16 ? 15 : 127;
    uint32_t infinity = to == PTX_F16 ? 0x7c00 : 0x7f80;
    uint32_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    int exponent;
    frexp(magnitude, &exponent);
    exponent -= 1;
    if (exponent < 1 - bias)
        exponent = 1 - bias;
    double unit = ldexp(1.0, exponent - fraction);
    double steps = magnitude / unit; /* exact: a power of two */
    double whole = round == RND_RZ    ? floor(steps)
                   : round == RND_RM  ? (sign ? ceil(steps) : floor(steps))
                   : round == RND_RP  ? (sign ? floor(steps) : ceil(steps))
                   : round == RND_RNA ? floor(steps + 0.5)
                                      : nearbyint(steps);
    double value = whole * unit;
    double limit = ldexp(2.0 - ldexp(1.0, -fraction), bias);
    if (magnitude == INFINITY || value > limit) {
        bool toward_zero =
            round == RND_RZ || (round == RND_RM && !sign) || (round == RND_RP && sign);
        bool clamp = satfinite || (toward_zero && magnitude != INFINITY);
        return sign | (clamp ? infinity - 1 : infinity);
    }
    if (value == 0)
        return sign;
    uint32_t bits = to == PTX_F16 ? f32_to_half_bits(f32_to_bits((float)value))
                                  : f32_to_bits((float)value) >> 16;
    return sign | bits;
}

static uint64_t write_float(const struct conversion *c, double x, bool from_int64,
                            uint64_t raw)
{
    static const int modes[] = {
        [RND_NONE] = FE_TONEAREST, [RND_RN] = FE_TONEAREST, [RND_RZ] = FE_TOWARDZERO,
        [RND_RM] = FE_DOWNWARD,    [RND_RP] = FE_UPWARD,    [RND_RNA] = FE_TONEAREST};
    if (c->relu && !(x > 0))
        x = x != x ? x : 0.0;
    if (c->sat)
        x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
    if (c->round >= RND_RNI && x == x && fabs(x) != INFINITY)
        x = copysign(round_integral(x, c->round), x);
    enum mod_round round = c->round >= RND_RNI ? RND_RN : c->round;
    uint64_t result;
    fesetround(modes[round]);
    if (c->to == PTX_F64) {
        volatile double wide = !from_int64               ? x
                               : is_signed_type(c->from) ? (double)(int64_t)raw
                                                         : (double)raw;
        result = f64_to_bits(wide);
    } else if (c->to == PTX_F32) {
        volatile float from64 = !from_int64               ? 0.0f
                                : is_signed_type(c->from) ? (float)(int64_t)raw
                                                          : (float)raw;
        result = from_int64 ? f32_to_bits(from64) : narrow_to_f32(x);
    } else {
        fesetround(FE_TONEAREST);
        result = narrow_to_16(x, c->to, round, c->satfinite);
    }
    fesetround(FE_TONEAREST);
    if (c->ftz && c->to == PTX_F32)
        result = flush_bits((uint32_t)result);
    return result;
}

static int64_t sign_extend(uint64_t value, int bits)
{
    return bits == 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* Integer to integer; .sat clamps. */
static uint64_t int_to_int(const struct conversion *c, uint64_t raw)
{
    int from = ptx_type_bits(c->from), to = ptx_type_bits(c->to);
    uint64_t low = from == 64 ? raw : raw & (((uint64_t)1 << from) - 1);
    bool from_signed = is_signed_type(c->from), to_signed = is_signed_type(c->to);
    int64_t value = from_signed ? sign_extend(low, from) : (int64_t)low;
    bool huge = !from_signed && from == 64 && value < 0;
    if (c->sat) {
        uint64_t top = to_signed  ? ((uint64_t)1 << (to - 1)) - 1
                       : to == 64 ? UINT64_MAX
                                  : ((uint64_t)1 << to) - 1;
        if (value < 0 && !huge) {
            int64_t least = to_signed ? -(int64_t)top - 1 : 0;
            value = value < least ? least : value;
        } else if ((uint64_t)value > top) {
            value = (int64_t)top;
        }
    }
    /* the register may be wider than the type: fill it by the type's sign */
    return to_signed  ? (uint64_t)sign_extend((uint64_t)value, to)
           : to == 64 ? (uint64_t)value
                      : (uint64_t)value & (((uint64_t)1 << to) - 1);
}

static uint64_t convert(const struct conversion *c, uint64_t raw)
{
    int bits = ptx_type_bits(c->to);
    if (is_float(c->from)) {
        double x = read_float(c->from, raw, c->ftz);
        if (!is_float(c->to)) {
            uint64_t value = float_to_int(x == x ? round_integral(x, c->round) : x, c->to,
                                          c->from == PTX_F64);
            return is_signed_type(c->to) ? (uint64_t)sign_extend(value, bits) : value;
        }
        return write_float(c, x, false, 0);
    }
    if (!is_float(c->to))
        return int_to_int(c, raw);
    int from = ptx_type_bits(c->from);
    uint64_t low = from == 64 ? raw : raw & (((uint64_t)1 << from) - 1);
    if (is_signed_type(c->from))
        low = (uint64_t)sign_extend(low, from);
    double x = is_signed_type(c->from) ? (double)(int64_t)low : (double)low;
    return write_float(c, x, from == 64, low);
}

static void cvt_any(struct warp *w, const struct op *op)
{
    const struct conversion *c = op->extra;
    int bits = ptx_type_bits(c->to);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint64_t raw = op->width == 8 ? row64(w, op->s[0])[l] : row32(w, op->s[0])[l];
        uint64_t value = convert(c, raw);
        if (op->count == 8)
            row64(w, op->d)[l] = value;
        else
            row32(w, op->d)[l] = (uint32_t)(bits == 16 ? value & 0xffff : value);
    }
}

/* cvt.{f16x2,bf16x2,e4m3x2,e5m2x2}.f32 d, a, b: a goes to the upper half */
static void cvt_pack2(struct warp *w, const struct op *op)
{
    const struct conversion *c = op->extra;
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint32_t part[2];
        for (int i = 0; i < 2; i++) {
            float x = bits_to_f32(i == 0 ? b[l] : a[l]);
            if (c->relu && !(x > 0))
                x = x != x ? x : 0.0f;
            part[i] = c->to == PTX_E4M3X2 ? f32_to_e4m3(x)
                      : c->to == PTX_E5M2X2
                          ? f32_to_e5m2(x)
                          : narrow_to_16(x, c->to == PTX_F16X2 ? PTX_F16 : PTX_BF16,
                                         c->round, c->satfinite);
        }
        d[l] = part[0] | part[1] << (ptx_type_bits(c->to) / 2);
    }
}

/* cvt.rn.satfinite.{e4m3x2,e5m2x2}.f16x2 d, a */
static void cvt_pack8(struct warp *w, const struct op *op)
{
    const struct conversion *c = op->extra;
    const uint32_t *a = row32(w, op->s[0]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint32_t part[2];
        for (int i = 0; i < 2; i++) {
            uint32_t bits = half_to_f32_bits(a[l] >> (16 * i) & 0xffff);
            float x = bits_to_f32(c->relu ? relu_f32(bits) : bits);
            part[i] = c->to == PTX_E4M3X2 ? f32_to_e4m3(x) : f32_to_e5m2(x);
        }
        d[l] = part[0] | part[1] << 8;
    }
}

/* cvt.rn.f16x2.{e4m3x2,e5m2x2} d, a */
static void cvt_unpack8(struct warp *w, const struct op *op)
{
    const struct conversion *c = op->extra;
    const uint32_t *a = row32(w, op->s[0]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint32_t part[2];
        for (int i = 0; i < 2; i++) {
            uint32_t code = a[l] >> (8 * i) & 0xff;
            float x = c->from == PTX_E4M3X2 ? e4m3_value(code) : e5m2_value(code);
            uint32_t bits = f32_to_bits(x);
            part[i] = f32_to_half_bits(c->relu ? relu_f32(bits) : bits);
        }
        d[l] = part[0] | part[1] << 16;
    }
}

/* cvt.pack.sat.convert.abType {.c}: d = c << width | a : b, clamped */
static void cvt_pack_int(struct warp *w, const struct op *op)
{
    const struct conversion *c = op->extra;
    int bits = ptx_type_bits(c->to);
    uint32_t low_mask = bits == 32 ? UINT32_MAX : ((uint32_t)1 << bits) - 1;
    const uint32_t *a = row32(w, op->s[0]), *b = row32(w, op->s[1]);
    uint32_t *d = row32(w, op->d);
    for (int l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1))
            continue;
        uint32_t high = (uint32_t)int_to_int(c, a[l]) & low_mask;
        uint32_t low = (uint32_t)int_to_int(c, b[l]) & low_mask;
        uint32_t rest = op->count == 3 ? row32(w, op->s[2])[l] : 0;
        d[l] = (bits >= 16 ? 0 : rest << (2 * bits)) | high << bits | low;
    }
}

/* The usual pairs. `round`: RND_NONE fits .rn and no rounding. `flags`: which of .ftz,
 * .sat and .relu the executor honours; all others must be absent. */
enum { CVT_FTZ = 1, CVT_SAT = 2, CVT_RELU = 4, CVT_ANY_FTZ = 8 };

static const struct usual_pair {
    enum ptx_type to, from;
    enum mod_round round;
    int flags;
    exec_fn *fn;
} usual_pairs[] = {
    {PTX_U64, PTX_U32, RND_NONE, 0, u32_u64},
    {PTX_S64, PTX_U32, RND_NONE, 0, u32_u64},
    {PTX_S64, PTX_S32, RND_NONE, 0, s32_s64},
    {PTX_U64, PTX_S32, RND_NONE, 0, s32_s64},
    {PTX_U32, PTX_U64, RND_NONE, 0, u64_u32},
    {PTX_S32, PTX_S64, RND_NONE, 0, u64_u32},
    {PTX_U32, PTX_S64, RND_NONE, 0, u64_u32},
    {PTX_S32, PTX_U64, RND_NONE, 0, u64_u32},
    {PTX_U32, PTX_U16, RND_NONE, 0, low_16},
    {PTX_S32, PTX_U16, RND_NONE, 0, low_16},
    {PTX_S32, PTX_S16, RND_NONE, 0, s16_s32},
    {PTX_U32, PTX_S16, RND_NONE, 0, s16_s32},
    {PTX_U16, PTX_U32, RND_NONE, 0, low_16},
    {PTX_U16, PTX_S32, RND_NONE, 0, low_16},
    {PTX_S16, PTX_S32, RND_NONE, 0, s16_s32},
    {PTX_S16, PTX_U32, RND_NONE, 0, s16_s32},
    {PTX_U32, PTX_U8, RND_NONE, 0, low_8},
    {PTX_S32, PTX_S8, RND_NONE, 0, s8_s32},
    {PTX_U32, PTX_S32, RND_NONE, 0, copy_32},
    {PTX_S32, PTX_U32, RND_NONE, 0, copy_32},
    {PTX_F32, PTX_F16, RND_NONE, 0, f16_f32},
    {PTX_F32, PTX_BF16, RND_NONE, 0, bf16_f32},
    {PTX_F16, PTX_F32, RND_NONE, 0, f32_f16},
    {PTX_BF16, PTX_F32, RND_NONE, 0, f32_bf16},
    {PTX_F32, PTX_S32, RND_NONE, 0, s32_f32},
    {PTX_F32, PTX_U32, RND_NONE, 0, u32_f32},
    {PTX_F64, PTX_F32, RND_NONE, 0, f32_f64},
    {PTX_F32, PTX_F64, RND_NONE, 0, f64_f32},
    {PTX_F64, PTX_S32, RND_NONE, 0, s32_f64},
    {PTX_F64, PTX_U32, RND_NONE, 0, u32_f64},
    {PTX_F32, PTX_F32, RND_NONE, CVT_SAT, f32_sat},
    {PTX_F32, PTX_F32, RND_NONE, CVT_SAT | CVT_FTZ, f32_sat},
    {PTX_F32, PTX_F32, RND_NONE, CVT_FTZ, f32_ftz},
    {PTX_F32, PTX_F32, RND_RNI, CVT_ANY_FTZ, f32_rni},
    {PTX_F32, PTX_F32, RND_RZI, CVT_ANY_FTZ, f32_rzi},
    {PTX_F32, PTX_F32, RND_RMI, CVT_ANY_FTZ, f32_rmi},
    {PTX_F32, PTX_F32, RND_RPI, CVT_ANY_FTZ, f32_rpi},
    {PTX_S32, PTX_F32, RND_RNI, CVT_ANY_FTZ, f32_s32_rni},
    {PTX_S32, PTX_F32, RND_RZI, CVT_ANY_FTZ, f32_s32_rzi},
    {PTX_S32, PTX_F32, RND_RMI, CVT_ANY_FTZ, f32_s32_rmi},
    {PTX_S32, PTX_F32, RND_RPI, CVT_ANY_FTZ, f32_s32_rpi},
    {PTX_U32, PTX_F32, RND_RNI, CVT_ANY_FTZ, f32_u32_rni},
    {PTX_U32, PTX_F32, RND_RZI, CVT_ANY_FTZ, f32_u32_rzi},
    {PTX_U32, PTX_F32, RND_RMI, CVT_ANY_FTZ, f32_u32_rmi},
    {PTX_U32, PTX_F32, RND_RPI, CVT_ANY_FTZ, f32_u32_rpi},
    {PTX_TF32, PTX_F32, RND_RNA, 0, tf32_rna},
    {PTX_TF32, PTX_F32, RND_RNA, CVT_RELU, tf32_rna_relu},
    {PTX_TF32, PTX_F32, RND_NONE, 0, tf32_rn},
    {PTX_TF32, PTX_F32, RND_NONE, CVT_RELU, tf32_rn_relu},
    {PTX_TF32, PTX_F32, RND_RZ, 0, tf32_rz},
    {PTX_TF32, PTX_F32, RND_RZ, CVT_RELU, tf32_rz_relu},
    {PTX_F16X2, PTX_F32, RND_NONE, 0, pack_f16},
    {PTX_BF16X2, PTX_F32, RND_NONE, 0, pack_bf16},
    {PTX_F16X2, PTX_F32, RND_NONE, CVT_RELU, pack_f16_relu},
    {PTX_BF16X2, PTX_F32, RND_NONE, CVT_RELU, pack_bf16_relu},
};

static exec_fn *find_pair(const struct conversion *c, int to_lane, int from_lane)
{
    enum mod_round round = c->round == RND_RN ? RND_NONE : c->round;
    int flags =
        (c->ftz ? CVT_FTZ : 0) | (c->sat ? CVT_SAT : 0) | (c->relu ? CVT_RELU : 0);
    if (c->satfinite || to_lane != (ptx_type_bits(c->to) == 64 ? 8 : 4) ||
        from_lane != (ptx_type_bits(c->from) == 64 ? 8 : 4))
        return NULL;
    for (size_t i = 0; i < sizeof usual_pairs / sizeof *usual_pairs; i++) {
        const struct usual_pair *pair = &usual_pairs[i];
        int wanted = pair->flags == CVT_ANY_FTZ ? flags & CVT_FTZ : pair->flags;
        if (pair->to == c->to && pair->from == c->from && pair->round == round &&
            wanted == flags)
            return pair->fn;
    }
    return NULL;
}

/* A register may be wider than its type in cvt: find the type that fits its lanes. */
static enum ptx_type lane_type(struct decoder *dec, const struct ptx_operand *operand,
                               enum ptx_type type)
{
    int bytes = decode_lane_bytes(dec, operand);
    int needed = ptx_type_bits(type) == 64 ? 8 : 4;
    if (bytes == 8 && needed == 4)
        return PTX_B64;
    return ptx_type_bits(type) < 32 && !is_float(type) ? PTX_B32 : type;
}

static bool decode_cvt(struct decoder *dec, const struct ptx_insn *in,
                       const struct mods *mods, struct op *op)
{
    struct conversion *c = decode_alloc(dec, sizeof *c);
    *c = (struct conversion){mods->type[0], mods->type[1], mods->round,    mods->ftz,
                             mods->sat,     mods->relu,    mods->satfinite};
    if (mods->type_count != 2)
        return decode_fail(dec, "needs two types");
    op->extra = c;
    bool to_int = c->to >= PTX_U8 && c->to <= PTX_S64;
    bool from_int = c->from >= PTX_U8 && c->from <= PTX_S64;
    if (in->operand_count >= 3) {
        if (c->from != PTX_F32 || in->operand_count != 3)
            return decode_fail(dec, "three operands need .f32 sources");
        if (c->to != PTX_F16X2 && c->to != PTX_BF16X2 && c->to != PTX_E4M3X2 &&
            c->to != PTX_E5M2X2)
            return decode_fail(dec, "not to type .%s", ptx_type_name(c->to));
        op->fn = find_pair(c, 4, 4);
        if (op->fn == NULL)
            op->fn = cvt_pack2;
        bool eight = c->to == PTX_E4M3X2 || c->to == PTX_E5M2X2;
        return decode_plain(dec, in, op, eight ? PTX_B16 : PTX_B32, PTX_F32);
    }
    if ((c->to == PTX_E4M3X2 || c->to == PTX_E5M2X2) && c->from == PTX_F16X2) {
        op->fn = cvt_pack8;
        return decode_plain(dec, in, op, PTX_B16, PTX_B32);
    }
    if (c->to == PTX_F16X2 && (c->from == PTX_E4M3X2 || c->from == PTX_E5M2X2)) {
        op->fn = cvt_unpack8;
        return decode_plain(dec, in, op, PTX_B32, PTX_B32);
    }
    if ((!to_int && !is_float(c->to)) || (!from_int && !is_float(c->from)) ||
        c->from == PTX_TF32)
        return decode_fail(dec, "not from .%s to .%s", ptx_type_name(c->from),
                           ptx_type_name(c->to));
    enum ptx_type to = lane_type(dec, &in->operand[0], c->to);
    enum ptx_type from = lane_type(dec, &in->operand[1], c->from);
    op->count = ptx_type_bits(to) == 64 ? 8 : 4;
    op->width = ptx_type_bits(from) == 64 ? 8 : 4;
    if (to_int && from_int)
        op->pipe = SIM_PIPE_ALU;
    op->flags = c->ftz;
    op->fn = find_pair(c, op->count, op->width);
    if (c->to == PTX_TF32 && c->from == PTX_F32 && c->round == RND_RNA && c->satfinite &&
        !c->relu && !c->sat && !c->ftz)
        op->fn = tf32_rna_finite;
    if (op->fn == NULL && c->to == PTX_TF32)
        return decode_fail(dec, ".tf32 takes .rna, .rn or .rz, from .f32");
    if (op->fn == NULL)
        op->fn = cvt_any;
    return decode_plain(dec, in, op, to, from);
}

static bool decode_cvt_pack(struct decoder *dec, const struct ptx_insn *in,
                            const struct mods *mods, struct op *op)
{
    struct conversion *c = decode_alloc(dec, sizeof *c);
    *c = (struct conversion){.to = mods->type[0], .from = mods->type[1], .sat = true};
    if (mods->word_count != 1 || strcmp(mods->word[0], "pack") != 0)
        return decode_fail(dec, "is not a pack");
    int bits = ptx_type_bits(c->to);
    bool narrow = (c->to >= PTX_U8 && c->to <= PTX_S16) || bits == 4 || bits == 2;
    if (mods->type_count < 2 || mods->type[1] != PTX_S32 || !mods->sat || !narrow)
        return decode_fail(dec, "needs .sat, a narrow type and .s32 sources");
    if (mods->type_count == 3 ? mods->type[2] != PTX_B32 || bits > 8
                              : bits < 16 || mods->type_count > 3)
        return decode_fail(dec, ".b32 and c go with types of 2, 4 and 8 bits");
    if ((mods->type_count == 3) != (in->operand_count == 4))
        return decode_fail(dec, "the number of operands is wrong");
    op->fn = cvt_pack_int;
    op->extra = c;
    op->count = (uint8_t)(in->operand_count - 1);
    return decode_plain(dec, in, op, PTX_B32, PTX_B32);
}

static const struct op_row rows[] = {
    {"cvt", "cvt.pack.sat.dtype.s32{.b32} d, a, b{, c};",
     ".u16 .s16 .u8 .s8 .u4 .s4 .u2 .s2", MOD_TYPE | MOD_TYPE2 | MOD_SAT | MOD_PART,
     SIM_PIPE_ALU, 3, 4, decode_cvt_pack},
    {"cvt", "cvt{.rnd}{.ftz}{.relu}{.sat,.satfinite}.dtype.atype d, a{, b};",
     ".u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .bf16 .f32 .f64 .tf32 .f16x2 .bf16x2 "
     ".e4m3x2 .e5m2x2",
     MOD_TYPE | MOD_TYPE2 | MOD_ROUND | MOD_FTZ | MOD_SAT, SIM_PIPE_XU, 2, 3, decode_cvt},
};
const struct op_family ops_convert = {rows, (int)(sizeof rows / sizeof *rows)};
