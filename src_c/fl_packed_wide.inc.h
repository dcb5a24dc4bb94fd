/* The packed adaptive steps (fl_packed.h) of FL_REAL, several entries at a time, in vector
 * registers from the loads to the stores; included by fl_packed.h once per type. FL_VECTOR and FL_P
 * are those of fl_packed_vectors.h. The loops over arrays of 64 entries, which any layout can have,
 * take 1.5 times as long as fours of floats; square roots and divisions are a small part of it.
 * Every number is rounded as there, so the bits are the same.
 */

/* Constants of a step, each FL_P_SIZE times. */
struct FL_TYPED(fl_packed_constants) {
    FL_VECTOR eta, decay, decay1, rest, rest1, epsilon, l1, l2, now;
};

FL_INLINE struct FL_TYPED(fl_packed_constants)
    FL_TYPED(fl_packed_prepare)(const struct fl_adaptive *a) {
    struct FL_TYPED(fl_packed_constants) c;
    c.eta = FL_P(set1)((FL_REAL)a->eta);
    c.decay = FL_P(set1)((FL_REAL)a->decay);
    c.decay1 = FL_P(set1)((FL_REAL)a->decay1);
    c.rest = FL_P(set1)((FL_REAL)(1.0 - a->decay));
    c.rest1 = FL_P(set1)((FL_REAL)(1.0 - a->decay1));
    c.epsilon = FL_P(set1)((FL_REAL)a->epsilon);
    c.l1 = FL_P(set1)((FL_REAL)a->l1);
    c.l2 = FL_P(set1)((FL_REAL)a->l2);
    c.now = FL_TYPED(fl_p_visit)(a->t);
    return c;
}

/* x <- decay x + rest g h */
FL_INLINE FL_VECTOR FL_TYPED(fl_packed_fade)(FL_VECTOR x, FL_VECTOR decay, FL_VECTOR rest,
                                             FL_VECTOR g, FL_VECTOR h) {
    return FL_P(add)(FL_P(mul)(decay, x), FL_P(mul)(FL_P(mul)(rest, g), h));
}

/* fl_adaptive_change and fl_adaptive_shrink: the new weights of FL_P_SIZE columns. Where l2 is the
 * only penalty, shrink(w, 0) = w is left out. */
FL_INLINE FL_VECTOR FL_TYPED(fl_packed_change)(const struct FL_TYPED(fl_packed_constants) *c,
                                               const int optimizer, const int penalty, FL_VECTOR g,
                                               FL_VECTOR w, FL_VECTOR *ma, FL_VECTOR *mb,
                                               FL_VECTOR last) {
    FL_VECTOR h, size, magnitude;
    const FL_VECTOR sign = FL_P(set1)((FL_REAL)-0.0), one = FL_P(set1)(1), two = FL_P(set1)(2);
    if (optimizer == FL_ADAGRAD) {
        *ma = FL_P(add)(*ma, FL_P(mul)(g, g));
    } else {
        *ma = FL_TYPED(fl_packed_fade)(*ma, c->decay, c->rest, g, g);
    }
    if (optimizer == FL_ADAM) {
        *mb = FL_P(add)(FL_P(mul)(c->decay1, *mb), FL_P(mul)(c->rest1, g));
        g = *mb;
    }
    if (optimizer == FL_ADADELTA) {
        const FL_VECTOR share = FL_P(div)(FL_P(add)(*mb, c->epsilon), FL_P(add)(*ma, c->epsilon));
        h = FL_P(mul)(c->eta, FL_P(sqrt)(share));
    } else {
        h = FL_P(div)(c->eta, FL_P(add)(FL_P(sqrt)(*ma), c->epsilon));
    }
    const FL_VECTOR step = FL_P(mul)(h, g);
    if (optimizer == FL_ADADELTA) {
        *mb = FL_TYPED(fl_packed_fade)(*mb, c->decay, c->rest, step, step);
    }
    w = FL_P(sub)(w, step);
    if (penalty == FL_NO_PENALTY) return w;
    h = FL_P(mul)(h, FL_TYPED(fl_p_steps)(c->now, last));
    if (penalty == FL_L2_PENALTY) return FL_P(div)(w, FL_P(add)(one, FL_P(mul)(h, c->l2)));
    size = FL_P(sub)(FL_P(andnot)(sign, w), FL_P(mul)(h, c->l1));
    magnitude = FL_P(div)(FL_P(add)(size, FL_P(andnot)(sign, size)),
                          FL_P(add)(two, FL_P(mul)(FL_P(mul)(two, h), c->l2)));
    return FL_P(or)(FL_P(andnot)(sign, magnitude), FL_P(and)(sign, w));
}

