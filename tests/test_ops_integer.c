/* test_ops_integer.c - integer arithmetic against plain C on 128-bit numbers. */
#include "ops_harness.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

#define EXPECT(name, expr)                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(expr);                             \
    }
#define S16(x) ((wide)(int16_t)(x))
#define S32(x) ((wide)(int32_t)(x))
#define S64(x) ((wide)(int64_t)(x))

static wide clamp(wide x, wide least, wide most)
{
    return x < least ? least : x > most ? most : x;
}
static wide distance(wide a, wide b)
{
    return a > b ? a - b : b - a;
}
static wide quotient(wide a, wide b, bool rem)
{
    return b == 0 ? (rem ? a : -1) : rem ? a % b : a / b;
}
static wide sign24(uint64_t x)
{
    return (wide)((x & 0xffffff) ^ 0x800000) - 0x800000;
}
static uint64_t halves(wide low, wide high)
{
    return ((uint64_t)low & 0xffff) | ((uint64_t)high & 0xffff) << 16;
}
static wide least(wide a, wide b)
{
    return a < b ? a : b;
}
static wide most(wide a, wide b)
{
    return a > b ? a : b;
}
static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, int parts, bool a_signed,
                    bool b_signed, int first)
{
    wide sum = (wide)c;
    for (int i = 0; i < parts; i++) {
        int bits = 32 / parts;
        wide x = (wide)(a >> (bits * i) & (((uint64_t)1 << bits) - 1));
        wide y = (wide)(b >> (8 * (i + first)) & 0xff);
        x -= a_signed && x >> (bits - 1) != 0 ? (wide)1 << bits : 0;
        y -= b_signed && y >= 128 ? 256 : 0;
        sum += x * y;
    }
    return (uint64_t)sum;
}

EXPECT(add, a + b)
EXPECT(sub, a - b)
EXPECT(neg, 0 - a)
EXPECT(add_sat, clamp(S32(a) + S32(b), INT32_MIN, INT32_MAX))
EXPECT(sub_sat, clamp(S32(a) - S32(b), INT32_MIN, INT32_MAX))
EXPECT(add_x2, halves((wide)(a + b), (wide)((a >> 16) + (b >> 16))))
EXPECT(mul_lo, a *b)
EXPECT(mul_hi_u16, a *b >> 16)
EXPECT(mul_hi_s16, S16(a) * S16(b) >> 16)
EXPECT(mul_hi_u32, a *b >> 32)
EXPECT(mul_hi_s32, S32(a) * S32(b) >> 32)
EXPECT(mul_hi_u64, (uwide)a *b >> 64)
EXPECT(mul_hi_s64, S64(a) * S64(b) >> 64)
EXPECT(mul_wide_s16, S16(a) * S16(b))
EXPECT(mul_wide_s32, S32(a) * S32(b))
EXPECT(mad_lo, a *b + c)
EXPECT(mad_hi_u16, (a * b >> 16) + c)
EXPECT(mad_hi_s16, (S16(a) * S16(b) >> 16) + c)
EXPECT(mad_hi_u32, (a * b >> 32) + c)
EXPECT(mad_hi_s32, (S32(a) * S32(b) >> 32) + c)
EXPECT(mad_hi_u64, ((uwide)a * b >> 64) + c)
EXPECT(mad_hi_s64, (S64(a) * S64(b) >> 64) + c)
EXPECT(mad_wide_s16, S16(a) * S16(b) + c)
EXPECT(mad_wide_s32, S32(a) * S32(b) + c)
EXPECT(mad_hi_sat, clamp((S32(a) * S32(b) >> 32) + S32(c), INT32_MIN, INT32_MAX))
EXPECT(mul24_lo_u, (a & 0xffffff) * (b & 0xffffff))
EXPECT(mul24_hi_u, (a & 0xffffff) * (b & 0xffffff) >> 16)
EXPECT(mul24_lo_s, sign24(a) * sign24(b))
EXPECT(mul24_hi_s, sign24(a) * sign24(b) >> 16)
EXPECT(mad24_lo_u, (a & 0xffffff) * (b & 0xffffff) + c)
EXPECT(mad24_hi_u, ((a & 0xffffff) * (b & 0xffffff) >> 16) + c)
EXPECT(mad24_lo_s, sign24(a) * sign24(b) + c)
EXPECT(mad24_hi_s, (sign24(a) * sign24(b) >> 16) + c)
EXPECT(mad24_sat, clamp((sign24(a) * sign24(b) >> 16) + S32(c), INT32_MIN, INT32_MAX))
EXPECT(abs_s16, S16(a) < 0 ? -S16(a) : S16(a))
EXPECT(abs_s32, S32(a) < 0 ? -S32(a) : S32(a))
EXPECT(abs_s64, S64(a) < 0 ? -S64(a) : S64(a))
EXPECT(min_u, least((wide)(uwide)a, (wide)(uwide)b))
EXPECT(max_u, most((wide)(uwide)a, (wide)(uwide)b))
EXPECT(min_s16, least(S16(a), S16(b)))
EXPECT(max_s16, most(S16(a), S16(b)))
EXPECT(min_s32, least(S32(a), S32(b)))
EXPECT(max_s32, most(S32(a), S32(b)))
EXPECT(min_s64, least(S64(a), S64(b)))
EXPECT(max_s64, most(S64(a), S64(b)))
EXPECT(min_relu, most(least(S32(a), S32(b)), 0))
EXPECT(max_relu, most(most(S32(a), S32(b)), 0))
EXPECT(min_u16x2, halves(least((wide)(a & 0xffff), (wide)(b & 0xffff)),
                         least((wide)(a >> 16), (wide)(b >> 16))))
