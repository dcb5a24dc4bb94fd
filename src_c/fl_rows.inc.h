/* Row operations for one type FL_REAL; included by fl_rows.h once per type, hence no guard.
 *
 * FL_EACH(row, j, x, ...) runs its last argument for every entry with x != 0: j is the column, x
 * the value. Sums run in fixed lanes, so that the bits are the same whatever the compiler makes of
 * them.
 */

#ifndef FL_EACH
#define FL_EACH(row, j, x, ...)                                             \
    do {                                                                    \
        const int64_t fl_size = (row).size;                                 \
        const int32_t *FL_RESTRICT fl_indices = (row).indices;              \
        const FL_REAL *FL_RESTRICT fl_values = (const FL_REAL *)(row).values; \
        switch ((row).layout) {                                             \
        case FL_DENSE:                                                      \
            for (int64_t fl_k = 0; fl_k < fl_size; fl_k++) {                \
                const int64_t j = fl_k;                                     \
                const FL_REAL x = fl_values[fl_k];                          \
                if (x != 0) { __VA_ARGS__ }                                 \
            }                                                               \
            break;                                                          \
        case FL_CSR:                                                        \
            for (int64_t fl_k = 0; fl_k < fl_size; fl_k++) {                \
                const int64_t j = fl_indices[fl_k];                         \
                const FL_REAL x = fl_values[fl_k];                          \
                if (x != 0) { __VA_ARGS__ }                                 \
            }                                                               \
            break;                                                          \
        case FL_ONES:                                                       \
            for (int64_t fl_k = 0; fl_k < fl_size; fl_k++) {                \
                const int64_t j = fl_indices[fl_k];                         \
                const FL_REAL x = 1;                                        \
                (void)x;                                                    \
                { __VA_ARGS__ }                                             \
            }                                                               \
            break;                                                          \
        default:                                                            \
            for (int64_t fl_k = 0; fl_k < fl_size; fl_k++) {                \
                const int64_t j = fl_signed_column(fl_indices[fl_k]);       \
                const FL_REAL x = fl_indices[fl_k] < 0 ? -1 : 1;            \
                (void)x;                                                    \
                { __VA_ARGS__ }                                             \
            }                                                               \
        }                                                                   \
    } while (0)
#endif

FL_INLINE struct fl_row FL_TYPED(fl_row_at)(const struct fl_rows *X, int64_t i) {
    FL_ASSERT(i >= 0 && i < X->n);
    struct fl_row row;
    int64_t start = fl_row_start(X, i);
    row.layout = X->layout;
    row.size = fl_row_size(X, i);
    row.indices = X->indices ? X->indices + start : NULL;
    row.values = X->values ? (const FL_REAL *)X->values + start : NULL;
    return row;
}

/* The memory of the entries k to k + 15 of a CSR row is about to be needed. */
FL_INLINE void FL_TYPED(fl_prefetch_entries)(struct fl_row row, int64_t k) {
    FL_PREFETCH_L2(row.indices + k);
    fl_prefetch_span((const FL_REAL *)row.values + k, FL_LINE_ENTRIES * (int64_t)sizeof(FL_REAL));
}

FL_INLINE void FL_TYPED(fl_prefetch_all)(struct fl_row row) {
    if (row.layout == FL_DENSE) {
        fl_prefetch_span(row.values, row.size * (int64_t)sizeof(FL_REAL));
    } else if (row.layout == FL_CSR) {
        /* one loop for indices and values: its end is hard to predict */
        for (int64_t k = 0; k < row.size; k += FL_LINE_ENTRIES) {
            FL_TYPED(fl_prefetch_entries)(row, k);
        }
    } else {
        fl_prefetch_span(row.indices, row.size * (int64_t)sizeof(int32_t));
    }
}

FL_INLINE void FL_TYPED(fl_prefetch_row)(const struct fl_rows *X, int64_t i) {
    FL_TYPED(fl_prefetch_all)(FL_TYPED(fl_row_at)(X, i));
}

/* Up to FL_CHUNK entries of a row, stored zeros left out, with their columns as numbers and their
 * values as an array whatever the layout: so arithmetic on them runs in vector registers. `columns`
 * and `values` hold what the row does not. */
