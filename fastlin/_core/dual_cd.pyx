"""The loop of dual coordinate ascent over rows. `fl_dual.h` states the problem, the step and the
symbols."""

from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport uint8_t

from .c cimport (FL_PREFETCH, dot, dot_fetching, fl_axpy_f32, fl_axpy_f64, fl_dual_estimate,
                 fl_dual_gain, fl_dual_pause, fl_dual_response, fl_dual_rule, fl_dual_state,
                 fl_dual_step, fl_logit, fl_loss_dual_slack, fl_loss_dual_step, fl_max,
                 fl_per_column, fl_per_column_add, fl_per_column_none, fl_per_column_plan,
                 fl_per_column_weave, fl_prefetch_columns, fl_prefetch_row_f32, fl_prefetch_row_f64,
                 fl_prefetch_start, fl_row, fl_row_at_f32, fl_row_at_f64, fl_rows,
                 fl_square_norm_f32, fl_square_norm_f64, fl_wide_axpy_f32, fl_wide_dot_f32, int64_t,
                 real)
from .rows cimport Rows
from .sgd cimport row_in_dot

# How many rows before a row's entries are fetched the place is looked up where they begin.
cdef enum:
    START_AHEAD = 16


cdef inline void look_ahead(const fl_rows *X, bint is_float32, const int64_t[::1] order,
                            const int64_t[::1] fetch, Py_ssize_t k,
                            const fl_per_column *columns) noexcept nogil:
    """Fetch what the steps to come will need; `fetch` as in `sgd`."""
    if k + START_AHEAD < fetch.shape[0]:
        fl_prefetch_start(X, fetch[k + START_AHEAD])
    if k < fetch.shape[0]:
        if is_float32:
            fl_prefetch_row_f32(X, fetch[k])
        else:
            fl_prefetch_row_f64(X, fetch[k])
    if columns.ahead and k + columns.ahead < order.shape[0]:
        fl_prefetch_columns(X, order[k + columns.ahead], columns)


cdef inline double dot_ahead(fl_row row, const real *v, const fl_rows *X, const int64_t[::1] order,
                             Py_ssize_t k, const fl_per_column *columns) noexcept nogil:
    """row.v at step k; on the way what a later one needs of v is fetched."""
    if columns.ahead_in_dot:
        return dot_fetching(row, v, row_in_dot(X, order, k, columns, v))
    return dot(row, v)


def measure(Rows X, const real[::1] c, double[::1] squares, double[::1] k, Py_ssize_t start,
            Py_ssize_t stop):
    """squares_i = |x_i|^2 and, unless c is empty, k_i = x_i.c for start <= i < stop. c is single
    only if X is."""
    cdef Py_ssize_t i
    cdef bint centred = c.shape[0] > 0
    cdef fl_per_column columns = fl_per_column_none()
    cdef fl_row row
    if centred:
        fl_per_column_add(&columns, &c[0], sizeof(real))
    fl_per_column_plan(&columns, &X.c)
    with nogil:
        for i in range(start, stop):
            if columns.ahead and i + columns.ahead < stop:
                fl_prefetch_columns(&X.c, i + columns.ahead, &columns)
            if real is float or X.is_float32:
                row = fl_row_at_f32(&X.c, i)
                squares[i] = fl_square_norm_f32(row)
            else:
                row = fl_row_at_f64(&X.c, i)
                squares[i] = fl_square_norm_f64(row)
            if not centred:
                continue
            if real is float:
                k[i] = dot(row, &c[0])
            elif X.is_float32:
                k[i] = fl_wide_dot_f32(row, &c[0])
            else:
                k[i] = dot(row, &c[0])

def logits(const double[::1] t, double[::1] out):
    """out_i = log(t_i / (1 - t_i)), bounded."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(t.shape[0]):
            out[i] = fl_logit(t[i])


def steps(int loss, double parameter, const double[::1] p, const double[::1] y,
          const double[::1] a, double h, double[::1] out):
    """out_i = where a_i goes when p_i moves by h times as much; for losses other than log_loss."""
    cdef Py_ssize_t i
    cdef double logit = 0
    with nogil:
        for i in range(p.shape[0]):
            out[i] = fl_loss_dual_step(loss, p[i], y[i], parameter, a[i], h, &logit)


cdef double steps_at(int loss, double parameter, const double[::1] z, double b,
                     const double[::1] y, const double[::1] a, const double[::1] share, double h,
                     double[::1] out, double *bend) noexcept nogil:
    """`steps` at z + b; returns sum_i share_i out_i, and minus its slope in b."""
    cdef Py_ssize_t i
    cdef double total = 0, logit = 0, free = 0
    for i in range(z.shape[0]):
        out[i] = fl_loss_dual_step(loss, z[i] + b, y[i], parameter, a[i], h, &logit)
        total += share[i] * out[i]
        if out[i] != 0 and -1 < out[i] < 1:
            free += share[i]
    bend[0] = free / h
    return total


def balance(int loss, double parameter, const double[::1] z, double b, const double[::1] y,
            const double[::1] a, const double[::1] share, double h, double[::1] out,
            double[::1] bracket, int most):
    """The b at which sum_i share_i out_i is 0, where out are the `steps` of a loss made of lines at
    z + b: the sum falls in b. At most so many trials of Newton's method in a bracket, from b;
    bracket = (low, high, how far to reach next where one of them is infinite) goes from call to
    call. Returns (b, whether it was found); out belongs to the b before where it was not."""
    cdef double low = bracket[0], high = bracket[1], reach = bracket[2], now, bend, new
    cdef int k
    cdef bint found = False
    with nogil:
        for k in range(most):
            now = steps_at(loss, parameter, z, b, y, a, share, h, out, &bend)
            if fabs(now) <= 1e-15:
                found = True
                break
            if now > 0:
                low = b
            else:
                high = b
            new = b + now / bend if bend > 0 else low
            if not low < new < high:
                if isfinite(high - low):
                    new = 0.5 * (low + high)
                else:
                    new = b + (reach if now > 0 else -reach)
                    reach *= 4
            if new == b:
                found = True
                break
            b = new
    bracket[0], bracket[1], bracket[2] = low, high, reach
    return b, found


def slacks(int loss, double parameter, const double[::1] p, const double[::1] y,
           const double[::1] a, double[::1] out):
    """out_i = how far p_i may move before a_i wants to move."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(p.shape[0]):
            out[i] = fl_loss_dual_slack(loss, p[i], y[i], parameter, a[i])


