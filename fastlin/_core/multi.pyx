"""The loop over rows that trains many models side by side. `fl_multi.h` states what a lane is.

Arrays per feature have d times as many numbers as there are lanes; `lanes` holds the numbers of
each lane as `fl_multi_lanes` does, one row per name of `FIELDS`.
"""

import numpy as np

from .c cimport (FL_PREFETCH, fl_loss_conjugate, fl_per_column, fl_per_column_plan_next,
                 fl_prefetch_columns, fl_prefetch_start, fl_row, fl_row_at_f32, int32_t, int64_t,
                 prefetch_row, real, row_at, uint32_t)
from .multi cimport (FL_GATHER_AHEAD, FL_GATHERED, FL_MAX_LANES, FL_N_ISAS, fl_certifying_kernels,
                     fl_certifying_kernels_of, fl_descent_kernels, fl_descent_kernels_of,
                     fl_dual_lanes, fl_dual_plan, fl_gather_four, fl_goes_past,
                     fl_gram_kernels_of, fl_isa_name, fl_isa_runs, fl_joint_kernels,
                     fl_joint_kernels_of, fl_logistic_kernels, fl_logistic_kernels_of,
                     fl_logs_kernel, fl_logs_of, fl_multi_kernels, fl_multi_kernels_of,
                     fl_multi_lanes, fl_multi_memory, fl_multi_plan, fl_prefetch_lanes, fl_put,
                     fl_put_end)
from .rows cimport Rows, row_in_double
from .sgd cimport START_AHEAD, kept_per_column, no_row

cdef enum:
    MAX_RUNS = 64

ctypedef void (*adding)(fl_row row, const double *by, void *w) noexcept nogil

MAX_LANES = FL_MAX_LANES
MOST_RUNS = MAX_RUNS
FIELDS = (
    "loss_parameter", "l1", "l2", "eta0", "alpha", "t0", "fit_intercept", "average_from", "scale",
    "intercept", "t", "sum_scale", "sum_intercept", "n_averaged", "l1_total", "sum_loss",
    "sum_weight", "product",
)
DUAL_FIELDS = ("bound", "nu", "offset", "sum", "centre_sum", "estimate", "value", "weight")
assert sizeof(fl_dual_lanes) == len(DUAL_FIELDS) * FL_MAX_LANES * sizeof(double)
assert sizeof(fl_multi_lanes) == len(FIELDS) * FL_MAX_LANES * sizeof(double)


def instruction_sets():
    """(name, number, whether it runs here) of each instruction set."""
    return [(fl_isa_name(isa).decode(), isa, bool(fl_isa_runs(isa))) for isa in range(FL_N_ISAS)]


cdef const fl_joint_kernels *joint_kernels_for(int isa, bint is_double) noexcept nogil:
    return fl_joint_kernels_of(isa, is_double)


cdef const fl_gram_kernels *gram_kernels_for(int isa) noexcept nogil:
    return fl_gram_kernels_of(isa)


cdef fl_logs_kernel *logs_for(int isa) noexcept nogil:
    return fl_logs_of(isa)


cdef const fl_logistic_kernels *logistic_kernels_for(int isa) noexcept nogil:
    return fl_logistic_kernels_of(isa)


cdef const fl_packed_kernels *packed_kernels_for(int isa, bint is_double) noexcept nogil:
    return fl_packed_kernels_of(isa, is_double)


cdef inline const fl_multi_kernels *kernels_for(int isa, int n_lanes,
                                                const real *v) noexcept nogil:
    return fl_multi_kernels_of(isa, real is double, n_lanes)


cdef inline fl_multi_memory memory_of(const real[::1] v, const real[::1] u, const real[::1] paid,
                                      int n_lanes) noexcept nogil:
    cdef fl_multi_memory memory
    memory.d = v.shape[0] // n_lanes
    memory.v = <void *>&v[0]
    memory.u = <void *>&u[0] if u.shape[0] else NULL
    memory.paid = <void *>&paid[0] if paid.shape[0] else NULL
    return memory


