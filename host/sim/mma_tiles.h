/* mma_tiles.h - between registers and tiles, and the product of two tiles.
 *
 * Seen row by row, a register of 32 lanes that holds E elements a lane is an 8 x 4E
 * tile: lane / 4 is the row, E (lane % 4) + e the column (fragment.h). So A is copied
 * block by block; B's blocks come transposed, and two registers of a sum hold the even
 * and the odd columns of an 8 x 8 block.
 *
 * Inside a block of 8 columns, B and C are kept in the order that the sum's registers
 * have: columns 0 2 4 6 1 3 5 7. `multiply_strip` alone decides the order and the
 * rounding of sums: k ascends, one fused multiply-add a step. */
#ifndef PEAKBOUND_SIM_MMA_TILES_H
#define PEAKBOUND_SIM_MMA_TILES_H

#include "exec.h"
#include "numeric.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

enum { MOST_A = 16 * 128, MOST_B = 128 * 8, MOST_C = 16 * 16, BLOCK = 8 };

struct float_tiles {
    _Alignas(32) float a[MOST_A / 2], b[MOST_B / 2], c[MOST_C];
};
struct int_tiles {
    _Alignas(32) int32_t a[MOST_A], b[MOST_B], c[MOST_C];
};

/* Place of column n of a block in the order above. */
static inline int column_slot(int n)
{
    return (n & 1) * 4 + n / 2;
}

/* --- one register to an 8 x 4E tile ------------------------------------------------- */

static inline void halves_to_floats(const uint32_t *words, float *out, int ld)
{
    uint16_t half[2 * LANES];
    memcpy(half, words, sizeof half);
    for (int r = 0; r < BLOCK; r++) {
#if defined(__AVX2__) && defined(__F16C__)
        __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)(half + 8 * r));
        _mm256_storeu_ps(out + r * ld, _mm256_cvtph_ps(eight));
#else
        for (int i = 0; i < 8; i++)
            out[r * ld + i] = half_value(half[8 * r + i]);
#endif
    }
}

/* E4M3 is FP16's layout with a smaller exponent: 2^8 too small when placed there. */
static inline float e4m3_quick(uint32_t code)
{
    float value = half_value((code & 0x80u) << 8 | (code & 0x7fu) << 7) * 256.0f;
    return (code & 0x7fu) == 0x7fu ? bits_to_f32(0x7fffffffu) : value;
}

static inline void register_to_floats(const uint32_t *words, enum ptx_type type,
                                      float *out, int ld)
{
    uint16_t half[2 * LANES];
    uint8_t byte[4 * LANES];
    switch (type) {
    case PTX_F16:
        halves_to_floats(words, out, ld);
        break;
    case PTX_BF16:
        memcpy(half, words, sizeof half);
        for (int r = 0; r < BLOCK; r++)
            for (int i = 0; i < 8; i++)
                out[r * ld + i] = bfloat_value(half[8 * r + i]);
        break;
    case PTX_E4M3:
    case PTX_E5M2:
        memcpy(byte, words, sizeof byte);
        for (int r = 0; r < BLOCK; r++)
            for (int i = 0; i < 16; i++) {
                uint32_t code = byte[16 * r + i];
                out[r * ld + i] =
                    type == PTX_E4M3 ? e4m3_quick(code) : half_value(code << 8);
            }
        break;
    default: /* TF32 */
        for (int r = 0; r < BLOCK; r++)
            for (int i = 0; i < 4; i++)
                out[r * ld + i] = bits_to_f32(words[4 * r + i] & 0xffffe000u);
        break;
    }
}

