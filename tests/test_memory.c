/* test_memory.c - device memory: allocations, addresses, and loads and stores of every
 * width, space and vector size. */
#include "engine.h"

#include "../host/sim/memory.h"

/* --- allocations ------------------------------------------------------------------------ */

Test(memory, addresses_do_not_depend_on_the_host)
{
    uint64_t first[10];
    for (int round = 0; round < 2; round++) {
        struct device_memory *memory = memory_create(1 << 20);
        for (int i = 0; i < 10; i++) {
            uint64_t address = memory_allocate(memory, (uint64_t)i * 77 + 1, "x");
            cr_assert_eq(address % 256, 0, "allocation %d is aligned", i);
            if (round == 0)
                first[i] = address;
            cr_assert_eq(address, first[i], "allocation %d", i);
            if (i > 0)
                cr_assert_geq(address, first[i - 1] + (uint64_t)(i - 1) * 77 + 1 + 512,
                              "allocation %d keeps its distance", i);
        }
        memory_destroy(memory);
    }
}

Test(memory, finds_what_lies_inside_and_nothing_else)
{
    struct device_memory *memory = memory_create(1 << 20);
    uint64_t a[3];
    for (int i = 0; i < 3; i++)
        a[i] = memory_allocate(memory, 1000, "x");
    cr_assert_eq(memory_used(memory), 3000);
    for (int i = 0; i < 3; i++) {
        static const struct {
            int64_t offset;
            uint64_t bytes;
            bool inside;
        } cases[] = {{0, 1, true},     {0, 1000, true},  {999, 1, true},
                     {996, 4, true},   {997, 4, false},  {1000, 1, false},
                     {-1, 1, false},   {0, 1001, false}, {1, UINT64_MAX, false},
                     {500, 501, false}};
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct allocation *found =
                memory_find(memory, a[i] + (uint64_t)cases[k].offset, cases[k].bytes);
            cr_assert_eq(found != NULL, cases[k].inside, "allocation %d, offset %d", i,
                         (int)cases[k].offset);
            cr_assert(found == NULL || found->address == a[i]);
        }
    }
    cr_assert_eq(memory_nearest(memory, a[1] + 1001)->address, a[1]);
    cr_assert_eq(memory_nearest(memory, a[1] - 4)->address, a[1]);
    cr_assert_eq(memory_nearest(memory, 16)->address, a[0]);
    cr_assert_eq(memory_nearest(memory, UINT64_MAX)->address, a[2]);
    memory_destroy(memory);
}

Test(memory, releases_once_and_remembers)
{
    struct device_memory *memory = memory_create(4096);
    uint64_t a = memory_allocate(memory, 4096, "first");
    cr_assert_eq(memory_allocate(memory, 1, "too much"), 0);
    cr_assert_eq(memory_release(memory, a + 1), 1);
    cr_assert_eq(memory_release(memory, a), 0);
    cr_assert_eq(memory_release(memory, a), 2);
    cr_assert_eq(memory_release(memory, 12345), 1);
    cr_assert_null(memory_find(memory, a, 1));
    cr_assert(memory_nearest(memory, a)->freed);
    uint64_t b = memory_allocate(memory, 4096, "second");
    cr_assert(b > a, "an address is not given out again");
    memory_destroy(memory);
}

Test(memory, what_is_remembered_is_bounded)
{
    struct device_memory *memory = memory_create(1 << 20);
    uint64_t kept = memory_allocate(memory, 64, "kept");
    for (int i = 0; i < 5000; i++)
        cr_assert_eq(memory_release(memory, memory_allocate(memory, 64, "x")), 0);
    cr_assert_eq(memory_used(memory), 64);
    cr_assert_not_null(memory_find(memory, kept, 64));
    cr_assert_eq(memory_release(memory, kept), 0);
    memory_destroy(memory);
}

Test(memory, refuses_sizes_without_sense)
{
    struct device_memory *memory = memory_create(UINT64_MAX);
    cr_assert_eq(memory_allocate(memory, 0, "x"), 0);
    cr_assert_eq(memory_allocate(memory, UINT64_MAX, "x"), 0);
    cr_assert_eq(memory_allocate(memory, UINT64_MAX - 100, "x"), 0);
    memory_destroy(memory);
}

/* A big allocation costs only what is touched. */
Test(memory, untouched_pages_cost_nothing)
{
    struct device_memory *memory = memory_create((uint64_t)64 << 30);
    uint64_t address = memory_allocate(memory, (uint64_t)32 << 30, "big");
    cr_assert_neq(address, 0);
    struct allocation *a = memory_find(memory, address + ((uint64_t)31 << 30), 4);
    a->host[(uint64_t)31 << 30] = 1;
    memory_destroy(memory);
}