def run(int isa, int n_lanes, Rows X, const int64_t[::1] order, const int64_t[::1] fetch,
        const int32_t[::1] pattern, const double[:, ::1] pattern_weight,
        const double[:, ::1] pattern_target, const double[::1] sample_weight,
        const double[::1] target, fl_multi_plan plan, double[:, ::1] lanes, real[::1] v,
        real[::1] u, real[::1] paid):
    """Visit the rows in `order`: one step of each model that has a weight for the row.

    Row i gives lane m the weight pattern_weight[pattern[i], m] and the target
    pattern_target[pattern[i], m]; where they are not empty, sample_weight[i] multiplies the one and
    target[i] replaces the other. A pattern below 0 is of no model. `u` and `paid` may be empty.
    """
    cdef Py_ssize_t k, stop = order.shape[0]
    cdef int l
    cdef int64_t i
    cdef int32_t of
    cdef const double *weights
    cdef const double *targets
    cdef double own_weights[FL_MAX_LANES]
    cdef double own_targets[FL_MAX_LANES]
    cdef bint weighted = sample_weight.shape[0] > 0, regression = target.shape[0] > 0
    cdef fl_multi_memory memory = memory_of(v, u, paid, n_lanes)
    cdef const fl_multi_kernels *kernels = kernels_for(isa, n_lanes, &v[0])
    cdef fl_multi_lanes *numbers = <fl_multi_lanes *>&lanes[0, 0]
    cdef const real *weights_type = &v[0]
    cdef fl_row following
    cdef bint woven = memory.u == NULL and memory.paid == NULL
    cdef fl_per_column columns = kept_per_column(
        &X.c, n_lanes, weights_type, <const real *>memory.u, <const real *>memory.paid)
    fl_per_column_plan_next(&columns, &X.c)
    with nogil:
        for k in range(stop):
            if k + START_AHEAD < fetch.shape[0]:
                fl_prefetch_start(&X.c, fetch[k + START_AHEAD])
            if k < fetch.shape[0]:
                FL_PREFETCH(&pattern[fetch[k]])
                prefetch_row(&X.c, fetch[k], weights_type)
                if weighted:
                    FL_PREFETCH(&sample_weight[fetch[k]])
                if regression:
                    FL_PREFETCH(&target[fetch[k]])
            i = order[k]
            of = pattern[i]
            following = no_row(&X.c)
            if columns.ahead and k + columns.ahead < stop:
                if woven and of >= 0:
                    following = row_at(&X.c, order[k + columns.ahead], weights_type)
                else:
                    fl_prefetch_columns(&X.c, order[k + columns.ahead], &columns)
            if of < 0:
                continue
            weights, targets = &pattern_weight[of, 0], &pattern_target[of, 0]
            if weighted:
                for l in range(n_lanes):
                    own_weights[l] = weights[l] * sample_weight[i]
                weights = own_weights
            if regression:
                for l in range(n_lanes):
                    own_targets[l] = target[i]
                targets = own_targets
            kernels.step(&plan, numbers, row_at(&X.c, i, weights_type), weights, targets, &memory,
                         following)


def norms(int isa, int n_lanes, const double[:, ::1] lanes, const real[::1] v, const real[::1] u,
          const real[::1] paid, Py_ssize_t first, Py_ssize_t last, double[::1] sizes,
          double[::1] squares):
    """Add |w|_1 (only where something is paid) and |w|_2^2 of each lane's last weights over the
    features first..last-1."""
    cdef fl_multi_memory memory = memory_of(v, u, paid, n_lanes)
    with nogil:
        kernels_for(isa, n_lanes, &v[0]).norms(<const fl_multi_lanes *>&lanes[0, 0], &memory, first,
                                               last, &sizes[0], &squares[0])


def publish(int isa, int n_lanes, const double[:, ::1] lanes, const real[::1] v, const real[::1] u,
            const real[::1] paid, Py_ssize_t first, Py_ssize_t last, real[::1] out):
    """The weights that the user sees of the features first..last-1, averages where there are any;
    `out` may be `v`."""
    cdef fl_multi_memory memory = memory_of(v, u, paid, n_lanes)
    with nogil:
        kernels_for(isa, n_lanes, &v[0]).publish(<const fl_multi_lanes *>&lanes[0, 0], &memory,
                                                 first, last, &out[0])


