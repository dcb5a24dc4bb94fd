/* The nearest of many rows to one: squared distances, and the k smallest of them.
 *
 * |q - x|^2 = |q|^2 + |x|^2 - 2 q.x is quick for all rows at once, but of close rows rounding
 * leaves little. With the bound
 *
 *   |computed - true| <= error (|q|^2 + |x|^2)
 *
 * it shows which rows can't be among the k nearest; the distances of the others are summed up from
 * differences, which is accurate to the last digits and gives exactly 0 for equal rows.
 */
#ifndef FL_NEIGHBORS_H
#define FL_NEIGHBORS_H

#include "fl_rows.h"

/* A row in double: all d values, or those that are not 0 with their columns, in order. */
struct fl_query {
    int64_t size;
    const int32_t *column; /* NULL: all values are there */
    const double *value;
};

/* The k smallest (distance, number) so far, as a heap with the largest on top; of equal distances
 * the lower number is the smaller one. */
struct fl_nearest {
    int64_t k, size;
    double *distance;
    int64_t *number;
};

FL_INLINE int fl_is_farther(const struct fl_nearest *h, int64_t a, int64_t b) {
    if (h->distance[a] != h->distance[b]) return h->distance[a] > h->distance[b];
    return h->number[a] > h->number[b];
}

FL_INLINE void fl_nearest_swap(struct fl_nearest *h, int64_t a, int64_t b) {
    const double distance = h->distance[a];
    const int64_t number = h->number[a];
    h->distance[a] = h->distance[b], h->number[a] = h->number[b];
    h->distance[b] = distance, h->number[b] = number;
}

/* Put the element at `a` in order with those below it, of `size`. */
FL_INLINE void fl_nearest_sink(struct fl_nearest *h, int64_t a, int64_t size) {
    for (int64_t b = 2 * a + 1; b < size; a = b, b = 2 * a + 1) {
        if (b + 1 < size && fl_is_farther(h, b + 1, b)) b++;
        if (!fl_is_farther(h, b, a)) return;
        fl_nearest_swap(h, a, b);
    }
}

/* Numbers may come in any order. */
FL_INLINE void fl_nearest_offer(struct fl_nearest *h, double distance, int64_t number) {
    if (h->size < h->k) {
        int64_t a = h->size++;
        h->distance[a] = distance, h->number[a] = number;
        for (; a > 0 && fl_is_farther(h, a, (a - 1) / 2); a = (a - 1) / 2) {
            fl_nearest_swap(h, a, (a - 1) / 2);
        }
    } else if (distance < h->distance[0] ||
               (distance == h->distance[0] && number < h->number[0])) {
        h->distance[0] = distance, h->number[0] = number;
        fl_nearest_sink(h, 0, h->size);
    }
}

/* Turn the heap into a list, the nearest first. */
FL_INLINE void fl_nearest_sort(struct fl_nearest *h) {
    for (int64_t last = h->size - 1; last > 0; last--) {
        fl_nearest_swap(h, 0, last);
        fl_nearest_sink(h, 0, last);
    }
}

#define FL_NEIGHBOURS_TOGETHER 64

/* Whether one of 64 rows has a lower bound of its distance that is at most `limit`. */
FL_INLINE int fl_some_near(const double *FL_RESTRICT square, const double *FL_RESTRICT product,
                           double own, double error, double limit) {
    double least[8];
    int near = 0;
    for (int l = 0; l < 8; l++) {
        least[l] = (1 - error) * (own + square[l]) - 2 * product[l];
    }
    for (int k = 8; k < FL_NEIGHBOURS_TOGETHER; k += 8) {
        for (int l = 0; l < 8; l++) {
            const double lower = (1 - error) * (own + square[k + l]) - 2 * product[k + l];
            least[l] = lower < least[l] ? lower : least[l];
        }
    }
    for (int l = 0; l < 8; l++) near |= least[l] <= limit;
    return near;
}

/* Numbers of the rows that may be among the k nearest, to `candidate`; returns how many. `square`
 * and `product` hold |x|^2 and q.x of each row, `own` is |q|^2. Row `left_out` is none of them. The
 * heap keeps the k smallest upper bounds; what is beyond them has no place, and few rows are looked
 * at one by one. */
FL_INLINE int64_t fl_candidates(struct fl_nearest *h, const double *square, const double *product,
                                double own, double error, int64_t n, int64_t left_out,
                                int64_t *candidate) {
    int64_t size = 0, kept = 0;
    h->size = 0;
    for (int64_t start = 0; start < n; start += FL_NEIGHBOURS_TOGETHER) {
        const int64_t left = n - start, whole = left >= FL_NEIGHBOURS_TOGETHER;
        const int64_t stop = start + (whole ? FL_NEIGHBOURS_TOGETHER : left);
        if (h->size == h->k && whole &&
            !fl_some_near(square + start, product + start, own, error, h->distance[0])) {
            continue;
        }
        for (int64_t i = start; i < stop; i++) {
            const double sum = own + square[i], twice = 2 * product[i];
            if (i == left_out) continue;
            if (h->size < h->k || (1 - error) * sum - twice <= h->distance[0]) {
                candidate[size++] = i;
                fl_nearest_offer(h, (1 + error) * sum - twice, i);
            }
        }
    }
    for (int64_t c = 0; c < size; c++) {
        const int64_t i = candidate[c];
        const double lower = (1 - error) * (own + square[i]) - 2 * product[i];
        candidate[kept] = i;
        kept += lower <= h->distance[0];
    }
    return kept;
}

FL_INLINE double fl_column_term(double q, double x, int product) {
    return product ? q * x : (q - x) * (q - x);
}

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_neighbors.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_neighbors.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
