"""The loop of dual coordinate ascent over rows for K outputs at once. `fl_joint_dual.h` states the
problem, the step and the symbols; weights and targets stand as in `joint_blocks`."""

from libc.stdint cimport uint8_t

from .c cimport (FL_PREFETCH, fl_per_column, fl_prefetch_columns, fl_prefetch_start, int32_t,
                 int64_t, prefetch_row, real, row_at)
from .joint_blocks cimport groups_per_column
from .multi cimport (FL_JOINT_ROOM, fl_joint_dual_rule, fl_joint_dual_sums, fl_joint_kernels,
                     fl_joint_visit, fl_joint_width, joint_kernels_for)
from .rows cimport Rows
from .sgd cimport START_AHEAD

# Numbers of room per output
ROOM = FL_JOINT_ROOM


def visit(int isa, Rows X, const int64_t[::1] first, const int32_t[::1] classes,
          const double[::1] shares, const double[::1] weight, const double[::1] h,
          const double[::1] k, const int64_t[::1] order, const int64_t[::1] fetch,
          fl_joint_dual_rule rule, fl_joint_dual_sums sums, real[:, ::1] state,
          const double[::1] B, double[::1] s, double[::1] U, real[::1] W, uint8_t[::1] resting,
          double[::1] room):
    """Move the dual variables of the rows in `order`; returns the new sums.

    `weight` and `k` may be empty: no weights, no intercept. W is single only if X is. `resting`
    marks rows that are held at a corner by more than `rule.slack`.
    """
    cdef Py_ssize_t r, stop = order.shape[0]
    cdef int64_t i
    cdef bint weighted = weight.shape[0] > 0
    cdef fl_joint_visit visit
    cdef const fl_joint_kernels *kernels = joint_kernels_for(isa, real is double)
    cdef real *weights = &W[0]
    cdef fl_per_column columns = groups_per_column(&X.c, fl_joint_width(rule.K),
                                                   <const real *>weights)
    visit.C, visit.k = rule.mass, 0
    with nogil:
        for r in range(stop):
            if r + START_AHEAD < fetch.shape[0]:
                fl_prefetch_start(&X.c, fetch[r + START_AHEAD])
            if r < fetch.shape[0]:
                prefetch_row(&X.c, fetch[r], <const real *>weights)
                FL_PREFETCH(&state[fetch[r], 0])
            if columns.ahead and r + columns.ahead < stop:
                fl_prefetch_columns(&X.c, order[r + columns.ahead], &columns)
            i = order[r]
            visit.h = h[i]
            if rule.fit_intercept:
                visit.k = k[i]
            if weighted:
                visit.C = rule.mass * weight[i]
            visit.sampled = r % rule.stride == 0
            visit.classes, visit.shares = &classes[first[i]], &shares[first[i]]
            visit.n_classes = first[i + 1] - first[i]
            resting[i] = kernels.dual_step(
                &rule, &visit, row_at(&X.c, i, <const real *>weights), &state[i, 0], &B[0], &s[0],
                &U[0], weights, &room[0], &sums)
    return sums
