/* matrix.c - see matrix.h. */
#include "matrix.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bits of an untouched cell: quiet NaNs with a payload that no arithmetic makes, and
 * for integers a number far outside any sum of small products. */
#define POISON_F16 0x7e5au
#define POISON_BF16 0x7fdau
#define POISON_F32 0x7fc0ba5eu
#define POISON_F64 0x7ff8badc0ffee5adull
#define POISON_S8 0x5au
#define POISON_S32 0x5ad0ba5eu

static const struct {
    int bytes;
    const char *name;
    uint64_t poison;
} types[] = {
    [KERNEL_F32] = {4, "f32", POISON_F32},    [KERNEL_F16] = {2, "f16", POISON_F16},
    [KERNEL_BF16] = {2, "bf16", POISON_BF16}, [KERNEL_TF32] = {4, "tf32", POISON_F32},
    [KERNEL_F64] = {8, "f64", POISON_F64},    [KERNEL_S8] = {1, "s8", POISON_S8},
    [KERNEL_S32] = {4, "s32", POISON_S32},
};

int kernel_type_bytes(int type)
{
    return types[type].bytes;
}

const char *kernel_type_name(int type)
{
    return types[type].name;
}

double matrix_memory(void)
{
    const double share = 0.8; /* the rest is for everybody else */
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? share * (double)pages * (double)page : INFINITY;
}

bool matrix_alloc(struct matrix *m, int type, size_t rows, size_t cols, struct error *err)
{
    size_t element = (size_t)kernel_type_bytes(type), cells, bytes;
    memset(m, 0, sizeof *m);
    if (__builtin_mul_overflow(rows, cols, &cells) ||
        __builtin_mul_overflow(cells, element, &bytes) || (double)bytes > matrix_memory())
        return error_set(err, EXIT_OURS,
                         "a %zu x %zu matrix of %s does not fit: it needs %.1f GB, this "
                         "machine can give %.1f GB",
                         rows, cols, kernel_type_name(type),
                         (double)rows * (double)cols * (double)element / 1e9,
                         matrix_memory() / 1e9);
    void *data = mmap(NULL, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return error_set(err, EXIT_OURS, "out of memory: %zu bytes for a matrix", bytes);
    *m = (struct matrix){.type = type,
                         .rows = rows,
                         .cols = cols,
                         .stride = cols,
                         .data = data,
                         .bytes = bytes};
    return true;
}

void matrix_free(struct matrix *m)
{
    if (m->data != NULL)
        munmap(m->data, m->bytes > 0 ? m->bytes : 1);
    memset(m, 0, sizeof *m);
}

void matrix_by_columns(struct matrix *m)
{
    m->by_columns = true;
    m->stride = m->rows;
}

/* --- small floats ------------------------------------------------------------------- */

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, bits;
    uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ffu;
    float value;
    if (exponent == 0) {
        value = ldexpf((float)fraction, -24);
        return sign ? -value : value;
    }
    bits = exponent == 31 ? 0x7f800000u | fraction << 13
                          : (exponent + 112) << 23 | fraction << 13;
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (rest >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00u);
    if (rest < 0x38800000u) /* below 2^-14: units of 2^-24 */
        return (uint16_t)(sign | (uint32_t)lrintf(ldexpf(fabsf(value), 24)));
    rest += 0xfffu + (rest >> 13 & 1);
    return (uint16_t)(sign | (rest - 0x38000000u) >> 13);
}

float bfloat_to_float(uint16_t bf)
{
    uint32_t bits = (uint32_t)bf << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t float_to_bfloat(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static float round_tf32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u)
        bits = (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* --- cells -------------------------------------------------------------------------- */

static unsigned char *cell_at(const struct matrix *m, size_t row, size_t col)
{
    size_t cell = m->by_columns ? col * m->stride + row : row * m->stride + col;
    return m->data + cell * (size_t)kernel_type_bytes(m->type);
}

double matrix_get(const struct matrix *m, size_t row, size_t col)
{
    const unsigned char *at = cell_at(m, row, col);
    uint16_t half;
    float f32;
    double f64;
    int32_t s32;
    switch (m->type) {
    case KERNEL_F16:
        memcpy(&half, at, 2);
        return half_to_float(half);
    case KERNEL_BF16:
        memcpy(&half, at, 2);
        return bfloat_to_float(half);
    case KERNEL_F64:
        memcpy(&f64, at, 8);
        return f64;
    case KERNEL_S8:
        return (signed char)*at;
    case KERNEL_S32:
        memcpy(&s32, at, 4);
        return s32;
    default:
        memcpy(&f32, at, 4);
        return f32;
    }
}

void matrix_set(struct matrix *m, size_t row, size_t col, double value)
{
    unsigned char *at = cell_at(m, row, col);
    uint16_t half;
    float f32 = (float)value;
    switch (m->type) {
    case KERNEL_F16:
        half = float_to_half(f32);
        memcpy(at, &half, 2);
        return;
    case KERNEL_BF16:
        half = float_to_bfloat(f32);
        memcpy(at, &half, 2);
        return;
    case KERNEL_F64:
        memcpy(at, &value, 8);
        return;
    case KERNEL_S8:
        *at = (unsigned char)(signed char)value;
        return;
    case KERNEL_S32: {
        int32_t s32 = (int32_t)value;
        memcpy(at, &s32, 4);
        return;
    }
    case KERNEL_TF32:
        f32 = round_tf32(f32); /* fallthrough */
    default:
        memcpy(at, &f32, 4);
        return;
    }
}

/* splitmix64 of the cell's number: no state, so any order gives the same matrix. */
static uint64_t cell_random(uint64_t seed, size_t row, size_t col)
{
    uint64_t z =
        seed + 0x9e3779b97f4a7c15ull * ((uint64_t)row * 0x100000001b3ull + col + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void matrix_fill_uniform(struct matrix *m, uint64_t seed)
{
#pragma omp parallel for
    for (size_t row = 0; row < m->rows; row++)
        for (size_t col = 0; col < m->cols; col++) {
            double unit = (double)(cell_random(seed, row, col) >> 11) * 0x1p-53;
            matrix_set(m, row, col,
                       m->type == KERNEL_S8 ? floor(unit * 255) - 127 : 2 * unit - 1);
        }
}

void matrix_fill_whole(struct matrix *m, uint64_t seed, int limit)
{
    uint64_t span = 2 * (uint64_t)limit + 1;
#pragma omp parallel for
    for (size_t row = 0; row < m->rows; row++)
        for (size_t col = 0; col < m->cols; col++)
            matrix_set(m, row, col,
                       (double)(cell_random(seed, row, col) % span) - (double)limit);
}

/* --- poison and hash ------------------------------------------------------------------ */

void matrix_poison(struct matrix *m)
{
    size_t bytes = (size_t)kernel_type_bytes(m->type);
    uint64_t poison = types[m->type].poison;
    for (size_t at = 0; at + bytes <= m->bytes; at += bytes)
        memcpy(m->data + at, &poison, bytes);
}

bool matrix_is_poison(const struct matrix *m, size_t row, size_t col)
{
    return memcmp(cell_at(m, row, col), &types[m->type].poison,
                  (size_t)kernel_type_bytes(m->type)) == 0;
}

uint64_t matrix_hash(const struct matrix *m)
{
    uint64_t hash = 0xcbf29ce484222325ull, word;
    size_t at = 0;
    for (; at + 8 <= m->bytes; at += 8) {
        memcpy(&word, m->data + at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    for (; at < m->bytes; at++)
        hash = (hash ^ m->data[at]) * 0x100000001b3ull;
    return hash;
}
