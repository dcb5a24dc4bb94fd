/* Updates of the weight vector for one type FL_REAL; included by fl_sgd.h once per type.
 *
 * v: weights over scale. u: the averaging sum, or NULL. paid: what each weight has paid of the L1
 * penalty, or NULL.
 */

/* Fold the scale into v before it underflows, and the sum so far into u. */
FL_INLINE void FL_TYPED(fl_sgd_fold)(struct fl_sgd_state *state, int64_t d, FL_REAL *FL_RESTRICT v,
                                     FL_REAL *FL_RESTRICT u) {
    double scale = state->scale;
    if (u) {
        for (int64_t j = 0; j < d; j++) u[j] -= (FL_REAL)(state->sum_scale * v[j]);
        state->sum_scale = 0;
    }
    if (scale == 0) {
        for (int64_t j = 0; j < d; j++) v[j] = 0;
    } else {
        for (int64_t j = 0; j < d; j++) v[j] = (FL_REAL)(scale * v[j]);
    }
    state->scale = 1;
}

/* The L2 decay of a step. */
FL_INLINE void FL_TYPED(fl_sgd_decay)(const struct fl_sgd_rule *rule, struct fl_sgd_state *state,
                                      double eta, int64_t d, FL_REAL *v, FL_REAL *u) {
    if (rule->l2 == 0) return;
    state->scale *= fl_l2_factor(eta, rule->l2);
    const double least = u ? FL_MEAN_SCALE_MIN : FL_SCALE_MIN;
    if (FL_UNLIKELY(state->scale < least)) FL_TYPED(fl_sgd_fold)(state, d, v, u);
}

/* w += c x, c over the scale already, keeping the average. */
FL_INLINE void FL_TYPED(fl_sgd_add)(const struct fl_sgd_state *state, struct fl_row row, FL_REAL c,
                                    FL_REAL *FL_RESTRICT v, FL_REAL *FL_RESTRICT u) {
    if (u == NULL || state->sum_scale == 0) {
        FL_TYPED(fl_axpy)(row, c, v);
    } else {
        FL_TYPED(fl_axpy_sum)(row, c, v, (FL_REAL)state->sum_scale, u);
    }
}

/* w += c x; then the weights of the row's entries pay the L1 penalty that has fallen due since
 * their last visit. */
FL_INLINE void FL_TYPED(fl_sgd_add_and_pay)(const struct fl_sgd_state *state, struct fl_row row,
                                            FL_REAL c, FL_REAL *FL_RESTRICT v,
                                            FL_REAL *FL_RESTRICT u, FL_REAL *FL_RESTRICT paid) {
    const FL_REAL scale = (FL_REAL)state->scale, inverse = (FL_REAL)(1.0 / state->scale);
    const FL_REAL total = (FL_REAL)state->l1_total;
    FL_REAL before[FL_CHUNK], after[FL_CHUNK], payment[FL_CHUNK];
    struct FL_TYPED(fl_chunk) chunk;
    for (int64_t k = 0; k < row.size; k += FL_CHUNK) {
        FL_TYPED(fl_take)(&chunk, row, k);
        const int n = chunk.n;
        const int32_t *FL_RESTRICT column = chunk.column;
        const FL_REAL *FL_RESTRICT x = chunk.x;
        for (int l = 0; l < n; l++) {
            FL_KEEP_SCALAR();
            before[l] = v[column[l]];
            payment[l] = paid[column[l]];
        }
        for (int l = 0; l < n; l++) {
            const FL_REAL w = scale * (before[l] + c * x[l]);
            const FL_REAL left = FL_TYPED(fl_l1_pay)(w, total, payment[l]);
            after[l] = inverse * left;
            payment[l] += left - w;
        }
        for (int l = 0; l < n; l++) {
            v[column[l]] = after[l];
            paid[column[l]] = payment[l];
        }
        if (u) {
            const FL_REAL sum_scale = (FL_REAL)state->sum_scale;
            for (int l = 0; l < n; l++) u[column[l]] += sum_scale * (after[l] - before[l]);
        }
    }
}

/* The weights as the user sees them: the L1 penalty is paid up, the state stays as it is, so that
 * training in two calls equals training in one. */
FL_INLINE void FL_TYPED(fl_sgd_publish)(const struct fl_sgd_state *state, int64_t d,
                                        const FL_REAL *FL_RESTRICT v,
                                        const FL_REAL *FL_RESTRICT paid,
                                        FL_REAL *FL_RESTRICT w) {
    for (int64_t j = 0; j < d; j++) {
        double value = state->scale * v[j];
        w[j] = (FL_REAL)(paid ? fl_l1_pay_f64(value, state->l1_total, paid[j]) : value);
    }
}

/* The mean of the averaged steps' weights. */
FL_INLINE void FL_TYPED(fl_sgd_publish_mean)(const struct fl_sgd_state *state, int64_t d,
                                             const FL_REAL *FL_RESTRICT v,
                                             const FL_REAL *FL_RESTRICT u, FL_REAL *FL_RESTRICT w) {
    for (int64_t j = 0; j < d; j++) {
        w[j] = (FL_REAL)((state->sum_scale * v[j] - u[j]) / state->n_averaged);
    }
}
