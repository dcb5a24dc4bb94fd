"""What other loops over rows share with that of `sgd`."""

from .c cimport fl_prefetch_start, fl_rows, fl_sgd_rule, fl_sgd_state, int64_t, prefetch_row, \
    prefetch_weights, real

# How many rows ahead the bounds and the entries of a row are fetched: the order of rows is not that
# of memory, so the processor cannot foresee them.
cdef enum:
    BOUNDS_AHEAD = 32
    ENTRIES_AHEAD = 12


cdef inline void look_ahead(const fl_rows *X, const int64_t[::1] order, Py_ssize_t k,
                            Py_ssize_t stop, const real *v, bint weights) noexcept nogil:
    if k + BOUNDS_AHEAD < stop:
        fl_prefetch_start(X, order[k + BOUNDS_AHEAD])
    if k + ENTRIES_AHEAD < stop:
        prefetch_row(X, order[k + ENTRIES_AHEAD], v)
    if weights and k + 1 < stop:
        prefetch_weights(X, order[k + 1], v)


cdef inline void end_step(const fl_sgd_rule *rule, fl_sgd_state *state) noexcept nogil:
    if rule.average_from > 0 and state.t >= rule.average_from:
        state.sum_scale += state.scale
        state.sum_intercept += state.intercept
        state.n_averaged += 1
