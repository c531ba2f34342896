/* mma_run.h - executors of wmma.mma and mma.sync: fragments to tiles, product, back.
 * Included by ops_tensor.c alone, which decodes them and says how sums are rounded. */
#ifndef PEAKBOUND_SIM_MMA_RUN_H
#define PEAKBOUND_SIM_MMA_RUN_H

#include "fragment.h"
#include "matrix_warp.h"
#include "mma_sums.h"
#include "mma_tiles.h"

struct mma_op {
    int m, n, k;
    enum ptx_type a, b, c, d;
    int a_regs, b_regs, c_regs, d_regs; /* registers in the instruction */
    bool satfinite, and_popc;
    bool a_col, b_row;  /* m8n8k4 with FP16 only: the others are row times col */
    int sparse;         /* 0 dense; else values of A in a chunk of metadata */
    int selector;       /* sparse: which lanes of a quad give the metadata */
    uint32_t *metadata; /* sparse: its row */
};

static int element_bits(enum ptx_type type)
{
    return type == PTX_TF32 ? 32 : ptx_type_bits(type);
}

static int packed_k(const struct mma_op *o)
{
    return o->sparse ? o->k / 2 : o->k;
}

/* --- sparse A ------------------------------------------------------------------------ */

/* The four bits that say where the values of chunk `chunk` of row `row` go (PTX ISA
 * 9.0, 9.7.14.6). 16- and 32-bit types: a lane's word has 4 chunks of row g below and
 * of row g + 8 above; 8- and 4-bit types: 8 chunks of one row. `first`: the first of
 * the quad's lanes that the selector names. */
static uint32_t chunk_bits(const uint32_t *metadata, bool wide, int first, int row,
                           int chunk)
{
    const uint32_t *quad = metadata + 4 * (row % 8) + first;
    return wide ? quad[chunk / 4] >> (16 * (row / 8) + 4 * (chunk % 4)) & 0xf
                : quad[2 * (chunk / 8) + row / 8] >> (4 * (chunk % 8)) & 0xf;
}

/* The values of one chunk to their places: of two TF32 (0b0100 the first, 0b1110 the
 * second), of four, or pairs of INT4 of eight. */
static void spread_chunk(int values, uint32_t bits, const uint32_t *from, uint32_t *to)
{
    if (values == 1) {
        to[bits >> 1 & 1] = from[0];
        return;
    }
    int each = values / 2;
    memcpy(to + each * (int)(bits & 3), from, (size_t)each * 4);
    memcpy(to + each * (int)(bits >> 2), from + each, (size_t)each * 4);
}

/* a[m][k / 2] -> out[m][k]; elements of 32 bits. */
static void spread_sparse(const struct warp *w, const struct mma_op *o, const void *a,
                          void *out)
{
    const uint32_t *metadata = row32(w, *o->metadata), *from = a;
    uint32_t *to = out;
    bool wide = element_bits(o->a) >= 16;
    int lanes = o->k * element_bits(o->a) / (wide ? 256 : 128);
    int chunks = o->k / 2 / o->sparse;
    memset(out, 0, (size_t)(o->m * o->k) * 4);
    for (int row = 0; row < o->m; row++)
        for (int c = 0; c < chunks; c++) {
            uint32_t bits = chunk_bits(metadata, wide, lanes * o->selector, row, c);
            spread_chunk(o->sparse, bits, from, to);
            from += o->sparse;
            to += 2 * o->sparse;
        }
}