ctypedef fused kept:
    float
    double


cdef void gather_into(const real *v, int n_lanes, const int64_t[::1] chosen, const double *by,
                      kept **to, const int32_t[::1] place, Py_ssize_t first, Py_ssize_t last,
                      double[::1] squares) noexcept nogil:
    """`gather` into vectors of one type."""
    cdef Py_ssize_t start, size, j, k, q, m, n = chosen.shape[0]
    cdef const real *line[4]
    cdef kept tile[FL_GATHERED * FL_MAX_LANES]
    cdef double square[FL_MAX_LANES]
    cdef bint placed = place.shape[0] > 0
    cdef bint past[FL_MAX_LANES]
    for m in range(n):
        past[m] = fl_goes_past(to[m] + first, (last - first) * n * <int64_t>sizeof(kept))
    for m in range(squares.shape[0]):
        square[m] = squares[m]
    start = first
    while start < last:
        size = min(<Py_ssize_t>FL_GATHERED, last - start)
        for k in range(0, size, 4):
            for q in range(min(<Py_ssize_t>4, size - k)):
                j = start + k + q
                if placed and j + FL_GATHER_AHEAD < last:
                    FL_PREFETCH(v + <int64_t>place[j + FL_GATHER_AHEAD] * n_lanes)
                line[q] = v + <int64_t>(place[j] if placed else j) * n_lanes
                for m in range(squares.shape[0]):
                    square[m] += <double>line[q][chosen[m]] * line[q][chosen[m]]
            if real is float and kept is float:
                if k + 4 <= size:
                    fl_gather_four(line, by, n_lanes, tile + k)
                    continue
            for q in range(min(<Py_ssize_t>4, size - k)):
                for m in range(n_lanes):
                    tile[m * FL_GATHERED + k + q] = <kept>(by[m] * line[q][m])
        for m in range(n):
            fl_put(to[m] + start, tile + chosen[m] * FL_GATHERED, size * <int64_t>sizeof(kept),
                   past[m])
        start += size
    fl_put_end()
    for m in range(squares.shape[0]):
        squares[m] = square[m]


def gather(const real[::1] v, int n_lanes, const int64_t[::1] chosen, list out,
           const int32_t[::1] place, Py_ssize_t first, Py_ssize_t last, double[::1] squares,
           const double[::1] scale):
    """out[m][j] = v[place[j], chosen[m]] for features first <= j < last, times scale[chosen[m]]
    unless that is empty; empty `place`: j. `out` is a list of vectors of one dtype. Unless it is
    empty, `squares` adds up the squares of each, unscaled."""
    cdef Py_ssize_t m, n = chosen.shape[0]
    cdef double by[FL_MAX_LANES]
    cdef float *singles[FL_MAX_LANES]
    cdef double *doubles[FL_MAX_LANES]
    cdef float[::1] single
    cdef double[::1] wide
    if n == 0 or first >= last:
        return
    for m in range(n_lanes):
        by[m] = scale[m] if scale.shape[0] > 0 else 1.0
    if out[0].dtype == np.float32:
        for m in range(n):
            single = out[m]
            singles[m] = &single[0]
        with nogil:
            gather_into(&v[0], n_lanes, chosen, by, singles, place, first, last, squares)
        return
    for m in range(n):
        wide = out[m]
        doubles[m] = &wide[0]
    with nogil:
        gather_into(&v[0], n_lanes, chosen, by, doubles, place, first, last, squares)


def compact(const real[::1] v, int n_lanes, const int64_t[::1] chosen, real[::1] out,
            int n_out, Py_ssize_t first, Py_ssize_t last):
    """out[j, m] = v[j, chosen[m]] for features first <= j < last, where `out` has n_out lanes. It
    may be the memory of v if these are no more, `chosen` rises and features come in order."""
    cdef Py_ssize_t j, m, n = chosen.shape[0]
    with nogil:
        for j in range(first, last):
            for m in range(n):
                out[j * n_out + m] = v[j * n_lanes + chosen[m]]


