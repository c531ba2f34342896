/* ops_harness.h - run a few PTX instructions on a warp, without the engine.
 *
 * ops_open() wraps the text in a kernel whose registers have one-letter names, decodes
 * it, and finds each register's row through a leading `mov x, x`. The caller fills
 * rows, runs, reads rows:
 *
 *     struct ops h;
 *     ops_open(&h, "add.u32 d, a, b;", "d=r a=r b=r");
 *     ops_set(&h, 'a', lane, 7);
 *     ops_run(&h, FULL_MASK);
 *     ops_get(&h, 'd', lane);
 *
 * Register classes: h 16 bits, r 32, l 64, q 128, p predicate. With PEAKBOUND_PTX_DIR
 * set, every text is also written there, so that ptxas can be asked about it. */
#ifndef PEAKBOUND_TESTS_OPS_HARNESS_H
#define PEAKBOUND_TESTS_OPS_HARNESS_H

#include "../host/sim/ops.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ops {
    struct ptx_module *module;
    struct code *code;
    struct warp warp;
    void *slab;
    char kind[128];    /* class of the register with this name, 0 = none */
    uint32_t row[128]; /* its place */
    int markers;       /* leading ops that only name registers */
    struct error err;
};

static inline bool ops_no_symbol(void *context, const char *name, uint64_t *address)
{
    (void)context, (void)name;
    *address = 0;
    return false;
}

static inline const char *ops_bits(char kind)
{
    return kind == 'h'   ? "b16"
           : kind == 'r' ? "b32"
           : kind == 'l' ? "b64"
           : kind == 'q' ? "b128"
                         : "pred";
}