/* --- floats ------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) void
load_float_a(const struct warp *w, const uint32_t *rows, const struct mma_op *o,
             enum ptx_type type, float *a)
{
    int wide = 4 * (32 / element_bits(type)), k = packed_k(o), blocks = o->m / BLOCK;
    for (int i = 0; i < blocks * k / wide; i++)
        register_to_floats(row32(w, rows[i]), type,
                           a + i % blocks * BLOCK * k + i / blocks * wide, k);
}

static inline __attribute__((always_inline)) void
load_float_b(const struct warp *w, const uint32_t *rows, const struct mma_op *o,
             enum ptx_type type, float *b)
{
    int wide = 4 * (32 / element_bits(type)), blocks = o->n / BLOCK;
    float block[BLOCK * 16];
    for (int i = 0; i < blocks * o->k / wide; i++) {
        float *to = b + i / blocks * wide * o->n + i % blocks * BLOCK;
        register_to_floats(row32(w, rows[i]), type, block, wide);
        for (int k = 0; k < wide; k++)
            for (int n = 0; n < BLOCK; n++)
                to[k * o->n + column_slot(n)] = block[n * wide + k];
    }
}

/* One copy for each type, so that the element loops have fixed lengths. */
static void load_float_ab(const struct warp *w, const struct op *op,
                          const struct mma_op *o, struct float_tiles *t, float *a)
{
    const uint32_t *a_rows = op->list + o->d_regs, *b_rows = a_rows + o->a_regs;
    switch (o->a) {
    case PTX_F16:
        load_float_a(w, a_rows, o, PTX_F16, a);
        load_float_b(w, b_rows, o, PTX_F16, t->b);
        break;
    case PTX_BF16:
        load_float_a(w, a_rows, o, PTX_BF16, a);
        load_float_b(w, b_rows, o, PTX_BF16, t->b);
        break;
    case PTX_TF32:
        load_float_a(w, a_rows, o, PTX_TF32, a);
        load_float_b(w, b_rows, o, PTX_TF32, t->b);
        break;
    default: /* FP8: the two may differ */
        if (o->a == PTX_E4M3)
            load_float_a(w, a_rows, o, PTX_E4M3, a);
        else
            load_float_a(w, a_rows, o, PTX_E5M2, a);
        if (o->b == PTX_E4M3)
            load_float_b(w, b_rows, o, PTX_E4M3, t->b);
        else
            load_float_b(w, b_rows, o, PTX_E5M2, t->b);
        break;
    }
}

/* Block p of a sum: its place in the tile. */
static float *sum_block(const struct mma_op *o, float *c, int p)
{
    int blocks = o->m / BLOCK;
    return c + p % blocks * BLOCK * o->n + p / blocks * BLOCK;
}

static void load_float_c(const struct warp *w, const struct op *op,
                         const struct mma_op *o, float *c)
{
    const uint32_t *rows = op->list + o->d_regs + o->a_regs + o->b_regs;
    for (int p = 0; p < o->m * o->n / 64; p++) {
        if (o->c == PTX_F32) {
            columns_to_block(row32(w, rows[2 * p]), row32(w, rows[2 * p + 1]),
                             sum_block(o, c, p), o->n);
            continue;
        }
        words_to_block(row32(w, rows[p]), sum_block(o, c, p), o->n);
    }
}

static void store_float_d(const struct warp *w, const struct op *op,
                          const struct mma_op *o, float *c)
{
    for (int p = 0; p < o->m * o->n / 64; p++) {
        const float *block = sum_block(o, c, p);
        uint32_t even[LANES], odd[LANES];
        if (o->d == PTX_F16) {
            block_to_words(block, o->n, row32(w, op->list[p]));
            continue;
        }
        block_to_columns(block, o->n, even, odd);
        uint32_t *d_even = row32(w, op->list[2 * p]);
        uint32_t *d_odd = row32(w, op->list[2 * p + 1]);
        for (int l = 0; l < LANES; l++)
            d_even[l] = canon_f32(bits_to_f32(even[l]));
        for (int l = 0; l < LANES; l++)
            d_odd[l] = canon_f32(bits_to_f32(odd[l]));
    }
}

/* t->c += t->a * t->b, strip by strip. */
static void multiply_tiles(const struct warp *w, const struct mma_op *o,
                           struct float_tiles *t)
{
    const struct launch *launch = w->block->launch;
    struct sum_rule rule = sum_rule(launch->spec, o->a, o->b, o->d == PTX_F16);
    bool exact = o->a != PTX_BF16 && o->a != PTX_TF32;
    for (int row = 0; row < o->m; row += BLOCK)
        for (int col = 0; col < o->n; col += BLOCK) {
            float *c = t->c + row * o->n + col;
            if (launch->hw_sums)
                add_strip(t->a + row * o->k, t->b + col, c, o->n, o->k, &rule);
            else
                multiply_strip(t->a + row * o->k, t->b + col, c, o->n, o->k, exact);
        }
}

static void mma_float(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    struct float_tiles t;
    float packed[MOST_A / 4];
    if (!matrix_whole_warp(w))
        return;
    load_float_ab(w, op, o, &t, o->sparse ? packed : t.a);
    if (o->sparse)
        spread_sparse(w, o, packed, t.a);
    load_float_c(w, op, o, t.c);
    multiply_tiles(w, o, &t);
    store_float_d(w, op, o, t.c);
}

/* --- m8n8k4 with FP16: four products, each of 8 lanes --------------------------------- */

/* Lanes of product q: 4q..4q+3 and 4q+16..4q+19. */
static int quad_lane(int q, int i)
{
    return 4 * q + i % 4 + (i >= 4 ? 16 : 0);
}