def scatter(const real[::1] w, real[::1] v, int n_lanes, int lane, const int32_t[::1] place,
            Py_ssize_t first, Py_ssize_t last):
    """v[place[j], lane] = w[j] for features first <= j < last; empty `place`: j."""
    cdef Py_ssize_t j
    cdef bint placed = place.shape[0] > 0
    with nogil:
        for j in range(first, last):
            v[<int64_t>(place[j] if placed else j) * n_lanes + lane] = w[j]


cdef struct asking:
    const int64_t *rows
    const int64_t *lanes
    double *out
    Py_ssize_t size, n_lanes, length, head


def respond(int isa, int n_lanes, Rows X, const int64_t[::1] rows, const real[::1] w,
            const double[::1] intercept, list runs, int64_t[::1] heads, Py_ssize_t start,
            Py_ssize_t stop):
    """w.x_i + b of the rows i = rows[k], start <= k < stop, for those who ask: a run (test, chosen,
    out, first) gets that of lane chosen[m] as out[m, first + h] where i = test[h]. It waits for
    i = test[h] at h = heads[of the run], which is moved on. Returns whether all are numbers."""
    cdef asking runs_of[MAX_RUNS]
    cdef Py_ssize_t k, m, r, n_runs = len(runs), first
    cdef const int64_t[::1] test, chosen
    cdef double[:, ::1] out
    cdef double z[FL_MAX_LANES]
    cdef double *to
    cdef int64_t i
    cdef asking *run
    cdef int undefined = 0
    cdef const fl_multi_kernels *kernels = kernels_for(isa, n_lanes, &w[0])
    cdef const real *weights = &w[0]
    cdef fl_per_column columns = kept_per_column(&X.c, n_lanes, weights, <const real *>NULL,
                                                 <const real *>NULL)
    fl_per_column_plan_next(&columns, &X.c)
    assert n_runs <= MAX_RUNS
    for r in range(n_runs):
        test, chosen, out, first = runs[r]
        runs_of[r].rows, runs_of[r].size, runs_of[r].head = &test[0], test.shape[0], heads[r]
        runs_of[r].lanes, runs_of[r].n_lanes = &chosen[0], chosen.shape[0]
        runs_of[r].out, runs_of[r].length = &out[0, first], out.shape[1]
    with nogil:
        for k in range(start, stop):
            if k + 2 * columns.ahead + 4 < stop:
                prefetch_row(&X.c, rows[k + 2 * columns.ahead + 4], weights)
            if columns.ahead and k + columns.ahead < stop:
                fl_prefetch_columns(&X.c, rows[k + columns.ahead], &columns)
            i = rows[k]
            kernels.respond(row_at(&X.c, i, weights), weights, z)
            for r in range(n_runs):
                run = &runs_of[r]
                if run.head == run.size or run.rows[run.head] != i:
                    continue
                to = run.out + run.head
                for m in range(run.n_lanes):
                    to[m * run.length] = intercept[run.lanes[m]] + z[run.lanes[m]]
                    undefined |= to[m * run.length] != to[m * run.length]
                run.head += 1
    for r in range(n_runs):
        heads[r] = runs_of[r].head
    return not undefined


cdef inline bint is_sampled(int64_t i) noexcept nogil:
    """One row in 16 tells how large losses are; scattered, since folds may go by row numbers."""
    return (<uint32_t>i * <uint32_t>2654435769) >> 28 == 0