#ifndef FL_CHUNK
#define FL_CHUNK 64
#endif
struct FL_TYPED(fl_chunk) {
    int n;
    const int32_t *column;
    const FL_REAL *x;
    int32_t columns[FL_CHUNK];
    FL_REAL values[FL_CHUNK];
};

/* The chunk of the entries k, k + 1, ..., k + FL_CHUNK - 1, as far as the row goes. */
FL_INLINE void FL_TYPED(fl_take)(struct FL_TYPED(fl_chunk) *chunk, struct fl_row row, int64_t k) {
    const int n = row.size - k < FL_CHUNK ? (int)(row.size - k) : FL_CHUNK;
    const FL_REAL *x = row.values ? (const FL_REAL *)row.values + k : NULL;
    const int32_t *index = row.indices ? row.indices + k : NULL;
    int zeros = 0;
    chunk->n = n;
    chunk->column = chunk->columns;
    chunk->x = chunk->values;
    if (row.layout == FL_ONES) {
        chunk->column = index;
        for (int l = 0; l < n; l++) chunk->values[l] = 1;
        return;
    }
    if (row.layout == FL_SIGNED) {
        for (int l = 0; l < n; l++) chunk->columns[l] = fl_signed_column(index[l]);
        for (int l = 0; l < n; l++) chunk->values[l] = index[l] < 0 ? (FL_REAL)-1 : (FL_REAL)1;
        return;
    }
    for (int l = 0; l < n; l++) zeros |= x[l] == 0;
    if (zeros) {
        int m = 0;
        for (int l = 0; l < n; l++) {
            chunk->columns[m] = index ? index[l] : (int32_t)(k + l);
            chunk->values[m] = x[l];
            m += x[l] != 0;
        }
        chunk->n = m;
    } else {
        chunk->x = x;
        chunk->column = index ? index : chunk->columns;
        for (int l = 0; !index && l < n; l++) chunk->columns[l] = (int32_t)(k + l);
    }
}

/* The sum of the 16 lanes, in a fixed order. */
FL_INLINE double FL_TYPED(fl_sum_lanes)(const FL_REAL lane[16]) {
    FL_REAL eight[8], four[4];
    for (int l = 0; l < 8; l++) eight[l] = lane[l] + lane[l + 8];
    for (int l = 0; l < 4; l++) four[l] = eight[l] + eight[l + 4];
    return (double)((four[0] + four[2]) + (four[1] + four[3]));
}

/* sum_k x[k] w[k] in 16 lanes */
FL_INLINE double FL_TYPED(fl_dense_dot)(const FL_REAL *FL_RESTRICT x, const FL_REAL *FL_RESTRICT w,
                                        int64_t size) {
    FL_REAL lane[16] = {0};
    int64_t k = 0;
    for (; k + 16 <= size; k += 16) {
        for (int l = 0; l < 16; l++) lane[l] += x[k + l] * w[k + l];
    }
    for (int l = 0; k < size; k++, l++) lane[l] += x[k] * w[k];
    return FL_TYPED(fl_sum_lanes)(lane);
}

/* sum_k x[k] w[j[k] << shift] of a sparse row. Four chains hide the latency of an addition; a wider
 * gather gains nothing, since the cache misses on w decide. The lanes are the same in every sparse
 * layout, and so are the bits. On the way the weights of the row `later` are fetched, unless it is
 * empty: of signed rows that has to be done apart. */
