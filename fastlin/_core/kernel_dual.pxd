"""The contract with the C header of dual ascent on pairs."""

from libc.stdint cimport int64_t


cdef extern from "fl_pairs.h" nogil:
    struct fl_pairs:
        int loss
        double loss_parameter
        int64_t n
        const double *y
        const double *mass
        const double *bend
        double *a
        double *e
        double *rise
        double *fall
    struct fl_pair:
        int64_t i
        int64_t j
        double top
        double bottom
    void fl_pair_mark(const fl_pairs *p, int64_t i) noexcept
    fl_pair fl_pair_first(const fl_pairs *p, const double *Ki, const double *Kj,
                          double change) noexcept
    int64_t fl_pair_second(const fl_pairs *p, fl_pair found, const double *Ki) noexcept
    double fl_pair_step(const fl_pairs *p, int64_t i, int64_t j, double K_ij) noexcept
