from .c cimport fl_per_column
from .rows cimport Rows


# How far ahead to fetch what v holds for the columns of a row.
cdef fl_per_column planned(Rows X, const double *v) noexcept nogil
# out_i = x_i.w + intercept for start <= i < stop
cdef void respond_to_rows(Rows X, const double *w, double intercept, double *out,
                          Py_ssize_t start, Py_ssize_t stop,
                          const fl_per_column *columns) noexcept nogil
# out += sum_i h_i c_i x_i over start <= i < stop; h may be NULL: 1
cdef void add_multiples(Rows X, const double *c, const double *h, double *out, Py_ssize_t start,
                        Py_ssize_t stop, const fl_per_column *columns) noexcept nogil
