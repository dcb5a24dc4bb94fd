"""The contract with the C headers of dual ascent on pairs and of loops over rows of a Gram matrix.
"""

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
        bint is_float
    struct fl_pair:
        int64_t i
        int64_t j
        double top
        double bottom
    void fl_pair_mark(const fl_pairs *p, int64_t i) noexcept
    double fl_pair_step(const fl_pairs *p, int64_t i, int64_t j, const void *Ki) noexcept


cdef extern from "fl_gram.h" nogil:
    struct fl_gram_kernels:
        void (*gaussian)(double *dots, int64_t n, double gamma, double square,
                         const double *squares) noexcept nogil
        fl_pair (*first)(const fl_pairs *p, const void *Ki, const void *Kj,
                         double change) noexcept nogil
        int64_t (*second)(const fl_pairs *p, fl_pair found, const void *Ki) noexcept nogil
