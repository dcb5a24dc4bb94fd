/* Stochastic gradient descent: what a step is made of, apart from the loop over rows.
 *
 * Problem (one output):
 *     minimise over (w, b):  (1/S) sum_i s_i loss(w.x_i + b, y_i) + l1 |w|_1 + l2/2 |w|_2^2
 * Step t on row i, with p = w.x_i + b and g = s_i d loss/d p:
 *     w <- (1 - eta_t l2) w - eta_t g x_i;   b <- b - eta_t g;   the L1 penalty as in fl_penalty.h
 * (Bottou 2010, "Large-scale machine learning with stochastic gradient descent"). A mini-batch
 * takes the mean of its rows' gradients.
 *
 * Symbols: w = scale v, so that the L2 decay of all weights is one product (Shalev-Shwartz et al.
 * 2011, "Pegasos", section 2.3). Averaged weights (Polyak & Juditsky 1992) without a dense pass:
 * with S_t = sum of the scales after each averaged step up to t and u = sum_t dv_t S_(t-1),
 *     sum_t w_t = S_T v - u
 * so u takes one addition per entry that changes (Xu 2011, "Towards optimal one pass large scale
 * learning with averaged stochastic gradient descent"). u has the type of v: an addition to either
 * loses at most a rounding error of the weight.
 */
#ifndef FL_SGD_H
#define FL_SGD_H

#include <math.h>

#include "fl_losses.h"
#include "fl_penalty.h"
#include "fl_rows.h"

enum fl_schedule { FL_CONSTANT, FL_OPTIMAL, FL_INVSCALING };

/* How far a step goes: along the gradient by the schedule, or passive-aggressive (Crammer et al.
 * 2006, "Online passive-aggressive algorithms", JMLR 7): far enough to end the row's own loss. */
enum fl_step_rule { FL_GRADIENT, FL_PA, FL_PA_I, FL_PA_II };

/* What stays the same during a call. */
struct fl_sgd_rule {
    int loss;
    double loss_parameter;
    double l1, l2;
    int schedule;
    double eta0, power_t;
    double alpha, t0; /* of the schedule `optimal`: eta = 1 / (alpha (t0 + t - 1)) */
    int step_rule;
    double aggressiveness; /* C of PA-I and PA-II */
    int fit_intercept;
    int64_t average_from; /* the first step whose weights count in the mean; 0: no averaging */
    int64_t batch_size;
    double longest_square; /* at least the largest |x_i|^2 */
};

/* What a call changes, apart from the weights: all double, so that it can be saved and compared. */
struct fl_sgd_state {
    double scale, intercept;
    double t;             /* steps taken */
    double sum_scale;     /* S_t */
    double sum_intercept; /* sum of the averaged intercepts */
    double n_averaged;
    double l1_total;   /* what each weight should have paid */
    double sum_loss;   /* progressive: each row's loss before its step, weighted */
    double sum_weight; /* of the rows in sum_loss */
};

/* eta at step t = 1, 2, ... */
FL_INLINE double fl_sgd_eta(const struct fl_sgd_rule *rule, double t) {
    switch (rule->schedule) {
    case FL_CONSTANT:
        return rule->eta0;
    case FL_OPTIMAL:
        return 1.0 / (rule->alpha * (rule->t0 + t - 1.0));
    default:
        if (rule->power_t == 0.5) return rule->eta0 / sqrt(t);
        if (rule->power_t == 0.25) return rule->eta0 / sqrt(sqrt(t));
        return rule->eta0 * fl_exp(-rule->power_t * fl_log1p(t - 1.0));
    }
}

/* Shorten eta so that the step -eta g x does not carry p past the minimum of the row's own loss;
 * `q` is |x|^2, plus 1 with an intercept. */
FL_INLINE double fl_sgd_safe_eta(double eta, double g, double q, double reach) {
    double move = fl_abs(eta * g) * q;
    return move > reach ? eta * (reach / move) : eta;
}

/* The factor c of the passive-aggressive update w += c x, for loss value `loss` and derivative g
 * (+-1 or 0) of the row, before its weight s: s scales C. */
FL_INLINE double fl_pa_coefficient(const struct fl_sgd_rule *rule, double loss, double g, double q,
                                   double s) {
    double tau = loss / q;
    if (rule->step_rule == FL_PA_I) tau = fl_min(rule->aggressiveness * s, tau);
    if (rule->step_rule == FL_PA_II) tau = loss / (q + 0.5 / (rule->aggressiveness * s));
    return -tau * g;
}

/* Where the scale is folded into v; and where an average is kept, which loses about
 * epsilon / scale. */
#define FL_SCALE_MIN_F32 1e-6
#define FL_MEAN_SCALE_MIN_F32 1e-2
#define FL_SCALE_MIN_F64 1e-3
#define FL_MEAN_SCALE_MIN_F64 1e-3

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#define FL_SCALE_MIN FL_SCALE_MIN_F32
#define FL_MEAN_SCALE_MIN FL_MEAN_SCALE_MIN_F32
#include "fl_sgd.inc.h"
#undef FL_REAL
#undef FL_TYPED
#undef FL_SCALE_MIN
#undef FL_MEAN_SCALE_MIN

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#define FL_SCALE_MIN FL_SCALE_MIN_F64
#define FL_MEAN_SCALE_MIN FL_MEAN_SCALE_MIN_F64
#include "fl_sgd.inc.h"
#undef FL_REAL
#undef FL_TYPED
#undef FL_SCALE_MIN
#undef FL_MEAN_SCALE_MIN

#endif
