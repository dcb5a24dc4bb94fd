"""Coordinate descent over columns for K outputs, on the quadratic model of `fl_joint_primal.h`.

The weights that take part stand one after another, those of class k at first[k] to first[k + 1];
the one at m is that of column chosen[m]."""

from .c cimport (fl_primal_target, fl_row_at_f32, fl_row_at_f64, fl_wide_axpy_f32,
                 fl_wide_axpy_f64, fl_wide_dot_f32, fl_wide_dot_f64, int64_t)
from .rows cimport Rows


def gather(Rows columns, const int64_t[::1] chosen, const int64_t[::1] first,
           const double[:, ::1] r, double[::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out[m] = x_j.r[k], for the weights of the classes start to stop - 1"""
    cdef Py_ssize_t k, a
    with nogil:
        for k in range(start, stop):
            for a in range(first[k], first[k + 1]):
                if columns.is_float32:
                    out[a] = fl_wide_dot_f32(fl_row_at_f32(&columns.c, chosen[a]), &r[k, 0])
                else:
                    out[a] = fl_wide_dot_f64(fl_row_at_f64(&columns.c, chosen[a]), &r[k, 0])


def spread(Rows columns, const int64_t[::1] chosen, const int64_t[::1] first,
           const double[::1] w, double[:, ::1] t, Py_ssize_t start, Py_ssize_t stop):
    """t[k] += w[m] x_j"""
    cdef Py_ssize_t k, a
    with nogil:
        for k in range(start, stop):
            for a in range(first[k], first[k + 1]):
                if w[a] == 0:
                    continue
                if columns.is_float32:
                    fl_wide_axpy_f32(fl_row_at_f32(&columns.c, chosen[a]), w[a], &t[k, 0])
                else:
                    fl_wide_axpy_f64(fl_row_at_f64(&columns.c, chosen[a]), w[a], &t[k, 0])


def bends(Rows columns, const int64_t[::1] chosen, const int64_t[::1] first,
          const double[:, ::1] g, const double[:, ::1] h, const double[::1] e, double[::1] bend,
          double[::1] size, Py_ssize_t start, Py_ssize_t stop):
    """The curvatures of the model, and the sums of the squares of a column that |g[k]| weighs."""
    cdef Py_ssize_t k, a
    cdef fl_joint_model q
    q.e, q.t, q.m = &e[0], NULL, NULL
    with nogil:
        for k in range(start, stop):
            q.h, q.g = &h[k, 0], &g[k, 0]
            for a in range(first[k], first[k + 1]):
                if columns.is_float32:
                    bend[a] = fl_joint_model_bend_f32(&q, fl_row_at_f32(&columns.c, chosen[a]),
                                                      &size[a])
                else:
                    bend[a] = fl_joint_model_bend_f64(&q, fl_row_at_f64(&columns.c, chosen[a]),
                                                      &size[a])


def descend(Rows columns, const int64_t[::1] chosen, const int64_t[::1] first, double l1, double l2,
            const double[:, ::1] h, const double[::1] e, const double[::1] g,
            const double[::1] bend, const double[::1] damping, const double[::1] begun,
            double[::1] w, double[:, ::1] t, double[::1] m, Py_ssize_t start, Py_ssize_t stop):
    """Step along the weights of the classes start to stop - 1 in turn; returns by how much that
    lowers the model, at least. `begun`: the weights where g is the slope of the loss; `damping` is
    added to the curvature of the model there."""
    cdef Py_ssize_t k, a
    cdef double slope, step, curvature, fall = 0
    cdef fl_joint_model q
    q.e, q.m, q.g = &e[0], &m[0], NULL
    with nogil:
        for k in range(start, stop):
            q.h, q.t = &h[k, 0], &t[k, 0]
            for a in range(first[k], first[k + 1]):
                curvature = bend[a] + damping[a] + l2
                if not curvature > 0:
                    continue
                slope = g[a] + damping[a] * (w[a] - begun[a]) + l2 * w[a]
                if columns.is_float32:
                    slope += fl_joint_model_slope_f32(&q, fl_row_at_f32(&columns.c, chosen[a]))
                else:
                    slope += fl_joint_model_slope_f64(&q, fl_row_at_f64(&columns.c, chosen[a]))
                step = fl_primal_target(w[a], slope, curvature, l1, 0) - w[a]
                if step == 0:
                    continue
                w[a] += step
                if columns.is_float32:
                    fl_joint_model_move_f32(&q, fl_row_at_f32(&columns.c, chosen[a]), step)
                else:
                    fl_joint_model_move_f64(&q, fl_row_at_f64(&columns.c, chosen[a]), step)
                fall += 0.5 * curvature * step * step
    return fall


def settle(const double[:, ::1] h, const double[::1] e, const double[::1] g, const double[::1] bend,
           double[::1] b, double[:, ::1] t, double[::1] m, Py_ssize_t start, Py_ssize_t stop):
    """As `descend`, along the intercepts."""
    cdef Py_ssize_t k, i, n = t.shape[1]
    cdef double slope, step, fall = 0
    with nogil:
        for k in range(start, stop):
            if not bend[k] > 0:
                continue
            slope = g[k]
            for i in range(n):
                slope += h[k, i] * (t[k, i] - m[i])
            step = -slope / bend[k]
            b[k] += step
            for i in range(n):
                t[k, i] += step
                m[i] += step * e[i] * h[k, i]
            fall += 0.5 * bend[k] * step * step
    return fall
