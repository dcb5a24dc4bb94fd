from .c cimport fl_row, int32_t, int64_t


cdef extern from "fl_voted.h" nogil:
    void fl_postings_count_f32(fl_row row, int64_t *starts) noexcept
    void fl_postings_count_f64(fl_row row, int64_t *starts) noexcept
    void fl_postings_accumulate(int64_t *starts, int64_t d) noexcept
    void fl_postings_place_f32(fl_row row, int32_t number, int64_t *starts, int32_t *owner,
                               double *value) noexcept
    void fl_postings_place_f64(fl_row row, int32_t number, int64_t *starts, int32_t *owner,
                               double *value) noexcept
    void fl_postings_products_f32(fl_row row, const int64_t *starts, const int32_t *owner,
                                  const double *value, int64_t size, double *out) noexcept
    void fl_postings_products_f64(fl_row row, const int64_t *starts, const int32_t *owner,
                                  const double *value, int64_t size, double *out) noexcept
