/* The packed adaptive steps of float (fl_packed.h), four or eight entries at a time, as the
 * instruction set has room for, in vector registers from the loads to the stores: the weights of
 * four columns and what is kept with them come in four loads and turn into vectors of weights, of
 * moments, of visits. The loops over arrays of 64 entries, which any type and layout can have, take
 * 1.5 times as long as fours; square roots and divisions are a small part of it. Eights save a
 * quarter of an epoch of Adam with a penalty. Sixteen gain nothing over them (Zen 4): their places
 * don't fit the registers. Every number is rounded as there, so the bits are the same.
 */
#ifndef FL_PACKED_WIDE_H
#define FL_PACKED_WIDE_H

#include "fl_joint.h"

#ifdef FL_SSE2

/* A vector of FL_P_SIZE numbers in parts of four; operations and shuffles go by part. */
#  if defined(FL_ISA_AVX2) || defined(FL_ISA_AVX512)
#    include <immintrin.h>
enum { FL_P_SIZE = 8 };
typedef __m256 fl_p;
typedef __m256i fl_p_counts;
#    define FL_P(op) _mm256_##op##_ps
#    define FL_P_COUNTS(op) _mm256_##op##_epi32
#    define FL_P_TO_COUNTS _mm256_castps_si256
#    define FL_P_OF_COUNTS _mm256_castsi256_ps
#    define FL_P_CONVERT _mm256_cvtepi32_ps
#    define FL_P_JOINED(a, b) _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1)
#    define FL_P_ZEROS(a) FL_P(movemask)(_mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_EQ_OQ))
#    define FL_P_FIRST(a) _mm256_castps256_ps128(a)
#    define FL_P_SECOND(a) _mm256_extractf128_ps(a, 1)
#  else
enum { FL_P_SIZE = 4 };
typedef __m128 fl_p;
typedef __m128i fl_p_counts;
#    define FL_P(op) _mm_##op##_ps
#    define FL_P_COUNTS(op) _mm_##op##_epi32
#    define FL_P_TO_COUNTS _mm_castps_si128
#    define FL_P_OF_COUNTS _mm_castsi128_ps
#    define FL_P_CONVERT _mm_cvtepi32_ps
#    define FL_P_ZEROS(a) FL_P(movemask)(_mm_cmpeq_ps(a, _mm_setzero_ps()))
#    define FL_P_FIRST(a) a
#  endif

/* The fours at own[0], own[4] */
FL_INLINE fl_p fl_p_load(float *const *own) {
#  ifdef FL_P_SECOND
    return FL_P_JOINED(_mm_loadu_ps(own[0]), _mm_loadu_ps(own[4]));
#  else
    return _mm_loadu_ps(own[0]);
#  endif
}

FL_INLINE void fl_p_store(float *const *own, fl_p a) {
    _mm_storeu_ps(own[0], FL_P_FIRST(a));
#  ifdef FL_P_SECOND
    _mm_storeu_ps(own[4], FL_P_SECOND(a));
#  endif
}

/* The twos at own[0] and own[1], own[4] and own[5] */
FL_INLINE __m128 fl_p_load_two(float *const *own) {
    const __m128 low = _mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)own[0]);
    return _mm_loadh_pi(low, (const __m64 *)own[1]);
}

FL_INLINE fl_p fl_p_load_twos(float *const *own) {
#  ifdef FL_P_SECOND
    return FL_P_JOINED(fl_p_load_two(own), fl_p_load_two(own + 4));
#  else
    return fl_p_load_two(own);
#  endif
}

FL_INLINE void fl_p_store_two(float *const *own, __m128 a) {
    _mm_storel_pi((__m64 *)own[0], a);
    _mm_storeh_pi((__m64 *)own[1], a);
}

FL_INLINE void fl_p_store_twos(float *const *own, fl_p a) {
    fl_p_store_two(own, FL_P_FIRST(a));
#  ifdef FL_P_SECOND
    fl_p_store_two(own + 4, FL_P_SECOND(a));
#  endif
}

