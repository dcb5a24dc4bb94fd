/* Coordinate descent on a quadratic model of the loss, by columns.
 *
 *     minimise over (w, b)   (1/2) sum_i h_i (u_i - x_i.w - b)^2 + l1 |w|_1 + (l2/2) |w|^2
 *
 * kept as the weighted residual r_i = h_i (u_i - x_i.w), without b. The best b for a given w is
 * R / h with R = sum_i r_i, h = sum_i h_i, and with it the slope along w_j is
 *
 *     g_j = l2 w_j - (x_j.r - c_j R),     c_j = sum_i h_i x_ij / h,
 *
 * the curvature H_j + l2 with H_j = sum_i h_i (x_ij - c_j)^2: the columns are centred without being
 * touched, and a shift of one costs no step. Without an intercept c_j = 0. A step of length t along
 * w_j takes t h_i x_ij off r_i and t c_j h off R (Friedman, Hastie & Tibshirani 2010).
 *
 * With h_i = s_i / S and u = y this is the squared error itself; with the loss's second derivatives
 * as h_i it is one Newton step of any smooth loss (Lee, Sun & Saunders 2014).
 */
#ifndef FL_PRIMAL_H
#define FL_PRIMAL_H

#include "fl_math.h"
#include "fl_rows.h"

struct fl_primal {
    double l1, l2;
    int positive;    /* w >= 0 */
    int free;        /* there is an intercept */
    double total;    /* h */
    double each;     /* h_i where h is NULL */
    const double *h;
    double *r;
    double sum;      /* R */
    double decrease; /* of the objective, at least, since it was set to 0 */
};

/* A column whose squares around its mean are no more than this share of its squares is constant up
 * to rounding. */
#define FL_CONSTANT_COLUMN 1e-22
/* Below this share the difference of two sums has lost too many digits to be a curvature. */
#define FL_CANCELLED 1e-4

/* argmin over w of slope (w - old) + (bend/2) (w - old)^2 + l1 |w| */
FL_INLINE double fl_primal_target(double old, double slope, double bend, double l1, int positive) {
    const double u = old * bend - slope;
    if (u > l1) return (u - l1) / bend;
    if (u < -l1 && !positive) return (u + l1) / bend;
    return 0.0;
}

/* Entry k of a row: its column */
FL_INLINE int64_t fl_entry_column(struct fl_row row, int64_t k) {
    return row.layout == FL_DENSE ? k : fl_signed_column(row.indices[k]);
}

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_primal.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_primal.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
