/* Dual coordinate descent on FL_LANES models side by side; included by fl_multi.inc.h, whose names
 * it uses. `fl_multi.h` states the problem and the symbols. */

/* The root of F(t) = t + base + bend sigma(t) per lane, which lies in [-base - bend, -base]: Newton
 * steps, halved where they leave what is known of the root. Lanes with `on` 0 don't hold up the
 * others. Starts from t. */
FL_INLINE void FL_LANED(fl_dual_logit)(const double *FL_RESTRICT base,
                                       const double *FL_RESTRICT bend,
                                       const double *FL_RESTRICT on, double *FL_RESTRICT t) {
    double low[FL_LANES], high[FL_LANES];
    for (int l = 0; l < FL_LANES; l++) {
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
            far |= (int64_t)(on[l] * fl_abs(next - t[l]) > FL_DUAL_CLOSE);
            t[l] = next;
        }
        if (!far) break;
    }
}

/* From responses to changes: `change` gets beta_new - beta_old, `state` the new dual variable. */
FL_INLINE void FL_LANED(fl_dual_solve)(const struct fl_dual_plan *plan, double q, const double *m,
                                       const double *s, const double *bound, float *state,
                                       double *change, double *estimate) {
    double base[FL_LANES], bend[FL_LANES], t[FL_LANES], old[FL_LANES], on[FL_LANES];
    if (plan->loss == FL_LOSS_LOG) {
        for (int l = 0; l < FL_LANES; l++) {
            t[l] = (double)state[l];
            on[l] = s[l] > 0 ? 1.0 : 0.0;
            const double d = fl_exp_near(-fl_abs(t[l]));
            old[l] = (t[l] > 0 ? 1.0 : d) / (1.0 + d);
            const double away = t[l] + m[l];
            estimate[l] += s[l] * 0.5 * old[l] * (1.0 - old[l]) * away * away;
            bend[l] = q * bound[l] * s[l];
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
    /* loss max(0, 1 - m)^power */
    const double square = plan->loss == FL_LOSS_SQUARED_HINGE ? 1.0 : 0.0;
    const double most = square > 0 ? FL_INFINITY : 1.0;
    for (int l = 0; l < FL_LANES; l++) {
        const double a = (double)state[l], short_of = fl_max(0.0, 1.0 - m[l]);
        const double loss = square > 0 ? short_of * short_of + 0.25 * a * a : short_of;
        const double full = bound[l] * s[l], below = 0.5 * square + q * full;
        const double best = (1.0 - m[l] + q * full * a) / below;
        const double free = below > 0 ? best : (m[l] < 1.0 ? most : 0.0);
        const float now = (float)fl_min(fl_max(free, 0.0), most);
        estimate[l] += s[l] * (loss - a + a * m[l]);
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
        const double shift = lanes->offset[l] + (plan->nu - k + plan->centre_square) * lanes->sum[l];
        p[l] = y[l] * (p[l] + shift - lanes->centre_sum[l]);
    }
    if (sampled) {
        for (int l = 0; l < FL_LANES; l++) {
            double slope;
            lanes->loss[l] += s[l] > 0 ? s[l] * fl_loss(plan->loss, p[l], 1.0, 1.0, &slope) : 0.0;
            lanes->weight[l] += s[l];
        }
    }
    FL_LANED(fl_dual_solve)(plan, q, p, s, lanes->bound, state, change, lanes->estimate);
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
