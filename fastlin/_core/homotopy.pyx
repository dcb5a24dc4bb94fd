"""The path of the lasso in its penalty, event by event, among some columns.

    minimise over w   (1/2) |y - A^T w|^2 + penalty |w|_1 + (l2/2) |w|^2

for columns that are rows of A.

Between events the weights of the active set S change along d = (A_S A_S^T + l2 I)^-1 s, s being
their signs, and v = A (y - A^T w) by -A A_S^T d, per unit that the penalty falls. An event is that
a weight gets to 0 and leaves S, or that some |v_j| reaches the penalty and j joins (Osborne,
Presnell & Turlach 2000, "A new approach to variable selection in least squares problems"; Efron,
Hastie, Johnstone & Tibshirani 2004, "Least angle regression"). L L^T = A_S A_S^T + l2 I gains and
loses a row at each event.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t, uint8_t

from .vectors cimport add, dot

# A column whose square outside the span of the active ones is less than this share of it depends
# on them.
cdef double DEPENDENT = 1e-10


cdef void forward(const double[:, ::1] L, double *x, Py_ssize_t k) noexcept nogil:
    """x becomes L^-1 x."""
    cdef Py_ssize_t i
    for i in range(k):
        x[i] = (x[i] - dot(&L[i, 0], x, i)) / L[i, i]


cdef void backward(const double[:, ::1] L, double *x, Py_ssize_t k) noexcept nogil:
    """x becomes L^-T x."""
    cdef Py_ssize_t i
    for i in range(k - 1, -1, -1):
        x[i] /= L[i, i]
        add(-x[i], &L[i, 0], x, i)


cdef bint join(const double[:, ::1] A, const int64_t[::1] places, Py_ssize_t k, Py_ssize_t j,
               double l2, double[:, ::1] L) noexcept nogil:
    """Give L the row of column j, if that does not depend on the k active ones."""
    cdef Py_ssize_t i, n = A.shape[1]
    cdef double square = dot(&A[j, 0], &A[j, 0], n) + l2, left
    for i in range(k):
        L[k, i] = dot(&A[places[i], 0], &A[j, 0], n)
    forward(L, &L[k, 0], k)
    left = square - dot(&L[k, 0], &L[k, 0], k)
    if not left > DEPENDENT * square:
        return False
    L[k, k] = sqrt(left)
    return True


cdef void leave(double[:, ::1] L, Py_ssize_t k, Py_ssize_t p) noexcept nogil:
    """Take row p out of the k rows of L, and rotate what is left to a triangle."""
    cdef Py_ssize_t i, j
    cdef double r, c, s, first, second
    for i in range(p, k - 1):
        for j in range(i + 2):
            L[i, j] = L[i + 1, j]
    for i in range(p, k - 1):
        r = sqrt(L[i, i] * L[i, i] + L[i, i + 1] * L[i, i + 1])
        c, s = L[i, i] / r, L[i, i + 1] / r
        L[i, i], L[i, i + 1] = r, 0
        for j in range(i + 1, k - 1):
            first, second = L[j, i], L[j, i + 1]
            L[j, i], L[j, i + 1] = c * first + s * second, c * second - s * first


def follow(const double[:, ::1] A, double l2, bint positive, double penalty, double target,
           Py_ssize_t count, int64_t[::1] places, double[::1] sign, double[::1] w,
           double[:, ::1] L, double[::1] v, uint8_t[::1] active, Py_ssize_t most,
           double[::1] d, double[::1] u, double[::1] a):
    """From the optimum at `penalty` to that at `target`, or for `most` events: (how many, the size
    of the active set, where the penalty stands).

    The active columns are `places[:count]` of A, with their signs and weights; `active` is 1 there,
    and 2 where a column would join but depends on them. d, u and a are room for the active set, a
    column and v.
    """
    cdef Py_ssize_t i, j, events = 0, n = A.shape[1], m = A.shape[0], blocked = -1
    cdef Py_ssize_t leaving, joining
    cdef double step, best, new_sign = 0, blocked_sign = 0
    with nogil:
        while events < most:
            events += 1
            for i in range(n):
                u[i] = 0
            for i in range(count):
                d[i] = sign[i]
            forward(L, &d[0], count)
            backward(L, &d[0], count)
            best, leaving, joining = penalty - target, -1, -1
            for i in range(count):
                add(d[i], &A[places[i], 0], &u[0], n)
                if d[i] * sign[i] < 0 and fabs(w[i]) < best * fabs(d[i]):
                    best, leaving = fabs(w[i] / d[i]), i
            for j in range(m):
                a[j] = dot(&A[j, 0], &u[0], n)
                if active[j]:
                    continue
                if a[j] < 1 and penalty - v[j] < best * (1 - a[j]) and not (
                        j == blocked and blocked_sign > 0):
                    best, leaving, joining = max(0.0, (penalty - v[j]) / (1 - a[j])), -1, j
                    new_sign = 1
                if not positive and a[j] > -1 and penalty + v[j] < best * (1 + a[j]) and not (
                        j == blocked and blocked_sign < 0):
                    best, leaving, joining = max(0.0, (penalty + v[j]) / (1 + a[j])), -1, j
                    new_sign = -1
            for i in range(count):
                w[i] += best * d[i]
            add(-best, &a[0], &v[0], m)
            penalty -= best
            if leaving < 0 and joining < 0:
                penalty = target
                break
            blocked = -1
            if joining >= 0:
                if count == L.shape[0] or not join(A, places, count, joining, l2, L):
                    active[joining] = 2
                    continue
                active[joining], places[count], sign[count], w[count] = 1, joining, new_sign, 0
                count += 1
                continue
            blocked, blocked_sign = places[leaving], sign[leaving]
            leave(L, count, leaving)
            count -= 1
            for i in range(leaving, count):
                places[i], sign[i], w[i] = places[i + 1], sign[i + 1], w[i + 1]
            for j in range(m):
                if active[j] == 2:
                    active[j] = 0
            active[blocked] = 0
    return events, count, penalty


def polish(const double[:, ::1] A, double l2, double penalty, Py_ssize_t count,
           const int64_t[::1] places, const double[::1] sign, double[::1] w,
           const double[:, ::1] L, const double[::1] y, double[::1] r, double[::1] d):
    """Take what rounding has left of the slopes along the active weights off them; r becomes
    y - A^T w."""
    cdef Py_ssize_t i, k, n = A.shape[1]
    with nogil:
        for i in range(n):
            r[i] = y[i]
        for k in range(count):
            add(-w[k], &A[places[k], 0], &r[0], n)
        for k in range(count):
            d[k] = dot(&A[places[k], 0], &r[0], n) - l2 * w[k] - penalty * sign[k]
        forward(L, &d[0], count)
        backward(L, &d[0], count)
        for k in range(count):
            # a weight that has just joined or is about to leave is 0 but for rounding
            if (w[k] + d[k]) * sign[k] < 0:
                d[k] = -w[k]
            w[k] += d[k]
            add(-d[k], &A[places[k], 0], &r[0], n)
