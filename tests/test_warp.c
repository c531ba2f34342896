/* test_warp.c - instructions in which lanes meet (shfl, vote, match, redux, elect,
 * bar.warp.sync), and atomics. */
#include "engine.h"

/* --- warp instructions ---------------------------------------------------------------- */

/* PTX ISA, shfl: the manual's own pseudocode */
static uint32_t shuffle_source(int kind, int lane, int b, int c, int *inside)
{
    int bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
    int most = (lane & mask) | (cval & ~mask), least = lane & mask, j = 0;
    switch (kind) {
    case 0:
        j = lane - bval;
        *inside = j >= most;
        break;
    case 1:
        j = lane + bval;
        *inside = j <= most;
        break;
    case 2:
        j = lane ^ bval;
        *inside = j <= most;
        break;
    default:
        j = least | (bval & ~mask);
        *inside = j <= most;
        break;
    }
    return (uint32_t)(*inside ? j : lane);
}

Test(warp, shuffles_of_all_modes_and_widths)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (int kind = 0; kind < 4; kind++)
        for (int width = 1; width <= 32; width *= 2)
            for (int b = 0; b < 32; b += 3) {
                int c = ((32 - width) << 8) | (kind == 0 ? 0 : 31);
                char body[400];
                snprintf(body, sizeof body,
                         "add.u32 %%r10, %%r0, 100;\n"
                         "shfl.sync.%s.b32 %%r11|%%p1, %%r10, %d, %d, -1;\n"
                         "selp.u32 %%r12, 1, 0, %%p1;\n"
                         "st.global.u32 [%%rd1], %%r11;\n"
                         "st.global.u32 [%%rd1+128], %%r12;\n",
                         modes[kind], b, c);
                const struct outcome *o = engine_good(&(struct program){.body = body});
                for (int l = 0; l < 32; l++) {
                    int inside;
                    uint32_t source = shuffle_source(kind, l, b, c, &inside);
                    cr_assert_eq(o->out[l], 100 + source, "%s %d width %d lane %d: %u",
                                 modes[kind], b, width, l, o->out[l]);
                    cr_assert_eq(o->out[32 + l], (uint32_t)inside);
                }
            }
}

/* even and odd lanes shuffle among themselves with masks of their own, converged and
 * in different branches */
Test(warp, groups_of_lanes_with_their_own_masks)
{
    static const char *const bodies[] = {"and.b32 %r10, %r0, 1;\n"
                                         "setp.eq.u32 %p1, %r10, 1;\n"
                                         "selp.b32 %r11, 0xaaaaaaaa, 0x55555555, %p1;\n"
                                         "redux.sync.add.u32 %r12, %r0, %r11;\n"
                                         "st.global.u32 [%rd1], %r12;\n",
                                         "and.b32 %r10, %r0, 1;\n"
                                         "setp.eq.u32 %p1, %r10, 1;\n"
                                         "@%p1 bra A;\n"
                                         "redux.sync.add.u32 %r12, %r0, 0x55555555;\n"
                                         "bra.uni B;\n"
                                         "A: redux.sync.add.u32 %r12, %r0, 0xaaaaaaaa;\n"
                                         "B: st.global.u32 [%rd1], %r12;\n"};
    for (int k = 0; k < 2; k++) {
        const struct outcome *o = engine_good(&(struct program){.body = bodies[k]});
        for (int l = 0; l < 32; l++)
            cr_assert_eq(o->out[l], l & 1 ? 256u : 240u, "case %d lane %d: %u", k, l,
                         o->out[l]);
    }
}

