/* Words of 16 or 32 characters for the svmlight parser: where separators stand in them, and what
 * the digits in them are worth. With SSE2 or without. */
#ifndef FL_SVMLIGHT_WORDS_H
#define FL_SVMLIGHT_WORDS_H

#include "fl_decimal.h"

/* Bit 1: blank; bit 2: ends a token (blank, newline, comment sign). */
static const uint8_t CLASS[256] = {
    ['\t'] = 3, ['\n'] = 2, ['\v'] = 3, ['\f'] = 3, ['\r'] = 3, [' '] = 3, ['#'] = 2,
};

FL_INLINE int is_blank(uint8_t c)
{
    return CLASS[c] & 1;
}

FL_INLINE int ends_token(uint8_t c)
{
    return CLASS[c] & 2;
}

/* The last `count` (0 to 8) of eight characters. */
static const uint64_t FL_LAST_BYTES[9] = {
    0,
    UINT64_C(0xFF00000000000000),
    UINT64_C(0xFFFF000000000000),
    UINT64_C(0xFFFFFF0000000000),
    UINT64_C(0xFFFFFFFF00000000),
    UINT64_C(0xFFFFFFFFFF000000),
    UINT64_C(0xFFFFFFFFFFFF0000),
    UINT64_C(0xFFFFFFFFFFFFFF00),
    UINT64_MAX,
};

#ifdef FL_SSE2

FL_INLINE __m128i fl_load_half(const void *p)
{
    return _mm_loadl_epi64((const __m128i *)p);
}

FL_INLINE uint64_t fl_separators16(const uint8_t *p)
{
    __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i blank = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(' ')), text);
    __m128i colon = _mm_cmpeq_epi8(text, _mm_set1_epi8(':'));
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(blank, colon));
}

/* One bit for each of the 64 bytes from p on, the lowest for the first: is it a colon, or a
 * character up to the space (blanks, the newline, control characters)? */
FL_INLINE uint64_t fl_separators(const uint8_t *p)
{
    return fl_separators16(p) | fl_separators16(p + 16) << 16 | fl_separators16(p + 32) << 32
         | fl_separators16(p + 48) << 48;
}

/* 1, and the values of the `a_count` digits before a_end and the `b_count` digits before b_end (0
 * to 8 each), or 0 when one of them is no digit. Eight bytes before each end are read. */
FL_INLINE int fl_two_numbers(const uint8_t *a_end, int a_count, const uint8_t *b_end, int b_count,
                             uint32_t *a, uint32_t *b)
{
    __m128i digits = _mm_unpacklo_epi64(fl_load_half(a_end - 8), fl_load_half(b_end - 8));
    __m128i kept = _mm_unpacklo_epi64(fl_load_half(&FL_LAST_BYTES[a_count]),
                                      fl_load_half(&FL_LAST_BYTES[b_count]));
    digits = _mm_and_si128(_mm_xor_si128(digits, _mm_set1_epi8('0')), kept);
    __m128i fine = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    /* numbers of two digits: (a + 256 b) (1 + 256 * 10) has 10 a + b in its upper byte; then of
     * four, of eight */
    digits = _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(2561)), 8);
    digits = _mm_madd_epi16(digits, _mm_set1_epi32(0x00010064));
    digits = _mm_packs_epi32(digits, digits);
    digits = _mm_madd_epi16(digits, _mm_set1_epi32(0x00012710));
    *a = (uint32_t)_mm_cvtsi128_si32(digits);
    *b = (uint32_t)_mm_cvtsi128_si32(_mm_srli_epi64(digits, 32));
    return _mm_movemask_epi8(fine) == 0xFFFF;
}

#else

FL_INLINE uint64_t fl_separators(const uint8_t *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7F;
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8) {
        uint64_t word = fl_load8(p + i), colon = word ^ (ones * ':');
        uint64_t others = ((word & low) + ones * (0x7F - ' ')) | word; /* high bit: above ' ' */
        others &= ((colon & low) + low) | colon;                       /* and no colon */
        uint64_t flags = (~others >> 7) & ones;
        bits |= ((flags * UINT64_C(0x0102040810204080)) >> 56) << i;
    }
    return bits;
}

FL_INLINE int fl_two_numbers(const uint8_t *a_end, int a_count, const uint8_t *b_end, int b_count,
                             uint32_t *a, uint32_t *b)
{
    uint64_t first = (fl_load8(a_end - 8) ^ FL_ASCII_ZEROS) & FL_LAST_BYTES[a_count];
    uint64_t second = (fl_load8(b_end - 8) ^ FL_ASCII_ZEROS) & FL_LAST_BYTES[b_count];
    *a = (uint32_t)fl_digits_value(first);
    *b = (uint32_t)fl_digits_value(second);
    return (fl_flag_others(first) | fl_flag_others(second)) == 0;
}

#endif

#endif
