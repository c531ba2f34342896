/* test_ops_convert.c - cvt, set and setp against rounding by search and plain C. */
#include "ops_harness.h"
#include "small_float.h"

__extension__ typedef __int128 wide;

static float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
static double f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffff : bits;
}
static uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static uint64_t ftz(uint64_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
static double h(uint64_t a)
{
    return small_double(&F16, (int)(a & 0xffff));
}
static double bf(uint64_t a)
{
    return small_double(&BF16, (int)(a & 0xffff));
}
static int64_t sx(uint64_t x, int bits)
{
    return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

/* --- to integers ----------------------------------------------------------------------- */

static double integral(double x, char mode)
{
    double low = floor(x), part = x - low;
    switch (mode) {
    case 'z':
        return trunc(x);
    case 'm':
        return low;
    case 'p':
        return ceil(x);
    default:
        return part < 0.5 || (part == 0.5 && fmod(low, 2) == 0) ? low : low + 1;
    }
}
/* bits > 0 unsigned, < 0 signed; NaN as the manual's cvt page says */
static uint64_t to_int(double x, char mode, int bits, bool from64)
{
    int width = abs(bits);
    if (isnan(x))
        return from64 || width == 64 ? (uint64_t)1 << (width - 1) : 0;
    wide least = bits < 0 ? -((wide)1 << (width - 1)) : 0;
    wide most = ((wide)1 << (bits < 0 ? width - 1 : width)) - 1;
    x = integral(x, mode);
    wide value = x >= 1.9e19 ? most : x <= -9.3e18 ? least : (wide)x;
    value = value < least ? least : value > most ? most : value;
    return (uint64_t)value;
}

/* --- to f32 and f64 -------------------------------------------------------------------- */

static uint64_t to_f32(quad x, char mode)
{
    float near = (float)x;
    if (x != x || isinf((double)x))
        return bits32(near);
    bool down = mode == 'm' || (mode == 'z' && x > 0);
    bool up = mode == 'p' || (mode == 'z' && x < 0);
    if (down && (quad)near > x)
        near = nextafterf(near, -INFINITY);
    if (up && (quad)near < x)
        near = nextafterf(near, INFINITY);
    return bits32(near);
}
static uint64_t to_f64(quad x, char mode)
{
    double near = (double)x;
    if (mode == 'm' && (quad)near > x)
        near = nextafter(near, -INFINITY);
    if (mode == 'p' && (quad)near < x)
        near = nextafter(near, INFINITY);
    if (mode == 'z' && (quad)near > x)
        near = nextafter(near, 0);
    return bits64(near);
}
static uint64_t tf32(uint64_t a, char mode)
{
    uint64_t rest = a & 0x1fff, cut = a & ~(uint64_t)0x1fff;
    if (isnan(f32(a)))
        return 0x7fffffff;
    if (isinf(f32(a)) || mode == 'z')
        return cut;
    bool up =
        mode == 'a' ? rest >= 0x1000 : rest > 0x1000 || (rest == 0x1000 && a & 0x2000);
    return up ? cut + 0x2000 : cut;
}
static double relu(double x)
{
    return x < 0 ? 0 : x == 0 ? 0 : x;
}
static double sat(double x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
static wide clamp(wide x, wide least, wide most)
{
    return x < least ? least : x > most ? most : x;
}
#define ROUND(f, x, mode) ((uint64_t)small_round(&(f), x, mode, false))
#define FINITE(f, x, mode) ((uint64_t)small_round(&(f), x, mode, true))

#define EXPECT(name, expr)                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(expr);                             \
    }
EXPECT(same, a)
EXPECT(zext8, a & 0xff)
EXPECT(sext8, sx(a, 8))
EXPECT(zext16, a & 0xffff)
EXPECT(sext16, sx(a, 16))
EXPECT(sext32, sx(a, 32))
EXPECT(sat_u8_s32, clamp(sx(a, 32), 0, 255))
EXPECT(sat_s8_s32, clamp(sx(a, 32), -128, 127))
EXPECT(sat_u16_s32, clamp(sx(a, 32), 0, 65535))
EXPECT(sat_s16_u32, clamp((wide)a, 0, 32767))
EXPECT(sat_u32_s64, clamp((wide)(int64_t)a, 0, 0xffffffff))
EXPECT(sat_s32_u64, clamp((wide)a, 0, 0x7fffffff))
EXPECT(sat_s32_s64, clamp((wide)(int64_t)a, -0x80000000ll, 0x7fffffff))
EXPECT(sat_u32_s32, clamp(sx(a, 32), 0, 0xffffffff))
EXPECT(rni_s32, to_int(f32(a), 'n', -32, false))
EXPECT(rzi_s32, to_int(f32(a), 'z', -32, false))
EXPECT(rmi_s32, to_int(f32(a), 'm', -32, false))
EXPECT(rpi_s32, to_int(f32(a), 'p', -32, false))
EXPECT(rpi_s32_ftz, to_int(f32(ftz(a)), 'p', -32, false))
EXPECT(rmi_s32_ftz, to_int(f32(ftz(a)), 'm', -32, false))
EXPECT(rni_u32, to_int(f32(a), 'n', 32, false))
EXPECT(rzi_u32, to_int(f32(a), 'z', 32, false))
EXPECT(rmi_u32, to_int(f32(a), 'm', 32, false))
EXPECT(rpi_u32, to_int(f32(a), 'p', 32, false))
EXPECT(rzi_s64, to_int(f32(a), 'z', -64, false))
EXPECT(rzi_u64, to_int(f32(a), 'z', 64, false))
EXPECT(rni_u16, to_int(f32(a), 'n', 16, false))
EXPECT(rni_s16, to_int(f32(a), 'n', -16, false))
EXPECT(rni_u8, to_int(f32(a), 'n', 8, false))
EXPECT(rni_s8, to_int(f32(a), 'n', -8, false))
EXPECT(rzi_s32_d, to_int(f64(a), 'z', -32, true))
EXPECT(rni_u32_d, to_int(f64(a), 'n', 32, true))
EXPECT(rmi_s64_d, to_int(f64(a), 'm', -64, true))
EXPECT(rzi_u64_d, to_int(f64(a), 'z', 64, true))
EXPECT(rni_s16_d, to_int(f64(a), 'n', -16, true))
EXPECT(rni_s32_h, to_int(h(a), 'n', -32, false))
EXPECT(rzi_u16_h, to_int(h(a), 'z', 16, false))
EXPECT(rzi_s64_h, to_int(h(a), 'z', -64, false))
EXPECT(rzi_s32_b, to_int(bf(a), 'z', -32, false))
EXPECT(s32_n, to_f32(sx(a, 32), 'n'))
EXPECT(s32_z, to_f32(sx(a, 32), 'z'))
EXPECT(s32_m, to_f32(sx(a, 32), 'm'))
EXPECT(s32_p, to_f32(sx(a, 32), 'p'))
EXPECT(u32_n, to_f32(a, 'n'))
EXPECT(u32_p, to_f32(a, 'p'))
EXPECT(s64_n, to_f32((int64_t)a, 'n'))
EXPECT(s64_z, to_f32((int64_t)a, 'z'))
EXPECT(u64_n, to_f32(a, 'n'))
EXPECT(u64_m, to_f32(a, 'm'))
EXPECT(u16_n, to_f32(a & 0xffff, 'n'))
EXPECT(s8_n, to_f32(sx(a, 8), 'n'))
EXPECT(s32_d, bits64((double)sx(a, 32)))
EXPECT(u32_d, bits64((double)a))
EXPECT(s64_dn, to_f64((int64_t)a, 'n'))
EXPECT(u64_dn, to_f64(a, 'n'))
EXPECT(u64_dz, to_f64(a, 'z'))
EXPECT(s64_dp, to_f64((int64_t)a, 'p'))
EXPECT(d_f_n, to_f32(f64(a), 'n'))
EXPECT(d_f_z, to_f32(f64(a), 'z'))
EXPECT(d_f_m, to_f32(f64(a), 'm'))
EXPECT(d_f_p, to_f32(f64(a), 'p'))
EXPECT(d_f_ftz, ftz(to_f32(f64(a), 'n')))
EXPECT(f_d, bits64((double)f32(a)))
EXPECT(f_d_ftz, bits64((double)f32(ftz(a))))
EXPECT(f_rni, bits32(copysignf((float)integral(f32(a), 'n'), f32(a))))
EXPECT(f_rzi, bits32(copysignf((float)integral(f32(a), 'z'), f32(a))))
EXPECT(f_rmi, bits32(copysignf((float)integral(f32(a), 'm'), f32(a))))
EXPECT(f_rpi, bits32(copysignf((float)integral(f32(a), 'p'), f32(a))))
EXPECT(f_sat, bits32((float)sat(f32(a))))
EXPECT(f_ftz_sat, bits32((float)sat(f32(ftz(a)))))
EXPECT(f_ftz, bits32(f32(ftz(a))))
EXPECT(d_rmi, bits64(copysign(integral(f64(a), 'm'), f64(a))))
EXPECT(h_f, bits32((float)h(a)))
EXPECT(b_f, a << 16) /* a NaN keeps its payload */
EXPECT(h_d, isnan(h(a)) ? 0x7fffffffe0000000 : bits64(h(a)))
EXPECT(f_h, ROUND(F16, f32(a), 'n'))
EXPECT(f_h_z, ROUND(F16, f32(a), 'z'))
EXPECT(f_h_m, ROUND(F16, f32(a), 'm'))
EXPECT(f_h_p, ROUND(F16, f32(a), 'p'))
EXPECT(f_h_relu, ROUND(F16, relu(f32(a)), 'n'))
EXPECT(f_h_sat, ROUND(F16, sat(f32(a)), 'n'))
EXPECT(f_h_finite, FINITE(F16, f32(a), 'n'))
EXPECT(f_b, ROUND(BF16, f32(a), 'n'))
EXPECT(f_b_z, ROUND(BF16, f32(a), 'z'))
EXPECT(f_b_relu, ROUND(BF16, relu(f32(a)), 'n'))
EXPECT(d_h, ROUND(F16, f64(a), 'n'))
EXPECT(s32_h, ROUND(F16, sx(a, 32), 'n'))
EXPECT(u16_h_z, ROUND(F16, a & 0xffff, 'z'))
EXPECT(u64_h, ROUND(F16, (quad)a, 'n'))
EXPECT(s64_b, ROUND(BF16, (quad)(int64_t)a, 'n'))
EXPECT(s32_b, ROUND(BF16, sx(a, 32), 'n'))
EXPECT(h_rmi, ROUND(F16, (quad)copysign(integral(h(a), 'm'), h(a)), 'n'))
EXPECT(h_b, ROUND(BF16, h(a), 'n'))
EXPECT(tf32_a, tf32(a, 'a'))
EXPECT(tf32_n, tf32(a, 'n'))
EXPECT(tf32_z, tf32(a, 'z'))
EXPECT(tf32_relu, a & 0x80000000 && !isnan(f32(a)) ? 0 : tf32(a, 'n'))
#define BOTH(one) (one(b, 0, 0) | one(a, 0, 0) << 16)
#define BOTH8(f, x, y) (FINITE(f, y, 'n') | FINITE(f, x, 'n') << 8)
EXPECT(pack_h, BOTH(f_h))
EXPECT(pack_h_z, BOTH(f_h_z))
EXPECT(pack_h_relu, BOTH(f_h_relu))
EXPECT(pack_b, BOTH(f_b))
EXPECT(pack_b_z, BOTH(f_b_z))
EXPECT(pack_b_relu, BOTH(f_b_relu))
EXPECT(pack_e4m3, BOTH8(E4M3, f32(a), f32(b)))
EXPECT(pack_e5m2, BOTH8(E5M2, f32(a), f32(b)))
EXPECT(pack_e4m3_relu, BOTH8(E4M3, relu(f32(a)), relu(f32(b))))
EXPECT(e4m3_of_h2, BOTH8(E4M3, h(a >> 16), h(a)))
EXPECT(e5m2_of_h2, BOTH8(E5M2, h(a >> 16), h(a)))
#define HALVES8(f)                                          \
    (ROUND(F16, small_double(&(f), (int)(a & 0xff)), 'n') | \
     ROUND(F16, small_double(&(f), (int)(a >> 8 & 0xff)), 'n') << 16)
EXPECT(h2_of_e4m3, HALVES8(E4M3))
EXPECT(h2_of_e5m2, HALVES8(E5M2))
EXPECT(pack_u8, (uint64_t)clamp(sx(b, 32), 0, 255) |
                    (uint64_t)clamp(sx(a, 32), 0, 255) << 8 | c << 16)
EXPECT(pack_s8, ((uint64_t)clamp(sx(b, 32), -128, 127) & 0xff) |
                    ((uint64_t)clamp(sx(a, 32), -128, 127) & 0xff) << 8 | c << 16)
EXPECT(pack_s16, ((uint64_t)clamp(sx(b, 32), -32768, 32767) & 0xffff) |
                     ((uint64_t)clamp(sx(a, 32), -32768, 32767) & 0xffff) << 16)
EXPECT(pack_u16,
       (uint64_t)clamp(sx(b, 32), 0, 65535) | (uint64_t)clamp(sx(a, 32), 0, 65535) << 16)

/* Floats whose size is that of integers, halves or fp8 numbers. */
static uint64_t mixed32(uint64_t r)
{
    uint64_t exponent = r >> 62 == 0 ? r >> 23 & 0xff : 127 - 20 + (r >> 40) % 56;
    return (r & 0x807fffff) | exponent << 23;
}
static uint64_t mixed64(uint64_t r)
{
    uint64_t exponent = r >> 62 == 0 ? r >> 52 & 0x7ff : 1023 - 30 + (r >> 20) % 100;
    r = r & 4 ? r & 0x800ffffff0000000u : r;
    return (r & 0x800fffffffffffffu) | exponent << 52;
}

#define RR "d=r a=r"
#define LR "d=l a=r"
#define RL "d=r a=l"
#define LL "d=l a=l"
#define RH "d=r a=h"
#define HR "d=h a=r"
#define HL "d=h a=l"
#define HH "d=h a=h"
#define LH "d=l a=h"
#define RRR "d=r a=r b=r"
#define HRR "d=h a=r b=r"
static const struct ops_case cases[] = {
    {"cvt.u32.u8 d, a;", RR, zext8, NULL},
    {"cvt.u8.u32 d, a;", RR, zext8, NULL},
    {"cvt.s8.s32 d, a;", RR, sext8, NULL},
    {"cvt.s8.u32 d, a;", RR, sext8, NULL},
    {"cvt.u8.s32 d, a;", RR, zext8, NULL},
    {"cvt.s32.s8 d, a;", RR, sext8, NULL},
    {"cvt.s16.s8 d, a;", HH, sext8, NULL},
    {"cvt.u16.u8 d, a;", HH, zext8, NULL},
    {"cvt.u8.u16 d, a;", HH, zext8, NULL},
    {"cvt.s64.s8 d, a;", LR, sext8, NULL},
    {"cvt.u64.u8 d, a;", LR, zext8, NULL},
    {"cvt.u8.u64 d, a;", RL, zext8, NULL},
    {"cvt.s8.s64 d, a;", LL, sext8, NULL},
    {"cvt.u32.u16 d, a;", RH, same, NULL},
    {"cvt.s32.s16 d, a;", RH, sext16, NULL},
    {"cvt.u16.u32 d, a;", HR, same, NULL},
    {"cvt.s16.u32 d, a;", RR, sext16, NULL},
    {"cvt.u16.s32 d, a;", RR, zext16, NULL},
    {"cvt.u16.u64 d, a;", HL, same, NULL},
    {"cvt.u64.u16 d, a;", LH, same, NULL},
    {"cvt.s64.s16 d, a;", LH, sext16, NULL},
    {"cvt.u64.u32 d, a;", LR, same, NULL},
    {"cvt.s64.s32 d, a;", LR, sext32, NULL},
    {"cvt.s64.u32 d, a;", LR, same, NULL},
    {"cvt.u64.s32 d, a;", LR, sext32, NULL},
    {"cvt.u32.u64 d, a;", RL, same, NULL},
    {"cvt.s32.u64 d, a;", RL, same, NULL},
    {"cvt.u32.u32 d, a;", LR, same, NULL},
    {"cvt.s32.s32 d, a;", LR, sext32, NULL},
    {"cvt.sat.u8.s32 d, a;", RR, sat_u8_s32, NULL},
    {"cvt.sat.s8.s32 d, a;", RR, sat_s8_s32, NULL},
    {"cvt.sat.u16.s32 d, a;", HR, sat_u16_s32, NULL},
    {"cvt.sat.s16.u32 d, a;", HR, sat_s16_u32, NULL},
    {"cvt.sat.u32.s64 d, a;", RL, sat_u32_s64, NULL},
    {"cvt.sat.s32.u64 d, a;", RL, sat_s32_u64, NULL},
    {"cvt.sat.s32.s64 d, a;", RL, sat_s32_s64, NULL},
    {"cvt.sat.u32.s32 d, a;", RR, sat_u32_s32, NULL},
    {"cvt.rni.s32.f32 d, a;", RR, rni_s32, mixed32},
    {"cvt.rzi.s32.f32 d, a;", RR, rzi_s32, mixed32},
    {"cvt.rmi.s32.f32 d, a;", RR, rmi_s32, mixed32},
    {"cvt.rpi.s32.f32 d, a;", RR, rpi_s32, mixed32},
    {"cvt.rpi.ftz.s32.f32 d, a;", RR, rpi_s32_ftz, mixed32},
    {"cvt.rmi.ftz.s32.f32 d, a;", RR, rmi_s32_ftz, mixed32},
    {"cvt.rzi.sat.s32.f32 d, a;", RR, rzi_s32, mixed32},
    {"cvt.rni.u32.f32 d, a;", RR, rni_u32, mixed32},
    {"cvt.rzi.u32.f32 d, a;", RR, rzi_u32, mixed32},
    {"cvt.rmi.u32.f32 d, a;", RR, rmi_u32, mixed32},
    {"cvt.rpi.u32.f32 d, a;", RR, rpi_u32, mixed32},
    {"cvt.rzi.s64.f32 d, a;", LR, rzi_s64, mixed32},
    {"cvt.rzi.u64.f32 d, a;", LR, rzi_u64, mixed32},
    {"cvt.rni.u16.f32 d, a;", HR, rni_u16, mixed32},
    {"cvt.rni.s16.f32 d, a;", HR, rni_s16, mixed32},
    {"cvt.rni.u8.f32 d, a;", RR, rni_u8, mixed32},
    {"cvt.rni.s8.f32 d, a;", RR, rni_s8, mixed32},
    {"cvt.rzi.s32.f64 d, a;", RL, rzi_s32_d, mixed64},
    {"cvt.rni.u32.f64 d, a;", RL, rni_u32_d, mixed64},
    {"cvt.rmi.s64.f64 d, a;", LL, rmi_s64_d, mixed64},
    {"cvt.rzi.u64.f64 d, a;", LL, rzi_u64_d, mixed64},
    {"cvt.rni.s16.f64 d, a;", HL, rni_s16_d, mixed64},
    {"cvt.rni.s32.f16 d, a;", RH, rni_s32_h, NULL},
    {"cvt.rzi.u16.f16 d, a;", HH, rzi_u16_h, NULL},
    {"cvt.rzi.s64.f16 d, a;", LH, rzi_s64_h, NULL},
    {"cvt.rzi.s32.bf16 d, a;", RH, rzi_s32_b, NULL},
    {"cvt.rn.f32.s32 d, a;", RR, s32_n, NULL},
    {"cvt.rz.f32.s32 d, a;", RR, s32_z, NULL},
    {"cvt.rm.f32.s32 d, a;", RR, s32_m, NULL},
    {"cvt.rp.f32.s32 d, a;", RR, s32_p, NULL},
    {"cvt.rn.f32.u32 d, a;", RR, u32_n, NULL},
    {"cvt.rp.f32.u32 d, a;", RR, u32_p, NULL},
    {"cvt.rn.f32.s64 d, a;", RL, s64_n, NULL},
    {"cvt.rz.f32.s64 d, a;", RL, s64_z, NULL},
    {"cvt.rn.f32.u64 d, a;", RL, u64_n, NULL},
    {"cvt.rm.f32.u64 d, a;", RL, u64_m, NULL},
    {"cvt.rn.f32.u16 d, a;", RH, u16_n, NULL},
    {"cvt.rn.f32.s8 d, a;", RR, s8_n, NULL},
    {"cvt.rn.f64.s32 d, a;", LR, s32_d, NULL},
    {"cvt.rn.f64.u32 d, a;", LR, u32_d, NULL},
    {"cvt.rn.f64.s64 d, a;", LL, s64_dn, NULL},
    {"cvt.rn.f64.u64 d, a;", LL, u64_dn, NULL},
    {"cvt.rz.f64.u64 d, a;", LL, u64_dz, NULL},
    {"cvt.rp.f64.s64 d, a;", LL, s64_dp, NULL},
    {"cvt.rn.f32.f64 d, a;", RL, d_f_n, mixed64},
    {"cvt.rz.f32.f64 d, a;", RL, d_f_z, mixed64},
    {"cvt.rm.f32.f64 d, a;", RL, d_f_m, mixed64},
    {"cvt.rp.f32.f64 d, a;", RL, d_f_p, mixed64},
    {"cvt.rn.ftz.f32.f64 d, a;", RL, d_f_ftz, mixed64},
    {"cvt.f64.f32 d, a;", LR, f_d, NULL},
    {"cvt.ftz.f64.f32 d, a;", LR, f_d_ftz, NULL},
    {"cvt.rni.f32.f32 d, a;", RR, f_rni, mixed32},
    {"cvt.rzi.f32.f32 d, a;", RR, f_rzi, mixed32},
    {"cvt.rmi.f32.f32 d, a;", RR, f_rmi, mixed32},
    {"cvt.rpi.f32.f32 d, a;", RR, f_rpi, mixed32},
    {"cvt.sat.f32.f32 d, a;", RR, f_sat, mixed32},
    {"cvt.ftz.sat.f32.f32 d, a;", RR, f_ftz_sat, mixed32},
    {"cvt.ftz.f32.f32 d, a;", RR, f_ftz, mixed32},
    {"cvt.rmi.f64.f64 d, a;", LL, d_rmi, mixed64},
    {"cvt.f32.f16 d, a;", RH, h_f, NULL},
    {"cvt.ftz.f32.f16 d, a;", RH, h_f, NULL},
    {"cvt.f32.bf16 d, a;", RH, b_f, NULL},
    {"cvt.f64.f16 d, a;", LH, h_d, NULL},
    {"cvt.rn.f16.f32 d, a;", HR, f_h, mixed32},
    {"cvt.rz.f16.f32 d, a;", HR, f_h_z, mixed32},
    {"cvt.rm.f16.f32 d, a;", HR, f_h_m, mixed32},
    {"cvt.rp.f16.f32 d, a;", HR, f_h_p, mixed32},
    {"cvt.rn.relu.f16.f32 d, a;", HR, f_h_relu, mixed32},
    {"cvt.rn.sat.f16.f32 d, a;", HR, f_h_sat, mixed32},
    {"cvt.rn.satfinite.f16.f32 d, a;", HR, f_h_finite, mixed32},
    {"cvt.rn.bf16.f32 d, a;", HR, f_b, NULL},
    {"cvt.rz.bf16.f32 d, a;", HR, f_b_z, NULL},
    {"cvt.rn.relu.bf16.f32 d, a;", HR, f_b_relu, NULL},
    {"cvt.rn.f16.f64 d, a;", HL, d_h, mixed64},
    {"cvt.rn.f16.s32 d, a;", HR, s32_h, NULL},
    {"cvt.rz.f16.u16 d, a;", HH, u16_h_z, NULL},
    {"cvt.rn.f16.u64 d, a;", HL, u64_h, NULL},
    {"cvt.rn.bf16.s64 d, a;", HL, s64_b, NULL},
    {"cvt.rn.bf16.s32 d, a;", HR, s32_b, NULL},
    {"cvt.rmi.f16.f16 d, a;", HH, h_rmi, NULL},
    {"cvt.rn.bf16.f16 d, a;", HH, h_b, NULL},
    {"cvt.rna.tf32.f32 d, a;", RR, tf32_a, mixed32},
    {"cvt.rn.tf32.f32 d, a;", RR, tf32_n, mixed32},
    {"cvt.rz.tf32.f32 d, a;", RR, tf32_z, mixed32},
    {"cvt.rn.relu.tf32.f32 d, a;", RR, tf32_relu, mixed32},
    {"cvt.rn.f16x2.f32 d, a, b;", RRR, pack_h, mixed32},
    {"cvt.rz.f16x2.f32 d, a, b;", RRR, pack_h_z, mixed32},
    {"cvt.rn.relu.f16x2.f32 d, a, b;", RRR, pack_h_relu, mixed32},
    {"cvt.rn.bf16x2.f32 d, a, b;", RRR, pack_b, mixed32},
    {"cvt.rz.bf16x2.f32 d, a, b;", RRR, pack_b_z, mixed32},
    {"cvt.rn.relu.bf16x2.f32 d, a, b;", RRR, pack_b_relu, mixed32},
    {"cvt.rn.satfinite.e4m3x2.f32 d, a, b;", HRR, pack_e4m3, mixed32},
    {"cvt.rn.satfinite.e5m2x2.f32 d, a, b;", HRR, pack_e5m2, mixed32},
    {"cvt.rn.satfinite.relu.e4m3x2.f32 d, a, b;", HRR, pack_e4m3_relu, mixed32},
    {"cvt.rn.satfinite.e4m3x2.f16x2 d, a;", HR, e4m3_of_h2, NULL},
    {"cvt.rn.satfinite.e5m2x2.f16x2 d, a;", HR, e5m2_of_h2, NULL},
    {"cvt.rn.f16x2.e4m3x2 d, a;", RH, h2_of_e4m3, NULL},
    {"cvt.rn.f16x2.e5m2x2 d, a;", RH, h2_of_e5m2, NULL},
    {"cvt.pack.sat.u8.s32.b32 d, a, b, c;", "d=r a=r b=r c=r", pack_u8, NULL},
    {"cvt.pack.sat.s8.s32.b32 d, a, b, c;", "d=r a=r b=r c=r", pack_s8, NULL},
    {"cvt.pack.sat.s16.s32 d, a, b;", RRR, pack_s16, NULL},
    {"cvt.pack.sat.u16.s32 d, a, b;", RRR, pack_u16, NULL},
};

Test(ops_convert, rounds_and_clamps_as_the_manual_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ops_check(&cases[i], 6000);
}

Test(ops_convert, avoids_the_faults_of_others)
{
    static const struct {
        const char *text, *registers;
        uint64_t a, want;
    } reports[] = {
        {"cvt.rni.u16.f32 d, a;", HR, 0x477fff80, 65535},
        {"cvt.sat.u32.s32 d, a;", RR, 0xffffffff, 0},
        {"cvt.rn.f16.f32 d, a;", HR, 0x477fefff, 0x7bff},
        {"cvt.rn.f16.f32 d, a;", HR, 0x477ff000, 0x7c00},
        {"cvt.rn.bf16.s32 d, a;", HR, 0x1010011, 0x4b81},
        {"cvt.rzi.s32.f32 d, a;", RR, 0x7fc00000, 0},
        {"cvt.rzi.s64.f32 d, a;", LR, 0x7fc00000, 0x8000000000000000},
    };
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        struct ops h;
        ops_open(&h, reports[i].text, reports[i].registers);
        ops_set(&h, 'a', 0, reports[i].a);
        ops_run(&h, 1);
        cr_expect_eq(ops_get(&h, 'd', 0), reports[i].want, "%s", reports[i].text);
        ops_close(&h);
    }
}

/* --- comparisons ------------------------------------------------------------------------ */

static int order_int(uint64_t a, uint64_t b, int bits)
{
    if (bits < 0)
        return sx(a, -bits) < sx(b, -bits) ? -1 : sx(a, -bits) > sx(b, -bits);
    return a < b ? -1 : a > b;
}
static int order_float(double a, double b)
{
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; /* 2: unordered */
}
static bool holds(const char *cmp, int order)
{
    bool unordered = order == 2, last_u = strlen(cmp) == 3 && cmp[2] == 'u';
    if (strcmp(cmp, "num") == 0)
        return !unordered;
    if (strcmp(cmp, "nan") == 0)
        return unordered;
    if (unordered)
        return last_u;
    return strncmp(cmp, "eq", 2) == 0                             ? order == 0
           : strncmp(cmp, "ne", 2) == 0                           ? order != 0
           : strncmp(cmp, "lt", 2) == 0 || strcmp(cmp, "lo") == 0 ? order < 0
           : strncmp(cmp, "le", 2) == 0 || strcmp(cmp, "ls") == 0 ? order <= 0
           : strncmp(cmp, "gt", 2) == 0 || strcmp(cmp, "hi") == 0 ? order > 0
                                                                  : order >= 0;
}

static const struct {
    const char *type;
    char kind, class;
    int bits;
} types[] = {
    {"u16", 'h', 'u', 16},  {"s16", 'h', 'i', -16}, {"u32", 'r', 'u', 32},
    {"s32", 'r', 'i', -32}, {"u64", 'l', 'u', 64},  {"s64", 'l', 'i', -64},
    {"b16", 'h', 'b', 16},  {"b32", 'r', 'b', 32},  {"b64", 'l', 'b', 64},
    {"f32", 'r', 'f', 32},  {"f64", 'l', 'f', 64},  {"f16", 'h', 'f', 16},
    {"bf16", 'h', 'f', 17},
};
static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                          "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                          "ltu", "leu", "gtu", "geu", "num", "nan"};

static int order_of(int type, uint64_t a, uint64_t b)
{
    if (types[type].class != 'f')
        return order_int(a, b, types[type].bits);
    return types[type].bits == 32   ? order_float(f32(a), f32(b))
           : types[type].bits == 64 ? order_float(f64(a), f64(b))
           : types[type].bits == 16 ? order_float(h(a), h(b))
                                    : order_float(bf(a), bf(b));
}
/* Does the manual have this comparison for this type? */
static bool exists(int cmp, char class)
{
    bool equality = cmp < 2, ordered = cmp < 6, unsigned_only = cmp >= 6 && cmp < 10;
    return class == 'b'   ? equality
           : class == 'i' ? ordered
           : class == 'u' ? ordered || unsigned_only
                          : !unsigned_only;
}

Test(ops_convert, compares_all_types_in_all_ways)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int cmp = 0; cmp < 18; cmp++) {
            char text[200], registers[60];
            struct ops o;
            /* a scalar half has no second predicate */
            bool one = types[t].kind == 'h' && types[t].class == 'f';
            const char *second = one ? "" : "|e", *fourth = one ? "" : "|g";
            snprintf(text, sizeof text,
                     "setp.%s.%s d%s, a, b; setp.%s.and.%s f%s, a, b, !p; "
                     "set.%s.xor.u32.%s h, a, b, p;",
                     comparisons[cmp], types[t].type, second, comparisons[cmp],
                     types[t].type, fourth, comparisons[cmp], types[t].type);
            snprintf(registers, sizeof registers, "d=p e=p f=p g=p p=p h=r a=%c b=%c",
                     types[t].kind, types[t].kind);
            if (!exists(cmp, types[t].class)) {
                cr_expect(!ops_try(&o, text, registers), "%s must be refused", text);
                ops_close(&o);
                continue;
            }
            ops_open(&o, text, registers);
            uint64_t mask = ops_width(types[t].kind);
            for (int i = 0; i < OPS_EDGES * OPS_EDGES; i += LANES) {
                for (int l = 0; l < LANES; l++) {
                    int at = (i + l) % (OPS_EDGES * OPS_EDGES);
                    ops_set(&o, 'a', l, ops_edges[at % OPS_EDGES]);
                    ops_set(&o, 'b', l, ops_edges[at / OPS_EDGES]);
                    ops_set(&o, 'p', l, (at >> 2) & 1);
                }
                ops_run(&o, FULL_MASK);
                for (int l = 0; l < LANES; l++) {
                    uint64_t a = ops_get(&o, 'a', l) & mask,
                             b = ops_get(&o, 'b', l) & mask;
                    bool p = ops_get(&o, 'p', l);
                    bool is = holds(comparisons[cmp], order_of((int)t, a, b));
                    cr_assert(ops_get(&o, 'd', l) == is &&
                                  (one || ops_get(&o, 'e', l) == !is) &&
                                  ops_get(&o, 'f', l) == (is && !p) &&
                                  (one || ops_get(&o, 'g', l) == (!is && !p)) &&
                                  ops_get(&o, 'h', l) == (is != p ? 0xffffffff : 0),
                              "%s a=%#llx b=%#llx", text, (unsigned long long)a,
                              (unsigned long long)b);
                }
            }
            ops_close(&o);
        }
}

