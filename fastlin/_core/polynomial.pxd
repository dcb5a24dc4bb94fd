"""The contract with fl_polynomial.h, and adapters that pick the function for a type."""

from .c cimport fl_row, int32_t, int64_t, real, uint64_t

cdef extern from "fl_polynomial.h" nogil:
    enum:
        FL_NO_FACTOR
        FL_STEP
    struct fl_polynomial:
        int distinct
        int64_t degree
        int64_t d
        int64_t *place
        int64_t *base
        int64_t *after
        uint64_t *key
    struct fl_factors:
        int64_t size
        const int32_t *column
        const void *value
        void *product
    struct fl_terms:
        int64_t size
        int64_t stop
        int32_t *narrow
        int64_t *wide
        void *value
    struct fl_term_sums:
        uint64_t n_features
        int with_signs
        int32_t *column
        double *sum
    void fl_choices_after(const fl_polynomial *p, const int32_t *column, int64_t m) noexcept
    uint64_t fl_mix(uint64_t z) noexcept
    void fl_sums_for(fl_term_sums *s, int64_t most) noexcept
    void fl_sums_add(fl_term_sums *s, uint64_t hash, double x) noexcept
    int64_t fl_sums_take_f32(fl_term_sums *s, int32_t *column, float *value) noexcept
    int64_t fl_sums_take_f64(fl_term_sums *s, int32_t *column, double *value) noexcept
    int64_t fl_entries_f32(fl_row row, int32_t *column, float *value) noexcept
    int64_t fl_entries_f64(fl_row row, int32_t *column, double *value) noexcept
    void fl_terms_of_degree_f32(const fl_polynomial *p, const fl_factors *row, int64_t k,
                                int64_t highest, int64_t first, int64_t last, fl_terms *out,
                                fl_term_sums *sums) noexcept
    void fl_terms_of_degree_f64(const fl_polynomial *p, const fl_factors *row, int64_t k,
                                int64_t highest, int64_t first, int64_t last, fl_terms *out,
                                fl_term_sums *sums) noexcept


cdef inline int64_t entries_of(fl_row row, int32_t *column, real *value) noexcept nogil:
    if real is float:
        return fl_entries_f32(row, column, value)
    else:
        return fl_entries_f64(row, column, value)


cdef inline int64_t sums_take(fl_term_sums *s, int32_t *column, real *value) noexcept nogil:
    if real is float:
        return fl_sums_take_f32(s, column, value)
    else:
        return fl_sums_take_f64(s, column, value)


cdef inline void terms_of_degree(const fl_polynomial *p, const fl_factors *row, int64_t k,
                                 int64_t highest, int64_t first, int64_t last, fl_terms *out,
                                 fl_term_sums *sums, const real *kind) noexcept nogil:
    if real is float:
        fl_terms_of_degree_f32(p, row, k, highest, first, last, out, sums)
    else:
        fl_terms_of_degree_f64(p, row, k, highest, first, last, out, sums)
