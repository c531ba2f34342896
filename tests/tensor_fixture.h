/* tensor_fixture.h - for tests of matrix and asynchronous instructions: build a program
 * of text, run it on one block, read its buffers; values of all small types.
 *
 * With PEAKBOUND_PTX_DIR set, every program is also written there, so that ptxas can be
 * asked about it. */
#ifndef PEAKBOUND_TESTS_TENSOR_FIXTURE_H
#define PEAKBOUND_TESTS_TENSOR_FIXTURE_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "driver_fixture.h"

/* The card of the driver's fixture, as compute capability 9.0; endless loops end. */
static inline void open_tensor_device(void)
{
    static struct sim_spec newer;
    newer = card;
    newer.cc_major = 9;
    sim_configure(&(struct sim_options){
        .spec = &newer, .spec_count = 1, .threads = 2, .step_limit = 10000000});
    cu = sim_driver();
    cr_assert_eq(cu->init(0), CUDA_SUCCESS);
    cr_assert_eq(cu->context_retain(&context, 0), CUDA_SUCCESS);
    cr_assert_eq(cu->context_set(context), CUDA_SUCCESS);
}

struct text {
    char data[40000];
    size_t used;
};

static inline __attribute__((format(printf, 2, 3))) void add(struct text *t,
                                                             const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(t->data + t->used, sizeof t->data - t->used, format, list);
    va_end(list);
    cr_assert(length >= 0 && t->used + (size_t)length < sizeof t->data);
    t->used += (size_t)length;
}

/* Header, entry `k` with `buffers` pointers in %rd0.. as global addresses, the lane's
 * number in %r1000 and registers %r, %f, %rd, %p, %h to use. */
static inline void begin(struct text *t, int sm, int buffers)
{
    t->used = 0;
    add(t, ".version %s\n.target sm_%d\n.address_size 64\n", sm >= 89 ? "8.7" : "7.8",
        sm);
    add(t, ".visible .entry k(");
    for (int i = 0; i < buffers; i++)
        add(t, "%s.param .u64 p%d", i > 0 ? ", " : "", i);
    add(t, ")\n{\n.reg .b32 %%r<1100>;\n.reg .f32 %%f<100>;\n.reg .b64 %%rd<200>;\n"
           ".reg .f64 %%d<100>;\n.reg .pred %%p<20>;\n"
           ".shared .align 128 .b8 area[16384];\n");
    for (int i = 0; i < buffers; i++)
        add(t, "ld.param.u64 %%rd%d, [p%d];\ncvta.to.global.u64 %%rd%d, %%rd%d;\n", i, i,
            i, i);
    add(t, "mov.u32 %%r1000, %%tid.x;\n");
}

/* {name0, name1, ...} */
static inline void list_registers(struct text *t, const char *name, int count)
{
    add(t, "{");
    for (int i = 0; i < count; i++)
        add(t, "%s%s%d", i > 0 ? ", " : "", name, i);
    add(t, "}");
}

static inline void keep_text(const struct text *t)
{
    static int count;
    const char *folder = getenv("PEAKBOUND_PTX_DIR");
    if (folder == NULL)
        return;
    char path[600];
    snprintf(path, sizeof path, "%s/t%d_%d.ptx", folder, (int)getpid(), count++);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fputs(t->data, file);
        fclose(file);
    }
}

struct buffer {
    void *data;
    size_t bytes;
    CUdeviceptr at;
};

/* End the text, load it, run one block of `threads`, copy the buffers back. */
static inline CUresult finish(struct text *t, unsigned threads, struct buffer *buffers,
                              int count)
{
    void *parameters[8];
    CUmodule module = NULL;
    CUfunction function = NULL;
    add(t, "ret;\n}\n");
    keep_text(t);
    CUresult result = cu->module_load(&module, t->data);
    if (result == CUDA_SUCCESS)
        result = cu->module_function(&function, module, "k");
    if (result != CUDA_SUCCESS)
        return result;
    for (int i = 0; i < count; i++) {
        buffers[i].at = allocate(buffers[i].bytes);
        GOOD(cu->copy_to_device(buffers[i].at, buffers[i].data, buffers[i].bytes));
        parameters[i] = &buffers[i].at;
    }
    result = launch(function, 1, threads, 0, parameters);
    if (result == CUDA_SUCCESS)
        result = cu->context_sync();
    for (int i = 0; i < count; i++) {
        if (result == CUDA_SUCCESS)
            GOOD(cu->copy_to_host(buffers[i].data, buffers[i].at, buffers[i].bytes));
        cu->memory_free(buffers[i].at);
    }
    cu->module_unload(module);
    return result;
}

