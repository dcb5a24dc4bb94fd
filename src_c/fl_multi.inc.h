/* The kernels of fl_multi.h for FL_LANES models; included by fl_multi.c once per number of lanes,
 * hence no guard. With FL_ONLY_EXACT defined: what exact models call. */

#include "fl_lanes.inc.h"

/* Vectors that make up the lanes, and those whose sums are in registers at a time: four chains hide
 * the latency of an addition, and are those of fl_dot, so that a model trained alone has the same
 * bits. */
#define FL_N_V (FL_LANES / FL_V_SIZE)
#define FL_AT_ONCE (FL_N_V == 1 || FL_N_V == 3 ? FL_N_V : 2)

/* Runs `loop` for the layout of `row` with what column k is and what value it has. */
#ifndef FL_PLAIN_AT
#  define FL_PLAIN_AT(k) (int64_t)index[k]
#  define FL_SIGNED_AT(k) (int64_t)fl_signed_column(index[k])
#  define FL_DENSE_AT(k) (k)
#  define FL_STORED(k) x[k]
#  define FL_ONE(k) (FL_REAL)1
#  define FL_SIGN(k) (FL_REAL)(index[k] < 0 ? -1 : 1)
#  define FL_LANES_BY_LAYOUT(loop)     \
      switch (row.layout) {            \
      case FL_DENSE:                   \
          loop(FL_DENSE_AT, FL_STORED) \
          break;                       \
      case FL_CSR:                     \
          loop(FL_PLAIN_AT, FL_STORED) \
          break;                       \
      case FL_ONES:                    \
          loop(FL_PLAIN_AT, FL_ONE)    \
          break;                       \
      default:                         \
          loop(FL_SIGNED_AT, FL_SIGN)  \
      }
#endif

/* Some weights, each nearer to 0 by `high` if `shrinks`, which is known where this is compiled. */
FL_INLINE FL_V FL_LANED(fl_lanes_loaded)(const FL_REAL *from, int shrinks, FL_V low, FL_V high) {
    const FL_V v = FL_V_LOAD(from);
    return shrinks ? FL_V_SUB(v, FL_V_MAX(low, FL_V_MIN(high, v))) : v;
}

/* The line of an entry's column, in any sparse layout: those of plain ones are no less than 0. */
FL_INLINE const FL_REAL *FL_LANED(fl_lanes_line)(int32_t index, const FL_REAL *w) {
    return w + (int64_t)fl_signed_column(index) * FL_LANES;
}

/* Ask for the lines of a row's entries first..last-1. */
FL_INLINE void FL_LANED(fl_lanes_fetch)(const int32_t *ahead, int64_t first, int64_t last,
                                        const FL_REAL *w) {
    for (int64_t k = first; k < last; k++) {
        FL_PREFETCH_L2(FL_LANED(fl_lanes_line)(ahead[k], w));
    }
}

static const struct fl_row FL_LANED(fl_no_row) = {FL_DENSE, 0, NULL, NULL};

