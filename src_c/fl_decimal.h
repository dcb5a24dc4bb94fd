/* Decimal text -> double, correctly rounded, without the C library (whose strtod obeys the locale).

   A number m * 10^e with an integer mantissa m < 2^64 is finished here when
     m <= 2^53 and |e| <= 22   one multiplication or division of two exact doubles, rounded once; or
     |e| <= 27                 5^27 < 2^64, so m * 5^e is an exact 128-bit product, and m / 5^-e an
                               exact 64-bit quotient with its remainder: both tell on which side of
                               the halfway point the true value lies. For quotients the upper half
                               of a product with the reciprocal tells it first, but for 4 in 2048.
   That covers every number of up to 19 digits between 1e-8 and 1e27, so what any program writes for
   ordinary data. All else (longer digits, denormals, huge exponents) is syntax-checked and handed
   back as FL_DECIMAL_HARD, for the caller to convert by a slower exact method.

   Digits are read eight at a time: a 64-bit word holds eight characters, one multiplication chain
   turns them into their value. So reads go up to 8 bytes past the last character of the number.
   The division by a reciprocal is algorithm 4 of Moller and Granlund, "Improved division by
   invariant integers", IEEE Transactions on Computers 60 (2011). */
#ifndef FL_DECIMAL_H
#define FL_DECIMAL_H

#include <float.h>
#include <string.h>

#include "fl_common.h"

typedef enum {
    FL_DECIMAL_DONE = 0,
    FL_DECIMAL_HARD,       /* a number, but its value is left to the caller */
    FL_DECIMAL_NOT_FINITE, /* one of the words inf, infinity, nan */
    FL_DECIMAL_NONE        /* no number here */
} fl_decimal_kind;

/* Eight characters, the first in the lowest byte on every machine. */
FL_INLINE uint64_t fl_load8(const uint8_t *p)
{
    uint64_t word = 0;
#if defined(_WIN32) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    memcpy(&word, p, 8);
#else
    for (int i = 0; i < 8; i++) {
        word |= (uint64_t)p[i] << (8 * i);
    }
#endif
    return word;
}

/* The high bit of each byte of `word` (characters xor '0') that is no digit. Right up to the first
 * such byte: the carry that it may send up only touches later ones. */
FL_INLINE uint64_t fl_flag_others(uint64_t word)
{
    return ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
}

/* Number of bytes before the first flagged one; flags > 0. */
FL_INLINE int fl_count_before(uint64_t flags)
{
    return fl_lowest_bit(flags) >> 3;
}

/* Value of eight bytes, characters xor '0', all of them digits. */
FL_INLINE uint64_t fl_digits_value(uint64_t word)
{
    word = word * 10 + (word >> 8);
    return (((word & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064))
            + (((word >> 16) & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001)))
        >> 32;
}

#define FL_ASCII_ZEROS UINT64_C(0x3030303030303030)

