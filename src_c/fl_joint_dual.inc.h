/* The kernels of fl_joint_dual.h; included by fl_multi.c after those for lanes. */

#define FL_BY_GROUPS(call_16, call_8, call_4)                    \
    for (int64_t k = 0; k < width;) {                            \
        const int64_t rest = width - k, size = rest >= 16 ? 16 : rest; \
        if (size == 16) {                                        \
            call_16;                                             \
        } else if (size == 8) {                                  \
            call_8;                                              \
        } else {                                                 \
            call_4;                                              \
        }                                                        \
        k += size;                                               \
        at += size * d;                                          \
    }

static void FL_TYPED(fl_joint_respond)(struct fl_row row, const void *W, int64_t d, int64_t width,
                                       double *z) {
    const FL_REAL *at = (const FL_REAL *)W;
    FL_BY_GROUPS(fl_multi_respond_16(row, at, z + k), fl_multi_respond_8(row, at, z + k),
                 fl_multi_respond_4(row, at, z + k))
}

static void FL_TYPED(fl_joint_respond_shrunk)(struct fl_row row, const void *W, int64_t d,
                                              int64_t width, FL_REAL by, double *z) {
    const FL_REAL *at = (const FL_REAL *)W;
    FL_BY_GROUPS(fl_multi_respond_shrunk_16(row, at, by, z + k),
                 fl_multi_respond_shrunk_8(row, at, by, z + k),
                 fl_multi_respond_shrunk_4(row, at, by, z + k))
}

static void FL_TYPED(fl_joint_add)(struct fl_row row, const double *by, int64_t d, int64_t width,
                                   void *W) {
    FL_REAL *at = (FL_REAL *)W;
    FL_BY_GROUPS(fl_dual_add_16(row, by + k, at), fl_dual_add_8(row, by + k, at),
                 fl_dual_add_4(row, by + k, at))
}
#undef FL_BY_GROUPS

/* The root v of v + h e^v = u, at most 0: Newton's method from the right of it, where the left side
 * is convex, so that no step passes the root. */
static double fl_joint_root(double u, double h, double v) {
    for (int step = 0; step < 1000; step++) {
        const double e = h * fl_exp(v), change = (u - v - e) / (1.0 + e);
        v = fl_min(0.0, v + change);
        if (fl_abs(change) <= 1e-3) break;
    }
    return v;
}

/* t_k + h e^(t_k) = u_k - nu with sum_k e^(t_k) = 1, by the bracketed root of that sum in nu: slow
 * and sure. */
static void fl_joint_softmax_slowly(const double *u, double h, int64_t K, double *t) {
    const double top = fl_largest(u, K), log_K = fl_log((double)K);
    double low = top - h, high = top + log_K - h / (double)K, nu = low;
    for (int step = 0; step < 100; step++) {
        double sum = -1.0, slope = 0.0;
        for (int64_t k = 0; k < K; k++) {
            const double gap = u[k] - nu;
            t[k] = gap < -FL_LEAST_LOG ? -FL_LEAST_LOG : fl_joint_root(gap, h, fl_min(gap, 0.0));
            const double e = fl_exp(t[k]);
            sum += e;
            slope += e / (1.0 + h * e);
        }
        if (fl_abs(sum) <= 1e-3) break;
        if (sum > 0) {
            low = nu;
        } else {
            high = nu;
        }
        const double next = nu + sum / slope;
        nu = next > low && next < high ? next : 0.5 * (low + high);
    }
}

