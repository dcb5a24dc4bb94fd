/* Entries of the svmlight parser as most are written, in registers of 64 bytes: the same numbers.
 *
 * First separators are looked up in some kilobytes of text, so that an entry need not wait for the
 * one before it to be read. Then the characters of up to WIDE_ENTRIES entries are laid out, digits
 * at the same places whatever their number and wherever the point, and at last eight entries at a
 * time become columns and values.
 *
 * A value is m / d with an integer m < 2^64 and d = 10^k <= 10^22, which a double holds. If one
 * holds m, too, that is a single division. Otherwise m = h + l, the nearest double and an integer
 * up to 2^10; q is the double nearest to h / d and h - q d exact in one fused operation, so that
 * m / d = q + ((h - q d) + l) / d. The second term is at most 2^-52 q, and what rounding does to it
 * twice less than 2^-103 q: where 2^-102 q more or less does not change the rounded sum, it is the
 * nearest double. Where it does, as in the middle between two doubles, the entry is left to
 * fl_decimal, as is every one that is written in another way. */
#ifndef FL_SVMLIGHT_WIDE_H
#define FL_SVMLIGHT_WIDE_H

#include "fl_svmlight_entry.h"

#ifdef FL_WIDE_TEXT

/* How many bytes of text must stand before an entry that is read here. */
#define PLAIN_BEFORE 40

/* Entries of which the characters are laid out before they become numbers. */
#define WIDE_ENTRIES 64

/* Where separators stand in the text from `base` on, which has been searched up to `searched` of
 * at most `end`: at[1 .. count] of them, and at[0] = -1 before; at[next] is the first that belongs
 * to no entry read so far. */
#define SEARCHED 4096
typedef struct {
    const uint8_t *base, *searched, *end;
    int64_t next, count;
    uint16_t at[1 + SEARCHED + 64 + 2 * 16];
} fl_svm_places;

FL_INLINE void no_places(fl_svm_places *places, const uint8_t *end)
{
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
    uint16_t *at = places->at;
    places->base = p;
    *at++ = UINT16_MAX;
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
        at += count;
        offset = _mm512_add_epi16(offset, step);
    }
    places->searched = p;
    places->next = 1;
    places->count = at - places->at - 1;
}

/* Lets at[next] be the first separator from p on, with two at least where there are as many. */
FL_INLINE void go_to(fl_svm_places *places, const uint8_t *p)
{
    while (places->next <= places->count && places->base + places->at[places->next] < p) {
        places->next++;
    }
    if (places->next >= places->count && places->searched < places->end) {
        find_places(places, p);
    }
}

/* The characters of entries. An index: the eight up to its colon. A value: the sums of every four
 * of its last 24 digits as numbers of four digits, the point taken out, from the third on; and how
 * many of them are decimals, with bit 7 for its sign. */
typedef struct {
    uint64_t indices[WIDE_ENTRIES];
    uint32_t digits[WIDE_ENTRIES][8];
    uint8_t decimals[WIDE_ENTRIES];
} fl_svm_laid_out;

/* Digits, of each byte pair and then of each pair of these, as numbers of four. */
FL_INLINE __m512i by_four(__m512i digits)
{
    digits = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010A));
    return _mm512_madd_epi16(digits, _mm512_set1_epi32(0x00010064));
}

/* Eight indices: bits of *bad where one has no digit, more than eight or other characters. */
FL_INLINE __m256i wide_columns(const uint64_t *indices, const uint16_t *at, uint32_t *bad)
{
    /* from one separator to the next: of an index in the lower half, of its value in the upper */
    __m256i length = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(const void *)at),
                                      _mm256_loadu_si256((const __m256i *)(const void *)(at - 1)));
    length = _mm256_sub_epi32(_mm256_and_si256(length, _mm256_set1_epi32(0xFFFF)),
                              _mm256_set1_epi32(1));
    __m512i shift = _mm512_slli_epi64(_mm512_cvtepi32_epi64(length), 3);
    shift = _mm512_sub_epi64(_mm512_set1_epi64(64), shift);
    __m512i x = _mm512_xor_si512(_mm512_loadu_si512(indices), _mm512_set1_epi8('0'));
    x = _mm512_and_si512(x, _mm512_sllv_epi64(_mm512_set1_epi64(-1), shift));
    __m512i others = _mm512_subs_epu8(x, _mm512_set1_epi8(9));
    *bad = _mm512_test_epi64_mask(others, others)
         | _mm256_cmpgt_epu32_mask(_mm256_sub_epi32(length, _mm256_set1_epi32(1)),
                                   _mm256_set1_epi32(7));
    x = by_four(x);
    x = _mm512_add_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(10000)), _mm512_srli_epi64(x, 32));
    return _mm512_cvtepi64_epi32(x);
}

