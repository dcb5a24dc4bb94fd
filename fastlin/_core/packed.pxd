"""Adaptive steps of one output whose weights lie beside what is kept with them (fl_packed.h)."""

from .c cimport fl_adaptive, fl_row, real


cdef extern from "fl_packed.h" nogil:
    double fl_packed_dot_f32(fl_row row, const float *P, int shift, fl_row later) noexcept
    double fl_packed_dot_f64(fl_row row, const double *P, int shift, fl_row later) noexcept
    void fl_packed_row_f32(const fl_adaptive *a, double sum_scale, fl_row row, double slope,
                           float *P, int lazy, float *u) noexcept
    void fl_packed_row_f64(const fl_adaptive *a, double sum_scale, fl_row row, double slope,
                           double *P, int lazy, double *u) noexcept


cdef inline double packed_dot(fl_row row, const real *P, int shift,
                              fl_row later) noexcept nogil:
    if real is float:
        return fl_packed_dot_f32(row, P, shift, later)
    else:
        return fl_packed_dot_f64(row, P, shift, later)


cdef inline void packed_row(const fl_adaptive *a, double sum_scale, fl_row row, double slope,
                            real *P, int lazy, real *u) noexcept nogil:
    if real is float:
        fl_packed_row_f32(a, sum_scale, row, slope, P, lazy, u)
    else:
        fl_packed_row_f64(a, sum_scale, row, slope, P, lazy, u)
