/* The losses: the only place where one exists.
 *
 * FL_LOSSES is the table; the enum, the switches below, the names that the Python parameters
 * accept and the list that the tests run over all come from it.
 *
 * A loss is a function of the response p = w.x + b and the target y. For the kind MARGIN, y is +-1
 * and the loss depends on the margin m = y p; for the kind TARGET, y is real and the loss depends
 * on the error e = y - p. `a` is the loss's own parameter (FL_LOSSES names it). Always computed in
 * double, whatever the weights are: a row costs one loss and hundreds of memory accesses.
 *
 *   fl_loss        the loss and its slope d loss / d p; at a kink of a margin loss the one-sided
 *                  derivative that makes the learner move
 *   fl_loss_parts  the same as a sum v + log(1 + u): over many rows the logarithms become one of a
 *                  product, which saves a fifth of the time of an epoch on short rows
 *   fl_loss_curvature  d^2 loss / d p^2, the larger one-sided value where it does not exist
 *   fl_loss_bend       the largest curvature anywhere; 0: none, the loss is made of lines, and
 *                      infinite: no bound
 *   fl_loss_conjugate  sup_p (-a p - loss(p)), the conjugate at -a, where a is what a dual variable
 *                      holds; infinite outside of the domain. Convex losses only
 *   fl_loss_reach  how far p may usefully move against the slope: for losses whose slope is
 *                  unbounded, the distance to the loss's minimum, so that a step which would carry
 *                  its own example past it can be shortened (otherwise SGD on unscaled data blows
 *                  up: Karampatziakis & Langford 2011 treat the same fault); infinite for the rest
 *
 * A switch inside an inlined function costs 0-8 % over one compiled loop per loss, so a loss needs
 * no template.
 */
#ifndef FL_LOSSES_H
#define FL_LOSSES_H

#include "fl_math.h"

enum fl_loss_kind { FL_MARGIN, FL_TARGET };

/* X(ENUM, name, kind, parameter, its default) */
#define FL_LOSSES(X)                                                                   \
    X(HINGE, "hinge", FL_MARGIN, "", 1.0)                                              \
    X(SQUARED_HINGE, "squared_hinge", FL_MARGIN, "", 1.0)                              \
    X(PERCEPTRON, "perceptron", FL_MARGIN, "margin", 0.0)                              \
    X(LOG, "log_loss", FL_MARGIN, "", 0.0)                                             \
    X(MODIFIED_HUBER, "modified_huber", FL_MARGIN, "", 0.0)                            \
    X(EXPONENTIAL, "exponential", FL_MARGIN, "", 0.0)                                  \
    X(SIGMOID_MSE, "sigmoid_mse", FL_MARGIN, "", 0.0)                                  \
    X(SPARSEMAX, "sparsemax", FL_MARGIN, "", 0.0)                                      \
    X(SQUARED_ERROR, "squared_error", FL_TARGET, "", 0.0)                              \
    X(HUBER, "huber", FL_TARGET, "epsilon", 0.1)                                       \
    X(EPSILON_INSENSITIVE, "epsilon_insensitive", FL_TARGET, "epsilon", 0.1)           \
    X(SQUARED_EPSILON_INSENSITIVE, "squared_epsilon_insensitive", FL_TARGET, "epsilon", 0.1) \
    X(QUANTILE, "quantile", FL_TARGET, "quantile", 0.5)

enum fl_loss {
#define FL_LOSS_ENUM(E, name, kind, parameter, value) FL_LOSS_##E,
    FL_LOSSES(FL_LOSS_ENUM)
#undef FL_LOSS_ENUM
    FL_N_LOSSES
};

struct fl_loss_info {
    const char *name;
    int kind;
    const char *parameter;
    double parameter_default;
};

FL_INLINE struct fl_loss_info fl_loss_describe(int loss) {
    static const struct fl_loss_info table[] = {
#define FL_LOSS_INFO(E, name, kind, parameter, value) {name, kind, parameter, value},
        FL_LOSSES(FL_LOSS_INFO)
#undef FL_LOSS_INFO
    };
    return table[loss];
}

/* The logistic loss, given d = e^-|m|, which never overflows: `fl_multi` takes the exp of many
 * margins at once. */
FL_INLINE double fl_log_loss_parts(double m, double y, double d, double *FL_RESTRICT slope,
                                   double *FL_RESTRICT u) {
    *slope = -y * ((m > 0 ? d : 1.0) / (1.0 + d));
    *u = d;
    return fl_max(0.0, -m);
}