FL_INLINE double FL_TYPED(fl_sparse_dot)(struct fl_row row, const FL_REAL *FL_RESTRICT w,
                                         const int shift, struct fl_row later) {
    const int32_t *FL_RESTRICT j = row.indices, *FL_RESTRICT following = later.indices;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    int64_t size = row.size, k = 0;
    FL_REAL lane[4];
    FL_TYPED(fl_four) sum = FL_TYPED(fl_four_set)(0);
    const int64_t both = (size < later.size ? size : later.size) & ~(int64_t)3;
    for (k = both; k < later.size; k++) FL_PREFETCH_L2(w + ((int64_t)following[k] << shift));
    k = 0;
    if (row.layout == FL_CSR) {
        for (; k < both; k += 4) {
            for (int l = 0; l < 4; l++) FL_PREFETCH_L2(w + ((int64_t)following[k + l] << shift));
            const FL_TYPED(fl_four) near = FL_TYPED(fl_four_gather)(w, j + k, shift);
            sum = FL_TYPED(fl_four_add)(
                sum, FL_TYPED(fl_four_multiply)(FL_TYPED(fl_four_load)(x + k), near));
        }
        for (; k + 4 <= size; k += 4) {
            const FL_TYPED(fl_four) near = FL_TYPED(fl_four_gather)(w, j + k, shift);
            sum = FL_TYPED(fl_four_add)(
                sum, FL_TYPED(fl_four_multiply)(FL_TYPED(fl_four_load)(x + k), near));
        }
    } else if (row.layout == FL_ONES) {
        for (; k < both; k += 4) {
            for (int l = 0; l < 4; l++) FL_PREFETCH_L2(w + ((int64_t)following[k + l] << shift));
            sum = FL_TYPED(fl_four_add)(sum, FL_TYPED(fl_four_gather)(w, j + k, shift));
        }
        for (; k + 4 <= size; k += 4) {
            sum = FL_TYPED(fl_four_add)(sum, FL_TYPED(fl_four_gather)(w, j + k, shift));
        }
    } else {
        FL_REAL a = 0, b = 0, c = 0, d = 0;
#define FL_SIGNED_TERM(k) \
    (j[k] < 0 ? -w[(int64_t)~j[k] << shift] : w[(int64_t)j[k] << shift])
        FL_SUM(FL_SIGNED_TERM)
#undef FL_SIGNED_TERM
        return (double)((a + b) + (c + d));
    }
    FL_TYPED(fl_four_store)(lane, sum);
    for (; k < size; k++) {
        FL_KEEP_SCALAR();
        const FL_REAL near = w[(int64_t)j[k] << shift];
        lane[0] += row.layout == FL_CSR ? x[k] * near : near;
    }
    return (double)((lane[0] + lane[1]) + (lane[2] + lane[3]));
}

FL_INLINE double FL_TYPED(fl_dot_fetching)(struct fl_row row, const FL_REAL *FL_RESTRICT w,
                                           struct fl_row later) {
    if (row.layout == FL_DENSE) {
        return FL_TYPED(fl_dense_dot)((const FL_REAL *)row.values, w, row.size);
    }
    return FL_TYPED(fl_sparse_dot)(row, w, 0, later);
}

FL_INLINE double FL_TYPED(fl_dot)(struct fl_row row, const FL_REAL *FL_RESTRICT w) {
    const struct fl_row nothing = {0};
    return FL_TYPED(fl_dot_fetching)(row, w, nothing);
}

/* w += c x; and for the mean of the weights at once u += e (what w really changed by). Columns are
 * distinct, so four loads may go before four stores. */
#define FL_PLAIN_COLUMN(k) j[k]
#define FL_SIGNED_COLUMN(k) fl_signed_column(j[k])
#define FL_VALUE_CHANGE(k) c * x[k]
#define FL_ONE_CHANGE(k) c
#define FL_SIGNED_CHANGE(k) (j[k] < 0 ? -c : c)
#define FL_BY_LAYOUT(loop)                            \
    switch (row.layout) {                             \
    case FL_CSR:                                      \
        loop(FL_PLAIN_COLUMN, FL_VALUE_CHANGE) break; \
    case FL_ONES:                                     \
        loop(FL_PLAIN_COLUMN, FL_ONE_CHANGE) break;   \
    default:                                          \
        loop(FL_SIGNED_COLUMN, FL_SIGNED_CHANGE)      \
    }

