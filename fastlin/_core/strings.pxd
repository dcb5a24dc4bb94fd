"""The contract with src_c/fl_strings.h and src_c/fl_arrow.h; what fields and functions mean stands
there."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t


cdef extern from "fl_arrow.h" nogil:
    struct ArrowSchema:
        const char *format
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept

    struct ArrowArray:
        int64_t length
        int64_t offset
        int64_t n_buffers
        const void **buffers
        void (*release)(ArrowArray *) noexcept

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept

cdef extern from "fl_strings.h" nogil:
    cdef enum:
        FL_OFFSETS32, FL_OFFSETS64, FL_VIEWS

    struct fl_strings:
        int layout
        int64_t offset
        const uint8_t *validity
        const void *places
        const uint8_t *data
        const uint8_t *const *buffers

    struct fl_string:
        const uint8_t *bytes
        int64_t size

    struct fl_numbered:
        int64_t n
        int64_t capacity
        fl_string *strings
        uint64_t *hashes
        int32_t *slots
        uint64_t mask

    void fl_rebuild(fl_numbered *known) noexcept
    int64_t fl_number_strings(const fl_strings *s, fl_numbered *known, int64_t start, int64_t stop,
                              int32_t *codes) noexcept


cdef int grow_numbered(fl_numbered *known) except -1
cdef void free_numbered(fl_numbered *known) noexcept
cdef list numbered_strings(const fl_numbered *known)
