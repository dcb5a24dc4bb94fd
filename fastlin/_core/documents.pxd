"""What the modules that read blocks of documents see of them."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from .text cimport fl_text, fl_text_entry, fl_words, fl_words_bytes

cdef extern from "Python.h":
    # Borrowed: to count a reference is to wait for the text.
    PyObject *list_item "PyList_GET_ITEM"(list items, Py_ssize_t k)
    bint PyUnicode_IS_ASCII(object text)
    uint32_t PyUnicode_READ(int kind, void *data, Py_ssize_t i) nogil


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


cdef class CountedRows:
    cdef fl_text_entry *entries
    cdef int64_t capacity
    cdef int64_t[::1] _ends
    # Of the counts of each row that has any; only a hasher has them, and writes them if it is not
    # binary.
    cdef int64_t[::1] squares
    # Row i ends at ends[i + 1].
    cdef readonly object ends
    cdef readonly int64_t n_rows
    cdef int grow(self, int64_t n_more) except -1
    cdef int square(self) except -1


cdef void *resized(void *memory, size_t size) except NULL
cdef int grow_words(fl_words *w, int64_t capacity) except -1
cdef int copy_feature(fl_words *w, bytes feature) except -1
cdef void free_words(fl_words *w) noexcept
cdef int take_kept(fl_words_bytes *b, const uint8_t[::1] kept) except -1
cdef int take_bits(fl_words *w, const uint64_t[::1] word_bits) except -1
cdef int grow_entries(fl_text *t, int64_t capacity) except -1
cdef void free_text(fl_text *t) noexcept

cdef enum:
    # What the text of a scratch holds at first, so that it and the starts lie in the nearest cache,
    # and at most.
    FIRST_TEXT = 8192
    LAST_TEXT = 1 << 30
    # About 30 ms of work: see the unit in fl_text.h.
    BUDGET = 8 * 1000 * 1000