/* lanes that come late to a vote are waited for */
Test(warp, warp_instructions_wait_for_their_members)
{
    struct program p = {.body = "mov.u32 %r10, 0;\n"
                                "setp.lt.u32 %p1, %r0, 5;\n"
                                "@!%p1 bra V;\n"
                                "L: add.u32 %r10, %r10, 1;\n"
                                "setp.lt.u32 %p2, %r10, 20000;\n"
                                "@%p2 bra L;\n"
                                "V: setp.gt.u32 %p3, %r10, 0;\n"
                                "vote.sync.ballot.b32 %r11, %p3, -1;\n"
                                "st.global.u32 [%rd1], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++)
        cr_assert_eq(o->out[l], 0x1f, "lane %d: 0x%x", l, o->out[l]);
}

Test(warp, votes_matches_and_reductions)
{
    struct program p = {.target = "sm_90", /* for elect */
                        .body = "and.b32 %r10, %r0, 3;\n"
                                "setp.lt.u32 %p1, %r10, 3;\n"
                                "vote.sync.all.pred %p2, %p1, -1;\n"
                                "vote.sync.any.pred %p3, %p1, -1;\n"
                                "vote.sync.uni.pred %p4, %p1, -1;\n"
                                "vote.sync.ballot.b32 %r11, !%p1, -1;\n"
                                "match.any.sync.b32 %r12, %r10, -1;\n"
                                "cvt.u64.u32 %rd10, %r10;\n"
                                "shl.b64 %rd10, %rd10, 40;\n"
                                "match.any.sync.b64 %r13, %rd10, -1;\n"
                                "match.all.sync.b32 %r14|%p5, %r10, -1;\n"
                                "match.all.sync.b32 %r15|%p6, 9, -1;\n"
                                "neg.s32 %r16, %r0;\n"
                                "redux.sync.min.s32 %r17, %r16, -1;\n"
                                "redux.sync.max.s32 %r18, %r16, -1;\n"
                                "redux.sync.min.u32 %r19, %r16, -1;\n"
                                "redux.sync.max.u32 %r20, %r16, -1;\n"
                                "redux.sync.and.b32 %r21, %r16, -1;\n"
                                "redux.sync.or.b32 %r22, %r0, -1;\n"
                                "redux.sync.xor.b32 %r23, %r0, -1;\n"
                                "elect.sync %r24|%p7, -1;\n"
                                "selp.u32 %r30, 1, 0, %p2;\n"
                                "selp.u32 %r31, 2, 0, %p3;\n"
                                "selp.u32 %r32, 4, 0, %p4;\n"
                                "selp.u32 %r33, 8, 0, %p5;\n"
                                "selp.u32 %r34, 16, 0, %p6;\n"
                                "selp.u32 %r35, 32, 0, %p7;\n"
                                "add.u32 %r30, %r30, %r31;\n"
                                "add.u32 %r30, %r30, %r32;\n"
                                "add.u32 %r30, %r30, %r33;\n"
                                "add.u32 %r30, %r30, %r34;\n"
                                "add.u32 %r30, %r30, %r35;\n"
                                "st.global.u32 [%rd1], %r30;\n"
                                "st.global.u32 [%rd1+128], %r11;\n"
                                "st.global.u32 [%rd1+256], %r12;\n"
                                "st.global.u32 [%rd1+384], %r13;\n"
                                "st.global.u32 [%rd1+512], %r14;\n"
                                "st.global.u32 [%rd1+640], %r15;\n"
                                "st.global.u32 [%rd1+768], %r17;\n"
                                "st.global.u32 [%rd1+896], %r18;\n"
                                "st.global.u32 [%rd1+1024], %r19;\n"
                                "st.global.u32 [%rd1+1152], %r20;\n"
                                "st.global.u32 [%rd1+1280], %r21;\n"
                                "st.global.u32 [%rd1+1408], %r22;\n"
                                "st.global.u32 [%rd1+1536], %r23;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++) {
        uint32_t same = 0x11111111u << (l & 3);
        uint32_t want[] = {2u + 16u + (l == 0 ? 32u : 0u),
                           0x88888888u,
                           same,
                           same,
                           0,
                           0xffffffffu,
                           (uint32_t)-31,
                           0,
                           0,
                           (uint32_t)-1,
                           0,
                           31,
                           0};
        for (int k = 0; k < 13; k++)
            cr_assert_eq(o->out[32 * k + l], want[k], "result %d lane %d: 0x%x not 0x%x",
                         k, l, o->out[32 * k + l], want[k]);
    }
}

/* __syncwarp at two places of the program */
Test(warp, warp_barrier_in_both_branches)
{
    struct program p = {.body = "and.b32 %r10, %r0, 1;\n"
                                "setp.eq.u32 %p1, %r10, 1;\n"
                                "@%p1 bra A;\n"
                                "st.global.u32 [%rd1], %r0;\n"
                                "bar.warp.sync -1;\n"
                                "mov.u32 %r11, 3;\n"
                                "bra.uni B;\n"
                                "A: bar.warp.sync -1;\n"
                                "ld.global.u32 %r11, [%rd1+-4];\n"
                                "B: st.global.u32 [%rd1+128], %r11;\n"};
    const struct outcome *o = engine_good(&p);
    for (int l = 0; l < 32; l++)
        cr_assert_eq(o->out[32 + l], (uint32_t)(l & 1 ? l - 1 : 3), "lane %d", l);
}

/* --- atomics ---------------------------------------------------------------------------- */

struct atomic_case {
    const char *op;      /* "add.u32" */
    const char *operand; /* register or immediate */
    uint32_t start[2];   /* words before */
    uint32_t want[2];    /* after 20 blocks of 96 threads */
    bool wide;
};

static const struct atomic_case atomic_cases[] = {
    {"add.u32", "%r3", {5, 0}, {5 + 1919 * 960, 0}, false},
    {"add.s32", "-1", {5, 0}, {5u - 1920u, 0}, false},
    {"min.s32", "%r40", {7, 0}, {(uint32_t)-1919, 0}, false},
    {"max.s32", "%r40", {(uint32_t)-9999, 0}, {0, 0}, false},
    {"min.u32", "%r3", {7, 0}, {0, 0}, false},
    {"max.u32", "%r3", {7, 0}, {1919, 0}, false},
    {"inc.u32", "99", {0, 0}, {1920 % 100, 0}, false},
    {"dec.u32", "99", {0, 0}, {(100 - 1920 % 100) % 100, 0}, false},
    {"and.b32", "%r41", {0xffffffffu, 0}, {0xfffff800u, 0}, false},
    {"or.b32", "%r3", {0, 0}, {0x7ff, 0}, false},
    {"xor.b32", "%r3", {1, 0}, {1, 0}, false},
    {"add.f32", "0f3F800000", {0x3f000000, 0}, {0x44f01000, 0}, false},
    {"add.f64", "0d3FF0000000000000", {0, 0x3fe00000}, {0, 0x409e0200}, true},
    {"add.u64", "%rd30", {0, 0}, {1920, 1920}, true},
    {"min.s64", "-5", {0, 0}, {(uint32_t)-5, 0xffffffffu}, true},
    {"max.u64", "%rd30", {0, 0}, {1, 1}, true},
    {"or.b64", "%rd30", {0, 0}, {1, 1}, true},
    {"add.noftz.f16x2", "%r42", {0, 0}, {0x67806780, 0}, false},
};

Test(warp, atomics_from_many_blocks)
{
    static const char *const spaces[] = {"global.", "", "gpu.global.",
                                         "relaxed.gpu.global."};
    for (size_t k = 0; k < sizeof atomic_cases / sizeof *atomic_cases; k++)
        for (int form = 0; form < 8; form++) {
            const struct atomic_case *c = &atomic_cases[k];
            bool red = form & 1;
            char body[700];
            snprintf(body, sizeof body,
                     "neg.s32 %%r40, %%r3;\n"
                     "not.b32 %%r41, %%r3;\n"
                     "mov.b32 %%r42, 0x3c003c00;\n"
                     "mov.b64 %%rd30, 0x100000001;\n"
                     "setp.ge.u32 %%p1, %%r3, %%r4;\n"
                     "%s.%s%s%s [%%rd0], %s;\n",
                     red ? "red" : "atom", spaces[form / 2] + (form / 2 == 2 ? 4 : 0),
                     c->op,
                     red       ? ""
                     : c->wide ? " %rd31,"
                               : " %r50,",
                     c->operand);
            struct program p = {.body = body,
                                .grid = 20,
                                .block = 96,
                                .threads = 3,
                                .in = c->start,
                                .in_words = 2};
            const struct outcome *o = engine_good(&p);
            cr_assert(o->out[0] == c->want[0] && o->out[1] == c->want[1],
                      "%s: 0x%x 0x%x, not 0x%x 0x%x", body, o->out[0], o->out[1],
                      c->want[0], c->want[1]);
        }
}

/* each thread gets a number of its own, from global and from shared memory */
Test(warp, atomics_return_the_old_value)
{
    struct program p = {.globals = ".shared .align 4 .b32 s;\n",
                        .body = "setp.eq.u32 %p1, %r0, 0;\n"
                                "@%p1 st.shared.u32 [s], 0;\n"
                                "bar.sync 0;\n"
                                "atom.global.add.u32 %r10, [%rd0], 1;\n"
                                "atom.shared.inc.u32 %r11, [s], 1000;\n"
                                "mad.wide.u32 %rd10, %r10, 4, %rd0;\n"
                                "red.global.add.u32 [%rd10+4096], 1;\n"
                                "mad.wide.u32 %rd11, %r11, 4, %rd0;\n"
                                "red.global.add.u32 [%rd11+32768], 1;\n"
                                "atom.global.cas.b32 %r12, [%rd0+4], 0, 77;\n"
                                "atom.global.exch.b32 %r13, [%rd0+8], 5;\n"
                                "add.u32 %r14, %r12, %r13;\n"
                                "red.global.add.u32 [%rd0+12], %r14;\n",
                        .grid = 5,
                        .block = 200,
                        .threads = 2};
    const struct outcome *o = engine_good(&p);
    cr_assert_eq(o->out[0], 1000);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(o->out[1024 + i], 1, "number %d was given %u times", i,
                     o->out[1024 + i]);
    for (int i = 0; i < 200; i++)
        cr_assert_eq(o->out[8192 + i], 5, "shared number %d", i);
    cr_assert_eq(o->out[1], 77);
    cr_assert_eq(o->out[2], 5);
    cr_assert_eq(o->out[3], 999 * 77 + 999 * 5);
}
