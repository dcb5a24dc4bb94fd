"""The nearest rows of a matrix to those of another."""

from .c cimport fl_row_at_f32, fl_row_at_f64, int32_t, int64_t
from .rows cimport Rows


cdef inline void load(Rows Q, int64_t i, int32_t[::1] columns, double[::1] values,
                      fl_query *q) noexcept nogil:
    """Row i in double; without `columns` all of its values."""
    cdef int32_t *column = &columns[0] if columns.shape[0] else NULL
    if Q.is_float32:
        fl_query_of_f32(fl_row_at_f32(&Q.c, i), Q.c.d, column, &values[0], q)
    else:
        fl_query_of_f64(fl_row_at_f64(&Q.c, i), Q.c.d, column, &values[0], q)


def products(Rows Q, Rows columns, int32_t[::1] entries, double[::1] room, double[:, ::1] out,
             Py_ssize_t start, Py_ssize_t stop):
    """out[i - start] = q_i.x of all rows x, which are given by their columns, start <= i < stop.
    `entries` and `room` hold the longest row of Q."""
    cdef Py_ssize_t i, k
    cdef fl_query q
    with nogil:
        for i in range(start, stop):
            load(Q, i, entries, room, &q)
            for k in range(out.shape[1]):
                out[i - start, k] = 0
            if columns.is_float32:
                fl_add_products_f32(&q, &columns.c, &out[i - start, 0])
            else:
                fl_add_products_f64(&q, &columns.c, &out[i - start, 0])


def nearest(Rows Q, Rows X, const double[::1] own, const double[::1] square,
            const double[:, ::1] product, double error, bint unit, bint left_out,
            int32_t[::1] entries, double[::1] room, int64_t[::1] candidates,
            double[:, ::1] distance, int64_t[:, ::1] number, Py_ssize_t start, Py_ssize_t stop):
    """Write the squared distances and the numbers of the nearest rows of X to rows start..stop-1
    of Q, as many as there are columns in `distance`. product[i - start] holds q_i.x, `own` and
    `square` |q|^2 and |x|^2 of all rows, correct to `error` together; `unit`: all of them are 1.
    With `left_out` Q is X, and no row is near to itself. `entries` is empty for dense X."""
    cdef Py_ssize_t i
    cdef int64_t size
    cdef fl_query q
    cdef fl_nearest h
    h.k = distance.shape[1]
    with nogil:
        for i in range(start, stop):
            load(Q, i, entries, room, &q)
            h.distance, h.number = &distance[i, 0], &number[i, 0]
            size = fl_candidates(&h, &square[0], &product[i - start, 0], own[i], error, X.c.n,
                                 i if left_out else -1, &candidates[0])
            if X.is_float32:
                fl_choose_nearest_f32(&h, &q, &X.c, unit, &candidates[0], size)
            else:
                fl_choose_nearest_f64(&h, &q, &X.c, unit, &candidates[0], size)
