"""Rows of several matrices joined: what one of them adds to each row. `kind` only says which type
the values of a matrix are; rows start..stop-1 are looked at."""

from .c cimport (fl_copy_entries_f32, fl_copy_entries_f64, fl_count_entries_f32,
                 fl_count_entries_f64, int32_t, int64_t, real, row_at)
from .rows cimport Rows


def count(Rows X not None, const real[::1] kind, int64_t[::1] sizes not None, Py_ssize_t start,
          Py_ssize_t stop):
    """Add the entries of each row, zeros left out, to sizes."""
    cdef Py_ssize_t i
    cdef const real *typed = NULL
    with nogil:
        for i in range(start, stop):
            if real is float:
                sizes[i] += fl_count_entries_f32(row_at(&X.c, i, typed))
            else:
                sizes[i] += fl_count_entries_f64(row_at(&X.c, i, typed))


def append(Rows X not None, const real[::1] kind, int32_t offset, int64_t[::1] places not None,
           int32_t[::1] indices not None, real[::1] values not None, Py_ssize_t start,
           Py_ssize_t stop):
    """Copy the entries of each row, zeros left out, to the place in `indices` and `values` that
    `places` has for it, which moves on; columns move by `offset`. Empty `values`: all are 1 or -1,
    and the sign goes into the column."""
    cdef Py_ssize_t i
    cdef const real *typed = NULL
    cdef int32_t *columns = &indices[0] if indices.shape[0] else NULL
    cdef real *held = &values[0] if values.shape[0] else NULL
    with nogil:
        for i in range(start, stop):
            if real is float:
                places[i] += fl_copy_entries_f32(
                    row_at(&X.c, i, typed), offset, columns + places[i],
                    held + places[i] if held != NULL else NULL)
            else:
                places[i] += fl_copy_entries_f64(
                    row_at(&X.c, i, typed), offset, columns + places[i],
                    held + places[i] if held != NULL else NULL)