EXPECT(max_u16x2, halves(most((wide)(a & 0xffff), (wide)(b & 0xffff)),
                         most((wide)(a >> 16), (wide)(b >> 16))))
EXPECT(min_s16x2, halves(least(S16(a), S16(b)), least(S16(a >> 16), S16(b >> 16))))
EXPECT(max_s16x2, halves(most(S16(a), S16(b)), most(S16(a >> 16), S16(b >> 16))))
EXPECT(min_s16x2_relu,
       halves(most(least(S16(a), S16(b)), 0), most(least(S16(a >> 16), S16(b >> 16)), 0)))
EXPECT(max_s16x2_relu,
       halves(most(most(S16(a), S16(b)), 0), most(most(S16(a >> 16), S16(b >> 16)), 0)))
EXPECT(div_u, b == 0 ? UINT64_MAX : a / b)
EXPECT(rem_u, b == 0 ? a : a % b)
EXPECT(div_s16, quotient(S16(a), S16(b), false))
EXPECT(rem_s16, quotient(S16(a), S16(b), true))
EXPECT(div_s32, quotient(S32(a), S32(b), false))
EXPECT(rem_s32, quotient(S32(a), S32(b), true))
EXPECT(div_s64, quotient(S64(a), S64(b), false))
EXPECT(rem_s64, quotient(S64(a), S64(b), true))
EXPECT(sad_u, (uwide)distance((wide)(uwide)a, (wide)(uwide)b) + c)
EXPECT(sad_s16, distance(S16(a), S16(b)) + (wide)c)
EXPECT(sad_s32, distance(S32(a), S32(b)) + (wide)c)
EXPECT(sad_s64, (uwide)distance(S64(a), S64(b)) + c)
EXPECT(dp4a_uu, dot(a, b, c, 4, false, false, 0))
EXPECT(dp4a_us, dot(a, b, c, 4, false, true, 0))
EXPECT(dp4a_su, dot(a, b, c, 4, true, false, 0))
EXPECT(dp4a_ss, dot(a, b, c, 4, true, true, 0))
EXPECT(dp2a_lo_uu, dot(a, b, c, 2, false, false, 0))
EXPECT(dp2a_lo_ss, dot(a, b, c, 2, true, true, 0))
EXPECT(dp2a_hi_us, dot(a, b, c, 2, false, true, 2))
EXPECT(dp2a_hi_su, dot(a, b, c, 2, true, false, 2))

