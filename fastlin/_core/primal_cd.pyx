"""Coordinate descent over columns on the quadratic model of `fl_primal.h`."""

from libc.math cimport copysign, fabs, sqrt
from libc.string cimport memmove

from .c cimport (FL_LOSS_LOG, fl_entry_column, fl_entry_f32, fl_entry_f64, fl_loss,
                 fl_loss_curvature, fl_primal, fl_primal_float_step_f32, fl_primal_float_step_f64,
                 fl_primal_moments_f32, fl_primal_moments_f64, fl_primal_step_f32,
                 fl_primal_step_f64, fl_primal_target, fl_row, fl_row_at_f32, fl_row_at_f64,
                 fl_wide_axpy_f32, fl_wide_axpy_f64, fl_wide_dot_f32, fl_wide_dot_f64, int32_t,
                 int64_t)
from .multi cimport logistic_kernels_for
from .rows cimport Rows
from .vectors cimport add, dot


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


def descend_floats(Rows columns, const int64_t[::1] chosen, double l1, double l2, double[::1] w,
                   float[:, ::1] rows, double[::1] seen, Py_ssize_t start, Py_ssize_t stop):
    """Step along the weights chosen[start:stop] in turn, given r and h of each row side by side in
    single precision, without an intercept; x_j.r before the step is left in seen[j]."""
    cdef Py_ssize_t k, j
    with nogil:
        for k in range(start, stop):
            j = chosen[k]
            if columns.is_float32:
                fl_primal_float_step_f32(fl_row_at_f32(&columns.c, j), l1, l2, &w[j], &rows[0, 0],
                                         &seen[j])
            else:
                fl_primal_float_step_f64(fl_row_at_f64(&columns.c, j), l1, l2, &w[j], &rows[0, 0],
                                         &seen[j])


def pull_of_floats(const float[:, ::1] rows, const double[::1] along):
    """r.along of what `descend_floats` goes by"""
    cdef Py_ssize_t i, l, n = rows.shape[0]
    cdef double sums[4]
    sums[0] = sums[1] = sums[2] = sums[3] = 0
    with nogil:
        for i in range(0, n - 3, 4):
            for l in range(4):
                sums[l] += rows[i + l, 0] * along[i + l]
        for i in range(n - n % 4, n):
            sums[0] += rows[i, 0] * along[i]
    return (sums[0] + sums[2]) + (sums[1] + sums[3])


def shift_floats(float[:, ::1] rows, const double[::1] along, double t):
    """r -= t h along"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.shape[0]):
            rows[i, 0] -= <float>(t * along[i]) * rows[i, 1]


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


def expand(int isa, int loss, double parameter, const double[::1] z, const double[::1] y,
           const double[::1] weight, double share, double least, double[::1] r, double[::1] h):
    """The mean loss at responses z; r and h become s_i `share` times minus the slope and times the
    curvature, which is at least `least` times the slope's size. Empty weights: all 1."""
    cdef Py_ssize_t i, n = z.shape[0]
    cdef double slope, s, total = 0
    cdef bint weighted = weight.shape[0] > 0
    if loss == FL_LOSS_LOG and n:
        with nogil:
            total = logistic_kernels_for(isa).expand(
                &z[0], &y[0], &weight[0] if weighted else NULL, share, least, &r[0], &h[0], n)
        return total
    with nogil:
        for i in range(n):
            s = share * weight[i] if weighted else share
            total += s * fl_loss(loss, z[i], y[i], parameter, &slope)
            r[i] = -s * slope
            h[i] = s * max(fl_loss_curvature(loss, z[i], y[i], parameter), least * fabs(slope))
    return total


def log_loss_conjugate(int isa, const double[::1] dual, const double[::1] y,
                       const double[::1] weight, double c):
    """Sum of the conjugates of the logistic loss at minus c times dual variables that are in its
    domain, weighted where `weight` is not empty."""
    cdef Py_ssize_t n = dual.shape[0]
    cdef double total = 0
    if n:
        with nogil:
            total = logistic_kernels_for(isa).conjugate(
                &dual[0], &y[0], &weight[0] if weight.shape[0] else NULL, c, n)
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


