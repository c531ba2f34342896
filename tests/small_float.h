/* small_float.h - 16- and 8-bit floats by their definition, for tests: values of codes
 * by ldexp, rounding by a search among the codes. Slow and unlike the code under test. */
#ifndef PEAKBOUND_TESTS_SMALL_FLOAT_H
#define PEAKBOUND_TESTS_SMALL_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __float128 quad;

struct small {
    int fraction, bias, most; /* bits of the fraction; most: largest finite code */
    int infinity, nan, sign;  /* codes; infinity -1 = has none */
};
static const struct small F16 = {10, 15, 0x7bff, 0x7c00, 0x7fff, 0x8000};
static const struct small BF16 = {7, 127, 0x7f7f, 0x7f80, 0x7fff, 0x8000};
static const struct small E4M3 = {3, 7, 0x7e, -1, 0x7f, 0x80};
static const struct small E5M2 = {2, 15, 0x7b, 0x7c, 0x7f, 0x80};

/* Value of a code without its sign bit; past the largest: what would come next. */
static inline double small_code(const struct small *f, int code)
{
    int exponent = code >> f->fraction, rest = code & ((1 << f->fraction) - 1);
    return exponent == 0
               ? ldexp(rest, 1 - f->bias - f->fraction)
               : ldexp(rest + (1 << f->fraction), exponent - f->bias - f->fraction);
}
static inline double small_double(const struct small *f, int code)
{
    int size = code & (f->sign - 1);
    double value = size <= f->most       ? small_code(f, size)
                   : size == f->infinity ? INFINITY
                                         : NAN;
    return code & f->sign ? -value : value;
}

/* mode: n to nearest even, a to nearest away, z m p */
static inline int small_round(const struct small *f, quad x, char mode, bool satfinite)
{
    if (x != x)
        return f->nan;
    bool negative = x < 0 || (x == 0 && signbit((double)x));
    quad size = x < 0 ? -x : x;
    int sign = negative ? f->sign : 0, low = 0, high = f->most + 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (size >= (quad)small_code(f, middle))
            low = middle;
        else
            high = middle;
    }
    quad below = size - (quad)small_code(f, low),
         above = (quad)small_code(f, low + 1) - size;
    bool up = mode == 'z'   ? false
              : mode == 'm' ? negative && below > 0
              : mode == 'p' ? !negative && below > 0
              : mode == 'a' ? below >= above
                            : below > above || (below == above && (low & 1));
    int code = low + (up ? 1 : 0);
    if (size >= (quad)small_code(f, f->most + 1)) { /* beyond the next */
        bool stays =
            mode == 'z' || (mode == 'm' && !negative) || (mode == 'p' && negative);
        code = size > (quad)1e300 || !stays ? f->most + 1 : f->most;
    }
    if (code > f->most)
        code = satfinite || f->infinity < 0 ? f->most : f->infinity;
    return sign | code;
}

#endif
