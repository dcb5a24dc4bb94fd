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
FL_INLINE void FL_TYPED(fl_joint_add)(const struct fl_sgd_state *state, struct fl_row row,
                                      int64_t K,
                                      const FL_REAL *FL_RESTRICT c,
                                      const int64_t *FL_RESTRICT active, int64_t n_active,
                                      FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT u) {
    const FL_REAL sum_scale = (FL_REAL)state->sum_scale;
    if (u != NULL && sum_scale != 0) {
        FL_EACH(row, j, x, {
            for (int64_t a = 0; a < n_active; a++) {
                const int64_t place = j * K + active[a];
                FL_REAL old = V[place];
                V[place] = old + c[active[a]] * x;
                u[place] += sum_scale * (V[place] - old);
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
FL_INLINE void FL_TYPED(fl_joint_pay)(const struct fl_sgd_state *state, struct fl_row row,
                                      int64_t K,
                                      FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT u,
                                      FL_REAL *FL_RESTRICT paid) {
    const FL_REAL scale = (FL_REAL)state->scale, inverse = (FL_REAL)(1.0 / state->scale);
    const FL_REAL total = (FL_REAL)state->l1_total, sum_scale = (FL_REAL)state->sum_scale;
    FL_EACH(row, j, x, {
        FL_REAL *FL_RESTRICT v = V + j * K;
        FL_REAL *FL_RESTRICT payment = paid + j * K;
        if (u) {
            for (int64_t k = 0; k < K; k++) u[j * K + k] -= sum_scale * v[k];
        }
        for (int64_t k = 0; k < K; k++) {
            const FL_REAL w = scale * v[k];
            const FL_REAL left = FL_TYPED(fl_l1_pay)(w, total, payment[k]);
            v[k] = inverse * left;
            payment[k] += left - w;
        }
        if (u) {
            for (int64_t k = 0; k < K; k++) u[j * K + k] += sum_scale * v[k];
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

/* Coordinates that wait for their adaptive step: many at a time, so that the square roots and
 * divisions run in vector registers. Places are distinct. */
struct FL_TYPED(fl_adaptive_block) {
    int n;
    int64_t place[FL_CHUNK];
    FL_REAL g[FL_CHUNK];
};

/* The change of n weights and its step length h, from the gradients g and the moments, which take
 * them up. The arithmetic is that of FL_REAL. */
FL_INLINE void FL_TYPED(fl_adaptive_change)(const struct fl_adaptive *a, int n,
                                            const FL_REAL *FL_RESTRICT g, FL_REAL *FL_RESTRICT ma,
                                            FL_REAL *FL_RESTRICT mb, FL_REAL *FL_RESTRICT h,
                                            FL_REAL *FL_RESTRICT change) {
    const FL_REAL eta = (FL_REAL)a->eta, decay = (FL_REAL)a->decay, decay1 = (FL_REAL)a->decay1;
    const FL_REAL epsilon = (FL_REAL)a->epsilon, rest = (FL_REAL)(1.0 - a->decay);
    const FL_REAL rest1 = (FL_REAL)(1.0 - a->decay1);
    switch (a->optimizer) {
    case FL_ADAGRAD:
        for (int l = 0; l < n; l++) {
            ma[l] += g[l] * g[l];
            h[l] = eta / (FL_SQRT(ma[l]) + epsilon);
            change[l] = -h[l] * g[l];
        }
        break;
    case FL_RMSPROP:
        for (int l = 0; l < n; l++) {
            ma[l] = decay * ma[l] + rest * g[l] * g[l];
            h[l] = eta / (FL_SQRT(ma[l]) + epsilon);
            change[l] = -h[l] * g[l];
        }
        break;
    case FL_ADADELTA:
        for (int l = 0; l < n; l++) {
            ma[l] = decay * ma[l] + rest * g[l] * g[l];
            h[l] = eta * FL_SQRT((mb[l] + epsilon) / (ma[l] + epsilon));
            change[l] = -h[l] * g[l];
            mb[l] = decay * mb[l] + rest * change[l] * change[l];
        }
        break;
    default:
        for (int l = 0; l < n; l++) {
            mb[l] = decay1 * mb[l] + rest1 * g[l];
            ma[l] = decay * ma[l] + rest * g[l] * g[l];
            h[l] = eta / (FL_SQRT(ma[l]) + epsilon);
            change[l] = -h[l] * mb[l];
        }
    }
}

/* fl_adaptive_prox of n weights w, in vector registers; h becomes that of all steps. */
FL_INLINE void FL_TYPED(fl_adaptive_shrink)(const struct fl_adaptive *a, int n,
                                            const FL_REAL *FL_RESTRICT steps,
                                            FL_REAL *FL_RESTRICT h, FL_REAL *FL_RESTRICT w) {
    const FL_REAL l1 = (FL_REAL)a->l1, l2 = (FL_REAL)a->l2;
    for (int l = 0; l < n; l++) h[l] *= steps[l];
    for (int l = 0; l < n; l++) {
        const FL_REAL size = FL_ABS(w[l]) - h[l] * l1;
        const FL_REAL left = (size + FL_ABS(size)) / (2 + 2 * h[l] * l2);
        w[l] = FL_COPYSIGN(left, w[l]);
    }
}

/* Takes the steps of a block and empties it. `last` is the step of a coordinate's last visit, NULL
 * without a penalty. A function of its own, not inlined: there would be a copy for each layout. */
static void FL_TYPED(fl_adaptive_flush)(const struct fl_adaptive *a, double sum_scale,
                                        struct FL_TYPED(fl_adaptive_block) *FL_RESTRICT block,
                                        FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT A,
                                        FL_REAL *FL_RESTRICT B, double *FL_RESTRICT last,
                                        FL_REAL *FL_RESTRICT u) {
    FL_REAL w[FL_CHUNK], ma[FL_CHUNK], mb[FL_CHUNK], h[FL_CHUNK], change[FL_CHUNK];
    FL_REAL steps[FL_CHUNK];
    const FL_REAL *FL_RESTRICT g = block->g;
    const int64_t *FL_RESTRICT place = block->place;
    const int n = block->n;
    block->n = 0;
    if (B) {
        for (int l = 0; l < n; l++) {
            FL_KEEP_SCALAR();
            ma[l] = A[place[l]];
            mb[l] = B[place[l]];
            w[l] = V[place[l]];
        }
    } else {
        for (int l = 0; l < n; l++) {
            FL_KEEP_SCALAR();
            ma[l] = A[place[l]];
            w[l] = V[place[l]];
        }
    }
    FL_TYPED(fl_adaptive_change)(a, n, g, ma, mb, h, change);
    for (int l = 0; l < n; l++) change[l] += w[l];
    if (last) {
        for (int l = 0; l < n; l++) {
            FL_KEEP_SCALAR();
            steps[l] = (FL_REAL)(a->t - last[place[l]]);
            last[place[l]] = a->t;
        }
        FL_TYPED(fl_adaptive_shrink)(a, n, steps, h, change);
    }
    if (B) {
        for (int l = 0; l < n; l++) {
            A[place[l]] = ma[l];
            B[place[l]] = mb[l];
            V[place[l]] = change[l];
        }
    } else {
        for (int l = 0; l < n; l++) {
            A[place[l]] = ma[l];
            V[place[l]] = change[l];
        }
    }
    if (u && sum_scale != 0) {
        const FL_REAL e = (FL_REAL)sum_scale;
        for (int l = 0; l < n; l++) u[place[l]] += e * (change[l] - w[l]);
    }
}

/* A row's adaptive steps, for batches of one. */
FL_INLINE void FL_TYPED(fl_adaptive_row)(const struct fl_adaptive *a, double sum_scale,
                                         struct fl_row row, int64_t K, const double *FL_RESTRICT g,
                                         const int64_t *FL_RESTRICT active, int64_t n_active,
                                         FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT A,
                                         FL_REAL *FL_RESTRICT B, double *FL_RESTRICT last,
                                         FL_REAL *FL_RESTRICT u) {
    struct FL_TYPED(fl_adaptive_block) block;
    block.n = 0;
    if (n_active == 0) return;
    if (K == 1) {
        struct FL_TYPED(fl_chunk) chunk;
        for (int64_t k = 0; k < row.size; k += FL_CHUNK) {
            FL_TYPED(fl_take)(&chunk, row, k);
            block.n = chunk.n;
            for (int l = 0; l < chunk.n; l++) block.place[l] = chunk.column[l];
            for (int l = 0; l < chunk.n; l++) block.g[l] = (FL_REAL)g[0] * chunk.x[l];
            FL_TYPED(fl_adaptive_flush)(a, sum_scale, &block, V, A, B, last, u);
        }
    } else {
        FL_EACH(row, j, x, {
            for (int64_t i = 0; i < n_active; i++) {
                block.place[block.n] = j * K + active[i];
                block.g[block.n] = (FL_REAL)g[active[i]] * x;
                block.n += block.g[block.n] != 0;
                if (block.n == FL_CHUNK) {
                    FL_TYPED(fl_adaptive_flush)(a, sum_scale, &block, V, A, B, last, u);
                }
            }
        });
    }
    if (block.n) FL_TYPED(fl_adaptive_flush)(a, sum_scale, &block, V, A, B, last, u);
}

/* The steps of a batch whose gradient G has been collected; leaves G at 0 on the row's entries. */
FL_INLINE void FL_TYPED(fl_adaptive_collected)(const struct fl_adaptive *a, double sum_scale,
                                               struct fl_row row, int64_t K, double *FL_RESTRICT G,
                                               FL_REAL *FL_RESTRICT V, FL_REAL *FL_RESTRICT A,
                                               FL_REAL *FL_RESTRICT B, double *FL_RESTRICT last,
                                               FL_REAL *FL_RESTRICT u) {
    struct FL_TYPED(fl_adaptive_block) block;
    block.n = 0;
    FL_EACH(row, j, x, {
        for (int64_t place = j * K; place < (j + 1) * K; place++) {
            block.place[block.n] = place;
            block.g[block.n] = (FL_REAL)G[place];
            G[place] = 0;
            block.n += block.g[block.n] != 0;
            if (block.n == FL_CHUNK) {
                FL_TYPED(fl_adaptive_flush)(a, sum_scale, &block, V, A, B, last, u);
            }
        }
    });
    if (block.n) FL_TYPED(fl_adaptive_flush)(a, sum_scale, &block, V, A, B, last, u);
}

/* The weights of an adaptive learner as the user sees them: each penalty up to date. */
FL_INLINE void FL_TYPED(fl_adaptive_publish)(const struct fl_adaptive *a, int64_t size,
                                             const FL_REAL *FL_RESTRICT V,
                                             const FL_REAL *FL_RESTRICT A,
                                             const FL_REAL *FL_RESTRICT B,
                                             const double *FL_RESTRICT last,
                                             FL_REAL *FL_RESTRICT w) {
    const double eta = a->eta, epsilon = a->epsilon, t = a->t;
    if (!last) {
        memcpy(w, V, (size_t)size * sizeof *w);
    } else if (a->optimizer == FL_ADADELTA) {
        for (int64_t i = 0; i < size; i++) {
            const double h = eta * sqrt(((double)B[i] + epsilon) / ((double)A[i] + epsilon));
            w[i] = (FL_REAL)fl_adaptive_prox(a, V[i], h, t - last[i]);
        }
    } else {
        for (int64_t i = 0; i < size; i++) {
            const double h = eta / (sqrt((double)A[i]) + epsilon);
            w[i] = (FL_REAL)fl_adaptive_prox(a, V[i], h, t - last[i]);
        }
    }
}
