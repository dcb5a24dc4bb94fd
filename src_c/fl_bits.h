/* Operations on 64-bit integers that processors have and C lacks. With fl_common.h the only file
 * with extensions of compilers. */
#ifndef FL_BITS_H
#define FL_BITS_H

#include "fl_common.h"

/* Number of zeros below the lowest set bit of x > 0. */
FL_INLINE int fl_lowest_bit(uint64_t x)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(x);
#else
    x = (x & (0 - x)) - 1; /* as many ones */
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (int)((x * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

/* Number of zeros above the highest set bit of x > 0. */
FL_INLINE int fl_leading_zeros(uint64_t x)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_clzll(x);
#else
    for (int shift = 1; shift < 64; shift *= 2) {
        x |= x >> shift;
    }
    return x == UINT64_MAX ? 0 : 64 - fl_lowest_bit(x + 1);
#endif
}

/* high * 2^64 + low = a * b. */
FL_INLINE uint64_t fl_multiply_wide(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__SIZEOF_INT128__)
    *low = a * b;
    return (uint64_t)(__extension__(((unsigned __int128)a * b) >> 64));
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

#endif
