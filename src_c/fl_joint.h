/* Training of K outputs at once, and steps that adapt to each coordinate.
 *
 * Weights lie as V[j K + k], so that one entry of a row finds the weights of all outputs side by
 * side. The step is that of fl_sgd.h with the gradient g_k x_j, or one of the adaptive ones:
 *
 *   AdaGrad   (Duchi, Hazan & Singer 2011, JMLR 12)   A += g^2;           h = eta / (sqrt A + e)
 *   RMSProp   (Tieleman & Hinton 2012)                A = r A + (1-r) g^2; h as above
 *   AdaDelta  (Zeiler 2012, arXiv:1212.5701)          A likewise; h = eta sqrt((B + e) / (A + e));
 *                                                     B = r B + (1-r) (h g)^2
 *   Adam      (Kingma & Ba 2015, ICLR)                M = b1 M + (1-b1) g; A with b2;
 *                                                     h = eta c / (sqrt A + e), step h M
 * with c = sqrt(1 - b2^t) / (1 - b1^t). A coordinate whose gradient is 0 is not visited: its
 * moments stay as they are. That is the variant for sparse gradients, and makes the model
 * independent of whether zeros are stored.
 *
 * The penalty of an adaptive step is proximal (Duchi et al. 2011, section 5): a coordinate that was
 * last visited k steps ago takes
 *     w <- shrink(w - h g, k h l1) / (1 + k h l2),    shrink(w, a) = sign(w) max(0, |w| - a)
 */
#ifndef FL_JOINT_H
#define FL_JOINT_H

#include <string.h>

#include "fl_joint_losses.h"
#include "fl_sgd.h"

enum fl_optimizer { FL_SGD, FL_ADAGRAD, FL_ADADELTA, FL_RMSPROP, FL_ADAM };

FL_INLINE int fl_has_two_moments(int optimizer) {
    return optimizer == FL_ADADELTA || optimizer == FL_ADAM;
}

/* Constants of the adaptive step, and the length of the present one. */
struct fl_adaptive {
    int optimizer;
    double decay;  /* r, or b2 */
    double decay1; /* b1 */
    double epsilon;
    double l1, l2;
    double log_decay, log_decay1; /* for Adam's corrections */
    double eta;                   /* of this step, with Adam's correction c */
    double t;
};

FL_INLINE struct fl_adaptive fl_adaptive_begin(const struct fl_sgd_rule *rule, int optimizer,
                                               double decay, double decay1, double epsilon) {
    struct fl_adaptive a = {optimizer, decay, decay1, epsilon, rule->l1, rule->l2, 0, 0, 0, 0};
    if (optimizer == FL_ADAM) {
        a.log_decay = fl_log1p(decay - 1.0);
        a.log_decay1 = fl_log1p(decay1 - 1.0);
    }
    return a;
}

/* 1 - decay^t; 1 in double where decay^t < e^-40 */
FL_INLINE double fl_adaptive_correction(double log_decay, double t) {
    return t * log_decay < -40.0 ? 1.0 : 1.0 - fl_exp(t * log_decay);
}

/* The length of step t. */
FL_INLINE void fl_adaptive_step(struct fl_adaptive *a, const struct fl_sgd_rule *rule, double t) {
    a->t = t;
    a->eta = fl_sgd_eta(rule, t);
    if (a->optimizer == FL_ADAM) {
        a->eta *= sqrt(fl_adaptive_correction(a->log_decay, t)) /
                  fl_adaptive_correction(a->log_decay1, t);
    }
}

FL_INLINE double fl_adaptive_prox(const struct fl_adaptive *a, double w, double h, double steps) {
    double size = fl_max(0.0, fl_abs(w) - steps * h * a->l1) / (1.0 + steps * h * a->l2);
    return w < 0 ? -size : size;
}

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#define FL_SQRT sqrtf
#define FL_ABS fabsf
#define FL_COPYSIGN copysignf
#include "fl_joint.inc.h"
#undef FL_REAL
#undef FL_TYPED
#undef FL_SQRT
#undef FL_ABS
#undef FL_COPYSIGN

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#define FL_SQRT sqrt
#define FL_ABS fabs
#define FL_COPYSIGN copysign
#include "fl_joint.inc.h"
#undef FL_REAL
#undef FL_TYPED
#undef FL_SQRT
#undef FL_ABS
#undef FL_COPYSIGN

/* The intercepts' adaptive steps: coordinates without a penalty, in double. */
FL_INLINE void fl_adaptive_intercepts(const struct fl_adaptive *a, int64_t K,
                                      const double *FL_RESTRICT g, double *FL_RESTRICT b,
                                      double *FL_RESTRICT A, double *FL_RESTRICT B) {
    struct fl_adaptive_block_f64 block;
    block.n = 0;
    for (int64_t k = 0; k < K; k++) {
        block.place[block.n] = k;
        block.g[block.n] = g[k];
        block.n += g[k] != 0;
        if (block.n == FL_CHUNK) {
            fl_adaptive_flush_f64(a, 0, &block, b, A, B, NULL, NULL);
        }
    }
    if (block.n) fl_adaptive_flush_f64(a, 0, &block, b, A, B, NULL, NULL);
}

#endif