static inline void register_to_ints(const uint32_t *words, enum ptx_type type,
                                    int32_t *out, int ld)
{
    uint8_t byte[4 * LANES];
    memcpy(byte, words, sizeof byte);
    for (int r = 0; r < BLOCK; r++) {
        const uint8_t *from = byte + 16 * r;
        int32_t *to = out + r * ld;
        switch (type) {
        case PTX_S8:
            for (int i = 0; i < 16; i++)
                to[i] = (int8_t)from[i];
            break;
        case PTX_U8:
            for (int i = 0; i < 16; i++)
                to[i] = from[i];
            break;
        case PTX_U4:
            for (int i = 0; i < 32; i++)
                to[i] = from[i / 2] >> (4 * (i % 2)) & 0xf;
            break;
        default: /* S4 */
            for (int i = 0; i < 32; i++)
                to[i] = ((from[i / 2] >> (4 * (i % 2)) & 0xf) ^ 8) - 8;
            break;
        }
    }
}

/* --- a sum's registers to and from 8 x 8 blocks --------------------------------------- */

/* c points at the block; even and odd columns are 32 lanes each. */
static inline void columns_to_block(const uint32_t *even, const uint32_t *odd, void *c,
                                    int n)
{
    for (int r = 0; r < BLOCK; r++) {
        memcpy((uint8_t *)c + 4 * (size_t)(r * n), even + 4 * r, 16);
        memcpy((uint8_t *)c + 4 * (size_t)(r * n + 4), odd + 4 * r, 16);
    }
}

static inline void block_to_columns(const void *c, int n, uint32_t *even, uint32_t *odd)
{
    for (int r = 0; r < BLOCK; r++) {
        memcpy(even + 4 * r, (const uint8_t *)c + 4 * (size_t)(r * n), 16);
        memcpy(odd + 4 * r, (const uint8_t *)c + 4 * (size_t)(r * n + 4), 16);
    }
}

/* --- products ------------------------------------------------------------------------ */

/* c + a b, rounded once. Where the host must compute a fused operation in software,
 * two roundings do if the first changes nothing: products of FP16 and FP8 are exact. */
static inline float multiply_add(float a, float b, float c, bool exact_product)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    (void)exact_product;
    return __builtin_fmaf(a, b, c);
#else
    return exact_product ? a * b + c : __builtin_fmaf(a, b, c);
#endif
}

/* c[8][8] += a[8][k] * b[k][8]: a has k columns a row, b and c have n. */
static inline void multiply_strip(const float *a, const float *b, float *c, int n, int k,
                                  bool exact_product)
{
#if defined(__AVX2__) && defined(__FMA__)
    __m256 sum[BLOCK];
    (void)exact_product;
    for (int r = 0; r < BLOCK; r++)
        sum[r] = _mm256_loadu_ps(c + r * n);
    for (int i = 0; i < k; i++) {
        __m256 column = _mm256_loadu_ps(b + i * n);
        for (int r = 0; r < BLOCK; r++)
            sum[r] = _mm256_fmadd_ps(_mm256_broadcast_ss(a + r * k + i), column, sum[r]);
    }
    for (int r = 0; r < BLOCK; r++)
        _mm256_storeu_ps(c + r * n, sum[r]);
#else
    for (int r = 0; r < BLOCK; r++)
        for (int i = 0; i < k; i++)
            for (int col = 0; col < BLOCK; col++)
                c[r * n + col] = multiply_add(a[r * k + i], b[i * n + col],
                                              c[r * n + col], exact_product);
#endif
}

/* The same for whole numbers: c = a * b. No product of 8-bit numbers overflows here. */
typedef int32_t int_vec __attribute__((vector_size(32)));

static inline void multiply_ints(const int32_t *a, const int32_t *b, int32_t *c, int n,
                                 int k)
{
    int_vec sum[BLOCK] = {{0}};
    for (int i = 0; i < k; i++) {
        int_vec column;
        memcpy(&column, b + i * n, sizeof column);
        for (int r = 0; r < BLOCK; r++)
            sum[r] += a[r * k + i] * column;
    }
    for (int r = 0; r < BLOCK; r++)
        memcpy(c + r * n, &sum[r], sizeof sum[r]);
}

#endif
