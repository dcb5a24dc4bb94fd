/* Entries of the svmlight parser as most are written, in registers of 16 bytes or without. */
#ifndef FL_SVMLIGHT_PLAIN_H
#define FL_SVMLIGHT_PLAIN_H

#include "fl_svmlight_entry.h"

/* How many bytes of text must stand before an entry that is read here. */
#define PLAIN_BEFORE 24

FL_INLINE int is_one(const uint8_t *colon)
{
    return (fl_load8(colon) & 0xFFFFFF) == 0x20313A; /* ":1 " */
}

/* Entries digits:1 with one space after them from p on, up to one of another kind, two at a time
 * and at most so many of 64 bytes. The last ones of a line are left to the next function. */
#define MOST_ONES 6
static const uint8_t *take_ones(fl_svm *s, const uint8_t *p, int64_t *previous, int *sorted)
{
    int32_t *columns = s->columns;
    double *values = s->values;
    int64_t n = s->n_entries, before = *previous, lowest = s->lowest_index;
    int64_t last = s->entry_room - MOST_ONES;
    int increasing = *sorted, going = 1;
    while (going && n <= last) {
        const uint8_t *base = p;
        uint64_t bits = fl_separators(base);
        for (int k = 0; k < MOST_ONES; k += 2) {
            uint64_t rest = bits & (bits - 1);
            uint32_t index, next_index;
            rest &= rest - 1;
            if (FL_UNLIKELY(rest == 0)) {
                going = k > 0;
                break;
            }
            const uint8_t *colon = base + fl_lowest_bit(bits);
            const uint8_t *next = base + fl_lowest_bit(rest);
            int64_t digits = colon - p, next_digits = next - colon - 3;
            if (FL_UNLIKELY((uint64_t)(digits - 1) >= 8 || (uint64_t)(next_digits - 1) >= 8
                            || !is_one(colon) || !is_one(next)
                            || !fl_two_numbers(colon, (int)digits, next, (int)next_digits,
                                               &index, &next_index)
                            || index < lowest || next_index < lowest)) {
                going = 0;
                break;
            }
            increasing &= (index > before) & (next_index > index);
            before = next_index;
            columns[n] = (int32_t)index;
            columns[n + 1] = (int32_t)next_index;
            values[n] = values[n + 1] = 1.0;
            n += 2;
            p = next + 3;
            bits = rest & (rest - 1);
            bits &= bits - 1;
        }
    }
    s->n_entries = n;
    *previous = before;
    *sorted = increasing;
    return p;
}

/* The entries from p on that plain_entry reads and one space or the newline ends, up to the first
 * that does not fit or is wrong. Separators are looked up in 64 bytes at a time, so that an entry
 * need not wait for the one before to be read; of more than four, the rest are looked up again. */
static const uint8_t *take_plain_entries(fl_svm *s, const uint8_t *p, int64_t *previous,
                                         int *sorted)
{
    int32_t *columns = s->columns;
    double *values = s->values;
    int64_t n = s->n_entries, last = s->entry_room - 4, before = *previous;
    int64_t lowest = s->lowest_index;
    int increasing = *sorted, going = 1;
    while (going && n <= last) {
        const uint8_t *base = p;
        uint64_t bits = fl_separators(base);
        int k = 0;
        for (uint64_t later; k < 4 && (later = bits & (bits - 1)) != 0; k++) {
            const uint8_t *colon = base + fl_lowest_bit(bits);
            const uint8_t *stop = base + fl_lowest_bit(later);
            uint32_t index;
            if (FL_UNLIKELY(!plain_entry(p, colon, stop, &index, &values[n]) || index < lowest)) {
                going = 0;
                break;
            }
            increasing &= index > before;
            before = index;
            columns[n++] = (int32_t)index;
            p = stop;
            if (FL_UNLIKELY(*stop != ' ')) {
                going = 0;
                if (!ends_token(*stop)) { /* back: take_entry says what is wrong with it */
                    n--;
                    while (!is_blank(p[-1])) {
                        p--;
                    }
                }
                break;
            }
            p++;
            bits = later & (later - 1);
        }
        going &= k > 0;
    }
    s->n_entries = n;
    *previous = before;
    *sorted = increasing;
    return p;
}

/* Nothing is kept from one row to the next. */
typedef int fl_svm_places;

FL_INLINE void no_places(fl_svm_places *places, const uint8_t *end)
{
    (void)end;
    *places = 0;
}

/* Entries from the token at p on, up to one that take_entry must read; see take_entries. */
FL_INLINE const uint8_t *take_regular(fl_svm *s, fl_svm_places *places, const uint8_t *p,
                                      int64_t *previous, int *sorted)
{
    (void)places;
    p = take_ones(s, p, previous, sorted);
    return take_plain_entries(s, p, previous, sorted);
}

#endif