/* z = w.x, while the lines of the entries of `next` are asked for: between loads there is room. */
FL_INLINE void FL_LANED(fl_lanes_respond)(struct fl_row row, const void *weights, int shrinks,
                                          FL_REAL by, struct fl_row next, double *z) {
    const FL_REAL *w = (const FL_REAL *)weights;
    const int32_t *index = row.indices;
    const FL_REAL *x = (const FL_REAL *)row.values;
    const FL_V low = FL_V_SET(-by), high = FL_V_SET(by);
    const int32_t *ahead = next.indices;
    const int64_t asked = next.size < row.size ? next.size : row.size;
    FL_REAL out[FL_LANES];
    for (int first = 0; first < FL_N_V; first += FL_AT_ONCE) {
        const FL_REAL *from = w + first * FL_V_SIZE;
        FL_V sum[4][FL_AT_ONCE];
        const int64_t both = first ? 0 : asked; /* at once with the first vectors only */
        int64_t k = 0;
        for (int q = 0; q < 4; q++) {
            for (int b = 0; b < FL_AT_ONCE; b++) sum[q][b] = FL_V_SET(0);
        }
#define FL_SHRUNK_AT(b) FL_LANED(fl_lanes_loaded)(line + (b) * FL_V_SIZE, shrinks, low, high)
#define FL_RESPOND(column, value)                                                 \
    for (; k + 4 <= both; k += 4) {                                               \
        for (int q = 0; q < 4; q++) {                                             \
            const FL_V times = FL_V_SET(value(k + q));                            \
            const FL_REAL *line = from + column(k + q) * FL_LANES;                \
            FL_PREFETCH_L2(FL_LANED(fl_lanes_line)(ahead[k + q], w));             \
            for (int b = 0; b < FL_AT_ONCE; b++) {                                \
                sum[q][b] = FL_V_ADD(sum[q][b], FL_V_MUL(times, FL_SHRUNK_AT(b)));     \
            }                                                                     \
        }                                                                         \
    }                                                                             \
    for (; k + 4 <= row.size; k += 4) {                                           \
        for (int q = 0; q < 4; q++) {                                             \
            const FL_V times = FL_V_SET(value(k + q));                            \
            const FL_REAL *line = from + column(k + q) * FL_LANES;                \
            for (int b = 0; b < FL_AT_ONCE; b++) {                                \
                sum[q][b] = FL_V_ADD(sum[q][b], FL_V_MUL(times, FL_SHRUNK_AT(b)));     \
            }                                                                     \
        }                                                                         \
    }                                                                             \
    for (; k < row.size; k++) {                                                   \
        const FL_V times = FL_V_SET(value(k));                                    \
        const FL_REAL *line = from + column(k) * FL_LANES;                        \
        for (int b = 0; b < FL_AT_ONCE; b++) {                                    \
            sum[0][b] = FL_V_ADD(sum[0][b], FL_V_MUL(times, FL_SHRUNK_AT(b)));         \
        }                                                                         \
    }
        FL_LANES_BY_LAYOUT(FL_RESPOND)
#undef FL_RESPOND
#undef FL_SHRUNK_AT
        for (int b = 0; b < FL_AT_ONCE; b++) {
            FL_V_STORE(out + (first + b) * FL_V_SIZE, FL_V_ADD(FL_V_ADD(sum[0][b], sum[1][b]),
                                                               FL_V_ADD(sum[2][b], sum[3][b])));
        }
    }
    FL_LANED(fl_lanes_fetch)(ahead, asked - asked % 4, next.size, w);
    for (int l = 0; l < FL_LANES; l++) z[l] = out[l];
}

static void FL_LANED(fl_multi_respond)(struct fl_row row, const void *weights, double *z) {
    FL_LANED(fl_lanes_respond)(row, weights, 0, (FL_REAL)0, FL_LANED(fl_no_row), z);
}

/* w += c x, while the lines of the next row's entries from `from` on are asked for. The row goes
 * backwards: of a long one the end is in the first-level cache after its dot product, which saves 4
 * to 7 % of an epoch at 516 entries a row. */
FL_INLINE void FL_LANED(fl_multi_add)(struct fl_row row, const FL_REAL *c, struct fl_row next,
                                      int64_t from, FL_REAL *w) {
    const int32_t *index = row.indices, *ahead = next.indices;
    const FL_REAL *x = (const FL_REAL *)row.values;
    const int64_t asked = next.size - from < row.size ? next.size - from : row.size;
    int64_t k = row.size - 1;
    FL_V by[FL_N_V];
    for (int b = 0; b < FL_N_V; b++) by[b] = FL_V_LOAD(c + b * FL_V_SIZE);
#define FL_ADD_ENTRY(column, value)                                                         \
    const FL_V times = FL_V_SET(value(k));                                                  \
    FL_REAL *line = w + column(k) * FL_LANES;                                               \
    for (int b = 0; b < FL_N_V; b++) {                                                      \
        FL_V_STORE(line + b * FL_V_SIZE,                                                    \
                   FL_V_ADD(FL_V_LOAD(line + b * FL_V_SIZE), FL_V_MUL(by[b], times)));      \
    }
#define FL_ADD(column, value)                                                               \
    for (; k >= asked; k--) {                                                               \
        FL_ADD_ENTRY(column, value)                                                         \
    }                                                                                       \
    for (; k >= 0; k--) {                                                                   \
        FL_PREFETCH_L2(FL_LANED(fl_lanes_line)(ahead[from + k], w));                        \
        FL_ADD_ENTRY(column, value)                                                         \
    }
    FL_LANES_BY_LAYOUT(FL_ADD)
#undef FL_ADD
#undef FL_ADD_ENTRY
    FL_LANED(fl_lanes_fetch)(ahead, from + asked, next.size, w);
}

