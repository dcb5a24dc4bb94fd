/* Adaptive steps of one output whose weights lie beside all that is kept with them, so that an
 * entry of a row that misses the cache misses it once: P begins at a line. P[j << shift] is the
 * weight of column j; after it come its one or two moments; a fourth place holds the step of its
 * last visit where there is a penalty: as an integer beside floats, which cannot hold them all.
 * shift is 1 if two places are enough, else 2. Arithmetic and bits are those of fl_joint.h. */
#ifndef FL_PACKED_H
#define FL_PACKED_H

#include <string.h>

#include "fl_joint.h"
#include "fl_packed_vectors.h"

enum { FL_LAST_VISIT = 3 };

/* Steps add the weights that come out to these many sums, which stay finite as long as all weights
 * are: so nobody has to look for an overflow in a million columns after each epoch. A sum may
 * overflow by itself; then there is reason to look. */
enum { FL_PACKED_SUMS = 8 };

/* What a row's update fetches for later steps: a row's entries, and what is kept for the columns of
 * another. Either may be empty. Between square roots and divisions there is more room for the
 * columns than in a dot product: with long rows of double and 1.3 million columns the two take a
 * tenth less time. With short rows they take more, up to a quarter with rows of ones. */
struct fl_packed_later {
    struct fl_row row, columns;
};

/* Which penalties there are */
enum fl_packed_penalty { FL_NO_PENALTY, FL_L2_PENALTY, FL_ANY_PENALTY };

/* There is a table for each instruction set and type, and all give the same bits. */
struct fl_packed_kernels {
    /* see fl_packed_row */
    void (*row)(const struct fl_adaptive *a, double sum_scale, struct fl_row row, double slope,
                void *P, int lazy, void *u, void *sums, struct fl_packed_later later);
    /* see fl_packed_publish */
    void (*publish)(const struct fl_adaptive *a, int64_t d, const void *P, void *w);
    /* see fl_packed_norms */
    void (*norms)(const struct fl_adaptive *a, int64_t d, const void *P, double norms[2]);
};

#define FL_REAL float
#define FL_TYPED(name) name##_f32
#define FL_VISIT int32_t
#define FL_VECTOR fl_p_f32
#define FL_P FL_P_F32
#define FL_P_SIZE FL_P_SIZE_F32
#define FL_P_ZEROS FL_P_ZEROS_F32
#include "fl_packed.inc.h"
#undef FL_VISIT
#undef FL_VECTOR
#undef FL_P
#undef FL_P_SIZE
#undef FL_P_ZEROS
#undef FL_REAL
#undef FL_TYPED

#define FL_REAL double
#define FL_TYPED(name) name##_f64
#define FL_VISIT double
#define FL_VECTOR fl_p_f64
#define FL_P FL_P_F64
#define FL_P_SIZE FL_P_SIZE_F64
#define FL_P_ZEROS FL_P_ZEROS_F64
#include "fl_packed.inc.h"
#undef FL_VISIT
#undef FL_VECTOR
#undef FL_P
#undef FL_P_SIZE
#undef FL_P_ZEROS
#undef FL_REAL
#undef FL_TYPED

#endif
