/* Dual coordinate descent on FL_LANES models side by side; included by fl_multi.inc.h, whose names
 * it uses. `fl_multi.h` states the problem and the symbols. */

/* The root of F(t) = t + base + bend sigma(t) per lane, which lies in [-base - bend, -base]: Newton
 * steps, halved where they leave what is known of the root. Starts from t. Each lane
 * stops by itself, so that it has the same bits in any company; those with `on` 0 never begin. */
FL_INLINE void FL_LANED(fl_dual_logit)(const double *FL_RESTRICT base,
                                       const double *FL_RESTRICT bend,
                                       const double *FL_RESTRICT on, double *FL_RESTRICT t) {
    double low[FL_LANES], high[FL_LANES], live[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) {
        live[l] = on[l];
        low[l] = fl_max(-base[l] - bend[l], -FL_LOGIT_MAX);
        high[l] = fl_min(-base[l], FL_LOGIT_MAX);
        t[l] = fl_min(fl_max(t[l], low[l]), high[l]);
    }
    for (int step = 0; step < FL_DUAL_STEPS; step++) {
        int64_t far = 0;
        for (int l = 0; l < FL_LANES; l++) {
            const double d = fl_exp_near(-fl_abs(t[l])), sigma = (t[l] > 0 ? 1.0 : d) / (1.0 + d);
            const double f = t[l] + base[l] + bend[l] * sigma;
            const double newton = t[l] - f / (1.0 + bend[l] * sigma * (1.0 - sigma));
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
    }
}

/* From responses to changes: `change` gets beta_new - beta_old, `state` the new dual variable. */
FL_INLINE void FL_LANED(fl_dual_solve)(const struct fl_dual_plan *plan, double q, const double *m,
                                       const double *s, const double *bound, const double *nu,
                                       float *state, double *change, double *estimate) {
    double base[FL_LANES], bend[FL_LANES], t[FL_LANES], old[FL_LANES], on[FL_LANES];
    if (plan->loss == FL_LOSS_LOG) {
        for (int l = 0; l < FL_LANES; l++) {
            t[l] = (double)state[l];
            on[l] = s[l] > 0 ? 1.0 : 0.0;
            const double d = fl_exp_near(-fl_abs(t[l]));
            old[l] = (t[l] > 0 ? 1.0 : d) / (1.0 + d);
            const double away = t[l] + m[l];
            estimate[l] += s[l] * 0.5 * old[l] * (1.0 - old[l]) * away * away;
            bend[l] = (q + nu[l]) * bound[l] * s[l];
            base[l] = m[l] - bend[l] * old[l];
        }
        FL_LANED(fl_dual_logit)(base, bend, on, t);
        for (int l = 0; l < FL_LANES; l++) {
            const float kept = (float)t[l];
            state[l] = on[l] > 0 ? kept : state[l];
            t[l] = (double)kept;
        }
        for (int l = 0; l < FL_LANES; l++) {
            const double d = fl_exp_near(-fl_abs(t[l])), now = (t[l] > 0 ? 1.0 : d) / (1.0 + d);
            change[l] = on[l] * (bound[l] * s[l] * (now - old[l]));
        }
        return;
    }
    for (int l = 0; l < FL_LANES; l++) {
        const double a = (double)state[l], short_of = fl_max(0.0, 1.0 - m[l]);
        const double full = bound[l] * s[l];
        const double bend = (q + nu[l]) * full;
        const float now = (float)fl_max(0.0, (1.0 - m[l] + bend * a) / (0.5 + bend));
        estimate[l] += s[l] * (short_of * short_of + 0.25 * a * a - a + a * m[l]);
        change[l] = s[l] > 0 ? full * ((double)now - a) : 0.0;
        state[l] = s[l] > 0 ? now : state[l];
    }
}

static void FL_LANED(fl_dual_step)(const struct fl_dual_plan *plan, struct fl_dual_lanes *lanes,
                                   struct fl_row row, double q, double k, const double *s,
                                   const double *y, int sampled, float *state,
                                   void *weights) {
    double p[FL_LANES], change[FL_LANES];
    FL_REAL c[FL_LANES];
    int64_t moved = 0;
    FL_LANED(fl_multi_respond)(row, weights, p);
    for (int l = 0; l < FL_LANES; l++) {
        const double by_sum = lanes->nu[l] - k + plan->centre_square;
        const double b = lanes->offset[l] + by_sum * lanes->sum[l] - lanes->centre_sum[l];
        p[l] = y[l] * (p[l] + b);
    }
    if (sampled) {
        for (int l = 0; l < FL_LANES; l++) {
            const double kept = (double)state[l];
            const double a = plan->loss == FL_LOSS_LOG ? fl_sigmoid(kept) : kept;
            double slope, loss;
            if (!(s[l] > 0)) continue;
            loss = fl_loss(plan->loss, p[l], 1.0, 1.0, &slope);
            lanes->value[l] += s[l] * (loss + 0.5 * a * p[l]);
            lanes->weight[l] += s[l];
        }
    }
    FL_LANED(fl_dual_solve)(plan, q, p, s, lanes->bound, lanes->nu, state, change,
                            lanes->estimate);
    for (int l = 0; l < FL_LANES; l++) {
        const double by = y[l] * change[l];
        lanes->sum[l] += by;
        lanes->centre_sum[l] += k * by;
        c[l] = (FL_REAL)by;
        moved |= (int64_t)(by != 0.0);
    }
    if (moved) FL_LANED(fl_multi_add)(row, c, (FL_REAL *)weights);
}

static void FL_LANED(fl_dual_add)(struct fl_row row, const double *by, void *weights) {
    FL_REAL c[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) c[l] = (FL_REAL)by[l];
    FL_LANED(fl_multi_add)(row, c, (FL_REAL *)weights);
}

#ifndef FL_ONLY_DUAL
/* Adds s times loss, slope and curvature at responses p. */
static void FL_LANED(fl_dual_sums)(int loss, const double *p, const double *s, const double *y,
                                   double *sum_loss, double *product, double *slope,
                                   double *bend) {
    double v[FL_LANES], u[FL_LANES], g[FL_LANES], one[FL_LANES];
    int64_t large = 0;
    for (int l = 0; l < FL_LANES; l++) one[l] = 1.0;
    FL_LANED(fl_multi_losses)(loss, p, y, one, g, u, v);
    for (int l = 0; l < FL_LANES; l++) {
        const double size = fl_abs(g[l]);
        slope[l] += s[l] * g[l];
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
#endif /* FL_ONLY_DUAL */
