/* Naive Bayes: entries above a threshold counted and scored, and logarithms of smoothed counts.
 *
 * With binary = 0 an entry x counts as x, with binary = 1 as [x > threshold]; the threshold is at
 * least 0, so that what a row does not store never counts. Everything is summed in double, whatever
 * the rows hold. */
#ifndef FL_COUNTS_H
#define FL_COUNTS_H

#include "fl_math.h"
#include "fl_rows.h"

/* out_j = factor (log(base_j + sign count_j) - shift); log_base_j = log(base_j), which most
 * features of a class have that never occur in it. */
FL_INLINE void fl_smoothed_logs(const double *FL_RESTRICT count, const double *FL_RESTRICT base,
                                const double *FL_RESTRICT log_base, double sign, double shift,
                                double factor, int64_t d, double *FL_RESTRICT out) {
    for (int64_t j = 0; j < d; j++) {
        const double l = count[j] == 0 ? log_base[j] : fl_log(base[j] + sign * count[j]);
        out[j] = factor * (l - shift);
    }
}

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_counts.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_counts.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
