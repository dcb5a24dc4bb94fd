/* Entries of the svmlight parser as most are written, in registers of 64 bytes: the same numbers.
 *
 * First separators are looked up in some kilobytes of text, so that an entry need not wait for the
 * one before it to be read. Then eight entries at a time become columns and values: the characters
 * around each colon are brought together, those before the end of a value too where it is long or
 * has its point elsewhere than behind the first digit, and all else is found out for eight at once.
 * What shuffles bytes of such registers, moves them from general ones or compares them bounds the
 * speed: each takes a cycle, additions and choices half of one.
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
#include "fl_svmlight_places.h"

#ifdef FL_WIDE_TEXT

/* How many bytes of text must stand before an entry that is read here. */
#define PLAIN_BEFORE 32

FL_INLINE __m256i two_halves(const uint8_t *low, const uint8_t *high)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)low);
    __m128i y = _mm_loadu_si128((const __m128i *)(const void *)high);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(x), y, 1);
}

/* Sixteen bytes of text each: those that begin `from` bytes behind the places of every second of
 * eight entries. */
FL_INLINE __m512i four_texts(const uint8_t *base, const uint16_t *at, int from)
{
    const uint8_t *p = base + from;
    return _mm512_inserti64x4(_mm512_castsi256_si512(two_halves(p + at[0], p + at[4])),
                              two_halves(p + at[8], p + at[12]), 1);
}

/* The 32 bytes up to two places each. */
FL_INLINE __m512i two_texts(const uint8_t *base, const uint16_t *at)
{
    const uint8_t *p = base - 32;
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(p + at[0]));
    __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(p + at[2]));
    return _mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1);
}

/* Digits, of each byte pair and then of each pair of these, as numbers of four. */
FL_INLINE __m512i by_four(__m512i digits)
{
    digits = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010A));
    return _mm512_madd_epi16(digits, _mm512_set1_epi32(0x00010064));
}

/* What the last `length` of eight digits each are worth, which are at most eight: bits of *bad
 * where there is another character. */
FL_INLINE __m512i by_eight(const fl_svm_places *places, __m512i x, __m256i length, uint32_t *bad)
{
    __m512i shift = _mm512_slli_epi64(_mm512_cvtepi32_epi64(length), 3);
    shift = _mm512_sub_epi64(places->bits, shift);
    x = _mm512_and_si512(x, _mm512_sllv_epi64(_mm512_set1_epi64(-1), shift));
    __m512i others = _mm512_subs_epu8(x, places->nines);
    *bad = _mm512_test_epi64_mask(others, others);
    x = by_four(x);
    return _mm512_add_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(10000)),
                            _mm512_srli_epi64(x, 32));
}

/* Whether each of the lanes begins with a digit and the point, as far as one can see. */
FL_INLINE int are_fractions(__m512i text, uint32_t lanes)
{
    const __m512i point = _mm512_set1_epi64('.' << 8);
    return (_mm512_cmpneq_epi64_mask(_mm512_and_si512(text, _mm512_set1_epi64(0xFF00)), point)
            & lanes) == 0;
}

/* The values of eight entries whose first characters are `text`: one digit, the point and others,
 * at most eight together. Bits of *bad where there is another character. */
FL_INLINE __m512d small_fractions(const fl_svm_places *places, __m512i text, __m256i length,
                                  uint32_t *bad)
{
    /* of eight, one digit, two, ... */
    static const double POWERS[8] = {1e6, 1e0, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5};
    const __m512i behind = _mm512_set1_epi64(~INT64_C(0xFFFF));
    __m512i size = _mm512_cvtepi32_epi64(length);
    __m512i x = _mm512_xor_si512(text, places->zeros);
    x = _mm512_ternarylogic_epi64(behind, x, _mm512_slli_epi64(x, 8), 0xCA); /* over the point */
    x = _mm512_sllv_epi64(x, _mm512_sub_epi64(places->bits, _mm512_slli_epi64(size, 3)));
    __m512i others = _mm512_subs_epu8(x, places->nines);
    *bad = _mm512_test_epi64_mask(others, others);
    x = by_four(x);
    x = _mm512_add_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(10000)), _mm512_srli_epi64(x, 32));
    return _mm512_div_pd(_mm512_cvtepi64_pd(x),
                         _mm512_permutexvar_pd(size, _mm512_loadu_pd(POWERS)));
}

