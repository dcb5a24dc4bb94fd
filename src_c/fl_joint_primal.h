/* Coordinate descent on the quadratic model of a loss of K responses, by columns.
 *
 * At responses z_i, with d the changes of the weights and t_i = d x_i + d_b those of the responses,
 *
 *     minimise over d   sum_jk g_jk d_jk + penalty
 *                       + (1/2) sum_i t_i'(diag(h_i) - e_i h_i h_i') t_i
 *
 * where softmax has h_i = s_i p_i / S and sparsemax s_i / S on the support of p_i, both with
 * e_i = 1 / sum_k h_ik: the very Hessian of the loss. What a class needs of the others is one
 * number per row, m_i = e_i h_i't_i, so that the slope of the quadratic part along the weight of
 * column j and class k is sum_i x_ij h_ik (t_ik - m_i), and a step costs the entries of one column
 * whatever K is. Glmnet leaves the other classes where they are (Friedman, Hastie & Tibshirani
 * 2010, "Regularization paths for generalized linear models via coordinate descent", J. Stat.
 * Softw. 33).
 */
#ifndef FL_JOINT_PRIMAL_H
#define FL_JOINT_PRIMAL_H

#include "fl_primal.h"

/* One class of the model: arrays over the rows. */
struct fl_joint_model {
    const double *h, *e, *g; /* g weighs squares */
    double *t, *m;
};

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_joint_primal.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_joint_primal.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