static inline void ops_write_text(const char *text)
{
    static int count;
    const char *folder = getenv("PEAKBOUND_PTX_DIR");
    if (folder == NULL)
        return;
    char path[600];
    snprintf(path, sizeof path, "%s/%d_%d.ptx", folder, (int)getpid(), count++);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

static inline void ops_close(struct ops *h)
{
    code_free(h->code);
    if (h->module != NULL)
        ptx_free(h->module);
    free(h->slab);
    memset(h, 0, sizeof *h);
}

/* Text that begins so is for sm_100, all other for sm_90. */
#define OPS_SM_100 "/* sm_100 */"

/* Wrap, parse, decode. False with h->err filled; the caller closes. */
static inline bool ops_try(struct ops *h, const char *body, const char *registers)
{
    char text[4096];
    bool new = strncmp(body, OPS_SM_100, sizeof OPS_SM_100 - 1) == 0;
    int used = snprintf(text, sizeof text,
                        ".version %s\n.target sm_%s\n.address_size 64\n"
                        ".visible .entry k()\n{\n",
                        new ? "8.8" : "8.3", new ? "100" : "90");
    memset(h, 0, sizeof *h);
    for (const char *r = registers; r[0] != '\0'; r += r[3] == ' ' ? 4 : 3) {
        h->kind[(int)r[0]] = r[2];
        used += snprintf(text + used, sizeof text - (size_t)used, "  .reg .%s %c;\n",
                         ops_bits(r[2]), r[0]);
    }
    for (const char *r = registers; r[0] != '\0'; r += r[3] == ' ' ? 4 : 3) {
        used += snprintf(text + used, sizeof text - (size_t)used, "  mov.%s %c, %c;\n",
                         ops_bits(r[2]), r[0], r[0]);
        h->markers++;
    }
    snprintf(text + used, sizeof text - (size_t)used, "  %s\n  ret;\n}\n", body);
    h->module = ptx_parse(text, strlen(text), "test.ptx", &h->err);
    if (h->module == NULL)
        return false;
    struct decode_env env = {
        .module = h->module, .symbol = ops_no_symbol, .device_cc = 90};
    h->code = code_decode(&env, h->module->functions[0], true, &h->err);
    if (h->code == NULL)
        return false;
    ops_write_text(text);
    int marker = 0;
    for (const char *r = registers; r[0] != '\0'; r += r[3] == ' ' ? 4 : 3)
        h->row[(int)r[0]] = h->code->ops[marker++].d;
    h->slab = aligned_alloc(64, h->code->frame_bytes + 64);
    memset(h->slab, 0xa5, h->code->frame_bytes);
    memcpy(h->slab, h->code->preset, h->code->preset_bytes);
    h->warp.rows = h->slab;
    h->warp.slab = h->slab;
    h->warp.code = h->code;
    return true;
}

static inline void ops_open(struct ops *h, const char *body, const char *registers)
{
    cr_assert(ops_try(h, body, registers), "`%s`: %s", body, h->err.text);
}

static inline void ops_set(struct ops *h, char name, int lane, uint64_t value)
{
    char kind = h->kind[(int)name];
    uint8_t *row = h->warp.rows + h->row[(int)name];
    if (kind == 'p') {
        uint32_t *word = pred(&h->warp, h->row[(int)name]);
        *word = (*word & ~((uint32_t)1 << lane)) | (uint32_t)(value & 1) << lane;
    } else if (kind == 'l') {
        memcpy(row + 8 * lane, &value, 8);
    } else if (kind == 'q') {
        memcpy(row + 16 * lane, &value, 8);
    } else {
        uint32_t word = (uint32_t)(kind == 'h' ? value & 0xffff : value);
        memcpy(row + 4 * lane, &word, 4);
    }
}

static inline uint64_t ops_get(const struct ops *h, char name, int lane)
{
    char kind = h->kind[(int)name];
    const uint8_t *row = h->warp.rows + h->row[(int)name];
    uint64_t value = 0;
    uint32_t word;
    if (kind == 'p')
        return *pred(&h->warp, h->row[(int)name]) >> lane & 1;
    if (kind == 'l' || kind == 'q') {
        memcpy(&value, row + (kind == 'q' ? 16 : 8) * lane, 8);
        return value;
    }
    memcpy(&word, row + 4 * lane, 4);
    return kind == 'h' ? word & 0xffff : word;
}

/* Run the text's straight-line code. */
static inline void ops_run(struct ops *h, uint32_t mask)
{
    for (uint32_t i = (uint32_t)h->markers; i < h->code->op_count; i++) {
        const struct op *op = &h->code->ops[i];
        uint32_t active = mask;
        if (op->kind != OP_PLAIN)
            break;
        if (op->guard != NO_GUARD) {
            uint32_t guard = *pred(&h->warp, op->guard);
            active &= op->guard_negated ? ~guard : guard;
        }
        h->warp.mask = active;
        h->warp.pc = i;
        if (active != 0)
            op->fn(&h->warp, op);
    }
}

/* --- values ------------------------------------------------------------------------ */

/* A counter through a fixed permutation of 64 bits: the same values in every run. */
static inline uint64_t ops_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Values at which integers, floats and doubles change their ways. */
static const uint64_t ops_edges[] = {
    0,
    1,
    2,
    3,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x3ff,
    0x400,
    0x3c00,
    0x7bff,
    0x7c00,
    0x7e00,
    0x7f80,
    0x7fff,
    0x8000,
    0x8001,
    0xfc00,
    0xffff,
    0x10000,
    0x7fffff,
    0x800000,
    0x33000000,
    0x33000001,
    0x38800000,
    0x3effffff,
    0x3f000000,
    0x3f800000,
    0x3f800001,
    0x3fc00000,
    0x40490fdb,
    0x477fe000,
    0x477fefff,
    0x477ff000,
    0x4b800000,
    0x4f000000,
    0x5f000000,
    0x7f7fffff,
    0x7f800000,
    0x7f800001,
    0x7fc00000,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0x807fffff,
    0x80800000,
    0xbf800000,
    0xc0000000,
    0xcf000000,
    0xff7fffff,
    0xff800000,
    0xffc00000,
    0xffff8000,
    0xfffffffe,
    0xffffffff,
    0x100000000,
    0x3800000000000000,
    0x36a0000000000000,
    0x3fe0000000000000,
    0x3ff0000000000000,
    0x3ff0000010000000,
    0x41dfffffffc00000,
    0x43e0000000000000,
    0x47efffffe0000000,
    0x47effffff0000000,
    0x7fefffffffffffff,
    0x7ff0000000000000,
    0x7ff8000000000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xbff0000000000000,
    0xfff0000000000000,
    0xffffffff00000000,
    0xffffffff80000000,
    0xffffffffffffffff,
};
enum { OPS_EDGES = sizeof ops_edges / sizeof *ops_edges };

/* One instruction against a function that says what must come out. */
struct ops_case {
    const char *text, *registers;
    uint64_t (*expect)(uint64_t a, uint64_t b, uint64_t c);
    uint64_t (*shape)(uint64_t random); /* makes operands of random bits, or NULL */
};

static inline uint64_t ops_width(char kind)
{
    return kind == 'h' ? 0xffff : kind == 'r' ? 0xffffffff : kind == 'p' ? 1 : UINT64_MAX;
}

/* Every pair of edges and `random` random triples; odd lanes are switched off in every
 * third run and must keep their value. */
static inline void ops_check(const struct ops_case *c, int random)
{
    struct ops h;
    ops_open(&h, c->text, c->registers);
    uint64_t seed = 1, in[3][LANES];
    int total = OPS_EDGES * OPS_EDGES + random, wrong = 0;
    for (int at = 0, run = 0; at < total && wrong < 4; at += LANES, run++) {
        uint32_t mask = run % 3 == 2 ? 0x55555555u : FULL_MASK;
        for (int l = 0; l < LANES; l++) {
            int i = at + l;
            bool edge = i < OPS_EDGES * OPS_EDGES;
            uint64_t third = ops_random(&seed);
            in[0][l] = edge ? ops_edges[i % OPS_EDGES] : ops_random(&seed);
            in[1][l] = edge ? ops_edges[i / OPS_EDGES] : ops_random(&seed);
            in[2][l] = third & 1 ? ops_edges[(third >> 1) % OPS_EDGES] : third >> 1;
            for (int k = edge ? 2 : 0; k < 3 && c->shape != NULL; k++)
                in[k][l] = k == 2 && (third & 1) ? in[k][l] : c->shape(in[k][l]);
            for (int k = 0; k < 3; k++) {
                in[k][l] &= ops_width(h.kind['a' + k]);
                if (h.kind['a' + k] != 0)
                    ops_set(&h, (char)('a' + k), l, in[k][l]);
            }
            ops_set(&h, 'd', l, 0x5a5a);
        }
        ops_run(&h, mask);
        for (int l = 0; l < LANES && wrong < 4; l++) {
            bool on = mask >> l & 1;
            uint64_t got = ops_get(&h, 'd', l);
            uint64_t want =
                on ? c->expect(in[0][l], in[1][l], in[2][l]) & ops_width(h.kind['d'])
                   : 0x5a5a & ops_width(h.kind['d']);
            wrong += got != want;
            cr_expect(got == want,
                      "`%s` a=%#llx b=%#llx c=%#llx lane %d%s: %#llx, want %#llx",
                      c->text, (unsigned long long)in[0][l], (unsigned long long)in[1][l],
                      (unsigned long long)in[2][l], l, on ? "" : " (off)",
                      (unsigned long long)got, (unsigned long long)want);
        }
    }
    ops_close(&h);
}

#endif
