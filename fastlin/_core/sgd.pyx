"""The loop of stochastic gradient descent over rows, for one output. `fl_sgd.h` states the problem,
the step and the symbols."""

from libc.stdint cimport int64_t

from .c cimport (FL_PREFETCH, axpy_fetching, dot, dot_fetching, fl_axpy_f32, fl_axpy_f64,
                 fl_has_long, fl_is_long, fl_loss, fl_loss_add, fl_loss_has_reach, fl_loss_reach,
                 fl_loss_settle, fl_loss_sum, fl_pa_coefficient, fl_per_column, fl_per_column_add,
                 fl_per_column_none, fl_per_column_plan, fl_per_column_weave, fl_prefetch_columns,
                 fl_row, fl_rows, fl_sgd_eta, fl_sgd_publish_f32, fl_sgd_publish_f64,
                 fl_sgd_publish_mean_f32, fl_sgd_publish_mean_f64, fl_sgd_rule, fl_sgd_safe_eta,
                 fl_sgd_state, prefetch_all, real, row_at, sgd_add, sgd_add_and_pay, sgd_decay,
                 square_norm)
from .rows cimport Rows

cdef inline double step_length(const fl_sgd_rule *rule, const fl_rows *X, int64_t i, double p,
                               double y, double g, double eta, const real *v) noexcept nogil:
    """eta, or what is left of it where the step would overshoot its own row."""
    cdef double reach
    if g == 0 or not fl_loss_has_reach(rule.loss):
        return eta
    reach = fl_loss_reach(rule.loss, p, y, rule.loss_parameter)
    if fl_sgd_safe_eta(eta, g, rule.longest_square + rule.fit_intercept, reach) == eta:
        return eta  # no row is long enough, so this one need not be measured
    return fl_sgd_safe_eta(eta, g, square_norm(row_at(X, i, v), v) + rule.fit_intercept, reach)


cdef inline void owe(double *debts, int64_t i, const fl_sgd_state *state, double c,
                     const real *v) noexcept nogil:
    """Note what u would have got from a step v += c x_i; `v` only says which type it is."""
    if debts != NULL:
        debts[i] += state.sum_scale * <real>c


def settle(Rows X, const double[::1] owed, real[::1] u, Py_ssize_t start, Py_ssize_t stop):
    """u += sum_i owed_i x_i over the rows i = start..stop-1: what visits have put off."""
    cdef Py_ssize_t i
    cdef real *sums = &u[0]
    cdef fl_per_column columns = fl_per_column_none()
    fl_per_column_add(&columns, sums, sizeof(real))
    fl_per_column_plan(&columns, &X.c)
    with nogil:
        for i in range(start, stop):
            if columns.ahead and i + columns.ahead < stop:
                fl_prefetch_columns(&X.c, i + columns.ahead, &columns)
            if owed[i] == 0:
                continue
            if real is float:
                fl_axpy_f32(row_at(&X.c, i, sums), <float>owed[i], sums)
            else:
                fl_axpy_f64(row_at(&X.c, i, sums), owed[i], sums)


cdef inline void step_by_step(
        const fl_rows *X, const double[::1] y, const double[::1] sample_weight,
        const int64_t[::1] order, const int64_t[::1] fetch, const fl_sgd_rule *rule,
        fl_sgd_state *state, real *weights, real *sums, real *payments, double *debts,
        bint long_rows) noexcept nogil:
    """`gradient_steps` of one row each, as nearly always: without the detour over an array of
    derivatives a row of 90 entries takes 4 % less time. `long_rows`, a constant at each call: let
    updates of long rows fetch others."""
    cdef Py_ssize_t k
    cdef int64_t i
    cdef double p, g, s, eta, change
    cdef bint weighted = sample_weight.shape[0] > 0, fetching
    cdef real *visited = sums if debts == NULL else NULL
    cdef fl_loss_sum total = fl_loss_sum(0, 1)
    cdef fl_per_column columns = kept_per_column(X, 1, weights, visited, payments)
    cdef fl_row row, later
    fl_per_column_weave(&columns, X)
    for k in range(order.shape[0]):
        i = order[k]
        row = row_at(X, i, weights)
        state.t += 1
        eta = fl_sgd_eta(rule, state.t)
        p = dot_fetching(row, weights, row_in_dot(X, order, k, &columns, weights))
        p = state.scale * p + state.intercept
        s = sample_weight[i] if weighted else 1.0
        state.sum_weight += s
        g = fl_loss_add(&total, rule.loss, p, y[i], rule.loss_parameter, s)
        eta = step_length(rule, X, i, p, y[i], g, eta, weights)
        look_further(X, y, order, fetch, k, &columns)
        later = row_in_update(X, fetch, k, weights)
        fetching = long_rows and fl_is_long(row) and g != 0 and payments == NULL and visited == NULL
        if not fetching:
            prefetch_all(later, weights)
        if debts != NULL and k < fetch.shape[0]:
            FL_PREFETCH(&debts[fetch[k]])
        sgd_decay(rule, state, eta, X.d, weights, sums)
        change = -eta / state.scale * g
        if payments != NULL:
            state.l1_total += eta * rule.l1
            sgd_add_and_pay(state, row, change, weights, sums, payments)
        elif g != 0:
            if fetching:
                axpy_fetching(row, change, weights, later)
            else:
                sgd_add(state, row, change, weights, visited)
            owe(debts, i, state, change, weights)
        if rule.fit_intercept:
            state.intercept -= eta * g
        end_step(rule, state)
    fl_loss_settle(&total)
    state.sum_loss += total.sum


