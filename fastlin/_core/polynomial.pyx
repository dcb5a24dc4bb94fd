"""Products of the entries of rows, as columns of their own: listed or hashed."""

from .c cimport FL_DENSE, int32_t, int64_t, real, row_at, uint64_t
from .rows cimport Rows

STEP = FL_STEP


cdef fl_polynomial polynomial(Rows X, bint distinct, int64_t degree, int64_t[::1] numbers,
                              uint64_t[::1] keys) noexcept:
    """A walk over terms, in room for degree (2 + longest row) numbers and `degree` keys."""
    cdef fl_polynomial p
    p.distinct, p.degree, p.d = distinct, degree, X.c.d
    p.place, p.base, p.after = &numbers[0], &numbers[degree], &numbers[2 * degree]
    p.key = &keys[0]
    return p


def list_terms(Rows X, bint distinct, bint bias, int64_t least, const int64_t[::1] highest,
               const int64_t[::1] starts, int64_t[::1] numbers, uint64_t[::1] keys,
               int32_t[::1] entries, real[::1] room, int32_t[::1] narrow, int64_t[::1] wide,
               real[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """Write the terms of degrees least, least + 1, ... of rows start..stop-1, each row to the
    place starts[i - start] and all before the last of `starts`: their columns to `narrow` or
    `wide`, their values to `values`, unless these are empty. `highest[k]` is the last column of
    degree k. `room` holds as many products as there are degrees, and the values of the longest row
    and STEP - 1 more, like `entries`."""
    cdef Py_ssize_t i, j, k, degree = highest.shape[0] - 1
    cdef const real *dense
    cdef fl_polynomial p = polynomial(X, distinct, degree, numbers, keys)
    cdef fl_factors row
    cdef fl_terms out
    cdef real *product = &room[0]
    cdef real *held = &room[degree]
    out.narrow = &narrow[0] if narrow.shape[0] else NULL
    out.wide = &wide[0] if wide.shape[0] else NULL
    out.value = &values[0] if values.shape[0] else NULL
    out.stop = starts[stop - start]
    row.product, row.column, row.value = product, &entries[0], held
    with nogil:
        for i in range(start, stop):
            out.size = starts[i - start]
            if X.c.layout == FL_DENSE:
                row.size = X.c.d
                dense = <const real *>row_at(&X.c, i, product).values
                for j in range(row.size):
                    held[j] = dense[j]
            else:
                row.size = entries_of(row_at(&X.c, i, product), &entries[0], held)
                fl_choices_after(&p, &entries[0], row.size)
            if bias:
                if out.value != NULL:
                    values[out.size] = 1
                if out.narrow != NULL:
                    out.narrow[out.size] = 0
                if out.wide != NULL:
                    out.wide[out.size] = 0
                out.size += 1
            for k in range(least, degree + 1):
                terms_of_degree(&p, &row, k, highest[k], 0, row.size, &out, NULL, product)


def hash_terms(Rows X, bint distinct, bint bias, int64_t least, int64_t degree, bint signs,
               int64_t n_features, const int64_t[::1] most, int64_t[::1] numbers,
               uint64_t[::1] keys, int32_t[::1] entries, real[::1] room, int32_t[::1] table,
               double[::1] sums, int32_t[::1] columns, real[::1] values, int64_t[::1] ends,
               Py_ssize_t at, Py_ssize_t start, Py_ssize_t stop):
    """Write the hashed terms of rows start..stop-1 behind place `at`, and to ends[i] where row i
    ends. Row i has at most `most[i]` different columns; `table` is all -1 and stays so, with room
    for 3 times the largest of these and one more. Returns the last end."""
    cdef Py_ssize_t i, k
    cdef fl_polynomial p = polynomial(X, distinct, degree, numbers, keys)
    cdef fl_term_sums s
    cdef fl_factors row
    cdef real *product = &room[0]
    cdef real *held = &room[degree]
    row.product, row.column, row.value = product, &entries[0], held
    s.n_features, s.with_signs, s.column, s.sum = n_features, signs, &table[0], &sums[0]
    with nogil:
        for i in range(start, stop):
            row.size = entries_of(row_at(&X.c, i, product), &entries[0], held)
            fl_sums_for(&s, most[i])
            for k in range(least, degree + 1):
                terms_of_degree(&p, &row, k, 0, 0, row.size, NULL, &s, product)
            if bias:
                fl_sums_add(&s, fl_mix(FL_NO_FACTOR), 1)
            at += sums_take(&s, &columns[0] + at, &values[0] + at)
            ends[i] = at
    return at


def hash_some_terms(Rows X, bint distinct, int64_t k, bint signs, int64_t n_features, int64_t most,
                    int64_t[::1] numbers, uint64_t[::1] keys, int32_t[::1] entries,
                    real[::1] room, int32_t[::1] table, double[::1] sums, Py_ssize_t i,
                    int64_t first, int64_t last):
    """Add to the table the terms of degree k of row i whose first factor is one of its entries
    first..last-1; returns how many entries it has."""
    cdef fl_polynomial p = polynomial(X, distinct, keys.shape[0], numbers, keys)
    cdef fl_term_sums s
    cdef fl_factors row
    cdef real *product = &room[0]
    cdef real *held = &room[keys.shape[0]]
    row.product, row.column, row.value = product, &entries[0], held
    s.n_features, s.with_signs, s.column, s.sum = n_features, signs, &table[0], &sums[0]
    with nogil:
        row.size = entries_of(row_at(&X.c, i, product), &entries[0], held)
        fl_sums_for(&s, most)
        last = min(last, row.size)
        terms_of_degree(&p, &row, k, 0, first, last, NULL, &s, product)
    return row.size