static const uint64_t FL_POW10[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* The largest m for which m * 10^count + (10^count - 1) stays below 2^64. */
static const uint64_t FL_ROOM_FOR_DIGITS[9] = {
    UINT64_MAX,
    UINT64_C(1844674407370955160),
    UINT64_C(184467440737095515),
    UINT64_C(18446744073709550),
    UINT64_C(1844674407370954),
    UINT64_C(184467440737094),
    UINT64_C(18446744073708),
    UINT64_C(1844674407369),
    UINT64_C(184467440736),
};

static const double FL_EXACT_POW10[23] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* d = 5^q shifted left until its top bit is set, and v = floor((2^128 - 1) / d) - 2^64. */
#define FL_MAX_POW5 27
static const struct {
    uint64_t d, v;
} FL_POW5[FL_MAX_POW5 + 1] = {
    {UINT64_C(0x8000000000000000), UINT64_C(0xffffffffffffffff)},
    {UINT64_C(0xa000000000000000), UINT64_C(0x9999999999999999)},
    {UINT64_C(0xc800000000000000), UINT64_C(0x47ae147ae147ae14)},
    {UINT64_C(0xfa00000000000000), UINT64_C(0x0624dd2f1a9fbe76)},
    {UINT64_C(0x9c40000000000000), UINT64_C(0xa36e2eb1c432ca57)},
    {UINT64_C(0xc350000000000000), UINT64_C(0x4f8b588e368f0846)},
    {UINT64_C(0xf424000000000000), UINT64_C(0x0c6f7a0b5ed8d36b)},
    {UINT64_C(0x9896800000000000), UINT64_C(0xad7f29abcaf48578)},
    {UINT64_C(0xbebc200000000000), UINT64_C(0x5798ee2308c39df9)},
    {UINT64_C(0xee6b280000000000), UINT64_C(0x12e0be826d694b2e)},
    {UINT64_C(0x9502f90000000000), UINT64_C(0xb7cdfd9d7bdbab7d)},
    {UINT64_C(0xba43b74000000000), UINT64_C(0x5fd7fe17964955fd)},
    {UINT64_C(0xe8d4a51000000000), UINT64_C(0x19799812dea11197)},
    {UINT64_C(0x9184e72a00000000), UINT64_C(0xc25c268497681c26)},
    {UINT64_C(0xb5e620f480000000), UINT64_C(0x6849b86a12b9b01e)},
    {UINT64_C(0xe35fa931a0000000), UINT64_C(0x203af9ee756159b2)},
    {UINT64_C(0x8e1bc9bf04000000), UINT64_C(0xcd2b297d889bc2b6)},
    {UINT64_C(0xb1a2bc2ec5000000), UINT64_C(0x70ef54646d496892)},
    {UINT64_C(0xde0b6b3a76400000), UINT64_C(0x2725dd1d243aba0e)},
    {UINT64_C(0x8ac7230489e80000), UINT64_C(0xd83c94fb6d2ac34a)},
    {UINT64_C(0xad78ebc5ac620000), UINT64_C(0x79ca10c9242235d5)},
    {UINT64_C(0xd8d726b7177a8000), UINT64_C(0x2e3b40a0e9b4f7dd)},
    {UINT64_C(0x878678326eac9000), UINT64_C(0xe392010175ee5962)},
    {UINT64_C(0xa968163f0a57b400), UINT64_C(0x82db34012b25144e)},
    {UINT64_C(0xd3c21bcecceda100), UINT64_C(0x357c299a88ea76a5)},
    {UINT64_C(0x84595161401484a0), UINT64_C(0xef2d0f5da7dd8aa2)},
    {UINT64_C(0xa56fa5b99019a5c8), UINT64_C(0x8c240c4aecb13bb5)},
    {UINT64_C(0xcecb8f27f4200f3a), UINT64_C(0x3ce9a36f23c0fc90)},
};

/* The double nearest to (top + something in (0, 1) if `sticky`) * 2^exponent, top >= 2^63, ties to
 * even. Only for results in the normal range, which |e| <= 27 guarantees. */
FL_INLINE double fl_round_to_double(uint64_t top, int sticky, int exponent)
{
    uint64_t mantissa = top >> 11;
    uint64_t rest = top & 0x7FF;
    double value;
    /* Without branches, for which way it goes is a coin toss. A mantissa that becomes 2^53 carries
     * into the exponent field, which is what it should do. */
    mantissa += (uint64_t)((rest > 0x400) | ((rest == 0x400) & (sticky | (int)(mantissa & 1))));
    uint64_t bits = mantissa + ((uint64_t)(exponent + 11 + 1023 + 51) << 52);
    memcpy(&value, &bits, 8);
    return value;
}

/* floor(log2(5^q)) for 0 <= q <= FL_MAX_POW5: 5^q = d * 2^(this - 63). */
FL_INLINE int fl_log2_pow5(int q)
{
    return (q * 1217359) >> 19;
}

/* *value = m * 10^e for m > 0 and -FL_MAX_POW5 <= e <= 0, unless it is too near the middle between
 * two doubles to tell by this: the upper half of the product with the reciprocal 2^63 + v/2 falls
 * short of the quotient by less than 2, so by less than 4 once its top bit is set. */
FL_INLINE int fl_divide_nearly(uint64_t m, int e, double *value)
{
    int shift = fl_leading_zeros(m);
    uint64_t low, near = fl_multiply_wide(m << shift, UINT64_C(1) << 63 | FL_POW5[-e].v >> 1, &low);
    int doubled = (int)(near >> 63) ^ 1;
    near <<= doubled;
    *value = fl_round_to_double(near, 0, e - shift - fl_log2_pow5(-e) - doubled);
    return (near & 0x7FF) - 0x3FD > 3;
}

/* m * 10^e for m > 0 and |e| <= FL_MAX_POW5. */
static double fl_scale_exactly(uint64_t m, int e)
{
    int shift = fl_leading_zeros(m);
    uint64_t u = m << shift;
    uint64_t d = FL_POW5[e < 0 ? -e : e].d;
    int pow5_shift = 63 - fl_log2_pow5(e < 0 ? -e : e); /* 5^q = d * 2^-pow5_shift */
    uint64_t high, low;
    if (e >= 0) {
        high = fl_multiply_wide(u, d, &low);
        int exponent = 64 - shift - pow5_shift + e;
        if (!(high >> 63)) {
            high = (high << 1) | (low >> 63);
            low <<= 1;
            exponent--;
        }
        return fl_round_to_double(high, low != 0, exponent);
    }
    uint64_t v = FL_POW5[-e].v;
    int halved = u >= d; /* the quotient must stay below 2^64 */
    uint64_t u1 = u >> halved, u0 = (u << 63) & (0 - (uint64_t)halved);
    uint64_t quotient = fl_multiply_wide(v, u1, &low);
    low += u0;
    quotient += u1 + (low < u0) + 1;
    uint64_t remainder = u0 - quotient * d;
    uint64_t too_large = 0 - (uint64_t)(remainder > low);
    quotient += too_large;
    remainder += d & too_large;
    uint64_t too_small = 0 - (uint64_t)(remainder >= d);
    quotient -= too_small;
    remainder -= d & too_small;
    return fl_round_to_double(quotient, remainder != 0, halved - 64 - shift + pow5_shift + e);
}

/* 1 and *value = m * 10^e, or 0 when that is beyond what this file does. */
FL_INLINE int fl_decimal_value(uint64_t m, int64_t e, double *value)
{
#if FLT_EVAL_METHOD == 0
    if (m <= (UINT64_C(1) << 53) && e >= -22 && e <= 22) {
        *value = e < 0 ? (double)m / FL_EXACT_POW10[-e] : (double)m * FL_EXACT_POW10[e];
        return 1;
    }
#endif
    if (m == 0) {
        *value = 0.0;
        return 1;
    }
    if (e < -FL_MAX_POW5 || e > FL_MAX_POW5) {
        return 0;
    }
    if (e > 0 || !fl_divide_nearly(m, (int)e, value)) {
        *value = fl_scale_exactly(m, (int)e);
    }
    return 1;
}

/* m / 10^count for m <= 2^53 and count <= 22. */
FL_INLINE double fl_small_fraction(uint64_t m, int count)
{
#if FLT_EVAL_METHOD == 0
    return (double)(int64_t)m / FL_EXACT_POW10[count];
#else
    double value = 0.0;
    fl_decimal_value(m, -count, &value);
    return value;
#endif
}

/* m / 10^count for count <= FL_MAX_POW5: of long numbers, hardly any of which have an m that a
 * double holds. */
FL_INLINE double fl_fraction(uint64_t m, int count)
{
    double value = 0.0;
    if (FL_LIKELY(m != 0) && FL_UNLIKELY(!fl_divide_nearly(m, -count, &value))) {
        value = fl_scale_exactly(m, -count);
    }
    return value;
}

/* Length of the word inf, infinity or nan at p, in any case, else 0. */
static int fl_not_finite_word(const uint8_t *p)
{
    static const char WORDS[3][9] = {"infinity", "inf", "nan"};
    for (int w = 0; w < 3; w++) {
        int length = 0;
        while (WORDS[w][length] && (p[length] | 0x20) == WORDS[w][length]) {
            length++;
        }
        if (!WORDS[w][length]) {
            return length;
        }
    }
    return 0;
}

/* Appends the digits of a fraction to *m, eight at a time, and lowers *e by their number; *fits
 * becomes 0 when they are more than m can hold. */
FL_INLINE const uint8_t *fl_take_long_fraction(const uint8_t *p, uint64_t *m, int64_t *e, int *fits)
{
    const uint8_t *begin = p;
    uint64_t value = *m, word, flags;
    while (!(flags = fl_flag_others(word = fl_load8(p) ^ FL_ASCII_ZEROS))) {
        *fits &= value <= FL_ROOM_FOR_DIGITS[8];
        value = value * FL_POW10[8] + fl_digits_value(word);
        p += 8;
    }
    int found = fl_count_before(flags);
    if (found > 0) {
        *fits &= value <= FL_ROOM_FOR_DIGITS[found];
        /* Shifted up, the digits follow leading zeros. */
        value = value * FL_POW10[found] + fl_digits_value(word << (64 - 8 * found));
    }
    *m = value;
    *e = begin - p - found;
    return p + found;
}

/* The same for any fraction. One of less than eight digits is taken as eight, the rest zeros, which
 * needs neither a shift nor a power by its length. `digits` tells how many m already has. */
FL_INLINE const uint8_t *fl_take_fraction(const uint8_t *p, int64_t digits, uint64_t *m, int64_t *e,
                                          int *fits)
{
    uint64_t word = fl_load8(p) ^ FL_ASCII_ZEROS;
    uint64_t flags = fl_flag_others(word);
    if (FL_UNLIKELY(!flags || digits > 11)) {
        return fl_take_long_fraction(p, m, e, fits);
    }
    *m = *m * FL_POW10[8] + fl_digits_value(word & ((flags ^ (flags - 1)) >> 8));
    *e = -8;
    return p + fl_count_before(flags);
}

/* Sets *m to the value of a run of digits, one by one: indices and integer parts are short and
 * alike in length, so the branches are predicted and the next token need not wait for a count of
 * digits. */
FL_INLINE const uint8_t *fl_take_integer(const uint8_t *p, uint64_t *m, int64_t *count, int *fits)
{
    const uint8_t *begin = p;
    uint64_t value = 0;
    for (uint8_t digit; (digit = (uint8_t)(*p - '0')) <= 9; p++) {
        value = value * 10 + digit;
    }
    *m = value;
    *count = p - begin;
    *fits = *count <= 19; /* 10^19 < 2^64 */
    return p;
}

/* Reads an optional exponent at p into *e, saturated far beyond the range of doubles. Leaves p at
 * the letter when no digit follows, so that the caller sees a number with trailing letters. */
FL_INLINE const uint8_t *fl_take_exponent(const uint8_t *p, int64_t *e)
{
    if (FL_LIKELY((*p | 0x20) != 'e')) {
        return p;
    }
    const uint8_t *q = p + 1;
    int negative = *q == '-';
    q += negative || *q == '+';
    if ((uint8_t)(*q - '0') > 9) {
        return p;
    }
    int64_t magnitude = 0;
    for (; (uint8_t)(*q - '0') <= 9; q++) {
        if (magnitude < 100000) {
            magnitude = magnitude * 10 + (*q - '0');
        }
    }
    *e += negative ? -magnitude : magnitude;
    return q;
}

/* Reads [+-] digits [. digits] [e [+-] digits] at p; returns the byte after it. The caller checks
 * that what follows may follow. At least one digit before or after the point is needed. */
FL_INLINE const uint8_t *fl_decimal(const uint8_t *p, double *value, fl_decimal_kind *kind)
{
    int negative = *p == '-';
    p += negative | (*p == '+');
    const uint8_t *begin = p;
    int fits;
    uint64_t m;
    int64_t digits, e = 0;
    double magnitude;
    p = fl_take_integer(p, &m, &digits, &fits);
    if (*p == '.') {
        p = fl_take_fraction(p + 1, digits, &m, &e, &fits);
    }
    if (FL_UNLIKELY(p - begin <= (*begin == '.'))) { /* nothing, or nothing but the point */
        int length = p == begin ? fl_not_finite_word(p) : 0;
        *kind = length ? FL_DECIMAL_NOT_FINITE : FL_DECIMAL_NONE;
        return p + length;
    }
    p = fl_take_exponent(p, &e);
    if (FL_LIKELY(fits && fl_decimal_value(m, e, &magnitude))) {
        *value = negative ? -magnitude : magnitude;
        *kind = FL_DECIMAL_DONE;
    } else {
        *kind = FL_DECIMAL_HARD;
    }
    return p;
}

#endif