FL_INLINE void FL_TYPED(fl_axpy)(struct fl_row row, FL_REAL c, FL_REAL *FL_RESTRICT w) {
    const int32_t *FL_RESTRICT j = row.indices;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    int64_t size = row.size, k = 0;
    if (row.layout == FL_DENSE) {
        for (; k < size; k++) w[k] += c * x[k];
        return;
    }
    if (row.layout == FL_CSR) {
        const FL_TYPED(fl_four) times = FL_TYPED(fl_four_set)(c);
        for (; k + 4 <= size; k += 4) {
            FL_TYPED(fl_four_scatter)(
                w, j + k, FL_TYPED(fl_four_multiply)(times, FL_TYPED(fl_four_load)(x + k)));
        }
        for (; k < size; k++) {
            FL_KEEP_SCALAR();
            w[j[k]] += c * x[k];
        }
        return;
    }
#define FL_ADD(column, change)                                \
    for (; k + 4 <= size; k += 4) {                           \
        FL_REAL w0 = w[column(k)], w1 = w[column(k + 1)];     \
        FL_REAL w2 = w[column(k + 2)], w3 = w[column(k + 3)]; \
        w[column(k)] = w0 + change(k);                        \
        w[column(k + 1)] = w1 + change(k + 1);                \
        w[column(k + 2)] = w2 + change(k + 2);                \
        w[column(k + 3)] = w3 + change(k + 3);                \
    }                                                         \
    for (; k < size; k++) w[column(k)] += change(k);
    if (row.layout == FL_ONES) {
        FL_ADD(FL_PLAIN_COLUMN, FL_ONE_CHANGE)
    } else {
        FL_ADD(FL_SIGNED_COLUMN, FL_SIGNED_CHANGE)
    }
#undef FL_ADD
}

/* The same of a long CSR row, from its last entry to its first: the dot product before has touched
 * the weights of the last entries last, and the first-level cache holds no others. On the way the
 * memory of the row `later` is fetched: all its lines at once would keep the loads after them
 * waiting, since few can be under way. Together they save a tenth of an epoch at 516 entries a row.
 */
FL_INLINE void FL_TYPED(fl_axpy_fetching)(struct fl_row row, FL_REAL c, FL_REAL *FL_RESTRICT w,
                                          struct fl_row later) {
    const int32_t *FL_RESTRICT j = row.indices;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    const FL_TYPED(fl_four) times = FL_TYPED(fl_four_set)(c);
    int64_t k = row.size, fetched = 0;
#define FL_ADD_FOUR(k)            \
    FL_TYPED(fl_four_scatter)     \
    (w, j + (k), FL_TYPED(fl_four_multiply)(times, FL_TYPED(fl_four_load)(x + (k))))
    while (k % 4) {
        FL_KEEP_SCALAR();
        k--;
        w[j[k]] += c * x[k];
    }
    for (; k >= FL_LINE_ENTRIES; k -= FL_LINE_ENTRIES) {
        if (fetched < later.size) FL_TYPED(fl_prefetch_entries)(later, fetched);
        fetched += FL_LINE_ENTRIES;
        FL_ADD_FOUR(k - 4);
        FL_ADD_FOUR(k - 8);
        FL_ADD_FOUR(k - 12);
        FL_ADD_FOUR(k - 16);
    }
    for (; k > 0; k -= 4) FL_ADD_FOUR(k - 4);
    for (; fetched < later.size; fetched += FL_LINE_ENTRIES) {
        FL_TYPED(fl_prefetch_entries)(later, fetched);
    }
#undef FL_ADD_FOUR
}

