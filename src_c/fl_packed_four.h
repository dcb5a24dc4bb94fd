/* The packed adaptive steps of float (fl_packed.h), four entries at a time in vector registers from
 * the loads to the stores: the weights of four columns and what is kept with them come in four
 * loads and turn into vectors of weights, of moments, of visits. The loops over arrays of 64
 * entries, which any type and layout can have, take 1.5 times as long; square roots and divisions
 * are a small part of it. Every number is rounded as there, so the bits are the same.
 */
#ifndef FL_PACKED_FOUR_H
#define FL_PACKED_FOUR_H

#include "fl_joint.h"

#ifdef FL_SSE2

/* Constants of a step, each four times. */
struct fl_packed_constants {
    __m128 eta, decay, decay1, rest, rest1, epsilon, l1, l2;
    __m128i now;
};

FL_INLINE struct fl_packed_constants fl_packed_prepare(const struct fl_adaptive *a) {
    struct fl_packed_constants c;
    c.eta = _mm_set1_ps((float)a->eta);
    c.decay = _mm_set1_ps((float)a->decay);
    c.decay1 = _mm_set1_ps((float)a->decay1);
    c.rest = _mm_set1_ps((float)(1.0 - a->decay));
    c.rest1 = _mm_set1_ps((float)(1.0 - a->decay1));
    c.epsilon = _mm_set1_ps((float)a->epsilon);
    c.l1 = _mm_set1_ps((float)a->l1);
    c.l2 = _mm_set1_ps((float)a->l2);
    c.now = _mm_set1_epi32((int32_t)a->t);
    return c;
}

/* x <- decay x + rest g h */
FL_INLINE __m128 fl_packed_fade(__m128 x, __m128 decay, __m128 rest, __m128 g, __m128 h) {
    return _mm_add_ps(_mm_mul_ps(decay, x), _mm_mul_ps(_mm_mul_ps(rest, g), h));
}

/* fl_adaptive_change and fl_adaptive_shrink: the new weights of four columns. */
FL_INLINE __m128 fl_packed_change(const struct fl_packed_constants *c, const int optimizer,
                                  const int lazy, __m128 g, __m128 w, __m128 *ma, __m128 *mb,
                                  __m128i last) {
    __m128 h, size, magnitude;
    const __m128 sign = _mm_set1_ps(-0.0f), two = _mm_set1_ps(2.0f);
    if (optimizer == FL_ADAGRAD) {
        *ma = _mm_add_ps(*ma, _mm_mul_ps(g, g));
    } else {
        *ma = fl_packed_fade(*ma, c->decay, c->rest, g, g);
    }
    if (optimizer == FL_ADAM) {
        *mb = _mm_add_ps(_mm_mul_ps(c->decay1, *mb), _mm_mul_ps(c->rest1, g));
        g = *mb;
    }
    if (optimizer == FL_ADADELTA) {
        const __m128 share = _mm_div_ps(_mm_add_ps(*mb, c->epsilon), _mm_add_ps(*ma, c->epsilon));
        h = _mm_mul_ps(c->eta, _mm_sqrt_ps(share));
    } else {
        h = _mm_div_ps(c->eta, _mm_add_ps(_mm_sqrt_ps(*ma), c->epsilon));
    }
    const __m128 step = _mm_mul_ps(h, g);
    if (optimizer == FL_ADADELTA) *mb = fl_packed_fade(*mb, c->decay, c->rest, step, step);
    w = _mm_sub_ps(w, step);
    if (!lazy) return w;
    h = _mm_mul_ps(h, _mm_cvtepi32_ps(_mm_sub_epi32(c->now, last)));
    size = _mm_sub_ps(_mm_andnot_ps(sign, w), _mm_mul_ps(h, c->l1));
    magnitude = _mm_div_ps(_mm_add_ps(size, _mm_andnot_ps(sign, size)),
                           _mm_add_ps(two, _mm_mul_ps(_mm_mul_ps(two, h), c->l2)));
    return _mm_or_ps(_mm_andnot_ps(sign, magnitude), _mm_and_ps(sign, w));
}

