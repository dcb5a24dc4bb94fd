"""What kernels of several outputs share."""

from .c cimport fl_per_column, fl_rows, int64_t, real


cdef fl_per_column groups_per_column(const fl_rows *X, int64_t K_wide,
                                     const real *W) noexcept nogil
