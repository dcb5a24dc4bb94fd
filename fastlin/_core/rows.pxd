from .c cimport fl_row, fl_row_at_f32, fl_row_at_f64, fl_rows, int64_t


cdef class Rows:
    cdef fl_rows c
    cdef readonly object values
    cdef readonly object indices
    cdef readonly object indptr
    cdef readonly object dtype
    cdef bint is_float32
    cdef public double _longest_square
    cdef public object _row_squares


cdef inline fl_row row_in_double(Rows X, int64_t i, double[::1] room) noexcept nogil:
    """Row i; float values are widened into `room`, which has space for the longest row."""
    cdef fl_row row
    cdef Py_ssize_t k
    cdef const float *values
    if not X.is_float32:
        return fl_row_at_f64(&X.c, i)
    row = fl_row_at_f32(&X.c, i)
    if row.values != NULL:
        values = <const float *>row.values
        for k in range(row.size):
            room[k] = values[k]
        row.values = &room[0]
    return row
