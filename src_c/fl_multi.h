/* Many models trained side by side over one stream of rows.
 *
 * Each model takes the steps of fl_sgd.h on the rows that are its own; it has its own rule, step
 * counter, scale and intercept. The weights stand as W[feature][lane], so that the cache line
 * fetched for one model holds the others, and every inner loop runs over lanes: what decides the
 * time of one model, indices and cache misses, is paid once for all. A fold is no copy of rows: for
 * a row that a model must not see its weight s is 0, and nothing of that lane changes.
 *
 * Measured: 16 float models in one line of 64 bytes cost 3 to 4 times what one costs; lines that
 * are straddled (24 lanes) or doubled cost more per model.
 *
 * A lane never reads another lane, and its operations come in one order. So a model has the same
 * bits in any company, at any number of lanes and under any instruction set.
 *
 * The models of one pass share loss, schedule, and whether they average or pay an L1 penalty; all
 * numbers are their own.
 */
#ifndef FL_MULTI_H
#define FL_MULTI_H

#include "fl_sgd.h"

#define FL_MAX_LANES 16

/* What the models of a pass share. */
struct fl_multi_plan {
    int loss;
    int schedule;
    double power_t;
    int weighted; /* whether some s is neither 0 nor 1 */
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

/* The kernels for one type and one number of lanes. */
struct fl_multi_kernels {
    /* One step of every lane whose s is above 0. s and y have an entry per lane. */
    void (*step)(const struct fl_multi_plan *plan, struct fl_multi_lanes *lanes, struct fl_row row,
                 const double *s, const double *y, const struct fl_multi_memory *memory);
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

/* For one instruction set; by number of lanes: 4, 8, 16. */
struct fl_multi_table {
    struct fl_multi_kernels lanes[3];
};

#endif