/* Of four entries (0, 1 and 2, 3) their upper and lower 16 digits: upper 0 and 2, lower 0 and 2,
 * upper 1 and 3, lower 1 and 3. */
FL_INLINE __m512i by_sixteen(const uint32_t (*digits)[8])
{
    __m512i x = _mm512_packus_epi32(_mm512_loadu_si512(digits), _mm512_loadu_si512(digits + 2));
    x = _mm512_madd_epi16(x, _mm512_set1_epi32(0x00012710));
    return _mm512_add_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(100000000)),
                            _mm512_srli_epi64(x, 32));
}

/* 10^k for k <= 22 */
FL_INLINE __m512d wide_powers(__m512i k)
{
    __m512d low = _mm512_permutex2var_pd(_mm512_loadu_pd(FL_EXACT_POW10), k,
                                         _mm512_loadu_pd(FL_EXACT_POW10 + 8));
    /* the eight from 15 on, the last that there are */
    __m512d high = _mm512_permutexvar_pd(_mm512_sub_epi64(k, _mm512_set1_epi64(15)),
                                         _mm512_loadu_pd(FL_EXACT_POW10 + 15));
    return _mm512_mask_mov_pd(low, _mm512_cmpgt_epu64_mask(k, _mm512_set1_epi64(15)), high);
}

/* Eight values: bits of *bad where one is beyond what this file does. */
FL_INLINE __m512d wide_values(const uint32_t (*digits)[8], const uint8_t *decimals, uint32_t *bad)
{
    __m512i first = by_sixteen(digits), second = by_sixteen(digits + 4);
    __m512i upper = _mm512_permutex2var_epi64(
        first, _mm512_set_epi64(13, 9, 12, 8, 5, 1, 4, 0), second);
    __m512i lower = _mm512_permutex2var_epi64(
        first, _mm512_set_epi64(15, 11, 14, 10, 7, 3, 6, 2), second);
    /* 2^64 = 1844.67 * 10^16 */
    *bad = _mm512_cmpge_epu64_mask(upper, _mm512_set1_epi64(1844));
    __m512i m = _mm512_add_epi64(
        _mm512_mullo_epi64(upper, _mm512_set1_epi64(INT64_C(10000000000000000))), lower);
    __m512i how = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)decimals));
    __m512i k = _mm512_and_si512(how, _mm512_set1_epi64(31));
    __m512i sign = _mm512_slli_epi64(_mm512_srli_epi64(how, 7), 63);
    *bad |= _mm512_cmpgt_epu64_mask(k, _mm512_set1_epi64(22));
    __m512d d = wide_powers(k), h = _mm512_cvtepu64_pd(m), q = _mm512_div_pd(h, d);
    if (_mm512_cmpgt_epu64_mask(m, _mm512_set1_epi64(INT64_C(1) << 53)) != 0) {
        __m512i rest = _mm512_sub_epi64(m, _mm512_cvtpd_epu64(h));
        __m512d l = _mm512_cvtepi64_pd(rest);
        __m512d e = _mm512_div_pd(_mm512_add_pd(_mm512_fnmadd_pd(q, d, h), l), d);
        __m512d margin = _mm512_mul_pd(q, _mm512_set1_pd(0x1p-102));
        __m512d least = _mm512_add_pd(q, _mm512_sub_pd(e, margin));
        q = _mm512_add_pd(q, _mm512_add_pd(e, margin));
        *bad |= _mm512_cmp_pd_mask(least, q, _CMP_NEQ_OQ);
    }
    return _mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(q), sign));
}

