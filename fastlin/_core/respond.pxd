from .c cimport int32_t, int64_t
from libc.stdint cimport uint32_t


cdef extern from "fl_respond.h" nogil:
    bint fl_columns_fit(const int32_t *j, int64_t size, uint32_t last) noexcept
    bint fl_checked_dot_f32(const int32_t *j, const float *x, int64_t size, int64_t readable,
                            const float *w, uint32_t last, bint prefetch, double *dot) noexcept
    bint fl_checked_dot_f64(const int32_t *j, const double *x, int64_t size, int64_t readable,
                            const double *w, uint32_t last, bint prefetch, double *dot) noexcept