cdef inline void add_row(fl_row row, bint single, double c, real *v) noexcept nogil:
    """v += c row"""
    if real is float:
        fl_axpy_f32(row, <float>c, v)
    elif single:
        fl_wide_axpy_f32(row, c, v)
    else:
        fl_axpy_f64(row, c, v)


cdef inline double gain_of(const fl_dual_rule *rule, double change, double C, double h, double a,
                           double turned, double much, double little,
                           uint8_t *pause) noexcept nogil:
    """What a step gained, for the row and for those that pause like it; sets its next pause."""
    cdef double gain = fl_dual_gain(rule.loss, change, C, h, a, turned)
    cdef double total = gain * (1 + pause[0])
    pause[0] = fl_dual_pause(gain, much, little)
    return total


def visit(Rows X, const double[::1] y, const double[::1] weight, const double[::1] h,
          const double[::1] k, const int64_t[::1] order, const int64_t[::1] fetch,
          fl_dual_rule rule, fl_dual_state state, double[::1] a, double[::1] logit, real[::1] u,
          uint8_t[::1] resting, uint8_t[::1] pause, double much, double little):
    """Move the dual variables of the rows in `order`; returns the new state and what the steps
    gained.

    `weight` and `k` may be empty: no weights, no intercept. u is single only if X is. `resting`
    marks rows whose variable is held at a bound by more than `rule.slack`; empty: none is marked.
    `pause` says how many epochs a row is not visited after each of its own; empty: none pauses.
    """
    cdef Py_ssize_t r, estimated = 0, stop = order.shape[0]
    cdef int64_t i
    cdef double p, C = rule.mass, change, slack, k_i = 0, gained = 0, logit_before
    cdef bint weighted = weight.shape[0] > 0, rests = resting.shape[0] > 0
    cdef bint pauses = pause.shape[0] > 0, single = X.is_float32
    cdef real *v = &u[0]
    cdef double nothing = 0
    cdef double *logits = &logit[0] if logit.shape[0] else NULL
    cdef double *own_logit = &nothing
    cdef fl_per_column columns = fl_per_column_none()
    cdef fl_row row
    fl_per_column_add(&columns, v, sizeof(real))
    fl_per_column_plan(&columns, &X.c)
    if real is float or not single:
        fl_per_column_weave(&columns, &X.c)
    with nogil:
        for r in range(stop):
            i = order[r]
            if rule.fit_intercept:
                k_i = k[i]
            if weighted:
                C = rule.mass * weight[i]
            row = fl_row_at_f32(&X.c, i) if single else fl_row_at_f64(&X.c, i)
            if real is double and single:
                p = fl_wide_dot_f32(row, v)
            else:
                p = dot_ahead(row, v, &X.c, order, r, &columns)
            p = fl_dual_response(&rule, &state, p, k_i)
            look_ahead(&X.c, single, order, fetch, r, &columns)
            if r == estimated:
                fl_dual_estimate(&rule, &state, p, y[i],
                                 C * (1 + pause[i]) if pauses else C, a[i])
                estimated += rule.stride
            if rests:
                slack = fl_loss_dual_slack(rule.loss, p, y[i], rule.loss_parameter, a[i])
                state.violation = fl_max(state.violation, -slack)
                if slack > rule.slack:
                    resting[i] = 1
                    continue
                if slack >= 0:
                    continue
            if logits != NULL:
                own_logit = logits + i
            logit_before = own_logit[0]
            change = fl_dual_step(&rule, &state, p, y[i], C, h[i], k_i, &a[i], own_logit)
            if pauses:
                gained += gain_of(&rule, change, C, h[i], a[i], own_logit[0] - logit_before,
                                  much, little, &pause[i])
            if change != 0:
                add_row(row, single, change, v)
    return state, gained
