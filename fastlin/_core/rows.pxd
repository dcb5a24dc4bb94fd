from .c cimport fl_rows


cdef class Rows:
    cdef fl_rows c
    cdef readonly object values
    cdef readonly object indices
    cdef readonly object indptr
    cdef readonly object dtype
    cdef bint is_float32
    cdef public double _longest_square
