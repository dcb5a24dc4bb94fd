"""The voted perceptron: steps that are recorded, and votes from the record. `fl_voted.h` says how
the responses of all weight vectors come from products of rows."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from .c cimport (dot, fl_joint_loss, fl_loss, fl_per_column, fl_row, fl_row_at_f32,
                 fl_row_at_f64, fl_sgd_rule, fl_sgd_state, joint_add, joint_scores, real, row_at)
from .rows cimport Rows
from .sgd cimport kept_per_column, look_ahead


def record(Rows X, const double[::1] y, const double[::1] sample_weight, const int64_t[::1] order,
           const int64_t[::1] fetch, fl_sgd_rule rule, fl_sgd_state state, double[::1] b,
           real[::1] V, int64_t[::1] row_numbers, int64_t[::1] when, double[::1] change,
           int32_t[:, ::1] pair):
    """Perceptron steps on the rows in `order`; returns (new state, number of mistakes).

    Of each mistake: the row, the step t, the coefficient that its row enters with and, where
    K > 1, the output that moves away from it and the one that moves towards it.
    """
    cdef Py_ssize_t k, n = 0, stop = order.shape[0]
    cdef int64_t i, n_active, K = b.shape[0]
    cdef double s, g
    cdef real step
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef real *weights = &V[0]
    cdef double[::1] z = np.empty(K), gradient = np.zeros(K)
    cdef int64_t[::1] active = np.zeros(max(K, 2), dtype=np.int64)
    cdef real[::1] scratch = np.empty(K, dtype=np.asarray(V).dtype)
    cdef fl_per_column columns = kept_per_column(&X.c, K, weights, <const real *>NULL,
                                                 <const real *>NULL)
    cdef fl_row row
    with nogil:
        for k in range(stop):
            i = order[k]
            row = row_at(&X.c, i, weights)
            joint_scores(row, K, weights, 1.0, &b[0], &scratch[0], &z[0])
            look_ahead(&X.c, y, order, fetch, k, &columns, weights)
            s = sample_weight[i] if weighted else 1.0
            state.t += 1
            state.sum_weight += s
            if K == 1:
                state.sum_loss += s * fl_loss(rule.loss, z[0], y[i], rule.loss_parameter, &g)
                if g == 0:
                    continue
                step = <real>(-rule.eta0 * s * g)
                n_active = 1
                active[0] = 0
                scratch[0] = step
                if rule.fit_intercept:
                    b[0] += step
            else:
                state.sum_loss += s * fl_joint_loss(rule.loss, &z[0], K, <int64_t>y[i],
                                                    rule.loss_parameter, &gradient[0], &active[0],
                                                    &n_active)
                if n_active == 0:
                    continue
                step = <real>(rule.eta0 * s)
                scratch[active[0]] = -step
                scratch[active[1]] = step
                pair[n, 0], pair[n, 1] = <int32_t>active[0], <int32_t>active[1]
                if rule.fit_intercept:
                    b[active[0]] -= step
                    b[active[1]] += step
            joint_add(&state, row, K, &scratch[0], &active[0], n_active, weights, NULL)
            row_numbers[n] = i
            when[n] = <int64_t>state.t
            change[n] = step
            n += 1
    return state, n


cdef inline int64_t nth(const int64_t *rows, int64_t k) noexcept nogil:
    return k if rows == NULL else rows[k]


def postings(Rows X, const int64_t[::1] rows, Py_ssize_t start, Py_ssize_t stop,
             int64_t[::1] starts, int32_t[::1] owner, double[::1] value):
    """Fill the postings of `rows[start:stop]` (empty `rows`: all); `starts` holds d + 2 zeros."""
    cdef Py_ssize_t k
    cdef const int64_t *chosen = &rows[0] if rows.shape[0] else NULL
    cdef int32_t *owners = &owner[0] if owner.shape[0] else NULL
    cdef double *values = &value[0] if value.shape[0] else NULL
    with nogil:
        for k in range(start, stop):
            if X.is_float32:
                fl_postings_count_f32(fl_row_at_f32(&X.c, nth(chosen, k)), &starts[0])
            else:
                fl_postings_count_f64(fl_row_at_f64(&X.c, nth(chosen, k)), &starts[0])
        fl_postings_accumulate(&starts[0], X.c.d)
        for k in range(start, stop):
            if X.is_float32:
                fl_postings_place_f32(fl_row_at_f32(&X.c, nth(chosen, k)), <int32_t>(k - start),
                                      &starts[0], owners, values)
            else:
                fl_postings_place_f64(fl_row_at_f64(&X.c, nth(chosen, k)), <int32_t>(k - start),
                                      &starts[0], owners, values)


def products(Rows stored, Py_ssize_t first, Py_ssize_t last, const int64_t[::1] starts,
             const int32_t[::1] owner, const double[::1] value, double[:, ::1] out):
    """out[i] = products of stored row i with the rows of the postings, first <= i < last."""
    cdef Py_ssize_t i
    cdef const int32_t *owners = &owner[0] if owner.shape[0] else NULL
    cdef const double *values = &value[0] if value.shape[0] else NULL
    with nogil:
        for i in range(first, last):
            if stored.is_float32:
                fl_postings_products_f32(fl_row_at_f32(&stored.c, i), &starts[0], owners, values,
                                         out.shape[1], &out[i, 0])
            else:
                fl_postings_products_f64(fl_row_at_f64(&stored.c, i), &starts[0], owners, values,
                                         out.shape[1], &out[i, 0])


def dense_products(Rows stored, Py_ssize_t first, Py_ssize_t last, Rows X,
                   const int64_t[::1] rows, Py_ssize_t start, const real[::1] like,
                   double[:, ::1] out):
    """The same without postings, for dense X; `like` is empty and of its type."""
    cdef Py_ssize_t i, k
    cdef const int64_t *chosen = &rows[0] if rows.shape[0] else NULL
    cdef const real *x
    with nogil:
        for i in range(first, last):
            for k in range(out.shape[1]):
                x = <const real *>X.c.values + nth(chosen, start + k) * X.c.d
                out[i, k] = dot(row_at(&stored.c, i, x), x)


def vote(const double[:, ::1] products, const int64_t[::1] which, const int64_t[::1] when,
         const double[::1] change, double fit_intercept, Py_ssize_t first, Py_ssize_t last,
         int64_t clock, double[::1] r, double[::1] votes):
    """Votes of the weight vectors that the mistakes first..last-1 ended, and responses r of the
    one after; `clock` is the step at which the first of them came to be. Returns the new clock."""
    cdef Py_ssize_t m, t, size = r.shape[0]
    cdef double survived, c
    cdef const double *product
    with nogil:
        for m in range(first, last):
            survived = when[m] - clock
            clock = when[m]
            c = change[m]
            product = &products[which[m], 0]
            for t in range(size):
                votes[t] += survived if r[t] > 0 else -survived
                r[t] += c * (product[t] + fit_intercept)
    return clock


cdef inline int64_t largest(const double *z, int64_t K) noexcept nogil:
    cdef int64_t k, best = 0
    for k in range(1, K):
        if z[k] > z[best]:
            best = k
    return best


def vote_joint(const double[:, ::1] products, const int64_t[::1] which, const int64_t[::1] when,
               const double[::1] change, const int32_t[:, ::1] pair, double fit_intercept,
               Py_ssize_t first, Py_ssize_t last, int64_t clock, double[:, ::1] z,
               int64_t[::1] top, double[:, ::1] votes):
    """The same for K outputs: each vector votes for its largest, `top`."""
    cdef Py_ssize_t m, t, size = z.shape[0]
    cdef int64_t K = z.shape[1], away, toward
    cdef double survived, c
    cdef const double *product
    with nogil:
        for m in range(first, last):
            survived = when[m] - clock
            clock = when[m]
            away, toward = pair[m, 0], pair[m, 1]
            product = &products[which[m], 0]
            for t in range(size):
                votes[t, top[t]] += survived
                c = change[m] * (product[t] + fit_intercept)
                z[t, away] -= c
                z[t, toward] += c
                # either may have risen or fallen: c has the sign of the product
                if top[t] == away or top[t] == toward:
                    top[t] = largest(&z[t, 0], K)
                else:
                    if beats(&z[t, 0], away, top[t]):
                        top[t] = away
                    if beats(&z[t, 0], toward, top[t]):
                        top[t] = toward
    return clock


cdef inline bint beats(const double *z, int64_t k, int64_t best) noexcept nogil:
    return z[k] > z[best] or (z[k] == z[best] and k < best)
