"""The loops of learners with kernels, over rows of the Gram matrix that are at hand.

Row i stands at rows[place[i]]; place[i] < 0: it is missing, and the loop ends and says so. The
responses of all rows are kept, so that the state of a row costs nothing and a step costs n.
`fl_pairs.h` and `fl_dual.h` state the problems, the steps and the symbols.
"""

from .c cimport (fl_dual_estimate, fl_dual_response, fl_dual_rule, fl_dual_state, fl_dual_step,
                 int64_t, real)
from .kernel_dual cimport fl_gram_kernels, fl_pair, fl_pair_mark, fl_pair_step, fl_pairs
from .multi cimport gram_kernels_for


def pairs(int isa, int loss, double parameter, const double[::1] y, const double[::1] mass,
          const double[::1] bend, const real[:, ::1] rows, const int64_t[::1] place,
          double[::1] a, double[::1] e, double[::1] rise, double[::1] fall, int64_t[::1] stamp,
          int64_t clock, double least, int64_t steps):
    """Move up to `steps` pairs, until top - bottom <= least.

    stamp[k] becomes the time at which rows[k] was used, from `clock` on. Returns (steps taken, row
    that is missing or -1, top, bottom).
    """
    cdef int64_t taken = 0, missing = -1, i, j, k
    cdef double change
    cdef const real *Ki
    cdef const real *Kj
    cdef const fl_gram_kernels *kernels = gram_kernels_for(isa)
    cdef fl_pairs p
    cdef fl_pair found
    p.loss, p.loss_parameter, p.n = loss, parameter, y.shape[0]
    p.y, p.mass, p.bend = &y[0], &mass[0], &bend[0]
    p.a, p.e, p.rise, p.fall = &a[0], &e[0], &rise[0], &fall[0]
    p.is_float = real is float
    with nogil:
        for k in range(p.n):
            fl_pair_mark(&p, k)
        found = kernels.first(&p, NULL, NULL, 0)
        while taken < steps and found.top - found.bottom > least:
            i = found.i
            if place[i] < 0:
                missing = i
                break
            stamp[place[i]] = clock + 2 * taken + 1
            Ki = &rows[place[i], 0]
            j = kernels.second(&p, found, Ki)
            if j < 0:
                break
            if place[j] < 0:
                missing = j
                break
            stamp[place[j]] = clock + 2 * taken
            Kj = &rows[place[j], 0]
            change = fl_pair_step(&p, i, j, Ki)
            found = kernels.first(&p, Ki, Kj, change)
            taken += 1
    return taken, missing, found.top, found.bottom


def visit(const double[::1] y, const double[::1] mass, const double[::1] h, const double[::1] k,
          const double[:, ::1] rows, const int64_t[::1] place, const int64_t[::1] order,
          fl_dual_rule rule, fl_dual_state state, double[::1] a, double[::1] logit,
          double[::1] f):
    """Move the dual variables of the rows in `order`, all of which are at hand, one at a time;
    f_i = sum_j C_j a_j K_ij follows. Returns the new state."""
    cdef Py_ssize_t r, j, n = f.shape[0]
    cdef int64_t i
    cdef double p, change
    cdef const double *row
    with nogil:
        for r in range(order.shape[0]):
            i = order[r]
            p = fl_dual_response(&rule, &state, f[i], k[i])
            fl_dual_estimate(&rule, &state, p, y[i], mass[i], a[i])
            change = fl_dual_step(&rule, &state, p, y[i], mass[i], h[i], k[i], &a[i], &logit[i])
            if change != 0:
                row = &rows[place[i], 0]
                for j in range(n):
                    f[j] += change * row[j]
    return state


def mistakes(const int64_t[::1] codes, const double[::1] weight, bint fit_intercept,
             const double[:, ::1] rows, const int64_t[::1] place, const int64_t[::1] order,
             Py_ssize_t start, Py_ssize_t stop, int64_t t, double[:, ::1] a, double[:, ::1] late,
             double[:, ::1] f, double[:, ::1] b, int64_t[::1] stamp):
    """Perceptron steps for the rows order[start : stop].

    One output: codes are 0 and 1, and a row with y f <= 0 is a mistake. Several: output codes[i]
    has to be the largest; it rises, and the first largest falls. b[0] are the intercepts, b[1] and
    `late` sum the changes of b and a times the steps before them, of which there were t at first.
    Returns (where the loop ended, sum of the losses, mistakes).
    """
    cdef Py_ssize_t r = start, j, n = f.shape[1]
    cdef int64_t i, c, best, up, down, K = f.shape[0], wrong = 0
    cdef double loss = 0, z, s
    with nogil:
        while r < stop:
            i = order[r]
            c = codes[i]
            best = 0
            if K == 1:
                z = f[0, i] + b[0, 0]
                s = z if c == 1 else -z
                if s > 0:
                    r += 1
                    continue
                s = -s
                up, down = (0, -1) if c == 1 else (-1, 0)
            else:
                for j in range(1, K):
                    if f[j, i] + b[0, j] > f[best, i] + b[0, best]:
                        best = j
                if best == c:
                    r += 1
                    continue
                s = f[best, i] + b[0, best] - f[c, i] - b[0, c]
                up, down = c, best
            if place[i] < 0:
                break
            loss += weight[i] * s
            stamp[place[i]] = t + r
            if up >= 0:
                step(up, weight[i], i, t + r - start, fit_intercept, &rows[place[i], 0], n, a,
                     late, f, b)
            if down >= 0:
                step(down, -weight[i], i, t + r - start, fit_intercept, &rows[place[i], 0], n, a,
                     late, f, b)
            wrong += 1
            r += 1
    return r, loss, wrong


cdef inline void step(int64_t k, double change, int64_t i, int64_t t, bint fit_intercept,
                      const double *row, Py_ssize_t n, double[:, ::1] a, double[:, ::1] late,
                      double[:, ::1] f, double[:, ::1] b) noexcept nogil:
    """Move output k along row i."""
    cdef Py_ssize_t j
    cdef double *out = &f[k, 0]
    a[k, i] += change
    late[k, i] += t * change
    for j in range(n):
        out[j] += change * row[j]
    if fit_intercept:
        b[0, k] += change
        b[1, k] += t * change
