/* Responses to CSR rows that nobody has checked: a column outside [0, d) is found before it is read
 * through, in the same pass as the dot product. A pass of its own over the columns costs 0.3 ns per
 * entry; the comparisons beside the loads cost nothing that can be measured.
 *
 * The lanes are those of fl_dot, and so are the bits. */
#ifndef FL_RESPOND_H
#define FL_RESPOND_H

#include "fl_rows.h"

/* How many entries ahead weights are fetched where they don't fit the second-level cache, and the
 * entries themselves: the processor's own guess stops at the end of each page (15 to 25 % of the
 * time). */
#define FL_WEIGHTS_AHEAD 32
#define FL_ENTRIES_AHEAD 256

/* Whether all columns are at most `last`, which negative ones are not. */
FL_INLINE int fl_columns_fit(const int32_t *FL_RESTRICT j, int64_t size, uint32_t last) {
    uint32_t signs = 0;
    for (int64_t k = 0; k < size; k++) signs |= (uint32_t)j[k] | (last - (uint32_t)j[k]);
    return signs >> 31 == 0;
}

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#include "fl_respond.inc.h"
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#include "fl_respond.inc.h"
#undef FL_REAL
#undef FL_TYPED

#endif
