/* Counts and scores of one row for one type FL_REAL; included by fl_counts.h once per type. */

/* count_j += c times what the entry of column j counts as */
FL_INLINE void FL_TYPED(fl_count)(struct fl_row row, int binary, double threshold, double c,
                                  double *FL_RESTRICT count) {
    const FL_REAL t = (FL_REAL)threshold;
    if (!binary) {
        FL_TYPED(fl_wide_axpy)(row, c, count);
        return;
    }
    FL_EACH(row, j, x, {
        if (x > t) count[j] += c;
    });
}

/* z = b + the sum of V_j times what the entry of column j counts as; V holds K numbers per
 * column */
FL_INLINE void FL_TYPED(fl_count_scores)(struct fl_row row, int binary, double threshold,
                                         int64_t K, const double *FL_RESTRICT V,
                                         const double *FL_RESTRICT b, double *FL_RESTRICT z) {
    const FL_REAL t = (FL_REAL)threshold;
    for (int64_t k = 0; k < K; k++) z[k] = b[k];
    FL_EACH(row, j, x, {
        if (!binary || x > t) {
            const double c = binary ? 1.0 : (double)x;
            const double *FL_RESTRICT v = V + j * K;
            for (int64_t k = 0; k < K; k++) z[k] += c * v[k];
        }
    });
}
