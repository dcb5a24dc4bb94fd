/* Distances to rows of one type FL_REAL; included by fl_neighbors.h once per type. */

/* Row q in double: with `column`, those entries that are not 0; else all d values. */
FL_INLINE void FL_TYPED(fl_query_of)(struct fl_row row, int64_t d, int32_t *column, double *value,
                                     struct fl_query *q) {
    int64_t size = 0;
    q->column = column;
    q->value = value;
    q->size = d;
    if (column == NULL) {
        for (int64_t j = 0; j < d; j++) value[j] = 0;
        FL_EACH(row, j, x, value[j] = (double)x;);
        return;
    }
    FL_EACH(row, j, x, {
        column[size] = (int32_t)j;
        value[size++] = (double)x;
    });
    q->size = size;
}

/* product_i += q.x_i for all rows i, which are given by their columns */
FL_INLINE void FL_TYPED(fl_add_products)(const struct fl_query *q, const struct fl_rows *columns,
                                         double *product) {
    for (int64_t e = 0; e < q->size; e++) {
        FL_TYPED(fl_wide_axpy)(FL_TYPED(fl_row_at)(columns, q->column[e]), q->value[e], product);
    }
}

FL_INLINE double FL_TYPED(fl_entry_at)(struct fl_row x, int64_t k) {
    if (x.values != NULL) return (double)((const FL_REAL *)x.values)[k];
    return x.indices[k] < 0 ? -1.0 : 1.0;
}

/* sum_j (q_j - x_j)^2, or sum_j q_j x_j. Column j belongs to lane j % 8, and within a lane columns
 * come in order, so that the bits are the same for dense and for sparse rows. */
FL_INLINE double FL_TYPED(fl_sum_of_columns)(const struct fl_query *q, struct fl_row x,
                                             int products) {
    double lane[8] = {0};
    int64_t a = 0, b = 0;
    if (q->column == NULL) {
        const double *FL_RESTRICT u = q->value;
        const FL_REAL *FL_RESTRICT v = (const FL_REAL *)x.values;
        for (; a + 8 <= q->size; a += 8) {
            for (int l = 0; l < 8; l++) {
                lane[l] += fl_column_term(u[a + l], (double)v[a + l], products);
            }
        }
        for (; a < q->size; a++) lane[a & 7] += fl_column_term(u[a], (double)v[a], products);
    } else {
        while (a < q->size || b < x.size) {
            const int64_t own = a < q->size ? q->column[a] : INT64_MAX;
            const int64_t other = b < x.size ? fl_signed_column(x.indices[b]) : INT64_MAX;
            const int64_t j = own < other ? own : other;
            const double left = own == j ? q->value[a++] : 0;
            const double right = other == j ? FL_TYPED(fl_entry_at)(x, b++) : 0;
            lane[j & 7] += fl_column_term(left, right, products);
        }
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* |q - x|^2. Of rows of length 1 that are far apart, products tell it as well as differences, and
 * exactly where the rows are at right angles. */
FL_INLINE double FL_TYPED(fl_square_distance)(const struct fl_query *q, struct fl_row x,
                                              int unit) {
    const double square = FL_TYPED(fl_sum_of_columns)(q, x, 0);
    return unit && square > 1 ? 2 - 2 * FL_TYPED(fl_sum_of_columns)(q, x, 1) : square;
}

/* Fill `h` with the nearest of the candidates, in order. */
FL_INLINE void FL_TYPED(fl_choose_nearest)(struct fl_nearest *h, const struct fl_query *q,
                                           const struct fl_rows *X, int unit,
                                           const int64_t *candidate, int64_t size) {
    h->size = 0;
    for (int64_t c = 0; c < size; c++) {
        const int64_t i = candidate[c];
        const struct fl_row x = FL_TYPED(fl_row_at)(X, i);
        fl_nearest_offer(h, FL_TYPED(fl_square_distance)(q, x, unit), i);
    }
    fl_nearest_sort(h);
}