/* The step of softmax: t are the logarithms of p before it, and after; p gets those of after. */
static void fl_joint_softmax_step(const double *FL_RESTRICT u, double h, int64_t K,
                                  double *FL_RESTRICT t, double *FL_RESTRICT p,
                                  double *FL_RESTRICT v, double *FL_RESTRICT r) {
    double total = 0;
    int step = 0;
    for (int64_t k = 0; k < K; k++) p[k] = fl_exp_near(t[k]);
    for (; step < FL_JOINT_STEPS; step++) {
        double sum = -1.0, slope = 0.0, far = 0.0;
        /* Newton's step for all t and for nu, the multiplier of sum p = 1, at once */
        for (int64_t k = 0; k < K; k++) {
            v[k] = 1.0 / (1.0 + h * p[k]);
            r[k] = u[k] - t[k] - h * p[k];
        }
        for (int64_t k = 0; k < K; k++) {
            const double part = p[k] * v[k];
            sum += p[k] + part * r[k];
            slope += part;
        }
        const double nu = sum / fl_max(slope, 1e-300);
        for (int64_t k = 0; k < K; k++) {
            const double next = fl_max(-FL_LEAST_LOG, fl_min(0.0, t[k] + (r[k] - nu) * v[k]));
            r[k] = fl_abs(next - t[k]);
            v[k] = p[k];
            t[k] = next;
            p[k] = fl_exp_near(next);
        }
        total = 0;
        for (int64_t k = 0; k < K; k++) {
            total += p[k];
            far += fl_max(v[k], p[k]) * r[k];
        }
        if (far <= FL_JOINT_CLOSE) break;
    }
    if (FL_UNLIKELY(step == FL_JOINT_STEPS)) {
        fl_joint_softmax_slowly(u, h, K, t);
        total = 0;
        for (int64_t k = 0; k < K; k++) total += p[k] = fl_exp_near(t[k]);
    }
    const double log_total = fl_log(total);
    for (int64_t k = 0; k < K; k++) t[k] -= log_total;
}

/* The step of the losses whose p is a projection: `bend` is 1 for sparsemax, where Omega bends, and
 * 0 for the hinge. p before and after; v = z, where the classes other than the row's have 1 more
 * for the hinge. Returns the slack: by how much p is held where it is. */
static double fl_joint_simplex_step(const double *FL_RESTRICT v, double h, double bend, int64_t K,
                                    double *FL_RESTRICT p, double *FL_RESTRICT u) {
    double above = -1e300, below = 1e300;
    for (int64_t k = 0; k < K; k++) {
        const double pull = v[k] - bend * p[k];
        if (p[k] > 0) below = fl_min(below, pull);
        if (p[k] < 1) above = fl_max(above, pull);
    }
    const double slack = below - above;
    if (slack >= 0) return slack;
    for (int64_t k = 0; k < K; k++) u[k] = v[k] + h * p[k];
    const double top = fl_largest(u, K), size = h + bend;
    if (!(size > 0)) {
        int64_t first = 0;
        while (u[first] < top) first++;
        for (int64_t k = 0; k < K; k++) p[k] = k == first ? 1.0 : 0.0;
        return slack;
    }
    const double t = fl_simplex_threshold(u, K, top, size);
    for (int64_t k = 0; k < K; k++) p[k] = fl_max(0.0, u[k] - top - t) / size;
    return slack;
}

/* Omega*(z) + Omega(p) - p.z of softmax, from z, p and log p. */
static double fl_joint_softmax_gap(const double *z, const double *t, const double *p, int64_t K) {
    const double top = fl_largest(z, K);
    double sum = 0, linear = 0;
    for (int64_t k = 0; k < K; k++) {
        sum += fl_exp(z[k] - top);
        linear += p[k] * (t[k] - z[k]);
    }
    return top + fl_log(sum) + linear;
}

/* Enter a row into the estimate: the gap and loss + a.z / 2, a = q - p. `t` is what is kept of the
 * row, p or log p; v is room. */
static void fl_joint_estimate(const struct fl_joint_dual_rule *rule,
                              const struct fl_joint_visit *visit, const double *z,
                              const double *t, const double *p, double *v,
                              struct fl_joint_dual_sums *sums) {
    const int64_t K = rule->K;
    double gap, spread = 0.0, target = 0.0, own = 0.0, at_p = 0.0, square = 0.0;
    for (int64_t k = 0; k < K; k++) at_p += p[k] * z[k];
    for (int64_t k = 0; k < visit->n_classes; k++) {
        target += visit->shares[k] * z[visit->classes[k]];
        own += visit->shares[k] * visit->shares[k];
    }
    if (rule->loss == FL_LOSS_LOG) {
        gap = fl_joint_softmax_gap(z, t, p, K);
        for (int64_t k = 0; k < K; k++) spread += p[k] * t[k];
    } else if (rule->loss == FL_LOSS_HINGE) {
        /* z has the margin in it, and half of it belongs to neither side */
        gap = fl_largest(z, K) - at_p;
        spread = -0.5 * (1.0 - p[visit->classes[0]]);
    } else {
        for (int64_t k = 0; k < K; k++) square += p[k] * p[k];
        spread = 0.5 * square;
        gap = fl_joint_max(rule->loss, z, K, 0, v) + z[0] + spread - at_p;
    }
    /* loss = gap + p.z - Omega(p) - q.z + Omega0(q) */
    sums->gap += visit->C * gap;
    sums->objective += visit->C * (gap - spread + fl_joint_offset(rule->loss, own) -
                                   0.5 * (target - at_p));
}