cdef void steps_of_one(
        const fl_rows *X, const double[::1] y, const double[::1] sample_weight,
        const int64_t[::1] order, const int64_t[::1] fetch, const fl_sgd_rule *rule,
        fl_sgd_state *state, real *weights, real *sums, real *payments,
        double *debts) noexcept nogil:
    """`step_by_step` as the length of rows asks for."""
    if fl_has_long(X):
        step_by_step(X, y, sample_weight, order, fetch, rule, state, weights, sums, payments,
                     debts, True)
    else:
        step_by_step(X, y, sample_weight, order, fetch, rule, state, weights, sums, payments,
                     debts, False)


cdef fl_sgd_state gradient_steps(
        Rows X, const double[::1] y, const double[::1] sample_weight, const int64_t[::1] order,
        const int64_t[::1] fetch, fl_sgd_rule rule, fl_sgd_state state, real[::1] v, real[::1] u,
        double[::1] owed, real[::1] paid, double[::1] gradients) noexcept:
    """The loop of `run`."""
    cdef Py_ssize_t k = 0, r, m, stop = order.shape[0]
    cdef int64_t i, d = X.c.d
    cdef double p, g, s, eta, step, factor
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef real *weights = &v[0]
    cdef real *sums = &u[0] if u.shape[0] else NULL
    cdef real *payments = &paid[0] if paid.shape[0] else NULL
    cdef double *debts = &owed[0] if owed.shape[0] else NULL
    cdef real *visited = sums if debts == NULL else NULL
    cdef fl_loss_sum total = fl_loss_sum(0, 1)
    cdef fl_per_column columns = kept_per_column(&X.c, 1, weights, visited, payments)
    cdef fl_row row
    with nogil:
        if rule.batch_size == 1:
            steps_of_one(&X.c, y, sample_weight, order, fetch, &rule, &state, weights, sums,
                         payments, debts)
            k = stop
        while k < stop:
            m = min(rule.batch_size, stop - k)
            state.t += 1
            eta = step = fl_sgd_eta(&rule, state.t)
            for r in range(m):
                i = order[k + r]
                p = state.scale * dot(row_at(&X.c, i, weights), weights) + state.intercept
                s = sample_weight[i] if weighted else 1.0
                state.sum_weight += s
                g = fl_loss_add(&total, rule.loss, p, y[i], rule.loss_parameter, s)
                gradients[r] = g
                step = min(step, step_length(&rule, &X.c, i, p, y[i], g, eta, weights))
                look_ahead(&X.c, y, order, fetch, k + r, &columns, weights)
                if debts != NULL and k + r < fetch.shape[0]:
                    FL_PREFETCH(&debts[fetch[k + r]])
            sgd_decay(&rule, &state, step, d, weights, sums)
            state.l1_total += step * rule.l1
            factor = -step / (m * state.scale)
            for r in range(m):
                row = row_at(&X.c, order[k + r], weights)
                g = gradients[r]
                if payments != NULL and r + 1 == m:
                    sgd_add_and_pay(&state, row, factor * g, weights, sums, payments)
                elif g != 0:
                    sgd_add(&state, row, factor * g, weights, visited)
                    owe(debts, order[k + r], &state, factor * g, weights)
                if rule.fit_intercept:
                    state.intercept -= step * g / m
            if payments != NULL:
                for r in range(m - 1):
                    sgd_add_and_pay(&state, row_at(&X.c, order[k + r], weights), 0.0, weights,
                                    sums, payments)
            end_step(&rule, &state)
            k += m
        fl_loss_settle(&total)
        state.sum_loss += total.sum
    return state


