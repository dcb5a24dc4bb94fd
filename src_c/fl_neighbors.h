/* The nearest of many rows to one: squared distances, and the k smallest of them.
 *
 * |q - x|^2 = |q|^2 + |x|^2 - 2 q.x is quick for all rows at once, but of close rows rounding leaves
 * little. With the bound
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

/* Numbers of the rows that may be among the k nearest, to `candidate`; returns how many. `square`
 * and `product` hold |x|^2 and q.x of each row, `own` is |q|^2. Row `left_out` is none of them. */
FL_INLINE int64_t fl_candidates(struct fl_nearest *h, const double *square, const double *product,
                                double own, double error, int64_t n, int64_t left_out,
                                int64_t *candidate) {
    int64_t size = 0;
    double limit;
    h->size = 0;
    for (int64_t i = 0; i < n; i++) {
        const double upper = (1 + error) * (own + square[i]) - 2 * product[i];
        if ((h->size < h->k || upper < h->distance[0]) && i != left_out) {
            fl_nearest_offer(h, upper, i);
        }
    }
    limit = h->distance[0];
    h->size = 0;
    for (int64_t i = 0; i < n; i++) {
        const double lower = (1 - error) * (own + square[i]) - 2 * product[i];
        if (lower <= limit && i != left_out) candidate[size++] = i;
    }
    return size;
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