#define ONE16 "d=h a=h"
#define ONE32 "d=r a=r"
#define ONE64 "d=l a=l"
#define TWO16 "d=h a=h b=h"
#define TWO32 "d=r a=r b=r"
#define TWO64 "d=l a=l b=l"
#define MAD16 "d=h a=h b=h c=h"
#define MAD32 "d=r a=r b=r c=r"
#define MAD64 "d=l a=l b=l c=l"

static const struct ops_case cases[] = {
    {"add.u16 d, a, b;", TWO16, add, NULL},
    {"add.s16 d, a, b;", TWO16, add, NULL},
    {"add.u32 d, a, b;", TWO32, add, NULL},
    {"add.s32 d, a, b;", TWO32, add, NULL},
    {"add.u64 d, a, b;", TWO64, add, NULL},
    {"add.s64 d, a, b;", TWO64, add, NULL},
    {"add.sat.s32 d, a, b;", TWO32, add_sat, NULL},
    {"add.u16x2 d, a, b;", TWO32, add_x2, NULL},
    {"add.s16x2 d, a, b;", TWO32, add_x2, NULL},
    {"sub.u16 d, a, b;", TWO16, sub, NULL},
    {"sub.s16 d, a, b;", TWO16, sub, NULL},
    {"sub.u32 d, a, b;", TWO32, sub, NULL},
    {"sub.s32 d, a, b;", TWO32, sub, NULL},
    {"sub.u64 d, a, b;", TWO64, sub, NULL},
    {"sub.s64 d, a, b;", TWO64, sub, NULL},
    {"sub.sat.s32 d, a, b;", TWO32, sub_sat, NULL},
    {"neg.s16 d, a;", ONE16, neg, NULL},
    {"neg.s32 d, a;", ONE32, neg, NULL},
    {"neg.s64 d, a;", ONE64, neg, NULL},
    {"abs.s16 d, a;", ONE16, abs_s16, NULL},
    {"abs.s32 d, a;", ONE32, abs_s32, NULL},
    {"abs.s64 d, a;", ONE64, abs_s64, NULL},
    {"mul.lo.u16 d, a, b;", TWO16, mul_lo, NULL},
    {"mul.lo.s16 d, a, b;", TWO16, mul_lo, NULL},
    {"mul.lo.u32 d, a, b;", TWO32, mul_lo, NULL},
    {"mul.lo.s32 d, a, b;", TWO32, mul_lo, NULL},
    {"mul.lo.u64 d, a, b;", TWO64, mul_lo, NULL},
    {"mul.lo.s64 d, a, b;", TWO64, mul_lo, NULL},
    {"mul.hi.u16 d, a, b;", TWO16, mul_hi_u16, NULL},
    {"mul.hi.s16 d, a, b;", TWO16, mul_hi_s16, NULL},
    {"mul.hi.u32 d, a, b;", TWO32, mul_hi_u32, NULL},
    {"mul.hi.s32 d, a, b;", TWO32, mul_hi_s32, NULL},
    {"mul.hi.u64 d, a, b;", TWO64, mul_hi_u64, NULL},
    {"mul.hi.s64 d, a, b;", TWO64, mul_hi_s64, NULL},
    {"mul.wide.u16 d, a, b;", "d=r a=h b=h", mul_lo, NULL},
    {"mul.wide.s16 d, a, b;", "d=r a=h b=h", mul_wide_s16, NULL},
    {"mul.wide.u32 d, a, b;", "d=l a=r b=r", mul_lo, NULL},
    {"mul.wide.s32 d, a, b;", "d=l a=r b=r", mul_wide_s32, NULL},
    {"mad.lo.u16 d, a, b, c;", MAD16, mad_lo, NULL},
    {"mad.lo.s16 d, a, b, c;", MAD16, mad_lo, NULL},
    {"mad.lo.u32 d, a, b, c;", MAD32, mad_lo, NULL},
    {"mad.lo.s32 d, a, b, c;", MAD32, mad_lo, NULL},
    {"mad.lo.u64 d, a, b, c;", MAD64, mad_lo, NULL},
    {"mad.lo.s64 d, a, b, c;", MAD64, mad_lo, NULL},
    {"mad.hi.u16 d, a, b, c;", MAD16, mad_hi_u16, NULL},
    {"mad.hi.s16 d, a, b, c;", MAD16, mad_hi_s16, NULL},
    {"mad.hi.u32 d, a, b, c;", MAD32, mad_hi_u32, NULL},
    {"mad.hi.s32 d, a, b, c;", MAD32, mad_hi_s32, NULL},
    {"mad.hi.u64 d, a, b, c;", MAD64, mad_hi_u64, NULL},
    {"mad.hi.s64 d, a, b, c;", MAD64, mad_hi_s64, NULL},
    {"mad.hi.sat.s32 d, a, b, c;", MAD32, mad_hi_sat, NULL},
    {"mad.wide.u16 d, a, b, c;", "d=r a=h b=h c=r", mad_lo, NULL},
    {"mad.wide.s16 d, a, b, c;", "d=r a=h b=h c=r", mad_wide_s16, NULL},
    {"mad.wide.u32 d, a, b, c;", "d=l a=r b=r c=l", mad_lo, NULL},
    {"mad.wide.s32 d, a, b, c;", "d=l a=r b=r c=l", mad_wide_s32, NULL},
    {"mul24.lo.u32 d, a, b;", TWO32, mul24_lo_u, NULL},
    {"mul24.lo.s32 d, a, b;", TWO32, mul24_lo_s, NULL},
    {"mul24.hi.u32 d, a, b;", TWO32, mul24_hi_u, NULL},
    {"mul24.hi.s32 d, a, b;", TWO32, mul24_hi_s, NULL},
    {"mad24.lo.u32 d, a, b, c;", MAD32, mad24_lo_u, NULL},
    {"mad24.lo.s32 d, a, b, c;", MAD32, mad24_lo_s, NULL},
    {"mad24.hi.u32 d, a, b, c;", MAD32, mad24_hi_u, NULL},
    {"mad24.hi.s32 d, a, b, c;", MAD32, mad24_hi_s, NULL},
    {"mad24.hi.sat.s32 d, a, b, c;", MAD32, mad24_sat, NULL},
    {"min.u16 d, a, b;", TWO16, min_u, NULL},
    {"min.s16 d, a, b;", TWO16, min_s16, NULL},
    {"min.u32 d, a, b;", TWO32, min_u, NULL},
    {"min.s32 d, a, b;", TWO32, min_s32, NULL},
    {"min.u64 d, a, b;", TWO64, min_u, NULL},
    {"min.s64 d, a, b;", TWO64, min_s64, NULL},
    {"max.u16 d, a, b;", TWO16, max_u, NULL},
    {"max.s16 d, a, b;", TWO16, max_s16, NULL},
    {"max.u32 d, a, b;", TWO32, max_u, NULL},
    {"max.s32 d, a, b;", TWO32, max_s32, NULL},
    {"max.u64 d, a, b;", TWO64, max_u, NULL},
    {"max.s64 d, a, b;", TWO64, max_s64, NULL},
    {"min.relu.s32 d, a, b;", TWO32, min_relu, NULL},
    {"max.relu.s32 d, a, b;", TWO32, max_relu, NULL},
    {"min.u16x2 d, a, b;", TWO32, min_u16x2, NULL},
    {"max.u16x2 d, a, b;", TWO32, max_u16x2, NULL},
    {"min.s16x2 d, a, b;", TWO32, min_s16x2, NULL},
    {"max.s16x2 d, a, b;", TWO32, max_s16x2, NULL},
    {"min.relu.s16x2 d, a, b;", TWO32, min_s16x2_relu, NULL},
    {"max.relu.s16x2 d, a, b;", TWO32, max_s16x2_relu, NULL},
    {"div.u16 d, a, b;", TWO16, div_u, NULL},
    {"div.s16 d, a, b;", TWO16, div_s16, NULL},
    {"div.u32 d, a, b;", TWO32, div_u, NULL},
    {"div.s32 d, a, b;", TWO32, div_s32, NULL},
    {"div.u64 d, a, b;", TWO64, div_u, NULL},
    {"div.s64 d, a, b;", TWO64, div_s64, NULL},
    {"rem.u16 d, a, b;", TWO16, rem_u, NULL},
    {"rem.s16 d, a, b;", TWO16, rem_s16, NULL},
    {"rem.u32 d, a, b;", TWO32, rem_u, NULL},
    {"rem.s32 d, a, b;", TWO32, rem_s32, NULL},
    {"rem.u64 d, a, b;", TWO64, rem_u, NULL},
    {"rem.s64 d, a, b;", TWO64, rem_s64, NULL},
    {"sad.u16 d, a, b, c;", MAD16, sad_u, NULL},
    {"sad.s16 d, a, b, c;", MAD16, sad_s16, NULL},
    {"sad.u32 d, a, b, c;", MAD32, sad_u, NULL},
    {"sad.s32 d, a, b, c;", MAD32, sad_s32, NULL},
    {"sad.u64 d, a, b, c;", MAD64, sad_u, NULL},
    {"sad.s64 d, a, b, c;", MAD64, sad_s64, NULL},
    {"dp4a.u32.u32 d, a, b, c;", MAD32, dp4a_uu, NULL},
    {"dp4a.u32.s32 d, a, b, c;", MAD32, dp4a_us, NULL},
    {"dp4a.s32.u32 d, a, b, c;", MAD32, dp4a_su, NULL},
    {"dp4a.s32.s32 d, a, b, c;", MAD32, dp4a_ss, NULL},
    {"dp2a.lo.u32.u32 d, a, b, c;", MAD32, dp2a_lo_uu, NULL},
    {"dp2a.lo.s32.s32 d, a, b, c;", MAD32, dp2a_lo_ss, NULL},
    {"dp2a.hi.u32.s32 d, a, b, c;", MAD32, dp2a_hi_us, NULL},
    {"dp2a.hi.s32.u32 d, a, b, c;", MAD32, dp2a_hi_su, NULL},
};

