/* n-grams with numbers, as a tree: each is the n-gram without its last unit, and that unit.
 *
 * Two open-addressed tables: from words to numbers, and from (number of the shorter n-gram, last
 * unit) to numbers. So an n-gram is two integers, comparing them is exact, and the bytes of a word
 * are kept once, in the arena. The last unit is the number of a word or, where the units are
 * characters, a code point; the n-gram before the first character has the number
 * FL_VOCABULARY_ROOT. Numbers are given in the order of arrival, 0 ..., those of words included.
 *
 * Words of up to seven bytes are their own keys. A longer one has its hash for key, and its bytes
 * are compared with those of the arena: four bytes of length, then the word.
 *
 * `seed` changes the places in the tables and nothing else: no text can be made to fill one place.
 * Nothing is allocated: the caller asks fl_vocabulary_lacks before he adds. */
#ifndef FL_VOCABULARY_H
#define FL_VOCABULARY_H

#include <string.h>

#include "fl_common.h"

#define FL_VOCABULARY_ROOT UINT32_MAX
/* Bytes of the arena that may be read behind those in use. */
#define FL_VOCABULARY_HEAD 4

typedef struct {
    uint64_t key;
    uint32_t number; /* plus one; 0 in an empty slot */
    uint32_t start;  /* of a word in the arena */
} fl_vocabulary_slot;

typedef struct {
    fl_vocabulary_slot *words, *grams; /* 2^bits each */
    int32_t word_bits, gram_bits;
    uint8_t *arena;
    int64_t arena_capacity, arena_used;
    int64_t n_words, n_grams;
    uint64_t seed;
} fl_vocabulary;

typedef enum {
    FL_VOCABULARY_READY = 0,
    FL_VOCABULARY_LACKS_WORDS = 1, /* words must double */
    FL_VOCABULARY_LACKS_ARENA = 2,
    FL_VOCABULARY_LACKS_GRAMS = 3,
    FL_VOCABULARY_TOO_LARGE = 4    /* numbers or places in the arena do not fit in 32 bits */
} fl_vocabulary_status;

/* Mix the bits of a key so that the highest ones hang on all (the multipliers are odd numbers with
 * bits in no pattern, from the fraction of the golden ratio and of the square root of three). */
FL_INLINE uint64_t fl_vocabulary_mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;
    return (x ^ (x >> 29)) * 0xbb67ae8584caa73bu;
}

/* ---- words ---- */

/* Up to eight bytes as a number. Eight are read; those behind do not count. */
FL_INLINE uint64_t fl_vocabulary_bytes(const uint8_t *p, int32_t n)
{
    uint64_t x = 0;
    for (int32_t i = 0; i < 8; i++)
        x |= (uint64_t)p[i] << (8 * i);
    return n >= 8 ? x : x & (((uint64_t)1 << (8 * n)) - 1);
}

/* The key of a word behind which seven more bytes may be read. */
FL_INLINE uint64_t fl_vocabulary_word_key(const fl_vocabulary *v, const uint8_t *word, int32_t n)
{
    uint64_t h = v->seed + (uint64_t)n;
    if (n <= 7)
        return fl_vocabulary_bytes(word, n) | (uint64_t)n << 56;
    for (int32_t i = 0; i < n; i += 8)
        h = fl_vocabulary_mix(h ^ fl_vocabulary_bytes(word + i, n - i));
    return h | (uint64_t)255 << 56;
}

FL_INLINE int64_t fl_vocabulary_place(const fl_vocabulary *v, uint64_t key, int32_t bits)
{
    return (int64_t)(fl_vocabulary_mix(key ^ v->seed) >> (64 - bits));
}

FL_INLINE int fl_vocabulary_is_word(const fl_vocabulary *v, const fl_vocabulary_slot *slot,
                                    uint64_t key, const uint8_t *word, int32_t n)
{
    const uint8_t *kept = v->arena + slot->start;
    int32_t length;
    if (slot->key != key || n <= 7)
        return slot->key == key;
    memcpy(&length, kept, FL_VOCABULARY_HEAD);
    return length == n && memcmp(kept + FL_VOCABULARY_HEAD, word, (size_t)n) == 0;
}

/* The slot of a word, or the empty one where it belongs. */
FL_INLINE fl_vocabulary_slot *fl_vocabulary_word_slot(const fl_vocabulary *v, uint64_t key,
                                                      const uint8_t *word, int32_t n)
{
    int64_t mask = ((int64_t)1 << v->word_bits) - 1;
    int64_t place = fl_vocabulary_place(v, key, v->word_bits);
    while (v->words[place].number != 0
           && !fl_vocabulary_is_word(v, &v->words[place], key, word, n))
        place = (place + 1) & mask;
    return &v->words[place];
}

