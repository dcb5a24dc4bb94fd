/* exp, log, log1p and what is made of them, so that the bits of a model don't hang on the libm of a
 * machine.
 *
 * Stated error, which tests/test_math.py measures: fl_exp, fl_log and fl_log1p within 1 ulp of
 * the true value over the whole range of double, subnormal results of fl_exp within one
 * subnormal step. NaN gives NaN. */
#ifndef FL_MATH_H
#define FL_MATH_H

#include <string.h>

#include "fl_common.h"

FL_INLINE double fl_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

FL_INLINE uint64_t fl_to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 2^k for -1022 <= k <= 1023 */
FL_INLINE double fl_pow2(int64_t k) { return fl_from_bits((uint64_t)(k + 1023) << 52); }

/* Reduction x = k ln 2 + r, |r| <= ln 2 / 2 (Cody & Waite 1980), then the Taylor polynomial of
 * (e^r - 1 - r) / r^2, whose remainder is below 2^-58 at degree 11. It is evaluated in pairs
 * (Estrin 1960): the next row waits for this result, so the length of the chain is what costs.
 * Returns e^r; k comes as the low bits of a number. */
FL_INLINE double fl_exp_reduced(double x, uint64_t *count_bits) {
    const double ln2_high = 6.93147180369123816490e-01; /* 32 significant bits: k * it is exact */
    const double ln2_low = 1.90821492927058770002e-10;
    const double round = 6755399441055744.0; /* 1.5 * 2^52: its last bit weighs 1 */
    double shifted = x * 1.4426950408889634074 + round;
    double count = shifted - round;
    double high = x - count * ln2_high, low = count * ln2_low;
    double r = high - low, s = r * r;
    double error = (high - r) - low; /* what the subtraction rounded away */
    double c0 = 1.0 / 2.0 + r * (1.0 / 6.0);
    double c2 = 1.0 / 24.0 + r * (1.0 / 120.0);
    double c4 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    double c6 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
    double c8 = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
    double c10 = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    double q = s * s;
    double low_half = (c0 + s * c2) + q * (c4 + s * c6);
    double p = low_half + (q * q) * (c8 + s * c10);
    *count_bits = fl_to_bits(shifted); /* its low bits are those of k */
    return 1.0 + (r + (s * p + error));
}

/* e^x for |x| <= FL_EXP_NEAR, without a branch, so that a loop over it runs in vector registers;
 * the bits are those of fl_exp. */
#define FL_EXP_NEAR 700.0
FL_INLINE double fl_exp_near(double x) {
    uint64_t bits;
    double y = fl_exp_reduced(x, &bits);
    return y * fl_from_bits((bits + 1023) << 52);
}

FL_INLINE double fl_exp(double x) {
    uint64_t bits;
    if (!(x < 709.79)) return x >= 709.79 ? fl_from_bits(0x7ff0000000000000u) : x;
    if (x < -745.14) return 0.0;
    double y = fl_exp_reduced(x, &bits);
    int64_t k = (int64_t)(int32_t)bits;
    if (k >= -1021 && k <= 1023) return y * fl_pow2(k);
    if (k > 1023) return y * 2.0 * fl_pow2(k - 1);
    return y * fl_pow2(k + 60) * fl_pow2(-60); /* subnormal: one rounding, at the last product */
}

/* (artanh(s) / s - 1) / z, z = s^2, for s = (m - 1) / (m + 1) of the m below */
FL_INLINE double fl_artanh_series(double z) {
    double p = 1.0 / 23.0;
    p = p * z + 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return p;
}

/* log(u + lost) = k ln 2 + log(m), m in [sqrt(1/2), sqrt(2)], log(m) = 2 artanh((m-1)/(m+1)), for
 * a normal number u and what its rounding lost, a first-order term. */
FL_INLINE double fl_log_of_sum(double u, double lost) {
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    uint64_t bits = fl_to_bits(u);
    int64_t k = (int64_t)(bits >> 52) - 1023;
    double m = fl_from_bits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        k += 1;
    }
    double f = m - 1.0, s = f / (2.0 + f), z = s * s;
    double p = 2.0 * fl_artanh_series(z) * z;
    /* 2 artanh(s) = f - f^2/2 + s (f^2/2 + p): the leading term f is exact */
    double half_square = 0.5 * f * f;
    double correction = lost / u + (double)k * ln2_low;
    return (double)k * ln2_high + (f - (half_square - (s * (half_square + p) + correction)));
}

FL_INLINE double fl_log1p(double x) {
    if (!(x > -1.0)) return x == -1.0 ? -fl_from_bits(0x7ff0000000000000u) : x - x + (x - x) / 0.0;
    if (x == fl_from_bits(0x7ff0000000000000u)) return x;
    double u = 1.0 + x;
    return fl_log_of_sum(u, x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0));
}