cdef fl_sgd_state passive_steps(
        Rows X, const double[::1] y, const double[::1] sample_weight, const int64_t[::1] order,
        const int64_t[::1] fetch, fl_sgd_rule rule, fl_sgd_state state, real[::1] v, real[::1] u,
        double[::1] owed) noexcept:
    """The loop of `run` with passive-aggressive steps."""
    cdef Py_ssize_t k, stop = order.shape[0]
    cdef int64_t i
    cdef double p, g, s, q, loss, change
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef real *weights = &v[0]
    cdef double *debts = &owed[0] if owed.shape[0] else NULL
    cdef real *sums = &u[0] if u.shape[0] and debts == NULL else NULL
    cdef fl_per_column columns = kept_per_column(&X.c, 1, weights, sums, <const real *>NULL)
    cdef fl_row row
    with nogil:
        for k in range(stop):
            i = order[k]
            row = row_at(&X.c, i, weights)
            p = dot(row, weights) + state.intercept
            s = sample_weight[i] if weighted else 1.0
            loss = fl_loss(rule.loss, p, y[i], rule.loss_parameter, &g)
            look_ahead(&X.c, y, order, fetch, k, &columns, weights)
            state.t += 1
            state.sum_loss += s * loss
            state.sum_weight += s
            if loss > 0:
                q = square_norm(row, weights)
                if q > 0:
                    change = fl_pa_coefficient(&rule, loss, g, q + rule.fit_intercept, s)
                    sgd_add(&state, row, change, weights, sums)
                    owe(debts, i, &state, change, weights)
                    if rule.fit_intercept:
                        state.intercept += change
            end_step(&rule, &state)
    return state


def run(Rows X, const double[::1] y, const double[::1] sample_weight, const int64_t[::1] order,
        const int64_t[::1] fetch, fl_sgd_rule rule, fl_sgd_state state, real[::1] v, real[::1] u,
        double[::1] owed, real[::1] paid, double[::1] gradients):
    """Visit the rows in `order`, one step per `rule.batch_size` of them; returns the new state.

    `sample_weight`, `u` and `paid` may be empty: no weights, no averaging, no L1 penalty. With an
    `owed` that is not empty the rows' part of u is put off, see `settle`. `gradients` holds the
    batch's derivatives: batch_size entries. For `fetch` see `look_ahead`.
    """
    if rule.step_rule:
        return passive_steps(X, y, sample_weight, order, fetch, rule, state, v, u, owed)
    return gradient_steps(
        X, y, sample_weight, order, fetch, rule, state, v, u, owed, paid, gradients
    )


def run_epochs(Rows X, const double[::1] y, const double[::1] sample_weight,
               const int64_t[::1] order, const int64_t[::1] fetch, fl_sgd_rule rule,
               fl_sgd_state state, real[::1] v, real[::1] u, double[::1] owed, real[::1] paid,
               double[::1] gradients, between):
    """`run` again and again, until `between` says False; returns the new state.

    After each epoch it is told the sums of losses and of weights, the intercept, the scale and
    |v|^2, and may write another order to `order`: of a few hundred rows an epoch takes less time
    than a call of `run`.
    """
    cdef bint goes_on = True
    while goes_on:
        state.sum_loss = state.sum_weight = 0
        if rule.step_rule:
            state = passive_steps(X, y, sample_weight, order, fetch, rule, state, v, u, owed)
        else:
            state = gradient_steps(
                X, y, sample_weight, order, fetch, rule, state, v, u, owed, paid, gradients
            )
        goes_on = between(
            state.sum_loss, state.sum_weight, state.intercept, state.scale, square_sum(v)
        )
    return state


cdef double square_sum(const real[::1] v) noexcept nogil:
    """|v|^2 in double, in four sums that don't wait for each other."""
    cdef double a = 0, b = 0, c = 0, d = 0
    cdef Py_ssize_t j, n = v.shape[0], whole = n - n % 4
    for j in range(0, whole, 4):
        a += <double>v[j] * v[j]
        b += <double>v[j + 1] * v[j + 1]
        c += <double>v[j + 2] * v[j + 2]
        d += <double>v[j + 3] * v[j + 3]
    for j in range(whole, n):
        a += <double>v[j] * v[j]
    return (a + b) + (c + d)


def squares(const real[::1] v):
    """|v|^2."""
    return square_sum(v)


def publish(fl_sgd_state state, const real[::1] v, const real[::1] paid, real[::1] w):
    """w: the weights with the L1 penalty paid up."""
    cdef int64_t d = v.shape[0]
    cdef const real *payments = &paid[0] if paid.shape[0] else NULL
    with nogil:
        if real is float:
            fl_sgd_publish_f32(&state, d, &v[0], payments, &w[0])
        else:
            fl_sgd_publish_f64(&state, d, &v[0], payments, &w[0])


def publish_mean(fl_sgd_state state, const real[::1] v, const real[::1] u, real[::1] w):
    """w: the mean of the averaged steps' weights."""
    cdef int64_t d = v.shape[0]
    with nogil:
        if real is float:
            fl_sgd_publish_mean_f32(&state, d, &v[0], &u[0], &w[0])
        else:
            fl_sgd_publish_mean_f64(&state, d, &v[0], &u[0], &w[0])
