/* Rows of hashed categories.
 *
 * A category is known by the MurmurHash3 of "column=category", a cross of several columns by that
 * of its members' hashes, four bytes each, so that no cross is ever written out. A hash is held as
 * int64_t, FL_NO_CATEGORY where the cell has none; a cross with such a member has none either. The
 * column of a hash h, as a number with sign, is |h| mod n_features, and its value the sign of h.
 *
 * A row has one entry per term; terms that share a column are added up.
 */
#ifndef FL_HASHED_H
#define FL_HASHED_H

#include "fl_murmur.h"

#define FL_NO_CATEGORY (-1)
/* Characters of the longest 64-bit number and its sign, and what fl_murmur may read behind it */
#define FL_DIGITS_ROOM 24

/* Terms: the members of term t are columns members[ends[t - 1]] ... members[ends[t] - 1]. */
struct fl_terms {
    int64_t n;
    const int32_t *members;
    const int32_t *ends;
    uint32_t n_features;
    uint32_t sign_bit; /* 1: values have the sign of their hash; 0: all count +1 */
    int binary;        /* a column that occurs has the value 1 */
};

/* |hash| mod n_features; |-2^31| needs 32 bits without sign */
FL_INLINE uint32_t fl_hashed_column(uint32_t hash, uint32_t n_features) {
    const uint32_t size = hash >> 31 ? 0u - hash : hash, low = n_features - 1;
    return (n_features & low) == 0 ? size & low : size % n_features;
}

/* Write a number in decimal, without an end; how many characters. */
FL_INLINE int32_t fl_write_integer(int64_t value, uint8_t *out) {
    uint8_t digits[20];
    uint64_t rest = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    int32_t n = 0, length = 0;
    if (value < 0) out[length++] = '-';
    do {
        digits[n++] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (n) out[length++] = digits[--n];
    return length;
}

/* Hash of a term in one row. */
FL_INLINE int64_t fl_term_hash(const int64_t *hashes, const int32_t *members, int32_t n) {
    uint32_t h = 0;
    if (n == 1) return hashes[members[0]];
    for (int32_t k = 0; k < n; k++) {
        const int64_t member = hashes[members[k]];
        if (member == FL_NO_CATEGORY) return FL_NO_CATEGORY;
        const uint32_t block = (uint32_t)member;
        const uint8_t bytes[4] = {(uint8_t)block, (uint8_t)(block >> 8), (uint8_t)(block >> 16),
                                  (uint8_t)(block >> 24)};
        h = fl_murmur_block(h, bytes);
    }
    return fl_murmur_end(h ^ (4u * (uint32_t)n), 0);
}

#define FL_RUN 16

/* Sort n keys; `spare` has room for as many. Runs by insertion, then merged. */
FL_INLINE void fl_sort_keys(uint32_t *keys, uint32_t *spare, int64_t n) {
    for (int64_t start = 0; start < n; start += FL_RUN) {
        const int64_t stop = start + FL_RUN < n ? start + FL_RUN : n;
        for (int64_t k = start + 1; k < stop; k++) {
            const uint32_t key = keys[k];
            int64_t l = k;
            for (; l > start && keys[l - 1] > key; l--) keys[l] = keys[l - 1];
            keys[l] = key;
        }
    }
    for (int64_t run = FL_RUN; run < n; run *= 2) {
        for (int64_t start = 0; start < n; start += 2 * run) {
            const int64_t middle = start + run < n ? start + run : n;
            const int64_t stop = start + 2 * run < n ? start + 2 * run : n;
            int64_t a = start, b = middle;
            for (int64_t k = start; k < stop; k++) {
                const int first = a < middle && (b == stop || keys[a] <= keys[b]);
                spare[k] = first ? keys[a++] : keys[b++];
            }
        }
        for (int64_t k = 0; k < n; k++) keys[k] = spare[k];
    }
}

/* The entries of one row: column j with a value above 0 as j, with one below as ~j, and their
 * values. `keys` has room for two numbers per term. Returns how many there are, and notes in
 * `multiple` whether a value is other than 1 and -1. */
FL_INLINE int64_t fl_hashed_row(const struct fl_terms *terms, const int64_t *hashes,
                                uint32_t *keys, int32_t *indices, int32_t *values, int *multiple) {
    int64_t n = 0, size = 0;
    int32_t start = 0;
    for (int64_t t = 0; t < terms->n; t++) {
        const int64_t hash = fl_term_hash(hashes, terms->members + start, terms->ends[t] - start);
        start = terms->ends[t];
        if (hash == FL_NO_CATEGORY) continue;
        const uint32_t h = (uint32_t)hash;
        keys[n++] = fl_hashed_column(h, terms->n_features) << 1 | (h >> 31 & terms->sign_bit);
    }
    fl_sort_keys(keys, keys + terms->n, n);
    for (int64_t k = 0; k < n;) {
        const int32_t column = (int32_t)(keys[k] >> 1);
        int32_t value = 0;
        for (; k < n && (int32_t)(keys[k] >> 1) == column; k++) value += keys[k] & 1 ? -1 : 1;
        if (terms->binary) value = 1;
        if (value == 0) continue;
        *multiple |= value > 1 || value < -1;
        indices[size] = value < 0 ? ~column : column;
        values[size++] = value;
    }
    return size;
}

#endif
