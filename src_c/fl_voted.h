/* Inner products of stored rows with a batch of rows, for the voted perceptron.
 *
 * The response of the k-th weight vector is a sum over the mistakes before it, r_k(x) = sum_m c_m
 * (x_m.x + 1), so all that prediction needs are the products of the stored rows x_m with the rows
 * to be classified. Sparse rows have few columns in common: the batch is turned into postings (for
 * each column the rows of the batch that have it) and a stored row visits only what it meets. The
 * sum of a pair runs over columns in increasing order, in double, whatever else is in the batch.
 *
 * Postings of column j: places starts[j] to starts[j + 1] of `owner` and `value`. While they are
 * filled, `starts` holds d + 2 counts, shifted so that no second array of cursors is needed.
 */
#ifndef FL_VOTED_H
#define FL_VOTED_H

#include "fl_rows.h"

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_voted.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_voted.inc.h"
#undef FL_REAL
#undef FL_TYPED

/* From counts, as fl_postings_count leaves them, to where fl_postings_place begins each column. */
FL_INLINE void fl_postings_accumulate(int64_t *FL_RESTRICT starts, int64_t d) {
    for (int64_t j = 2; j < d + 2; j++) starts[j] += starts[j - 1];
}

#endif