Test(ops_integer, gives_what_the_manual_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ops_check(&cases[i], 4000);
}

Test(ops_integer, sees_a_planted_fault)
{
    /* the checker must tell add from sub: here it is asked for the wrong one */
    struct ops h;
    ops_open(&h, "sub.u32 d, a, b;", TWO32);
    ops_set(&h, 'a', 3, 7);
    ops_set(&h, 'b', 3, 2);
    ops_run(&h, FULL_MASK);
    cr_assert(ops_get(&h, 'd', 3) != add(7, 2, 0));
    cr_assert_eq(ops_get(&h, 'd', 3), 5);
    ops_close(&h);
}

/* 128-bit sums out of 32-bit words, and out of 64-bit words: all four lanes of a carry. */
static const struct {
    const char *text, *registers;
    int word_bits, words;
    char op; /* + - * (a * b + c) */
} chains[] = {
    {"add.cc.u32 d, a, e; addc.cc.u32 f, b, g; addc.u32 h, c, i;",
     "d=r a=r e=r f=r b=r g=r h=r c=r i=r", 32, 3, '+'},
    {"sub.cc.s32 d, a, e; subc.cc.s32 f, b, g; subc.s32 h, c, i;",
     "d=r a=r e=r f=r b=r g=r h=r c=r i=r", 32, 3, '-'},
    {"add.cc.u64 d, a, e; addc.cc.s64 f, b, g; addc.u64 h, c, i;",
     "d=l a=l e=l f=l b=l g=l h=l c=l i=l", 64, 3, '+'},
    {"sub.cc.u64 d, a, e; subc.cc.u64 f, b, g; subc.s64 h, c, i;",
     "d=l a=l e=l f=l b=l g=l h=l c=l i=l", 64, 3, '-'},
};