FL_INLINE void FL_TYPED(fl_axpy_sum)(struct fl_row row, FL_REAL c, FL_REAL *FL_RESTRICT w,
                                     FL_REAL e, FL_REAL *FL_RESTRICT u) {
    const int32_t *FL_RESTRICT j = row.indices;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    int64_t size = row.size, k = 0;
    if (row.layout == FL_DENSE) {
        for (; k < size; k++) {
            const FL_REAL old = w[k];
            w[k] = old + c * x[k];
            u[k] += e * (w[k] - old);
        }
        return;
    }
#define FL_ADD(column, change)                                            \
    for (; k + 4 <= size; k += 4) {                                       \
        const FL_REAL w0 = w[column(k)], w1 = w[column(k + 1)];           \
        const FL_REAL w2 = w[column(k + 2)], w3 = w[column(k + 3)];       \
        const FL_REAL v0 = w0 + change(k), v1 = w1 + change(k + 1);       \
        const FL_REAL v2 = w2 + change(k + 2), v3 = w3 + change(k + 3);   \
        const FL_REAL u0 = u[column(k)] + e * (v0 - w0);                           \
        const FL_REAL u1 = u[column(k + 1)] + e * (v1 - w1);                       \
        const FL_REAL u2 = u[column(k + 2)] + e * (v2 - w2);                       \
        const FL_REAL u3 = u[column(k + 3)] + e * (v3 - w3);                       \
        w[column(k)] = v0, w[column(k + 1)] = v1;                         \
        w[column(k + 2)] = v2, w[column(k + 3)] = v3;                     \
        u[column(k)] = u0, u[column(k + 1)] = u1;                         \
        u[column(k + 2)] = u2, u[column(k + 3)] = u3;                     \
    }                                                                     \
    for (; k < size; k++) {                                               \
        const FL_REAL old = w[column(k)];                                 \
        w[column(k)] = old + change(k);                                   \
        u[column(k)] += e * (w[column(k)] - old);                         \
    }
    FL_BY_LAYOUT(FL_ADD)
#undef FL_ADD
}
#undef FL_PLAIN_COLUMN
#undef FL_SIGNED_COLUMN
#undef FL_VALUE_CHANGE
#undef FL_ONE_CHANGE
#undef FL_SIGNED_CHANGE
#undef FL_BY_LAYOUT

/* |x|^2 in double */
FL_INLINE double FL_TYPED(fl_square_norm)(struct fl_row row) {
    if (row.values == NULL) return (double)row.size;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    double a = 0, b = 0, c = 0, d = 0;
    int64_t k = 0;
    for (; k + 4 <= row.size; k += 4) {
        a += (double)x[k] * x[k];
        b += (double)x[k + 1] * x[k + 1];
        c += (double)x[k + 2] * x[k + 2];
        d += (double)x[k + 3] * x[k + 3];
    }
    for (; k < row.size; k++) a += (double)x[k] * x[k];
    return (a + b) + (c + d);
}

