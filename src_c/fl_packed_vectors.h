/* Vectors of float and of double for the packed adaptive steps (fl_packed_wide.inc.h), as wide as
 * pays with the instruction set of this compilation, and how what is kept per column comes into
 * them and goes back. own[l] is the place of entry l: its weight, its moments, its last visit.
 *
 *   FL_P_F32(op)          the intrinsic of an operation on vectors of float
 *   fl_p_f32              their type, of FL_P_SIZE_F32 numbers
 *   fl_p_take_two_f32     vectors of what each own[l] begins with, two of each
 *   fl_p_take_four_f32    or all four
 *   fl_p_put_two_f32, fl_p_put_four_f32       the way back
 *   fl_p_visit_f32        the step t as a last visit that all have
 *   fl_p_steps_f32        the number of steps from one visit to another
 *   FL_P_ZEROS_F32        a bit for each number that is 0
 *
 * and the same with f64. FL_P_WIDE is defined where there are any.
 */
#ifndef FL_PACKED_VECTORS_H
#define FL_PACKED_VECTORS_H

#include "fl_common.h"

#ifdef FL_SSE2
#  define FL_P_WIDE

/* A vector of floats in parts of four; operations and shuffles go by part. */
#  if defined(FL_ISA_AVX2) || defined(FL_ISA_AVX512)
#    include <immintrin.h>
enum { FL_P_SIZE_F32 = 8 };
typedef __m256 fl_p_f32;
#    define FL_P_F32(op) _mm256_##op##_ps
#    define FL_P_COUNTS(op) _mm256_##op##_epi32
#    define FL_P_TO_COUNTS _mm256_castps_si256
#    define FL_P_OF_COUNTS _mm256_castsi256_ps
#    define FL_P_CONVERT _mm256_cvtepi32_ps
#    define FL_P_JOINED_F32(a, b) _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1)
#    define FL_P_ZEROS_F32(a) \
        _mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_EQ_OQ))
#    define FL_P_FIRST_F32(a) _mm256_castps256_ps128(a)
#    define FL_P_SECOND_F32(a) _mm256_extractf128_ps(a, 1)
#  else
enum { FL_P_SIZE_F32 = 4 };
typedef __m128 fl_p_f32;
#    define FL_P_F32(op) _mm_##op##_ps
#    define FL_P_COUNTS(op) _mm_##op##_epi32
#    define FL_P_TO_COUNTS _mm_castps_si128
#    define FL_P_OF_COUNTS _mm_castsi128_ps
#    define FL_P_CONVERT _mm_cvtepi32_ps
#    define FL_P_ZEROS_F32(a) _mm_movemask_ps(_mm_cmpeq_ps(a, _mm_setzero_ps()))
#    define FL_P_FIRST_F32(a) a
#  endif

/* The fours at own[0], own[4] */
FL_INLINE fl_p_f32 fl_p_load(float *const *own) {
#  ifdef FL_P_SECOND_F32
    return FL_P_JOINED_F32(_mm_loadu_ps(own[0]), _mm_loadu_ps(own[4]));
#  else
    return _mm_loadu_ps(own[0]);
#  endif
}

FL_INLINE void fl_p_store(float *const *own, fl_p_f32 a) {
    _mm_storeu_ps(own[0], FL_P_FIRST_F32(a));
#  ifdef FL_P_SECOND_F32
    _mm_storeu_ps(own[4], FL_P_SECOND_F32(a));
#  endif
}

/* The twos at own[0] and own[1], own[4] and own[5] */
FL_INLINE __m128 fl_p_load_two(float *const *own) {
    const __m128 low = _mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)own[0]);
    return _mm_loadh_pi(low, (const __m64 *)own[1]);
}

FL_INLINE fl_p_f32 fl_p_load_twos(float *const *own) {
#  ifdef FL_P_SECOND_F32
    return FL_P_JOINED_F32(fl_p_load_two(own), fl_p_load_two(own + 4));
#  else
    return fl_p_load_two(own);
#  endif
}

FL_INLINE void fl_p_store_two(float *const *own, __m128 a) {
    _mm_storel_pi((__m64 *)own[0], a);
    _mm_storeh_pi((__m64 *)own[1], a);
}

