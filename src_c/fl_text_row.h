/* From counted entries to a row of a matrix whose Euclidean norm is 1. */
#ifndef FL_TEXT_ROW_H
#define FL_TEXT_ROW_H

#include "fl_text.h"

/* Most counts are less than this in size: their quotients by the norm of a row are in a table. */
#define FEW 8

int64_t fl_text_squares(const fl_text_entry *row, int64_t n)
{
    int64_t sum = 0, i = 0;
#ifdef FL_WIDE_TEXT
    __m512i sums = _mm512_setzero_si512();
    for (; i + 8 <= n; i += 8) {
        __m512i counts = _mm512_srli_epi64(_mm512_loadu_si512(row + i), 32);
        sums = _mm512_add_epi64(sums, _mm512_mul_epi32(counts, counts));
    }
    sum = _mm512_reduce_add_epi64(sums);
#endif
    for (; i < n; i++)
        sum += (int64_t)row[i].count * row[i].count;
    return sum;
}

int64_t fl_text_counting(const fl_text_entry *row, int64_t n, fl_text_entry *kept,
                         int64_t *squares)
{
    int64_t n_kept = 0, i = 0, sum = 0;
#ifdef FL_WIDE_TEXT
    __m512i sums = _mm512_setzero_si512();
    /* A store of all lanes goes no further than the entries read so far. */
    for (; i + 8 <= n; i += 8) {
        __m512i entries = _mm512_loadu_si512(row + i), counts = _mm512_srli_epi64(entries, 32);
        __mmask8 counting = _mm512_test_epi64_mask(counts, counts);
        sums = _mm512_add_epi64(sums, _mm512_mul_epi32(counts, counts));
        /* Most are where they are to be, and stay. */
        if (counting != 255 || kept + n_kept != row + i)
            _mm512_storeu_si512(kept + n_kept, _mm512_maskz_compress_epi64(counting, entries));
        n_kept += _mm_popcnt_u32(counting);
    }
    sum = _mm512_reduce_add_epi64(sums);
#endif
    for (; i < n; i++) {
        int64_t count = row[i].count;
        kept[n_kept] = row[i];
        n_kept += count != 0;
        sum += count * count;
    }
    *squares = sum;
    return n_kept;
}

#define REAL double
#define NAMED(name) name##_f64
#ifdef FL_WIDE_TEXT
#  define PICK(table, places)                                      \
      _mm512_permutex2var_pd(_mm512_loadu_pd(table), places, _mm512_loadu_pd((table) + FEW))
#  define PUT(to, first, kept, numbers) \
      _mm512_mask_storeu_pd(to, first, _mm512_maskz_compress_pd(kept, numbers))
#endif
#include "fl_text_row.inc.h"
#undef REAL
#undef NAMED
#undef PICK
#undef PUT

#define REAL float
#define NAMED(name) name##_f32
#ifdef FL_WIDE_TEXT
#  define PICK(table, places)                                                      \
      _mm256_permutex2var_ps(_mm256_loadu_ps(table), _mm512_cvtepi64_epi32(places), \
                             _mm256_loadu_ps((table) + FEW))
#  define PUT(to, first, kept, numbers) \
      _mm256_mask_storeu_ps(to, first, _mm256_maskz_compress_ps(kept, numbers))
#endif
#include "fl_text_row.inc.h"
#undef REAL
#undef NAMED
#undef PICK
#undef PUT

#endif
