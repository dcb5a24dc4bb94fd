/* MurmurHash3 x86_32 (A. Appleby, public domain) with seed 0, in the pieces that n-grams need.
 *
 * n-grams that begin at one word are prefixes of each other, so the blocks of four bytes are mixed
 * in once for all of them; what is left for each is its tail of length % 4 bytes and the end:
 *
 *   h = 0; for each block: h = fl_murmur_block(h, block)
 *   hash = fl_murmur_end(h ^ length, fl_murmur_tail(tail, length))
 */
#ifndef FL_MURMUR_H
#define FL_MURMUR_H

#include "fl_common.h"

#define FL_MURMUR_C1 0xcc9e2d51u
#define FL_MURMUR_C2 0x1b873593u

FL_INLINE uint32_t fl_rotate_left(uint32_t x, int bits) { return (x << bits) | (x >> (32 - bits)); }

/* Four bytes in little-endian order on any machine; compilers make one load of it. */
FL_INLINE uint32_t fl_four_bytes(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

FL_INLINE uint32_t fl_murmur_block(uint32_t h, const uint8_t *block)
{
    h ^= fl_rotate_left(fl_four_bytes(block) * FL_MURMUR_C1, 15) * FL_MURMUR_C2;
    return fl_rotate_left(h, 13) * 5u + 0xe6546b64u;
}

/* The last length % 4 bytes as a number; four bytes are read in any case. */
FL_INLINE uint32_t fl_murmur_tail(const uint8_t *tail, int32_t length)
{
    return fl_four_bytes(tail) & ((1u << (8 * (length & 3))) - 1u);
}

/* A tail of zero changes nothing, so that it need not be told from none. */
FL_INLINE uint32_t fl_murmur_end(uint32_t h, uint32_t tail)
{
    h ^= fl_rotate_left(tail * FL_MURMUR_C1, 15) * FL_MURMUR_C2;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

/* The hash of bytes behind which three more may be read. */
FL_INLINE uint32_t fl_murmur(const uint8_t *bytes, int32_t length)
{
    uint32_t h = 0;
    int32_t i = 0;
    for (; i + 4 <= length; i += 4)
        h = fl_murmur_block(h, bytes + i);
    return fl_murmur_end(h ^ (uint32_t)length, fl_murmur_tail(bytes + i, length));
}

#endif
