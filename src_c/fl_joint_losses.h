/* Losses of K responses z = W x + b at once, for a true class y: the joint forms of the losses in
 * fl_losses.h.
 *
 *   log_loss    softmax:          log sum_k exp z_k - z_y
 *   sparsemax   (Martins & Astudillo 2016, "From softmax to sparsemax", ICML):
 *               -z_y + (1/2) sum_{k in S} (z_k^2 - tau^2) + 1/2, gradient p - e_y, where
 *               p_k = max(0, z_k - tau) is the projection of z on the simplex and S its support
 *   hinge       (Crammer & Singer 2001, JMLR 2): max(0, 1 + max_{k != y} z_k - z_y)
 *   perceptron  the same with the margin a in place of 1; at a = 0 a tie goes to the lowest index
 *
 * The first three are of the form (Blondel, Martins & Niculae 2020, "Learning with Fenchel-Young
 * losses", JMLR 21), q = e_y here, or any distribution over the classes for the first two,
 *
 *     loss(z, q) = max over p in the simplex of (p.z - Omega(p)) - q.z + Omega0(q),
 *     Omega(p) = sum p log p,   |p|^2 / 2,   p_y - 1,     Omega0 = 0,   |q|^2 / 2,   0:
 *
 * fl_joint_max gives the maximum and where it is, which less q is the gradient.
 */
#ifndef FL_JOINT_LOSSES_H
#define FL_JOINT_LOSSES_H

#include "fl_losses.h"

FL_INLINE int fl_loss_is_joint(int loss) {
    return loss == FL_LOSS_LOG || loss == FL_LOSS_SPARSEMAX || loss == FL_LOSS_HINGE ||
           loss == FL_LOSS_PERCEPTRON;
}

/* The class other than y with the largest response; the lowest index wins. */
FL_INLINE int64_t fl_rival(const double *z, int64_t K, int64_t y) {
    int64_t best = y == 0 ? 1 : 0;
    for (int64_t k = best + 1; k < K; k++) {
        if (k != y && z[k] > z[best]) best = k;
    }
    return best;
}

/* The projection of z on the simplex whose entries sum to `size` is max(0, z_k - top - t), top
 * being the largest z_k; returns t. Classes below the threshold of those that are left are dropped
 * until none is (Michelot 1986, JOTA 50): exact, at most K rounds. Counted from the top, t is at
 * most -size/K, which keeps the top class in, however large z is. */
FL_INLINE double fl_simplex_threshold(const double *z, int64_t K, double top, double size) {
    double t = -fl_from_bits(0x7ff0000000000000u), sum;
    int64_t n = 0, before;
    for (int64_t round = 0; round <= K; round++) {
        before = n;
        sum = 0;
        n = 0;
        for (int64_t k = 0; k < K; k++) {
            if (z[k] - top > t) {
                sum += z[k] - top;
                n++;
            }
        }
        if (n == before || n == 0) break;
        t = (sum - size) / (double)n;
    }
    return t;
}

FL_INLINE double fl_largest(const double *z, int64_t K) {
    double top = z[0];
    for (int64_t k = 1; k < K; k++) top = fl_max(top, z[k]);
    return top;
}

/* Omega0(q), given |q|^2. */
FL_INLINE double fl_joint_offset(int loss, double square) {
    return loss == FL_LOSS_SPARSEMAX ? 0.5 * square : 0.0;
}

/* The maximum of p.z - Omega(p) less z_y, which is the loss but for Omega0 where y is the only
 * class of the row; p gets where it is. */
FL_INLINE double fl_joint_max(int loss, const double *FL_RESTRICT z, int64_t K, int64_t y,
                              double *FL_RESTRICT p) {
    double top, sum = 0, t, u;
    int64_t rival;
    switch (loss) {
    case FL_LOSS_LOG:
        top = fl_largest(z, K);
        for (int64_t k = 0; k < K; k++) sum += p[k] = fl_exp(z[k] - top);
        for (int64_t k = 0; k < K; k++) p[k] /= sum;
        return top - z[y] + fl_log1p(sum - 1.0);
    case FL_LOSS_SPARSEMAX:
        top = fl_largest(z, K);
        t = fl_simplex_threshold(z, K, top, 1.0);
        for (int64_t k = 0; k < K; k++) {
            u = z[k] - top; /* the loss is the same for z + c */
            p[k] = fl_max(0.0, u - t);
            if (p[k] > 0) sum += p[k] * (u + t); /* u^2 - t^2 without cancellation */
        }
        return 0.5 * sum - (z[y] - top);
    default:
        rival = fl_rival(z, K, y);
        for (int64_t k = 0; k < K; k++) p[k] = 0;
        p[1.0 + z[rival] > z[y] ? rival : y] = 1;
        return fl_max(0.0, 1.0 + z[rival] - z[y]);
    }
}

/* Returns the loss; fills the gradient g, the classes where it is not 0 and their number. */
FL_INLINE double fl_joint_loss(int loss, const double *FL_RESTRICT z, int64_t K, int64_t y,
                               double a, double *FL_RESTRICT g, int64_t *FL_RESTRICT active,
                               int64_t *FL_RESTRICT n_active) {
    double value;
    int64_t rival, n = 0;
    switch (loss) {
    case FL_LOSS_LOG:
    case FL_LOSS_SPARSEMAX:
        value = fl_joint_max(loss, z, K, y, g) + fl_joint_offset(loss, 1.0);
        g[y] -= 1.0;
        for (int64_t k = 0; k < K; k++) {
            if (g[k] != 0) active[n++] = k;
        }
        *n_active = n;
        return fl_max(0.0, value);
    default: /* hinge and perceptron: the two rows that are wrong way round */
        rival = fl_rival(z, K, y);
        value = a + z[rival] - z[y];
        if (value > 0 || (value == 0 && loss == FL_LOSS_PERCEPTRON && (a > 0 || rival < y))) {
            g[rival] = 1.0;
            g[y] = -1.0;
            active[0] = rival;
            active[1] = y;
            n = 2;
        }
        *n_active = n;
        return fl_max(0.0, value);
    }
}

#endif