/* v, and through pointers the slope and u >= 0: all in one place, since they share the exp. */
FL_INLINE double fl_loss_parts(int loss, double p, double y, double a, double *FL_RESTRICT slope,
                               double *FL_RESTRICT u) {
    double m = y * p, e = y - p, size, d, sigma;
    *u = 0.0;
    switch (loss) {
    case FL_LOSS_HINGE:
    case FL_LOSS_PERCEPTRON:
        *slope = m <= a ? -y : 0.0;
        return fl_max(0.0, a - m);
    case FL_LOSS_SQUARED_HINGE:
        d = fl_max(0.0, a - m);
        *slope = -2.0 * y * d;
        return d * d;
    case FL_LOSS_LOG:
        return fl_log_loss_parts(m, y, fl_exp(-fl_abs(m)), slope, u);
    case FL_LOSS_MODIFIED_HUBER:
        d = fl_max(0.0, 1.0 - m);
        *slope = m < -1.0 ? -4.0 * y : -2.0 * y * d;
        return m < -1.0 ? -4.0 * m : d * d;
    case FL_LOSS_EXPONENTIAL:
        d = fl_exp(-m);
        *slope = -y * d;
        return d;
    case FL_LOSS_SIGMOID_MSE:
        sigma = fl_sigmoid(-m); /* |t - sigma(p)| with t = (y + 1) / 2 */
        *slope = -2.0 * y * sigma * sigma * fl_sigmoid(m);
        return sigma * sigma;
    case FL_LOSS_SPARSEMAX:
        /* of two classes, m being the difference of their responses */
        d = fl_max(0.0, 1.0 - m);
        *slope = m <= -1.0 ? -y : -0.5 * y * d;
        return m <= -1.0 ? -m : 0.25 * d * d;
    case FL_LOSS_SQUARED_ERROR:
        *slope = -e;
        return 0.5 * e * e;
    case FL_LOSS_HUBER:
        size = fl_abs(e);
        *slope = size <= a ? -e : (e > 0 ? -a : a);
        return size <= a ? 0.5 * e * e : a * size - 0.5 * a * a;
    case FL_LOSS_EPSILON_INSENSITIVE:
        d = fl_max(0.0, fl_abs(e) - a);
        *slope = d > 0 ? (e > 0 ? -1.0 : 1.0) : 0.0;
        return d;
    case FL_LOSS_SQUARED_EPSILON_INSENSITIVE:
        d = fl_max(0.0, fl_abs(e) - a);
        *slope = e > 0 ? -2.0 * d : 2.0 * d;
        return d * d;
    case FL_LOSS_QUANTILE:
        *slope = e > 0 ? -a : (e < 0 ? 1.0 - a : 0.0);
        return e > 0 ? a * e : (a - 1.0) * e;
    }
    FL_ASSERT(0);
    *slope = 0.0;
    return 0.0;
}

FL_INLINE double fl_loss(int loss, double p, double y, double a, double *FL_RESTRICT slope) {
    double u, v = fl_loss_parts(loss, p, y, a, slope, &u);
    return u > 0 ? v + fl_log1p(u) : v;
}

/* A sum of losses as sum + log(product). */
struct fl_loss_sum {
    double sum, product;
};

FL_INLINE void fl_loss_settle(struct fl_loss_sum *total) {
    total->sum += fl_log1p(total->product - 1.0);
    total->product = 1.0;
}

/* Adds s times the loss and returns s times the slope. */
FL_INLINE double fl_loss_add(struct fl_loss_sum *total, int loss, double p, double y, double a,
                             double s) {
    double u, slope, v = fl_loss_parts(loss, p, y, a, &slope, &u);
    if (s == 1.0) {
        total->sum += v;
        total->product *= 1.0 + u;
        if (FL_UNLIKELY(total->product > 1e300)) fl_loss_settle(total);
    } else {
        total->sum += s * (u > 0 ? v + fl_log1p(u) : v);
    }
    return s * slope;
}

#define FL_INFINITY (fl_from_bits(0x7ff0000000000000u))

FL_INLINE double fl_loss_curvature(int loss, double p, double y, double a) {
    double m = y * p, e = y - p, d;
    switch (loss) {
    case FL_LOSS_LOG:
        d = fl_exp(-fl_abs(m));
        return d / ((1.0 + d) * (1.0 + d));
    case FL_LOSS_SQUARED_HINGE:
        return m <= a ? 2.0 : 0.0;
    case FL_LOSS_MODIFIED_HUBER:
        return m >= -1.0 && m <= 1.0 ? 2.0 : 0.0;
    case FL_LOSS_EXPONENTIAL:
        return fl_exp(-m);
    case FL_LOSS_SPARSEMAX:
        return m >= -1.0 && m <= 1.0 ? 0.5 : 0.0;
    case FL_LOSS_SQUARED_ERROR:
        return 1.0;
    case FL_LOSS_HUBER:
        return fl_abs(e) <= a ? 1.0 : 0.0;
    case FL_LOSS_SQUARED_EPSILON_INSENSITIVE:
        return fl_abs(e) >= a ? 2.0 : 0.0;
    }
    return 0.0;
}

