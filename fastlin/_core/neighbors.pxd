"""The contract with fl_neighbors.h."""

from .c cimport fl_row, fl_rows, int32_t, int64_t


cdef extern from "fl_neighbors.h" nogil:
    struct fl_query:
        int64_t size
        const int32_t *column
        const double *value
    struct fl_nearest:
        int64_t k
        int64_t size
        double *distance
        int64_t *number
    int64_t fl_candidates(fl_nearest *h, const double *square, const double *product, double own,
                          double error, int64_t n, int64_t left_out, int64_t *candidate) noexcept
    void fl_query_of_f32(fl_row row, int64_t d, int32_t *column, double *value,
                         fl_query *q) noexcept
    void fl_query_of_f64(fl_row row, int64_t d, int32_t *column, double *value,
                         fl_query *q) noexcept
    void fl_add_products_f32(const fl_query *q, const fl_rows *columns, double *product) noexcept
    void fl_add_products_f64(const fl_query *q, const fl_rows *columns, double *product) noexcept
    void fl_choose_nearest_f32(fl_nearest *h, const fl_query *q, const fl_rows *X,
                               int unit, const int64_t *candidate, int64_t size) noexcept
    void fl_choose_nearest_f64(fl_nearest *h, const fl_query *q, const fl_rows *X,
                               int unit, const int64_t *candidate, int64_t size) noexcept
