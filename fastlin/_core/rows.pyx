"""`Rows`, the matrix that every kernel takes, and the scans that the door makes of one before it
becomes `Rows`. Only `fastlin/_data.py` builds `Rows`: kernels trust its structure."""

import numpy as np

from .c cimport (FL_CSR, FL_DENSE, FL_NEAR_BYTES, FL_ONES, FL_SIGNED, all_finite, dot,
                 fl_per_column, fl_per_column_add, fl_per_column_none, fl_per_column_plan,
                 fl_prefetch_columns, fl_sort_row, int32_t, int64_t, prefetch_row, real, row_at,
                 square_norm, uint64_t)

NEAR_BYTES = FL_NEAR_BYTES
LAYOUTS = {"dense": FL_DENSE, "csr": FL_CSR, "ones": FL_ONES, "signed": FL_SIGNED}
cdef dict _NAMES = {code: name for name, code in LAYOUTS.items()}


cdef class Rows:
    """Rows of a matrix, checked once and immutable, in the layout that its data allow.

    Build one with :func:`fastlin.as_rows`. ``layout`` is "dense" (row-major values), "csr",
    "ones" (one-hot and binary data: the value 1 is not stored) or "signed" (hashed data: the sign
    is kept in the index). Every estimator takes ``Rows`` wherever it takes an array.

    Attributes
    ----------
    shape : tuple of int
    layout : str
    dtype : numpy.dtype
        float32 or float64: the type of the values, and of a model fitted on them.
    nnz : int
        Stored entries; for dense rows all of them.
    nbytes : int
        Memory held, in bytes, arrays shared with the caller included.
    ndim : int
        2.
    values, indices, indptr : ndarray or None
        Read-only views of the arrays, as far as the layout has them. An index j of "signed" rows
        is +1 in column j, or -1 in column ~j if it is negative.
    """

    def __init__(self):
        raise TypeError("Rows are made by fastlin.as_rows(X).")

    @property
    def shape(self):
        return self.c.n, self.c.d

    @property
    def layout(self):
        return _NAMES[self.c.layout]

    @property
    def ndim(self):
        return 2

    @property
    def width(self):
        """Entries per row where all rows have the same number and no `indptr`, else -1."""
        return self.c.width

    @property
    def nnz(self):
        if self.c.layout == FL_DENSE:
            return self.c.n * self.c.d
        if self.c.indptr != NULL:
            return self.c.indptr[self.c.n]
        return self.c.n * self.c.width

    @property
    def nbytes(self):
        return sum(a.nbytes for a in (self.values, self.indices, self.indptr) if a is not None)

    def __len__(self):
        return self.c.n

    def __reduce__(self):
        return make_rows, (self.layout, self.c.n, self.c.d, self.values, self.indices, self.indptr,
                           self.dtype)

    @staticmethod
    def hstack(blocks, dtype=None):
        """Return several matrices side by side as one; see :func:`fastlin._hstack.hstack`."""
        from .._hstack import hstack

        return hstack(blocks, dtype)

    def to_csr(self, copy=False):
        """Return the rows as a scipy CSR matrix; unless it is to be a `copy`, it may share the
        arrays of these rows, which are read-only."""
        from scipy.sparse import csr_matrix

        if self.c.layout == FL_DENSE:
            return csr_matrix(self.values)
        values, indices, indptr = self.values, self.indices, self.indptr
        if indptr is None:
            indptr = np.arange(self.c.n + 1, dtype=np.int64) * self.c.width
        if values is None:
            values = np.where(indices < 0, -1, 1).astype(self.dtype)
            indices = np.where(indices < 0, ~indices, indices)
        return csr_matrix((values, indices, indptr), shape=self.shape, copy=copy)

    def toarray(self):
        """Return the rows as a dense array."""
        return self.values.copy() if self.c.layout == FL_DENSE else self.to_csr().toarray()

    def __array__(self, *wanted, **how):
        """Return the rows as a dense array for numpy, if memory has room for it."""
        from .._data import dense_array

        return dense_array(self, *wanted, **how)

    def __getitem__(self, rows):
        """Return some rows, by a slice, numbers or a mask, as new `Rows`."""
        from .._data import compact_rows

        if self.c.layout == FL_DENSE:
            return compact_rows(np.atleast_2d(self.values[rows]))
        return compact_rows(self.to_csr()[rows])

    def __repr__(self):
        return (f"<Rows {self.c.n} x {self.c.d}, {self.layout}, {self.dtype}, "
                f"{self.nnz} entries>")


def _locked(array):
    """A view that can't be written to: kernels trust what the door has checked."""
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view


def make_rows(str layout, Py_ssize_t n, Py_ssize_t d, values, indices, indptr, dtype):
    """`Rows` over arrays that the door has checked: contiguous, of the right types, in range."""
    cdef Rows X = Rows.__new__(Rows)
    cdef const int64_t[::1] indptr_view
    X.c.layout = LAYOUTS[layout]
    X.c.n, X.c.d, X.c.width = n, d, -1
    X.c.indptr = NULL
    X.indptr = _locked(indptr)
    X.dtype = np.dtype(dtype)
    X.is_float32 = X.dtype == np.float32
    X._longest_square, X._row_squares = -1, None  # not measured yet
    if indices is not None and indptr is None:
        X.c.width = len(indices) // n if n else 0
    if indptr is not None:
        indptr_view = indptr
        X.c.indptr = &indptr_view[0]
    hold(X, values, indices)
    return X


