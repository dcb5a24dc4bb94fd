/* Many models trained side by side over one stream of rows.
 *
 * Each model takes the steps of fl_sgd.h on the rows that are its own; it has its own rule, step
 * counter, scale and intercept. The weights stand as W[feature][lane], so that the cache line
 * fetched for one model holds the others, and every inner loop runs over lanes: what decides the
 * time of one model, indices and cache misses, is paid once for all. A fold is no copy of rows: for
 * a row that a model must not see its weight s is 0, and nothing of that lane changes.
 *
 * Measured: 16 float models in one line of 64 bytes cost 3 to 4 times what one costs; 24, whose
 * lines are straddled, cost as much per model, and less than 16 and 4 or 8 in passes of their own.
 *
 * A model never reads another one's lanes, and its operations come in one order. So a model has
 * the same bits in any company, at any number of lanes and under any instruction set.
 *
 * The models of one pass share loss, schedule, and whether they average or pay an L1 penalty; all
 * numbers are their own. A joint model (fl_joint_losses.h) has a lane per class, side by side, and
 * the numbers of all its lanes but weights and intercepts are the same.
 */
#ifndef FL_MULTI_H
#define FL_MULTI_H

#include "fl_joint_dual.h"
#include "fl_sgd.h"

#define FL_MAX_LANES 24 /* of exact models; of steps of fl_sgd.h 16 */

/* What the models of a pass share. */
struct fl_multi_plan {
    int loss;
    int schedule;
    double power_t;
    int weighted; /* whether some s is neither 0 nor 1 */
    int classes;  /* more than 1: lanes that stand together are the classes of one joint model */
};

/* Rule and state of each lane, under the names of fl_sgd_rule and fl_sgd_state; fit_intercept is 0
 * or 1. The loss of an epoch is sum_loss + log(product). */
struct fl_multi_lanes {
    double loss_parameter[FL_MAX_LANES], l1[FL_MAX_LANES], l2[FL_MAX_LANES];
    double eta0[FL_MAX_LANES], alpha[FL_MAX_LANES], t0[FL_MAX_LANES];
    double fit_intercept[FL_MAX_LANES], average_from[FL_MAX_LANES];
    double scale[FL_MAX_LANES], intercept[FL_MAX_LANES], t[FL_MAX_LANES];
    double sum_scale[FL_MAX_LANES], sum_intercept[FL_MAX_LANES], n_averaged[FL_MAX_LANES];
    double l1_total[FL_MAX_LANES], sum_loss[FL_MAX_LANES], sum_weight[FL_MAX_LANES];
    double product[FL_MAX_LANES];
};

/* The memory of a pass, d times as many numbers as there are lanes: weights over scale, the
 * averaging sums or NULL, what was paid of the L1 penalty or NULL. */
struct fl_multi_memory {
    int64_t d;
    void *v;
    void *u;
    void *paid;
};

/* Dual coordinate descent (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; logistic: Yu, Huang &
 * Lin 2011) on models that share their rows. Lane l minimises
 *
 *     bound_l sum_i s_il loss(y_il (w.x_i + b)) + |w|^2 / 2,     w = sum_i y_il beta_il x_i,
 *     beta_il = bound_l s_il a_il,     a_il = minus the slope of the loss at the optimum.
 *
 * `state` holds a_il, for the logistic loss t_il = logit(a_il). The intercept is free by the
 * proximal point method on centred rows: b carries the penalty (b - offset)^2 / (2 nu), and the
 * offset moves once an epoch. With the centre c, k_i = x_i.c and q_i = |x_i - c|^2, what is
 * kept is u = sum_i y beta x (the weights of a lane), sum = sum_i y beta and centre_sum = sum_i y
 * beta k; the response of a row is u.x_i + offset + (nu - k_i + |c|^2) sum - centre_sum. Without
 * an intercept nu, c, k and all sums of them are 0.
 *
 * `estimate` adds up what Fenchel and Young's inequality lacks at each row before its step: their
 * sum over all rows at once is the duality gap. `value` and `weight` add up over some rows loss +
 * a m / 2, where m is the margin, and s: their ratio comes to be the objective, since (w, b)
 * minimises it where |w|^2 = sum_i beta_i m_i. */
#define FL_LOGIT_MAX 690.0
#define FL_DUAL_STEPS 40
/* A coordinate's minimum need not be met better than this in t: the next epoch goes on. */
#define FL_DUAL_CLOSE 0.03

