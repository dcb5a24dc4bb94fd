/* The packed adaptive steps for one type FL_REAL; included by fl_packed.h once per type. */

/* fl_dot_fetching of a sparse row */
FL_INLINE double FL_TYPED(fl_packed_dot)(struct fl_row row, const FL_REAL *P, int shift,
                                         struct fl_row later) {
    return shift == 1 ? FL_TYPED(fl_sparse_dot)(row, P, 1, later)
                      : FL_TYPED(fl_sparse_dot)(row, P, 2, later);
}

/* What is kept for the columns of entries k to stop - 1 of a row is about to be needed. */
FL_INLINE void FL_TYPED(fl_packed_fetch)(struct fl_row row, int64_t k, int64_t stop,
                                         const FL_REAL *P, const int shift) {
    for (; k < stop; k++) FL_PREFETCH_L2(P + ((int64_t)row.indices[k] << shift));
}

#ifdef FL_P_WIDE
#  include "fl_packed_wide.inc.h"
#endif

/* The steps of a row with derivative `slope`; `lazy`: there is a penalty. u as in fl_sgd.h. */
FL_INLINE void FL_TYPED(fl_packed_step)(const struct fl_adaptive *a, double sum_scale,
                                        struct fl_row row, double slope, FL_REAL *FL_RESTRICT P,
                                        const int shift, const int two_moments, const int lazy,
                                        FL_REAL *FL_RESTRICT u, FL_REAL *FL_RESTRICT sums) {
    FL_REAL g[FL_CHUNK], w[FL_CHUNK], ma[FL_CHUNK], mb[FL_CHUNK], h[FL_CHUNK];
    FL_REAL change[FL_CHUNK], steps[FL_CHUNK];
    FL_VISIT last;
    const FL_VISIT now = (FL_VISIT)a->t;
    struct FL_TYPED(fl_chunk) chunk;
    for (int64_t k = 0; k < row.size; k += FL_CHUNK) {
        FL_TYPED(fl_take)(&chunk, row, k);
        const int n = chunk.n;
        const int32_t *FL_RESTRICT j = chunk.column;
        for (int l = 0; l < n; l++) g[l] = (FL_REAL)slope * chunk.x[l];
        for (int l = 0; l < n; l++) {
            FL_KEEP_SCALAR();
            const FL_REAL *FL_RESTRICT own = P + ((int64_t)j[l] << shift);
            w[l] = own[0];
            ma[l] = own[1];
            if (two_moments) mb[l] = own[2];
            if (lazy) {
                memcpy(&last, own + FL_LAST_VISIT, sizeof last);
                steps[l] = (FL_REAL)(a->t - (double)last);
            }
        }
        FL_TYPED(fl_adaptive_change)(a, n, g, ma, mb, h, change);
        for (int l = 0; l < n; l++) change[l] += w[l];
        if (lazy) FL_TYPED(fl_adaptive_shrink)(a, n, steps, h, change);
        for (int l = 0; l < n; l++) {
            FL_REAL *FL_RESTRICT own = P + ((int64_t)j[l] << shift);
            own[0] = change[l];
            own[1] = ma[l];
            if (two_moments) own[2] = mb[l];
            if (lazy) memcpy(own + FL_LAST_VISIT, &now, sizeof now);
        }
        for (int l = 0; l < n; l++) sums[l % FL_PACKED_SUMS] += change[l];
        if (u && sum_scale != 0) {
            const FL_REAL e = (FL_REAL)sum_scale;
            for (int l = 0; l < n; l++) u[j[l]] += e * (change[l] - w[l]);
        }
    }
}

