/* The steps of fl_primal.h for one type FL_REAL; included once per type, hence no guard. */

/* and its value */
FL_INLINE double FL_TYPED(fl_entry)(struct fl_row row, int64_t k) {
    if (row.values != NULL) return (double)((const FL_REAL *)row.values)[k];
    return row.indices[k] < 0 ? -1.0 : 1.0;
}

/* r -= t h x, entry by entry */
FL_INLINE void FL_TYPED(fl_primal_shift)(const struct fl_primal *q, struct fl_row x, double t) {
    const double *FL_RESTRICT h = q->h;
    double *FL_RESTRICT r = q->r;
    if (h == NULL) {
        FL_TYPED(fl_wide_axpy)(x, -t * q->each, r);
    } else {
        FL_EACH(x, i, value, r[i] -= t * h[i] * (double)value;);
    }
}

/* Minimise over one weight. */
FL_INLINE void FL_TYPED(fl_primal_step)(struct fl_primal *q, struct fl_row x, double mean,
                                        double curvature, double *w) {
    const double bend = curvature + q->l2, old = *w;
    double slope, t;
    /* a constant column, which the intercept stands for, or one of zeros without a penalty */
    if (!(bend > 0) || (curvature == 0 && mean != 0)) return;
    slope = q->l2 * old - (FL_TYPED(fl_wide_dot)(x, q->r) - mean * q->sum);
    t = fl_primal_target(old, slope, bend, q->l1, q->positive) - old;
    if (t == 0) return;
    *w = old + t;
    FL_TYPED(fl_primal_shift)(q, x, t);
    q->sum -= t * mean * q->total;
    q->decrease += 0.5 * bend * t * t;
}

/* Minimise over one weight without an intercept, given r_i and h_i of a row side by side in single
 * precision: the curvature along the column, which nobody knows yet, costs next to nothing beside
 * the slope, for the same lines of the cache hold both. x_j.r is what is left in `seen`. */
FL_INLINE void FL_TYPED(fl_primal_float_step)(struct fl_row x, double l1, double l2, double *w,
                                              float *FL_RESTRICT rows, double *seen) {
    float pull[4] = {0}, bends[4] = {0}, t;
    double bend, old = *w, sum;
    if (x.layout == FL_CSR) {
        const int32_t *FL_RESTRICT j = x.indices;
        const FL_REAL *FL_RESTRICT value = (const FL_REAL *)x.values;
        int64_t k = 0;
        for (; k + 4 <= x.size; k += 4) {
            FL_KEEP_SCALAR();
            for (int l = 0; l < 4; l++) {
                const float v = (float)value[k + l], *row = rows + 2 * (int64_t)j[k + l];
                pull[l] += v * row[0];
                bends[l] += v * (v * row[1]);
            }
        }
        for (; k < x.size; k++) {
            const float *row = rows + 2 * (int64_t)j[k], v = (float)value[k];
            pull[0] += v * row[0];
            bends[0] += v * (v * row[1]);
        }
    } else {
        FL_EACH(x, i, value, {
            const float v = (float)value;
            pull[0] += v * rows[2 * i];
            bends[0] += v * (v * rows[2 * i + 1]);
        });
    }
    sum = (double)(pull[0] + pull[2]) + (double)(pull[1] + pull[3]);
    bend = (double)(bends[0] + bends[2]) + (double)(bends[1] + bends[3]) + l2;
    *seen = sum;
    if (!(bend > 0)) return;
    *w = fl_primal_target(old, l2 * old - sum, bend, l1, 0);
    t = (float)(*w - old);
    if (t == 0) return;
    FL_EACH(x, i, value, rows[2 * i] -= t * rows[2 * i + 1] * (float)value;);
}

/* c_j and H_j of a column; H_j is 0 where only rounding tells it from a constant. */
FL_INLINE void FL_TYPED(fl_primal_moments)(const struct fl_primal *q, struct fl_row x, int64_t n,
                                           double *mean, double *curvature) {
    const double *FL_RESTRICT h = q->h;
    double total = 0, first = 0, second = 0, around = 0, count = 0;
    if (h == NULL) {
        FL_EACH(x, i, value, {
            (void)i;
            count += 1;
            first += (double)value;
            second += (double)value * (double)value;
        });
        total = q->each * count, first *= q->each, second *= q->each;
    } else {
        FL_EACH(x, i, value, {
            const double v = (double)value, hv = h[i] * v;
            count += 1;
            total += h[i];
            first += hv;
            second += hv * v;
        });
    }
    *mean = q->free && q->total > 0 ? first / q->total : 0.0;
    *curvature = second - *mean * first;
    if (*curvature < FL_CANCELLED * second && *mean != 0) {
        const double c = *mean;
        FL_EACH(x, i, value, {
            const double v = (double)value - c;
            (void)i;
            around += (h == NULL ? q->each : h[i]) * v * v;
        });
        if (count < (double)n) around += fl_max(0.0, q->total - total) * c * c;
        *curvature = around > FL_CONSTANT_COLUMN * second ? around : 0.0;
    }
}
