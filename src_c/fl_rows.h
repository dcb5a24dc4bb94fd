/* Rows of a matrix in one of four layouts, and the one place where a layout is decoded.
 *
 *   DENSE   n x d values, row-major
 *   CSR     indptr (n + 1), indices, values
 *   ONES    as CSR, each value is 1 and not stored; indptr may be absent when every row has `width`
 *           entries (one-hot data)
 *   SIGNED  as ONES, with values +1 and -1: the index j stands for +1 at column j, ~j for -1
 *
 * Columns within a row are distinct and lie in [0, d): the door (_data.py) has seen to it, and
 * the unrolled updates rely on it. A stored zero counts as absent, so that storage never changes a
 * model. `values` points to float or double; the functions for both come from fl_rows.inc.h.
 */
#ifndef FL_ROWS_H
#define FL_ROWS_H

#include <string.h>

#include "fl_four.h"

/* Weights beyond this many bytes don't fit the second-level cache, and fetching those of the rows
 * to come pays; below it costs (measured: -36 % at 4 MB, +24 % at 188 KB). */
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
enum { FL_LINE_ENTRIES = FL_LINE / sizeof(int32_t) }; /* columns in a line */

/* Entries from which on a row is too long for a step to fetch another's memory at once. */
#define FL_LONG_ROW 192
FL_INLINE int fl_is_long(struct fl_row row) {
    return row.layout == FL_CSR && row.size >= FL_LONG_ROW;
}
/* Whether rows are that long in the mean. */
FL_INLINE int fl_has_long(const struct fl_rows *X) {
    return X->layout == FL_CSR && X->n > 0 && X->indptr[X->n] - X->indptr[0] >= X->n * FL_LONG_ROW;
}

FL_INLINE void fl_prefetch_span(const void *start, int64_t bytes) {
    const char *p = (const char *)start;
    for (int64_t k = 0; k < bytes; k += FL_LINE) FL_PREFETCH_L2(p + k);
}

/* What a learner keeps per column: arrays with so many bytes for each. Where they don't fit the
 * second-level cache, those of the row `ahead` steps on are fetched; ahead = 0: never. Those of the
 * row `ahead_in_dot` steps on are left to the dot products (`fl_per_column_weave`). */
#define FL_MOST_PER_COLUMN 6
struct fl_per_column {
    int64_t ahead, ahead_in_dot;
    int n;
    const char *start[FL_MOST_PER_COLUMN];
    int64_t bytes[FL_MOST_PER_COLUMN];
};

FL_INLINE struct fl_per_column fl_per_column_none(void) {
    struct fl_per_column nothing = {0};
    return nothing;
}

/* One more array, unless it is NULL. */
FL_INLINE void fl_per_column_add(struct fl_per_column *all, const void *start, int64_t bytes) {
    if (start == NULL) return;
    FL_ASSERT(all->n < FL_MOST_PER_COLUMN);
    all->start[all->n] = (const char *)start;
    all->bytes[all->n] = bytes;
    all->n++;
}

/* Lines to ask for before they are needed. At 30 entries a row a step costs 8.0 ns an entry with
 * the next row's weights on their way, 4.7 ns with those of four rows. Of rows longer than this the
 * next one is fetched: at 541 entries a row an epoch takes half the time (4.2 ns an entry without,
 * 4.3 into the first-level cache, 2.2 into the second), as long as its lines are a small part of
 * that cache. */
#define FL_LINES_AHEAD 160
#define FL_MOST_LINES_AHEAD 2048
#define FL_MOST_ROWS_AHEAD 16

/* Settle how many rows ahead to fetch. */
FL_INLINE void fl_per_column_plan(struct fl_per_column *all, const struct fl_rows *X) {
    int64_t bytes = 0, lines = 0;
    all->ahead = 0;
    if (X->layout == FL_DENSE || X->n == 0) return;
    for (int a = 0; a < all->n; a++) {
        bytes += all->bytes[a];
        lines += (all->bytes[a] + FL_LINE - 1) / FL_LINE;
    }
    lines *= (X->indptr ? X->indptr[X->n] : X->n * X->width) / X->n;
    if (X->d * bytes <= FL_NEAR_BYTES || lines == 0 || lines > FL_MOST_LINES_AHEAD) return;
    all->ahead = FL_LINES_AHEAD / lines;
    if (all->ahead > FL_MOST_ROWS_AHEAD) all->ahead = FL_MOST_ROWS_AHEAD;
    if (all->ahead == 0) all->ahead = 1;
}

/* Fetch those of the next row at least, unless all are near: for lines that hold many weights. */
FL_INLINE void fl_per_column_plan_next(struct fl_per_column *all, const struct fl_rows *X) {
    int64_t bytes = 0;
    if (all->ahead || X->layout == FL_DENSE) return;
    for (int a = 0; a < all->n; a++) bytes += all->bytes[a];
    if (X->d * bytes > FL_NEAR_BYTES) all->ahead = 1;
}

/* Leave the fetching of a single array to dot products, between whose loads there is room for it:
 * that saves a tenth of the time of an epoch. */
FL_INLINE void fl_per_column_weave(struct fl_per_column *all, const struct fl_rows *X) {
    if (all->n != 1 || X->layout == FL_SIGNED) return;
    all->ahead_in_dot = all->ahead;
    all->ahead = 0;
}

/* Fetch what is kept for the columns of row i. */
FL_INLINE void fl_prefetch_columns(const struct fl_rows *X, int64_t i,
                                   const struct fl_per_column *all) {
    const int32_t *indices = X->indices + fl_row_start(X, i);
    const int64_t size = fl_row_size(X, i);
    for (int a = 0; a < all->n; a++) {
        const char *start = all->start[a];
        const int64_t bytes = all->bytes[a];
        if (X->layout == FL_SIGNED || bytes > FL_LINE) {
            for (int64_t k = 0; k < size; k++) {
                fl_prefetch_span(start + fl_signed_column(indices[k]) * bytes, bytes);
            }
        } else {
            for (int64_t k = 0; k < size; k++) FL_PREFETCH_L2(start + indices[k] * bytes);
        }
    }
}

/* term(k) for each entry k of a row, in four chains a, b, c, d. */
#define FL_SUM(term)                     \
    for (; k + 4 <= size; k += 4) {      \
        FL_KEEP_SCALAR();                \
        a += term(k);                    \
        b += term(k + 1);                \
        c += term(k + 2);                \
        d += term(k + 3);                \
    }                                    \
    for (; k < size; k++) {              \
        FL_KEEP_SCALAR();                \
        a += term(k);                    \
    }

/* Adding this to the bits of a magnitude carries into the sign where the exponent is that of NaN
 * and infinity: integers, since compilers leave comparisons of floats out of vector registers. */
#define FL_REAL float
#define FL_TYPED(name) name##_f32
#define FL_BITS uint32_t
#define FL_MAGNITUDE 0x7fffffffu
#define FL_TO_SIGN 0x00800000u
#include "fl_rows.inc.h"
#undef FL_BITS
#undef FL_MAGNITUDE
#undef FL_TO_SIGN
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#define FL_BITS uint64_t
#define FL_MAGNITUDE 0x7fffffffffffffffu
#define FL_TO_SIGN 0x0010000000000000u
#include "fl_rows.inc.h"
#undef FL_BITS
#undef FL_MAGNITUDE
#undef FL_TO_SIGN
#undef FL_REAL
#undef FL_TYPED

#endif