/* Of eight numbers of 16 digits, four a register (0, 2, 4, 6 and 1, 3, 5, 7), what they are worth,
 * in order. */
FL_INLINE __m512i by_sixteen(__m512i even, __m512i odd)
{
    __m512i x = _mm512_packus_epi32(by_four(even), by_four(odd));
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

/* Of the digits and points x, less '0', the digits alone: those up to the point move one place on,
 * over it, which is at `point`. `before` are the bytes before those of x, `place` says where. */
FL_INLINE __m512i without_point(__m512i x, __m512i before, __m512i place, __m512i point)
{
    return _mm512_mask_mov_epi8(before, _mm512_cmpgt_epu8_mask(place, point), x);
}

/* Of each eight bytes the place of a point, or 0. */
FL_INLINE __m512i point_places(__m512i x, __m512i place)
{
    __mmask64 points = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('.' - '0'));
    return _mm512_sad_epu8(_mm512_maskz_mov_epi8(points, place), _mm512_setzero_si512());
}

/* x + x with the halves of 16 bytes exchanged */
FL_INLINE __m512i added_halves(__m512i x)
{
    return _mm512_add_epi64(x, _mm512_shuffle_epi32(x, _MM_PERM_BADC));
}

/* The first byte of every eight, eight times. */
FL_INLINE __m512i spread_bytes(__m512i x)
{
    return _mm512_shuffle_epi8(x, _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
}

/* For _mm256_shuffle_epi8: the first byte of every four, four times. */
FL_INLINE __m256i spread_words(void)
{
    return _mm256_broadcastsi128_si256(
        _mm_set_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0));
}

FL_INLINE uint64_t other_digits(__m512i x)
{
    return _mm512_cmpgt_epu8_mask(x, _mm512_set1_epi8(9));
}

/* The characters, less '0', that are the last `length` of as many; `left` says how many follow. */
FL_INLINE __m512i last_digits(__m512i text, __m512i left, __m512i length)
{
    __mmask64 kept = _mm512_cmpgt_epu8_mask(length, left);
    return _mm512_maskz_sub_epi8(kept, text, _mm512_set1_epi8('0'));
}

/* The values of eight entries of at most 15 characters without sign, of which *points tells where
 * they have a point: bits of *bad where there is another character. */
