"""Responses, losses and sums of rows for the K outputs of one model, block by block.

Weights stand as `fl_joint_dual.h` says: W[group][feature][output] in groups of 16 outputs, the last
of 4, 8 or 16. Targets are lists: the classes of row i are classes[first[i]:first[i + 1]], with
shares that sum to 1.
"""

from .c cimport (fl_joint_max, fl_joint_offset, fl_per_column, fl_per_column_add,
                 fl_per_column_none, fl_per_column_plan, fl_per_column_plan_next,
                 fl_prefetch_columns, fl_rows, int32_t, int64_t, real)
from .multi cimport fl_joint_kernels, fl_joint_width, joint_kernels_for
from .rows cimport Rows, row_in_double

# Outputs whose weights are fetched before their turn
cdef enum:
    MOST_FETCHED = 96


def width(int64_t K):
    """K rounded up to a number of outputs that there are kernels for."""
    return fl_joint_width(K)


cdef fl_per_column groups_per_column(const fl_rows *X, int64_t K_wide,
                                     const real *W) noexcept nogil:
    """What is kept per column, for `fl_prefetch_columns`."""
    cdef fl_per_column columns = fl_per_column_none()
    cdef int64_t k = 0, size
    while k < K_wide and k < MOST_FETCHED:
        size = min(16, K_wide - k)
        fl_per_column_add(&columns, W + k * X.d, size * sizeof(real))
        k += size
    fl_per_column_plan(&columns, X)
    fl_per_column_plan_next(&columns, X)
    return columns


def respond(int isa, Rows X, const double[::1] W, const int64_t[::1] rows, double[:, ::1] z,
            double[::1] room):
    """z[r] = W x_i for i = rows[r], for all outputs up to the width. `room` has space for the
    longest row."""
    cdef Py_ssize_t r, n = rows.shape[0]
    cdef int64_t wide = z.shape[1]
    cdef const fl_joint_kernels *kernels = joint_kernels_for(isa, True)
    cdef const double *weights = &W[0]
    cdef fl_per_column columns = groups_per_column(&X.c, wide, weights)
    with nogil:
        for r in range(n):
            if columns.ahead and r + columns.ahead < n:
                fl_prefetch_columns(&X.c, rows[r + columns.ahead], &columns)
            kernels.respond(row_in_double(X, rows[r], room), weights, X.c.d, wide, &z[r, 0])


def add(int isa, Rows X, const double[:, ::1] by, const int64_t[::1] rows, double[::1] W,
        double[::1] room):
    """W += sum_r by[r] x_i^T, i = rows[r]; `room` as in `respond`."""
    cdef Py_ssize_t r, n = rows.shape[0]
    cdef int64_t wide = by.shape[1]
    cdef const fl_joint_kernels *kernels = joint_kernels_for(isa, True)
    cdef fl_per_column columns = groups_per_column(&X.c, wide, <const double *>&W[0])
    with nogil:
        for r in range(n):
            if columns.ahead and r + columns.ahead < n:
                fl_prefetch_columns(&X.c, rows[r + columns.ahead], &columns)
            kernels.add(row_in_double(X, rows[r], room), &by[r, 0], X.c.d, wide, &W[0])


def losses(int loss, const double[:, ::1] z, int64_t K, const int64_t[::1] rows,
           const int64_t[::1] first, const int32_t[::1] classes, const double[::1] shares,
           double[::1] value, double[:, ::1] p):
    """value[r] = the loss of row rows[r] at responses z[r], p[r] = where its maximum is: p - q is
    the gradient."""
    cdef Py_ssize_t r, k
    cdef int64_t i, y
    cdef double square, lost, loss_of
    with nogil:
        for r in range(rows.shape[0]):
            i = rows[r]
            y = classes[first[i]]
            loss_of = fl_joint_max(loss, &z[r, 0], K, y, &p[r, 0])
            square = lost = 0
            for k in range(first[i], first[i + 1]):
                square += shares[k] * shares[k]
                lost += shares[k] * (z[r, classes[k]] - z[r, y])
            value[r] = loss_of - lost + fl_joint_offset(loss, square)
            if value[r] < 0:  # a rounding
                value[r] = 0
