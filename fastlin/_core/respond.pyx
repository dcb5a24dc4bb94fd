"""Responses W x + b to a caller's own arrays, checked on the way, and probabilities from responses.

The functions for arrays return False instead of a message where anything is unusual: the door of
the package then looks again, and either says what is wrong or converts. That a response is finite
shows that the values are: no product or sum brings NaN or infinity back to a number."""

from numpy import array, ascontiguousarray, empty, float64, intp, ndarray

from cpython.buffer cimport PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t, int64_t, uint32_t

from .buffers cimport is_double, is_float, is_integer, open_buffer
from .c cimport (FL_CSR, FL_DENSE, FL_NEAR_BYTES, fl_dot_f32, fl_dot_f64, fl_exp,
                 fl_joint_scores_f32, fl_joint_scores_f64, fl_row, fl_sigmoid_pairs)


cdef struct Linear:
    bint narrow      # float32
    int64_t K
    int64_t d
    const void *W    # [feature][output] where there is a scratch of K, else [output][feature]
    const double *b
    void *scratch


cdef inline bint is_finite(double x) noexcept nogil:
    return x - x == 0


cdef inline bint is_infinite(double x) noexcept nogil:
    return x == x and not is_finite(x)


cdef inline bint respond(const Linear *m, fl_row row, double *z) noexcept nogil:
    """z = W x + b; whether it is finite but where b is infinite (of a class without rows)."""
    cdef int64_t k
    cdef bint finite = True
    if m.scratch != NULL and m.narrow:
        fl_joint_scores_f32(row, m.K, <const float *>m.W, 1.0, m.b, <float *>m.scratch, z)
    elif m.scratch != NULL:
        fl_joint_scores_f64(row, m.K, <const double *>m.W, 1.0, m.b, <double *>m.scratch, z)
    elif m.narrow:
        for k in range(m.K):
            z[k] = m.b[k] + fl_dot_f32(row, <const float *>m.W + k * m.d)
    else:
        for k in range(m.K):
            z[k] = m.b[k] + fl_dot_f64(row, <const double *>m.W + k * m.d)
    for k in range(m.K):
        finite &= is_finite(z[k]) or is_infinite(m.b[k])
    return finite