/* --- loads and stores --------------------------------------------------------------------- */

struct width_case {
    const char *type, *reg, *out; /* how to widen the register to 64 bits in %rd20 */
    uint64_t want;
};

/* The bytes f0 f1 f2 f3 f4 f5 f6 f7 in memory. */
static const struct width_case width_cases[] = {
    {"u8", "%r10", "cvt.u64.u32 %rd20, %r10;", 0xf0},
    {"s8", "%r10", "cvt.u64.u32 %rd20, %r10;", 0xfffffff0},
    {"u8", "%rd20", "", 0xf0},
    {"s8", "%rd20", "", 0xfffffffffffffff0},
    {"u8", "%h1", "cvt.u64.u16 %rd20, %h1;", 0xf0},
    {"s8", "%h1", "cvt.u64.u16 %rd20, %h1;", 0xfff0},
    {"b16", "%h1", "cvt.u64.u16 %rd20, %h1;", 0xf1f0},
    {"u16", "%r10", "cvt.u64.u32 %rd20, %r10;", 0xf1f0},
    {"s16", "%r10", "cvt.u64.u32 %rd20, %r10;", 0xfffff1f0},
    {"s16", "%rd20", "", 0xfffffffffffff1f0},
    {"u32", "%r10", "cvt.u64.u32 %rd20, %r10;", 0xf3f2f1f0},
    {"u32", "%rd20", "", 0xf3f2f1f0},
    {"s32", "%rd20", "", 0xfffffffff3f2f1f0},
    {"b64", "%rd20", "", 0xf7f6f5f4f3f2f1f0},
    {"f32", "%f1", "mov.b32 %r10, %f1;\ncvt.u64.u32 %rd20, %r10;", 0xf3f2f1f0},
    {"f64", "%fd1", "mov.b64 %rd20, %fd1;", 0xf7f6f5f4f3f2f1f0},
};

/* Each lane's address is base + lane * stride: 0 all the same, else one by one or apart;
 * `guard` switches lanes off. */
static void check_width(const struct width_case *c, int stride, const char *guard)
{
    char body[600];
    static uint32_t in[4096];
    for (int i = 0; i < 4096; i += 2) {
        in[i] = 0xf3f2f1f0;
        in[i + 1] = 0xf7f6f5f4;
    }
    snprintf(body, sizeof body,
             "mul.lo.u32 %%r11, %%r0, %d;\n"
             "cvt.u64.u32 %%rd10, %%r11;\n"
             "add.u64 %%rd10, %%rd10, %%rd0;\n"
             "setp.ne.u32 %%p1, %%r0, 3;\n"
             "mov.u64 %%rd20, 0;\nmov.u32 %%r10, 0;\nmov.u16 %%h1, 0;\n"
             "mov.f32 %%f1, 0f00000000;\nmov.f64 %%fd1, 0d0000000000000000;\n"
             "%s ld.global.%s %s, [%%rd10];\n%s\n"
             "mad.wide.u32 %%rd11, %%r0, 8, %%rd0;\n"
             "st.global.u64 [%%rd11+65536], %%rd20;\n",
             stride * 8, guard, c->type, c->reg, c->out);
    const struct outcome *o =
        engine_good(&(struct program){.body = body, .in = in, .in_words = 4096});
    for (int l = 0; l < 32; l++) {
        uint64_t got = o->out[16384 + 2 * l] | (uint64_t)o->out[16385 + 2 * l] << 32;
        uint64_t want = guard[0] != '\0' && l == 3 ? 0 : c->want;
        cr_assert_eq(got, want, "ld.%s into %s, stride %d, lane %d: 0x%llx, not 0x%llx",
                     c->type, c->reg, stride, l, (unsigned long long)got,
                     (unsigned long long)want);
    }
}

Test(memory, loads_of_all_widths_into_all_registers)
{
    for (size_t k = 0; k < sizeof width_cases / sizeof *width_cases; k++)
        for (int stride = 0; stride < 4; stride++) {
            check_width(&width_cases[k], stride, "");
            check_width(&width_cases[k], stride, "@%p1");
        }
}

