/* The penalty alpha (rho |w|_1 + (1 - rho)/2 |w|_2^2) as two numbers, l1 = alpha rho and
 * l2 = alpha (1 - rho), and the L1 part applied lazily. */
#ifndef FL_PENALTY_H
#define FL_PENALTY_H

#include "fl_math.h"

/* What an example weighs under L2 is one product: w = scale v, and scale falls by this factor. */
FL_INLINE double fl_l2_factor(double eta, double l2) { return fl_max(0.0, 1.0 - eta * l2); }

/* The cumulative L1 penalty of Tsuruoka, Tsujii & Ananiadou (2009), "Stochastic gradient descent
 * training for L1-regularized log-linear models with cumulative penalty", ACL.
 * `total` is what each weight should have paid since the start, `paid` what this one has paid, with
 * the sign of the payments; |paid| <= total. Returns the weight after its payment, which ends at
 * zero. */
FL_INLINE double fl_l1_pay(double w, double total, double paid) {
    double size = fl_max(0.0, fl_abs(w) - (total + fl_times_sign(paid, w)));
    return fl_times_sign(size, w);
}

#endif
