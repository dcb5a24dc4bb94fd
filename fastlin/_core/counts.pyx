"""Naive Bayes: entries counted by class, smoothed logarithms, scores of binary rows."""

from .c cimport (fl_count_f32, fl_count_f64, fl_count_scores_f32, fl_count_scores_f64,
                 fl_per_column, fl_per_column_add, fl_per_column_none, fl_per_column_plan,
                 fl_per_column_plan_next, fl_prefetch_columns, fl_prefetch_row_f32,
                 fl_prefetch_row_f64, fl_row_at_f32, fl_row_at_f64, fl_row_start, fl_rows,
                 fl_smoothed_logs, fl_smoothed_ratios, fl_smoothing, int32_t, int64_t)
from .multi cimport logs_for
from .rows cimport Rows


def sort_by_class(const int32_t[::1] codes, int64_t[::1] ends, int64_t[::1] order):
    """Write the numbers of the rows to `order`, class by class and in each as they come. `ends[k]`
    is where class k begins, and afterwards where it ends."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(codes.shape[0]):
            order[ends[codes[i]]] = i
            ends[codes[i]] += 1


def members_per_class(const int32_t[::1] codes, const unsigned char[::1] member,
                      int64_t[::1] counts):
    """Add the rows of a set to the counts of their classes."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(codes.shape[0]):
            counts[codes[i]] += member[i]


def rows_per_class(const int32_t[::1] codes, const int64_t[::1] rows, int64_t[::1] counts):
    """Add some rows to the counts of their classes."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(rows.shape[0]):
            counts[codes[rows[k]]] += 1


cdef fl_per_column planned(Rows X, const double[:, ::1] counts) noexcept:
    """What to fetch of the counts of a class before a row comes; all of them are in use."""
    cdef fl_per_column columns = fl_per_column_none()
    cdef fl_rows used = X.c
    used.d *= counts.shape[0]
    fl_per_column_add(&columns, &counts[0, 0], sizeof(double))
    fl_per_column_plan(&columns, &used)
    fl_per_column_plan_next(&columns, &used)
    return columns


def count(Rows X, bint binary, double threshold, const int32_t[::1] codes,
          const int64_t[::1] order, const double[::1] weight, double[:, ::1] counts,
          double[::1] mass, Py_ssize_t start, Py_ssize_t stop):
    """Add the rows order[start:stop], or without `order` start..stop-1, to the counts of their
    classes, and their weights to `mass`. Without `weight` each row weighs 1."""
    cdef Py_ssize_t k
    cdef int64_t i, later
    cdef double s = 1
    cdef double *own
    cdef bint weighted = weight.shape[0] > 0, ordered = order.shape[0] > 0
    cdef fl_per_column columns = planned(X, counts)
    with nogil:
        for k in range(start, stop):
            i = order[k] if ordered else k
            if ordered and k + 8 < stop:
                if X.is_float32:
                    fl_prefetch_row_f32(&X.c, order[k + 8])
                else:
                    fl_prefetch_row_f64(&X.c, order[k + 8])
            if columns.ahead and k + columns.ahead < stop:
                later = order[k + columns.ahead] if ordered else k + columns.ahead
                columns.start[0] = <const char *>&counts[codes[later], 0]
                fl_prefetch_columns(&X.c, later, &columns)
            if weighted:
                s = weight[i]
            mass[codes[i]] += s
            own = &counts[codes[i], 0]
            if X.is_float32:
                fl_count_f32(fl_row_at_f32(&X.c, i), binary, threshold, s, own)
            else:
                fl_count_f64(fl_row_at_f64(&X.c, i), binary, threshold, s, own)


cdef fl_smoothing smoothing(int isa, const double[:, ::1] counts, double sign,
                            const double[:, ::1] whole, const double[:, ::1] alpha,
                            const double[:, ::1] log_whole, const double[::1] shift,
                            double factor) noexcept nogil:
    """`whole`, `alpha` and `log_whole` are of one shape, of which one row or column may stand for
    all"""
    cdef fl_smoothing s
    s.K, s.d, s.sign, s.factor = counts.shape[0], counts.shape[1], sign, factor
    s.class_stride = whole.shape[1] if whole.shape[0] > 1 else 0
    s.feature_stride = 1 if whole.shape[1] > 1 else 0
    s.count, s.shift = &counts[0, 0], &shift[0]
    s.logs = logs_for(isa)
    s.whole, s.alpha, s.log_whole = &whole[0, 0], &alpha[0, 0], &log_whole[0, 0]
    return s


def smoothed_logs(int isa, const double[:, ::1] counts, double sign,
                  const double[:, ::1] whole, const double[:, ::1] alpha,
                  const double[:, ::1] log_whole, const double[::1] shift, double factor,
                  double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out_jk = factor (log(whole_kj + sign counts_kj + alpha_kj) - shift_k) for start <= j < stop;
    log_whole = log(whole + alpha)"""
    cdef fl_smoothing s = smoothing(isa, counts, sign, whole, alpha, log_whole, shift, factor)
    with nogil:
        fl_smoothed_logs(&s, start, stop, &out[0, 0])


def smoothed_ratios(int isa, const double[:, ::1] counts, const double[:, ::1] rest,
                    const double[:, ::1] alpha, const double[:, ::1] log_rest,
                    const double[:, ::1] none, const double[:, ::1] none_ratio,
                    const double[::1] no_shift, double[:, ::1] out, double[::1] sums,
                    Py_ssize_t start, Py_ssize_t stop):
    """out_jk = log(counts_kj + alpha_kj) - log(rest_kj - counts_kj + alpha_kj), start <= j < stop,
    and what counts other than 0 change in the second added to the sums_k. log_rest = log(rest +
    alpha), none_ratio = log(alpha) - log_rest; `none` and `no_shift` are zeros."""
    cdef fl_smoothing s = smoothing(isa, counts, 1, none, alpha, none_ratio, no_shift, 1)
    cdef fl_smoothing minus = smoothing(isa, counts, -1, rest, alpha, log_rest, no_shift, 1)
    with nogil:
        fl_smoothed_ratios(&s, &minus, start, stop, &out[0, 0], &sums[0])


def scores(Rows X, bint binary, double threshold, const double[:, ::1] V, const double[::1] b,
           double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out_i = b + V^T x_i for start <= i < stop, where x counts as itself or as [x > threshold]; V
    of shape (d, K)"""
    cdef Py_ssize_t i, k
    cdef int64_t K = b.shape[0], following
    cdef int64_t end = fl_row_start(&X.c, stop)
    with nogil:
        for i in range(start, stop):
            for k in range(K):
                out[i, k] = b[k]
            following = end - fl_row_start(&X.c, i + 1)
            if X.is_float32:
                fl_count_scores_f32(fl_row_at_f32(&X.c, i), following, binary, threshold, K,
                                    &V[0, 0], &out[i, 0])
            else:
                fl_count_scores_f64(fl_row_at_f64(&X.c, i), following, binary, threshold, K,
                                    &V[0, 0], &out[i, 0])