static uint64_t pick(uint64_t *seed, uint64_t mask)
{
    uint64_t r = ops_random(seed);
    return (r % 4 == 0 ? mask : r % 4 == 1 ? 0 : ops_random(seed)) & mask;
}

Test(ops_integer, carries_through_words)
{
    for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
        struct ops h;
        ops_open(&h, chains[k].text, chains[k].registers);
        uint64_t seed = 5, mask = chains[k].word_bits == 64 ? UINT64_MAX : UINT32_MAX;
        for (int run = 0; run < 200; run++) {
            uint64_t x[3][LANES], y[3][LANES];
            for (int l = 0; l < LANES; l++)
                for (int i = 0; i < 3; i++) {
                    ops_set(&h, "abc"[i], l, x[i][l] = pick(&seed, mask));
                    ops_set(&h, "egi"[i], l, y[i][l] = pick(&seed, mask));
                }
            ops_run(&h, FULL_MASK);
            for (int l = 0; l < LANES; l++) {
                uint64_t carry = 0;
                for (int i = 0; i < 3; i++) {
                    wide sum = chains[k].op == '+'
                                   ? (wide)x[i][l] + (wide)y[i][l] + (wide)carry
                                   : (wide)x[i][l] - (wide)y[i][l] - (wide)carry;
                    carry = ((uwide)sum >> chains[k].word_bits) != 0;
                    cr_assert_eq(ops_get(&h, "dfh"[i], l), (uint64_t)sum & mask,
                                 "`%s` word %d", chains[k].text, i);
                }
            }
        }
        ops_close(&h);
    }
}

