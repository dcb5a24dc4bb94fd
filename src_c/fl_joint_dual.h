/* Dual coordinate ascent for losses of K responses: what a visit of one row is made of.
 *
 * Problem, with l2 > 0, S = sum_i s_i, C_i = s_i / (S l2) and a loss of the form that
 * fl_joint_losses.h gives, where q_i is the distribution of row i over the classes:
 *     minimise over (W, b):  (1/2) |W|^2 + sum_i C_i loss(W x_i + b, q_i)
 * Its dual has a point p_i of the simplex per row, with W = sum_i C_i (q_i - p_i) x_i^T:
 *     maximise:  sum_i C_i (Omega0(q_i) - Omega(p_i)) - (1/2) |W|^2,   sum_i C_i (q_i - p_i) = 0,
 * the constraint only where b is free. A visit maximises over one p_i: with z = W x_i + b and
 * h_i = C_i |x_i|^2 it goes to the maximum over the simplex of
 *     p'.(z + h p) - Omega(p') - (h/2) |p'|^2
 * which is a projection for sparsemax and the multi-class hinge (Crammer & Singer 2001, "On the
 * algorithmic implementation of multiclass kernel-based vector machines", JMLR 2; Keerthi et al.
 * 2008, "A sequential dual method for large scale multi-class linear SVMs", KDD) and the root of K
 * equations for softmax (Yu, Huang & Lin 2011, "Dual coordinate descent methods for logistic
 * regression and maximum entropy models", Machine Learning 85, section 5; ours are solved together
 * by Newton's method).
 *
 * With a penalty l1 |W|_1 besides, tau = l1 / l2 and V = sum_i C_i (q_i - p_i) x_i^T, what is kept
 * is V, W has its entries nearer to 0 by tau, and the step is the same: W moves by no more than V
 * does, so that the dual rises at least as much (Shalev-Shwartz & Zhang 2016, "Accelerated proximal
 * stochastic dual coordinate ascent for regularized loss minimization", Math. Program. 155).
 *
 * The free intercept is that of fl_dual.h, K times: B, s and U are vectors; c = 0 with L1.
 *
 * What is kept of a row is p; for softmax its logarithm.
 */
#ifndef FL_JOINT_DUAL_H
#define FL_JOINT_DUAL_H

#include "fl_joint_losses.h"
#include "fl_rows.h"

#define FL_JOINT_STEPS 12
#define FL_JOINT_CLOSE 0.01
/* Logarithms of probabilities below this are as good as -infinity. */
#define FL_LEAST_LOG 80.0

/* What stays the same during a call. */
struct fl_joint_dual_rule {
    int loss;
    int fit_intercept;
    double mass; /* C_i of a row of weight 1 */
    double nu, cc;
    double tau; /* W here is V, whose weights are nearer to 0 by this */
    int64_t K, d;
    int64_t stride; /* the gap is estimated on every so many rows */
    double slack;   /* a row that is held at a corner by more may rest */
};

/* What a visit of one row is given. */
struct fl_joint_visit {
    double C, h, k;
    int sampled;
    const int32_t *classes; /* the classes of the row and their shares q */
    const double *shares;
    int64_t n_classes;
};

/* Sums over the rows of the estimate, as in fl_dual.h, and the largest violation of a row. */
struct fl_joint_dual_sums {
    double gap, objective, violation;
};

/* K rounded up to a number of outputs that there are kernels for. */
FL_INLINE int64_t fl_joint_width(int64_t K) {
    const int64_t rest = K % 16;
    return K - rest + (rest == 0 ? 0 : rest <= 4 ? 4 : rest <= 8 ? 8 : 16);
}

/* Numbers that a visit works with, per output. */
#define FL_JOINT_ROOM 7

/* The kernels for one type. Weights stand in groups of 16 outputs, the last of 4, 8 or 16:
 * W[group][feature][output]. */
struct fl_joint_kernels {
    /* z = W x for all outputs up to the width */
    void (*respond)(struct fl_row row, const void *W, int64_t d, int64_t width, double *z);
    /* W += by x^T */
    void (*add)(struct fl_row row, const double *by, int64_t d, int64_t width, void *W);
    /* One visit. `state` holds p or log p; B, s and U have an entry per output. Returns whether
     * the row may rest. */
    int (*dual_step)(const struct fl_joint_dual_rule *rule, const struct fl_joint_visit *visit,
                     struct fl_row row, void *state, const double *B, double *s, double *U,
                     void *W, double *room, struct fl_joint_dual_sums *sums);
};

#endif
