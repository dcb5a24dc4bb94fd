/* What many models keep per column, [column][lane], taken out into a vector per lane.
 *
 * Some columns at a time are turned round in the first-level cache. Where the vectors are long, and
 * nobody reads them soon, what comes of it goes past the caches, which else would fetch each line
 * that is then overwritten: 16 lanes of 1.3 million columns in the order of frequency take 12 ms
 * instead of 22, and 27 where numbers are moved one by one. */
#ifndef FL_GATHER_H
#define FL_GATHER_H

#include <string.h>

#include "fl_common.h"
#include "fl_rows.h"

/* Columns that are turned round together, and how far ahead they are asked for; bytes that are
 * much */
enum { FL_GATHERED = 64, FL_GATHER_AHEAD = 32, FL_GATHER_MUCH = 1 << 23 };

/* tile[l * FL_GATHERED + q] = by[l] * line[q][l] for q = 0 to 3 */
FL_INLINE void fl_gather_four(const float *const line[4], const double *by, int n_lanes,
                              float *tile) {
    int l = 0;
#ifdef FL_SSE2
    for (; l + 4 <= n_lanes; l += 4) {
        const __m128d low = _mm_loadu_pd(by + l), high = _mm_loadu_pd(by + l + 2);
        __m128 of[4];
        for (int q = 0; q < 4; q++) {
            const __m128 x = _mm_loadu_ps(line[q] + l);
            const __m128 first = _mm_cvtpd_ps(_mm_mul_pd(low, _mm_cvtps_pd(x)));
            const __m128 last = _mm_cvtpd_ps(_mm_mul_pd(high, _mm_cvtps_pd(_mm_movehl_ps(x, x))));
            of[q] = _mm_movelh_ps(first, last);
        }
        _MM_TRANSPOSE4_PS(of[0], of[1], of[2], of[3]);
        for (int q = 0; q < 4; q++) _mm_storeu_ps(tile + (l + q) * FL_GATHERED, of[q]);
    }
#endif
    for (; l < n_lanes; l++) {
        for (int q = 0; q < 4; q++) tile[l * FL_GATHERED + q] = (float)(by[l] * line[q][l]);
    }
}

/* Whether writes of so many bytes at `to` can go past the caches in whole lines; of the rows of one
 * matrix only those can that begin at a line. */
FL_INLINE int fl_goes_past(const void *to, int64_t bytes) {
    return bytes >= FL_GATHER_MUCH && (uintptr_t)to % FL_LINE == 0;
}

FL_INLINE void fl_put(void *to, const void *from, int64_t bytes, int past) {
    int64_t k = 0;
#ifdef FL_SSE2
    for (; past && k + 16 <= bytes; k += 16) {
        _mm_stream_si128((__m128i *)((char *)to + k),
                         _mm_loadu_si128((const __m128i *)((const char *)from + k)));
    }
#else
    (void)past;
#endif
    memcpy((char *)to + k, (const char *)from + k, (size_t)(bytes - k));
}

/* After writes past the caches: others see them before what comes next. */
FL_INLINE void fl_put_end(void) {
#ifdef FL_SSE2
    _mm_sfence();
#endif
}

#endif