struct fl_dual_plan {
    int loss; /* FL_LOSS_LOG or FL_LOSS_SQUARED_HINGE */
    double centre_square; /* |c|^2 */
};

struct fl_dual_lanes {
    double bound[FL_MAX_LANES], nu[FL_MAX_LANES], offset[FL_MAX_LANES], sum[FL_MAX_LANES];
    double centre_sum[FL_MAX_LANES], estimate[FL_MAX_LANES];
    double value[FL_MAX_LANES], weight[FL_MAX_LANES];
};

/* `fl_prefetch_columns` of one array whose columns are of a line, two or three: to test for their
 * end costs as much as to fetch them. */
FL_INLINE void fl_prefetch_lanes(const struct fl_rows *X, int64_t i, const void *w,
                                 int64_t bytes) {
    const int32_t *indices = X->indices + fl_row_start(X, i);
    const int64_t size = fl_row_size(X, i);
    const char *start = (const char *)w;
#define FL_FETCH_LANES(column)                                          \
    if (bytes <= FL_LINE) {                                             \
        for (int64_t k = 0; k < size; k++) {                            \
            FL_PREFETCH_L2(start + (column)*bytes);                     \
        }                                                               \
    } else {                                                            \
        for (int64_t k = 0; k < size; k++) {                            \
            const char *line = start + (column)*bytes;                  \
            FL_PREFETCH_L2(line);                                       \
            FL_PREFETCH_L2(line + FL_LINE);                             \
            if (bytes > 2 * FL_LINE) FL_PREFETCH_L2(line + 2 * FL_LINE); \
        }                                                               \
    }
    if (X->layout == FL_SIGNED) {
        FL_FETCH_LANES(fl_signed_column(indices[k]))
    } else {
        FL_FETCH_LANES((int64_t)indices[k])
    }
#undef FL_FETCH_LANES
}

/* The kernels for one type and 4, 8 or 16 lanes. */
struct fl_multi_kernels {
    /* One step of every lane whose s is above 0. s and y have an entry per lane. Meanwhile the
     * lines of v that the entries of `next` have are fetched; an empty row asks for none. */
    void (*step)(const struct fl_multi_plan *plan, struct fl_multi_lanes *lanes, struct fl_row row,
                 const double *s, const double *y, const struct fl_multi_memory *memory,
                 struct fl_row next);
    /* z[lane] = w.x */
    void (*respond)(struct fl_row row, const void *w, double *z);
    /* Per lane |w|_1 (only if some was paid) and |w|_2^2 added over the features first..last-1; of
     * the last weights, not their average. */
    void (*norms)(const struct fl_multi_lanes *lanes, const struct fl_multi_memory *memory,
                  int64_t first, int64_t last, double *sizes, double *squares);
    /* out[feature][lane]: the weights that the user sees, averages where there are any; or v. */
    void (*publish)(const struct fl_multi_lanes *lanes, const struct fl_multi_memory *memory,
                    int64_t first, int64_t last, void *out);
};

/* Descent of exact models on 4, 8, 16 or 24 lanes of float weights. */
struct fl_descent_kernels {
    /* One step of dual coordinate descent on the lanes whose s is above 0; `sampled`: the row
     * counts in `value` and `weight`. */
    void (*dual_step)(const struct fl_dual_plan *plan, struct fl_dual_lanes *lanes,
                      struct fl_row row, double q, double k, const double *s, const double *y,
                      int sampled, float *state, void *u);
    /* w += by x */
    void (*add)(struct fl_row row, const double *by, void *w);
};

/* Certificates of exact models on as many lanes, in double. */
struct fl_certifying_kernels {
    void (*add)(struct fl_row row, const double *by, void *w);
    void (*respond)(struct fl_row row, const void *w, double *z);
    /* At responses p, adds to the rows of `sums`, with an entry per lane: s times the loss (as a
     * sum and the logarithm of a product), its slope, its curvature and its slope times p; `pull`
     * gets s times slope. */
    void (*sums)(int loss, const double *p, const double *s, const double *y, double *sums,
                 double *pull);
};

/* For one instruction set and type. */
struct fl_multi_table {
    struct fl_multi_kernels lanes[3];
    struct fl_joint_kernels joint;
};

#endif
