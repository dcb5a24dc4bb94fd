"""The transpose of sparse rows, written in an order that the cache can follow.

Each entry straight to its place in its column costs 50 ns, since as many lines are being written as
there are columns. Here entries with values first go to groups of columns (`scatter`), and then each
group is sorted in the cache (`gather`). Where row and column don't fit one number, or there are no
values, a piece of the rows is dealt by column into `BUCKETS` runs of a small buffer, and then each
run to its columns (`deal`). Any step writes to a few hundred places at a time.
"""

import numpy as np

from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memcpy, memmove

from .c cimport FL_SIGNED, fl_row_size, fl_row_start, fl_signed_column, int32_t, int64_t, real
from .rows cimport Rows

cdef enum:
    BUCKETS = 512
    # so many groups of columns, more or less, at which a core can write
    MOST_GROUPS = 4096
    # entries that are looked through at once
    RUN = 256


def count(Rows X, int64_t[::1] ends, Py_ssize_t start, Py_ssize_t stop):
    """ends[j + 1] += entries of column j in rows start..stop-1"""
    cdef Py_ssize_t k
    cdef const int32_t *indices = X.c.indices
    cdef bint signed = X.c.layout == FL_SIGNED
    with nogil:
        for k in range(fl_row_start(&X.c, start), fl_row_start(&X.c, stop)):
            ends[(fl_signed_column(indices[k]) if signed else indices[k]) + 1] += 1


def spread(int64_t[::1] ends, const uint8_t[::1] wanted, const int32_t[::1] sizes,
           int32_t[::1] rows, real[::1] values):
    """Move columns up, so that there is room for the entries of those that are `wanted` (1, others
    0), `sizes[j]` of column j. The column has its entries from `ends[j]` to `ends[j + 1]`, before
    and afterwards; `rows`, and `values` where there are any, are long enough for all."""
    cdef Py_ssize_t j, size, d = wanted.shape[0]
    cdef int64_t start, stop = ends[d], to = stop
    with nogil:
        for j in range(d):
            if wanted[j]:
                to += sizes[j] - (ends[j + 1] - ends[j])
        # from the last on: none is written over that has not moved
        for j in range(d - 1, -1, -1):
            start = ends[j]
            size = stop - start
            ends[j + 1] = to
            to -= sizes[j] if wanted[j] else size
            if size > 0 and to != start:
                memmove(&rows[to], &rows[start], size * sizeof(int32_t))
                if values.shape[0] > 0:
                    memmove(&values[to], &values[start], size * sizeof(real))
            stop = start


def deal(Rows X, int64_t[::1] heads, int32_t[::1] rows, real[::1] values, int32_t[:, ::1] entry,
         real[::1] buffer, Py_ssize_t start, Py_ssize_t stop):
    """Write rows start..stop-1 to the places `heads[j]` of their columns j, which move on.

    `entry` (two numbers for each) and `buffer` have room for the entries of these rows. Where X has
    values, those go to `values`, rounded if that is of single precision and X is not.
    """
    cdef Py_ssize_t i, k, p, first = fl_row_start(&X.c, start)
    cdef Py_ssize_t last = fl_row_start(&X.c, stop)
    cdef int b, shift = 0
    cdef int32_t j
    cdef int64_t place[BUCKETS + 1]
    cdef const int32_t *indices = X.c.indices
    cdef const float *single = <const float *>X.c.values if X.is_float32 else NULL
    cdef const double *x = NULL if X.is_float32 else <const double *>X.c.values
    cdef bint signed = X.c.layout == FL_SIGNED
    while (X.c.d - 1) >> shift >= BUCKETS:
        shift += 1
    with nogil:
        for b in range(BUCKETS + 1):
            place[b] = 0
        for k in range(first, last):
            j = fl_signed_column(indices[k]) if signed else indices[k]
            place[(j >> shift) + 1] += 1
        for b in range(BUCKETS):
            place[b + 1] += place[b]
        for i in range(start, stop):
            for k in range(fl_row_start(&X.c, i), fl_row_start(&X.c, i) + fl_row_size(&X.c, i)):
                j = fl_signed_column(indices[k]) if signed else indices[k]
                p = place[j >> shift]
                place[j >> shift] = p + 1
                entry[p, 0] = j
                entry[p, 1] = ~(<int32_t>i) if signed and indices[k] < 0 else <int32_t>i
                if x != NULL:
                    buffer[p] = <real>x[k]
                elif single != NULL:
                    buffer[p] = single[k]
        for p in range(last - first):
            k = heads[entry[p, 0]]
            heads[entry[p, 0]] = k + 1
            rows[k] = entry[p, 1]
            if x != NULL or single != NULL:
                values[k] = buffer[p]