/* The same, and what is `later` is fetched on the way. P, u, sums: FL_REAL. */
static void FL_TYPED(fl_packed_row)(const struct fl_adaptive *a, double sum_scale,
                                    struct fl_row row, double slope, void *P, int lazy, void *u,
                                    void *sums, struct fl_packed_later later) {
    const int two_moments = fl_has_two_moments(a->optimizer);
    const int shift = two_moments || lazy ? 2 : 1;
#ifdef FL_P_WIDE
    if (row.layout != FL_SIGNED && (u == NULL || sum_scale == 0)) {
        FL_TYPED(fl_packed_wide)(a, row, slope, P, lazy, sums, later);
        return;
    }
#endif
    FL_TYPED(fl_prefetch_all)(later.row);
    FL_TYPED(fl_packed_fetch)(later.columns, 0, later.columns.size, P, shift);
    if (two_moments && lazy) {
        FL_TYPED(fl_packed_step)(a, sum_scale, row, slope, P, 2, 1, 1, u, sums);
    } else if (two_moments) {
        FL_TYPED(fl_packed_step)(a, sum_scale, row, slope, P, 2, 1, 0, u, sums);
    } else if (lazy) {
        FL_TYPED(fl_packed_step)(a, sum_scale, row, slope, P, 2, 0, 1, u, sums);
    } else {
        FL_TYPED(fl_packed_step)(a, sum_scale, row, slope, P, 1, 0, 0, u, sums);
    }
}

/* fl_adaptive_publish of the n columns from j on, at most FL_CHUNK, with a penalty and so four
 * places each. */
FL_INLINE void FL_TYPED(fl_packed_show)(const struct fl_adaptive *a, int64_t j, int n,
                                        const FL_REAL *FL_RESTRICT P, FL_REAL *FL_RESTRICT w) {
    FL_REAL v[FL_CHUNK], ma[FL_CHUNK], mb[FL_CHUNK];
    double last[FL_CHUNK];
    FL_VISIT visit;
    const FL_REAL *own = P + 4 * j;
    for (int l = 0; l < n; l++, own += 4) {
        memcpy(&visit, own + FL_LAST_VISIT, sizeof visit);
        v[l] = own[0], ma[l] = own[1], mb[l] = own[2], last[l] = (double)visit;
    }
    FL_TYPED(fl_adaptive_publish)(a, n, v, ma, mb, last, w);
}

/* The same of d columns */
static void FL_TYPED(fl_packed_publish)(const struct fl_adaptive *a, int64_t d, const void *P,
                                        void *w) {
    for (int64_t j = 0; j < d; j += FL_CHUNK) {
        const int n = d - j < FL_CHUNK ? (int)(d - j) : FL_CHUNK;
        FL_TYPED(fl_packed_show)(a, j, n, (const FL_REAL *)P, (FL_REAL *)w + j);
    }
}

/* |w|_1 and |w|^2 of what it would publish, each in four sums that don't wait for each other.
 * Weights of 0 stay that, and columns that do not occur are neighbours (_prepare.py). */
static void FL_TYPED(fl_packed_norms)(const struct fl_adaptive *a, int64_t d, const void *P,
                                      double norms[2]) {
    FL_REAL w[FL_CHUNK];
    double size[4] = {0}, square[4] = {0};
    for (int64_t j = 0; j < d; j += FL_CHUNK) {
        const int n = d - j < FL_CHUNK ? (int)(d - j) : FL_CHUNK;
        int l = 0;
        while (l < n && ((const FL_REAL *)P)[4 * (j + l)] == 0) l++;
        if (l == n) continue;
        FL_TYPED(fl_packed_show)(a, j, n, (const FL_REAL *)P, w);
        for (l = n; l % 4; l++) w[l] = 0;
        for (l = 0; l < n; l += 4) {
            for (int i = 0; i < 4; i++) {
                size[i] += fl_abs((double)w[l + i]);
                square[i] += (double)w[l + i] * (double)w[l + i];
            }
        }
    }
    norms[0] = (size[0] + size[1]) + (size[2] + size[3]);
    norms[1] = (square[0] + square[1]) + (square[2] + square[3]);
}