#ifndef FL_ONLY_EXACT
/* z = soft(w, by).x */
static void FL_LANED(fl_multi_respond_shrunk)(struct fl_row row, const void *weights, FL_REAL by,
                                              double *z) {
    FL_LANED(fl_lanes_respond)(row, weights, 1, by, FL_LANED(fl_no_row), z);
}

/* w += c x, the weights pay the L1 penalty that has fallen due, the averaging sums follow. Lanes
 * with `off` pay nothing. */
FL_INLINE void FL_LANED(fl_multi_add_and_keep)(const struct fl_multi_lanes *lanes,
                                               struct fl_row row, const FL_REAL *c,
                                               const double *s, FL_REAL *v, FL_REAL *u,
                                               FL_REAL *paid) {
    const int32_t *index = row.indices;
    const FL_REAL *x = (const FL_REAL *)row.values;
    FL_REAL scale[FL_LANES], inverse[FL_LANES], total[FL_LANES], sum_scale[FL_LANES];
    FL_REAL on[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) {
        scale[l] = (FL_REAL)lanes->scale[l];
        inverse[l] = (FL_REAL)(1.0 / lanes->scale[l]);
        total[l] = (FL_REAL)lanes->l1_total[l];
        sum_scale[l] = (FL_REAL)lanes->sum_scale[l];
        on[l] = s[l] > 0 ? (FL_REAL)1 : (FL_REAL)0;
    }
#define FL_KEEP(column, value)                                                              \
    for (int64_t k = 0; k < row.size; k++) {                                                \
        const FL_REAL times = value(k);                                                     \
        const int64_t at = column(k) * FL_LANES;                                            \
        FL_REAL *FL_RESTRICT line = v + at;                                                 \
        FL_REAL before[FL_LANES], after[FL_LANES];                                          \
        if (times == 0) continue;                                                           \
        for (int l = 0; l < FL_LANES; l++) {                                                \
            before[l] = line[l];                                                            \
            after[l] = before[l] + c[l] * times;                                            \
        }                                                                                   \
        if (paid) {                                                                         \
            FL_REAL *FL_RESTRICT payment = paid + at;                                       \
            for (int l = 0; l < FL_LANES; l++) {                                            \
                const FL_REAL w = scale[l] * after[l];                                      \
                const FL_REAL left = FL_TYPED(fl_l1_pay)(w, total[l], payment[l]);          \
                const FL_REAL now = payment[l] + (left - w);                                \
                after[l] = on[l] > 0 ? inverse[l] * left : before[l];                       \
                payment[l] = on[l] > 0 ? now : payment[l];                                  \
            }                                                                               \
        }                                                                                   \
        for (int l = 0; l < FL_LANES; l++) line[l] = after[l];                              \
        if (u) {                                                                            \
            FL_REAL *FL_RESTRICT sums = u + at;                                             \
            for (int l = 0; l < FL_LANES; l++) sums[l] += sum_scale[l] * (after[l] - before[l]); \
        }                                                                                   \
    }
    FL_LANES_BY_LAYOUT(FL_KEEP)
#undef FL_KEEP
}

/* fl_sgd_fold for one lane. */
static void FL_LANED(fl_multi_fold)(struct fl_multi_lanes *lanes, int l,
                                    const struct fl_multi_memory *memory) {
    FL_REAL *v = (FL_REAL *)memory->v, *u = (FL_REAL *)memory->u;
    const double scale = lanes->scale[l];
    const int64_t end = memory->d * FL_LANES;
    if (u) {
        for (int64_t j = l; j < end; j += FL_LANES) u[j] -= (FL_REAL)(lanes->sum_scale[l] * v[j]);
        lanes->sum_scale[l] = 0;
    }
    for (int64_t j = l; j < end; j += FL_LANES) v[j] = scale == 0 ? 0 : (FL_REAL)(scale * v[j]);
    lanes->scale[l] = 1;
}

#endif /* FL_ONLY_EXACT */

