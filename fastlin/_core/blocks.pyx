"""Products of rows with vectors in double, whatever the rows hold."""

from .c cimport (FL_DENSE, fl_add_squares_f32, fl_add_squares_f64, fl_per_column,
                 fl_per_column_add, fl_per_column_none, fl_per_column_plan, fl_prefetch_columns,
                 fl_prefetch_row_f32, fl_prefetch_row_f64, fl_row_at_f32, fl_row_at_f64,
                 fl_square_norm_f32, fl_square_norm_f64, fl_wide_axpy_f32, fl_wide_axpy_f64,
                 fl_wide_dot_f32, fl_wide_dot_f64)
from .rows cimport Rows

# How many rows before its own a sparse row is fetched: processors foresee what lies in a page, but
# not the next page, and rows of few entries share one. A fifth of the time of a product.
cdef enum:
    ROWS_AHEAD = 8


cdef inline void look_ahead(Rows X, const double *c, Py_ssize_t i, Py_ssize_t stop,
                            const fl_per_column *columns) noexcept nogil:
    """Fetch what rows to come need, when row i is due; those with c = 0 need nothing."""
    cdef Py_ssize_t later = i + ROWS_AHEAD
    if columns.ahead and i + columns.ahead < X.c.n:
        fl_prefetch_columns(&X.c, i + columns.ahead, columns)
    if X.c.layout == FL_DENSE or later >= stop or (c != NULL and c[later] == 0):
        return
    if X.is_float32:
        fl_prefetch_row_f32(&X.c, later)
    else:
        fl_prefetch_row_f64(&X.c, later)


cdef fl_per_column planned(Rows X, const double *v) noexcept nogil:
    """How far ahead to fetch what v holds for the columns of a row."""
    cdef fl_per_column columns = fl_per_column_none()
    fl_per_column_add(&columns, v, sizeof(double))
    fl_per_column_plan(&columns, &X.c)
    return columns


def responses(Rows X, const double[::1] w, double intercept, double[::1] out, Py_ssize_t start,
              Py_ssize_t stop):
    """out_i = x_i.w + intercept for start <= i < stop"""
    if start >= stop:
        return
    cdef fl_per_column columns = planned(X, &w[0])
    with nogil:
        respond_to_rows(X, &w[0], intercept, &out[0], start, stop, &columns)


cdef void respond_to_rows(Rows X, const double *w, double intercept, double *out,
                          Py_ssize_t start, Py_ssize_t stop,
                          const fl_per_column *columns) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(start, stop):
        look_ahead(X, NULL, i, stop, columns)
        if X.is_float32:
            out[i] = fl_wide_dot_f32(fl_row_at_f32(&X.c, i), w) + intercept
        else:
            out[i] = fl_wide_dot_f64(fl_row_at_f64(&X.c, i), w) + intercept


def add_rows(Rows X, const double[::1] c, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out += sum_i c_i x_i over start <= i < stop"""
    if start >= stop:
        return
    cdef fl_per_column columns = planned(X, &out[0])
    with nogil:
        add_multiples(X, &c[0], NULL, &out[0], start, stop, &columns)


cdef void add_multiples(Rows X, const double *c, const double *h, double *out, Py_ssize_t start,
                        Py_ssize_t stop, const fl_per_column *columns) noexcept nogil:
    cdef Py_ssize_t i
    cdef double factor
    for i in range(start, stop):
        look_ahead(X, c, i, stop, columns)
        factor = c[i] if h == NULL else h[i] * c[i]
        if factor == 0:
            continue
        if X.is_float32:
            fl_wide_axpy_f32(fl_row_at_f32(&X.c, i), factor, out)
        else:
            fl_wide_axpy_f64(fl_row_at_f64(&X.c, i), factor, out)


def add_squares(Rows X, const double[::1] c, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out_j += sum_i c_i x_ij^2 over start <= i < stop"""
    cdef Py_ssize_t i
    cdef fl_per_column columns = planned(X, &out[0])
    with nogil:
        for i in range(start, stop):
            if columns.ahead and i + columns.ahead < stop:
                fl_prefetch_columns(&X.c, i + columns.ahead, &columns)
            if c[i] == 0:
                continue
            if X.is_float32:
                fl_add_squares_f32(fl_row_at_f32(&X.c, i), c[i], &out[0])
            else:
                fl_add_squares_f64(fl_row_at_f64(&X.c, i), c[i], &out[0])


def row_squares(Rows X, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out_i = |x_i|^2 for start <= i < stop"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            if X.is_float32:
                out[i] = fl_square_norm_f32(fl_row_at_f32(&X.c, i))
            else:
                out[i] = fl_square_norm_f64(fl_row_at_f64(&X.c, i))
