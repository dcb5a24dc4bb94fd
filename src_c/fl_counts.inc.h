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

/* z += the sum of V_j times what the entry of column j counts as; V holds K numbers per column.
 * `following` entries behind those of the row may be looked at. */
FL_INLINE void FL_TYPED(fl_count_scores)(struct fl_row row, int64_t following, int binary,
                                         double threshold, int64_t K,
                                         const double *FL_RESTRICT V, double *FL_RESTRICT z) {
    const FL_REAL t = (FL_REAL)threshold;
    const int64_t size = row.size;
    const FL_REAL *values = (const FL_REAL *)row.values;
    for (int64_t start = 0; start < size; start += FL_ENTRIES_TOGETHER) {
        const int64_t left = size - start;
        row.size = left < FL_ENTRIES_TOGETHER ? left : FL_ENTRIES_TOGETHER;
        if (row.indices != NULL) {
            fl_prefetch_scores(row.indices + row.size, left - row.size + following, K, V);
        }
        FL_EACH(row, j, x, {
            if (!binary || x > t) {
                const double c = binary ? 1.0 : (double)x;
                const double *FL_RESTRICT v = V + (row.indices != NULL ? j : start + j) * K;
                for (int64_t k = 0; k < K; k++) z[k] += c * v[k];
            }
        });
        if (row.indices != NULL) row.indices += row.size;
        if (values != NULL) row.values = (values += row.size);
    }
}