cdef bint dense_piece(const Linear *m, const char *x, double *z, Py_ssize_t start,
                      Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i, stride = m.d * (sizeof(float) if m.narrow else sizeof(double))
    cdef fl_row row
    row.layout, row.size, row.indices = FL_DENSE, m.d, NULL
    for i in range(start, stop):
        row.values = x + i * stride
        if not respond(m, row, z + i * m.K):
            return False
    return True


cdef struct Csr:
    const void *values
    const int32_t *indices
    const void *indptr
    bint wide         # 64-bit indptr
    int64_t n_stored


cdef inline int64_t bound(const Csr *X, Py_ssize_t i) noexcept nogil:
    return (<const int64_t *>X.indptr)[i] if X.wide else (<const int32_t *>X.indptr)[i]


cdef inline bint dots(const Linear *m, const Csr *X, int64_t first, int64_t size, bint prefetch,
                      double *z) noexcept nogil:
    """The one response to a row; whether its columns fit and it is finite."""
    cdef const int32_t *j = X.indices + first
    cdef uint32_t last = <uint32_t>(m.d - 1)
    cdef bint fits
    if m.narrow:
        fits = fl_checked_dot_f32(j, <const float *>X.values + first, size, X.n_stored - first,
                                  <const float *>m.W, last, prefetch, z)
    else:
        fits = fl_checked_dot_f64(j, <const double *>X.values + first, size, X.n_stored - first,
                                  <const double *>m.W, last, prefetch, z)
    z[0] += m.b[0]
    return fits and is_finite(z[0])


cdef bint csr_piece(const Linear *m, const Csr *X, double *z, Py_ssize_t start,
                    Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i, width = sizeof(float) if m.narrow else sizeof(double)
    cdef int64_t first = bound(X, start), following
    cdef bint prefetch = m.d * width > FL_NEAR_BYTES
    cdef fl_row row
    row.layout = FL_CSR
    if bound(X, 0) != 0 or first < 0:
        return False
    for i in range(start, stop):
        following = bound(X, i + 1)
        row.size = following - first
        if row.size < 0 or following > X.n_stored:
            return False
        if m.K == 1 and prefetch:
            if not dots(m, X, first, row.size, True, z + i):
                return False
        elif m.K == 1:
            if not dots(m, X, first, row.size, False, z + i):
                return False
        else:
            row.indices, row.values = X.indices + first, <const char *>X.values + first * width
            if not fl_columns_fit(row.indices, row.size, <uint32_t>(m.d - 1)):
                return False
            if not respond(m, row, z + i * m.K):
                return False
        first = following
    return True


cdef bint open_linear(Linear *m, const Py_buffer *views, bint narrow, Py_ssize_t n,
                      Py_ssize_t d) noexcept:
    """Whether weights, intercepts and responses are of the types and sizes that belong together."""
    cdef const Py_buffer *W = &views[0], *b = &views[1], *out = &views[2]
    if b.ndim != 1 or not is_double(b) or not is_double(out):
        return False
    if not (is_float(W) if narrow else is_double(W)):
        return False
    m.narrow, m.K, m.d, m.scratch = narrow, b.shape[0], d, NULL
    m.W, m.b = W.buf, <const double *>b.buf
    return W.len == m.K * d * W.itemsize and out.len == n * m.K * out.itemsize


cdef bint run_dense(Py_buffer *views, Py_ssize_t start, Py_ssize_t stop) noexcept:
    """`dense` of the buffers of its arrays."""
    cdef bint done = False
    cdef Linear m
    if (views[0].ndim == 2 and 0 <= start <= stop <= views[0].shape[0]
            and (is_float(&views[0]) or is_double(&views[0]))
            and open_linear(&m, &views[1], is_float(&views[0]), views[0].shape[0],
                            views[0].shape[1])):
        with nogil:
            done = dense_piece(&m, <const char *>views[0].buf, <double *>views[3].buf, start, stop)
    return done


cdef bint run_csr(Py_buffer *views, Py_ssize_t d, bint by_feature, Py_ssize_t start,
                  Py_ssize_t stop) noexcept:
    """`csr` of the buffers of its arrays."""
    cdef bint done = False
    cdef Linear m
    cdef Csr X
    if (views[0].ndim == views[1].ndim == views[2].ndim == 1
            and (is_float(&views[0]) or is_double(&views[0])) and is_integer(&views[1], 4)
            and (is_integer(&views[2], 4) or is_integer(&views[2], 8))
            and 0 <= start <= stop < views[2].shape[0] and 0 < d < 1 << 31
            and open_linear(&m, &views[3], is_float(&views[0]), views[2].shape[0] - 1, d)):
        X.values, X.indices = views[0].buf, <const int32_t *>views[1].buf
        X.indptr, X.wide = views[2].buf, views[2].itemsize == 8
        X.n_stored = min(views[0].shape[0], views[1].shape[0])
        if by_feature:
            m.scratch = PyMem_Malloc(m.K * sizeof(double))
        if m.scratch != NULL or not by_feature:
            with nogil:
                done = csr_piece(&m, &X, <double *>views[5].buf, start, stop)
        PyMem_Free(m.scratch)
    return done


cdef bint open_all(tuple arrays, Py_buffer *views, Py_ssize_t *opened) noexcept:
    """Whether all arrays are plain; how many were opened, from the first on."""
    for array in arrays:
        if not open_buffer(array, &views[opened[0]]):
            return False
        opened[0] += 1
    return True


def dense(X, W, b, out, Py_ssize_t start, Py_ssize_t stop):
    """out[start:stop] = X W^T + b; X of shape (n, d), W (K, d), b (K,) and out (n, K)."""
    cdef Py_buffer views[4]
    cdef Py_ssize_t opened = 0, k
    cdef bint done = (open_all((X, W, b, out), views, &opened)
                      and run_dense(views, start, stop))
    for k in range(opened):
        PyBuffer_Release(&views[k])
    return done


def csr(values, indices, indptr, Py_ssize_t d, W, bint by_feature, b, out, Py_ssize_t start,
        Py_ssize_t stop):
    """The same for CSR arrays with 32-bit indices; W is of shape (d, K) if `by_feature`."""
    cdef Py_buffer views[6]
    cdef Py_ssize_t opened = 0, k
    cdef bint done = (open_all((values, indices, indptr, W, b, out), views, &opened)
                      and run_csr(views, d, by_feature, start, stop))
    for k in range(opened):
        PyBuffer_Release(&views[k])
    return done


cpdef bint is_csr(X) except -1:
    """Whether X calls itself a CSR matrix. The `format` of a data frame is a column."""
    found = getattr(X, "format", None)
    return type(found) is str and found == "csr"


cdef object few(X, tuple arrays, Py_ssize_t at, int64_t most):
    """`at_once` of the arrays of X, W and b; W is the one at `at`."""
    cdef Py_buffer views[6]
    cdef Py_ssize_t opened = 0, k, n = 0, d, K, stored
    cdef bint done = False
    out = None
    if open_all(arrays, views, &opened) and views[at].ndim > 0 and views[at + 1].ndim == 1:
        d, K = views[at].shape[views[at].ndim - 1], views[at + 1].shape[0]
        if d == 0 or K == 0:
            pass
        elif at == 1 and views[0].ndim == 2 and views[0].shape[1] == d:
            if views[0].shape[0] <= most // (d * K):
                n = views[0].shape[0]
        elif at == 3 and views[2].ndim == 1 and X.shape == (views[2].shape[0] - 1, d):
            stored = views[0].len // views[0].itemsize
            # weights of several outputs go by feature where there are many products
            if stored <= most // K and (K == 1 or stored <= d):
                n = views[2].shape[0] - 1
        if n > 0:
            out = empty(n) if K == 1 else empty((n, K))
            if open_buffer(out, &views[opened]):
                opened += 1
                done = run_dense(views, 0, n) if at == 1 else run_csr(views, d, False, 0, n)
    for k in range(opened):
        PyBuffer_Release(&views[k])
    return out if done else None


def at_once(dict fields, X, int64_t most):
    """All responses of the model with these attributes in an array of their own, if X is an array
    or CSR matrix that `dense` or `csr` takes, with at most `most` products, and the model one whose
    columns have no names; else None.

    Where a call scores one row, each look at an attribute counts: so all are here."""
    W, b = fields.get("coef_"), fields.get("intercept_")
    if isinstance(b, float):
        b = array((b,))
    if type(W) is not ndarray or type(b) is not ndarray or "feature_names_in_" in fields:
        return None
    if type(X) is ndarray:
        return few(X, (X, W, b), 1, most)
    if is_csr(X):
        return few(X, (X.data, X.indices, X.indptr, W, b), 3, most)
    return None


cdef void first_largest(const double *z, Py_ssize_t n, Py_ssize_t K,
                        Py_ssize_t *out) noexcept nogil:
    cdef Py_ssize_t i, k, best
    for i in range(n):
        best = 0
        if K == 1:
            best = z[i] > 0
        for k in range(1, K):
            if z[i * K + k] > z[i * K + best]:
                best = k
        out[i] = best


def codes(z):
    """Numbers of the predicted classes: of two, whether z > 0; else the first of the largest."""
    cdef Py_buffer given, found
    cdef Py_ssize_t n, K
    cdef bint plain
    out = empty(len(z), intp)
    PyObject_GetBuffer(out, &found, PyBUF_ND | PyBUF_WRITABLE)
    plain = open_buffer(z, &given)
    if plain and not is_double(&given):
        PyBuffer_Release(&given)
        plain = False
    if not plain:
        z = ascontiguousarray(z, float64)
        PyObject_GetBuffer(z, &given, PyBUF_ND)
    n, K = given.shape[0], given.shape[1] if given.ndim == 2 else 1
    with nogil:
        first_largest(<const double *>given.buf, n, K, <Py_ssize_t *>found.buf)
    PyBuffer_Release(&given)
    PyBuffer_Release(&found)
    return out


cdef inline void favour(double *p, Py_ssize_t best) noexcept nogil:
    """Take a rounding error from the classes before the predicted one that tie with it, so that it
    has the largest probability, as its response says."""
    cdef Py_ssize_t k
    for k in range(best):
        if p[k] >= p[best]:
            p[k] = p[best] * (1.0 - 2.220446049250313e-16)


def sigmoid_pairs(const double[::1] z, double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out[i] = (sigma(-z), sigma(z)), from one exponential."""
    if start < stop:
        with nogil:
            fl_sigmoid_pairs(&z[start], &out[start, 0], stop - start)


cdef inline double apart(double z, double top) noexcept nogil:
    """z - top, and 0 for two equal infinities."""
    return 0.0 if z == top else z - top


cdef enum:
    FLOOR = -300  # e^z of all classes below this: some might lose digits


def sigmoid_rows(const double[:, ::1] z, double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out[i, k] = sigma(z_k) over their sum; where all of them underflow, by their logarithms."""
    cdef Py_ssize_t i, k, best, K = z.shape[1]
    cdef double total, e, top, shift, scale
    with nogil:
        for i in range(start, stop):
            first_largest(&z[i, 0], 1, K, &best)
            top = z[i, best]
            # far below 0 sigma(z) is e^z, and the largest may be taken out
            shift = top if top < FLOOR else 0.0
            scale = fl_exp(shift)
            total = 0
            for k in range(K):
                e = fl_exp(-z[i, k] if z[i, k] > 0 else apart(z[i, k], shift))
                out[i, k] = (1.0 if z[i, k] > 0 else e) / (1.0 + e * scale)
                total += out[i, k]
            for k in range(K):
                out[i, k] /= total
            favour(&out[i, 0], best)


def softmax_rows(const double[:, ::1] z, double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out[i, k] = exp(z_k) over their sum."""
    cdef Py_ssize_t i, k, best, K = z.shape[1]
    cdef double total, top
    with nogil:
        for i in range(start, stop):
            first_largest(&z[i, 0], 1, K, &best)
            top = z[i, best]
            total = 0
            for k in range(K):
                out[i, k] = fl_exp(apart(z[i, k], top))
                total += out[i, k]
            for k in range(K):
                out[i, k] /= total
            favour(&out[i, 0], best)