/* All bits of the first n numbers, 0 <= n <= FL_P_SIZE */
FL_INLINE fl_p fl_p_first(int64_t n) {
    static const int32_t bits[2 * FL_P_SIZE] = {
        -1, -1, -1, -1,
#  ifdef FL_P_SECOND
        -1, -1, -1, -1,
#  endif
    };
    float numbers[FL_P_SIZE];
    memcpy(numbers, bits + (FL_P_SIZE - n), sizeof numbers);
    return FL_P(loadu)(numbers);
}

/* Rows to columns, in each part of four. */
FL_INLINE void fl_p_transpose(fl_p *a, fl_p *b, fl_p *c, fl_p *d) {
    const fl_p ab = FL_P(unpacklo)(*a, *b), cd = FL_P(unpacklo)(*c, *d);
    const fl_p high_ab = FL_P(unpackhi)(*a, *b), high_cd = FL_P(unpackhi)(*c, *d);
    *a = FL_P(shuffle)(ab, cd, _MM_SHUFFLE(1, 0, 1, 0));
    *b = FL_P(shuffle)(ab, cd, _MM_SHUFFLE(3, 2, 3, 2));
    *c = FL_P(shuffle)(high_ab, high_cd, _MM_SHUFFLE(1, 0, 1, 0));
    *d = FL_P(shuffle)(high_ab, high_cd, _MM_SHUFFLE(3, 2, 3, 2));
}

/* Constants of a step, each FL_P_SIZE times. */
struct fl_packed_constants {
    fl_p eta, decay, decay1, rest, rest1, epsilon, l1, l2;
    fl_p_counts now;
};

FL_INLINE struct fl_packed_constants fl_packed_prepare(const struct fl_adaptive *a) {
    struct fl_packed_constants c;
    c.eta = FL_P(set1)((float)a->eta);
    c.decay = FL_P(set1)((float)a->decay);
    c.decay1 = FL_P(set1)((float)a->decay1);
    c.rest = FL_P(set1)((float)(1.0 - a->decay));
    c.rest1 = FL_P(set1)((float)(1.0 - a->decay1));
    c.epsilon = FL_P(set1)((float)a->epsilon);
    c.l1 = FL_P(set1)((float)a->l1);
    c.l2 = FL_P(set1)((float)a->l2);
    c.now = FL_P_COUNTS(set1)((int32_t)a->t);
    return c;
}

/* x <- decay x + rest g h */
FL_INLINE fl_p fl_packed_fade(fl_p x, fl_p decay, fl_p rest, fl_p g, fl_p h) {
    return FL_P(add)(FL_P(mul)(decay, x), FL_P(mul)(FL_P(mul)(rest, g), h));
}

/* Which penalties there are. Of l2 alone shrink(w, 0) = w is left out. */
enum fl_packed_penalty { FL_NO_PENALTY, FL_L2_PENALTY, FL_ANY_PENALTY };

