"""Where things that stand one behind the other begin, by where they end."""

from libc.stdint cimport int64_t


cdef inline int64_t begin_of(const int64_t[::1] ends, int64_t i) noexcept nogil:
    """Where the one of number i begins."""
    return ends[i - 1] if i else 0
