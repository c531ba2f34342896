/* test_ops_logic.c - bits, shifts, permutation, moves, selection against plain C. */
#include "ops_harness.h"

#define EXPECT(name, expr)                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(expr);                             \
    }

/* --- references: one bit or one step at a time ------------------------------------- */

static uint64_t count_ones(uint64_t x)
{
    uint64_t n = 0;
    for (; x != 0; x >>= 1)
        n += x & 1;
    return n;
}
static uint64_t leading(uint64_t x, int bits)
{
    uint64_t n = 0;
    for (int i = bits - 1; i >= 0 && !(x >> i & 1); i--)
        n++;
    return n;
}
static uint64_t reverse(uint64_t x, int bits)
{
    uint64_t r = 0;
    for (int i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}
static uint64_t find(uint64_t x, int bits, bool is_signed, bool shift)
{
    uint64_t sign = is_signed ? x >> (bits - 1) & 1 : 0;
    for (int i = bits - 1; i >= 0; i--)
        if ((x >> i & 1) != sign)
            return (uint64_t)(shift ? bits - 1 - i : i);
    return UINT32_MAX;
}
/* The loop of the manual's bfe page. */
static uint64_t extract_field(uint64_t a, uint64_t b, uint64_t c, int bits,
                              bool is_signed)
{
    uint32_t pos = b & 0xff, len = c & 0xff, msb = (uint32_t)bits - 1;
    uint64_t sign = 0, d = 0;
    if (is_signed && len != 0)
        sign = a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
    for (uint32_t i = 0; i <= msb; i++)
        d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
    return d;
}
static uint64_t insert_field(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, int bits)
{
    pos &= 0xff;
    len &= 0xff;
    for (uint32_t i = 0; i < len && pos + i < (uint32_t)bits; i++)
        b = (b & ~((uint64_t)1 << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}
static uint64_t shift_left(uint64_t a, uint64_t b, int bits)
{
    for (uint64_t i = 0; i < b && i < (uint64_t)bits; i++)
        a <<= 1;
    return a;
}
static uint64_t shift_right(uint64_t a, uint64_t b, int bits, bool is_signed)
{
    uint64_t top = is_signed ? a & (uint64_t)1 << (bits - 1) : 0;
    for (uint64_t i = 0; i < b && i < (uint64_t)bits; i++)
        a = a >> 1 | top;
    return a;
}
static uint64_t funnel(uint64_t a, uint64_t b, uint64_t c, bool left, bool wrap)
{
    uint64_t both = b << 32 | a, n = wrap ? c & 31 : c > 32 ? 32 : c;
    for (uint64_t i = 0; i < n; i++)
        both = left ? both << 1 : both >> 1;
    return left ? both >> 32 : both & UINT32_MAX;
}
static uint64_t permute(uint64_t a, uint64_t b, uint64_t c)
{
    uint8_t bytes[8];
    uint64_t d = 0;
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(a >> (8 * i));
        bytes[i + 4] = (uint8_t)(b >> (8 * i));
    }
    for (int i = 0; i < 4; i++) {
        uint64_t nibble = c >> (4 * i) & 15;
        uint64_t byte = bytes[nibble & 7];
        d |= (nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * i);
    }
    return d;
}
static uint64_t permute_mode(uint64_t a, uint64_t b, uint64_t c, const char *const *rows)
{
    uint64_t selector = 0;
    for (int i = 0; i < 4; i++) /* rows are printed from byte 3 to byte 0 */
        selector |= (uint64_t)(rows[c & 3][3 - i] - '0') << (4 * i);
    return permute(a, b, selector);
}
/* Tables of the manual's prmt page. */
static const char *const f4e[] = {"3210", "4321", "5432", "6543"};
static const char *const b4e[] = {"5670", "6701", "7012", "0123"};
static const char *const rc8[] = {"0000", "1111", "2222", "3333"};
static const char *const ecl[] = {"3210", "3211", "3222", "3333"};
static const char *const ecr[] = {"0000", "1110", "2210", "3210"};
static const char *const rc16[] = {"1010", "3232", "1010", "3232"};

static uint64_t nth_set(uint64_t mask, uint64_t base, uint64_t offset)
{
    int64_t n = (int32_t)offset, at = (int64_t)base, step = n < 0 ? -1 : 1;
    if (n == 0)
        return at < 32 && mask >> at & 1 ? base : UINT32_MAX;
    n = n < 0 ? -n : n;
    for (; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --n == 0)
            return (uint64_t)at;
    return UINT32_MAX;
}
static uint64_t ones(uint64_t pos, uint64_t len, bool wrap)
{
    uint64_t d = 0;
    pos = wrap ? pos & 31 : pos;
    len = wrap ? len & 31 : len > 32 ? 32 : len;
    for (uint64_t i = 0; i < len && pos < 32 && pos + i < 32; i++)
        d |= (uint64_t)1 << (pos + i);
    return d;
}
static uint64_t extended(uint64_t a, uint64_t n, bool wrap, bool is_signed)
{
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    uint64_t fill = is_signed && n > 0 && a >> (n - 1) & 1 ? UINT64_MAX : 0;
    return n == 0 ? 0 : (a & (((uint64_t)1 << n) - 1)) | fill << n;
}
static float as_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

EXPECT(and_, a &b)
EXPECT(or_, a | b)
EXPECT(xor_, a ^ b)
EXPECT(not_, ~a)
EXPECT(cnot, a == 0)
EXPECT(popc, count_ones(a))
EXPECT(clz32, leading(a, 32))
EXPECT(clz64, leading(a, 64))
EXPECT(brev32, reverse(a, 32))
EXPECT(brev64, reverse(a, 64))
EXPECT(bfind_u32, find(a, 32, false, false))
EXPECT(bfind_s32, find(a, 32, true, false))
EXPECT(bfind_u64, find(a, 64, false, false))
EXPECT(bfind_s64, find(a, 64, true, false))
EXPECT(bfind_u32_s, find(a, 32, false, true))
EXPECT(bfind_s32_s, find(a, 32, true, true))
EXPECT(bfind_u64_s, find(a, 64, false, true))
EXPECT(bfind_s64_s, find(a, 64, true, true))
EXPECT(bfe_u32, extract_field(a, b, c, 32, false))
EXPECT(bfe_s32, extract_field(a, b, c, 32, true))
EXPECT(bfe_u64, extract_field(a, b, c, 64, false))
EXPECT(bfe_s64, extract_field(a, b, c, 64, true))
EXPECT(bfi32, insert_field(a, b, (uint32_t)c, 7, 32))
EXPECT(bfi64, insert_field(a, b, (uint32_t)c, 40, 64))
EXPECT(shl16, shift_left(a, b, 16))
EXPECT(shl32, shift_left(a, b, 32))
EXPECT(shl64, shift_left(a, b, 64))
EXPECT(shr_u16, shift_right(a, b, 16, false))
EXPECT(shr_s16, shift_right(a, b, 16, true))
EXPECT(shr_u32, shift_right(a, b, 32, false))
EXPECT(shr_s32, shift_right(a, b, 32, true))
EXPECT(shr_u64, shift_right(a, b, 64, false))
EXPECT(shr_s64, shift_right(a, b, 64, true))
EXPECT(shf_l_w, funnel(a, b, c, true, true))
EXPECT(shf_r_w, funnel(a, b, c, false, true))
EXPECT(shf_l_c, funnel(a, b, c, true, false))
EXPECT(shf_r_c, funnel(a, b, c, false, false))
EXPECT(prmt, permute(a, b, c))
EXPECT(prmt_f4e, permute_mode(a, b, c, f4e))
EXPECT(prmt_b4e, permute_mode(a, b, c, b4e))
EXPECT(prmt_rc8, permute_mode(a, b, c, rc8))
EXPECT(prmt_ecl, permute_mode(a, b, c, ecl))
EXPECT(prmt_ecr, permute_mode(a, b, c, ecr))
EXPECT(prmt_rc16, permute_mode(a, b, c, rc16))
EXPECT(fns, nth_set(a, b, c))
EXPECT(bmsk_c, ones(a, b, false))
EXPECT(bmsk_w, ones(a, b, true))
EXPECT(szext_cu, extended(a, b, false, false))
EXPECT(szext_cs, extended(a, b, false, true))
EXPECT(szext_wu, extended(a, b, true, false))
EXPECT(szext_ws, extended(a, b, true, true))
EXPECT(mov, a)
EXPECT(constant, 0xfffffffffffffff9u)
EXPECT(selp, c & 1 ? a : b)
EXPECT(slct_s, (int32_t)c >= 0 ? a : b)
EXPECT(slct_f, as_float(c) >= 0.0f ? a : b)
EXPECT(slct_ftz, as_float(c) >= 0.0f || (c & 0x7f800000) == 0 ? a : b)
EXPECT(pack_hh, (a & 0xffff) | b << 16)
EXPECT(pack_rr, (a & 0xffffffff) | b << 32)
EXPECT(pack_4h, a | b << 16 | c << 32 | 7ull << 48)
EXPECT(upper32, a >> 32)
EXPECT(upper16, a >> 16)
EXPECT(third16, a >> 32)
EXPECT(and_pred, a &b)
EXPECT(or_not, a | !b)
EXPECT(xor_pred, a ^ b)
EXPECT(not_pred, !a)
EXPECT(shared_in, a + SIM_SHARED_WINDOW)
EXPECT(local_out, a - SIM_LOCAL_WINDOW)

#define ONE16 "d=h a=h"
#define ONE32 "d=r a=r"
#define ONE64 "d=l a=l"
#define TWO16 "d=h a=h b=h"
#define TWO32 "d=r a=r b=r"
#define TWO64 "d=l a=l b=l"
#define SHIFT16 "d=h a=h b=r"
#define SHIFT64 "d=l a=l b=r"
#define MAD32 "d=r a=r b=r c=r"

static const struct ops_case cases[] = {
    {"and.b16 d, a, b;", TWO16, and_, NULL},
    {"and.b32 d, a, b;", TWO32, and_, NULL},
    {"and.b64 d, a, b;", TWO64, and_, NULL},
    {"or.b16 d, a, b;", TWO16, or_, NULL},
    {"or.b32 d, a, b;", TWO32, or_, NULL},
    {"or.b64 d, a, b;", TWO64, or_, NULL},
    {"xor.b16 d, a, b;", TWO16, xor_, NULL},
    {"xor.b32 d, a, b;", TWO32, xor_, NULL},
    {"xor.b64 d, a, b;", TWO64, xor_, NULL},
    {"not.b16 d, a;", ONE16, not_, NULL},
    {"not.b32 d, a;", ONE32, not_, NULL},
    {"not.b64 d, a;", ONE64, not_, NULL},
    {"cnot.b16 d, a;", ONE16, cnot, NULL},
    {"cnot.b32 d, a;", ONE32, cnot, NULL},
    {"cnot.b64 d, a;", ONE64, cnot, NULL},
    {"popc.b32 d, a;", ONE32, popc, NULL},
    {"popc.b64 d, a;", "d=r a=l", popc, NULL},
    {"clz.b32 d, a;", ONE32, clz32, NULL},
    {"clz.b64 d, a;", "d=r a=l", clz64, NULL},
    {"brev.b32 d, a;", ONE32, brev32, NULL},
    {"brev.b64 d, a;", ONE64, brev64, NULL},
    {"bfind.u32 d, a;", ONE32, bfind_u32, NULL},
    {"bfind.s32 d, a;", ONE32, bfind_s32, NULL},
    {"bfind.u64 d, a;", "d=r a=l", bfind_u64, NULL},
    {"bfind.s64 d, a;", "d=r a=l", bfind_s64, NULL},
    {"bfind.shiftamt.u32 d, a;", ONE32, bfind_u32_s, NULL},
    {"bfind.shiftamt.s32 d, a;", ONE32, bfind_s32_s, NULL},
    {"bfind.shiftamt.u64 d, a;", "d=r a=l", bfind_u64_s, NULL},
    {"bfind.shiftamt.s64 d, a;", "d=r a=l", bfind_s64_s, NULL},
    {"bfe.u32 d, a, b, c;", MAD32, bfe_u32, NULL},
    {"bfe.s32 d, a, b, c;", MAD32, bfe_s32, NULL},
    {"bfe.u64 d, a, b, c;", "d=l a=l b=r c=r", bfe_u64, NULL},
    {"bfe.s64 d, a, b, c;", "d=l a=l b=r c=r", bfe_s64, NULL},
    {"bfi.b32 d, a, b, c, 7;", MAD32, bfi32, NULL},
    {"bfi.b64 d, a, b, c, 40;", "d=l a=l b=l c=r", bfi64, NULL},
    {"shl.b16 d, a, b;", SHIFT16, shl16, NULL},
    {"shl.b32 d, a, b;", TWO32, shl32, NULL},
    {"shl.b64 d, a, b;", SHIFT64, shl64, NULL},
    {"shr.u16 d, a, b;", SHIFT16, shr_u16, NULL},
    {"shr.b16 d, a, b;", SHIFT16, shr_u16, NULL},
    {"shr.s16 d, a, b;", SHIFT16, shr_s16, NULL},
    {"shr.u32 d, a, b;", TWO32, shr_u32, NULL},
    {"shr.b32 d, a, b;", TWO32, shr_u32, NULL},
    {"shr.s32 d, a, b;", TWO32, shr_s32, NULL},
    {"shr.u64 d, a, b;", SHIFT64, shr_u64, NULL},
    {"shr.b64 d, a, b;", SHIFT64, shr_u64, NULL},
    {"shr.s64 d, a, b;", SHIFT64, shr_s64, NULL},
    {"shf.l.wrap.b32 d, a, b, c;", MAD32, shf_l_w, NULL},
    {"shf.r.wrap.b32 d, a, b, c;", MAD32, shf_r_w, NULL},
    {"shf.l.clamp.b32 d, a, b, c;", MAD32, shf_l_c, NULL},
    {"shf.r.clamp.b32 d, a, b, c;", MAD32, shf_r_c, NULL},
    {"prmt.b32 d, a, b, c;", MAD32, prmt, NULL},
    {"prmt.b32.f4e d, a, b, c;", MAD32, prmt_f4e, NULL},
    {"prmt.b32.b4e d, a, b, c;", MAD32, prmt_b4e, NULL},
    {"prmt.b32.rc8 d, a, b, c;", MAD32, prmt_rc8, NULL},
    {"prmt.b32.ecl d, a, b, c;", MAD32, prmt_ecl, NULL},
    {"prmt.b32.ecr d, a, b, c;", MAD32, prmt_ecr, NULL},
    {"prmt.b32.rc16 d, a, b, c;", MAD32, prmt_rc16, NULL},
    {"fns.b32 d, a, b, c;", MAD32, fns, NULL},
    {"bmsk.clamp.b32 d, a, b;", TWO32, bmsk_c, NULL},
    {"bmsk.wrap.b32 d, a, b;", TWO32, bmsk_w, NULL},
    {"szext.clamp.u32 d, a, b;", TWO32, szext_cu, NULL},
    {"szext.clamp.s32 d, a, b;", TWO32, szext_cs, NULL},
    {"szext.wrap.u32 d, a, b;", TWO32, szext_wu, NULL},
    {"szext.wrap.s32 d, a, b;", TWO32, szext_ws, NULL},
    {"mov.b16 d, a;", ONE16, mov, NULL},
    {"mov.f32 d, a;", ONE32, mov, NULL},
    {"mov.u64 d, a;", ONE64, mov, NULL},
    {"mov.u16 d, -7;", ONE16, constant, NULL},
    {"mov.s32 d, -7;", ONE32, constant, NULL},
    {"mov.s64 d, -7;", ONE64, constant, NULL},
    {"mov.pred d, a;", "d=p a=p", mov, NULL},
    {"mov.b32 d, {a, b};", "d=r a=h b=h", pack_hh, NULL},
    {"mov.b64 d, {a, b};", "d=l a=r b=r", pack_rr, NULL},
    {"mov.b64 d, {a, b, c, 7};", "d=l a=h b=h c=h", pack_4h, NULL},
    {"mov.b32 {e, d}, a;", "d=h a=r e=h", upper16, NULL},
    {"mov.b64 {e, d}, a;", "d=r a=l e=r", upper32, NULL},
    {"mov.b64 {_, d}, a;", "d=r a=l", upper32, NULL},
    {"mov.b64 {e, f, d, g}, a;", "d=h a=l e=h f=h g=h", third16, NULL},
    {"selp.b16 d, a, b, c;", "d=h a=h b=h c=p", selp, NULL},
    {"selp.f32 d, a, b, c;", "d=r a=r b=r c=p", selp, NULL},
    {"selp.u64 d, a, b, c;", "d=l a=l b=l c=p", selp, NULL},
    {"slct.u32.s32 d, a, b, c;", MAD32, slct_s, NULL},
    {"slct.b16.s32 d, a, b, c;", "d=h a=h b=h c=r", slct_s, NULL},
    {"slct.f64.s32 d, a, b, c;", "d=l a=l b=l c=r", slct_s, NULL},
    {"slct.b32.f32 d, a, b, c;", MAD32, slct_f, NULL},
    {"slct.ftz.b64.f32 d, a, b, c;", "d=l a=l b=l c=r", slct_ftz, NULL},
    {"and.pred d, a, b;", "d=p a=p b=p", and_pred, NULL},
    {"or.pred d, a, !b;", "d=p a=p b=p", or_not, NULL},
    {"xor.pred d, a, b;", "d=p a=p b=p", xor_pred, NULL},
    {"not.pred d, a;", "d=p a=p", not_pred, NULL},
    {"cvta.shared.u64 d, a;", ONE64, shared_in, NULL},
    {"cvta.to.local.u64 d, a;", ONE64, local_out, NULL},
    {"cvta.global.u64 d, a;", ONE64, mov, NULL},
    {"cvta.to.global.u64 d, a;", ONE64, mov, NULL},
};

Test(ops_logic, gives_what_the_manual_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ops_check(&cases[i], 4000);
}

static uint64_t lop(uint64_t a, uint64_t b, uint64_t c, int table)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++) {
        int index = (int)((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
        d |= (uint64_t)(table >> index & 1) << i;
    }
    return d;
}

Test(ops_logic, lop3_follows_every_table)
{
    uint64_t seed = 3;
    for (int table = 0; table < 256; table++) {
        char text[80];
        struct ops h;
        snprintf(text, sizeof text, "lop3.b32 d, a, b, c, %d;", table);
        ops_open(&h, text, MAD32);
        uint64_t a = ops_random(&seed) & UINT32_MAX, b = ops_random(&seed) & UINT32_MAX,
                 c = ops_random(&seed) & UINT32_MAX;
        ops_set(&h, 'a', 9, a);
        ops_set(&h, 'b', 9, b);
        ops_set(&h, 'c', 9, c);
        ops_run(&h, FULL_MASK);
        cr_expect_eq(ops_get(&h, 'd', 9), lop(a, b, c, table), "table %#x", table);
        ops_close(&h);
    }
}

Test(ops_logic, lop3_also_gives_a_predicate)
{
    static const char *const words[] = {"or", "and"};
    for (int k = 0; k < 2; k++) {
        char text[80];
        struct ops h;
        snprintf(text, sizeof text, "lop3.%s.b32 d|p, a, b, c, 0x96, q;", words[k]);
        ops_open(&h, text, "d=r a=r b=r c=r p=p q=p");
        for (int l = 0; l < LANES; l++) {
            ops_set(&h, 'a', l, l & 1 ? 5 : 0);
            ops_set(&h, 'b', l, 0);
            ops_set(&h, 'c', l, 0);
            ops_set(&h, 'q', l, l >> 1 & 1);
        }
        ops_run(&h, FULL_MASK);
        for (int l = 0; l < LANES; l++) {
            bool some = l & 1, q = l >> 1 & 1;
            cr_expect_eq(ops_get(&h, 'd', l), some ? 5u : 0u);
            cr_expect_eq(ops_get(&h, 'p', l), k == 0 ? some || q : some && q);
        }
        ops_close(&h);
    }
}

/* Figures from fault reports of other emulators. */
static const struct {
    const char *text;
    uint64_t a, want;
} reports[] = {
    {"bfind.shiftamt.u32 d, a;", 0, 0xffffffff},
    {"bfind.shiftamt.u32 d, a;", 0xffffffff, 0},
    {"bfind.shiftamt.u32 d, a;", 0x2cd1a4c1, 2},
    {"shr.s32 d, a, 77;", 0x80000000, 0xffffffff},
    {"shl.b32 d, a, 32;", 1, 0},
    {"bfe.u32 d, a, 32, 4;", 0xffffffff, 0},
    {"bfe.s32 d, a, 40, 4;", 0x80000000, 0xffffffff},
    {"bfe.s32 d, a, 0, 0;", 0x80000000, 0},
    {"bfe.s32 d, a, 255, 4;", 0x80000000, 0xffffffff},
    {"prmt.b32 d, a, 0, 0x9988;", 0x80ff, 0xffffffff},
};

Test(ops_logic, avoids_the_faults_of_others)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        struct ops h;
        ops_open(&h, reports[i].text, ONE32);
        ops_set(&h, 'a', 0, reports[i].a);
        ops_run(&h, 1);
        cr_expect_eq(ops_get(&h, 'd', 0), reports[i].want, "%s", reports[i].text);
        ops_close(&h);
    }
}

