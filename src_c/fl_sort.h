/* The entries of a row by their columns.
 *
 * Short rows are sorted by counting for each column the smaller ones (Knuth, "The Art of Computer
 * Programming" 3, section 5.2), many at once and without a branch that the processor has to guess,
 * longer ones by the digits of the column from the last on (section 5.2.5).
 */
#ifndef FL_SORT_H
#define FL_SORT_H

#include <string.h>

#include "fl_common.h"

/* Entries up to which ranks are faster (measured), and a whole number of vectors of columns */
#define FL_RANKED 64
#define FL_COMPARED 8
/* Bits of the largest digit */
#define FL_DIGIT_BITS 9

/* `fl_sort_row` for at most FL_RANKED entries: the rank of a column is how many are smaller. */
FL_INLINE int fl_sort_ranked(const int32_t *indices, int64_t n, int64_t first, int32_t *sorted,
                             int64_t *place) {
    const int64_t padded = (n + FL_COMPARED - 1) / FL_COMPARED * FL_COMPARED;
    int32_t columns[FL_RANKED], rank[FL_RANKED];
    for (int64_t k = 0; k < padded; k++) {
        columns[k] = k < n ? indices[k] : 0;
        rank[k] = 0;
    }
    for (int64_t l = 0; l < n; l++) {
        const int32_t column = columns[l];
        for (int64_t k = 0; k < padded; k++) rank[k] += column < columns[k];
    }
    for (int64_t k = 0; k < n; k++) sorted[k] = -1;
    for (int64_t k = 0; k < n; k++) {
        sorted[rank[k]] = columns[k];
        place[rank[k]] = first + k;
    }
    int twice = 0;
    for (int64_t k = 0; k < n; k++) twice |= sorted[k] < 0; /* equal columns share a rank */
    return twice;
}

/* Sort n keys, a column in the upper half and a place in the row in the lower one, by columns below
 * d; returns where they are: in `keys` or in the room for n more. */
FL_INLINE uint64_t *fl_sort_keys(uint64_t *keys, uint64_t *room, int64_t n, int64_t d) {
    int bits = 1, digits, width;
    while ((d - 1) >> bits > 0) bits++;
    digits = (bits + FL_DIGIT_BITS - 1) / FL_DIGIT_BITS;
    width = (bits + digits - 1) / digits;
    const uint64_t last = ((uint64_t)1 << width) - 1;
    for (int digit = 0; digit < digits; digit++) {
        const int shift = 32 + digit * width;
        uint32_t start[1 << FL_DIGIT_BITS], sum = 0;
        memset(start, 0, sizeof start);
        for (int64_t k = 0; k < n; k++) start[(keys[k] >> shift) & last]++;
        for (uint64_t value = 0; value <= last; value++) {
            const uint32_t count = start[value];
            start[value] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; k++) {
            room[start[(keys[k] >> shift) & last]++] = keys[k];
        }
        uint64_t *sorted = room;
        room = keys;
        keys = sorted;
    }
    return keys;
}

/* `sorted` and `place`: the columns of a row in their order, and where each stood, from `first`
 * on. `keys` has room for 2 n. Returns whether a column came twice; then of short rows no order
 * can be told. */
FL_INLINE int fl_sort_row(const int32_t *indices, int64_t n, int64_t d, int64_t first,
                          uint64_t *keys, int32_t *sorted, int64_t *place) {
    if (n <= FL_RANKED) return fl_sort_ranked(indices, n, first, sorted, place);
    int twice = 0;
    for (int64_t k = 0; k < n; k++) keys[k] = (uint64_t)(uint32_t)indices[k] << 32 | (uint64_t)k;
    const uint64_t *in_order = fl_sort_keys(keys, keys + n, n, d);
    for (int64_t k = 0; k < n; k++) {
        sorted[k] = (int32_t)(in_order[k] >> 32);
        place[k] = first + (int64_t)(in_order[k] & 0xffffffffu);
        twice |= k > 0 && sorted[k] == sorted[k - 1];
    }
    return twice;
}

#endif
