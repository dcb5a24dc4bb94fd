/* A row of counts divided by its norm. Included by fl_text_row.h for each element type, with REAL,
 * NAMED(name), which is name with the type added, and, where FL_WIDE_TEXT is defined, PICK(table,
 * places), eight of sixteen numbers, and PUT(to, first, kept, numbers), those kept to memory. */

#ifdef FL_WIDE_TEXT
/* The same as below for eights as long as all their counts are in the table; returns how many
 * entries that are. */
FL_INLINE int64_t NAMED(wide_quotients)(const fl_text_entry *row, int64_t n, const REAL *table,
                                        int32_t *FL_RESTRICT indices, REAL *FL_RESTRICT data,
                                        int64_t *n_kept)
{
    int64_t i = 0, sum = 0;
    for (; i < n; i += 8) {
        __mmask8 lanes = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1u : 255u), kept, first;
        __m512i entries = _mm512_maskz_loadu_epi64(lanes, row + i);
        __m512i counts = _mm512_srai_epi64(entries, 32);
        __m512i places = _mm512_add_epi64(counts, _mm512_set1_epi64(FEW));
        if (_mm512_mask_cmpge_epu64_mask(lanes, places, _mm512_set1_epi64(2 * FEW)) != 0)
            break;
        kept = _mm512_test_epi64_mask(counts, counts);
        first = (__mmask8)_bzhi_u32(255, (uint32_t)_mm_popcnt_u32(kept));
        _mm256_mask_storeu_epi32(indices + sum, first, _mm256_maskz_compress_epi32(
            kept, _mm512_cvtepi64_epi32(entries)));
        PUT(data + sum, first, kept, PICK(table, places));
        sum += _mm_popcnt_u32(kept);
    }
    *n_kept = sum;
    return i < n ? i : n;
}
#endif

/* See fl_text.h. */
int64_t NAMED(fl_text_quotients)(const fl_text_entry *row, int64_t n, double total,
                                 int32_t *FL_RESTRICT indices, REAL *FL_RESTRICT data)
{
    REAL table[2 * FEW];
    int64_t kept = 0, i = 0;
    for (int32_t k = 0; k < 2 * FEW; k++)
        table[k] = (REAL)((k - FEW) / total);
#ifdef FL_WIDE_TEXT
    i = NAMED(wide_quotients)(row, n, table, indices, data, &kept);
#endif
    for (; i < n; i++) {
        int32_t count = row[i].count;
        indices[kept] = row[i].column;
        data[kept] = -FEW <= count && count < FEW ? table[count + FEW] : (REAL)(count / total);
        kept += count != 0;
    }
    return kept;
}
