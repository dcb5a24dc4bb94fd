/* Dual coordinate ascent: what a visit of one row is made of, apart from the loop over rows.
 *
 * Problem, with l2 > 0, S = sum_i s_i and C_i = s_i / (S l2):
 *     minimise over (w, b):  (1/2) |w|^2 + sum_i C_i loss(w.x_i + b, y_i)
 * Its dual has a variable a_i per row:
 *     maximise over a:  -sum_i C_i loss*(-a_i) - (1/2) |sum_i C_i a_i x_i|^2,   sum_i C_i a_i = 0,
 * the constraint only where b is free. A visit maximises over one a_i, which moves w by
 * C_i (a_i' - a_i) x_i and the response p_i by h_i (a_i' - a_i), h_i = C_i |x_i|^2: what becomes of
 * a_i is a fact about the loss, fl_loss_dual_step (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008,
 * "A dual coordinate descent method for large-scale linear SVM"; Shalev-Shwartz & Zhang 2013,
 * "Stochastic dual coordinate ascent methods for regularized loss minimization").
 *
 * One variable at a time can't move along the constraint. The proximal point method (Rockafellar
 * 1976, "Monotone operators and the proximal point algorithm") penalises (b - B)^2 / (2 nu) and
 * moves B to b once an epoch: with s = sum_i C_i a_i that is b = B + nu s, one more coordinate,
 * whose curvature is nu. Rows are centred, or on data with a mean far from 0 the constraint and w
 * would pull at each other: x_i - c for some c near the mean. Nothing is subtracted in memory. With
 *     u = sum_i C_i a_i x_i,   k_i = x_i.c,   U = sum_i C_i a_i k_i,   cc = |c|^2
 * the weights are u - s c, the response of row i is
 *     p_i = u.x_i + B + (nu - k_i + cc) s - U,   and h_i = C_i (|x_i|^2 - 2 k_i + cc + nu).
 * At the fixed point s = 0 and w = u, whatever c and nu are. Without an intercept B, s, U, k, cc
 * and nu are 0.
 *
 * Rows whose steps gain little are visited less often: one whose last step gained much, at least
 * some share of the mean, in every epoch, one that gained little in every second, the others in
 * every fourth (Glasmachers & Dogan 2013, "Accelerated coordinate descent with adaptive coordinate
 * frequencies", adapt probabilities; so few values keep rows in blocks that are fetched together).
 *
 * u may be in single precision; s, U and B are double: they sum what u spreads over its columns.
 */
#ifndef FL_DUAL_H
#define FL_DUAL_H

#include "fl_losses.h"

/* What stays the same during a call. */
struct fl_dual_rule {
    int loss;
    double loss_parameter;
    double mass; /* C_i of a row of weight 1 */
    int fit_intercept;
    double nu, cc;
    int64_t stride; /* the gap is estimated on every so many rows */
    double slack;   /* a row whose variable is held at a bound by more may rest */
};

struct fl_dual_state {
    double B, s, U;
    /* over the rows of the estimate: sum C_i (loss + loss* + a p), which is P - D where the
     * constraint holds, and sum C_i (loss + a p / 2), which is P */
    double gap, objective;
    double violation; /* the largest distance of a row from what its dual variable asks for */
    double walked;    /* sum |C (a' - a)| */
};

FL_INLINE double fl_dual_response(const struct fl_dual_rule *rule,
                                  const struct fl_dual_state *state, double dot, double k) {
    if (!rule->fit_intercept) return dot;
    return dot + (state->B + (rule->nu - k + rule->cc) * state->s - state->U);
}

/* Enter a row into the estimate. */
FL_INLINE void fl_dual_estimate(const struct fl_dual_rule *rule, struct fl_dual_state *state,
                                double p, double y, double C, double a) {
    double slope;
    const double loss = fl_loss(rule->loss, p, y, rule->loss_parameter, &slope);
    const double conjugate = fl_loss_conjugate(rule->loss, a, y, rule->loss_parameter);
    state->gap += C * (loss + conjugate + a * p);
    state->objective += C * (loss + 0.5 * a * p);
}

/* Move the row's variable; returns C (a' - a), by which u moves along x. */
FL_INLINE double fl_dual_step(const struct fl_dual_rule *rule, struct fl_dual_state *state,
                              double p, double y, double C, double h, double k,
                              double *FL_RESTRICT a, double *FL_RESTRICT logit) {
    const double moved =
        fl_loss_dual_step(rule->loss, p, y, rule->loss_parameter, *a, h, logit);
    const double change = C * (moved - *a);
    *a = moved;
    state->walked += fl_abs(change);
    if (rule->fit_intercept) {
        state->s += change;
        state->U += change * k;
    }
    return change;
}

/* What a step to `a` gained, to second order and twice: |C (a' - a)| times how far p and the slope
 * of loss* were from each other. `turned`: what the step moved the logit, which says nothing of
 * steps from a bound of t = y a, or to one: there it is infinite but for the bound of its own. */
FL_INLINE double fl_dual_gain(int loss, double change, double C, double h, double a,
                              double turned) {
    const double moved = C > 0 ? fl_abs(change) / C : 0.0, t = fl_abs(a);
    const double bent = loss == FL_LOSS_LOG
                            ? fl_min(fl_abs(turned), moved / fl_max(t * (1 - t), 1e-300))
                            : moved / fl_loss_bend(loss);
    return fl_abs(change) * (h * moved + bent);
}

/* How many epochs a row pauses after a step: 0, 1 or 3. */
FL_INLINE int fl_dual_pause(double gain, double much, double little) {
    return gain >= much ? 0 : gain >= little ? 1 : 3;
}

#endif