FL_INLINE double fl_loss_bend(int loss) {
    switch (loss) {
    case FL_LOSS_LOG:
        return 0.25;
    case FL_LOSS_SQUARED_HINGE:
    case FL_LOSS_MODIFIED_HUBER:
    case FL_LOSS_SQUARED_EPSILON_INSENSITIVE:
        return 2.0;
    case FL_LOSS_SPARSEMAX:
        return 0.5;
    case FL_LOSS_SQUARED_ERROR:
    case FL_LOSS_HUBER:
        return 1.0;
    case FL_LOSS_EXPONENTIAL:
    case FL_LOSS_SIGMOID_MSE:
        return FL_INFINITY;
    }
    return 0.0;
}

/* t log t, 0 at 0 */
FL_INLINE double fl_entropy(double t) { return t > 0 ? t * fl_log(t) : 0.0; }

FL_INLINE double fl_loss_conjugate(int loss, double dual, double y, double a) {
    const double t = y * dual, size = fl_abs(dual); /* t: of a margin loss, falling in m */
    switch (loss) {
    case FL_LOSS_HINGE:
    case FL_LOSS_PERCEPTRON:
        return t >= 0 && t <= 1 ? -a * t : FL_INFINITY;
    case FL_LOSS_SQUARED_HINGE:
        return t >= 0 ? 0.25 * t * t - a * t : FL_INFINITY;
    case FL_LOSS_LOG:
        return t >= 0 && t <= 1 ? fl_entropy(t) + fl_entropy(1.0 - t) : FL_INFINITY;
    case FL_LOSS_MODIFIED_HUBER:
        return t >= 0 && t <= 4 ? 0.25 * t * t - t : FL_INFINITY;
    case FL_LOSS_EXPONENTIAL:
        return t >= 0 ? fl_entropy(t) - t : FL_INFINITY;
    case FL_LOSS_SPARSEMAX:
        return t >= 0 && t <= 1 ? t * t - t : FL_INFINITY;
    case FL_LOSS_SQUARED_ERROR:
        return 0.5 * dual * dual - dual * y;
    case FL_LOSS_HUBER:
        return size <= a ? 0.5 * dual * dual - dual * y : FL_INFINITY;
    case FL_LOSS_EPSILON_INSENSITIVE:
        return size <= 1 ? a * size - dual * y : FL_INFINITY;
    case FL_LOSS_SQUARED_EPSILON_INSENSITIVE:
        return 0.25 * dual * dual + a * size - dual * y;
    case FL_LOSS_QUANTILE:
        return dual >= a - 1 && dual <= a ? -dual * y : FL_INFINITY;
    }
    return FL_INFINITY;
}

FL_INLINE int fl_loss_has_dual_step(int loss) {
    return loss == FL_LOSS_HINGE || loss == FL_LOSS_SQUARED_HINGE || loss == FL_LOSS_LOG ||
           loss == FL_LOSS_SQUARED_ERROR || loss == FL_LOSS_EPSILON_INSENSITIVE ||
           loss == FL_LOSS_SQUARED_EPSILON_INSENSITIVE;
}

/* log(t / (1 - t)) within what e^x can hold */
#define FL_FARTHEST_LOGIT 700.0
FL_INLINE double fl_logit(double t) {
    const double logit = fl_log(t) - fl_log1p(-t);
    return fl_max(-FL_FARTHEST_LOGIT, fl_min(logit, FL_FARTHEST_LOGIT));
}

/* sigma(v + d), given s = sigma(v) and bend = s (1 - s), for |d| <= 0.1: Taylor's series, whose
 * remainder is below 2e-9 s; it spares an exp. */
FL_INLINE double fl_sigmoid_beside(double s, double bend, double d) {
    const double turn = 1.0 - 2.0 * s;
    const double second = turn / 2.0, third = (1.0 - 6.0 * bend) / 6.0;
    const double fourth = turn * (1.0 - 12.0 * bend) / 24.0;
    const double fifth = (1.0 - bend * (30.0 - 120.0 * bend)) / 120.0;
    return s + d * bend * (1.0 + d * (second + d * (third + d * (fourth + d * fifth))));
}

/* The root v of F(v) = v + m + h (sigma(v) - t), which lies between -m and the logit v0 of t, and
 * at most h from -m. Chebyshev's method (Newton's with a term more, F'' / F' being at hand) inside
 * of that bracket; a step that is not half of the one before gives way to halving the bracket: F is
 * flat on both sides of a steep middle, where plain steps can swing to and fro for ever. A step of
 * 0.1 is the last: the error that it leaves is of the order of its cube, and the variable will be
 * visited again. Returns sigma(v).
 * (Yu, Huang & Lin 2011, "Dual coordinate descent methods for logistic regression and maximum
 * entropy models", Machine Learning 85, solve the same equation in t.) */
