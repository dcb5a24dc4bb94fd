/* Dual coordinate descent on FL_LANES models side by side; included by fl_multi.inc.h, whose names
 * it uses. `fl_multi.h` states the problem and the symbols. */

/* The sigmoid of t, |t| <= FL_LOGIT_MAX */
FL_INLINE void FL_LANED(fl_dual_sigmoid)(const double *FL_RESTRICT t, double *FL_RESTRICT sigma) {
    for (int l = 0; l < FL_LANES; l++) {
        const double d = fl_exp_near(-fl_abs(t[l]));
        sigma[l] = (t[l] > 0 ? 1.0 : d) / (1.0 + d);
    }
}

/* The root of F(t) = t + base + bend sigma(t) per lane, which lies in [-base - bend, -base]: Newton
 * steps, halved where they leave what is known of the root. Starts from t, whose sigmoid is given.
 * Each lane stops by itself, so that it has the same bits in any company; those with `on` 0 never
 * begin. */
FL_INLINE void FL_LANED(fl_dual_logit)(const double *FL_RESTRICT base,
                                       const double *FL_RESTRICT bend,
                                       const double *FL_RESTRICT on,
                                       const double *FL_RESTRICT given, double *FL_RESTRICT t) {
    double low[FL_LANES], high[FL_LANES], live[FL_LANES], sigma[FL_LANES];
    int64_t outside = 0;
    for (int l = 0; l < FL_LANES; l++) {
        const double start = t[l];
        live[l] = on[l];
        sigma[l] = given[l];
        low[l] = fl_max(-base[l] - bend[l], -FL_LOGIT_MAX);
        high[l] = fl_min(-base[l], FL_LOGIT_MAX);
        t[l] = fl_min(fl_max(start, low[l]), high[l]);
        outside |= (int64_t)(t[l] != start);
    }
    if (outside) FL_LANED(fl_dual_sigmoid)(t, sigma);
    for (int step = 0; step < FL_DUAL_STEPS; step++) {
        int64_t far = 0;
        for (int l = 0; l < FL_LANES; l++) {
            const double f = t[l] + base[l] + bend[l] * sigma[l];
            const double newton = t[l] - f / (1.0 + bend[l] * sigma[l] * (1.0 - sigma[l]));
            low[l] = f > 0 ? low[l] : t[l];
            high[l] = f > 0 ? t[l] : high[l];
            const double half = 0.5 * (low[l] + high[l]);
            const double next = newton > low[l] && newton < high[l] ? newton : half;
            const double step = live[l] * (next - t[l]);
            t[l] = live[l] > 0 ? next : t[l];
            live[l] = fl_abs(step) > FL_DUAL_CLOSE ? live[l] : 0.0;
            far |= (int64_t)(live[l] > 0);
        }
        if (!far) break;
        FL_LANED(fl_dual_sigmoid)(t, sigma);
    }
}

/* From responses to changes: `change` gets beta_new - beta_old, `state` the new dual variable,
 * where it was `old`. */
FL_INLINE void FL_LANED(fl_dual_solve)(const struct fl_dual_plan *plan, double q, const double *m,
                                       const double *s, const double *bound, const double *nu,
                                       const double *old, float *state, double *change,
                                       double *estimate) {
    double base[FL_LANES], bend[FL_LANES], t[FL_LANES], on[FL_LANES], now[FL_LANES];
    if (plan->loss == FL_LOSS_LOG) {
        for (int l = 0; l < FL_LANES; l++) {
            t[l] = (double)state[l];
            on[l] = s[l] > 0 ? 1.0 : 0.0;
            const double away = t[l] + m[l];
            estimate[l] += s[l] * 0.5 * old[l] * (1.0 - old[l]) * away * away;
            bend[l] = (q + nu[l]) * bound[l] * s[l];
            base[l] = m[l] - bend[l] * old[l];
        }
        FL_LANED(fl_dual_logit)(base, bend, on, old, t);
        for (int l = 0; l < FL_LANES; l++) {
            const float kept = (float)t[l];
            state[l] = on[l] > 0 ? kept : state[l];
            t[l] = (double)kept;
        }
        FL_LANED(fl_dual_sigmoid)(t, now);
        for (int l = 0; l < FL_LANES; l++) {
            change[l] = on[l] * (bound[l] * s[l] * (now[l] - old[l]));
        }
        return;
    }
    for (int l = 0; l < FL_LANES; l++) {
        const double a = old[l], short_of = fl_max(0.0, 1.0 - m[l]);
        const double full = bound[l] * s[l];
        const double curve = (q + nu[l]) * full;
        const float kept = (float)fl_max(0.0, (1.0 - m[l] + curve * a) / (0.5 + curve));
        estimate[l] += s[l] * (short_of * short_of + 0.25 * a * a - a + a * m[l]);
        change[l] = s[l] > 0 ? full * ((double)kept - a) : 0.0;
        state[l] = s[l] > 0 ? kept : state[l];
    }
}