static inline void expect_fault(CUresult result, enum sim_fault_kind kind)
{
    const struct sim_report *report = sim_last_report();
    cr_assert_neq(result, CUDA_SUCCESS, "no fault, %s expected", sim_fault_name(kind));
    cr_assert(report != NULL && report->fault_count > 0, "result %d, no fault: %s",
              (int)result, sim_last_error());
    cr_expect_eq(report->faults[0].kind, kind, "%s: %s, not %s",
                 sim_fault_name(report->faults[0].kind), report->faults[0].detail,
                 sim_fault_name(kind));
}

/* --- types ---------------------------------------------------------------------- */

struct number_type {
    const char *name;
    int bits, exponent, fraction, bias; /* floats; exponent 0: a whole number */
    bool is_signed;
};
static const struct number_type number_types[] = {
    {"f16", 16, 5, 10, 15, true},    {"bf16", 16, 8, 7, 127, true},
    {"tf32", 32, 8, 23, 127, true},  {"e4m3", 8, 4, 3, 7, true},
    {"e5m2", 8, 5, 2, 15, true},     {"f32", 32, 8, 23, 127, true},
    {"f64", 64, 11, 52, 1023, true}, {"s8", 8, 0, 0, 0, true},
    {"u8", 8, 0, 0, 0, false},       {"s4", 4, 0, 0, 0, true},
    {"u4", 4, 0, 0, 0, false},       {"b1", 1, 0, 0, 0, false},
    {"s32", 32, 0, 0, 0, true},
};

static inline const struct number_type *number_type(const char *name)
{
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++)
        if (strcmp(number_types[i].name, name) == 0)
            return &number_types[i];
    cr_assert_fail("no type %s", name);
    return NULL;
}

/* The value of a code, by the formats' definition. */
static inline double number_value(const struct number_type *t, uint64_t code)
{
    if (t->exponent == 0) {
        bool minus = t->is_signed && t->bits > 1 && code >> (t->bits - 1) & 1;
        return (double)code - (minus ? ldexp(1, t->bits) : 0);
    }
    if (strcmp(t->name, "tf32") == 0)
        code &= ~(uint64_t)0x1fff;
    uint64_t fraction = code & (((uint64_t)1 << t->fraction) - 1);
    int exponent = (int)(code >> t->fraction & (((uint64_t)1 << t->exponent) - 1));
    double sign = code >> (t->bits - 1) & 1 ? -1 : 1;
    if (exponent == 0)
        return sign * ldexp((double)fraction, 1 - t->bias - t->fraction);
    return sign * ldexp((double)fraction + ldexp(1, t->fraction),
                        exponent - t->bias - t->fraction);
}

static uint64_t random_state = 88172645463325252ull;
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 11;
}

/* A whole number to add to: any, or close to one of the ends. */
static inline uint64_t random_sum(uint64_t code)
{
    uint32_t small = (uint32_t)(code >> 8 & 0xff);
    switch (code % 3) {
    case 0:
        return 0x7fffffffu - small;
    case 1:
        return 0x80000000u + small;
    default:
        return code;
    }
}

/* A random code: a small whole number, or any value of moderate size. */
static inline uint64_t random_code(const struct number_type *t, bool whole)
{
    uint64_t code = random_bits() & (t->bits == 64 ? ~0ull : (1ull << t->bits) - 1);
    if (t->exponent == 0)
        return t->bits < 32 ? code : random_sum(code);
    uint64_t sign = code >> (t->bits - 1) << (t->bits - 1);
    if (whole) { /* -4 .. 4 */
        static const int exponents[5] = {0, 0, 1, 1, 2};
        unsigned v = (unsigned)(code % 5);
        if (v == 0)
            return sign;
        uint64_t fraction = v == 3 ? (uint64_t)1 << (t->fraction - 1) : 0;
        return sign | (uint64_t)(t->bias + exponents[v]) << t->fraction | fraction;
    }
    uint64_t exponent = (uint64_t)t->bias - 4 + random_bits() % 7;
    uint64_t mask = ((uint64_t)1 << t->fraction) - 1;
    return sign | exponent << t->fraction | (code & mask);
}

/* The nearest code of FP16, ties to even, for moderate values. */
static inline uint32_t nearest_half(double value)
{
    int exponent;
    double size = fabs(value);
    uint32_t sign = signbit(value) ? 0x8000u : 0;
    if (size == 0)
        return sign;
    frexp(size, &exponent);
    exponent = exponent - 1 < -14 ? -14 : exponent - 1;
    double units = nearbyint(ldexp(size, 10 - exponent));
    if (units >= 2048) {
        units /= 2;
        exponent++;
    }
    uint32_t code = units < 1024
                        ? (uint32_t)units
                        : ((uint32_t)(exponent + 15) << 10) + ((uint32_t)units - 1024);
    return sign | (code > 0x7c00u ? 0x7c00u : code);
}

#endif
