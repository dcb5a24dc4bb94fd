/* Naive Bayes: entries above a threshold counted and scored, and logarithms of smoothed counts.
 *
 * With binary = 0 an entry x counts as x, with binary = 1 as [x > threshold]; the threshold is at
 * least 0, so that what a row does not store never counts. Everything is summed in double, whatever
 * the rows hold. */
#ifndef FL_COUNTS_H
#define FL_COUNTS_H

#include "fl_math.h"
#include "fl_rows.h"

/* Features whose K logarithms are written together, class by class, so that they stay in the cache
 * until all are there. */
#define FL_FEATURES_TOGETHER 64

/* What becomes of counts, class by class and feature by feature:
 *
 *   out[j][k] = factor (log((whole[k][j] + sign count[k][j]) + alpha[k][j]) - shift[k])
 *
 * alpha comes last, since it may be far below what whole - count cancels from. log_whole is the
 * logarithm where a count is 0, as most of a large vocabulary are. A stride of 0 repeats a row or a
 * column of whole, alpha and log_whole. */
struct fl_smoothing {
    int64_t K, d;
    const double *count, *whole, *alpha, *log_whole, *shift;
    int64_t class_stride, feature_stride; /* in elements */
    double sign, factor;
    void (*logs)(double *x, int64_t n); /* fl_logs for the instruction set that runs */
};

/* What a count that is not 0 comes to, class k, feature j, before its logarithm. */
FL_INLINE double fl_smoothed(const struct fl_smoothing *s, int64_t k, int64_t j, double count) {
    const int64_t b = k * s->class_stride + j * s->feature_stride;
    return (s->whole[b] + s->sign * count) + s->alpha[b];
}

/* The smoothed values of class k at n places behind the feature first. */
FL_INLINE void fl_smoothed_at(const struct fl_smoothing *s, int64_t k, int64_t first, int n,
                              const int32_t *FL_RESTRICT place, double *FL_RESTRICT value) {
    const double *FL_RESTRICT count = s->count + k * s->d + first;
    for (int t = 0; t < n; t++) value[t] = fl_smoothed(s, k, first + place[t], count[place[t]]);
}

/* The counts of class k other than 0 among those of the features first <= j < last: their places
 * behind first, and their smoothed values; returns how many there are. */
FL_INLINE int fl_smoothed_some(const struct fl_smoothing *s, int64_t k, int64_t first,
                               int64_t last, int32_t *FL_RESTRICT place,
                               double *FL_RESTRICT value) {
    const double *FL_RESTRICT count = s->count + k * s->d + first;
    const int size = (int)(last - first);
    int n = 0;
    for (int l = 0; l < size; l++) { /* no branch: nobody can guess which counts are 0 */
        place[n] = l;
        n += fl_to_bits(count[l]) != 0;
    }
    fl_smoothed_at(s, k, first, n, place, value);
    return n;
}

/* What the features first <= j < last come to where counts are 0, feature by feature: so they are
 * written many at once. */
FL_INLINE void fl_smoothed_zeros(const struct fl_smoothing *s, int64_t first, int64_t last,
                                 double *FL_RESTRICT out) {
    const int64_t K = s->K;
    for (int64_t j = first; j < last; j++) {
        const double *whole = s->log_whole + j * s->feature_stride;
        double *FL_RESTRICT row = out + j * K;
        if (j > first && s->feature_stride == 0) {
            memcpy(row, row - K, (size_t)K * sizeof(double));
        } else if (s->class_stride == 0) {
            for (int64_t k = 0; k < K; k++) row[k] = s->factor * (whole[0] - s->shift[k]);
        } else {
            for (int64_t k = 0; k < K; k++) {
                row[k] = s->factor * (whole[k * s->class_stride] - s->shift[k]);
            }
        }
    }
}

/* The logarithms of the features start <= j < stop. */
FL_INLINE void fl_smoothed_logs(const struct fl_smoothing *s, int64_t start, int64_t stop,
                                double *FL_RESTRICT out) {
    int32_t place[FL_FEATURES_TOGETHER];
    double value[FL_FEATURES_TOGETHER];
    for (int64_t first = start; first < stop; first += FL_FEATURES_TOGETHER) {
        const int64_t last =
            stop - first < FL_FEATURES_TOGETHER ? stop : first + FL_FEATURES_TOGETHER;
        fl_smoothed_zeros(s, first, last, out);
        for (int64_t k = 0; k < s->K; k++) {
            const double shift = s->shift[k];
            double *FL_RESTRICT of_class = out + first * s->K + k;
            const int n = fl_smoothed_some(s, k, first, last, place, value);
            s->logs(value, n);
            for (int t = 0; t < n; t++) {
                of_class[place[t] * s->K] = s->factor * (value[t] - shift);
            }
        }
    }
}

/* The same less what `minus` comes to, in one pass over the counts, for features start <= j < stop:
 * s->log_whole is the difference where a count is 0. The sums per class of what other counts change
 * in the logarithms of `minus` are added to `sums`. Neither has a shift or a factor. */
FL_INLINE void fl_smoothed_ratios(const struct fl_smoothing *s, const struct fl_smoothing *minus,
                                  int64_t start, int64_t stop, double *FL_RESTRICT out,
                                  double *FL_RESTRICT sums) {
    int32_t place[FL_FEATURES_TOGETHER];
    double value[FL_FEATURES_TOGETHER], less[FL_FEATURES_TOGETHER];
    for (int64_t first = start; first < stop; first += FL_FEATURES_TOGETHER) {
        const int64_t last =
            stop - first < FL_FEATURES_TOGETHER ? stop : first + FL_FEATURES_TOGETHER;
        fl_smoothed_zeros(s, first, last, out);
        for (int64_t k = 0; k < s->K; k++) {
            double sum = 0, *FL_RESTRICT of_class = out + first * s->K + k;
            const double *whole =
                minus->log_whole + k * minus->class_stride + first * minus->feature_stride;
            const int n = fl_smoothed_some(s, k, first, last, place, value);
            fl_smoothed_at(minus, k, first, n, place, less);
            s->logs(value, n);
            s->logs(less, n);
            for (int t = 0; t < n; t++) {
                of_class[place[t] * s->K] = value[t] - less[t];
                sum += less[t] - whole[place[t] * minus->feature_stride];
            }
            sums[k] += sum;
        }
    }
}

/* Entries of a row that are scored before the weights of the next ones are fetched. */
#define FL_ENTRIES_TOGETHER 16

/* Fetch the K weights of each of the next columns, of which `n` are there. */
FL_INLINE void fl_prefetch_scores(const int32_t *indices, int64_t n, int64_t K, const double *V) {
    if (n > FL_ENTRIES_TOGETHER) n = FL_ENTRIES_TOGETHER;
    for (int64_t k = 0; k < n; k++) {
        fl_prefetch_span(V + fl_signed_column(indices[k]) * K, K * (int64_t)sizeof(double));
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