def run_dual(int isa, int n_lanes, Rows X, const int64_t[::1] order, const int64_t[::1] fetch,
             const int32_t[::1] pattern, const double[:, ::1] pattern_weight,
             const double[:, ::1] pattern_target, const double[::1] sample_weight,
             fl_dual_plan plan, double[:, ::1] lanes, const double[::1] q, const double[::1] k,
             float[:, ::1] state, float[::1] u):
    """Visit the rows in `order`: one step of dual coordinate descent of each model that has a
    weight for the row. Patterns are those of `run`; q and k are |x - c|^2 and x.c of each row,
    state[i] what is kept of its dual variables."""
    cdef Py_ssize_t n, stop = order.shape[0]
    cdef int l
    cdef int64_t i
    cdef int32_t of
    cdef const double *weights
    cdef double own_weights[FL_MAX_LANES]
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef const fl_descent_kernels *kernels = fl_descent_kernels_of(isa, n_lanes)
    cdef fl_dual_lanes *numbers = <fl_dual_lanes *>&lanes[0, 0]
    cdef const float *weights_type = &u[0]
    cdef fl_per_column columns = kept_per_column(&X.c, n_lanes, weights_type, <const float *>NULL,
                                                 <const float *>NULL)
    fl_per_column_plan_next(&columns, &X.c)
    with nogil:
        for n in range(stop):
            if n + START_AHEAD < fetch.shape[0]:
                fl_prefetch_start(&X.c, fetch[n + START_AHEAD])
            if n < fetch.shape[0]:
                i = fetch[n]
                FL_PREFETCH(&pattern[i])
                FL_PREFETCH(&q[i])
                FL_PREFETCH(&k[i])
                FL_PREFETCH(&state[i, 0])
                FL_PREFETCH(&state[i, n_lanes - 1])
                prefetch_row(&X.c, i, weights_type)
                if weighted:
                    FL_PREFETCH(&sample_weight[i])
            if columns.ahead and n + columns.ahead < stop:
                fl_prefetch_lanes(&X.c, order[n + columns.ahead], &u[0], n_lanes * sizeof(float))
            i = order[n]
            of = pattern[i]
            if of < 0:
                continue
            weights = &pattern_weight[of, 0]
            if weighted:
                for l in range(n_lanes):
                    own_weights[l] = weights[l] * sample_weight[i]
                weights = own_weights
            kernels.dual_step(&plan, numbers, row_at(&X.c, i, weights_type), q[i], k[i], weights,
                              &pattern_target[of, 0], is_sampled(i), &state[i, 0], &u[0])


cdef inline fl_row row_for(Rows X, int64_t i, const real *w, double[::1] room) noexcept nogil:
    """Row i with values of the type of w; those of float rows are widened into `room`."""
    if real is float:
        return fl_row_at_f32(&X.c, i)
    else:
        return row_in_double(X, i, room)


def add_rows(int isa, int n_lanes, Rows X, const double[:, ::1] by, real[::1] w,
             double[::1] room, Py_ssize_t start, Py_ssize_t stop):
    """w[:, l] += by[i, l] x_i for start <= i < stop. `room` has space for the longest row, and is
    used where w is wider than X."""
    cdef Py_ssize_t i
    cdef fl_per_column columns = kept_per_column(&X.c, n_lanes, <const real *>&w[0],
                                                 <const real *>NULL, <const real *>NULL)
    cdef adding add
    if real is float:
        add = fl_descent_kernels_of(isa, n_lanes).add
    else:
        add = fl_certifying_kernels_of(isa, n_lanes).add
    fl_per_column_plan_next(&columns, &X.c)
    with nogil:
        for i in range(start, stop):
            if columns.ahead and i + columns.ahead < stop:
                fl_prefetch_lanes(&X.c, i + columns.ahead, &w[0], n_lanes * sizeof(real))
            add(row_for(X, i, <const real *>&w[0], room), &by[i, 0], &w[0])


def respond_rows(int isa, int n_lanes, Rows X, const double[::1] w, double[:, ::1] out,
                 double[::1] room, Py_ssize_t start, Py_ssize_t stop):
    """out[i, l] = w[:, l].x_i for start <= i < stop; `room` as in `add_rows`."""
    cdef Py_ssize_t i, l
    cdef double z[FL_MAX_LANES]
    cdef const fl_certifying_kernels *kernels = fl_certifying_kernels_of(isa, n_lanes)
    cdef const double *weights = &w[0]
    cdef fl_per_column columns = kept_per_column(&X.c, n_lanes, weights, <const double *>NULL,
                                                 <const double *>NULL)
    fl_per_column_plan_next(&columns, &X.c)
    with nogil:
        for i in range(start, stop):
            if columns.ahead and i + columns.ahead < stop:
                fl_prefetch_lanes(&X.c, i + columns.ahead, weights, n_lanes * sizeof(double))
            kernels.respond(row_for(X, i, weights, room), weights, z)
            for l in range(n_lanes):
                out[i, l] = z[l]


