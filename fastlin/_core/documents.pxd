"""What the modules that read blocks of documents see of them."""

from libc.stdint cimport int64_t, uint8_t

from .text cimport fl_words


cdef struct Span:
    const uint8_t *document
    int64_t length
    bint is_lowered


cdef class Block:
    cdef list documents
    cdef object buffers
    cdef Span *spans
    cdef readonly Py_ssize_t n_documents
    # Whether some document is not ASCII.
    cdef readonly bint has_others
    cdef int room(self, Py_ssize_t n) except -1
    cdef int put(self, Py_ssize_t k, document) except -1


cdef void *resized(void *memory, size_t size) except NULL
cdef int grow_words(fl_words *w, int64_t capacity) except -1
cdef int copy_feature(fl_words *w, bytes feature) except -1
cdef void free_words(fl_words *w) noexcept

# The most that the text of a scratch can hold.
cdef enum:
    LAST_TEXT = 1 << 30