/* The step of four columns with gradients g, of which own[l] is the place. */
FL_INLINE void fl_packed_four(const struct fl_packed_constants *c, const int optimizer,
                              const int lazy, __m128 g, float *const own[4]) {
    __m128 w, ma, mb;
    if (!lazy && optimizer != FL_ADADELTA && optimizer != FL_ADAM) { /* in twos */
        __m128 low = _mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)own[0]);
        __m128 high = _mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)own[2]);
        low = _mm_loadh_pi(low, (const __m64 *)own[1]);
        high = _mm_loadh_pi(high, (const __m64 *)own[3]);
        w = _mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
        ma = _mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
        w = fl_packed_change(c, optimizer, 0, g, w, &ma, &mb, c->now);
        low = _mm_unpacklo_ps(w, ma);
        high = _mm_unpackhi_ps(w, ma);
        _mm_storel_pi((__m64 *)own[0], low);
        _mm_storeh_pi((__m64 *)own[1], low);
        _mm_storel_pi((__m64 *)own[2], high);
        _mm_storeh_pi((__m64 *)own[3], high);
        return;
    }
    __m128 last = _mm_loadu_ps(own[3]);
    w = _mm_loadu_ps(own[0]);
    ma = _mm_loadu_ps(own[1]);
    mb = _mm_loadu_ps(own[2]);
    _MM_TRANSPOSE4_PS(w, ma, mb, last);
    w = fl_packed_change(c, optimizer, lazy, g, w, &ma, &mb, _mm_castps_si128(last));
    if (lazy) last = _mm_castsi128_ps(c->now);
    _MM_TRANSPOSE4_PS(w, ma, mb, last);
    _mm_storeu_ps(own[0], w);
    _mm_storeu_ps(own[1], ma);
    _mm_storeu_ps(own[2], mb);
    _mm_storeu_ps(own[3], last);
}

/* The steps of a row. What there is none of, the entries behind the last and stored zeros, takes
 * its step in a place of no use. */
FL_INLINE void fl_packed_by_four(const struct fl_adaptive *a, struct fl_row row, double slope,
                                 float *FL_RESTRICT P, const int optimizer, const int lazy) {
    const int shift = !lazy && optimizer != FL_ADADELTA && optimizer != FL_ADAM ? 1 : 2;
    const struct fl_packed_constants c = fl_packed_prepare(a);
    const __m128 slopes = _mm_set1_ps((float)slope);
    const int32_t *FL_RESTRICT j = row.indices;
    const float *FL_RESTRICT values = (const float *)row.values;
    float spare[4] = {0};
    for (int64_t k = 0; k < row.size; k += 4) {
        __m128 x = _mm_set1_ps(1.0f);
        float *own[4];
        int missing = 0;
        if (FL_LIKELY(k + 4 <= row.size)) {
            for (int l = 0; l < 4; l++) own[l] = P + ((int64_t)j[k + l] << shift);
            if (row.layout == FL_CSR) x = _mm_loadu_ps(values + k);
        } else {
            float left[4] = {1, 1, 1, 1};
            for (int l = 0; l < 4; l++) {
                const int there = k + l < row.size;
                own[l] = there ? P + ((int64_t)j[k + l] << shift) : spare;
                if (there && row.layout == FL_CSR) left[l] = values[k + l];
            }
            x = _mm_loadu_ps(left);
        }
        if (row.layout == FL_CSR) missing = _mm_movemask_ps(_mm_cmpeq_ps(x, _mm_setzero_ps()));
        if (FL_UNLIKELY(missing)) {
            for (int l = 0; l < 4; l++) own[l] = missing >> l & 1 ? spare : own[l];
        }
        fl_packed_four(&c, optimizer, lazy, _mm_mul_ps(slopes, x), own);
    }
}

/* One loop for each rule. */
FL_INLINE void fl_packed_dispatch(const struct fl_adaptive *a, struct fl_row row, double slope,
                                  float *P, const int lazy) {
    switch (a->optimizer) {
    case FL_ADAGRAD:
        fl_packed_by_four(a, row, slope, P, FL_ADAGRAD, lazy);
        break;
    case FL_RMSPROP:
        fl_packed_by_four(a, row, slope, P, FL_RMSPROP, lazy);
        break;
    case FL_ADADELTA:
        fl_packed_by_four(a, row, slope, P, FL_ADADELTA, lazy);
        break;
    default:
        fl_packed_by_four(a, row, slope, P, FL_ADAM, lazy);
    }
}

#endif

/* The steps of a row, if it can have them four at a time; whether it could. `lazy` and u as in
 * fl_packed.inc.h. */
FL_INLINE int fl_packed_fours_f32(const struct fl_adaptive *a, double sum_scale, struct fl_row row,
                                  double slope, float *P, int lazy, const float *u) {
#ifdef FL_SSE2
    if (row.layout == FL_SIGNED || (u != NULL && sum_scale != 0)) return 0;
    if (lazy) {
        fl_packed_dispatch(a, row, slope, P, 1);
    } else {
        fl_packed_dispatch(a, row, slope, P, 0);
    }
    return 1;
#else
    (void)a, (void)sum_scale, (void)row, (void)slope, (void)P, (void)lazy, (void)u;
    return 0;
#endif
}

FL_INLINE int fl_packed_fours_f64(const struct fl_adaptive *a, double sum_scale, struct fl_row row,
                                  double slope, double *P, int lazy, const double *u) {
    (void)a, (void)sum_scale, (void)row, (void)slope, (void)P, (void)lazy, (void)u;
    return 0;
}

#endif
