/* From words, or characters, to keys: twice the column of an n-gram, plus one if it counts -1. */
#ifndef FL_TEXT_KEYS_H
#define FL_TEXT_KEYS_H

#include "fl_fasthash.h"
#include "fl_murmur.h"
#include "fl_text.h"
#include "fl_text_wide.h"

/* States of MurmurHash3 kept for the n-grams of one word, and blocks mixed in at a time. */
#define MURMUR_STATES 64
#define MURMUR_STEP 4
/* Bytes of words whose n-grams are hashed side by side: the longest of them keeps all waiting. */
#define LONG_TEXT 1024

/* Words whose n-grams get the fast hash at a time, and the longest of these n-grams. */
#define FAST_BATCH 256
#define FAST_LONGEST 32

/* ---- from hashes to keys ---- */

/* From a hash to its column |hash| mod n_features; |-2^31| needs 32 bits without sign. The
 * quotient is a product with magic = floor(2^shift / n) + 1, shift = 32 + ceil(log2 n): exact for
 * all 32-bit numerators, and within 64 bits for those up to 2^31 (Granlund and Montgomery, Division
 * by invariant integers using multiplication, PLDI 1994, theorem 4.2). */
FL_INLINE uint32_t column_of(fl_text_mapping m, uint32_t hash)
{
    uint32_t size = hash >> 31 ? 0u - hash : hash;
    return size - (uint32_t)((size * m.magic) >> m.shift) * m.n_features;
}

/* The key of a fast hash h: floor(h / 2^32) is spread evenly over the columns, in order, and the
 * bit below it is the sign. */
FL_INLINE uint32_t fast_key(fl_text_mapping m, uint64_t h)
{
    return (uint32_t)((h >> 32) * m.n_features >> 32) << 1 | ((uint32_t)h >> 31 & m.sign_bit);
}

/* From hashes, in place, to keys: the column, and in the lowest bit whether it counts -1. */
static void hashes_to_keys(fl_text_mapping m, uint32_t *hashes, int64_t n)
{
    uint32_t low = m.n_features - 1;
    if ((m.n_features & low) == 0) {
        for (int64_t i = 0; i < n; i++) {
            uint32_t h = hashes[i], negative = h >> 31;
            hashes[i] = (((h ^ (0u - negative)) + negative) & low) << 1 | (negative & m.sign_bit);
        }
    } else {
        for (int64_t i = 0; i < n; i++)
            hashes[i] = column_of(m, hashes[i]) << 1 | (hashes[i] >> 31 & m.sign_bit);
    }
}

/* ---- from words to the keys of their n-grams ---- */

FL_INLINE fl_units_range ngrams_at(const fl_text *t, int32_t first)
{
    return fl_units_ngrams_at(&t->words, first, t->min_n, t->max_n);
}

/* Of the n-grams that begin at a unit: their hash before its end, and their tails. */
FL_INLINE void murmur_ngrams(const uint8_t *text, const int32_t *starts, int32_t gap,
                             fl_units_range range, uint32_t *FL_RESTRICT hashes,
                             uint32_t *FL_RESTRICT tails)
{
    int32_t block = starts[0];
    uint32_t h = 0;
    for (int32_t n = 1; n <= range.longest; n++) {
        int32_t length = starts[n] - gap - starts[0];
        for (; block - starts[0] + 4 <= length; block += 4)
            h = fl_murmur_block(h, text + block);
        *hashes = h ^ (uint32_t)length;
        *tails = fl_murmur_tail(text + block, length);
        hashes += n >= range.shortest;
        tails += n >= range.shortest;
    }
}

/* The same where the longest has fewer than 4 * MURMUR_STATES bytes. How many blocks a word has
 * cannot be predicted: `step` at a time are mixed in, and each n-gram takes the state it needs. */
FL_INLINE void murmur_short_ngrams(const uint8_t *text, const int32_t *starts,
                                   fl_units_range range, int32_t step,
                                   uint32_t *FL_RESTRICT hashes, uint32_t *FL_RESTRICT tails)
{
    uint32_t states[MURMUR_STATES + MURMUR_STEP + 1];
    const uint8_t *begin = text + starts[0];
    int32_t last = (starts[range.longest] - 1 - starts[0]) / 4, done = 0;
    states[0] = 0;
    do {
        for (int32_t k = 0; k < step; k++)
            states[done + k + 1] = fl_murmur_block(states[done + k], begin + 4 * (done + k));
        done += step;
    } while (FL_UNLIKELY(done < last));
    for (int32_t n = range.shortest; n <= range.longest; n++) {
        uint32_t length = (uint32_t)(starts[n] - 1 - starts[0]);
        *hashes++ = states[length / 4] ^ length;
        *tails++ = fl_murmur_tail(begin + length / 4 * 4, (int32_t)length);
    }
}

/* Write the keys of the n-grams that begin at word `next` and those after it, before `stop`, as
 * long as they are no more than `capacity`; returns how many. First what must be done byte by byte,
 * then, in a loop that compilers turn into vector instructions, what is the same for all. */
FL_INLINE int64_t murmur_keys_by(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT hashes,
                                 uint32_t *FL_RESTRICT tails, int64_t capacity, int32_t step)
{
    const uint8_t *text = t->words.text;
    int32_t first = t->next, gap = fl_units_gap(&t->words);
    int64_t n_hashes = 0;
    for (; first < stop; first++) {
        const int32_t *starts = t->words.starts + first;
        fl_units_range range = ngrams_at(t, first);
        int64_t n = (int64_t)range.longest - range.shortest + 1;
        if (n_hashes + n > capacity)
            break;
        if (n <= 0)
            continue;
        if (step > 0 && FL_LIKELY(starts[range.longest] - starts[0] <= 4 * MURMUR_STATES))
            murmur_short_ngrams(text, starts, range, step, hashes + n_hashes, tails + n_hashes);
        else
            murmur_ngrams(text, starts, gap, range, hashes + n_hashes, tails + n_hashes);
        n_hashes += n;
    }
    for (int64_t i = 0; i < n_hashes; i++)
        hashes[i] = fl_murmur_end(hashes[i], tails[i]);
    hashes_to_keys(t->mapping, hashes, n_hashes);
    t->next = first;
    return n_hashes;
}