/* Turns n entries that are laid out into columns and values (1 with `ones`) up to the first that is
 * bad; returns how many. Their separators stand from *at on. */
FL_INLINE int64_t take_laid_out(fl_svm *s, const fl_svm_laid_out *laid, const uint16_t *at,
                                int64_t n, int ones, int64_t *previous, int *sorted)
{
    const __m256i before = _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 0);
    int32_t *columns = s->columns + s->n_entries, last = (int32_t)*previous;
    double *values = s->values + s->n_entries;
    int64_t taken = 0;
    uint32_t unsorted = 0;
    while (taken < n) {
        uint32_t bad, bad_value = 0, lanes = n - taken < 8 ? (1u << (n - taken)) - 1 : 255u;
        __m256i column = wide_columns(laid->indices + taken, at + 2 * taken, &bad), others;
        __m512d value = _mm512_set1_pd(1.0);
        if (!ones) {
            value = wide_values(laid->digits + taken, laid->decimals + taken, &bad_value);
        }
        bad |= bad_value;
        bad |= _mm256_cmplt_epi32_mask(column, _mm256_set1_epi32((int32_t)s->lowest_index));
        bad &= lanes;
        if (FL_UNLIKELY(bad != 0)) {
            lanes &= (bad & (0 - bad)) - 1;
            n = taken + _mm_popcnt_u32(lanes);
        }
        others = _mm256_mask_set1_epi32(_mm256_permutevar8x32_epi32(column, before), 1, last);
        unsorted |= _mm256_mask_cmple_epi32_mask((__mmask8)lanes, column, others);
        _mm256_mask_storeu_epi32(columns + taken, (__mmask8)lanes, column);
        _mm512_mask_storeu_pd(values + taken, (__mmask8)lanes, value);
        last = _mm256_cvtsi256_si32(_mm256_permutevar8x32_epi32(column, _mm256_set1_epi32(7)));
        taken += 8;
    }
    if (n > 0) {
        *previous = columns[n - 1];
    }
    *sorted &= unsorted == 0;
    s->n_entries += n;
    return n;
}

FL_INLINE uint32_t load4(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

/* Lays out entries digits:1 with a space or the newline behind them, at most `most`; how many. */
FL_INLINE int64_t lay_out_ones(fl_svm_laid_out *laid, const fl_svm_places *places, int64_t most)
{
    const uint16_t *at = places->at + places->next;
    int64_t n = 0;
    for (; n < most; n++) {
        const uint8_t *colon = places->base + at[2 * n];
        uint32_t word = load4(colon) & 0xFFFFFF;
        laid->indices[n] = fl_load8(colon - 8);
        if (FL_UNLIKELY(word != 0x20313A)) { /* ":1 " */
            return n + (word == 0x0A313A);
        }
    }
    return n;
}

/* Bytes of ones from `place` on, of 32. By way of the memory, for a mask register that is made of a
 * position takes so long that few entries can be under way. */
FL_INLINE __m256i from_place(uint32_t place)
{
    static const uint64_t BYTES[8] = {0, 0, 0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    return _mm256_loadu_si256((const __m256i *)(const void *)((const uint8_t *)BYTES + 32 - place));
}

/* Lays out entries digits:number with what ends a token behind them, at most `most`; returns how
 * many. None comes after the newline. */
FL_INLINE int64_t lay_out_numbers(fl_svm_laid_out *laid, const fl_svm_places *places, int64_t most)
{
    const uint16_t *at = places->at + places->next;
    int64_t n = 0;
    for (; n < most; n++) {
        const uint8_t *colon = places->base + at[2 * n], *stop = places->base + at[2 * n + 1];
        uint32_t negative = colon[1] == '-';
        uint32_t length = (uint32_t)(stop - colon) - 1 - negative; /* with the point */
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(stop - 32));
        __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(stop - 33));
        if (FL_UNLIKELY(*colon != ':' || length - 1 > 24)) {
            break;
        }
        /* where the point is, mostly behind one digit, of 32 characters; 32 if there is none */
        uint32_t place = 33 - length, none = 0;
        if (FL_UNLIKELY(colon[2 + negative] != '.')) {
            uint32_t point = _mm256_cmpeq_epi8_mask(x, _mm256_set1_epi8('.'));
            point &= UINT32_MAX << (32 - length);
            place = (uint32_t)fl_lowest_bit((uint64_t)point | UINT64_C(1) << 32);
            none = place >> 5;
        }
        uint32_t n_digits = length - 1 + none;
        /* characters up to the point move one place on, over it */
        x = _mm256_blendv_epi8(y, x, from_place((place + 1) & (none - 1)));
        x = _mm256_and_si256(_mm256_xor_si256(x, _mm256_set1_epi8('0')),
                             from_place(32 - n_digits));
        y = _mm256_subs_epu8(x, _mm256_set1_epi8(9));
        if (FL_UNLIKELY(n_digits - 1 > 23 || !_mm256_testz_si256(y, y))) {
            break;
        }
        x = _mm256_maddubs_epi16(x, _mm256_set1_epi16(0x010A));
        x = _mm256_madd_epi16(x, _mm256_set1_epi32(0x00010064));
        _mm256_storeu_si256((__m256i *)(void *)laid->digits[n], x);
        laid->indices[n] = fl_load8(colon - 8);
        laid->decimals[n] = (uint8_t)((31 - place + none) | negative << 7);
        if (FL_UNLIKELY(*stop != ' ')) {
            return n + (ends_token(*stop) != 0);
        }
    }
    return n;
}