static float half_of_row(const struct warp *w, const uint32_t *rows, int i, int lane)
{
    return half_value(row32(w, rows[i / 2])[lane] >> (16 * (i % 2)) & 0xffff);
}

/* Value i of a sum in lane quad_lane(q, x): its row and column. */
static struct fragment_place quad_sum_place(bool wide, int x, int i)
{
    if (!wide)
        return (struct fragment_place){x, i};
    int low = (x & 1) + (i & 2) + (x >= 4 ? 4 : 0);
    return (struct fragment_place){low, (i & 4) + (x & 2) + (i & 1)};
}

static void mma_quads(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    const uint32_t *a_rows = op->list + o->d_regs, *b_rows = a_rows + o->a_regs,
                   *c_rows = b_rows + o->b_regs;
    const struct launch *launch = w->block->launch;
    struct sum_rule rule = sum_rule(launch->spec, o->a, o->b, o->d == PTX_F16);
    uint32_t result[8][LANES] = {{0}};
    if (!matrix_whole_warp(w))
        return;
    for (int q = 0; q < 4; q++) {
        float a[8][4], b[4][8];
        for (int x = 0; x < 8; x++)
            for (int i = 0; i < 4; i++) {
                float va = half_of_row(w, a_rows, i, quad_lane(q, x));
                float vb = half_of_row(w, b_rows, i, quad_lane(q, x));
                if (o->a_col)
                    a[i + x / 4 * 4][x % 4] = va;
                else
                    a[x][i] = va;
                if (o->b_row)
                    b[x % 4][i + x / 4 * 4] = vb;
                else
                    b[i][x] = vb;
            }
        float c[8][8];
        for (int x = 0; x < 8; x++)
            for (int i = 0; i < 8; i++) {
                struct fragment_place p = quad_sum_place(o->c == PTX_F32, x, i);
                int lane = quad_lane(q, x);
                c[p.row][p.col] = o->c == PTX_F32 ? bits_to_f32(row32(w, c_rows[i])[lane])
                                                  : half_of_row(w, c_rows, i, lane);
            }
        if (launch->hw_sums)
            add_strip(a[0], b[0], c[0], 8, 4, &rule);
        else
            multiply_strip(a[0], b[0], c[0], 8, 4, true);
        for (int x = 0; x < 8; x++)
            for (int i = 0; i < 8; i++) {
                struct fragment_place p = quad_sum_place(o->d == PTX_F32, x, i);
                int lane = quad_lane(q, x);
                uint32_t bits = canon_f32(c[p.row][p.col]);
                if (o->d == PTX_F32)
                    result[i][lane] = bits;
                else
                    result[i / 2][lane] |= f32_to_half_bits(bits) << (16 * (i % 2));
            }
    }
    for (int i = 0; i < o->d_regs; i++)
        memcpy(row32(w, op->list[i]), result[i], sizeof result[i]);
}

/* --- whole numbers and bits ----------------------------------------------------------- */

static void load_int_ab(const struct warp *w, const struct op *op, const struct mma_op *o,
                        int32_t *a, int32_t *b)
{
    const uint32_t *a_rows = op->list + o->d_regs, *b_rows = a_rows + o->a_regs;
    int wide = 4 * (32 / element_bits(o->a)), k = packed_k(o), blocks = o->m / BLOCK;
    int32_t block[BLOCK * 32];
    for (int i = 0; i < blocks * k / wide; i++)
        register_to_ints(row32(w, a_rows[i]), o->a,
                         a + i % blocks * BLOCK * k + i / blocks * wide, k);
    blocks = o->n / BLOCK;
    for (int i = 0; i < blocks * o->k / wide; i++) {
        int32_t *to = b + i / blocks * wide * o->n + i % blocks * BLOCK;
        register_to_ints(row32(w, b_rows[i]), o->b, block, wide);
        for (int row = 0; row < wide; row++)
            for (int n = 0; n < BLOCK; n++)
                to[row * o->n + column_slot(n)] = block[n * wide + row];
    }
}

/* Bits: a register's word is 32 columns of A, or rows of B. */
static void multiply_bits(const struct warp *w, const struct op *op,
                          const struct mma_op *o, int32_t *c)
{
    const uint32_t *a_rows = op->list + o->d_regs, *b_rows = a_rows + o->a_regs;
    int words = o->k / 32, blocks = o->m / BLOCK;
    for (int row = 0; row < o->m; row++)
        for (int col = 0; col < BLOCK; col++) {
            int sum = 0;
            for (int i = 0; i < words; i++) {
                int lane = i % 4;
                uint32_t a = row32(
                    w, a_rows[row / BLOCK + i / 4 * blocks])[4 * (row % BLOCK) + lane];
                uint32_t b = row32(w, b_rows[i / 4])[4 * col + lane];
                sum += __builtin_popcount(o->and_popc ? a & b : a ^ b);
            }
            c[row * BLOCK + column_slot(col)] = sum;
        }
}