/* a * b + c in two words, by mad.lo.cc and madc.hi, as nvcc writes a 64-bit product. */
Test(ops_integer, multiplies_through_words)
{
    static const struct {
        const char *text, *registers;
        int bits;
        bool is_signed;
    } forms[] = {
        {"mad.lo.cc.u32 d, a, b, c; madc.hi.u32 f, a, b, e;", "d=r a=r b=r c=r f=r e=r",
         32, false},
        {"mad.lo.cc.s32 d, a, b, c; madc.hi.s32 f, a, b, e;", "d=r a=r b=r c=r f=r e=r",
         32, true},
        {"mad.lo.cc.u64 d, a, b, c; madc.hi.cc.u64 f, a, b, e;",
         "d=l a=l b=l c=l f=l e=l", 64, false},
        {"mad.lo.cc.s64 d, a, b, c; madc.hi.s64 f, a, b, e;", "d=l a=l b=l c=l f=l e=l",
         64, true},
    };
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct ops h;
        ops_open(&h, forms[k].text, forms[k].registers);
        uint64_t seed = 9, mask = forms[k].bits == 64 ? UINT64_MAX : UINT32_MAX;
        for (int run = 0; run < 3200; run++) {
            int l = run % LANES;
            uint64_t a = pick(&seed, mask), b = pick(&seed, mask), c = pick(&seed, mask),
                     e = pick(&seed, mask);
            ops_set(&h, 'a', l, a);
            ops_set(&h, 'b', l, b);
            ops_set(&h, 'c', l, c);
            ops_set(&h, 'e', l, e);
            ops_run(&h, FULL_MASK);
            uwide product = !forms[k].is_signed   ? (uwide)a * b
                            : forms[k].bits == 32 ? (uwide)(S32(a) * S32(b))
                                                  : (uwide)(S64(a) * S64(b));
            uwide sum = product + c + ((uwide)e << forms[k].bits);
            cr_assert_eq(ops_get(&h, 'd', l), (uint64_t)sum & mask, "`%s` low",
                         forms[k].text);
            cr_assert_eq(ops_get(&h, 'f', l), (uint64_t)(sum >> forms[k].bits) & mask,
                         "`%s` high", forms[k].text);
        }
        ops_close(&h);
    }
}
