/* Where separators stand in svmlight text, looked up in registers of 64 bytes. */
#ifndef FL_SVMLIGHT_PLACES_H
#define FL_SVMLIGHT_PLACES_H

#include "fl_svmlight_words.h"

#ifdef FL_WIDE_TEXT

/* Where separators stand in the text from `base` on, which has been searched up to `searched` of
 * at most `end`: at[1 .. count] of them, which are the characters what[1 .. count], and at[0] = -1
 * before; at[next] is the first that belongs to no entry read so far. Behind the last stand as many
 * as a batch may look at: its place again, of no character. */
#define SEARCHED 4096
typedef struct {
    /* Of bytes '0', of bytes 9, of numbers 64: loaded from here, for compilers would move such
     * constants from a general register in every batch, which takes the place of a shuffle. */
    __m512i zeros, nines, bits;
    const uint8_t *base, *searched, *end;
    int64_t next, count;
    uint16_t at[1 + SEARCHED + 64 + 32];
    uint8_t what[1 + SEARCHED + 64 + 64];
} fl_svm_places;

FL_INLINE void no_places(fl_svm_places *places, const uint8_t *end)
{
    places->zeros = _mm512_set1_epi8('0');
    places->nines = _mm512_set1_epi8(9);
    places->bits = _mm512_set1_epi64(64);
    places->base = places->searched = NULL;
    places->end = end;
    places->next = 1;
    places->count = 0;
}

/* Looks up the separators from p on; up to 63 bytes from `end` on are read. */
static void find_places(fl_svm_places *places, const uint8_t *p)
{
    const __m512i step = _mm512_set1_epi16(64);
    const __m512i bytes = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const uint8_t *stop = places->end - p < SEARCHED ? places->end : p + SEARCHED;
    __m512i offset = _mm512_setzero_si512();
    uint16_t *at = places->at + 1;
    uint8_t *what = places->what + 1;
    places->base = p;
    places->at[0] = UINT16_MAX;
    for (; p < stop; p += 64) {
        __m512i text = _mm512_loadu_si512(p), found;
        uint64_t bits = _mm512_cmple_epu8_mask(text, _mm512_set1_epi8(' '))
                      | _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(':'));
        int count = (int)_mm_popcnt_u64(bits);
        found = _mm512_maskz_compress_epi8(bits, bytes);
        _mm512_storeu_si512(at, _mm512_add_epi16(
            offset, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found))));
        if (FL_UNLIKELY(count > 32)) {
            _mm512_storeu_si512(at + 32, _mm512_add_epi16(
                offset, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(found, 1))));
        }
        found = _mm512_maskz_compress_epi8(bits, text);
        _mm256_storeu_si256((__m256i *)(void *)what, _mm512_castsi512_si256(found));
        if (FL_UNLIKELY(count > 32)) {
            _mm512_storeu_si512(what, found);
        }
        at += count;
        what += count;
        offset = _mm512_add_epi16(offset, step);
    }
    places->searched = p;
    places->next = 1;
    places->count = at - places->at - 1;
    _mm512_storeu_si512(at, _mm512_set1_epi16((int16_t)at[-1]));
    _mm512_storeu_si512(what, _mm512_setzero_si512());
}

/* Lets at[next] be the first separator from p on, with those of eight entries where there are as
 * many. */
FL_INLINE void go_to(fl_svm_places *places, const uint8_t *p)
{
    while (places->next <= places->count && places->base + places->at[places->next] < p) {
        places->next++;
    }
    if (places->next + 15 > places->count && places->searched < places->end) {
        find_places(places, p);
    }
}

/* Bits for those of eight entries that are not known to have one space behind them. */
FL_INLINE uint32_t other_entries(const fl_svm_places *places)
{
    const uint8_t *what = places->what + places->next;
    return _mm_cmpneq_epi16_mask(_mm_loadu_si128((const __m128i *)(const void *)what),
                                 _mm_set1_epi16(0x203A)); /* ": " */
}

/* How many entries come before these, of at most eight, and perhaps one with what else ends a
 * token behind it. */
FL_INLINE int64_t entries_before(const fl_svm_places *places, uint32_t others)
{
    const uint8_t *what = places->what + places->next;
    int64_t n = fl_lowest_bit(others | 256);
    return n + (n < 8 && what[2 * n] == ':' && ends_token(what[2 * n + 1]));
}

#endif
#endif