static uint32_t add_sum(uint32_t c, int32_t product, bool clamp)
{
    int64_t sum = (int64_t)(int32_t)c + product;
    if (clamp)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)sum;
}

static void mma_integer(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    struct int_tiles t;
    int32_t packed[MOST_A / 2];
    if (!matrix_whole_warp(w))
        return;
    if (o->a == PTX_B1) {
        multiply_bits(w, op, o, t.c);
    } else {
        load_int_ab(w, op, o, o->sparse ? packed : t.a, t.b);
        if (o->sparse)
            spread_sparse(w, o, packed, t.a);
        for (int row = 0; row < o->m; row += BLOCK)
            for (int col = 0; col < o->n; col += BLOCK)
                multiply_ints(t.a + row * o->k, t.b + col, t.c + row * o->n + col, o->n,
                              o->k);
    }
    const uint32_t *c_rows = op->list + o->d_regs + o->a_regs + o->b_regs;
    int blocks = o->m / BLOCK;
    /* all sums before the first result: D may share its rows with A and B */
    for (int p = 0; p < o->m * o->n / 64; p++) {
        uint32_t product[2][LANES];
        const int32_t *at = t.c + p % blocks * BLOCK * o->n + p / blocks * BLOCK;
        block_to_columns(at, o->n, product[0], product[1]);
        for (int v = 0; v < 2; v++) {
            const uint32_t *c = row32(w, c_rows[2 * p + v]);
            for (int l = 0; l < LANES; l++)
                product[v][l] = add_sum(c[l], (int32_t)product[v][l], o->satfinite);
        }
        columns_to_block(product[0], product[1],
                         t.c + p % blocks * BLOCK * o->n + p / blocks * BLOCK, o->n);
    }
    for (int p = 0; p < o->m * o->n / 64; p++)
        block_to_columns(t.c + p % blocks * BLOCK * o->n + p / blocks * BLOCK, o->n,
                         row32(w, op->list[2 * p]), row32(w, op->list[2 * p + 1]));
}

/* --- FP64 ---------------------------------------------------------------------------- */

/* A register of 64-bit lanes is an 8 x 4 block, row by row; n is 8. */
static void mma_double(struct warp *w, const struct op *op)
{
    const struct mma_op *o = op->extra;
    double a[16 * 16], b[16 * BLOCK], c[16 * BLOCK];
    const uint32_t *a_rows = op->list + o->d_regs, *b_rows = a_rows + o->a_regs,
                   *c_rows = b_rows + o->b_regs;
    int blocks = o->m / BLOCK, k = o->k;
    if (!matrix_whole_warp(w))
        return;
    for (int i = 0; i < o->a_regs; i++)
        for (int r = 0; r < BLOCK; r++)
            memcpy(a + (i % blocks * BLOCK + r) * k + i / blocks * 4,
                   row64(w, a_rows[i]) + 4 * r, 32);
    for (int i = 0; i < o->b_regs; i++)
        for (int l = 0; l < LANES; l++)
            b[(4 * i + l % 4) * BLOCK + column_slot(l / 4)] =
                bits_to_f64(row64(w, b_rows[i])[l]);
    for (int v = 0; v < o->c_regs; v++)
        for (int r = 0; r < BLOCK; r++)
            memcpy(c + (v / 2 * BLOCK + r) * BLOCK + v % 2 * 4,
                   row64(w, c_rows[v]) + 4 * r, 32);
    for (int row = 0; row < o->m; row++) {
        double sum[BLOCK];
        memcpy(sum, c + row * BLOCK, sizeof sum);
        for (int i = 0; i < k; i++)
            for (int col = 0; col < BLOCK; col++)
                sum[col] = __builtin_fma(a[row * k + i], b[i * BLOCK + col], sum[col]);
        memcpy(c + row * BLOCK, sum, sizeof sum);
    }
    for (int v = 0; v < o->d_regs; v++)
        for (int r = 0; r < BLOCK; r++)
            memcpy(row64(w, op->list[v]) + 4 * r,
                   c + (v / 2 * BLOCK + r) * BLOCK + v % 2 * 4, 32);
}

#endif
