"""Passes of second-order solvers over the rows, in double whatever the rows hold."""

from libc.math cimport fabs

from .blocks cimport add_multiples, planned, respond_to_rows
from .c cimport (fl_add_moments_f32, fl_add_moments_f64, fl_add_outer_f32, fl_add_outer_f64,
                 fl_loss, fl_loss_curvature, fl_per_column, fl_per_column_add, fl_per_column_none,
                 fl_per_column_plan, fl_prefetch_columns, fl_row_at_f32, fl_row_at_f64,
                 fl_row_start)
from .rows cimport Rows


cdef enum:
    # Entries of rows that stay in the second-level cache from one sweep over them to the next
    BLOCK = 1 << 13


def hessian_product(Rows X, const double[::1] v, double shift, const double[::1] h,
                    double[::1] z, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """z_i = x_i.v - shift and out += sum_i h_i z_i x_i over start <= i < stop

    Either sum of a row right after the other would have v and out contend for the cache, and the
    second wait for the end of the first.
    """
    cdef Py_ssize_t last
    cdef fl_per_column read = planned(X, &v[0]), written = planned(X, &out[0])
    with nogil:
        while start < stop:
            last = start + 1
            while last < stop and (fl_row_start(&X.c, last + 1) - fl_row_start(&X.c, start)
                                   <= BLOCK):
                last += 1
            respond_to_rows(X, &v[0], -shift, &z[0], start, last, &read)
            add_multiples(X, &z[0], &h[0], &out[0], start, last, &written)
            start = last


def add_moments(Rows X, const double[::1] s, const double[::1] h, double[::1] out,
                Py_ssize_t start, Py_ssize_t stop):
    """out += (sum_i s_i x_i, sum_i h_i x_i, sum_i h_i x_i^2) over start <= i < stop, one after the
    other for dense rows, column by column for others"""
    cdef Py_ssize_t i
    cdef fl_per_column columns = fl_per_column_none()
    fl_per_column_add(&columns, &out[0], 3 * sizeof(double))
    fl_per_column_plan(&columns, &X.c)
    with nogil:
        for i in range(start, stop):
            if columns.ahead and i + columns.ahead < stop:
                fl_prefetch_columns(&X.c, i + columns.ahead, &columns)
            if s[i] == 0 and h[i] == 0:
                continue
            if X.is_float32:
                fl_add_moments_f32(fl_row_at_f32(&X.c, i), s[i], h[i], &out[0])
            else:
                fl_add_moments_f64(fl_row_at_f64(&X.c, i), s[i], h[i], &out[0])


def add_outer(Rows X, const double[::1] h, double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out += sum_i h_i x_i x_i^T over start <= i < stop, each pair of columns in one place"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            if h[i] == 0:
                continue
            if X.is_float32:
                fl_add_outer_f32(fl_row_at_f32(&X.c, i), h[i], X.c.d, &out[0, 0])
            else:
                fl_add_outer_f64(fl_row_at_f64(&X.c, i), h[i], X.c.d, &out[0, 0])


# Trials of a search: halvings of a bracket end in 60
cdef enum:
    MOST_TRIALS = 100


def search(int loss, double parameter, const double[::1] z, const double[::1] along,
           const double[::1] y, const double[::1] share, double linear, double square):
    """The t > 0 that minimises sum_i share_i loss(z_i + t along_i) + t linear + t^2 square / 2, a
    convex function that falls at 0: Newton's method in a bracket. Exactly 1 where that is as good
    as rounding allows."""
    cdef Py_ssize_t i
    cdef int k
    cdef double t = 1.0, new, low = 0, high = -1, slope, bend, size, s, term
    with nogil:
        for k in range(MOST_TRIALS):
            slope = linear + t * square
            bend, size = square, fabs(linear) + fabs(t * square)
            for i in range(z.shape[0]):
                fl_loss(loss, z[i] + t * along[i], y[i], parameter, &s)
                if s == 0:
                    continue
                term = share[i] * s * along[i]
                slope += term
                size += fabs(term)
                bend += share[i] * along[i] * along[i] * fl_loss_curvature(
                    loss, z[i] + t * along[i], y[i], parameter)
            if fabs(slope) <= 1e-14 * size:
                break
            if slope > 0:
                high = t
            else:
                low = t
            new = t - slope / bend if bend > 0 else low
            if not (low < new and (high < 0 or new < high)):
                new = 0.5 * (low + high) if high > 0 else 2 * t
            if fabs(new - t) <= 1e-15 * t:
                break
            t = new
    return t
