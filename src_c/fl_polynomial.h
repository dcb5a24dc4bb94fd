/* Products of the entries of a row: the terms of a polynomial in its columns.
 *
 * A term of degree k is a choice c_1 <= c_2 <= ... <= c_k of columns (<, where columns must be
 * distinct), and terms are numbered by degree and then in lexicographic order. With
 *
 *   N_j(m) = C(m + j - 1, j), or C(m, j) where columns must be distinct,
 *
 * choices of j out of m columns, the choices after c_1 ... c_k among those of d columns are
 * sum_i N_{k-i+1}(d - 1 - c_i), so that the number of a term is that of the last of its degree less
 * this sum. The entries of a row are visited in order, all but the last factor from a stack: the
 * innermost loop adds columns to a number and multiplies values by a product, in vector registers,
 * and terms come sorted.
 *
 * Hashed, a term has the column that its columns hash to, with a sign, and terms of one column are
 * added up in a table that is as large as the terms of a row, or the columns, ask for. Its slots
 * rise with the column, so that going through it sorts, but for a few neighbours.
 */
#ifndef FL_POLYNOMIAL_H
#define FL_POLYNOMIAL_H

#include "fl_rows.h"

/* What to multiply, and room for the walk: `degree` numbers in each of place, base and key;
 * `degree` times the entries of a row in `after`. */
struct fl_polynomial {
    int distinct;
    int64_t degree; /* the largest */
    int64_t d;
    int64_t *place, *base, *after;
    uint64_t *key;
};

/* N_j(m) from N_{j-1}(m) without a product beyond the result. */
FL_INLINE int64_t fl_next_choices(int64_t before, int64_t m, int64_t j, int distinct) {
    const int64_t factor = distinct ? m - j + 1 : m + j - 1;
    if (factor <= 0) return 0;
    return before / j * factor + before % j * factor / j;
}

/* after[j - 1][e] = N_j(d - 1 - c_e) for all entries e */
FL_INLINE void fl_choices_after(const struct fl_polynomial *p, const int32_t *column, int64_t m) {
    int64_t *after = p->after;
    if (p->degree < 1) return;
    for (int64_t e = 0; e < m; e++) after[e] = p->d - 1 - column[e];
    if (p->degree < 2) return;
    for (int64_t e = 0; e < m; e++) {
        const int64_t c = after[e];
        after[m + e] = (p->distinct ? c * (c - 1) : c * (c + 1)) / 2;
    }
    for (int64_t j = 3; j <= p->degree; j++) {
        const int64_t *before = after + (j - 2) * m;
        int64_t *now = after + (j - 1) * m;
        for (int64_t e = 0; e < m; e++) {
            now[e] = fl_next_choices(before[e], after[e], j, p->distinct);
        }
    }
}

/* The mixing step of splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
 * generators", OOPSLA). */
FL_INLINE uint64_t fl_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#define FL_NO_FACTOR 0x243f6a8885a308d3u

/* The hash of a term from that of all but its last column. */
FL_INLINE uint64_t fl_hash_factor(uint64_t key, int32_t column) {
    return fl_mix(key + ((uint64_t)column + 1) * 0x9e3779b97f4a7c15u);
}

/* Sums by column. Slots without a column hold -1; there are as many behind the first `slots` as
 * there may be columns in one row, and one more. */
struct fl_term_sums {
    uint64_t n_features, scale;
    int64_t slots;
    int with_signs;
    int32_t *column;
    double *sum;
};

/* A table for so many different columns: half full, or with a slot for each column. */
FL_INLINE void fl_sums_for(struct fl_term_sums *s, int64_t most) {
    const int64_t n = (int64_t)s->n_features;
    s->slots = n / 2 < most ? n : 2 * most;
    s->scale = s->slots == n ? (uint64_t)1 << 32 : ((uint64_t)s->slots << 32) / s->n_features;
}

FL_INLINE void fl_sums_add(struct fl_term_sums *s, uint64_t hash, double x) {
    const int32_t column = (int32_t)(((hash >> 32) * s->n_features) >> 32);
    uint64_t slot = ((uint64_t)column * s->scale) >> 32;
    if (s->with_signs && (hash & 1)) x = -x;
    while (s->column[slot] != column && s->column[slot] >= 0) slot++;
    if (s->column[slot] < 0) {
        s->column[slot] = column;
        s->sum[slot] = x;
    } else {
        s->sum[slot] += x;
    }
}

/* Terms written at a time */
#define FL_STEP 4

/* Repeat for t = 0 ... n - 1, or on to the end of the last step if there is room for it. */
#define FL_BY_STEPS(t, n, room, body)                                     \
    if ((n) + FL_STEP - 1 <= (room)) {                                    \
        for (int64_t t##_ = 0; t##_ < (n); t##_ += FL_STEP) {             \
            for (int64_t t = t##_; t < t##_ + FL_STEP; t++) body;         \
        }                                                                 \
    } else {                                                              \
        for (int64_t t = 0; t < (n); t++) body;                           \
    }

/* The entries of a row, values and products of one type, with room for `degree` products; behind
 * them FL_STEP - 1 may be read. */
struct fl_factors {
    int64_t size;
    const int32_t *column;
    const void *value;
    void *product;
};

/* Where terms go, one behind the other, and may be written: before `stop`. What is NULL is not
 * wanted. */
struct fl_terms {
    int64_t size, stop;
    int32_t *narrow;
    int64_t *wide;
    void *value;
};

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_polynomial.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_polynomial.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
