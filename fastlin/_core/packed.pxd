"""Adaptive steps of one output whose weights lie beside what is kept with them (fl_packed.h)."""

from .c cimport fl_adaptive, fl_row, int64_t, real


cdef extern from "fl_packed.h" nogil:
    int FL_PACKED_SUMS
    double fl_packed_dot_f32(fl_row row, const float *P, int shift, fl_row later) noexcept
    double fl_packed_dot_f64(fl_row row, const double *P, int shift, fl_row later) noexcept
    struct fl_packed_later:
        fl_row row
        fl_row columns
    struct fl_packed_kernels:
        void (*row)(const fl_adaptive *a, double sum_scale, fl_row row, double slope, void *P,
                    int lazy, void *u, void *sums, fl_packed_later later) noexcept nogil
        void (*publish)(const fl_adaptive *a, int64_t d, const void *P, void *w) noexcept nogil
        void (*norms)(const fl_adaptive *a, int64_t d, const void *P,
                      double *norms) noexcept nogil


cdef inline double packed_dot(fl_row row, const real *P, int shift,
                              fl_row later) noexcept nogil:
    if real is float:
        return fl_packed_dot_f32(row, P, shift, later)
    else:
        return fl_packed_dot_f64(row, P, shift, later)
