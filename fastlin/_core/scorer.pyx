"""Responses of one linear model to one row at a time, with as little around the dot product as
Python allows. `fastlin/_scorer.py` has the public class, and says what is wrong with a row.

Tried for the array argument, in ns with the call itself (39 for a method, 59 for `__call__`):
PyObject_GetBuffer 98, `__array_struct__` 118, a typed memoryview 299."""

from numpy import array, empty, float64

from cpython.buffer cimport PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint32_t

from .buffers cimport is_double, is_float, is_integer, open_buffer
from .c cimport FL_DENSE, fl_dot_f64, fl_row
from .respond cimport fl_checked_dot_f64

cdef enum:
    FEW = 32    # responses up to this number find room on the stack
    UNFIT       # wrong types, sizes or columns: no response
    NOT_FINITE
    GOOD


cdef double wide_dot(const float *x, const double *w, int64_t size) noexcept:
    cdef int64_t k
    cdef double total = 0
    for k in range(size):
        total += x[k] * w[k]
    return total


cdef bint any_dot(const Py_buffer *indices, const Py_buffer *data, const double *w, int64_t d,
                  double *total) noexcept:
    """The dot product for any of the types; whether all columns lie in [0, d)."""
    cdef int64_t k, j
    cdef double x
    total[0] = 0
    for k in range(indices.shape[0]):
        if indices.itemsize == 4:
            j = (<const int32_t *>indices.buf)[k]
        else:
            j = (<const int64_t *>indices.buf)[k]
        if j < 0 or j >= d:
            return False
        if data.itemsize == 4:
            x = (<const float *>data.buf)[k]
        else:
            x = (<const double *>data.buf)[k]
        total[0] += x * w[j]
    return True


cdef Py_ssize_t predicted(const double *z, Py_ssize_t K) noexcept:
    """Number of the class: of two, whether z > 0; else the first of the largest."""
    cdef Py_ssize_t k, best = 0
    if K == 1:
        return z[0] > 0
    for k in range(1, K):
        if z[k] > z[best]:
            best = k
    return best


cdef class LinearScorer:
    cdef readonly object coef, intercept, classes
    cdef readonly Py_ssize_t n_outputs, n_features
    cdef Py_buffer W_view, b_view
    cdef const double *W
    cdef const double *b
    cdef list labels

    def __cinit__(self, coef, intercept, classes):
        """Copies of weights (K, d) and intercepts (K,), and labels or None."""
        self.coef, self.intercept = array(coef, float64, order="C"), array(intercept, float64)
        self.n_outputs, self.n_features = self.coef.shape
        self.intercept.reshape(self.n_outputs)
        # held open: whoever tries to resize the arrays is told off by numpy
        PyObject_GetBuffer(self.coef, &self.W_view, PyBUF_ND)
        PyObject_GetBuffer(self.intercept, &self.b_view, PyBUF_ND)
        self.W, self.b = <const double *>self.W_view.buf, <const double *>self.b_view.buf
        self.coef.flags.writeable = self.intercept.flags.writeable = False
        self.classes, self.labels = classes, None if classes is None else list(classes)

    def __dealloc__(self):
        PyBuffer_Release(&self.W_view)
        PyBuffer_Release(&self.b_view)

    cdef bint respond_dense(self, const Py_buffer *x, double *z) noexcept:
        cdef Py_ssize_t k
        cdef fl_row row
        if x.ndim != 1 or x.shape[0] != self.n_features:
            return False
        if is_double(x):
            row.layout, row.size, row.indices, row.values = FL_DENSE, x.shape[0], NULL, x.buf
            for k in range(self.n_outputs):
                z[k] = self.b[k] + fl_dot_f64(row, self.W + k * self.n_features)
            return True
        if not is_float(x):
            return False
        for k in range(self.n_outputs):
            z[k] = self.b[k] + wide_dot(<const float *>x.buf, self.W + k * self.n_features,
                                        x.shape[0])
        return True

    cdef bint respond_sparse(self, const Py_buffer *indices, const Py_buffer *data,
                             double *z) noexcept:
        cdef Py_ssize_t k, size
        cdef bint fits
        cdef const double *w
        if indices.ndim != 1 or data.ndim != 1 or data.shape[0] != indices.shape[0]:
            return False
        size = indices.shape[0]
        if not ((is_integer(indices, 4) or is_integer(indices, 8))
                and (is_double(data) or is_float(data))):
            return False
        for k in range(self.n_outputs):
            w = self.W + k * self.n_features
            if indices.itemsize == 4 and data.itemsize == 8:
                fits = fl_checked_dot_f64(<const int32_t *>indices.buf, <const double *>data.buf,
                                          size, size, w, <uint32_t>(self.n_features - 1), False,
                                          z + k)
            else:
                fits = any_dot(indices, data, w, self.n_features, z + k)
            if not fits:
                return False
            z[k] += self.b[k]
        return True

    cdef int respond(self, x, data, double *z) noexcept:
        cdef Py_buffer first, second
        cdef bint fits = False
        cdef Py_ssize_t k
        if not open_buffer(x, &first):
            return UNFIT
        if data is None:
            fits = self.respond_dense(&first, z)
        elif open_buffer(data, &second):
            fits = self.respond_sparse(&first, &second, z)
            PyBuffer_Release(&second)
        PyBuffer_Release(&first)
        if not fits:
            return UNFIT
        for k in range(self.n_outputs):
            if z[k] - z[k] != 0 and self.b[k] - self.b[k] == 0:
                return NOT_FINITE
        return GOOD

    cdef int explain(self, int outcome, x, data) except -1:
        """Let the public class say what is wrong; finite values may overflow, and then go on."""
        self._explain(x, data)
        if outcome == UNFIT:
            raise TypeError(x, data)
        return 0

    def __call__(self, x, data=None):
        cdef double z
        cdef Py_buffer view
        cdef int outcome
        if self.n_outputs == 1:
            outcome = self.respond(x, data, &z)
            if outcome != GOOD:
                self.explain(outcome, x, data)
            return z
        out = empty(self.n_outputs)
        PyObject_GetBuffer(out, &view, PyBUF_ND | PyBUF_WRITABLE)
        outcome = self.respond(x, data, <double *>view.buf)
        PyBuffer_Release(&view)
        if outcome != GOOD:
            self.explain(outcome, x, data)
        return out

    def predict(self, x, data=None):
        cdef Py_buffer view
        cdef double few[FEW]
        cdef int outcome
        if self.labels is None:
            return self(x, data)
        if self.n_outputs <= FEW:
            outcome = self.respond(x, data, few)
            if outcome != GOOD:
                self.explain(outcome, x, data)
            return self.labels[predicted(few, self.n_outputs)]
        z = self(x, data)
        PyObject_GetBuffer(z, &view, PyBUF_ND)
        label = self.labels[predicted(<const double *>view.buf, self.n_outputs)]
        PyBuffer_Release(&view)
        return label