def gram(Rows X, const int32_t[::1] slot, const double[::1] h, double each, Py_ssize_t first,
         double[:, ::1] G, int32_t[::1] places, double[::1] values, const int64_t[::1] some,
         Py_ssize_t start, Py_ssize_t stop):
    """G[a, b] += sum_i h_i x_ia x_ib over the rows i = some[start:stop], for columns with slots
    a >= first and b < first, and either at [a, b] or at [b, a] for pairs of slots >= first; slot
    -1: not wanted. `places` and `values` have room for a row's entries."""
    cdef Py_ssize_t i, k, a, b, n_new, n_old, size, at
    cdef int32_t s
    cdef double weight, x
    cdef fl_row row
    cdef double *line
    with nogil:
        for at in range(start, stop):
            i = some[at]
            weight = h[i] if h.shape[0] else each
            row = fl_row_at_f32(&X.c, i) if X.is_float32 else fl_row_at_f64(&X.c, i)
            size = row.size
            n_new, n_old = 0, 0
            for k in range(size):
                s = slot[fl_entry_column(row, k)]
                if s < 0:
                    continue
                x = fl_entry_f32(row, k) if X.is_float32 else fl_entry_f64(row, k)
                if s >= first:  # from the front
                    places[n_new], values[n_new] = s, x
                    n_new += 1
                else:  # from the back
                    n_old += 1
                    places[size - n_old], values[size - n_old] = s, x
            for a in range(n_new):
                line = &G[places[a], 0]
                x = weight * values[a]
                for b in range(a + 1):
                    line[places[b]] += x * values[b]
                for b in range(size - n_old, size):
                    line[places[b]] += x * values[b]


cdef double _gram_turn(const double[:, ::1] G, const int64_t[::1] places, double l1, double l2,
                       bint positive, double[::1] w, double[::1] v,
                       double *square) noexcept nogil:
    """A step along each of the weights: by how much the objective fell."""
    cdef Py_ssize_t k, j, l, size = v.shape[0]
    cdef double t, bend, decrease = 0
    cdef const double *line
    for k in range(places.shape[0]):
        j = places[k]
        bend = G[j, j] + l2
        if not bend > 0:
            continue
        t = fl_primal_target(w[j], l2 * w[j] - v[j], bend, l1, positive) - w[j]
        if t == 0:
            continue
        square[0] += t * (t * G[j, j] - 2 * v[j])
        w[j] += t
        line = &G[j, 0]
        for l in range(size):
            v[l] -= t * line[l]
        decrease += 0.5 * bend * t * t
    return decrease


def descend_gram(const double[:, ::1] G, const int64_t[::1] places, double l1, double l2,
                 bint positive, double[::1] w, double[::1] v, double square, Py_ssize_t epochs,
                 double enough):
    """`descend` on weights at `places` of a model given by its Gram matrix and v, minus the slopes
    of its loss: (turns taken, decrease of the last one, what is left of sum_i r_i^2 / h_i)."""
    cdef Py_ssize_t epoch = 0
    cdef double decrease = 0
    with nogil:
        while epoch < epochs:
            decrease = _gram_turn(G, places, l1, l2, positive, w, v, &square)
            epoch += 1
            if decrease <= enough:
                break
    return epoch, decrease, square


cdef void _leave(double[:, ::1] R, Py_ssize_t k, Py_ssize_t p) noexcept nogil:
    """Take column p out of the k columns of R, and rotate what is left to a triangle."""
    cdef Py_ssize_t i, j
    cdef double r, c, s, first, second
    cdef double *above
    cdef double *below
    for i in range(k):
        j = max(i, p + 1)
        memmove(&R[i, 0] + j - 1, &R[i, 0] + j, (k - j) * sizeof(double))
    for i in range(p, k - 1):
        # what was the diagonal has come to stand below it
        above, below = &R[i, 0], &R[i + 1, 0]
        r = sqrt(above[i] * above[i] + below[i] * below[i])
        c, s = above[i] / r, below[i] / r
        above[i] = r
        for j in range(i + 1, k - 1):
            first, second = above[j], below[j]
            above[j] = c * first + s * second
            below[j] = c * second - s * first