static void FL_LANED(fl_dual_step)(const struct fl_dual_plan *plan, struct fl_dual_lanes *lanes,
                                   struct fl_row row, double q, double k, const double *s,
                                   const double *y, int sampled, float *state,
                                   void *weights) {
    double p[FL_LANES], change[FL_LANES], a[FL_LANES];
    FL_REAL c[FL_LANES];
    int64_t moved = 0;
    /* before the responses, for which it need not wait: what follows them is a chain */
    for (int l = 0; l < FL_LANES; l++) p[l] = a[l] = (double)state[l];
    if (plan->loss == FL_LOSS_LOG) FL_LANED(fl_dual_sigmoid)(p, a);
    FL_LANED(fl_multi_respond)(row, weights, p);
    for (int l = 0; l < FL_LANES; l++) {
        const double by_sum = lanes->nu[l] - k + plan->centre_square;
        const double b = lanes->offset[l] + by_sum * lanes->sum[l] - lanes->centre_sum[l];
        p[l] = y[l] * (p[l] + b);
    }
    if (sampled) {
        for (int l = 0; l < FL_LANES; l++) {
            double slope, loss;
            if (!(s[l] > 0)) continue;
            loss = fl_loss(plan->loss, p[l], 1.0, 1.0, &slope);
            lanes->value[l] += s[l] * (loss + 0.5 * a[l] * p[l]);
            lanes->weight[l] += s[l];
        }
    }
    FL_LANED(fl_dual_solve)(plan, q, p, s, lanes->bound, lanes->nu, a, state, change,
                            lanes->estimate);
    for (int l = 0; l < FL_LANES; l++) {
        const double by = y[l] * change[l];
        lanes->sum[l] += by;
        lanes->centre_sum[l] += k * by;
        c[l] = (FL_REAL)by;
        moved |= (int64_t)(by != 0.0);
    }
    if (moved) FL_LANED(fl_multi_add)(row, c, FL_LANED(fl_no_row), 0, (FL_REAL *)weights);
}

static void FL_LANED(fl_dual_add)(struct fl_row row, const double *by, void *weights) {
    FL_REAL c[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) c[l] = (FL_REAL)by[l];
    FL_LANED(fl_multi_add)(row, c, FL_LANED(fl_no_row), 0, (FL_REAL *)weights);
}

/* `sums` of fl_multi.h at responses p. */
static void FL_LANED(fl_dual_sums)(int loss, const double *p, const double *s, const double *y,
                                   double *sums, double *pull) {
    double v[FL_LANES], u[FL_LANES], g[FL_LANES], one[FL_LANES];
    double *sum_loss = sums, *product = sums + FL_LANES, *slope = sums + 2 * FL_LANES;
    double *bend = sums + 3 * FL_LANES, *along = sums + 4 * FL_LANES;
    int64_t large = 0;
    for (int l = 0; l < FL_LANES; l++) one[l] = 1.0;
    FL_LANED(fl_multi_losses)(loss, p, y, one, g, u, v);
    for (int l = 0; l < FL_LANES; l++) {
        const double size = fl_abs(g[l]), by = s[l] * g[l];
        pull[l] = by;
        slope[l] += by;
        along[l] += by * p[l];
        bend[l] += s[l] * (loss == FL_LOSS_LOG ? size * (1.0 - size) : size > 0 ? 2.0 : 0.0);
        sum_loss[l] += s[l] * v[l];
        /* logarithms one by one only where a weight is neither 0 nor 1 */
        product[l] *= s[l] == 1.0 ? 1.0 + u[l] : 1.0;
        large |= (int64_t)(product[l] > 1e300) | (int64_t)(s[l] != 1.0 && s[l] > 0 && u[l] > 0);
    }
    if (FL_LIKELY(!large)) return;
    for (int l = 0; l < FL_LANES; l++) {
        if (s[l] != 1.0 && s[l] > 0 && u[l] > 0) sum_loss[l] += s[l] * fl_log1p(u[l]);
        if (product[l] > 1e300) {
            sum_loss[l] += fl_log(product[l]);
            product[l] = 1.0;
        }
    }
}