/* What becomes of a row's t; returns its slack, and the row moves only if that is below 0. */
static double fl_joint_move(const struct fl_joint_dual_rule *rule,
                            const struct fl_joint_visit *visit, const double *z, const double *p,
                            double *t, double *room) {
    const int64_t K = rule->K, width = fl_joint_width(K);
    double *u = room, *v = room + width, *w = room + 2 * width;
    if (rule->loss != FL_LOSS_LOG) {
        return fl_joint_simplex_step(z, visit->h, rule->loss == FL_LOSS_HINGE ? 0.0 : 1.0, K, t, u);
    }
    for (int64_t k = 0; k < K; k++) u[k] = z[k] + visit->h * p[k];
    fl_joint_softmax_step(u, visit->h, K, t, v, w, room + 3 * width);
    return -1.0;
}

/* z: the responses of a row, those of the hinge with its margin. */
static void FL_TYPED(fl_joint_responses)(const struct fl_joint_dual_rule *rule,
                                         const struct fl_joint_visit *visit, struct fl_row row,
                                         const double *B, const double *s, const double *U,
                                         const void *W, double *z) {
    const int64_t K = rule->K, width = fl_joint_width(K);
    if (rule->tau > 0) {
        FL_TYPED(fl_joint_respond_shrunk)(row, W, rule->d, width, (FL_REAL)rule->tau, z);
    } else {
        FL_TYPED(fl_joint_respond)(row, W, rule->d, width, z);
    }
    if (rule->fit_intercept) {
        const double by_sum = rule->nu - visit->k + rule->cc;
        for (int64_t k = 0; k < K; k++) z[k] += B[k] + by_sum * s[k] - U[k];
    }
    if (rule->loss == FL_LOSS_HINGE) {
        for (int64_t k = 0; k < K; k++) z[k] += 1.0;
        z[visit->classes[0]] -= 1.0;
    }
}

static int FL_TYPED(fl_joint_dual_step)(const struct fl_joint_dual_rule *rule,
                                        const struct fl_joint_visit *visit, struct fl_row row,
                                        void *state, const double *B, double *s, double *U,
                                        void *W, double *room, struct fl_joint_dual_sums *sums) {
    const int64_t K = rule->K, width = fl_joint_width(K);
    const int is_log = rule->loss == FL_LOSS_LOG;
    double *z = room, *p = room + width, *t = room + 2 * width;
    FL_REAL *kept = (FL_REAL *)state;
    double slack, most = 0.0;
    FL_TYPED(fl_joint_responses)(rule, visit, row, B, s, U, W, z);
    for (int64_t k = 0; k < K; k++) t[k] = (double)kept[k];
    for (int64_t k = 0; k < K; k++) p[k] = is_log ? fl_exp_near(t[k]) : t[k];
    if (visit->sampled) fl_joint_estimate(rule, visit, z, t, p, room + 3 * width, sums);
    slack = fl_joint_move(rule, visit, z, p, t, room + 3 * width);
    if (!is_log) sums->violation = fl_max(sums->violation, -slack);
    if (slack >= 0) return slack > rule->slack;
    for (int64_t k = 0; k < K; k++) kept[k] = (FL_REAL)t[k];
    for (int64_t k = 0; k < K; k++) {
        p[k] -= is_log ? fl_exp_near((double)kept[k]) : (double)kept[k];
        most = fl_max(most, fl_abs(p[k]));
        p[k] *= visit->C;
    }
    if (most == 0.0) return 0;
    for (int64_t k = K; k < width; k++) p[k] = 0.0;
    if (rule->fit_intercept) {
        for (int64_t k = 0; k < K; k++) {
            s[k] += p[k];
            U[k] += visit->k * p[k];
        }
    }
    FL_TYPED(fl_joint_add)(row, p, rule->d, width, W);
    return 0;
}