/* The step of FL_P_SIZE columns with gradients g, of which own[l] is the place; their weights. */
FL_INLINE FL_VECTOR FL_TYPED(fl_packed_some)(const struct FL_TYPED(fl_packed_constants) *c,
                                             const int optimizer, const int penalty, FL_VECTOR g,
                                             FL_REAL *const *own) {
    FL_VECTOR w, ma, mb, last;
    if (!penalty && !fl_has_two_moments(optimizer)) {
        FL_TYPED(fl_p_take_two)(own, &w, &ma);
        w = FL_TYPED(fl_packed_change)(c, optimizer, penalty, g, w, &ma, NULL, c->now);
        FL_TYPED(fl_p_put_two)(own, w, ma);
        return w;
    }
    FL_TYPED(fl_p_take_four)(own, &w, &ma, &mb, &last);
    w = FL_TYPED(fl_packed_change)(c, optimizer, penalty, g, w, &ma, &mb, last);
    FL_TYPED(fl_p_put_four)(own, w, ma, mb, penalty ? c->now : last);
    return w;
}

/* The steps of a row, from its last entry to its first as in fl_axpy_fetching, with what is
 * `later` fetched on the way. At the beginning of the row fewer entries than a vector holds
 * may be left; the others, and stored zeros, take their steps in a place of no use. A loop of its
 * own for rows of ones saves fours of floats a sixth of AdaGrad's time. */
FL_INLINE void FL_TYPED(fl_packed_by_some)(const struct fl_adaptive *a, struct fl_row row,
                                           double slope, FL_REAL *FL_RESTRICT P,
                                           const int optimizer, const int penalty,
                                           const int is_ones, FL_REAL *FL_RESTRICT sums,
                                           struct fl_packed_later later) {
    const int shift = !penalty && !fl_has_two_moments(optimizer) ? 1 : 2;
    const struct FL_TYPED(fl_packed_constants) c = FL_TYPED(fl_packed_prepare)(a);
    const FL_VECTOR slopes = FL_P(set1)((FL_REAL)slope);
    FL_VECTOR sum = FL_P(loadu)(sums);
    const int32_t *j = row.indices;
    const FL_REAL *x = (const FL_REAL *)row.values;
    int32_t few_j[FL_P_SIZE] = {0};
    FL_REAL few_x[FL_P_SIZE] = {0}, spare[4] = {0};
    int64_t fetched = 0, visited = 0; /* of later.row and later.columns */
    if (row.size < FL_P_SIZE) { /* fewer than a load takes */
        memcpy(few_j, j, (size_t)row.size * sizeof *j);
        if (!is_ones) memcpy(few_x, x, (size_t)row.size * sizeof *x);
        j = few_j, x = few_x;
    }
    for (int64_t k = row.size; k > 0; k -= FL_P_SIZE) {
        const int64_t first = k < FL_P_SIZE ? 0 : k - FL_P_SIZE;
        const FL_VECTOR factors = is_ones ? FL_P(set1)(1) : FL_P(loadu)(x + first);
        FL_REAL *own[FL_P_SIZE];
        if (k % FL_LINE_ENTRIES < FL_P_SIZE && fetched < later.row.size) {
            FL_TYPED(fl_prefetch_entries)(later.row, fetched);
            fetched += FL_LINE_ENTRIES;
        }
        if (visited + FL_P_SIZE <= later.columns.size) {
            FL_TYPED(fl_packed_fetch)(later.columns, visited, visited + FL_P_SIZE, P, shift);
            visited += FL_P_SIZE;
        }
        for (int l = 0; l < FL_P_SIZE; l++) own[l] = P + ((int64_t)j[first + l] << shift);
        unsigned missing = is_ones ? 0 : (unsigned)FL_P_ZEROS(factors);
        if (FL_UNLIKELY(k < FL_P_SIZE)) missing |= ~0u << k; /* done before */
        if (FL_UNLIKELY(missing)) {
            for (int l = 0; l < FL_P_SIZE; l++) own[l] = missing >> l & 1 ? spare : own[l];
        }
        sum = FL_P(add)(sum, FL_TYPED(fl_packed_some)(&c, optimizer, penalty,
                                                      FL_P(mul)(slopes, factors), own));
    }
    FL_P(storeu)(sums, sum);
    for (; fetched < later.row.size; fetched += FL_LINE_ENTRIES) {
        FL_TYPED(fl_prefetch_entries)(later.row, fetched);
    }
    FL_TYPED(fl_packed_fetch)(later.columns, visited, later.columns.size, P, shift);
}