/* fl_adaptive_change and fl_adaptive_shrink: the new weights of FL_P_SIZE columns. */
FL_INLINE fl_p fl_packed_change(const struct fl_packed_constants *c, const int optimizer,
                                const int penalty, fl_p g, fl_p w, fl_p *ma, fl_p *mb,
                                fl_p_counts last) {
    fl_p h, size, magnitude;
    const fl_p sign = FL_P(set1)(-0.0f), two = FL_P(set1)(2.0f);
    if (optimizer == FL_ADAGRAD) {
        *ma = FL_P(add)(*ma, FL_P(mul)(g, g));
    } else {
        *ma = fl_packed_fade(*ma, c->decay, c->rest, g, g);
    }
    if (optimizer == FL_ADAM) {
        *mb = FL_P(add)(FL_P(mul)(c->decay1, *mb), FL_P(mul)(c->rest1, g));
        g = *mb;
    }
    if (optimizer == FL_ADADELTA) {
        const fl_p share = FL_P(div)(FL_P(add)(*mb, c->epsilon), FL_P(add)(*ma, c->epsilon));
        h = FL_P(mul)(c->eta, FL_P(sqrt)(share));
    } else {
        h = FL_P(div)(c->eta, FL_P(add)(FL_P(sqrt)(*ma), c->epsilon));
    }
    const fl_p step = FL_P(mul)(h, g);
    if (optimizer == FL_ADADELTA) *mb = fl_packed_fade(*mb, c->decay, c->rest, step, step);
    w = FL_P(sub)(w, step);
    if (penalty == FL_NO_PENALTY) return w;
    h = FL_P(mul)(h, FL_P_CONVERT(FL_P_COUNTS(sub)(c->now, last)));
    if (penalty == FL_L2_PENALTY) {
        return FL_P(div)(w, FL_P(add)(FL_P(set1)(1.0f), FL_P(mul)(h, c->l2)));
    }
    size = FL_P(sub)(FL_P(andnot)(sign, w), FL_P(mul)(h, c->l1));
    magnitude = FL_P(div)(FL_P(add)(size, FL_P(andnot)(sign, size)),
                          FL_P(add)(two, FL_P(mul)(FL_P(mul)(two, h), c->l2)));
    return FL_P(or)(FL_P(andnot)(sign, magnitude), FL_P(and)(sign, w));
}

/* The step of FL_P_SIZE columns with gradients g, of which own[l] is the place. */
FL_INLINE void fl_packed_some(const struct fl_packed_constants *c, const int optimizer,
                              const int penalty, fl_p g, float *const *own) {
    fl_p w, ma, mb;
    if (!penalty && !fl_has_two_moments(optimizer)) { /* in twos */
        fl_p low = fl_p_load_twos(own), high = fl_p_load_twos(own + 2);
        w = FL_P(shuffle)(low, high, _MM_SHUFFLE(2, 0, 2, 0));
        ma = FL_P(shuffle)(low, high, _MM_SHUFFLE(3, 1, 3, 1));
        w = fl_packed_change(c, optimizer, penalty, g, w, &ma, &mb, c->now);
        fl_p_store_twos(own, FL_P(unpacklo)(w, ma));
        fl_p_store_twos(own + 2, FL_P(unpackhi)(w, ma));
        return;
    }
    fl_p last = fl_p_load(own + 3);
    w = fl_p_load(own), ma = fl_p_load(own + 1), mb = fl_p_load(own + 2);
    fl_p_transpose(&w, &ma, &mb, &last);
    w = fl_packed_change(c, optimizer, penalty, g, w, &ma, &mb, FL_P_TO_COUNTS(last));
    if (penalty) last = FL_P_OF_COUNTS(c->now);
    fl_p_transpose(&w, &ma, &mb, &last);
    fl_p_store(own, w), fl_p_store(own + 1, ma);
    fl_p_store(own + 2, mb), fl_p_store(own + 3, last);
}

/* The steps of a row, from its last entry to its first as in fl_axpy_fetching, with the memory of
 * the row `later` fetched on the way. At the beginning of the row fewer entries than a vector holds
 * may be left; the others, and stored zeros, take their steps in a place of no use. */
