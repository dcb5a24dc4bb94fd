/* The penalty alpha (rho |w|_1 + (1 - rho)/2 |w|_2^2) as two numbers, l1 = alpha rho and
 * l2 = alpha (1 - rho), and the L1 part applied lazily. */
#ifndef FL_PENALTY_H
#define FL_PENALTY_H

#include <math.h>

#include "fl_math.h"

/* What an example weighs under L2 is one product: w = scale v, and scale falls by this factor. */
FL_INLINE double fl_l2_factor(double eta, double l2) { return fl_max(0.0, 1.0 - eta * l2); }

/* The cumulative L1 penalty of Tsuruoka, Tsujii & Ananiadou (2009), "Stochastic gradient descent
 * training for L1-regularized log-linear models with cumulative penalty", ACL.
 * `total` is what each weight should have paid since the start, `paid` what this one has paid, with
 * the sign of the payments; |paid| <= total. Returns the weight after its payment, which ends at
 * zero:
 *     max(0, w - max(0, total + paid)) - max(0, -w - max(0, total - paid))
 * with 2 max(0, x) = x + |x|, which is exact: the sign of a weight is a coin toss, and compilers
 * make branches of comparisons. */
#define FL_L1_PAY(name, real, size)                                    \
    FL_INLINE real name(real w, real total, real paid) {               \
        const real down = total + paid, up = total - paid, half = 0.5; \
        const real above = w - half * (down + size(down));             \
        const real below = -w - half * (up + size(up));                \
        return half * ((above + size(above)) - (below + size(below))); \
    }
FL_L1_PAY(fl_l1_pay_f32, float, fabsf)
FL_L1_PAY(fl_l1_pay_f64, double, fabs)
#undef FL_L1_PAY

#endif
