"""The contract with the C headers of kernels of strings and trees."""

from libc.stdint cimport int32_t, int64_t


cdef extern from "fl_sequences.h" nogil:
    enum:
        FL_STRINGS
    double FL_NO_SYMBOL
    void fl_subsequence_begin(double *P, int64_t n, int64_t m) noexcept
    void fl_subsequence_step(double x, const double *t, int64_t m, int64_t n, double decay,
                             double *P, double *total) noexcept


cdef extern from "fl_trees.h" nogil:
    struct fl_tree:
        int64_t n
        const int32_t *production
        const int32_t *sorted
        const int32_t *rank
        const int64_t *starts
        const int32_t *children
    int64_t fl_tree_match(const fl_tree *A, const fl_tree *B, int64_t *shift, int32_t *first,
                          int32_t *last) noexcept
    int64_t fl_tree_sum(const fl_tree *A, const fl_tree *B, double decay, const int64_t *shift,
                        const int32_t *first, const int32_t *last, double *D, int64_t a,
                        int64_t *budget, double *total) noexcept

