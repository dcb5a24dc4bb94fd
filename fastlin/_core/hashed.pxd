"""The contract with src_c/fl_hashed.h; what the fields and functions mean stands there."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef extern from "fl_murmur.h" nogil:
    uint32_t fl_murmur(const uint8_t *bytes, int32_t length) noexcept

cdef extern from "fl_hashed.h" nogil:
    const int64_t FL_NO_CATEGORY
    const int32_t FL_DIGITS_ROOM

    struct fl_terms:
        int64_t n
        const int32_t *members
        const int32_t *ends
        uint32_t n_features
        uint32_t sign_bit
        int binary

    int32_t fl_write_integer(int64_t value, uint8_t *out) noexcept
    int64_t fl_hashed_row(const fl_terms *terms, const int64_t *hashes, uint32_t *keys,
                          int32_t *indices, int32_t *values, int *multiple) noexcept
