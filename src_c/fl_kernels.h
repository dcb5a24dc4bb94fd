/* From dot products to a kernel: one row at a time, in place. */
#ifndef FL_KERNELS_H
#define FL_KERNELS_H

#include "fl_math.h"

/* dots[j] = exp(-gamma max(0, square + squares[j] - 2 dots[j])): the Gaussian kernel of a vector
 * whose square norm is `square` with n vectors. */
FL_INLINE void fl_gaussian(double *FL_RESTRICT dots, int64_t n, double gamma, double square,
                           const double *FL_RESTRICT squares) {
    enum { BLOCK = 64 };
    double e[BLOCK];
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int size = n - start < BLOCK ? (int)(n - start) : BLOCK;
        int far = 0;
        for (int l = 0; l < size; l++) {
            const double distance = square + squares[start + l] - 2.0 * dots[start + l];
            e[l] = -gamma * fl_max(0.0, distance);
            far |= !(e[l] >= -FL_EXP_NEAR);
        }
        if (FL_UNLIKELY(far)) {
            for (int l = 0; l < size; l++) dots[start + l] = fl_exp(e[l]);
        } else {
            for (int l = 0; l < size; l++) dots[start + l] = fl_exp_near(e[l]);
        }
    }
}

#endif