cdef inline double weight_of(int64_t i, int lane, const int32_t[::1] pattern,
                             const double[:, ::1] pattern_weight,
                             const double[::1] sample_weight) noexcept nogil:
    """The weight of row i in a lane."""
    cdef double s = pattern_weight[pattern[i], lane]
    return s * sample_weight[i] if sample_weight.shape[0] > 0 else s


def side_masses(const float[::1] a, int lane, const int32_t[::1] pattern,
                const double[:, ::1] pattern_weight, const double[:, ::1] pattern_target,
                const double[::1] sample_weight):
    """The sums of s a over the rows with targets above 0, and over those below."""
    cdef Py_ssize_t i
    cdef double up = 0, down = 0, mass
    with nogil:
        for i in range(a.shape[0]):
            mass = weight_of(i, lane, pattern, pattern_weight, sample_weight) * a[i]
            if pattern_target[pattern[i], lane] > 0:
                up += mass
            else:
                down += mass
    return up, down


def dual_sides(int loss, list a, const int32_t[::1] pattern, const double[:, ::1] pattern_weight,
               const double[:, ::1] pattern_target, const double[::1] sample_weight,
               const double[::1] up, const double[::1] down, const double[::1] strength,
               double[::1] sums, double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """Sets out[i, l] to strength s a y for start <= i < stop, where a, of the vector a[l], counts
    up[l] times for targets above 0, else down[l] times; adds s times the conjugate at -a to
    sums[l]."""
    cdef Py_ssize_t i, l, n = len(a)
    cdef double s, y, dual
    cdef const float *of_lane[FL_MAX_LANES]
    cdef const float[::1] one
    for l in range(n):
        one = a[l]
        of_lane[l] = &one[0]
    with nogil:
        for i in range(start, stop):
            for l in range(n):
                s = weight_of(i, l, pattern, pattern_weight, sample_weight)
                y = pattern_target[pattern[i], l]
                dual = (up[l] if y > 0 else down[l]) * of_lane[l][i] * y
                out[i, l] = s * dual * strength[l]
                if s > 0:
                    sums[l] += s * fl_loss_conjugate(loss, dual, y, 1.0)


def sum_losses(int isa, int n_lanes, int loss, const double[:, ::1] z, const double[::1] b,
               const int32_t[::1] pattern, const double[:, ::1] pattern_weight,
               const double[:, ::1] pattern_target, const double[::1] sample_weight,
               double[:, ::1] sums, double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """Adds the weighted losses at responses z + b to sums[0] + log(sums[1]), their slopes to
    sums[2], their curvatures to sums[3] and their slopes times responses to sums[4], for rows
    start <= i < stop. Unless it is empty, out[i] gets the weighted slopes; it may be z."""
    cdef Py_ssize_t i, l
    cdef double p[FL_MAX_LANES]
    cdef double s[FL_MAX_LANES]
    cdef double slopes[FL_MAX_LANES]
    cdef const fl_certifying_kernels *kernels = fl_certifying_kernels_of(isa, n_lanes)
    cdef bint weighted = sample_weight.shape[0] > 0, kept = out.shape[0] > 0
    with nogil:
        for i in range(start, stop):
            if pattern[i] < 0:
                if kept:
                    for l in range(n_lanes):
                        out[i, l] = 0
                continue
            for l in range(n_lanes):
                p[l] = z[i, l] + b[l]
                s[l] = pattern_weight[pattern[i], l] * (sample_weight[i] if weighted else 1.0)
            kernels.sums(loss, p, s, &pattern_target[pattern[i], 0], &sums[0, 0],
                         &out[i, 0] if kept else slopes)