def to_face_minimum(const double[:, ::1] G, int64_t[::1] places, double l1, double l2,
                    bint positive, double[::1] w, double[::1] v, double square, double[:, ::1] R,
                    double[::1] d, double[::1] u, Py_ssize_t most):
    """Go where the weights at `places`, none of which is 0, would be best if no sign changed, given
    their Cholesky factor, R^T R = G + l2 I; those that get to 0 on the way stay there, and the
    others go on, `most` times at most: (what is left of sum_i r_i^2 / h_i, whether there is nothing
    more to gain). R and places change; d and u are room for the weights and for v."""
    cdef Py_ssize_t i, j, k = places.shape[0], size = v.shape[0], events = 0
    cdef double t, slope, product, bend
    cdef bint whole = k == 0
    with nogil:
        while events < most and not whole:
            events += 1
            for i in range(k):
                d[i] = v[places[i]] - l2 * w[places[i]] - copysign(l1, w[places[i]])
            for i in range(k):
                d[i] /= R[i, i]
                add(-d[i], &R[i, 0] + i + 1, &d[0] + i + 1, k - i - 1)
            for i in range(k - 1, -1, -1):
                d[i] = (d[i] - dot(&R[i, 0] + i + 1, &d[0] + i + 1, k - i - 1)) / R[i, i]
            for j in range(size):
                u[j] = 0
            t, slope, product, bend = 1, 0, 0, 0
            for i in range(k):
                j = places[i]
                add(d[i], &G[j, 0], &u[0], size)
                slope += d[i] * (v[j] - l2 * w[j] - copysign(l1, w[j]))
                product += d[i] * v[j]
                if d[i] * w[j] < 0 and (l1 > 0 or positive) and -w[j] / d[i] < t:
                    t = -w[j] / d[i]
            for i in range(k):
                bend += d[i] * u[places[i]]
            # written so that a step that is no number fails
            if not 0.5 * t * t * (bend + l2 * dot(&d[0], &d[0], k)) < t * slope:
                whole = True
                break
            square += t * (t * bend - 2 * product)
            add(-t, &u[0], &v[0], size)
            whole = t == 1
            for i in range(k - 1, -1, -1):
                j = places[i]
                # one that ends at 0 by rounding has got there, too
                if not whole and (w[j] + t * d[i] == 0 or (d[i] * w[j] < 0 and -w[j] / d[i] <= t)):
                    w[j] = 0
                    _leave(R, k, i)
                    k -= 1
                    for j in range(i, k):
                        places[j] = places[j + 1]
                else:
                    w[j] += t * d[i]
            whole = whole or k == 0
    return square, whole


cdef double _gram_gap(double square, double l1, double l2, bint positive,
                      const double[::1] w, const double[::1] v, double *objective) noexcept nogil:
    """The duality gap of weights that leave `square` of the square of the target."""
    cdef Py_ssize_t j
    cdef double size, largest = 0, excess = 0, first = 0, second = 0, along = square, scale, dual
    for j in range(w.shape[0]):
        size = v[j] if positive else fabs(v[j])
        largest = max(largest, size)
        size = max(0.0, size - l1)
        excess += size * size
        first += fabs(w[j])
        second += w[j] * w[j]
        along += w[j] * v[j]
    objective[0] = 0.5 * square + l1 * first + 0.5 * l2 * second
    scale = along / square if square > 0 else 1.0
    if largest > 0:
        scale = min(scale, l1 / largest)
    scale = max(scale, 0.0)
    dual = scale * along - 0.5 * scale * scale * square
    if l2 > 0:
        dual = max(dual, along - 0.5 * square - excess / (2 * l2))
    return max(0.0, objective[0] - dual)


def gram_path(const double[:, ::1] G, const double[::1] q, double whole,
              const int64_t[::1] places, const double[::1] l1, const double[::1] l2,
              bint positive, double tol, double noise, Py_ssize_t most, Py_ssize_t turns_at_most,
              double[::1] w, double[::1] v, double[:, ::1] W, double[::1] objective,
              double[::1] gap, int64_t[::1] turns, Py_ssize_t start):
    """The squared error for penalties k = start, start + 1, ..., each from the weights w of the one
    before, until their relative duality gap is at most tol or for `most` turns: the first k that is
    not done, after `turns_at_most` turns in all or behind one whose gap is too large. q are the
    slopes at 0, `whole` is the square of the target, of which the share `noise` is rounding."""
    cdef Py_ssize_t i, j, k = start, d = w.shape[0], used = 0
    cdef double square, product
    cdef bint good = True
    with nogil:
        while k < l1.shape[0] and good and used < turns_at_most:
            square = whole
            for j in range(d):
                product = 0
                for i in range(d):
                    product += G[j, i] * w[i]
                v[j] = q[j] - product
                square -= w[j] * (q[j] + v[j])
            good, turns[k] = False, 0
            while turns[k] < most and not good:
                _gram_turn(G, places, l1[k], l2[k], positive, w, v, &square)
                turns[k] += 1
                gap[k] = _gram_gap(square, l1[k], l2[k], positive, w, v, &objective[k])
                good = gap[k] + noise * whole <= tol * objective[k]
            used += turns[k]
            for j in range(d):
                W[k, j] = w[j]
            k += 1
    return k
