/* The kernels of fl_text.c for registers of 64 bytes: the same numbers. */
#ifndef FL_TEXT_WIDE_H
#define FL_TEXT_WIDE_H

#include "fl_fasthash.h"
#include "fl_murmur.h"
#include "fl_text.h"

#ifdef FL_WIDE_TEXT

/* ---- fast hashes of words ---- */

FL_INLINE __m512i wide_hash_block(__m512i state, __m512i x)
{
    __m512i z = _mm512_mullo_epi64(_mm512_xor_si512(state, x),
                                   _mm512_set1_epi64((int64_t)FL_FASTHASH_A));
    return _mm512_xor_si512(z, _mm512_srli_epi64(z, 32));
}

/* The hashes of eight words at a time, n in all; a few more are written. */
FL_INLINE void wide_hash_words(const uint8_t *text, const int32_t *starts, int32_t n,
                               uint64_t *FL_RESTRICT hashes)
{
    const __m512i start = _mm512_set1_epi64((int64_t)FL_FASTHASH_START);
    const __m256i eight = _mm256_set1_epi32(8);
    for (int32_t i = 0; i < n; i += 8) {
        __mmask8 lanes = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1u : 255u);
        __m256i begin = _mm256_maskz_loadu_epi32(lanes, starts + i);
        __m256i length = _mm256_sub_epi32(_mm256_maskz_loadu_epi32(lanes, starts + i + 1), begin);
        __m256i skipped;
        __m512i x, state, rest, bits;
        uint32_t longer;
        length = _mm256_sub_epi32(length, _mm256_set1_epi32(1));
        longer = _mm256_mask_cmpgt_epi32_mask(lanes, length, _mm256_set1_epi32(15));
        skipped = _mm256_and_si256(length, eight);
        x = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), lanes, begin, text, 1);
        state = _mm512_mask_mov_epi64(start, _mm256_test_epi32_mask(length, eight),
                                      wide_hash_block(start, x));
        x = _mm512_mask_i32gather_epi64(x, lanes & _mm256_test_epi32_mask(length, eight),
                                        _mm256_add_epi32(begin, skipped), text, 1);
        rest = _mm512_cvtepi32_epi64(_mm256_sub_epi32(length, skipped));
        bits = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_slli_epi64(rest, 3));
        x = _mm512_or_si512(_mm512_andnot_si512(bits, x), _mm512_slli_epi64(rest, 56));
        _mm512_storeu_si512(hashes + i, wide_hash_block(state, x));
        for (; FL_UNLIKELY(longer != 0); longer &= longer - 1) {
            int32_t k = i + fl_lowest_bit(longer);
            hashes[k] = fl_fasthash_word(text + starts[k], starts[k + 1] - 1 - starts[k]);
        }
    }
}

/* ---- MurmurHash3 of the n-grams of words ---- */

FL_INLINE __m512i wide_murmur_mix(__m512i x)
{
    x = _mm512_rol_epi32(_mm512_mullo_epi32(x, _mm512_set1_epi32((int32_t)FL_MURMUR_C1)), 15);
    return _mm512_mullo_epi32(x, _mm512_set1_epi32(FL_MURMUR_C2));
}

/* See fl_murmur_block, of the bytes of a block as a number. */
FL_INLINE __m512i wide_murmur_block(__m512i h, __m512i x)
{
    h = _mm512_rol_epi32(_mm512_xor_si512(h, wide_murmur_mix(x)), 13);
    return _mm512_add_epi32(_mm512_add_epi32(h, _mm512_slli_epi32(h, 2)),
                            _mm512_set1_epi32((int32_t)0xe6546b64u));
}

/* See fl_murmur_end, before the last bytes; these, of four, are as many as length % 4. */
FL_INLINE __m512i wide_murmur_end(__m512i h, __m512i x, __m512i length)
{
    __m512i n = _mm512_slli_epi32(_mm512_and_si512(length, _mm512_set1_epi32(3)), 3);
    x = _mm512_andnot_si512(_mm512_sllv_epi32(_mm512_set1_epi32(-1), n), x);
    h = _mm512_xor_si512(_mm512_xor_si512(h, length), wide_murmur_mix(x));
    h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
    h = _mm512_mullo_epi32(h, _mm512_set1_epi32((int32_t)0x85ebca6bu));
    h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 13));
    h = _mm512_mullo_epi32(h, _mm512_set1_epi32((int32_t)0xc2b2ae35u));
    return _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
}