#ifdef FL_WIDE_TEXT
/* The same for words, 16 at a time, up to where an n-gram has more bytes, or the room ends. */
static int64_t murmur_keys_of_words(fl_text *t, int32_t stop, uint32_t *hashes, int64_t capacity)
{
    const fl_words *w = &t->words;
    int64_t most = 16 * ((int64_t)t->max_n - t->min_n + 1), n_hashes = 0;
    while (t->next < stop && n_hashes + most <= capacity) {
        int32_t first = t->next, left = w->n_words - first;
        int32_t n = stop - first < 16 ? stop - first : 16;
        int32_t last = t->max_n - 1 < left - n ? n + t->max_n - 1 : left;
        if (w->starts[first + last] - w->starts[first] > LONG_TEXT)
            break;
        n_hashes += wide_murmur_ngrams(w->text, w->starts + first, n, left, t->min_n, t->max_n,
                                       hashes + n_hashes);
        t->next += n;
    }
    hashes_to_keys(t->mapping, hashes, n_hashes);
    return n_hashes;
}
#endif

static int64_t murmur_keys(fl_text *t, int32_t stop, uint32_t *hashes, uint32_t *tails,
                           int64_t capacity)
{
    if (t->words.kind != FL_WORDS_WORD)
        return murmur_keys_by(t, stop, hashes, tails, capacity, 0);
#ifdef FL_WIDE_TEXT
    int64_t n_keys = murmur_keys_of_words(t, stop, hashes, capacity);
    if (n_keys > 0)
        return n_keys;
    stop = stop - t->next < 16 ? stop : t->next + 16;
#endif
    if (t->max_n == 1)
        return murmur_keys_by(t, stop, hashes, tails, capacity, MURMUR_STEP / 2);
    return murmur_keys_by(t, stop, hashes, tails, capacity, MURMUR_STEP);
}

/* The fast hashes of n words; up to seven more may be written. */
FL_INLINE void hash_words(const uint8_t *text, const int32_t *starts, int32_t n,
                          uint64_t *FL_RESTRICT hashes)
{
#ifdef FL_WIDE_TEXT
    wide_hash_words(text, starts, n, hashes);
#else
    for (int32_t i = 0; i < n; i++)
        hashes[i] = fl_fasthash_word(text + starts[i], starts[i + 1] - 1 - starts[i]);
#endif
}

/* As murmur_keys, for words and the fast hash; no n-gram has more than FAST_LONGEST of them. Every
 * loop does one thing for many, so that none waits for another. */
static int64_t fast_keys_of_words(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT keys,
                                  int64_t capacity)
{
    uint64_t words[FAST_BATCH + FAST_LONGEST + 7], ngrams[FAST_BATCH];
    const fl_words *w = &t->words;
    int64_t n_keys = 0, most = t->max_n - t->min_n + 1;
    while (t->next < stop) {
        int32_t first = t->next, left = w->n_words - first;
        int32_t n_starts = stop - first < FAST_BATCH ? stop - first : FAST_BATCH, n_read;
        if ((capacity - n_keys) / most < n_starts)
            n_starts = (int32_t)((capacity - n_keys) / most);
        if (n_starts == 0)
            break;
        n_read = n_starts + t->max_n - 1 < left ? n_starts + t->max_n - 1 : left;
        hash_words(w->text, w->starts + first, n_read, words);
        for (int32_t n = 1; n <= t->max_n; n++) {
            int32_t n_whole = n_starts < left - n + 1 ? n_starts : left - n + 1;
            for (int32_t i = 0; i < n_whole; i++) {
                uint64_t before = n == 1 ? FL_FASTHASH_START : ngrams[i];
                ngrams[i] = fl_fasthash_join(before, words[i + n - 1]);
            }
            if (n < t->min_n)
                continue;
            for (int32_t i = 0; i < n_whole; i++)
                keys[n_keys + i] = fast_key(t->mapping, ngrams[i]);
            n_keys += n_whole > 0 ? n_whole : 0;
        }
        t->next += n_starts;
    }
    return n_keys;
}

/* As murmur_keys, for the fast hash and any units. */
static int64_t fast_keys(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT keys,
                         int64_t capacity)
{
    const uint8_t *text = t->words.text;
    int32_t first = t->next, gap = fl_units_gap(&t->words);
    int64_t n_keys = 0;
    for (; first < stop; first++) {
        const int32_t *starts = t->words.starts + first;
        fl_units_range range = ngrams_at(t, first);
        fl_fasthash_feature f;
        if (n_keys + range.longest - range.shortest + 1 > capacity)
            break;
        if (range.longest < range.shortest)
            continue;
        fl_fasthash_begin(&f, text + starts[0]);
        for (int32_t n = 1; n <= range.longest; n++) {
            if (gap ? n > 1 : text[starts[n - 1]] == ' ')
                fl_fasthash_part(&f, text + starts[n - 1] - gap);
            if (n >= range.shortest)
                keys[n_keys++] =
                    fast_key(t->mapping, fl_fasthash_until(&f, text + starts[n] - gap));
        }
    }
    t->next = first;
    return n_keys;
}

#endif
