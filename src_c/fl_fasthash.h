/* The fast hash of text: 64 bits of a word from eight bytes at a time, those of an n-gram from the
 * hashes of its words, so that neither is a word read twice nor an n-gram written anywhere.
 *
 * A feature is split at each space (0x20) into words w_1 .. w_k, which may be empty. With
 * mix(z) = z xor floor(z / 2^32), products modulo 2^64,
 *
 *   H(w) = s_m,  s_j = mix((s_(j-1) xor x_j) A),    s_0 = S
 *   h    = h_k,  h_i = mix((h_(i-1) xor H(w_i)) B), h_0 = S
 *
 * where x_1 .. x_m are the bytes of w followed by zeros up to a length of 7 mod 8, and by a byte
 * with (number of bytes mod 8), as little-endian numbers of eight bytes: different words have
 * different x. A, B and S are the digits of the golden ratio and of the roots of 2 and 3, made odd.
 * Each step is one to one in the state and in x. */
#ifndef FL_FASTHASH_H
#define FL_FASTHASH_H

#include "fl_common.h"

#define FL_FASTHASH_A 0x9e3779b97f4a7c15u
#define FL_FASTHASH_B 0x6a09e667f3bcc909u
#define FL_FASTHASH_START 0xbb67ae8584caa73bu

/* Bytes behind a word that must be there to be read. */
#define FL_FASTHASH_PADDING 8

FL_INLINE uint64_t fl_fasthash_mix(uint64_t z) { return z ^ z >> 32; }

/* Eight bytes in little-endian order on any machine; compilers make one load of it. */
FL_INLINE uint64_t fl_fasthash_eight(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24
           | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48
           | (uint64_t)p[7] << 56;
}

/* From s_(j-1) and x_j to s_j. */
FL_INLINE uint64_t fl_fasthash_block(uint64_t state, uint64_t x)
{
    return fl_fasthash_mix((state ^ x) * FL_FASTHASH_A);
}

/* From the state after all blocks of eight bytes and the n < 8 that are left to H(w). */
FL_INLINE uint64_t fl_fasthash_end(uint64_t state, const uint8_t *rest, int32_t n)
{
    uint64_t x = fl_fasthash_eight(rest) & (((uint64_t)1 << (8 * n)) - 1);
    return fl_fasthash_block(state, x | (uint64_t)n << 56);
}

/* H of a word. Lengths cannot be predicted: what is the same up to 15 bytes has no branch. */
FL_INLINE uint64_t fl_fasthash_word(const uint8_t *word, int32_t length)
{
    uint64_t state = FL_FASTHASH_START;
    uint64_t first = fl_fasthash_block(state, fl_fasthash_eight(word));
    int32_t i = length & 8;
    if (FL_UNLIKELY(length > 15)) {
        for (i = 0; i + 8 <= length; i += 8)
            state = fl_fasthash_block(state, fl_fasthash_eight(word + i));
    } else {
        state ^= (state ^ first) & (0 - (uint64_t)(i >> 3));
    }
    return fl_fasthash_end(state, word + i, length - i);
}

/* From h_(i-1) and H(w_i) to h_i. */
FL_INLINE uint64_t fl_fasthash_join(uint64_t before, uint64_t word)
{
    return fl_fasthash_mix((before ^ word) * FL_FASTHASH_B);
}

/* ---- features that grow at their end ---- */

typedef struct {
    uint64_t before;      /* h of the words that have ended */
    uint64_t state;       /* of the word under way, up to `block` */
    const uint8_t *block;
} fl_fasthash_feature;

FL_INLINE void fl_fasthash_begin(fl_fasthash_feature *f, const uint8_t *text)
{
    f->before = f->state = FL_FASTHASH_START;
    f->block = text;
}

/* The hash of the feature up to `end`, if no space is met behind what was read before. */
FL_INLINE uint64_t fl_fasthash_until(fl_fasthash_feature *f, const uint8_t *end)
{
    for (; end - f->block >= 8; f->block += 8)
        f->state = fl_fasthash_block(f->state, fl_fasthash_eight(f->block));
    return fl_fasthash_join(f->before,
                            fl_fasthash_end(f->state, f->block, (int32_t)(end - f->block)));
}

/* A space stands at `end`: the word has ended. */
FL_INLINE void fl_fasthash_part(fl_fasthash_feature *f, const uint8_t *end)
{
    f->before = fl_fasthash_until(f, end);
    f->state = FL_FASTHASH_START;
    f->block = end + 1;
}

/* The hash of a whole feature. */
FL_INLINE uint64_t fl_fasthash(const uint8_t *bytes, int32_t length)
{
    fl_fasthash_feature f;
    fl_fasthash_begin(&f, bytes);
    for (int32_t i = 0; i < length; i++)
        if (bytes[i] == ' ')
            fl_fasthash_part(&f, bytes + i);
    return fl_fasthash_until(&f, bytes + length);
}

#endif