Test(ops_logic, guards_and_negated_predicates_hold_lanes_back)
{
    struct ops h;
    ops_open(&h, "@!p mov.b32 d, a; @q add.u32 e, a, 1; selp.b32 f, a, 0, p;",
             "d=r a=r e=r f=r p=p q=p");
    for (int l = 0; l < LANES; l++) {
        ops_set(&h, 'a', l, 100u + (uint64_t)l);
        ops_set(&h, 'd', l, 1);
        ops_set(&h, 'e', l, 2);
        ops_set(&h, 'p', l, l % 3 == 0);
        ops_set(&h, 'q', l, l % 2 == 0);
    }
    ops_run(&h, 0xffff);
    for (int l = 0; l < LANES; l++) {
        uint64_t a = 100u + (uint64_t)l;
        bool on = l < 16;
        cr_expect_eq(ops_get(&h, 'd', l), on && l % 3 != 0 ? a : 1);
        cr_expect_eq(ops_get(&h, 'e', l), on && l % 2 == 0 ? a + 1 : 2);
    }
    ops_close(&h);
}

Test(ops_logic, isspacep_agrees_with_cvta)
{
    static const char *const spaces[] = {"global", "shared", "local", "const"};
    for (int s = 0; s < 4; s++) {
        char text[120];
        struct ops h;
        snprintf(text, sizeof text, "isspacep.%s p, a;", spaces[s]);
        ops_open(&h, text, "p=p a=l");
        ops_set(&h, 'a', 0, SIM_GLOBAL_BASE);
        ops_set(&h, 'a', 1, SIM_SHARED_WINDOW);
        ops_set(&h, 'a', 2, SIM_SHARED_WINDOW + 0xffffffff);
        ops_set(&h, 'a', 3, SIM_LOCAL_WINDOW + 8);
        ops_set(&h, 'a', 4, SIM_SHARED_WINDOW - 1);
        ops_run(&h, FULL_MASK);
        static const int in[] = {0, 1, 1, 2, 0};
        for (int l = 0; l < 5; l++)
            cr_expect_eq(ops_get(&h, 'p', l), in[l] == s, "%s lane %d", spaces[s], l);
        ops_close(&h);
    }
}

Test(ops_logic, moves_16_byte_values)
{
    struct ops h;
    ops_open(&h, "mov.b128 q, {a, b}; mov.b128 r, q; mov.b128 {c, d}, r;",
             "a=l b=l c=l d=l q=q r=q");
    for (int l = 0; l < LANES; l++) {
        ops_set(&h, 'a', l, 3u * (uint64_t)l);
        ops_set(&h, 'b', l, ~(uint64_t)l);
    }
    ops_run(&h, FULL_MASK);
    for (int l = 0; l < LANES; l++) {
        cr_expect_eq(ops_get(&h, 'c', l), 3u * (uint64_t)l);
        cr_expect_eq(ops_get(&h, 'd', l), ~(uint64_t)l);
    }
    ops_close(&h);
}
