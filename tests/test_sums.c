/* test_sums.c - --tensor-sums hw: probes after Fasi et al. (PeerJ CS 7:e330) and Khattak
 * and Mikaitis (arXiv:2512.07004), whose results tell the cards apart. */
#include "tensor_fixture.h"

TestSuite(sums, .fini = close_device);

struct probe {
    const char *what;
    double c, product[16];
    double v100, a100, h100, ieee; /* sums; NAN = no such instruction, or not asked */
};

#define POWER(e) (1.0 / (double)(1 << -(e)))
#define FOUR(x)    \
    {              \
        x, x, x, x \
    }

static const struct probe probes[] = {
    {"bits below the last: one", 1, FOUR(POWER(-24)), 1, 1 + POWER(-22), 1 + POWER(-22),
     1},
    {"bits below the last: two", 1, FOUR(POWER(-25)), 1, 1, 1 + POWER(-23), 1},
    {"bits below the last: three", 1, FOUR(POWER(-26)), 1, 1, 1, 1},
    {"rounded towards zero",
     1,
     {1, 3 * POWER(-23)},
     2 + POWER(-22),
     2 + POWER(-22),
     2 + POWER(-22),
     2 + POWER(-21)},
    {"the same below zero",
     -1,
     {-1, -3 * POWER(-23)},
     -2 - POWER(-22),
     -2 - POWER(-22),
     -2 - POWER(-22),
     -2 - POWER(-21)},
    {"cut off before the sum", 1, {-1, POWER(-26)}, 0, 0, 0, POWER(-26)},
    {"sum inside four", 1, {-1, 0, 0, 0, POWER(-26)}, NAN, 0, 0, POWER(-26)},
    {"eight in a group",
     1,
     {-1, 0, 0, 0, 0, 0, 0, 0, POWER(-26)},
     NAN,
     POWER(-26),
     0,
     POWER(-26)},
};

static void open_card(int major, bool hw)
{
    static struct sim_spec spec;
    spec = card;
    spec.cc_major = major;
    sim_configure(&(struct sim_options){
        .spec = &spec, .spec_count = 1, .threads = 1, .hw_sums = hw});
    cu = sim_driver();
    cr_assert_eq(cu->init(0), CUDA_SUCCESS);
    cr_assert_eq(cu->context_retain(&context, 0), CUDA_SUCCESS);
    cr_assert_eq(cu->context_set(context), CUDA_SUCCESS);
}

/* Two halves at k: all rows of A, and all columns of B, are the same. */
static uint32_t factors(const struct probe *p, int k, bool b)
{
    uint32_t word = 0;
    for (int e = 0; e < 2; e++) {
        bool small = fabs(p->product[k + e]) < POWER(-10);
        double value =
            b ? (small ? POWER(-12) : 1) : p->product[k + e] * (small ? 4096 : 1);
        word |= nearest_half(value) << (16 * e);
    }
    return word;
}

static const char volta[] =
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
    "%f7}, {%r0, %r1}, {%r2, %r3}, {%f9, %f9, %f9, %f9, %f9, %f9, %f9, %f9};\n";
static const char ampere[] =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r0, "
    "%r1, %r1}, {%r2, %r3}, {%f9, %f9, %f9, %f9};\n";

/* The sum, which all lanes must have. */
static float run_probe(const struct probe *p, int major, bool hw)
{
    static struct text text;
    uint32_t in[5][32];
    float out[32] = {0}, c = (float)p->c;
    open_card(major, hw);
    for (int lane = 0; lane < 32; lane++) {
        int first = major == 7 ? 0 : 2 * (lane % 4), second = major == 7 ? 2 : first + 8;
        for (int b = 0; b < 2; b++) {
            in[2 * b][lane] = factors(p, first, b);
            in[2 * b + 1][lane] = factors(p, second, b);
        }
        memcpy(&in[4][lane], &c, 4);
    }
    begin(&text, 10 * major, 2);
    add(&text, "mad.wide.u32 %%rd100, %%r1000, 4, %%rd0;\n");
    for (int i = 0; i < 4; i++)
        add(&text, "ld.global.b32 %%r%d, [%%rd100+%d];\n", i, 128 * i);
    add(&text, "ld.global.f32 %%f9, [%%rd100+512];\n%s", major == 7 ? volta : ampere);
    add(&text, "mad.wide.u32 %%rd101, %%r1000, 4, %%rd1;\n"
               "st.global.f32 [%%rd101], %%f0;\n");
    struct buffer buffers[2] = {{.data = in, .bytes = sizeof in},
                                {.data = out, .bytes = sizeof out}};
    cr_assert_eq(finish(&text, 32, buffers, 2), CUDA_SUCCESS, "%s", sim_last_error());
    for (int lane = 1; lane < 32; lane++)
        cr_assert_eq(out[lane], out[0], "%s: lane %d has %a, lane 0 %a", p->what, lane,
                     (double)out[lane], (double)out[0]);
    return out[0];
}

static void expect(const struct probe *p, int major, bool hw, double want)
{
    if (isnan(want))
        return;
    double got = (double)run_probe(p, major, hw);
    cr_assert_eq(got, want, "%s, sm_%d0, %s: %a, not %a", p->what, major,
                 hw ? "hw" : "ieee", got, want);
}

Test(sums, probes_tell_cards_apart)
{
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        expect(&probes[i], 7, true, probes[i].v100);
        expect(&probes[i], 8, true, probes[i].a100);
        expect(&probes[i], 9, true, probes[i].h100);
    }
}

Test(sums, without_it_every_step_is_rounded)
{
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        for (int major = 8; major <= 9; major++)
            expect(&probes[i], major, false, probes[i].ieee);
}