/* Loss parts and slope of each lane: the table of fl_losses.h, with the loss outside the loop. */
FL_INLINE void FL_LANED(fl_multi_losses)(int loss, const double *p, const double *y,
                                         const double *a, double *slope, double *u, double *v) {
    if (loss == FL_LOSS_LOG) {
        double d[FL_LANES];
        int64_t far = 0; /* or not a number */
        for (int l = 0; l < FL_LANES; l++) {
            d[l] = -fl_abs(y[l] * p[l]);
            far |= (int64_t)!(d[l] > -FL_EXP_NEAR);
        }
        if (FL_LIKELY(!far)) {
            for (int l = 0; l < FL_LANES; l++) d[l] = fl_exp_near(d[l]);
            for (int l = 0; l < FL_LANES; l++) {
                v[l] = fl_log_loss_parts(y[l] * p[l], y[l], d[l], slope + l, u + l);
            }
            return;
        }
    }
    switch (loss) {
#define FL_LOSS_LANES(E, name, kind, parameter, value)                                    \
    case FL_LOSS_##E:                                                                     \
        for (int l = 0; l < FL_LANES; l++) {                                              \
            v[l] = fl_loss_parts(FL_LOSS_##E, p[l], y[l], a[l], slope + l, u + l);        \
        }                                                                                 \
        break;
        FL_LOSSES(FL_LOSS_LANES)
#undef FL_LOSS_LANES
    }
}

#ifndef FL_ONLY_EXACT
/* The same for joint losses: y is a class number, the loss stands with the first lane. */
FL_INLINE void FL_LANED(fl_multi_joint_losses)(const struct fl_multi_plan *plan,
                                               const struct fl_multi_lanes *lanes,
                                               const double *p, const double *s, const double *y,
                                               double *slope, double *u, double *v) {
    int64_t active[FL_LANES], n_active;
    for (int l = 0; l < FL_LANES; l++) slope[l] = u[l] = v[l] = 0.0;
    for (int l = 0; l + plan->classes <= FL_LANES; l += plan->classes) {
        if (!(s[l] > 0)) continue;
        v[l] = fl_joint_loss(plan->loss, p + l, plan->classes, (int64_t)y[l],
                             lanes->loss_parameter[l], slope + l, active, &n_active);
    }
}

/* fl_loss_add per lane: s times loss into the sums. */
FL_INLINE void FL_LANED(fl_multi_sum)(const struct fl_multi_plan *plan,
                                      struct fl_multi_lanes *FL_RESTRICT lanes,
                                      const double *FL_RESTRICT s, const double *FL_RESTRICT v,
                                      const double *FL_RESTRICT u) {
    int64_t large = 0;
    if (plan->weighted) {
        for (int l = 0; l < FL_LANES; l++) {
            if (s[l] > 0) lanes->sum_loss[l] += s[l] * (u[l] > 0 ? v[l] + fl_log1p(u[l]) : v[l]);
        }
    } else {
        for (int l = 0; l < FL_LANES; l++) {
            const double more = lanes->sum_loss[l] + v[l], product = lanes->product[l];
            const double longer = product * (1.0 + u[l]);
            lanes->sum_loss[l] = s[l] > 0 ? more : lanes->sum_loss[l];
            lanes->product[l] = s[l] > 0 ? longer : product;
            large |= (int64_t)(lanes->product[l] > 1e300);
        }
        if (FL_UNLIKELY(large)) {
            for (int l = 0; l < FL_LANES; l++) {
                if (!(lanes->product[l] > 1e300)) continue;
                lanes->sum_loss[l] += fl_log1p(lanes->product[l] - 1.0);
                lanes->product[l] = 1.0;
            }
        }
    }
    for (int l = 0; l < FL_LANES; l++) lanes->sum_weight[l] += s[l];
}

/* eta of each lane at its own step. */
FL_INLINE void FL_LANED(fl_multi_etas)(const struct fl_multi_plan *plan,
                                       const struct fl_multi_lanes *lanes, double *eta) {
    struct fl_sgd_rule rule = {0};
#define FL_ETAS                                  \
    for (int l = 0; l < FL_LANES; l++) {         \
        rule.eta0 = lanes->eta0[l];              \
        rule.alpha = lanes->alpha[l];            \
        rule.t0 = lanes->t0[l];                  \
        eta[l] = fl_sgd_eta(&rule, lanes->t[l]); \
    }
    if (plan->schedule == FL_OPTIMAL) {
        rule.schedule = FL_OPTIMAL;
        FL_ETAS
    } else if (plan->schedule == FL_CONSTANT) {
        rule.schedule = FL_CONSTANT;
        FL_ETAS
    } else {
        rule.schedule = FL_INVSCALING;
        rule.power_t = plan->power_t;
        if (rule.power_t == 0.5) {
            rule.power_t = 0.5; /* known to the compiler: a loop in vector registers */
            FL_ETAS
        } else {
            FL_ETAS
        }
    }
#undef FL_ETAS
}

/* The end of a step: coefficients c of the row, scale, intercept, and the L1 total. */
FL_INLINE int FL_LANED(fl_multi_move)(struct fl_multi_lanes *FL_RESTRICT lanes,
                                      const double *FL_RESTRICT s, const double *FL_RESTRICT eta,
                                      const double *FL_RESTRICT g, double least,
                                      const struct fl_multi_memory *memory,
                                      FL_REAL *FL_RESTRICT c) {
    int64_t small = 0, moved = 0;
    double by_lane[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) {
        const double decayed = lanes->scale[l] * fl_l2_factor(eta[l], lanes->l2[l]);
        const double due = lanes->l1_total[l] + eta[l] * lanes->l1[l];
        lanes->scale[l] = s[l] > 0 ? decayed : lanes->scale[l];
        lanes->l1_total[l] = s[l] > 0 ? due : lanes->l1_total[l];
        small |= (int64_t)(lanes->scale[l] < least);
    }
    if (FL_UNLIKELY(small)) {
        for (int l = 0; l < FL_LANES; l++) {
            if (lanes->scale[l] < least) FL_LANED(fl_multi_fold)(lanes, l, memory);
        }
    }
    for (int l = 0; l < FL_LANES; l++) {
        const double change = (-eta[l] / lanes->scale[l]) * g[l];
        const double by = lanes->fit_intercept[l] * (eta[l] * g[l]);
        by_lane[l] = s[l] > 0 ? change : 0.0;
        lanes->intercept[l] -= s[l] > 0 ? by : 0.0;
        moved |= (int64_t)(by_lane[l] != 0.0);
    }
    for (int l = 0; l < FL_LANES; l++) c[l] = (FL_REAL)by_lane[l];
    return moved != 0;
}

static void FL_LANED(fl_multi_step)(const struct fl_multi_plan *plan,
                                    struct fl_multi_lanes *lanes, struct fl_row row,
                                    const double *s, const double *y,
                                    const struct fl_multi_memory *memory, struct fl_row next) {
    double p[FL_LANES], v[FL_LANES], u[FL_LANES], g[FL_LANES], eta[FL_LANES];
    FL_REAL c[FL_LANES];
    struct fl_row half = next;
    half.size /= 2;
    FL_LANED(fl_lanes_respond)(row, memory->v, 0, (FL_REAL)0, half, p);
    for (int l = 0; l < FL_LANES; l++) {
        p[l] = lanes->scale[l] * p[l] + lanes->intercept[l];
        lanes->t[l] += s[l] > 0 ? 1.0 : 0.0;
    }
    if (plan->classes > 1) {
        FL_LANED(fl_multi_joint_losses)(plan, lanes, p, s, y, g, u, v);
    } else {
        FL_LANED(fl_multi_losses)(plan->loss, p, y, lanes->loss_parameter, g, u, v);
    }
    FL_LANED(fl_multi_sum)(plan, lanes, s, v, u);
    FL_LANED(fl_multi_etas)(plan, lanes, eta);
    if (plan->weighted) {
        for (int l = 0; l < FL_LANES; l++) g[l] *= s[l];
    }
    if (plan->classes == 1 && fl_loss_has_reach(plan->loss)) {
        const double q = FL_TYPED(fl_square_norm)(row);
        for (int l = 0; l < FL_LANES; l++) {
            const double reach = fl_loss_reach(plan->loss, p[l], y[l], lanes->loss_parameter[l]);
            if (!(s[l] > 0) || g[l] == 0) continue;
            eta[l] = fl_min(eta[l], fl_sgd_safe_eta(eta[l], g[l], q + lanes->fit_intercept[l],
                                                    reach));
        }
    }
    const double least = memory->u ? FL_MEAN_SCALE_MIN : FL_SCALE_MIN;
    const int moved = FL_LANED(fl_multi_move)(lanes, s, eta, g, least, memory, c);
    if (memory->paid || (memory->u && moved)) {
        FL_LANED(fl_multi_add_and_keep)(lanes, row, c, s, (FL_REAL *)memory->v,
                                        (FL_REAL *)memory->u, (FL_REAL *)memory->paid);
    } else if (moved) {
        FL_LANED(fl_multi_add)(row, c, next, half.size, (FL_REAL *)memory->v);
    } else {
        FL_LANED(fl_lanes_fetch)(next.indices, half.size, next.size, (const FL_REAL *)memory->v);
    }
    if (memory->u) {
        for (int l = 0; l < FL_LANES; l++) {
            const int on = s[l] > 0 && lanes->t[l] >= lanes->average_from[l];
            lanes->sum_scale[l] += on ? lanes->scale[l] : 0.0;
            lanes->sum_intercept[l] += on ? lanes->intercept[l] : 0.0;
            lanes->n_averaged[l] += on ? 1.0 : 0.0;
        }
    }
}

static void FL_LANED(fl_multi_norms)(const struct fl_multi_lanes *lanes,
                                     const struct fl_multi_memory *memory, int64_t first,
                                     int64_t last, double *sizes, double *squares) {
    const FL_REAL *v = (const FL_REAL *)memory->v, *paid = (const FL_REAL *)memory->paid;
    double square[FL_LANES], size[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) square[l] = squares[l], size[l] = sizes[l];
    if (paid == NULL) {
        for (int64_t j = first * FL_LANES; j < last * FL_LANES; j += FL_LANES) {
            for (int l = 0; l < FL_LANES; l++) square[l] += (double)v[j + l] * v[j + l];
        }
        for (int l = 0; l < FL_LANES; l++) {
            square[l] = squares[l] + lanes->scale[l] * lanes->scale[l] * (square[l] - squares[l]);
        }
    } else {
        for (int64_t j = first * FL_LANES; j < last * FL_LANES; j += FL_LANES) {
            for (int l = 0; l < FL_LANES; l++) {
                const double w =
                    (FL_REAL)fl_l1_pay_f64(lanes->scale[l] * v[j + l], lanes->l1_total[l],
                                           paid[j + l]);
                square[l] += w * w;
                size[l] += fl_abs(w);
            }
        }
    }
    for (int l = 0; l < FL_LANES; l++) squares[l] = square[l], sizes[l] = size[l];
}

static void FL_LANED(fl_multi_publish)(const struct fl_multi_lanes *lanes,
                                       const struct fl_multi_memory *memory, int64_t first,
                                       int64_t last, void *out) {
    const FL_REAL *v = (const FL_REAL *)memory->v, *u = (const FL_REAL *)memory->u;
    const FL_REAL *paid = (const FL_REAL *)memory->paid;
    FL_REAL *w = (FL_REAL *)out;
    for (int64_t j = first * FL_LANES; j < last * FL_LANES; j += FL_LANES) {
        for (int l = 0; l < FL_LANES; l++) {
            const double value = lanes->scale[l] * v[j + l];
            if (u && lanes->n_averaged[l] > 0) {
                w[j + l] = (FL_REAL)((lanes->sum_scale[l] * v[j + l] - u[j + l]) /
                                     lanes->n_averaged[l]);
            } else if (paid) {
                w[j + l] = (FL_REAL)fl_l1_pay_f64(value, lanes->l1_total[l], paid[j + l]);
            } else {
                w[j + l] = (FL_REAL)value;
            }
        }
    }
}

#endif /* FL_ONLY_EXACT */

#include "fl_multi_dual.inc.h"

#undef FL_LANES
#undef FL_LANED
#undef FL_N_V
#undef FL_AT_ONCE
#undef FL_V
#undef FL_V_OP
#undef FL_V_SIZE
#undef FL_V_LOAD
#undef FL_V_STORE
#undef FL_V_SET
#undef FL_V_ADD
#undef FL_V_SUB
#undef FL_V_MUL
#undef FL_V_MIN
#undef FL_V_MAX