def hold(Rows X, values, indices):
    """Let rows have these arrays of entries. But for `make_rows` it is for `Columns` alone, whose
    arrays grow: none in the meantime."""
    cdef const int32_t[::1] index_view
    cdef const float[::1] float_view
    cdef const double[::1] double_view
    X.c.values = X.c.indices = NULL
    X.values, X.indices = _locked(values), _locked(indices)
    if indices is not None:
        index_view = indices
        if index_view.shape[0]:
            X.c.indices = &index_view[0]
    if values is not None:
        if X.is_float32:
            float_view = values.reshape(-1)
            if float_view.shape[0]:
                X.c.values = &float_view[0]
        else:
            double_view = values.reshape(-1)
            if double_view.shape[0]:
                X.c.values = &double_view[0]


def longest_square(Rows X, const real[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """The largest |x_i|^2 of rows start..stop-1; `values` only says which type they are."""
    cdef Py_ssize_t i
    cdef double longest = 0
    cdef const real *kind = NULL
    with nogil:
        for i in range(start, stop):
            longest = max(longest, square_norm(row_at(&X.c, i, kind), kind))
    return longest


def first_bad_row(const int64_t[::1] indptr, Py_ssize_t n_stored):
    """First row whose bounds in `indptr` decrease or leave [0, n_stored], else -1."""
    cdef Py_ssize_t i, n = indptr.shape[0] - 1
    if indptr[0] != 0:
        return 0
    for i in range(n):
        if indptr[i + 1] < indptr[i] or indptr[i + 1] > n_stored:
            return i
    return -1


def scan_columns(const int64_t[::1] indptr, const int32_t[::1] indices, Py_ssize_t d,
                 Py_ssize_t start, Py_ssize_t stop):
    """(first row with a column outside [0, d) or -1, whether all rows start..stop-1 have their
    columns in increasing order without duplicates)."""
    cdef Py_ssize_t i, k, first, last, bad = -1
    cdef int unordered, outside
    cdef bint ordered = True
    with nogil:
        for i in range(start, stop):
            first, last = indptr[i], indptr[i + 1]
            if first == last:
                continue
            unordered = 0
            for k in range(first + 1, last):
                unordered |= indices[k] <= indices[k - 1]
            outside = indices[first] < 0 or indices[last - 1] >= d
            if unordered:
                ordered = False
                for k in range(first, last):
                    outside |= indices[k] < 0 or indices[k] >= d
            if outside:
                bad = i
                break
    return bad, ordered


def sort_columns(const int64_t[::1] indptr, const int32_t[::1] indices, Py_ssize_t d,
                 int32_t[::1] in_order, int64_t[::1] place, uint64_t[::1] keys,
                 Py_ssize_t start, Py_ssize_t stop):
    """Sort the columns of the rows start..stop-1 to `in_order`; `place` says where each entry
    stood. `keys` has room for twice the entries of the longest row. Returns whether no row has a
    column twice."""
    cdef Py_ssize_t i, first, size
    cdef int twice = 0
    with nogil:
        for i in range(start, stop):
            first, size = indptr[i], indptr[i + 1] - indptr[i]
            if size > 0:
                twice |= fl_sort_row(&indices[first], size, d, first, &keys[0], &in_order[first],
                                     &place[first])
    return not twice


def first_non_finite(const real[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """Position of the first NaN or infinity in values[start:stop], else -1."""
    cdef Py_ssize_t k
    cdef bint good = stop <= start
    if not good:
        with nogil:
            good = all_finite(&values[start], stop - start)
    if good:
        return -1
    for k in range(start, stop):
        if values[k] * 0 != 0:
            return k
    return -1


def all_ones(const real[::1] values):
    """Whether each value is 1; leaves at the first that is not."""
    cdef Py_ssize_t k, l, n = values.shape[0]
    cdef int other
    with nogil:
        k = 0
        while k < n:
            other = 0
            for l in range(k, min(k + 4096, n)):
                other |= values[l] != 1
            if other:
                break
            k += 4096
    return k >= n


def all_signs(const real[::1] values):
    """Whether each value is 1 or -1; leaves at the first that is not."""
    cdef Py_ssize_t k = 0, n = values.shape[0]
    with nogil:
        while k < n and (values[k] == 1 or values[k] == -1):
            k += 1
    return k >= n


def scores(Rows X, const real[::1] w, double intercept, const int64_t[::1] rows, double[::1] out,
           Py_ssize_t start, Py_ssize_t stop):
    """out[k] = w.x_i + b for start <= k < stop, i = rows[k]; empty `rows`: i = k. Returns whether
    all are numbers."""
    cdef Py_ssize_t k, ahead
    cdef int undefined = 0
    cdef const real *weights = &w[0]
    cdef const int64_t *chosen = &rows[0] if rows.shape[0] else NULL
    cdef fl_per_column columns = fl_per_column_none()
    fl_per_column_add(&columns, weights, sizeof(real))
    fl_per_column_plan(&columns, &X.c)
    with nogil:
        for k in range(start, stop):
            if k + 4 < stop:
                prefetch_row(&X.c, chosen[k + 4] if chosen != NULL else k + 4, weights)
            if columns.ahead and k + columns.ahead < stop:
                ahead = k + columns.ahead
                fl_prefetch_columns(&X.c, chosen[ahead] if chosen != NULL else ahead, &columns)
            out[k] = intercept + dot(row_at(&X.c, chosen[k] if chosen != NULL else k, weights),
                                     weights)
            undefined |= out[k] != out[k]
    return not undefined