/* Whether fewer than FEW entries with one space behind each are known to follow: so few are not
 * worth laying out. */
#define FEW 4
FL_INLINE int are_few(const fl_svm_places *places)
{
    const uint16_t *at = places->at + places->next;
    for (int k = 1; k < 2 * FEW; k += 2) {
        if (places->next + k > places->count || places->base[at[k]] != ' ') {
            return 1;
        }
    }
    return 0;
}

/* The entries from p on one by one, up to the first that is not as most are. */
FL_INLINE const uint8_t *take_few(fl_svm *s, fl_svm_places *places, const uint8_t *p,
                                  int64_t *previous, int *sorted)
{
    while (places->next < places->count && s->n_entries < s->entry_room) {
        const uint8_t *colon = places->base + places->at[places->next];
        const uint8_t *stop = places->base + places->at[places->next + 1];
        uint32_t index;
        if (!plain_entry(p, colon, stop, &index, &s->values[s->n_entries])
            || index < s->lowest_index || !ends_token(*stop)) {
            break;
        }
        *sorted &= index > *previous;
        *previous = index;
        s->columns[s->n_entries++] = (int32_t)index;
        places->next += 2;
        p = stop;
        if (*stop != ' ') {
            break;
        }
        p++;
    }
    return p;
}

/* Entries from the token at p on, up to one that take_entry must read; see take_entries. */
static const uint8_t *take_regular(fl_svm *s, fl_svm_places *places, const uint8_t *p,
                                   int64_t *previous, int *sorted)
{
    fl_svm_laid_out laid;
    for (int ones = 1; ; ) {
        int64_t most, n, taken;
        go_to(places, p);
        most = (places->count + 1 - places->next) / 2;
        most = most < WIDE_ENTRIES ? most : WIDE_ENTRIES;
        most = most < s->entry_room - s->n_entries ? most : s->entry_room - s->n_entries;
        if (most <= 0) {
            return p;
        }
        if (ones && are_few(places)) {
            return take_few(s, places, p, previous, sorted);
        }
        n = ones ? lay_out_ones(&laid, places, most) : lay_out_numbers(&laid, places, most);
        const uint16_t *at = places->at + places->next;
        taken = ones ? take_laid_out(s, &laid, at, n, 1, previous, sorted)
                     : take_laid_out(s, &laid, at, n, 0, previous, sorted);
        if (taken > 0) {
            p = places->base + at[2 * taken - 1];
            places->next += 2 * taken;
            if (*p != ' ') {
                return p;
            }
            p++;
        }
        if (taken < most) {
            if (!ones) {
                return p;
            }
            ones = 0;
        }
    }
}

#endif
#endif
