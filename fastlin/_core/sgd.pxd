"""What other loops over rows share with that of `sgd`."""

from .c cimport FL_PREFETCH, fl_per_column, fl_per_column_add, fl_per_column_none, \
    fl_per_column_plan, fl_prefetch_columns, fl_prefetch_start, fl_row, fl_rows, fl_sgd_rule, \
    fl_sgd_state, int64_t, prefetch_row, real, row_at

# How many rows before a row's entries are fetched the place is looked up where they begin.
cdef enum:
    START_AHEAD = 16


cdef inline fl_per_column kept_per_column(const fl_rows *X, Py_ssize_t K, const real *v,
                                          const real *u, const real *paid) noexcept nogil:
    """What any learner of K outputs may keep per column: weights, averaging sum, L1 payments."""
    cdef fl_per_column columns = fl_per_column_none()
    fl_per_column_add(&columns, v, K * sizeof(real))
    fl_per_column_add(&columns, u, K * sizeof(real))
    fl_per_column_add(&columns, paid, K * sizeof(real))
    fl_per_column_plan(&columns, X)
    return columns


cdef inline fl_row row_in_dot(const fl_rows *X, const int64_t[::1] order, Py_ssize_t k,
                              const fl_per_column *columns, const real *v) noexcept nogil:
    """The row whose weights the dot product of step k fetches; an empty one if none."""
    if columns.ahead_in_dot and k + columns.ahead_in_dot < order.shape[0]:
        return row_at(X, order[k + columns.ahead_in_dot], v)
    return no_row(X)


cdef inline fl_row row_in_update(const fl_rows *X, const int64_t[::1] fetch, Py_ssize_t k,
                                 const real *v) noexcept nogil:
    """The row whose entries the update of step k fetches; an empty one if none."""
    return row_at(X, fetch[k], v) if k < fetch.shape[0] else no_row(X)


cdef inline fl_row no_row(const fl_rows *X) noexcept nogil:
    cdef fl_row nothing
    nothing.layout = X.layout
    nothing.size = 0
    nothing.indices = NULL
    nothing.values = NULL
    return nothing


cdef inline void look_ahead(const fl_rows *X, const double[::1] y, const int64_t[::1] order,
                            const int64_t[::1] fetch, Py_ssize_t k,
                            const fl_per_column *columns, const real *v) noexcept nogil:
    """Fetch what the steps to come will need: their order is not that of memory, so that the
    processor cannot foresee it. `fetch[k]` is the row whose entries are fetched at step k; what is
    kept per column is fetched for the row `columns.ahead` steps on.

    Call it between a step's loss and its update: there the processor waits for the loss.
    """
    look_further(X, y, order, fetch, k, columns)
    if k < fetch.shape[0]:
        prefetch_row(X, fetch[k], v)


cdef inline void look_further(const fl_rows *X, const double[::1] y, const int64_t[::1] order,
                              const int64_t[::1] fetch, Py_ssize_t k,
                              const fl_per_column *columns) noexcept nogil:
    """`look_ahead` without the entries of the row `fetch[k]`, which are left to `row_in_update`."""
    if k + START_AHEAD < fetch.shape[0]:
        fl_prefetch_start(X, fetch[k + START_AHEAD])
    if k < fetch.shape[0]:
        FL_PREFETCH(&y[fetch[k]])
    if columns.ahead and k + columns.ahead < order.shape[0]:
        fl_prefetch_columns(X, order[k + columns.ahead], columns)


cdef inline void end_step(const fl_sgd_rule *rule, fl_sgd_state *state) noexcept nogil:
    if rule.average_from > 0 and state.t >= rule.average_from:
        state.sum_scale += state.scale
        state.sum_intercept += state.intercept
        state.n_averaged += 1
