/* The logistic loss of many rows at once, in vector registers. */
#ifndef FL_LOGISTIC_H
#define FL_LOGISTIC_H

#include "fl_losses.h"

/* d[l] = e^-|m[l]| of up to FL_LOGISTIC_BLOCK margins */
enum { FL_LOGISTIC_BLOCK = 64, FL_LOGISTIC_SUMS = 8 };

FL_INLINE void fl_logistic_exp(const double *FL_RESTRICT m, double *FL_RESTRICT d, int size) {
    int far = 0; /* or not a number */
    for (int l = 0; l < size; l++) {
        d[l] = -fl_abs(m[l]);
        far |= !(d[l] >= -FL_EXP_NEAR);
    }
    if (FL_UNLIKELY(far)) {
        for (int l = 0; l < size; l++) d[l] = fl_exp(d[l]);
    } else {
        for (int l = 0; l < size; l++) d[l] = fl_exp_near(d[l]);
    }
}

/* Sum over n rows of s times the loss; r and h become s times minus its slope and times its
 * curvature, which is at least `least` times the slope's size. s is `share` times the row's weight,
 * or `share` alone where `weight` is NULL. The bits are those of fl_loss, and the losses are added
 * up in FL_LOGISTIC_SUMS chains under any instruction set. */
FL_INLINE double fl_logistic_expand(const double *FL_RESTRICT z, const double *FL_RESTRICT y,
                                    const double *FL_RESTRICT weight, double share, double least,
                                    double *FL_RESTRICT r, double *FL_RESTRICT h, int64_t n) {
    double m[FL_LOGISTIC_BLOCK], d[FL_LOGISTIC_BLOCK], s[FL_LOGISTIC_BLOCK];
    double sums[FL_LOGISTIC_SUMS] = {0}, total = 0;
    for (int l = 0; l < FL_LOGISTIC_BLOCK; l++) s[l] = share;
    for (int64_t start = 0; start < n; start += FL_LOGISTIC_BLOCK) {
        const int size = n - start < FL_LOGISTIC_BLOCK ? (int)(n - start) : FL_LOGISTIC_BLOCK;
        const double *FL_RESTRICT t = y + start;
        double *FL_RESTRICT pull = r + start, *FL_RESTRICT bend = h + start;
        for (int l = 0; l < size; l++) m[l] = t[l] * z[start + l];
        if (weight != NULL) {
            for (int l = 0; l < size; l++) s[l] = share * weight[start + l];
        }
        fl_logistic_exp(m, d, size);
        for (int l = 0; l < size; l++) {
            const double slope = (m[l] > 0 ? d[l] : 1.0) / (1.0 + d[l]);
            pull[l] = s[l] * (t[l] * slope);
            /* s' = s (1 - s) of the sigmoid, where 1 - s may be small */
            bend[l] = s[l] * fl_max(slope * (m[l] > 0 ? 1.0 - slope : d[l] * slope), least * slope);
        }
        for (int l = 0; l < size; l++) {
            d[l] = s[l] * (fl_max(0.0, -m[l]) + fl_log1p_near(d[l]));
        }
        for (int l = size; l < FL_LOGISTIC_BLOCK; l++) d[l] = 0;
        for (int l = 0; l < FL_LOGISTIC_BLOCK; l += FL_LOGISTIC_SUMS) {
            for (int k = 0; k < FL_LOGISTIC_SUMS; k++) sums[k] += d[l + k];
        }
    }
    for (int k = 0; k < FL_LOGISTIC_SUMS; k++) total += sums[k];
    return total;
}

/* Sum over n rows of s times the conjugate at minus c times the dual variables, which must be in
 * its domain; s is the row's weight, or 1. */
FL_INLINE double fl_logistic_conjugate(const double *FL_RESTRICT dual, const double *FL_RESTRICT y,
                                       const double *FL_RESTRICT weight, double c, int64_t n) {
    double t[FL_LOGISTIC_BLOCK], logs[2 * FL_LOGISTIC_BLOCK];
    double sums[FL_LOGISTIC_SUMS] = {0}, total = 0;
    for (int64_t start = 0; start < n; start += FL_LOGISTIC_BLOCK) {
        const int size = n - start < FL_LOGISTIC_BLOCK ? (int)(n - start) : FL_LOGISTIC_BLOCK;
        for (int l = 0; l < size; l++) {
            t[l] = y[start + l] * (c * dual[start + l]);
            /* t log t is 0 at 0 */
            logs[l] = t[l] > 0 ? t[l] : 1.0;
            logs[FL_LOGISTIC_BLOCK + l] = t[l] < 1 ? 1.0 - t[l] : 1.0;
        }
        fl_logs(logs, size);
        fl_logs(logs + FL_LOGISTIC_BLOCK, size);
        for (int l = 0; l < size; l++) {
            t[l] = t[l] * logs[l] + (1.0 - t[l]) * logs[FL_LOGISTIC_BLOCK + l];
        }
        if (weight != NULL) {
            for (int l = 0; l < size; l++) t[l] *= weight[start + l];
        }
        for (int l = size; l < FL_LOGISTIC_BLOCK; l++) t[l] = 0;
        for (int l = 0; l < FL_LOGISTIC_BLOCK; l += FL_LOGISTIC_SUMS) {
            for (int k = 0; k < FL_LOGISTIC_SUMS; k++) sums[k] += t[l + k];
        }
    }
    for (int k = 0; k < FL_LOGISTIC_SUMS; k++) total += sums[k];
    return total;
}

/* For one instruction set. */
struct fl_logistic_kernels {
    double (*expand)(const double *z, const double *y, const double *weight, double share,
                     double least, double *r, double *h, int64_t n);
    double (*conjugate)(const double *dual, const double *y, const double *weight, double c,
                        int64_t n);
};

#endif
