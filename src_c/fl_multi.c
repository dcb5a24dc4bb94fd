/* Compiled once per type and instruction set. What comes out are a table named FL_MULTI_TABLE, and
 * one of what exact models call, FL_EXACT_TABLE: of float, their descent; of double, that is with
 * FL_MULTI_DOUBLE defined, their certificates, with fl_logs of fl_math.h as FL_LOGS and the
 * logistic loss of many rows as FL_LOGISTIC_TABLE. */
#include "fl_logistic.h"
#include "fl_multi.h"

#ifdef FL_HAS_SSE2
#  include <immintrin.h>
#endif

#ifdef FL_MULTI_DOUBLE
#  define FL_REAL double
#  define FL_REAL_BYTES 8
#  define FL_TYPED(name) name##_f64
#  define FL_SCALE_MIN FL_SCALE_MIN_F64
#  define FL_MEAN_SCALE_MIN FL_MEAN_SCALE_MIN_F64
#else
#  define FL_REAL float
#  define FL_REAL_BYTES 4
#  define FL_TYPED(name) name##_f32
#  define FL_SCALE_MIN FL_SCALE_MIN_F32
#  define FL_MEAN_SCALE_MIN FL_MEAN_SCALE_MIN_F32
#endif

#define FL_LANES 4
#define FL_LANED(name) name##_4
#include "fl_multi.inc.h"

#define FL_LANES 8
#define FL_LANED(name) name##_8
#include "fl_multi.inc.h"

#define FL_LANES 16
#define FL_LANED(name) name##_16
#include "fl_multi.inc.h"

#define FL_ONLY_EXACT
#define FL_LANES 24
#define FL_LANED(name) name##_24
#include "fl_multi.inc.h"

#include "fl_joint_dual.inc.h"

#define FL_KERNELS(n) \
    {fl_multi_step_##n, fl_multi_respond_##n, fl_multi_norms_##n, fl_multi_publish_##n}

extern const struct fl_multi_table FL_MULTI_TABLE;
const struct fl_multi_table FL_MULTI_TABLE = {
    {FL_KERNELS(4), FL_KERNELS(8), FL_KERNELS(16)},
    {FL_TYPED(fl_joint_respond), FL_TYPED(fl_joint_add), FL_TYPED(fl_joint_dual_step)}};

#ifdef FL_MULTI_DOUBLE
#  define FL_EXACT fl_certifying_kernels
#  define FL_EXACT_KERNELS(n) {fl_dual_add_##n, fl_multi_respond_##n, fl_dual_sums_##n}

void FL_LOGS(double *x, int64_t n);
void FL_LOGS(double *x, int64_t n) { fl_logs(x, n); }

static double fl_expand_here(const double *z, const double *y, const double *weight, double share,
                             double least, double *r, double *h, int64_t n) {
    return fl_logistic_expand(z, y, weight, share, least, r, h, n);
}

static double fl_conjugate_here(const double *dual, const double *y, const double *weight,
                                double c, int64_t n) {
    return fl_logistic_conjugate(dual, y, weight, c, n);
}

extern const struct fl_logistic_kernels FL_LOGISTIC_TABLE;
const struct fl_logistic_kernels FL_LOGISTIC_TABLE = {fl_expand_here, fl_conjugate_here};
#else
#  define FL_EXACT fl_descent_kernels
#  define FL_EXACT_KERNELS(n) {fl_dual_step_##n, fl_dual_add_##n}
#endif

extern const struct FL_EXACT FL_EXACT_TABLE[4];
const struct FL_EXACT FL_EXACT_TABLE[4] = {FL_EXACT_KERNELS(4), FL_EXACT_KERNELS(8),
                                           FL_EXACT_KERNELS(16), FL_EXACT_KERNELS(24)};