FL_INLINE void fl_packed_by_some(const struct fl_adaptive *a, struct fl_row row, double slope,
                                 float *FL_RESTRICT P, const int optimizer, const int penalty,
                                 struct fl_row later) {
    const int shift = !penalty && !fl_has_two_moments(optimizer) ? 1 : 2;
    const struct fl_packed_constants c = fl_packed_prepare(a);
    const fl_p slopes = FL_P(set1)((float)slope);
    const int32_t *j = row.indices;
    const float *x = row.layout == FL_CSR ? (const float *)row.values : NULL;
    int32_t few_j[FL_P_SIZE] = {0};
    float few_x[FL_P_SIZE] = {0}, spare[4] = {0};
    int64_t fetched = 0;
    if (row.size < FL_P_SIZE) { /* fewer than a load takes */
        memcpy(few_j, j, (size_t)row.size * sizeof *j);
        if (x) memcpy(few_x, x, (size_t)row.size * sizeof *x);
        j = few_j, x = x ? few_x : NULL;
    }
    for (int64_t k = row.size; k > 0; k -= FL_P_SIZE) {
        const int64_t first = k < FL_P_SIZE ? 0 : k - FL_P_SIZE;
        fl_p factors = x ? FL_P(loadu)(x + first) : FL_P(set1)(1.0f);
        float *own[FL_P_SIZE];
        if (k % FL_LINE_ENTRIES < FL_P_SIZE && fetched < later.size) {
            fl_prefetch_entries_f32(later, fetched);
            fetched += FL_LINE_ENTRIES;
        }
        for (int l = 0; l < FL_P_SIZE; l++) own[l] = P + ((int64_t)j[first + l] << shift);
        if (FL_UNLIKELY(k < FL_P_SIZE)) factors = FL_P(and)(factors, fl_p_first(k));
        const int missing = FL_P_ZEROS(factors);
        if (FL_UNLIKELY(missing)) {
            for (int l = 0; l < FL_P_SIZE; l++) own[l] = missing >> l & 1 ? spare : own[l];
        }
        fl_packed_some(&c, optimizer, penalty, FL_P(mul)(slopes, factors), own);
    }
    for (; fetched < later.size; fetched += FL_LINE_ENTRIES) {
        fl_prefetch_entries_f32(later, fetched);
    }
}

/* One loop for each rule. */
FL_INLINE void fl_packed_dispatch(const struct fl_adaptive *a, struct fl_row row, double slope,
                                  float *P, const int penalty, struct fl_row later) {
    switch (a->optimizer) {
    case FL_ADAGRAD:
        fl_packed_by_some(a, row, slope, P, FL_ADAGRAD, penalty, later);
        break;
    case FL_RMSPROP:
        fl_packed_by_some(a, row, slope, P, FL_RMSPROP, penalty, later);
        break;
    case FL_ADADELTA:
        fl_packed_by_some(a, row, slope, P, FL_ADADELTA, penalty, later);
        break;
    default:
        fl_packed_by_some(a, row, slope, P, FL_ADAM, penalty, later);
    }
}

#endif

/* The steps of a row, if it can have them some at a time; whether it could. `lazy` and u as in
 * fl_packed.inc.h. */
FL_INLINE int fl_packed_in_lanes_f32(const struct fl_adaptive *a, double sum_scale,
                                     struct fl_row row, double slope, float *P, int lazy,
                                     const float *u, struct fl_row later) {
#ifdef FL_SSE2
    if (row.layout == FL_SIGNED || (u != NULL && sum_scale != 0)) return 0;
    if (!lazy) {
        fl_packed_dispatch(a, row, slope, P, FL_NO_PENALTY, later);
    } else if (a->l1 == 0) {
        fl_packed_dispatch(a, row, slope, P, FL_L2_PENALTY, later);
    } else {
        fl_packed_dispatch(a, row, slope, P, FL_ANY_PENALTY, later);
    }
    return 1;
#else
    (void)a, (void)sum_scale, (void)row, (void)slope, (void)P, (void)lazy, (void)u, (void)later;
    return 0;
#endif
}

FL_INLINE int fl_packed_in_lanes_f64(const struct fl_adaptive *a, double sum_scale,
                                     struct fl_row row, double slope, double *P, int lazy,
                                     const double *u, struct fl_row later) {
    (void)a, (void)sum_scale, (void)row, (void)slope, (void)P, (void)lazy, (void)u, (void)later;
    return 0;
}

#endif