def scatter(Rows X, const uint16_t[::1] group, const int32_t[::1] first, int64_t[::1] heads,
            int bits, int32_t[::1] rows, real[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """Write rows start..stop-1, which have values, to the places `heads` of the groups of their
    columns, which move on: the row in the lowest `bits`, above them which column it is, counted
    from the `first` of the group."""
    cdef Py_ssize_t i, k, p
    cdef int g
    cdef const int32_t *indices = X.c.indices
    cdef const float *single = <const float *>X.c.values if X.is_float32 else NULL
    cdef const double *x = NULL if X.is_float32 else <const double *>X.c.values
    with nogil:
        for i in range(start, stop):
            for k in range(fl_row_start(&X.c, i), fl_row_start(&X.c, i) + fl_row_size(&X.c, i)):
                g = group[indices[k]]
                p = heads[g]
                heads[g] = p + 1
                rows[p] = (indices[k] - first[g]) << bits | <int32_t>i
                values[p] = <real>x[k] if x != NULL else <real>single[k]


def gather(const int64_t[::1] ends, const int32_t[::1] first, int bits, int32_t[::1] rows,
           real[::1] values, int32_t[::1] entry, real[::1] buffer, int64_t[::1] heads,
           Py_ssize_t start, Py_ssize_t stop):
    """Sort what `scatter` wrote of the groups start..stop-1 by column; `entry` and `buffer` have
    room for the longest group of several columns, `heads` for its columns."""
    cdef Py_ssize_t g, k, p, begin, size
    cdef int32_t j, low = <int32_t>((<int64_t>1 << bits) - 1)
    with nogil:
        for g in range(start, stop):
            if first[g + 1] - first[g] == 1:
                continue
            begin = ends[first[g]]
            size = ends[first[g + 1]] - begin
            for j in range(first[g + 1] - first[g]):
                heads[j] = ends[first[g] + j]
            if size > 0:
                memcpy(&entry[0], &rows[begin], size * sizeof(int32_t))
                memcpy(&buffer[0], &values[begin], size * sizeof(real))
            for k in range(size):
                j = entry[k] >> bits
                p = heads[j]
                heads[j] = p + 1
                rows[p] = entry[k] & low
                values[p] = buffer[k]


def groups(const int32_t[::1] sizes, Py_ssize_t most, Py_ssize_t most_columns):
    """(the group of each column, the first column of each group and the end): neighbours with up
    to `most` entries and `most_columns` columns, or single ones; None where there are too many."""
    cdef Py_ssize_t j, begin = 0, d = sizes.shape[0], total = 0, count = 0
    cdef uint16_t[::1] group = np.empty(d, np.uint16)
    cdef int32_t[::1] first = np.zeros(MOST_GROUPS + 1, np.int32)
    with nogil:
        for j in range(d):
            if j > begin and (total + sizes[j] > most or j - begin >= most_columns):
                count += 1
                if count == MOST_GROUPS:
                    break
                first[count] = <int32_t>j
                begin, total = j, 0
            total += sizes[j]
            group[j] = <uint16_t>count
    if count == MOST_GROUPS or not d:
        return None
    first[count + 1] = <int32_t>d
    return np.asarray(group), np.asarray(first)[: count + 2]


def pick(Rows X, const uint8_t[::1] wanted, int64_t[::1] heads, int32_t[::1] rows,
         real[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """`deal` of the columns that are `wanted` (1, others 0) alone, straight to their places."""
    cdef Py_ssize_t i, k, p, first, last, stop_row
    cdef int m, found
    cdef int32_t j
    cdef int32_t some[RUN]
    cdef const int32_t *indices = X.c.indices
    cdef const float *single = <const float *>X.c.values if X.is_float32 else NULL
    cdef const double *x = NULL if X.is_float32 else <const double *>X.c.values
    cdef bint signed = X.c.layout == FL_SIGNED
    with nogil:
        for i in range(start, stop):
            first = fl_row_start(&X.c, i)
            stop_row = first + fl_row_size(&X.c, i)
            while first < stop_row:
                last = min(first + RUN, stop_row)
                found = 0
                # without a branch that nobody could foresee
                for k in range(first, last):
                    some[found] = <int32_t>(k - first)
                    found += wanted[fl_signed_column(indices[k]) if signed else indices[k]]
                for m in range(found):
                    k = first + some[m]
                    j = fl_signed_column(indices[k]) if signed else indices[k]
                    p = heads[j]
                    heads[j] = p + 1
                    rows[p] = ~(<int32_t>i) if signed and indices[k] < 0 else <int32_t>i
                    if x != NULL:
                        values[p] = <real>x[k]
                    elif single != NULL:
                        values[p] = single[k]
                first = last