/* The hashes of the n-grams that begin at n <= 16 words, of which the first has `left` with it
 * before the text ends; returns how many. 16 are written for each length. */
FL_INLINE int64_t wide_murmur_ngrams(const uint8_t *text, const int32_t *starts, int32_t n,
                                     int32_t left, int32_t min_n, int32_t max_n,
                                     uint32_t *FL_RESTRICT hashes)
{
    const __m512i four = _mm512_set1_epi32(4);
    uint32_t lanes = (1u << n) - 1u;
    __m512i begin = _mm512_maskz_loadu_epi32((__mmask16)lanes, starts), block = begin;
    __m512i h = _mm512_setzero_si512();
    int64_t n_hashes = 0;
    for (int32_t k = 1; k <= max_n && k <= left; k++) {
        int32_t n_whole = n < left - k + 1 ? n : left - k + 1;
        __mmask16 whole = (__mmask16)((1u << n_whole) - 1u), more;
        __m512i end = _mm512_maskz_loadu_epi32(whole, starts + k), next, x;
        end = _mm512_sub_epi32(end, _mm512_set1_epi32(1));
        for (;;) {
            next = _mm512_add_epi32(block, four);
            more = _mm512_mask_cmple_epi32_mask(whole, next, end);
            if (more == 0)
                break;
            x = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), more, block, text, 1);
            h = _mm512_mask_mov_epi32(h, more, wide_murmur_block(h, x));
            block = _mm512_mask_mov_epi32(block, more, next);
        }
        if (k < min_n)
            continue;
        x = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), whole, block, text, 1);
        x = wide_murmur_end(h, x, _mm512_sub_epi32(end, begin));
        _mm512_storeu_si512(hashes + n_hashes, x);
        n_hashes += n_whole;
    }
    return n_hashes;
}

/* ---- counting one row ---- */

/* Counters in place to where their buckets begin, 32 at a time; returns the sum of their squares.
 * There are n of them, and room for 31 more. */
FL_INLINE int64_t wide_counts_to_begins(uint16_t *buckets, int64_t n)
{
    const __m512i last_of_lane = _mm512_set1_epi16(0x0f0e), last = _mm512_set1_epi16(31);
    __m512i below = _mm512_setzero_si512(), squares = _mm512_setzero_si512();
    for (int64_t b = 0; b < n; b += 32) {
        __m512i here = _mm512_loadu_si512(buckets + b), ends = here, lanes;
        squares = _mm512_add_epi32(squares, _mm512_madd_epi16(here, here));
        ends = _mm512_add_epi16(ends, _mm512_bslli_epi128(ends, 2));
        ends = _mm512_add_epi16(ends, _mm512_bslli_epi128(ends, 4));
        ends = _mm512_add_epi16(ends, _mm512_bslli_epi128(ends, 8));
        /* To each lane of eight, the sums of those before it. */
        lanes = _mm512_shuffle_epi8(ends, last_of_lane);
        ends = _mm512_add_epi16(ends, _mm512_maskz_shuffle_i64x2(0xfc, lanes, lanes, 0x90));
        ends = _mm512_add_epi16(ends, _mm512_maskz_shuffle_i64x2(0xf0, lanes, lanes, 0x40));
        ends = _mm512_add_epi16(ends, _mm512_maskz_shuffle_i64x2(0xc0, lanes, lanes, 0x00));
        ends = _mm512_add_epi16(ends, below);
        _mm512_storeu_si512(buckets + b, _mm512_sub_epi16(ends, here));
        below = _mm512_permutexvar_epi16(last, ends);
    }
    return _mm512_reduce_add_epi32(squares);
}

/* Sort neighbours at `keys`, those at 0 and 1, 2 and 3, ..., and then those at 1 and 2, ...; behind
 * n keys there are 32 of the largest. */
