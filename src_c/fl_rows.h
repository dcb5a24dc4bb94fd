/* Rows of a matrix in one of four layouts, and the one place where a layout is decoded.
 *
 *   DENSE   n x d values, row-major
 *   CSR     indptr (n + 1), indices, values
 *   ONES    as CSR, each value is 1 and not stored; indptr may be absent when every row has `width`
 *           entries (one-hot data)
 *   SIGNED  as ONES, with values +1 and -1: the index j stands for +1 at column j, ~j for -1
 *
 * Columns within a row are distinct and lie in [0, d): the door (fl_check.h) has seen to it, and the
 * unrolled updates rely on it. A stored zero counts as absent, so that storage never changes a
 * model. `values` points to float or double; the functions for both come from fl_rows.inc.h.
 */
#ifndef FL_ROWS_H
#define FL_ROWS_H

#include "fl_common.h"

/* Weights beyond this many bytes don't fit the second-level cache, and fetching those of the rows to
 * come pays; below it costs (measured: -36 % at 4 MB, +24 % at 188 KB). */
#define FL_NEAR_BYTES (384 * 1024)

enum fl_layout { FL_DENSE, FL_CSR, FL_ONES, FL_SIGNED };

struct fl_rows {
    int layout;
    int64_t n, d;
    int64_t width;         /* entries per row where indptr is absent, else -1 */
    const int64_t *indptr; /* NULL: absent */
    const int32_t *indices;
    const void *values; /* NULL: ONES and SIGNED */
};

/* One row: where its entries start and how many there are. */
struct fl_row {
    int layout;
    int64_t size;
    const int32_t *indices;
    const void *values;
};

FL_INLINE int64_t fl_row_start(const struct fl_rows *X, int64_t i) {
    if (X->layout == FL_DENSE) return i * X->d;
    return X->indptr ? X->indptr[i] : i * X->width;
}

FL_INLINE int64_t fl_row_size(const struct fl_rows *X, int64_t i) {
    if (X->layout == FL_DENSE) return X->d;
    return X->indptr ? X->indptr[i + 1] - X->indptr[i] : X->width;
}

/* Column of a SIGNED entry */
FL_INLINE int32_t fl_signed_column(int32_t index) { return index < 0 ? ~index : index; }

/* The memory of row i is about to be needed: fetch the line that says where it lies. */
FL_INLINE void fl_prefetch_start(const struct fl_rows *X, int64_t i) {
    if (X->indptr) FL_PREFETCH(X->indptr + i);
}

#define FL_LINE 64

FL_INLINE void fl_prefetch_span(const void *start, int64_t bytes) {
    const char *p = (const char *)start;
    for (int64_t k = 0; k < bytes; k += FL_LINE) FL_PREFETCH(p + k);
}

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_rows.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_rows.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