Test(ops_convert, set_writes_the_one_of_its_type)
{
    static const struct {
        const char *text, *registers;
        uint64_t a, b, want;
    } sets[] = {
        {"set.lt.f32.s32 d, a, b;", RRR, 1, 2, 0x3f800000},
        {"set.lt.f32.s32 d, a, b;", RRR, 2, 1, 0},
        {"set.gt.s32.f32 d, a, b;", RRR, 0x40000000, 0x3f800000, 0xffffffff},
        {"set.eq.f16.f16 d, a, b;", "d=h a=h b=h", 0x3c00, 0x3c00, 0x3c00},
        {"set.eq.u16.f16 d, a, b;", "d=h a=h b=h", 0x8000, 0, 0xffff},
        {"set.lt.bf16.bf16 d, a, b;", "d=h a=h b=h", 0x3f80, 0x4000, 0x3f80},
        {"set.lt.f16x2.f16x2 d, a, b;", RRR, 0x3c004000, 0x40003c00, 0x3c000000},
        {"set.ge.ftz.f32.f32 d, a, b;", RRR, 1, 0x007fffff, 0x3f800000},
        {"set.ne.u32.u64 d, a, b;", "d=r a=l b=l", 0x100000000, 0, 0xffffffff},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct ops h;
        ops_open(&h, sets[i].text, sets[i].registers);
        ops_set(&h, 'a', 4, sets[i].a);
        ops_set(&h, 'b', 4, sets[i].b);
        ops_run(&h, FULL_MASK);
        cr_expect_eq(ops_get(&h, 'd', 4), sets[i].want, "%s", sets[i].text);
        ops_close(&h);
    }
}
