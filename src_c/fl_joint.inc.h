/* Weights of K outputs for one type FL_REAL; included by fl_joint.h once per type. */

/* z = scale (V x) + b; `sum` is a scratch of K. */
FL_INLINE void FL_TYPED(fl_joint_scores)(struct fl_row row, int64_t K,
                                         const FL_REAL *FL_RESTRICT V, double scale,
                                         const double *FL_RESTRICT b, FL_REAL *FL_RESTRICT sum,
                                         double *FL_RESTRICT z) {
    if (K == 1) {
        z[0] = scale * FL_TYPED(fl_dot)(row, V) + b[0];
        return;
    }
    for (int64_t k = 0; k < K; k++) sum[k] = 0;
    FL_EACH(row, j, x, {
        const FL_REAL *FL_RESTRICT w = V + j * K;
        for (int64_t k = 0; k < K; k++) sum[k] += x * w[k];
    });
    for (int64_t k = 0; k < K; k++) z[k] = scale * sum[k] + b[k];
}

/* V_k += c_k x for the active outputs, keeping the average. */
FL_INLINE void FL_TYPED(fl_joint_add)(const struct fl_sgd_state *state, struct fl_row row, int64_t K,
                                      const FL_REAL *FL_RESTRICT c,
                                      const int64_t *FL_RESTRICT active, int64_t n_active,
                                      FL_REAL *FL_RESTRICT V, double *FL_RESTRICT u) {
    const double sum_scale = state->sum_scale;
    if (u != NULL && sum_scale != 0) {
        FL_EACH(row, j, x, {
            for (int64_t a = 0; a < n_active; a++) {
                const int64_t place = j * K + active[a];
                FL_REAL old = V[place];
                V[place] = old + c[active[a]] * x;
                u[place] += sum_scale * ((double)V[place] - old);
            }
        });
    } else if (n_active == K) {
        FL_EACH(row, j, x, {
            FL_REAL *FL_RESTRICT w = V + j * K;
            for (int64_t k = 0; k < K; k++) w[k] += c[k] * x;
        });
    } else {
        FL_EACH(row, j, x, {
            for (int64_t a = 0; a < n_active; a++) V[j * K + active[a]] += c[active[a]] * x;
        });
    }
}

/* All weights of a row's entries pay the L1 penalty due (fl_penalty.h). */
FL_INLINE void FL_TYPED(fl_joint_pay)(const struct fl_sgd_state *state, struct fl_row row, int64_t K,
                                      FL_REAL *FL_RESTRICT V, double *FL_RESTRICT u,
                                      FL_REAL *FL_RESTRICT paid) {
    const double scale = state->scale;
    FL_EACH(row, j, x, {
        for (int64_t place = j * K; place < (j + 1) * K; place++) {
            FL_REAL old = V[place];
            double w = scale * old;
            V[place] = (FL_REAL)(fl_l1_pay(w, state->l1_total, paid[place]) / scale);
            paid[place] += (FL_REAL)(scale * V[place] - w);
            if (u) u[place] += state->sum_scale * ((double)V[place] - old);
        }
    });
}

/* The batch's gradient, coordinate by coordinate. */
FL_INLINE void FL_TYPED(fl_joint_collect)(struct fl_row row, int64_t K, const double *FL_RESTRICT g,
                                          double share, const int64_t *FL_RESTRICT active,
                                          int64_t n_active, double *FL_RESTRICT G) {
    FL_EACH(row, j, x, {
        for (int64_t a = 0; a < n_active; a++) G[j * K + active[a]] += share * g[active[a]] * x;
    });
}

/* One coordinate's adaptive step. `last` is the step of its last visit, NULL without a penalty. */
FL_INLINE void FL_TYPED(fl_adaptive_visit)(const struct fl_adaptive *a, double sum_scale, double g,
                                           FL_REAL *FL_RESTRICT w, FL_REAL *FL_RESTRICT A,
                                           FL_REAL *FL_RESTRICT B, double *FL_RESTRICT last,
                                           double *FL_RESTRICT u) {
    double moment_a = *A, moment_b = B ? *B : 0, h, value = *w;
    FL_REAL old = *w;
    value += fl_adaptive_change(a, g, &moment_a, &moment_b, &h);
    *A = (FL_REAL)moment_a;
    if (B) *B = (FL_REAL)moment_b;
    if (last) {
        value = fl_adaptive_prox(a, value, h, a->t - *last);
        *last = a->t;
    }
    *w = (FL_REAL)value;
    if (u) *u += sum_scale * ((double)*w - old);
}

/* A row's adaptive steps, for batches of one. */
FL_INLINE void FL_TYPED(fl_adaptive_row)(const struct fl_adaptive *a, double sum_scale,
                                         struct fl_row row, int64_t K, const double *FL_RESTRICT g,
                                         const int64_t *FL_RESTRICT active, int64_t n_active,
                                         FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT A,
                                         FL_REAL *FL_RESTRICT B, double *FL_RESTRICT last,
                                         double *FL_RESTRICT u) {
    FL_EACH(row, j, x, {
        for (int64_t i = 0; i < n_active; i++) {
            const int64_t place = j * K + active[i];
            const double gradient = g[active[i]] * x;
            if (gradient == 0) continue;
            FL_TYPED(fl_adaptive_visit)(a, sum_scale, gradient, V + place, A + place,
                                        B ? B + place : NULL, last ? last + place : NULL,
                                        u ? u + place : NULL);
        }
    });
}

/* The steps of a batch whose gradient G has been collected; leaves G at 0 on the row's entries. */
FL_INLINE void FL_TYPED(fl_adaptive_collected)(const struct fl_adaptive *a, double sum_scale,
                                               struct fl_row row, int64_t K, double *FL_RESTRICT G,
                                               FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT A,
                                               FL_REAL *FL_RESTRICT B, double *FL_RESTRICT last,
                                               double *FL_RESTRICT u) {
    FL_EACH(row, j, x, {
        for (int64_t place = j * K; place < (j + 1) * K; place++) {
            if (G[place] == 0) continue;
            FL_TYPED(fl_adaptive_visit)(a, sum_scale, G[place], V + place, A + place,
                                        B ? B + place : NULL, last ? last + place : NULL,
                                        u ? u + place : NULL);
            G[place] = 0;
        }
    });
}

/* The weights of an adaptive learner as the user sees them: each penalty up to date. */
FL_INLINE void FL_TYPED(fl_adaptive_publish)(const struct fl_adaptive *a, int64_t size,
                                             const FL_REAL *FL_RESTRICT V,
                                             const FL_REAL *FL_RESTRICT A,
                                             const FL_REAL *FL_RESTRICT B,
                                             const double *FL_RESTRICT last,
                                             FL_REAL *FL_RESTRICT w) {
    for (int64_t i = 0; i < size; i++) {
        double h, root = sqrt((double)A[i]);
        if (a->optimizer == FL_ADADELTA) {
            h = a->eta * sqrt(((double)B[i] + a->epsilon) / ((double)A[i] + a->epsilon));
        } else {
            h = a->eta / (root + a->epsilon);
        }
        w[i] = last ? (FL_REAL)fl_adaptive_prox(a, V[i], h, a->t - last[i]) : V[i];
    }
}