/* Lane l stores l's bytes at base + l * stride; memory around stays as it was. */
Test(memory, stores_of_all_widths)
{
    static const struct {
        const char *type, *value;
        int bytes;
    } cases[] = {{"u8", "%r10", 1},  {"b16", "%h1", 2},   {"u16", "%r10", 2},
                 {"u32", "%r10", 4}, {"b64", "%rd20", 8}, {"u8", "%rd20", 1},
                 {"u32", "%rd20", 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int apart = 1; apart <= 3; apart++)
            for (int guarded = 0; guarded < 2; guarded++) {
                char body[500];
                snprintf(body, sizeof body,
                         "mul.lo.u32 %%r11, %%r0, %d;\n"
                         "cvt.u64.u32 %%rd10, %%r11;\n"
                         "add.u64 %%rd10, %%rd10, %%rd0;\n"
                         "mul.lo.u32 %%r10, %%r0, 0x01010101;\n"
                         "cvt.u16.u32 %%h1, %%r10;\n"
                         "mov.b64 %%rd20, {%%r10, %%r10};\n"
                         "setp.ne.u32 %%p1, %%r0, 5;\n"
                         "%s st.global.%s [%%rd10], %s;\n",
                         cases[k].bytes * apart, guarded ? "@%p1" : "", cases[k].type,
                         cases[k].value);
                const struct outcome *o = engine_good(&(struct program){.body = body});
                const unsigned char *bytes = (const unsigned char *)o->out;
                int step = cases[k].bytes * apart;
                for (int i = 0; i < 34 * step; i++) {
                    int lane = i / step;
                    bool written =
                        lane < 32 && i % step < cases[k].bytes && !(guarded && lane == 5);
                    cr_assert_eq(bytes[i], written ? lane : 0, "st.%s %s, byte %d: %d",
                                 cases[k].type, cases[k].value, i, bytes[i]);
                }
            }
}

/* Copy through vectors of every kind, from global to shared to global, and check that
 * each word comes where it belongs. */
Test(memory, vectors_keep_their_order)
{
    static const struct {
        const char *form, *list;
        int bytes;
    } cases[] = {{"v2.u32", "{%r10, %r11}", 8},
                 {"v4.u32", "{%r10, %r11, %r12, %r13}", 16},
                 {"v4.f32", "{%f1, %f2, %f3, %f4}", 16},
                 {"v2.f64", "{%fd1, %fd2}", 16},
                 {"v2.b64", "{%rd20, %rd21}", 16},
                 {"v2.u16", "{%h1, %h2}", 4},
                 {"v4.u16", "{%h1, %h2, %h3, %h4}", 8},
                 {"v4.u8", "{%r10, %r11, %r12, %r13}", 4}};
    static uint32_t in[1024];
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = i * 0x01234567u + 0x89abcdefu;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int apart = 1; apart <= 2; apart++) {
            char body[700];
            int step = cases[k].bytes * apart;
            snprintf(body, sizeof body,
                     "mul.lo.u32 %%r20, %%r0, %d;\n"
                     "cvt.u64.u32 %%rd10, %%r20;\n"
                     "add.u64 %%rd10, %%rd10, %%rd0;\n"
                     "mov.u32 %%r21, s;\n"
                     "add.u32 %%r20, %%r20, %%r21;\n"
                     "ld.global.nc.%s %s, [%%rd10];\n"
                     "st.shared.%s [%%r20], %s;\n"
                     "ld.shared.%s %s, [%%r20];\n"
                     "st.global.%s [%%rd10+65536], %s;\n",
                     step, cases[k].form, cases[k].list, cases[k].form, cases[k].list,
                     cases[k].form, cases[k].list, cases[k].form, cases[k].list);
            const struct outcome *o = engine_good(
                &(struct program){.body = body,
                                  .globals = ".shared .align 16 .b8 s[4096];\n",
                                  .in = in,
                                  .in_words = 1024});
            const unsigned char *bytes = (const unsigned char *)o->out;
            for (int i = 0; i < 32 * step; i++)
                cr_assert_eq(bytes[65536 + i], i % step < cases[k].bytes ? bytes[i] : 0,
                             "%s, %d apart, byte %d", cases[k].form, apart, i);
        }
}

/* Each lane has its own local memory, also where all use the same offset. */
Test(memory, local_memory_is_a_lanes_own)
{
    struct program p = {.body = ".local .align 8 .b8 a[256];\n"
                                "mov.u64 %rd10, a;\n"
                                "mad.lo.u32 %r10, %r0, 7, 1;\n"
                                "st.local.u32 [a+4], %r10;\n"
                                "and.b32 %r11, %r0, 31;\n"
                                "mad.wide.u32 %rd11, %r11, 4, %rd10;\n"
                                "st.local.u32 [%rd11+64], %r3;\n"
                                "cvta.local.u64 %rd12, %rd11;\n"
                                "ld.local.u32 %r12, [a+4];\n"
                                "ld.u32 %r13, [%rd12+64];\n"
                                "ld.local.u32 %r14, [a+8];\n"
                                "st.global.u32 [%rd1], %r12;\n"
                                "st.global.u32 [%rd1+2048], %r13;\n"
                                "st.global.u32 [%rd1+4096], %r14;\n",
                        .grid = 2,
                        .block = 96};
    const struct outcome *o = engine_good(&p);
    for (unsigned i = 0; i < 192; i++) {
        cr_assert_eq(o->out[i], i % 96 * 7 + 1, "thread %u: %u", i, o->out[i]);
        cr_assert_eq(o->out[512 + i], i, "thread %u: %u", i, o->out[512 + i]);
        cr_assert_eq(o->out[1024 + i], 0, "thread %u: %u", i, o->out[1024 + i]);
    }
}