FL_INLINE double fl_log(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -fl_from_bits(0x7ff0000000000000u) : x - x + (x - x) / 0.0;
    if (x == fl_from_bits(0x7ff0000000000000u)) return x;
    if (x < 2.2250738585072014e-308) /* subnormal: times 2^54 */
        return fl_log_of_sum(x * 18014398509481984.0, 0.0) - 54.0 * 0.69314718055994530942;
    return fl_log_of_sum(x, 0.0);
}

/* log(x) for positive normal numbers and what a first-order term adds, without a branch, so that a
 * loop over it runs in vector registers; the bits are those of fl_log_of_sum. */
#define FL_LOG_LEAST 2.2250738585072014e-308
#define FL_LOG_MOST 1.7976931348623157e308
FL_INLINE double fl_log_near(double x, double more) {
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    const uint64_t bits = fl_to_bits(x);
    const uint64_t fraction = bits & 0x000fffffffffffffu;
    const uint64_t above = (0x0006a09e667f3bcdu - fraction) >> 63; /* sqrt(2) */
    const double m = fl_from_bits((fraction | 0x3ff0000000000000u) - (above << 52));
    /* an integer in the last bits of 2^52: what a subtraction leaves is its value */
    const double k =
        fl_from_bits(((bits >> 52) + above) | 0x4330000000000000u) - 4503599627371519.0;
    double f = m - 1.0, s = f / (2.0 + f), z = s * s;
    double half_square = 0.5 * f * f;
    double tail = s * (half_square + 2.0 * fl_artanh_series(z) * z);
    return k * ln2_high + (f - (half_square - (tail + (more + k * ln2_low))));
}

/* log(1 + x) for 0 <= x <= 1, as fl_log1p has it */
FL_INLINE double fl_log1p_near(double x) {
    const double u = 1.0 + x;
    return fl_log_near(u, (x - (u - 1.0)) / u);
}

/* Each x to its logarithm, as fl_log has it. */
FL_INLINE void fl_logs(double *x, int64_t n) {
    enum { BLOCK = 64 };
    for (int64_t start = 0; start < n; start += BLOCK) {
        double *FL_RESTRICT y = x + start;
        const int size = n - start < BLOCK ? (int)(n - start) : BLOCK;
        int far = 0; /* 0, subnormal, negative, infinite or not a number */
        for (int l = 0; l < size; l++) far |= !(y[l] >= FL_LOG_LEAST) | !(y[l] <= FL_LOG_MOST);
        if (FL_UNLIKELY(far)) {
            for (int l = 0; l < size; l++) y[l] = fl_log(y[l]);
        } else {
            for (int l = 0; l < size; l++) y[l] = fl_log_near(y[l], 0.0);
        }
    }
}

/* 1 / (1 + e^-x), with full relative accuracy in both tails */
FL_INLINE double fl_sigmoid(double x) {
    /* chosen, not branched to: the sign is as good as random */
    const double e = fl_exp(x >= 0 ? -x : x);
    return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

/* log(1 + e^x) without overflow */
FL_INLINE double fl_softplus(double x) {
    return x > 0 ? x + fl_log1p(fl_exp(-x)) : fl_log1p(fl_exp(x));
}

FL_INLINE double fl_abs(double x) { return fl_from_bits(fl_to_bits(x) & 0x7fffffffffffffffu); }
FL_INLINE double fl_max(double a, double b) { return a > b ? a : b; }
FL_INLINE double fl_min(double a, double b) { return a < b ? a : b; }

/* out[2 i] = sigma(-z_i), out[2 i + 1] = sigma(z_i), from one exponential each. Where z_i > 0 the
 * second is the larger one even if both round to 1/2. */
FL_INLINE void fl_sigmoid_pairs(const double *FL_RESTRICT z, double *FL_RESTRICT out, int64_t n) {
    enum { BLOCK = 64 };
    double e[BLOCK];
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int size = n - start < BLOCK ? (int)(n - start) : BLOCK;
        int far = 0; /* or not a number */
        for (int l = 0; l < size; l++) {
            e[l] = -fl_abs(z[start + l]);
            far |= !(e[l] >= -FL_EXP_NEAR);
        }
        if (FL_UNLIKELY(far)) {
            for (int l = 0; l < size; l++) e[l] = fl_exp(e[l]);
        } else {
            for (int l = 0; l < size; l++) e[l] = fl_exp_near(e[l]);
        }
        for (int l = 0; l < size; l++) {
            /* by the place, not by a branch: nobody can guess the signs of responses */
            const int positive = z[start + l] > 0;
            const double larger = 1.0 / (1.0 + e[l]), smaller = e[l] * larger;
            const double below = larger * (1.0 - positive * 2.220446049250313e-16);
            out[2 * (start + l) + positive] = larger;
            out[2 * (start + l) + 1 - positive] = fl_min(smaller, below);
        }
    }
}

#endif
