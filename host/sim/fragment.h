/* fragment.h - which element of a matrix each lane holds in which register.
 *
 * One formula covers mma.sync of every type (PTX ISA 9.0, 9.7.14.5: g = lane / 4,
 * t = lane % 4, E elements in a 32-bit register):
 *
 *     A  register i, element e:  row g + 8 (i mod m/8),  k   E t + e + 4 E (i div m/8)
 *     B  register i, element e:  k   E t + e + 4 E (i div n/8),  col g + 8 (i mod n/8)
 *     C  value v:                row g + 8 (v/2 mod m/8), col 2 t + v%2 + 8 (v/2 div m/8)
 *
 * WMMA fragments are opaque; here they have the same layout. Where a WMMA fragment
 * has more registers than elements, the later ones repeat the earlier. */
#ifndef PEAKBOUND_SIM_FRAGMENT_H
#define PEAKBOUND_SIM_FRAGMENT_H

#include <stdint.h>

struct fragment_place {
    int row, col; /* in A: row, k; in B: k, col; in C: row, col */
};

static inline struct fragment_place fragment_a(int m, int per_reg, int reg, int e,
                                               int lane)
{
    int blocks = m / 8;
    return (struct fragment_place){lane / 4 + 8 * (reg % blocks),
                                   per_reg * (lane % 4) + e +
                                       4 * per_reg * (reg / blocks)};
}
static inline struct fragment_place fragment_b(int n, int per_reg, int reg, int e,
                                               int lane)
{
    int blocks = n / 8;
    return (struct fragment_place){per_reg * (lane % 4) + e +
                                       4 * per_reg * (reg / blocks),
                                   lane / 4 + 8 * (reg % blocks)};
}
static inline struct fragment_place fragment_c(int m, int value, int lane)
{
    int blocks = m / 8, pair = value / 2;
    return (struct fragment_place){lane / 4 + 8 * (pair % blocks),
                                   2 * (lane % 4) + value % 2 + 8 * (pair / blocks)};
}

#endif
