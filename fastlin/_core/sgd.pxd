"""What other loops over rows share with that of `sgd`."""

from .c cimport FL_PREFETCH, fl_prefetch_start, fl_rows, fl_sgd_rule, fl_sgd_state, int64_t, \
    prefetch_row, prefetch_weights, real

# How many rows before a row's entries are fetched the place is looked up where they begin.
cdef enum:
    START_AHEAD = 16


cdef inline void look_ahead(const fl_rows *X, const double[::1] y, const int64_t[::1] order,
                            const int64_t[::1] fetch, Py_ssize_t k, Py_ssize_t weights_ahead,
                            const real *v) noexcept nogil:
    """Fetch what the steps to come will need: their order is not that of memory, so that the
    processor cannot foresee it. `fetch[k]` is the row whose entries are fetched at step k; the
    weights are those of the row `weights_ahead` steps on.

    Call it between a step's loss and its update: there the processor waits for the loss.
    """
    if k + START_AHEAD < fetch.shape[0]:
        fl_prefetch_start(X, fetch[k + START_AHEAD])
    if k < fetch.shape[0]:
        FL_PREFETCH(&y[fetch[k]])
        prefetch_row(X, fetch[k], v)
    if weights_ahead and k + weights_ahead < order.shape[0]:
        prefetch_weights(X, order[k + weights_ahead], v)


cdef inline void end_step(const fl_sgd_rule *rule, fl_sgd_state *state) noexcept nogil:
    if rule.average_from > 0 and state.t >= rule.average_from:
        state.sum_scale += state.scale
        state.sum_intercept += state.intercept
        state.n_averaged += 1
