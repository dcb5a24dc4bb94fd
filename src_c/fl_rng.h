/* xoshiro256** 1.0 (Blackman & Vigna 2021, "Scrambled linear pseudorandom number generators",
 * ACM TOMS 47), bounded draws without bias (Lemire 2019, "Fast random integer generation in an
 * interval", ACM TOMACS 29) and the Fisher-Yates shuffle. The caller owns the state: four words,
 * not all zero. */
#ifndef FL_RNG_H
#define FL_RNG_H

#include "fl_common.h"

FL_INLINE uint64_t fl_rotate_left(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

FL_INLINE uint64_t fl_rng_next(uint64_t s[4]) {
    uint64_t result = fl_rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = fl_rotate_left(s[3], 45);
    return result;
}

/* Uniform on [0, bound), 0 < bound <= 2^32: a 32 x 32 -> 64 bit product, so that no 128-bit type
 * is needed. */
FL_INLINE uint32_t fl_rng_below_32(uint64_t s[4], uint32_t bound) {
    uint64_t product = (fl_rng_next(s) >> 32) * bound;
    uint32_t low = (uint32_t)product;
    if (low < bound) {
        uint32_t threshold = (0u - bound) % bound;
        while (low < threshold) {
            product = (fl_rng_next(s) >> 32) * bound;
            low = (uint32_t)product;
        }
    }
    return (uint32_t)(product >> 32);
}

/* Uniform on [0, bound), bound > 0. Past 2^32 - 1 by rejection under a mask. */
FL_INLINE int64_t fl_rng_below(uint64_t s[4], int64_t bound) {
    if (bound <= (int64_t)0xffffffff) return fl_rng_below_32(s, (uint32_t)bound);
    uint64_t mask = (uint64_t)bound, x;
    mask |= mask >> 1;
    mask |= mask >> 2;
    mask |= mask >> 4;
    mask |= mask >> 8;
    mask |= mask >> 16;
    mask |= mask >> 32;
    do x = fl_rng_next(s) & mask;
    while (x >= (uint64_t)bound);
    return (int64_t)x;
}

FL_INLINE void fl_rng_shuffle(uint64_t s[4], int64_t *items, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = fl_rng_below(s, i + 1), kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}

#endif