/* The number of the word with a key, or -1. */
FL_INLINE int32_t fl_vocabulary_find_key(const fl_vocabulary *v, uint64_t key, const uint8_t *word,
                                         int32_t n)
{
    return (int32_t)(fl_vocabulary_word_slot(v, key, word, n)->number - 1);
}

FL_INLINE int32_t fl_vocabulary_find_word(const fl_vocabulary *v, const uint8_t *word, int32_t n)
{
    return fl_vocabulary_find_key(v, fl_vocabulary_word_key(v, word, n), word, n);
}

/* The number of the word with a key, which gets one if it has none; there must be room. */
FL_INLINE int32_t fl_vocabulary_add_key(fl_vocabulary *v, uint64_t key, const uint8_t *word,
                                        int32_t n)
{
    fl_vocabulary_slot *slot = fl_vocabulary_word_slot(v, key, word, n);
    if (slot->number == 0) {
        slot->key = key;
        slot->start = (uint32_t)v->arena_used;
        memcpy(v->arena + v->arena_used, &n, FL_VOCABULARY_HEAD);
        memcpy(v->arena + v->arena_used + FL_VOCABULARY_HEAD, word, (size_t)n);
        v->arena_used += FL_VOCABULARY_HEAD + n;
        v->n_words++;
        slot->number = (uint32_t)(v->n_words + v->n_grams);
    }
    return (int32_t)(slot->number - 1);
}

/* ---- n-grams ---- */

FL_INLINE uint64_t fl_vocabulary_gram_key(uint32_t before, uint32_t last)
{
    return (uint64_t)before << 32 | last;
}

/* The slot of a key from a place on, or the empty one where it belongs. */
FL_INLINE fl_vocabulary_slot *fl_vocabulary_gram_slot(const fl_vocabulary *v, uint64_t key,
                                                      int64_t place)
{
    int64_t mask = ((int64_t)1 << v->gram_bits) - 1;
    while (v->grams[place].number != 0 && v->grams[place].key != key)
        place = (place + 1) & mask;
    return &v->grams[place];
}

/* The number of a key, looked for from its place on; without `add` -1 if it has none. */
FL_INLINE int32_t fl_vocabulary_gram(fl_vocabulary *v, uint64_t key, int64_t place, int add)
{
    fl_vocabulary_slot *slot = fl_vocabulary_gram_slot(v, key, place);
    if (add && slot->number == 0) {
        slot->key = key;
        v->n_grams++;
        slot->number = (uint32_t)(v->n_words + v->n_grams);
    }
    return (int32_t)(slot->number - 1);
}

/* ---- room ---- */

/* What must grow before so many words of so many bytes together, or so many n-grams, are added.
 * A table is never more than half full. */
FL_INLINE fl_vocabulary_status fl_vocabulary_lacks(const fl_vocabulary *v, int64_t words,
                                                   int64_t bytes, int64_t grams)
{
    int64_t arena = v->arena_used + bytes + words * FL_VOCABULARY_HEAD;
    if (v->n_words + v->n_grams + words + grams >= INT32_MAX || arena >= UINT32_MAX)
        return FL_VOCABULARY_TOO_LARGE;
    if (2 * (v->n_words + words) > (int64_t)1 << v->word_bits)
        return FL_VOCABULARY_LACKS_WORDS;
    if (arena > v->arena_capacity)
        return FL_VOCABULARY_LACKS_ARENA;
    if (2 * (v->n_grams + grams) > (int64_t)1 << v->gram_bits)
        return FL_VOCABULARY_LACKS_GRAMS;
    return FL_VOCABULARY_READY;
}

/* Distribute the slots of a table over a larger one, which is empty. */
FL_INLINE void fl_vocabulary_move(const fl_vocabulary *v, const fl_vocabulary_slot *from,
                                  int32_t from_bits, fl_vocabulary_slot *to, int32_t to_bits)
{
    int64_t mask = ((int64_t)1 << to_bits) - 1;
    for (int64_t i = 0; i < (int64_t)1 << from_bits; i++) {
        int64_t place;
        if (from[i].number == 0)
            continue;
        place = fl_vocabulary_place(v, from[i].key, to_bits);
        while (to[place].number != 0)
            place = (place + 1) & mask;
        to[place] = from[i];
    }
}

#endif