/* Lanes of one generic load in three spaces. */
Test(memory, generic_addresses_mix_spaces)
{
    struct program p = {.globals = ".shared .align 4 .b32 s[32];\n"
                                   ".global .align 4 .b32 g[4] = {40, 41, 42, 43};\n"
                                   ".const .align 4 .b32 c[4] = {50, 51, 52, 53};\n",
                        .body = ".local .align 4 .b32 a[2];\n"
                                "setp.eq.u32 %p1, %r0, 0;\n"
                                "@%p1 st.shared.u32 [s+8], 30;\n"
                                "bar.sync 0;\n"
                                "add.u32 %r10, %r0, 100;\n"
                                "st.local.u32 [a+4], %r10;\n"
                                "mov.u64 %rd10, s;\ncvta.shared.u64 %rd10, %rd10;\n"
                                "mov.u64 %rd11, a;\ncvta.local.u64 %rd11, %rd11;\n"
                                "mov.u64 %rd12, g;\ncvta.global.u64 %rd12, %rd12;\n"
                                "mov.u64 %rd13, c;\ncvta.const.u64 %rd13, %rd13;\n"
                                "add.u64 %rd10, %rd10, 8;\nadd.u64 %rd11, %rd11, 4;\n"
                                "add.u64 %rd12, %rd12, 12;\nadd.u64 %rd13, %rd13, 4;\n"
                                "and.b32 %r11, %r0, 3;\n"
                                "setp.eq.u32 %p2, %r11, 1;\n"
                                "setp.eq.u32 %p3, %r11, 2;\n"
                                "setp.eq.u32 %p4, %r11, 3;\n"
                                "selp.b64 %rd10, %rd11, %rd10, %p2;\n"
                                "selp.b64 %rd10, %rd12, %rd10, %p3;\n"
                                "selp.b64 %rd10, %rd13, %rd10, %p4;\n"
                                "ld.u32 %r12, [%rd10];\n"
                                "ld.const.u32 %r13, [c+8];\n"
                                "st.global.u32 [%rd1], %r12;\n"
                                "st.global.u32 [%rd1+128], %r13;\n"};
    const struct outcome *o = engine_good(&p);
    for (unsigned l = 0; l < 32; l++) {
        const uint32_t want[] = {30, 100 + l, 43, 51};
        cr_assert_eq(o->out[l], want[l & 3], "lane %u: %u", l, o->out[l]);
        cr_assert_eq(o->out[32 + l], 52, "constant");
    }
}

/* A constant has its own cache: no request to global memory. */
Test(memory, constants_are_no_global_requests)
{
    struct program p = {.globals = ".const .align 4 .b32 c[4] = {50, 51, 52, 53};\n",
                        .body =
                            "ld.const.u32 %r10, [c+4];\nst.global.u32 [%rd1], %r10;\n"};
    const struct outcome *o = engine_good(&p);
    cr_assert_eq(o->out[7], 51);
    cr_assert_eq(o->counters.global_ld_requests, 0);
    cr_assert_eq(o->counters.global_st_requests, 1);
}

/* What nobody wrote is the same in every run, and no number that could pass. */
Test(memory, unwritten_shared_memory_is_no_number)
{
    struct program p = {.globals = ".shared .align 4 .b32 s[64];\n",
                        .body = "mov.u32 %r10, s;\n"
                                "mad.lo.u32 %r10, %r0, 4, %r10;\n"
                                "ld.shared.u32 %r11, [%r10];\n"
                                "st.shared.u32 [%r10], 0;\n"
                                "st.global.u32 [%rd1], %r11;\n",
                        .grid = 5,
                        .threads = 2};
    const struct outcome *o = engine_good(&p);
    for (int i = 0; i < 160; i++)
        cr_assert_eq(o->out[i], 0xffffffffu, "thread %d: 0x%x", i, o->out[i]);
}