/* The same with w in double, whatever the row holds: certificates and second-order solvers. */
FL_INLINE double FL_TYPED(fl_wide_dot)(struct fl_row row, const double *FL_RESTRICT w) {
    const int32_t *FL_RESTRICT j = row.indices;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    double lane[8] = {0};
    int64_t k = 0;
    if (row.layout == FL_DENSE) {
        for (; k + 8 <= row.size; k += 8) {
            for (int l = 0; l < 8; l++) lane[l] += (double)x[k + l] * w[k + l];
        }
        for (int l = 0; k < row.size; k++, l++) lane[l] += (double)x[k] * w[k];
    } else if (row.layout == FL_CSR) {
        for (; k + 4 <= row.size; k += 4) {
            FL_KEEP_SCALAR();
            lane[0] += (double)x[k] * w[j[k]];
            lane[1] += (double)x[k + 1] * w[j[k + 1]];
            lane[2] += (double)x[k + 2] * w[j[k + 2]];
            lane[3] += (double)x[k + 3] * w[j[k + 3]];
        }
        for (; k < row.size; k++) lane[0] += (double)x[k] * w[j[k]];
    } else {
        FL_EACH(row, column, value, lane[0] += (double)value * w[column];);
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* The products of the distinct columns of a row touch different places, so that four loads may go
 * before four stores. */
FL_INLINE void FL_TYPED(fl_wide_axpy)(struct fl_row row, double c, double *FL_RESTRICT w) {
    const int32_t *FL_RESTRICT j = row.indices;
    const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
    int64_t k = 0;
    if (row.layout == FL_DENSE) {
        for (; k < row.size; k++) w[k] += c * (double)x[k];
    } else if (row.layout == FL_CSR) {
        for (; k + 4 <= row.size; k += 4) {
            const double w0 = w[j[k]] + c * (double)x[k];
            const double w1 = w[j[k + 1]] + c * (double)x[k + 1];
            const double w2 = w[j[k + 2]] + c * (double)x[k + 2];
            const double w3 = w[j[k + 3]] + c * (double)x[k + 3];
            w[j[k]] = w0, w[j[k + 1]] = w1, w[j[k + 2]] = w2, w[j[k + 3]] = w3;
        }
        for (; k < row.size; k++) w[j[k]] += c * (double)x[k];
    } else {
        FL_EACH(row, column, value, w[column] += c * (double)value;);
    }
}

/* w_j += c x_j^2 */
FL_INLINE void FL_TYPED(fl_add_squares)(struct fl_row row, double c, double *FL_RESTRICT w) {
    FL_EACH(row, column, value, w[column] += c * (double)value * (double)value;);
}

/* What a Newton step needs of a row: g_j += s x_j, m_j += h x_j, q_j += h x_j^2. Of dense rows g, m
 * and q follow each other, of others the three of a column do, in one line of the cache. */
FL_INLINE void FL_TYPED(fl_add_moments)(struct fl_row row, double s, double h, double *out) {
    if (row.layout == FL_DENSE) {
        const FL_REAL *FL_RESTRICT x = (const FL_REAL *)row.values;
        double *FL_RESTRICT g = out;
        double *FL_RESTRICT m = out + row.size;
        double *FL_RESTRICT q = out + 2 * row.size;
        for (int64_t k = 0; k < row.size; k++) {
            const double hx = h * (double)x[k];
            g[k] += s * (double)x[k];
            m[k] += hx;
            q[k] += hx * (double)x[k];
        }
        return;
    }
    FL_EACH(row, column, value, {
        const double hx = h * (double)value;
        double *FL_RESTRICT sums = out + 3 * (int64_t)column;
        sums[0] += s * (double)value;
        sums[1] += hx;
        sums[2] += hx * (double)value;
    });
}

/* c x x^T added to a d x d matrix, each pair of columns in one of its two places. */
FL_INLINE void FL_TYPED(fl_add_outer)(struct fl_row row, double c, int64_t d, double *out) {
    struct FL_TYPED(fl_chunk) one, other;
    for (int64_t k = 0; k < row.size; k += FL_CHUNK) {
        FL_TYPED(fl_take)(&one, row, k);
        for (int64_t l = 0; l <= k; l += FL_CHUNK) {
            FL_TYPED(fl_take)(&other, row, l);
            for (int a = 0; a < one.n; a++) {
                const double cx = c * (double)one.x[a];
                const int n = l == k ? a + 1 : other.n;
                double *line = out + one.column[a] * d;
                for (int b = 0; b < n; b++) line[other.column[b]] += cx * (double)other.x[b];
            }
        }
    }
}

/* Whether x holds no NaN or infinity. */
FL_INLINE int FL_TYPED(fl_all_finite)(const FL_REAL *FL_RESTRICT x, int64_t n) {
    FL_BITS carried = 0, bits;
    for (int64_t k = 0; k < n; k++) {
        memcpy(&bits, x + k, sizeof bits);
        carried |= (bits & FL_MAGNITUDE) + FL_TO_SIGN;
    }
    return carried <= FL_MAGNITUDE;
}

/* How many entries of a row are not 0. */
FL_INLINE int64_t FL_TYPED(fl_count_entries)(struct fl_row row) {
    int64_t n = 0;
    if (row.layout == FL_ONES || row.layout == FL_SIGNED) return row.size;
    FL_EACH(row, j, x, (void)j; n++;);
    return n;
}

/* Copy the entries of a row that are not 0, the columns moved by `offset`; how many. Without
 * `values` all are 1 or -1, and the sign goes into the column. */
FL_INLINE int64_t FL_TYPED(fl_copy_entries)(struct fl_row row, int32_t offset,
                                            int32_t *FL_RESTRICT columns,
                                            FL_REAL *FL_RESTRICT values) {
    int64_t n = 0;
    if (values) {
        FL_EACH(row, j, x, columns[n] = offset + (int32_t)j; values[n++] = x;);
    } else {
        FL_EACH(row, j, x, const int32_t column = offset + (int32_t)j;
                columns[n++] = x < 0 ? ~column : column;);
    }
    return n;
}