FL_INLINE void wide_sort_neighbours(uint32_t *keys, int64_t n)
{
    for (int64_t shift = 0; shift < 2; shift++) {
        for (int64_t i = shift; i < n; i += 16) {
            __m512i x = _mm512_loadu_si512(keys + i), y = _mm512_shuffle_epi32(x, 0xb1);
            x = _mm512_mask_max_epu32(_mm512_min_epu32(x, y), 0xaaaa, x, y);
            _mm512_storeu_si512(keys + i, x);
        }
    }
}

/* Put in order the keys that all but are, behind which there are 32 of the largest. */
FL_INLINE void wide_sort(uint32_t *keys, int64_t n)
{
    wide_sort_neighbours(keys, n);
    wide_sort_neighbours(keys, n);
    for (int64_t first = 1; first < n; first += 16) {
        __m512i x = _mm512_loadu_si512(keys + first), y = _mm512_loadu_si512(keys + first - 1);
        uint32_t falls = _mm512_cmplt_epu32_mask(x, y);
        if (FL_LIKELY(falls == 0))
            continue;
        for (int64_t i = first + fl_lowest_bit(falls); i < first + 16; i++) {
            uint32_t key = keys[i];
            int64_t k = i;
            for (; k > 0 && keys[k - 1] > key; k--)
                keys[k] = keys[k - 1];
            keys[k] = key;
        }
    }
}

/* Write an entry for each column among n sorted keys, behind which there is a larger one; returns
 * how many. A count is a difference of sums of signs. */
FL_INLINE int64_t wide_count(const uint32_t *keys, int64_t n, fl_text_entry *entries)
{
    const __m512i one = _mm512_set1_epi32(1), zero = _mm512_setzero_si512();
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    __m512i before = zero, below = zero;
    int64_t n_entries = 0;
    for (int64_t i = 0; i < n; i += 16) {
        __m512i x = _mm512_loadu_si512(keys + i), column = _mm512_srli_epi32(x, 1), sums, counts;
        __m512i next = _mm512_srli_epi32(_mm512_loadu_si512(keys + i + 1), 1), lanes;
        uint32_t inside = n - i < 16 ? (1u << (n - i)) - 1u : 0xffffu;
        uint32_t ends = _mm512_mask_cmpneq_epi32_mask((__mmask16)inside, column, next);
        int64_t n_ends = _mm_popcnt_u32(ends);
        sums = _mm512_sub_epi32(one, _mm512_slli_epi32(_mm512_and_si512(x, one), 1));
        sums = _mm512_add_epi32(sums, _mm512_bslli_epi128(sums, 4));
        sums = _mm512_add_epi32(sums, _mm512_bslli_epi128(sums, 8));
        lanes = _mm512_shuffle_epi32(sums, 0xff);
        sums = _mm512_add_epi32(sums, _mm512_maskz_shuffle_i64x2(0xfc, lanes, lanes, 0x90));
        sums = _mm512_add_epi32(sums, _mm512_maskz_shuffle_i64x2(0xf0, lanes, lanes, 0x40));
        sums = _mm512_add_epi32(sums, _mm512_maskz_shuffle_i64x2(0xc0, lanes, lanes, 0x00));
        sums = _mm512_add_epi32(sums, below);
        below = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sums);
        sums = _mm512_maskz_compress_epi32((__mmask16)ends, sums);
        column = _mm512_maskz_compress_epi32((__mmask16)ends, column);
        /* Each sum less the one before it, the last of the block before in front. */
        counts = _mm512_sub_epi32(sums, _mm512_alignr_epi32(sums, before, 15));
        before = n_ends == 0 ? before : _mm512_permutexvar_epi32(
            _mm512_set1_epi32((int32_t)n_ends - 1), sums);
        ends = _bzhi_u32(0xffffffffu, (uint32_t)n_ends * 2);
        _mm512_mask_storeu_epi32(entries + n_entries, (__mmask16)ends,
                                 _mm512_permutex2var_epi32(column, low, counts));
        _mm512_mask_storeu_epi32(entries + n_entries + 8, (__mmask16)(ends >> 16),
                                 _mm512_permutex2var_epi32(column, high, counts));
        n_entries += n_ends;
    }
    return n_entries;
}

#endif
#endif