#define FL_LAST_LOGIT_STEP 0.1
#define FL_MOST_LOGIT_STEPS 40
FL_INLINE double fl_logit_step(double m, double t, double h, double *FL_RESTRICT v) {
    double sigma = t, now = *v, residue = now + m;
    double low = fl_max(fl_min(now, -m), -m - h * (1.0 - t));
    double high = fl_min(fl_max(now, -m), -m + h * t), before = high - low;
    for (int k = 0; k < FL_MOST_LOGIT_STEPS; k++) {
        const double bend = sigma * (1.0 - sigma), share = 1.0 / (1.0 + h * bend);
        const double newton = -residue * share;
        const double more = 1.0 - newton * (0.5 - sigma) * (1.0 - share);
        const double step = newton * fl_min(fl_max(more, 0.5), 2.0);
        double next = fl_min(fl_max(now + step, low), high);
        if (fl_abs(step) <= FL_LAST_LOGIT_STEP) {
            /* beside 0 and 1 the digits of sigma are not those of v any more */
            const int is_known = 1.0 - sigma > 1e-6 && sigma > 1e-290;
            sigma = is_known ? fl_sigmoid_beside(sigma, bend, next - now) : fl_sigmoid(next);
            now = next;
            break;
        }
        if (k > 0 && 2.0 * fl_abs(next - now) > before) next = 0.5 * (low + high);
        before = fl_abs(next - now);
        now = next;
        sigma = fl_sigmoid(now);
        residue = now + m + h * (sigma - t);
        if (residue > 0) {
            high = now;
        } else {
            low = now;
        }
    }
    *v = now;
    return sigma;
}

/* x brought e nearer to 0 */
FL_INLINE double fl_shrink(double x, double e) {
    return x > e ? x - e : (x < -e ? x + e : 0.0);
}

/* `logit` belongs to the dual variable: fl_logit(y a) for the logistic loss, not used by others. */
FL_INLINE double fl_loss_dual_step(int loss, double p, double y, double a, double dual, double h,
                                   double *FL_RESTRICT logit) {
    const double t = y * dual, m = y * p, e = y - p, least = fl_max(h, 1e-300);
    switch (loss) {
    case FL_LOSS_HINGE:
        return y * fl_max(0.0, fl_min(t + (a - m) / least, 1.0));
    case FL_LOSS_SQUARED_HINGE:
        return y * fl_max(0.0, t + (a - m - 0.5 * t) / (h + 0.5));
    case FL_LOSS_LOG:
        return y * fl_logit_step(m, t, h, logit);
    case FL_LOSS_SQUARED_ERROR:
        return dual + (e - dual) / (1.0 + h);
    case FL_LOSS_EPSILON_INSENSITIVE:
        return fl_max(-1.0, fl_min(fl_shrink(h * dual + e, a) / least, 1.0));
    case FL_LOSS_SQUARED_EPSILON_INSENSITIVE:
        return fl_shrink(h * dual + e, a) / (h + 0.5);
    }
    FL_ASSERT(0);
    return dual;
}

FL_INLINE int fl_loss_has_dual_slack(int loss) {
    return loss == FL_LOSS_HINGE || loss == FL_LOSS_EPSILON_INSENSITIVE;
}

FL_INLINE double fl_loss_dual_slack(int loss, double p, double y, double a, double dual) {
    if (loss == FL_LOSS_HINGE) {
        const double room = y * p - a;
        return dual == 0 ? room : (y * dual == 1 ? -room : -fl_abs(room));
    }
    const double e = y - p, room = (dual < 0 ? -e : e) - a;
    if (dual == 0) return a - fl_abs(e);
    return fl_abs(dual) == 1 ? room : -fl_abs(room);
}

FL_INLINE int fl_loss_has_reach(int loss) {
    return loss == FL_LOSS_SQUARED_HINGE || loss == FL_LOSS_EXPONENTIAL ||
           loss == FL_LOSS_SQUARED_ERROR || loss == FL_LOSS_SQUARED_EPSILON_INSENSITIVE;
}

/* Meaningful where fl_loss_has_reach and the slope is not 0. The exponential loss has no
 * minimum: an example may move to margin 1, or by 1 past that. */
FL_INLINE double fl_loss_reach(int loss, double p, double y, double a) {
    double m = y * p, e = y - p;
    switch (loss) {
    case FL_LOSS_SQUARED_HINGE:
        return a - m;
    case FL_LOSS_EXPONENTIAL:
        return 1.0 + fl_max(0.0, -m);
    case FL_LOSS_SQUARED_ERROR:
        return fl_abs(e);
    case FL_LOSS_SQUARED_EPSILON_INSENSITIVE:
        return fl_abs(e) - a;
    }
    return FL_INFINITY;
}

#endif
