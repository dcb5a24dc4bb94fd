/* One entry of the svmlight parser as most are written, given where it ends: at least 24 bytes of
 * text must stand before it. */
#ifndef FL_SVMLIGHT_ENTRY_H
#define FL_SVMLIGHT_ENTRY_H

#include "fl_svmlight.h"
#include "fl_svmlight_words.h"

static int other_entry(const uint8_t *colon, int digits, const uint8_t *stop, uint32_t *index,
                       double *value)
{
    fl_decimal_kind kind;
    uint32_t none;
    return fl_two_numbers(colon, digits, stop, 0, index, &none)
        && fl_decimal(colon + 1, value, &kind) == stop && kind == FL_DECIMAL_DONE;
}

/* The index before `colon`, and to *m the digits of the 9 to 19 `places` before `stop`: 1, or 0
 * when not all are digits. */
FL_INLINE int long_fraction(const uint8_t *colon, int digits, const uint8_t *stop, int places,
                            uint32_t *index, uint64_t *m)
{
    uint32_t high, middle, low;
    if (FL_LIKELY(places >= 16)) {
        int fine = fl_two_numbers(colon, digits, stop - 16, places - 16, index, &high);
        fine &= fl_two_numbers(stop - 8, 8, stop, 8, &middle, &low);
        *m = (*m * FL_POW10[places - 16] + high) * (FL_POW10[8] * FL_POW10[8])
            + (middle * FL_POW10[8] + low);
        return fine;
    }
    int fine = fl_two_numbers(colon, digits, stop - 8, places - 8, index, &high);
    fine &= fl_two_numbers(stop, 8, stop, 0, &low, &middle);
    *m = (*m * FL_POW10[places - 8] + high) * FL_POW10[8] + low;
    return fine;
}

/* The entry of text[token .. stop) where it is digits:number and the number is not FL_DECIMAL_HARD:
 * 1, or 0 for anything else. Numbers of one digit before the point, or without one, are read from
 * their end in words of eight digits. */
FL_INLINE int plain_entry(const uint8_t *token, const uint8_t *colon, const uint8_t *stop,
                          uint32_t *index, double *value)
{
    const uint8_t *number = colon + 1 + (colon[1] == '-');
    int digits = (int)(colon - token), places = (int)(stop - number) - 2;
    if (FL_UNLIKELY((unsigned)(digits - 1) >= 8 || *colon != ':' || places < -1)) {
        return 0;
    }
    uint64_t m = (uint64_t)*number - '0';
    double magnitude = 0.0;
    uint32_t low;
    if (number[1] == '.' && m <= 9 && places <= 8) {
        if (FL_UNLIKELY(!fl_two_numbers(colon, digits, stop, places, index, &low))) {
            return other_entry(colon, digits, stop, index, value);
        }
        magnitude = fl_small_fraction(m * FL_POW10[places] + low, places);
    } else if (number[1] == '.' && m <= 9 && places <= 18 + (m == 0)) {
        if (FL_UNLIKELY(!long_fraction(colon, digits, stop, places, index, &m))) {
            return other_entry(colon, digits, stop, index, value);
        }
        magnitude = fl_fraction(m, places);
    } else if (places <= 6 && fl_two_numbers(colon, digits, stop, places + 2, index, &low)) {
        magnitude = (double)low;
    } else {
        return other_entry(colon, digits, stop, index, value);
    }
    *value = colon[1] == '-' ? -magnitude : magnitude;
    return 1;
}

#endif
