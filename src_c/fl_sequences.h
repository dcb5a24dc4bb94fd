/* The string subsequence kernel, for one string against several side by side.
 *
 * K_n(s, t) = sum over subsequences u of n symbols of sum lambda^(l(i) + l(j)) over the places i in
 * s and j in t where u is found, l being the distance from the first symbol to the last, both
 * included (Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins 2002, "Text classification using
 * string kernels", JMLR 2, section 2). With K'_0 = 1, their recursion on prefixes is
 *     K''_p(s x, t y) = lambda K''_p(s x, t) + [x = y] lambda^2 K'_{p-1}(s, t)
 *     K'_p(s x, t)    = lambda K'_p(s, t) + K''_p(s x, t)
 *     K_n(s x, t)     = K_n(s, t) + lambda^2 sum_j [t_j = x] K'_{n-1}(s, t[: j])
 * A step takes one symbol x of s and goes through t for each p from n - 1 down, so that what
 * belongs to the shorter prefix of s is still there when it is needed.
 *
 * K'' along t is a chain in which each number waits for the one before: FL_STRINGS strings t stand
 * side by side, symbol j of string k at t[j FL_STRINGS + k], and so do their chains. Shorter ones
 * are filled up with FL_NO_SYMBOL, which equals nothing. Where x stands in t is found once for all
 * p, as factors lambda^2 and 0: comparisons inside of the recursion would be branches, which took
 * three times as long. Symbols are numbers in doubles, so that a comparison has the width of its
 * factor.
 */
#ifndef FL_SEQUENCES_H
#define FL_SEQUENCES_H

#include "fl_common.h"

#define FL_STRINGS 16
#define FL_NO_SYMBOL (-1.0)

/* What a step needs, for strings t of m symbols: K'_p, p = 1 ... n - 1, for the symbols of s taken
 * so far, m FL_STRINGS numbers each, and the factors of a symbol. */
FL_INLINE int64_t fl_subsequence_room(int64_t n, int64_t m) { return n * m * FL_STRINGS; }

FL_INLINE void fl_subsequence_begin(double *FL_RESTRICT room, int64_t n, int64_t m) {
    for (int64_t k = 0; k < fl_subsequence_room(n, m); k++) room[k] = 0.0;
}

FL_INLINE void fl_subsequence_factors(double x, const double *FL_RESTRICT t, int64_t size,
                                      double square, double *FL_RESTRICT found) {
    for (int64_t k = 0; k < size; k++) found[k] = t[k] == x ? square : 0.0;
}

/* lambda^2 sum of K'_{n-1}(s, t[: j]) over the places j of x, added to `total`; `before` is
 * K'_{n-1}, or NULL for K'_0. */
FL_INLINE void fl_subsequence_count(const double *FL_RESTRICT found, int64_t size,
                                    const double *FL_RESTRICT before,
                                    double *FL_RESTRICT total) {
    if (before == NULL) {
        for (int64_t j = 0; j < size; j += FL_STRINGS) {
            for (int k = 0; k < FL_STRINGS; k++) total[k] += found[j + k];
        }
        return;
    }
    for (int64_t j = FL_STRINGS; j < size; j += FL_STRINGS) {
        for (int k = 0; k < FL_STRINGS; k++) total[k] += found[j + k] * before[j + k - FL_STRINGS];
    }
}

/* K'_p of the longer prefix of s, from K'_p and K'_{p-1} (NULL: K'_0) of the shorter one. */
FL_INLINE void fl_subsequence_extend(const double *FL_RESTRICT found, int64_t size, double decay,
                                     const double *FL_RESTRICT before, double *FL_RESTRICT now) {
    double run[FL_STRINGS];
    for (int k = 0; k < FL_STRINGS; k++) {
        run[k] = before == NULL ? found[k] : 0.0;
        now[k] = decay * now[k] + run[k];
    }
    if (before == NULL) {
        for (int64_t j = FL_STRINGS; j < size; j += FL_STRINGS) {
            for (int k = 0; k < FL_STRINGS; k++) {
                run[k] = decay * run[k] + found[j + k];
                now[j + k] = decay * now[j + k] + run[k];
            }
        }
        return;
    }
    for (int64_t j = FL_STRINGS; j < size; j += FL_STRINGS) {
        for (int k = 0; k < FL_STRINGS; k++) {
            run[k] = decay * run[k] + found[j + k] * before[j + k - FL_STRINGS];
            now[j + k] = decay * now[j + k] + run[k];
        }
    }
}

/* Take the next symbol of s; `total` becomes K_n. */
FL_INLINE void fl_subsequence_step(double x, const double *FL_RESTRICT t, int64_t m, int64_t n,
                                   double decay, double *FL_RESTRICT room,
                                   double *FL_RESTRICT total) {
    const int64_t size = m * FL_STRINGS;
    double *found = room + (n - 1) * size;
    fl_subsequence_factors(x, t, size, decay * decay, found);
    fl_subsequence_count(found, size, n > 1 ? room + (n - 2) * size : NULL, total);
    for (int64_t p = n - 1; p >= 1; p--) {
        fl_subsequence_extend(found, size, decay, p > 1 ? room + (p - 2) * size : NULL,
                              room + (p - 1) * size);
    }
}

#endif