FL_INLINE void fl_p_store_twos(float *const *own, fl_p_f32 a) {
    fl_p_store_two(own, FL_P_FIRST_F32(a));
#  ifdef FL_P_SECOND_F32
    fl_p_store_two(own + 4, FL_P_SECOND_F32(a));
#  endif
}

FL_INLINE void fl_p_take_two_f32(float *const *own, fl_p_f32 *a, fl_p_f32 *b) {
    const fl_p_f32 low = fl_p_load_twos(own), high = fl_p_load_twos(own + 2);
    *a = FL_P_F32(shuffle)(low, high, _MM_SHUFFLE(2, 0, 2, 0));
    *b = FL_P_F32(shuffle)(low, high, _MM_SHUFFLE(3, 1, 3, 1));
}

FL_INLINE void fl_p_put_two_f32(float *const *own, fl_p_f32 a, fl_p_f32 b) {
    fl_p_store_twos(own, FL_P_F32(unpacklo)(a, b));
    fl_p_store_twos(own + 2, FL_P_F32(unpackhi)(a, b));
}

/* Rows to columns, in each part of four. */
FL_INLINE void fl_p_transpose(fl_p_f32 *a, fl_p_f32 *b, fl_p_f32 *c, fl_p_f32 *d) {
    const fl_p_f32 ab = FL_P_F32(unpacklo)(*a, *b), cd = FL_P_F32(unpacklo)(*c, *d);
    const fl_p_f32 high_ab = FL_P_F32(unpackhi)(*a, *b), high_cd = FL_P_F32(unpackhi)(*c, *d);
    *a = FL_P_F32(shuffle)(ab, cd, _MM_SHUFFLE(1, 0, 1, 0));
    *b = FL_P_F32(shuffle)(ab, cd, _MM_SHUFFLE(3, 2, 3, 2));
    *c = FL_P_F32(shuffle)(high_ab, high_cd, _MM_SHUFFLE(1, 0, 1, 0));
    *d = FL_P_F32(shuffle)(high_ab, high_cd, _MM_SHUFFLE(3, 2, 3, 2));
}

FL_INLINE void fl_p_take_four_f32(float *const *own, fl_p_f32 *a, fl_p_f32 *b, fl_p_f32 *c,
                                  fl_p_f32 *d) {
    *a = fl_p_load(own), *b = fl_p_load(own + 1), *c = fl_p_load(own + 2), *d = fl_p_load(own + 3);
    fl_p_transpose(a, b, c, d);
}

FL_INLINE void fl_p_put_four_f32(float *const *own, fl_p_f32 a, fl_p_f32 b, fl_p_f32 c,
                                 fl_p_f32 d) {
    fl_p_transpose(&a, &b, &c, &d);
    fl_p_store(own, a), fl_p_store(own + 1, b), fl_p_store(own + 2, c), fl_p_store(own + 3, d);
}

FL_INLINE fl_p_f32 fl_p_visit_f32(double t) {
    return FL_P_OF_COUNTS(FL_P_COUNTS(set1)((int32_t)t));
}

FL_INLINE fl_p_f32 fl_p_steps_f32(fl_p_f32 now, fl_p_f32 last) {
    return FL_P_CONVERT(FL_P_COUNTS(sub)(FL_P_TO_COUNTS(now), FL_P_TO_COUNTS(last)));
}

/* A vector of doubles in parts of two. */
#  if defined(FL_ISA_AVX512)
enum { FL_P_SIZE_F64 = 8 };
typedef __m512d fl_p_f64;
#    define FL_P_F64(op) _mm512_##op##_pd
#    define FL_P_ZEROS_F64(a) _mm512_cmp_pd_mask(a, _mm512_setzero_pd(), _CMP_EQ_OQ)

