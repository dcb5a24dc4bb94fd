/* Terms of one row for one type FL_REAL; included by fl_polynomial.h once per type. */

/* Copy the entries of a row that are not 0; returns how many. */
FL_INLINE int64_t FL_TYPED(fl_entries)(struct fl_row row, int32_t *column, FL_REAL *value) {
    int64_t size = 0;
    FL_EACH(row, j, x, {
        column[size] = (int32_t)j;
        value[size++] = x;
    });
    return size;
}

/* Terms base + c_e for the entries from e = start on. Whole steps are written where there is room
 * behind: what is too much is written over by the next terms. */
FL_INLINE void FL_TYPED(fl_list_terms)(struct fl_terms *out,
                                       const struct fl_factors *row, FL_REAL product,
                                       int64_t base, int64_t start, int64_t stop) {
    const int64_t n = stop - start, room = out->stop - out->size;
    const int32_t *FL_RESTRICT c = row->column + start;
    if (n <= 0) return;
    if (out->value != NULL) {
        const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row->value + start;
        FL_REAL *FL_RESTRICT y = (FL_REAL *)out->value + out->size;
        FL_BY_STEPS(t, n, room, y[t] = product * x[t]);
    }
    if (out->narrow != NULL) {
        int32_t *FL_RESTRICT to = out->narrow + out->size;
        const int32_t first = (int32_t)base;
        FL_BY_STEPS(t, n, room, to[t] = first + c[t]);
    } else if (out->wide != NULL) {
        int64_t *FL_RESTRICT to = out->wide + out->size;
        FL_BY_STEPS(t, n, room, to[t] = base + c[t]);
    }
    out->size += n;
}

FL_INLINE void FL_TYPED(fl_hash_terms)(struct fl_term_sums *sums,
                                       const struct fl_factors *row, FL_REAL product,
                                       uint64_t key, int64_t start, int64_t stop) {
    const FL_REAL *value = (const FL_REAL *)row->value;
    for (int64_t e = start; e < stop; e++) {
        const FL_REAL x = product * value[e];
        fl_sums_add(sums, fl_hash_factor(key, row->column[e]), (double)x);
    }
}

/* The terms whose last factor but one, number `level`, is one of the entries first ... last - 1. */
FL_INLINE void FL_TYPED(fl_last_factors)(const struct fl_polynomial *p,
                                         const struct fl_factors *row, int64_t level,
                                         int64_t highest, int64_t first, int64_t last,
                                         struct fl_terms *out, struct fl_term_sums *sums) {
    const int64_t m = row->size;
    const FL_REAL *value = (const FL_REAL *)row->value;
    const FL_REAL product = level ? ((const FL_REAL *)row->product)[level - 1] : 1;
    if (out == NULL) {
        const uint64_t key = level ? p->key[level - 1] : FL_NO_FACTOR;
        for (int64_t e = first; e < last; e++) {
            FL_TYPED(fl_hash_terms)(sums, row, product * value[e],
                                    fl_hash_factor(key, row->column[e]), e + p->distinct, m);
        }
        return;
    }
    const int columns = out->narrow != NULL || out->wide != NULL;
    const int64_t base = level ? p->base[level - 1] : highest;
    for (int64_t e = first; e < last; e++) {
        FL_TYPED(fl_list_terms)(out, row, product * value[e], columns ? base - p->after[m + e] : 0,
                                e + p->distinct, m);
    }
}

/* The terms of degree k whose first factor is one of the entries first ... last - 1, into `out`
 * (`highest`: the number of the last term of this degree) or, if that is NULL, into `sums`. */
FL_INLINE void FL_TYPED(fl_terms_of_degree)(const struct fl_polynomial *p,
                                            const struct fl_factors *row, int64_t k,
                                            int64_t highest, int64_t first, int64_t last,
                                            struct fl_terms *out,
                                            struct fl_term_sums *sums) {
    const int64_t m = row->size;
    const int columns = out == NULL || out->narrow != NULL || out->wide != NULL;
    const FL_REAL *value = (const FL_REAL *)row->value;
    FL_REAL *product = (FL_REAL *)row->product;
    int64_t level = 0;
    highest -= p->d - 1;
    if (k == 1) {
        if (out != NULL) {
            FL_TYPED(fl_list_terms)(out, row, 1, highest, first, last);
        } else {
            FL_TYPED(fl_hash_terms)(sums, row, 1, FL_NO_FACTOR, first, last);
        }
        return;
    }
    p->place[0] = first;
    while (level >= 0) {
        const int64_t e = p->place[level], end = m - (p->distinct ? k - 1 - level : 0);
        const int64_t stop = level || end < last ? end : last;
        if (level == k - 2) {
            FL_TYPED(fl_last_factors)(p, row, level, highest, e, stop, out, sums);
        }
        if (e >= stop || level == k - 2) {
            if (--level >= 0) p->place[level]++;
            continue;
        }
        product[level] = level ? product[level - 1] * value[e] : value[e];
        if (out == NULL) {
            p->key[level] = fl_hash_factor(level ? p->key[level - 1] : FL_NO_FACTOR,
                                           row->column[e]);
        } else if (columns) {
            p->base[level] = (level ? p->base[level - 1] : highest) -
                             p->after[(k - level - 1) * m + e];
        }
        p->place[++level] = e + p->distinct;
    }
}

/* Move the sums that are not 0 to `column` and `value`, sorted, and empty the table; returns how
 * many. One entry behind them may be written to. Whether a slot is taken can't be predicted, so
 * empty ones are moved as well, and written over. */
FL_INLINE int64_t FL_TYPED(fl_sums_take)(struct fl_term_sums *s, int32_t *column, FL_REAL *value) {
    int64_t n = 0;
    for (int64_t slot = 0; slot < s->slots || s->column[slot] >= 0; slot++) {
        const FL_REAL x = (FL_REAL)s->sum[slot];
        column[n] = s->column[slot];
        value[n] = x;
        n += (s->column[slot] >= 0) & (x != 0);
        s->column[slot] = -1;
    }
    for (int64_t k = 1; k < n; k++) {
        const int32_t c = column[k];
        const FL_REAL x = value[k];
        int64_t to = k;
        for (; to > 0 && column[to - 1] > c; to--) {
            column[to] = column[to - 1];
            value[to] = value[to - 1];
        }
        column[to] = c;
        value[to] = x;
    }
    return n;
}
