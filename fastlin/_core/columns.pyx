"""Columns renumbered by how often they occur. What is kept per column then lies close together for
the columns that most entries meet, and more of it stays in the cache."""

import numpy as np

from .c cimport (FL_PREFETCH, FL_SIGNED, fl_row_size, fl_row_start, fl_signed_column, fl_to_bits,
                 int32_t, int64_t, real)
from .rows cimport Rows

# Counts from this on are told apart no more: there are so few such columns that they fit anyway.
cdef enum:
    MOST = 4096
    AHEAD = 64
    ROWS_AHEAD = 8
    LINE = 16


def count(Rows X, int32_t[::1] counts, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t step):
    """Add the entries of each column in every `step`-th row of start..stop-1; not of dense rows."""
    cdef Py_ssize_t r, i, k, first, later
    cdef const int32_t *indices = X.c.indices
    cdef bint signed = X.c.layout == FL_SIGNED
    with nogil:
        for r in range((stop - start + step - 1) // step):
            i = start + r * step
            # the processor does not foresee rows that lie apart
            later = i + ROWS_AHEAD * step
            if later < stop:
                first = fl_row_start(&X.c, later)
                for k in range((fl_row_size(&X.c, later) + LINE - 1) // LINE):
                    FL_PREFETCH(&indices[first + k * LINE])
            first = fl_row_start(&X.c, i)
            for k in range(first, first + fl_row_size(&X.c, i)):
                counts[fl_signed_column(indices[k]) if signed else indices[k]] += 1


def frequencies(const int32_t[::1] counts, Py_ssize_t width):
    """(how many groups of `width` neighbouring columns were counted so often, for 0, 1, ... times
    and `MOST` or more; entries in each of these classes). With it goes the last, shorter group."""
    cdef Py_ssize_t g, k, d = counts.shape[0]
    cdef int64_t total, beyond = 0
    # a table for each of four groups in turn: most have one of a few counts, and an addition to a
    # number waits for the one before
    cdef int64_t[:, ::1] groups = np.zeros((4, MOST + 1), dtype=np.int64)
    cdef int64_t *of = &groups[0, 0]
    with nogil:
        for g in range((d + width - 1) // width):
            total = counts[g * width]
            if width > 1:
                for k in range(g * width + 1, min((g + 1) * width, d)):
                    total += counts[k]
            if total > MOST:
                beyond += total - MOST
                total = MOST
            of[(g & 3) * (MOST + 1) + total] += 1
    found = np.asarray(groups).sum(axis=0)
    entries = found * np.arange(MOST + 1)
    entries[MOST] += beyond
    return found, entries


def places(const int32_t[::1] counts, const int64_t[::1] groups):
    """The new number of each column: by falling count, columns of equal counts in their old order;
    -1 if it was not counted. `groups` is that of `frequencies` at width 1."""
    cdef Py_ssize_t j, k
    cdef int64_t[::1] following = np.zeros(MOST + 1, dtype=np.int64)
    cdef int32_t[::1] place = np.empty(counts.shape[0], dtype=np.int32)
    with nogil:
        for k in range(MOST - 1, -1, -1):
            following[k] = following[k + 1] + groups[k + 1]
        for j in range(counts.shape[0]):
            k = min(counts[j], <int32_t>MOST)
            # no branch, which the processor would not foresee: all bits are set for 0
            place[j] = <int32_t>following[k] | -<int32_t>(k == 0)
            following[k] += 1
    return np.asarray(place)


cdef inline int32_t settled(int32_t *place, int32_t j, int32_t *following) noexcept nogil:
    """place[j], which becomes `following` if column j has no place yet."""
    cdef int32_t new = place[j]
    if new < 0:
        place[j] = new = following[0]
        following[0] += 1
    return new


cdef inline int octave(int32_t number) noexcept nogil:
    """The exponent of number + 1: at most 31."""
    return <int>(fl_to_bits(<double>number + 1.0) >> 52) - 1023


def renumber(Rows X, int32_t[::1] place, int32_t following, int32_t[::1] indices,
             real[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """Write the entries of rows start..stop-1 by the new numbers to `indices` and, where there are
    values, `values`: those with numbers below 1 first, then those below 3, 7, 15, ..., each in the
    old order. Not of dense rows. A column without a place gets the `following` one when it is met
    first; returns the one that then follows.
    `values` has the dtype of X in any case, since that says which it is.

    This is a sort that stops early: neighbours in the cache are neighbours in the row, and the
    visits that miss the cache follow one another, so that many are under way at once.
    """
    cdef Py_ssize_t i, k, first, size
    cdef int b
    cdef int32_t j
    cdef Py_ssize_t begins[33]
    cdef const int32_t *old = X.c.indices
    cdef const real *x = <const real *>X.c.values
    cdef bint signed = X.c.layout == FL_SIGNED
    cdef Py_ssize_t end = fl_row_start(&X.c, stop)
    with nogil:
        for i in range(start, stop):
            first, size = fl_row_start(&X.c, i), fl_row_size(&X.c, i)
            for b in range(33):
                begins[b] = 0
            for k in range(first, first + size):
                if k + AHEAD < end:
                    FL_PREFETCH(&place[fl_signed_column(old[k + AHEAD])])
                j = fl_signed_column(old[k]) if signed else old[k]
                begins[octave(settled(&place[0], j, &following)) + 1] += 1
            begins[0] = first
            for b in range(1, 32):
                begins[b] += begins[b - 1]
            for k in range(first, first + size):
                j = place[fl_signed_column(old[k]) if signed else old[k]]
                b = octave(j)
                indices[begins[b]] = ~j if signed and old[k] < 0 else j
                if x != NULL:
                    values[begins[b]] = x[k]
                begins[b] += 1
    return following


def relabel(Rows X, int32_t[::1] place, int32_t following, int32_t[::1] indices, Py_ssize_t start,
            Py_ssize_t stop):
    """Write the indices of rows start..stop-1 by the new numbers to `indices`, the entries of a row
    as they come; for the rest see `renumber`."""
    cdef Py_ssize_t k
    cdef int32_t j
    cdef const int32_t *old = X.c.indices
    cdef bint signed = X.c.layout == FL_SIGNED
    cdef Py_ssize_t end = fl_row_start(&X.c, stop)
    with nogil:
        for k in range(fl_row_start(&X.c, start), end):
            if k + AHEAD < end:
                FL_PREFETCH(&place[fl_signed_column(old[k + AHEAD])])
            j = settled(&place[0], fl_signed_column(old[k]) if signed else old[k], &following)
            indices[k] = ~j if signed and old[k] < 0 else j
    return following


def relabel_placed(Rows X, const int32_t[::1] place, int32_t[::1] indices, Py_ssize_t start,
                   Py_ssize_t stop):
    """`relabel`, but entries of columns without a place are left to `settle`: returns how far they
    are from the first entry."""
    cdef Py_ssize_t k, n = 0, first = fl_row_start(&X.c, start)
    cdef Py_ssize_t size = fl_row_start(&X.c, stop) - first
    cdef int32_t j
    cdef const int32_t *old = X.c.indices + first
    cdef int32_t *to = &indices[0] + first
    cdef bint signed = X.c.layout == FL_SIGNED
    cdef int64_t[::1] missed = np.empty(size, dtype=np.int64)
    with nogil:
        for k in range(size):
            if k + AHEAD < size:
                FL_PREFETCH(&place[fl_signed_column(old[k + AHEAD])])
            j = place[fl_signed_column(old[k]) if signed else old[k]]
            to[k] = ~j if signed and old[k] < 0 else j
            if j < 0:
                missed[n] = k
                n += 1
    return np.array(missed[:n])


def settle(Rows X, int32_t[::1] place, int32_t following, int32_t[::1] indices,
           const int64_t[::1] missed, Py_ssize_t start):
    """Write what `relabel_placed` has `missed` of rows from `start` on; for the rest see
    `relabel`."""
    cdef Py_ssize_t k, n, first = fl_row_start(&X.c, start)
    cdef int32_t j
    cdef const int32_t *old = X.c.indices + first
    cdef bint signed = X.c.layout == FL_SIGNED
    with nogil:
        for n in range(missed.shape[0]):
            k = missed[n]
            if n + AHEAD < missed.shape[0]:
                FL_PREFETCH(&place[fl_signed_column(old[missed[n + AHEAD]])])
            j = settled(&place[0], fl_signed_column(old[k]) if signed else old[k], &following)
            indices[first + k] = ~j if signed and old[k] < 0 else j
    return following
