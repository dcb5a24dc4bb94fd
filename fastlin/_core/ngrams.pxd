"""What other modules see of a vocabulary."""

from libc.stdint cimport int32_t, int64_t

from .text cimport fl_vocabulary


cdef class NgramTable:
    cdef fl_vocabulary v
    cdef int _rehash(self, int which, int32_t bits) except -1
    cdef int _grow_arena(self, int64_t capacity) except -1
    cdef int grow(self, int lacks, int64_t bytes) except -1
