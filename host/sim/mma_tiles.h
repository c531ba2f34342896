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

/* FP16 -> FP32, eight at a time. */
static inline void halves_to_floats(const uint16_t *half, float *out)
{
#if defined(__AVX2__) && defined(__F16C__)
    __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)half);
    _mm256_storeu_ps(out, _mm256_cvtph_ps(eight));
#else
    for (int i = 0; i < 8; i++)
        out[i] = half_value(half[i]);
#endif
}

/* 16 codes of FP8. E5M2 is the upper byte of FP16; E4M3, placed under FP16's exponent,
 * is 2^8 too small. */
static inline void bytes_to_floats(const uint8_t *byte, bool e4m3, float *out)
{
    uint16_t half[16];
    for (int i = 0; i < 16; i++)
        half[i] = (uint16_t)(e4m3 ? (byte[i] & 0x80) << 8 | (byte[i] & 0x7f) << 7
                                  : byte[i] << 8);
    halves_to_floats(half, out);
    halves_to_floats(half + 8, out + 8);
    if (!e4m3)
        return;
    for (int i = 0; i < 16; i++) {
        float value = out[i] * 256.0f;
        out[i] = (byte[i] & 0x7f) == 0x7f ? bits_to_f32(0x7fffffffu) : value;
    }
}

static inline __attribute__((always_inline)) void
register_to_floats(const uint32_t *words, enum ptx_type type, float *out, int ld)
{
    uint16_t half[2 * LANES];
    uint8_t byte[4 * LANES];
    switch (type) {
    case PTX_F16:
        memcpy(half, words, sizeof half);
        for (int r = 0; r < BLOCK; r++)
            halves_to_floats(half + 8 * r, out + r * ld);
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
            bytes_to_floats(byte + 16 * r, type == PTX_E4M3, out + r * ld);
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

/* The same for a sum in FP16: a word holds an even column and the odd one after it. */
static inline void words_to_block(const uint32_t *words, float *c, int n)
{
    for (int r = 0; r < BLOCK; r++) {
        uint16_t half[8];
        float value[8];
        memcpy(half, words + 4 * r, sizeof half);
        halves_to_floats(half, value);
        for (int i = 0; i < BLOCK; i++)
            c[r * n + column_slot(i)] = value[i];
    }
}

static inline void block_to_words(const float *c, int n, uint32_t *words)
{
    for (int r = 0; r < BLOCK; r++) {
#if defined(__AVX2__) && defined(__F16C__)
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
        __m256 value = _mm256_permutevar8x32_ps(_mm256_loadu_ps(c + r * n), order);
        __m256 odd = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
        __m128i half =
            _mm256_cvtps_ph(_mm256_blendv_ps(value, nan, odd), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(words + 4 * r), half);
#else
        for (int i = 0; i < 4; i++)
            words[4 * r + i] = f32_to_half_bits(f32_to_bits(c[r * n + i])) |
                               f32_to_half_bits(f32_to_bits(c[r * n + 4 + i])) << 16;
#endif
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
