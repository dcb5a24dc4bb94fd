"""Products of rows with vectors in double, whatever the rows hold."""

from .c cimport (fl_add_squares_f32, fl_add_squares_f64, fl_row_at_f32, fl_row_at_f64,
                 fl_square_norm_f32, fl_square_norm_f64, fl_wide_axpy_f32, fl_wide_axpy_f64,
                 fl_wide_dot_f32, fl_wide_dot_f64)
from .rows cimport Rows


def responses(Rows X, const double[::1] w, double intercept, double[::1] out, Py_ssize_t start,
              Py_ssize_t stop):
    """out_i = x_i.w + intercept for start <= i < stop"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            if X.is_float32:
                out[i] = fl_wide_dot_f32(fl_row_at_f32(&X.c, i), &w[0]) + intercept
            else:
                out[i] = fl_wide_dot_f64(fl_row_at_f64(&X.c, i), &w[0]) + intercept


def add_rows(Rows X, const double[::1] c, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out += sum_i c_i x_i over start <= i < stop"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            if c[i] == 0:
                continue
            if X.is_float32:
                fl_wide_axpy_f32(fl_row_at_f32(&X.c, i), c[i], &out[0])
            else:
                fl_wide_axpy_f64(fl_row_at_f64(&X.c, i), c[i], &out[0])


def add_squares(Rows X, const double[::1] c, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out_j += sum_i c_i x_ij^2 over start <= i < stop"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
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
