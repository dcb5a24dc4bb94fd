/* The checked dot product for one type FL_REAL; included by fl_respond.h once per type. */

/* Nothing is read there, so that a column not yet checked, or the end of an array, does no harm. */
FL_INLINE void FL_TYPED(fl_prefetch_unchecked)(const FL_REAL *w, int64_t place) {
    FL_PREFETCH((uintptr_t)w + (uintptr_t)place * sizeof(FL_REAL));
}

/* *dot = sum_k x[k] w[j[k]]; returns whether all columns are at most `last`. `readable` entries of
 * j may be looked at, `size` of them and perhaps what follows. */
FL_INLINE int FL_TYPED(fl_checked_dot)(const int32_t *FL_RESTRICT j, const FL_REAL *FL_RESTRICT x,
                                       int64_t size, int64_t readable,
                                       const FL_REAL *FL_RESTRICT w, uint32_t last, int prefetch,
                                       double *dot) {
    FL_REAL a = 0, b = 0, c = 0, d = 0;
    int64_t k = 0;
    for (; k + 4 <= size; k += 4) {
        uint32_t j0 = (uint32_t)j[k], j1 = (uint32_t)j[k + 1];
        uint32_t j2 = (uint32_t)j[k + 2], j3 = (uint32_t)j[k + 3];
        if (FL_UNLIKELY((j0 > last) | (j1 > last) | (j2 > last) | (j3 > last))) return 0;
        FL_TYPED(fl_prefetch_unchecked)(x, k + FL_ENTRIES_AHEAD);
        FL_PREFETCH((uintptr_t)j + (uintptr_t)(k + FL_ENTRIES_AHEAD) * sizeof(int32_t));
        if (prefetch && k + 4 + FL_WEIGHTS_AHEAD <= readable) {
            for (int l = 0; l < 4; l++) {
                FL_TYPED(fl_prefetch_unchecked)(w, (uint32_t)j[k + FL_WEIGHTS_AHEAD + l]);
            }
        }
        a += x[k] * w[j0];
        b += x[k + 1] * w[j1];
        c += x[k + 2] * w[j2];
        d += x[k + 3] * w[j3];
    }
    for (; k < size; k++) {
        if (FL_UNLIKELY((uint32_t)j[k] > last)) return 0;
        a += x[k] * w[j[k]];
    }
    *dot = (double)((a + b) + (c + d));
    return 1;
}