/* The twos at own[0], own[2], own[4], own[6] */
FL_INLINE __m512d fl_p_load_pairs(double *const *own, int place) {
    const __m256d low = _mm256_insertf128_pd(
        _mm256_castpd128_pd256(_mm_loadu_pd(own[0] + place)), _mm_loadu_pd(own[2] + place), 1);
    const __m256d high = _mm256_insertf128_pd(
        _mm256_castpd128_pd256(_mm_loadu_pd(own[4] + place)), _mm_loadu_pd(own[6] + place), 1);
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

FL_INLINE void fl_p_store_pairs(double *const *own, int place, __m512d a) {
    const __m256d low = _mm512_castpd512_pd256(a), high = _mm512_extractf64x4_pd(a, 1);
    _mm_storeu_pd(own[0] + place, _mm256_castpd256_pd128(low));
    _mm_storeu_pd(own[2] + place, _mm256_extractf128_pd(low, 1));
    _mm_storeu_pd(own[4] + place, _mm256_castpd256_pd128(high));
    _mm_storeu_pd(own[6] + place, _mm256_extractf128_pd(high, 1));
}
#  elif defined(FL_ISA_AVX2)
enum { FL_P_SIZE_F64 = 4 };
typedef __m256d fl_p_f64;
#    define FL_P_F64(op) _mm256_##op##_pd
#    define FL_P_ZEROS_F64(a) \
        _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_setzero_pd(), _CMP_EQ_OQ))

/* The twos at own[0], own[2] */
FL_INLINE __m256d fl_p_load_pairs(double *const *own, int place) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(own[0] + place)),
                                _mm_loadu_pd(own[2] + place), 1);
}

FL_INLINE void fl_p_store_pairs(double *const *own, int place, __m256d a) {
    _mm_storeu_pd(own[0] + place, _mm256_castpd256_pd128(a));
    _mm_storeu_pd(own[2] + place, _mm256_extractf128_pd(a, 1));
}
#  else
enum { FL_P_SIZE_F64 = 2 };
typedef __m128d fl_p_f64;
#    define FL_P_F64(op) _mm_##op##_pd
#    define FL_P_ZEROS_F64(a) _mm_movemask_pd(_mm_cmpeq_pd(a, _mm_setzero_pd()))

FL_INLINE __m128d fl_p_load_pairs(double *const *own, int place) {
    return _mm_loadu_pd(own[0] + place);
}

FL_INLINE void fl_p_store_pairs(double *const *own, int place, __m128d a) {
    _mm_storeu_pd(own[0] + place, a);
}
#  endif

FL_INLINE void fl_p_take_two_f64(double *const *own, fl_p_f64 *a, fl_p_f64 *b) {
    const fl_p_f64 even = fl_p_load_pairs(own, 0), odd = fl_p_load_pairs(own + 1, 0);
    *a = FL_P_F64(unpacklo)(even, odd);
    *b = FL_P_F64(unpackhi)(even, odd);
}

FL_INLINE void fl_p_put_two_f64(double *const *own, fl_p_f64 a, fl_p_f64 b) {
    fl_p_store_pairs(own, 0, FL_P_F64(unpacklo)(a, b));
    fl_p_store_pairs(own + 1, 0, FL_P_F64(unpackhi)(a, b));
}

FL_INLINE void fl_p_take_four_f64(double *const *own, fl_p_f64 *a, fl_p_f64 *b, fl_p_f64 *c,
                                  fl_p_f64 *d) {
    fl_p_take_two_f64(own, a, b);
    const fl_p_f64 even = fl_p_load_pairs(own, 2), odd = fl_p_load_pairs(own + 1, 2);
    *c = FL_P_F64(unpacklo)(even, odd);
    *d = FL_P_F64(unpackhi)(even, odd);
}

FL_INLINE void fl_p_put_four_f64(double *const *own, fl_p_f64 a, fl_p_f64 b, fl_p_f64 c,
                                 fl_p_f64 d) {
    fl_p_put_two_f64(own, a, b);
    fl_p_store_pairs(own, 2, FL_P_F64(unpacklo)(c, d));
    fl_p_store_pairs(own + 1, 2, FL_P_F64(unpackhi)(c, d));
}

FL_INLINE fl_p_f64 fl_p_visit_f64(double t) { return FL_P_F64(set1)(t); }

FL_INLINE fl_p_f64 fl_p_steps_f64(fl_p_f64 now, fl_p_f64 last) { return FL_P_F64(sub)(now, last); }

#endif

#endif