/* One loop for each optimizer, */
FL_INLINE void FL_TYPED(fl_packed_by_rule)(const struct fl_adaptive *a, struct fl_row row,
                                           double slope, FL_REAL *P, const int penalty,
                                           const int is_ones, FL_REAL *sums,
                                           struct fl_packed_later later) {
    switch (a->optimizer) {
    case FL_ADAGRAD:
        FL_TYPED(fl_packed_by_some)(a, row, slope, P, FL_ADAGRAD, penalty, is_ones, sums, later);
        break;
    case FL_RMSPROP:
        FL_TYPED(fl_packed_by_some)(a, row, slope, P, FL_RMSPROP, penalty, is_ones, sums, later);
        break;
    case FL_ADADELTA:
        FL_TYPED(fl_packed_by_some)(a, row, slope, P, FL_ADADELTA, penalty, is_ones, sums, later);
        break;
    default:
        FL_TYPED(fl_packed_by_some)(a, row, slope, P, FL_ADAM, penalty, is_ones, sums, later);
    }
}

/* penalty (`lazy` as in fl_packed.inc.h) */
FL_INLINE void FL_TYPED(fl_packed_by_penalty)(const struct fl_adaptive *a, struct fl_row row,
                                              double slope, FL_REAL *P, int lazy,
                                              const int is_ones, FL_REAL *sums,
                                              struct fl_packed_later later) {
    if (!lazy) {
        FL_TYPED(fl_packed_by_rule)(a, row, slope, P, FL_NO_PENALTY, is_ones, sums, later);
    } else if (a->l1 == 0) {
        FL_TYPED(fl_packed_by_rule)(a, row, slope, P, FL_L2_PENALTY, is_ones, sums, later);
    } else {
        FL_TYPED(fl_packed_by_rule)(a, row, slope, P, FL_ANY_PENALTY, is_ones, sums, later);
    }
}

/* and layout, CSR or ones. */
FL_INLINE void FL_TYPED(fl_packed_wide)(const struct fl_adaptive *a, struct fl_row row,
                                        double slope, FL_REAL *P, int lazy, FL_REAL *sums,
                                        struct fl_packed_later later) {
    if (row.layout == FL_ONES) {
        FL_TYPED(fl_packed_by_penalty)(a, row, slope, P, lazy, 1, sums, later);
    } else {
        FL_TYPED(fl_packed_by_penalty)(a, row, slope, P, lazy, 0, sums, later);
    }
}
