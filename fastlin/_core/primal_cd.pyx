"""Coordinate descent over columns on the quadratic model of `fl_primal.h`."""

from .c cimport (fl_loss, fl_loss_curvature, fl_primal, fl_primal_moments_f32,
                 fl_primal_moments_f64, fl_primal_step_f32, fl_primal_step_f64, fl_row_at_f32,
                 fl_row_at_f64, fl_wide_axpy_f32, fl_wide_axpy_f64, fl_wide_dot_f32,
                 fl_wide_dot_f64, int64_t)
from .rows cimport Rows


cdef fl_primal _model(const double[::1] h, double total, double each, bint free) noexcept nogil:
    cdef fl_primal q
    q.free, q.total, q.each = free, total, each
    q.h = &h[0] if h.shape[0] else NULL
    q.l1 = q.l2 = q.sum = q.decrease = 0
    q.positive = 0
    q.r = NULL
    return q


def moments(Rows columns, const int64_t[::1] chosen, const double[::1] h, double total,
            double each, bint free, double[::1] mean, double[::1] curvature, Py_ssize_t start,
            Py_ssize_t stop):
    """c_j and H_j of the columns j = chosen[start:stop], at their places j."""
    cdef Py_ssize_t k, j, n = columns.c.d
    cdef fl_primal q = _model(h, total, each, free)
    with nogil:
        for k in range(start, stop):
            j = chosen[k]
            if columns.is_float32:
                fl_primal_moments_f32(&q, fl_row_at_f32(&columns.c, j), n, &mean[j], &curvature[j])
            else:
                fl_primal_moments_f64(&q, fl_row_at_f64(&columns.c, j), n, &mean[j], &curvature[j])


def descend(Rows columns, const int64_t[::1] chosen, double l1, double l2, bint positive,
            bint free, const double[::1] h, double total, double each, const double[::1] mean,
            const double[::1] curvature, double[::1] w, double[::1] r, double r_sum,
            Py_ssize_t start, Py_ssize_t stop, Py_ssize_t epochs, double enough):
    """Step along the weights chosen[start:stop] in turn, `epochs` times, or until a turn lowers the
    objective by no more than `enough`: (turns taken, decrease of the last one, sum of r)."""
    cdef Py_ssize_t k, j, epoch = 0
    cdef fl_primal q = _model(h, total, each, free)
    q.l1, q.l2, q.positive, q.sum = l1, l2, positive, r_sum
    q.r = &r[0]
    with nogil:
        while epoch < epochs:
            q.decrease = 0
            for k in range(start, stop):
                j = chosen[k]
                if columns.is_float32:
                    fl_primal_step_f32(&q, fl_row_at_f32(&columns.c, j), mean[j], curvature[j],
                                       &w[j])
                else:
                    fl_primal_step_f64(&q, fl_row_at_f64(&columns.c, j), mean[j], curvature[j],
                                       &w[j])
            epoch += 1
            if q.decrease <= enough:
                break
    return epoch, q.decrease, q.sum


def add_columns(Rows columns, const int64_t[::1] chosen, const double[::1] w, double[::1] out,
                Py_ssize_t start, Py_ssize_t stop):
    """out += sum_j w_j x_j over the columns j = chosen[start:stop]"""
    cdef Py_ssize_t k, j
    with nogil:
        for k in range(start, stop):
            j = chosen[k]
            if w[j] == 0:
                continue
            if columns.is_float32:
                fl_wide_axpy_f32(fl_row_at_f32(&columns.c, j), w[j], &out[0])
            else:
                fl_wide_axpy_f64(fl_row_at_f64(&columns.c, j), w[j], &out[0])


def expand(int loss, double parameter, const double[::1] z, const double[::1] y,
           const double[::1] weight, double share, double least, double[::1] r, double[::1] h):
    """The mean loss at responses z; r and h become s_i `share` times minus the slope and times the
    curvature, which is at least `least` times the slope's size. Empty weights: all 1."""
    cdef Py_ssize_t i
    cdef double slope, s, total = 0
    cdef bint weighted = weight.shape[0] > 0
    with nogil:
        for i in range(z.shape[0]):
            s = share * weight[i] if weighted else share
            total += s * fl_loss(loss, z[i], y[i], parameter, &slope)
            r[i] = -s * slope
            h[i] = s * max(fl_loss_curvature(loss, z[i], y[i], parameter), least * abs(slope))
    return total


def slopes(Rows columns, const int64_t[::1] chosen, const double[::1] r, double[::1] out,
           Py_ssize_t start, Py_ssize_t stop):
    """out_k = x_j.r of the columns j = chosen[k], start <= k < stop"""
    cdef Py_ssize_t k
    with nogil:
        for k in range(start, stop):
            if columns.is_float32:
                out[k] = fl_wide_dot_f32(fl_row_at_f32(&columns.c, chosen[k]), &r[0])
            else:
                out[k] = fl_wide_dot_f64(fl_row_at_f64(&columns.c, chosen[k]), &r[0])
