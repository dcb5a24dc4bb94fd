/* Postings for one type FL_REAL; included by fl_voted.h once per type, hence no guard. */

FL_INLINE void FL_TYPED(fl_postings_count)(struct fl_row row, int64_t *FL_RESTRICT starts) {
    FL_EACH(row, j, x, { starts[j + 2]++; });
}

FL_INLINE void FL_TYPED(fl_postings_place)(struct fl_row row, int32_t number,
                                           int64_t *FL_RESTRICT starts, int32_t *FL_RESTRICT owner,
                                           double *FL_RESTRICT value) {
    FL_EACH(row, j, x, {
        const int64_t place = starts[j + 1]++;
        owner[place] = number;
        value[place] = x;
    });
}

/* out[t] = x . (row t of the batch), for all `size` rows of the batch */
FL_INLINE void FL_TYPED(fl_postings_products)(struct fl_row row, const int64_t *FL_RESTRICT starts,
                                              const int32_t *FL_RESTRICT owner,
                                              const double *FL_RESTRICT value, int64_t size,
                                              double *FL_RESTRICT out) {
    for (int64_t t = 0; t < size; t++) out[t] = 0;
    FL_EACH(row, j, x, {
        for (int64_t p = starts[j]; p < starts[j + 1]; p++) out[owner[p]] += (double)x * value[p];
    });
}