FL_INLINE __m512d short_values(const uint8_t *base, const uint16_t *at, __m256i length,
                               uint32_t *points, uint32_t *bad)
{
    /* 10^k for a point at 15 - k; 1 without */
    static const double POWERS[16] = {1e0, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8,
                                      1e7, 1e6,  1e5,  1e4,  1e3,  1e2,  1e1, 1e0};
    const __m512i place = _mm512_broadcast_i32x4(
        _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    const __m512i left = _mm512_broadcast_i32x4(
        _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i lengths = _mm512_castsi256_si512(_mm256_shuffle_epi8(length, spread_words()));
    __m512i even = last_digits(four_texts(base, at + 1, -16), left, _mm512_permutexvar_epi32(
        _mm512_set_epi32(6, 6, 6, 6, 4, 4, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0), lengths));
    __m512i odd = last_digits(four_texts(base, at + 3, -16), left, _mm512_permutexvar_epi32(
        _mm512_set_epi32(7, 7, 7, 7, 5, 5, 5, 5, 3, 3, 3, 3, 1, 1, 1, 1), lengths));
    __m512i even_point = added_halves(point_places(even, place));
    __m512i odd_point = added_halves(point_places(odd, place));
    even = without_point(even, _mm512_bslli_epi128(even, 1), place, spread_bytes(even_point));
    odd = without_point(odd, _mm512_bslli_epi128(odd, 1), place, spread_bytes(odd_point));
    *bad = 0;
    if (FL_UNLIKELY(other_digits(_mm512_max_epu8(even, odd)) != 0)) {
        __m128i others = _mm_set_epi64x((int64_t)other_digits(odd), (int64_t)other_digits(even));
        uint32_t wrong = _mm_test_epi16_mask(others, others);
        *bad = _pdep_u32(wrong, 0x55) | _pdep_u32(wrong >> 4, 0xAA);
    }
    __m512i point = _mm512_unpacklo_epi64(even_point, odd_point);
    __m512d d = _mm512_permutex2var_pd(_mm512_loadu_pd(POWERS), point,
                                       _mm512_loadu_pd(POWERS + 8));
    *points = _mm512_test_epi64_mask(point, point);
    return _mm512_div_pd(_mm512_cvtepu64_pd(by_sixteen(even, odd)), d);
}

/* m / 10^k of eight, see above: bits of *bad where that is beyond what this file does. */
FL_INLINE __m512d wide_quotients(__m512i m, __m512i k, uint32_t *bad)
{
    __m512d d = wide_powers(k), h = _mm512_cvtepu64_pd(m), q = _mm512_div_pd(h, d);
    *bad |= _mm512_cmpgt_epu64_mask(k, _mm512_set1_epi64(22));
    if (_mm512_cmpgt_epu64_mask(m, _mm512_set1_epi64(INT64_C(1) << 53)) != 0) {
        __m512i rest = _mm512_sub_epi64(m, _mm512_cvtpd_epu64(h));
        __m512d l = _mm512_cvtepi64_pd(rest);
        __m512d e = _mm512_div_pd(_mm512_add_pd(_mm512_fnmadd_pd(q, d, h), l), d);
        __m512d margin = _mm512_mul_pd(q, _mm512_set1_pd(0x1p-102));
        __m512d least = _mm512_add_pd(q, _mm512_sub_pd(e, margin));
        q = _mm512_add_pd(q, _mm512_add_pd(e, margin));
        *bad |= _mm512_cmp_pd_mask(least, q, _CMP_NEQ_OQ);
    }
    return q;
}

/* The digits of two entries of at most 31 characters; *point becomes where the points are. */
FL_INLINE __m512i long_digits(__m512i text, __m512i length, __m512i *point)
{
    const __m512i place = _mm512_broadcast_i64x4(_mm256_set_epi8(
        31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9,
        8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m512i x = last_digits(text, _mm512_sub_epi8(_mm512_set1_epi8(31), place), length);
    __m512i where = added_halves(point_places(x, place));
    where = _mm512_add_epi64(where, _mm512_shuffle_i64x2(where, where, _MM_SHUFFLE(2, 3, 0, 1)));
    __m512i lower = _mm512_maskz_shuffle_i64x2(0xCC, x, x, _MM_SHUFFLE(2, 2, 0, 0));
    *point = where;
    return without_point(x, _mm512_alignr_epi8(x, lower, 15), place, spread_bytes(where));
}

/* The same where the point follows the first digit. */
FL_INLINE __m512i long_fraction_digits(__m512i text, __m512i decimals)
{
    const __m512i left = _mm512_broadcast_i64x4(_mm256_set_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31));
    __m512i before = _mm512_alignr_epi8(
        text, _mm512_shuffle_i64x2(text, text, _MM_SHUFFLE(2, 2, 0, 0)), 15);
    before = _mm512_mask_mov_epi8(before, _mm512_cmpgt_epu8_mask(decimals, left), text);
    return _mm512_maskz_sub_epi8(_mm512_cmpge_epu8_mask(decimals, left), before,
                                 _mm512_set1_epi8('0'));
}

/* The same of at most 31 characters, which with `fractions` are one digit, the point and others;
 * bits of *bad also where wide_quotients says so. */
FL_INLINE __m512d long_values(const uint8_t *base, const uint16_t *at, __m256i length,
                              int fractions, uint32_t *points, uint32_t *bad)
{
    __m256i decimals = _mm256_sub_epi32(length, _mm256_set1_epi32(2));
    __m512i spread = _mm512_castsi256_si512(
        _mm256_shuffle_epi8(fractions ? decimals : length, spread_words()));
    __m512i two = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512i x[4], point[4];
    for (int i = 0; i < 4; i++) {
        __m512i text = two_texts(base, at + 1 + 4 * i);
        __m512i size = _mm512_permutexvar_epi32(two, spread);
        two = _mm512_add_epi32(two, _mm512_set1_epi32(2));
        x[i] = fractions ? long_fraction_digits(text, size) : long_digits(text, size, &point[i]);
    }
    *bad = 0;
    if (FL_UNLIKELY(other_digits(_mm512_max_epu8(_mm512_max_epu8(x[0], x[1]),
                                                 _mm512_max_epu8(x[2], x[3]))) != 0)) {
        for (int i = 0; i < 4; i++) {
            uint64_t others = other_digits(x[i]);
            *bad |= ((uint32_t)others != 0 ? 1u : 0) << 2 * i;
            *bad |= (others >> 32 != 0 ? 2u : 0) << 2 * i;
        }
    }
    const __m512i upper_of = _mm512_set_epi64(13, 9, 12, 8, 5, 1, 4, 0);
    __m512i first = by_sixteen(x[0], x[1]), second = by_sixteen(x[2], x[3]), k;
    __m512i upper = _mm512_permutex2var_epi64(first, upper_of, second);
    __m512i lower = _mm512_permutex2var_epi64(
        first, _mm512_set_epi64(15, 11, 14, 10, 7, 3, 6, 2), second);
    /* 2^64 = 1844.67 * 10^16 */
    *bad |= _mm512_cmpge_epu64_mask(upper, _mm512_set1_epi64(1844));
    __m512i m = _mm512_add_epi64(
        _mm512_mullo_epi64(upper, _mm512_set1_epi64(INT64_C(10000000000000000))), lower);
    if (fractions) {
        *points = 255;
        k = _mm512_cvtepi32_epi64(decimals);
    } else {
        k = _mm512_permutex2var_epi64(_mm512_unpacklo_epi64(point[0], point[1]), upper_of,
                                      _mm512_unpacklo_epi64(point[2], point[3]));
        *points = _mm512_test_epi64_mask(k, k);
        k = _mm512_maskz_sub_epi64((__mmask8)*points, _mm512_set1_epi64(31), k);
    }
    return wide_quotients(m, k, bad);
}

/* Whether all of the lanes are the value 1: its length and its first character. */
FL_INLINE int are_ones(__m256i length, __m512i text, uint32_t lanes)
{
    const __m512i one = _mm512_set1_epi64('1');
    return (_mm256_cmpneq_epi32_mask(length, _mm256_set1_epi32(1)) & lanes) == 0
        && (_mm512_cmpneq_epi64_mask(_mm512_and_si512(text, _mm512_set1_epi64(0xFF)), one)
            & lanes) == 0;
}

/* Whether one of the lanes is above a limit. */
FL_INLINE int above(__m256i x, int limit, uint32_t lanes)
{
    return (_mm256_cmpgt_epu32_mask(x, _mm256_set1_epi32(limit)) & lanes) != 0;
}

/* The values of eight entries, so long with their signs, which begin with `text`. */
FL_INLINE __m512d wide_values(const fl_svm_places *places, __m256i length, __m512i text,
                              uint32_t lanes, uint32_t *bad)
{
    const uint8_t *base = places->base;
    const uint16_t *at = places->at + places->next;
    const __m256i one = _mm256_set1_epi32(1);
    uint32_t points;
    __m512d value;
    if (are_fractions(text, lanes) && !above(length, 8, lanes)) {
        value = small_fractions(places, text, length, bad);
        /* nothing, before text that looks like it */
        *bad |= _mm256_testn_epi32_mask(length, length);
        return value;
    }
    __mmask8 negative = _mm512_cmpeq_epi64_mask(
        _mm512_and_si512(text, _mm512_set1_epi64(0xFF)), _mm512_set1_epi64('-'));
    length = _mm256_mask_sub_epi32(length, negative, length, one);
    text = _mm512_mask_srli_epi64(text, negative, text, 8);
    if (!above(length, 15, lanes)) {
        value = short_values(base, at, length, &points, bad);
    } else if (are_fractions(text, lanes)) {
        value = long_values(base, at, length, 1, &points, bad);
    } else {
        value = long_values(base, at, length, 0, &points, bad);
    }
    /* a point alone, nothing, or too much */
    *bad |= _mm256_mask_cmpeq_epi32_mask((__mmask8)points, length, one)
          | _mm256_cmpgt_epu32_mask(_mm256_sub_epi32(length, one), _mm256_set1_epi32(30));
    return _mm512_castsi512_pd(_mm512_mask_or_epi64(
        _mm512_castpd_si512(value), negative, _mm512_castpd_si512(value),
        _mm512_set1_epi64(INT64_MIN)));
}

/* Turns the next n entries, at most eight, into columns and values up to the first that is bad;
 * returns how many. The last of *before is the column before them. */
FL_INLINE int64_t take_batch(fl_svm *s, fl_svm_places *places, uint32_t n, __m256i *before,
                             int *sorted)
{
    const uint8_t *base = places->base;
    const uint16_t *at = places->at + places->next;
    uint32_t bad, bad_value = 0, lanes = (1u << n) - 1;
    /* from one separator to the next: of an index in the lower half, of its value in the upper */
    __m256i length = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(const void *)at),
                                      _mm256_loadu_si256((const __m256i *)(const void *)(at - 1)));
    length = _mm256_sub_epi16(length, _mm256_set1_epi16(1));
    __m256i digits = _mm256_maskz_mov_epi16(0x5555, length);
    length = _mm256_maskz_srli_epi32((__mmask8)lanes, length, 16);
    /* seven bytes before the colon, and behind it eight */
    __m512i even = four_texts(base, at, -7), odd = four_texts(base, at + 2, -7);
    __m512i text = _mm512_unpackhi_epi64(even, odd), x = _mm512_unpacklo_epi64(even, odd);
    uint32_t bad_index = _mm256_testn_epi32_mask(digits, digits);
    if (FL_UNLIKELY(above(digits, 7, lanes))) {
        x = _mm512_unpacklo_epi64(four_texts(base, at, -8), four_texts(base, at + 2, -8));
        bad_index |= _mm256_cmpgt_epu32_mask(digits, _mm256_set1_epi32(8));
    } else {
        x = _mm512_slli_epi64(x, 8);
    }
    x = by_eight(places, _mm512_xor_si512(x, places->zeros), digits, &bad);
    bad |= bad_index;
    __m256i column = _mm512_cvtepi64_epi32(x);
    __m512d value = _mm512_set1_pd(1.0);
    if (!are_ones(length, text, lanes)) {
        value = wide_values(places, length, text, lanes, &bad_value);
    }
    bad |= bad_value;
    bad |= _mm256_cmplt_epi32_mask(column, _mm256_set1_epi32((int32_t)s->lowest_index));
    bad &= lanes;
    __m256i others = _mm256_alignr_epi32(column, *before, 7);
    uint32_t unsorted = _mm256_cmple_epi32_mask(column, others);
    if (FL_UNLIKELY(bad != 0)) {
        n = (uint32_t)fl_lowest_bit(bad);
        lanes = (1u << n) - 1;
    }
    if (FL_LIKELY(s->entry_room - s->n_entries >= 8)) { /* what is too many goes over */
        _mm256_storeu_si256((__m256i *)(void *)(s->columns + s->n_entries), column);
        _mm512_storeu_pd(s->values + s->n_entries, value);
    } else {
        _mm256_mask_storeu_epi32(s->columns + s->n_entries, (__mmask8)lanes, column);
        _mm512_mask_storeu_pd(s->values + s->n_entries, (__mmask8)lanes, value);
    }
    if (FL_LIKELY(n == 8)) {
        *before = column;
    } else if (n > 0) {
        *before = _mm256_permutevar8x32_epi32(column, _mm256_set1_epi32((int32_t)n - 1));
    }
    *sorted &= (unsorted & lanes) == 0;
    s->n_entries += n;
    places->next += 2 * n;
    return n;
}

/* So few entries are not worth a batch. */
#define FEW 3

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
    __m256i before = _mm256_set1_epi32((int32_t)*previous);
    go_to(places, p);
    uint32_t others = other_entries(places);
    if (entries_before(places, others) <= FEW) {
        return take_few(s, places, p, previous, sorted);
    }
    int64_t start = places->next;
    for (int last = 0; ; ) {
        /* Eight is written as such, so that no batch need wait for the count of the one before. */
        int64_t n = 8, room = s->entry_room - s->n_entries;
        others = other_entries(places);
        if (FL_UNLIKELY(others != 0 || room < 8)) {
            n = entries_before(places, others);
            n = n < room ? n : room;
            last = 1;
        }
        if (n == 0 || take_batch(s, places, (uint32_t)n, &before, sorted) < n || last) {
            break;
        }
        if (places->next + 15 > places->count && places->searched < places->end) {
            p = places->base + places->at[places->next - 1] + 1;
            find_places(places, p);
            start = 1;
        }
    }
    *previous = _mm256_extract_epi32(before, 7);
    return places->next > start ? places->base + places->at[places->next - 1] : p;
}

#endif
#endif
