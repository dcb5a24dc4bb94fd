/* Dual ascent on pairs of rows, where the responses to all rows are known: what kernels make cheap.
 *
 * The problem and its symbols are those of fl_dual.h, with K_ij = x_i.x_j given and w unknown:
 * the state is f_i = sum_j C_j a_j K_ij. Where b is free, sum_i C_i a_i = 0, and what moves keeps
 * to that in pairs: C_i a_i rises and C_j a_j falls by the same (Platt 1998, "Sequential minimal
 * optimization"). For losses whose conjugate is a line or a parabola on its domain,
 *     e_i = y_i - c a_i - f_i,      c = 0 (hinge) or 1/2 (squared hinge),
 * is the b at which row i asks for nothing. The dual falls short of its maximum as long as
 *     top = max { e_i : a_i can rise }  >  bottom = min { e_j : a_j can fall },
 * and the pair that gains most, among those with the i of `top`, has the largest
 * (e_i - e_j)^2 / (K_ii + K_jj - 2 K_ij + c / C_i + c / C_j) (Fan, Chen & Lin 2005, "Working set
 * selection using second order information for training support vector machines", JMLR 6). The step
 * itself is the loss's own, at b = e_j and with the curvature of the pair, cut at the bound of a_j.
 *
 * `rise` is 0 where a_i can rise and -infinity elsewhere, `fall` 0 and +infinity, so that a search
 * is a maximum of sums. Searches go by blocks: sums first, and then a maximum for each of eight
 * lanes, which is what compilers turn into vectors; only a block with a new maximum is gone through
 * once more. Rows of the Gram matrix may be of float, so that more of them stay near; sums are of
 * double.
 */
#ifndef FL_PAIRS_H
#define FL_PAIRS_H

#include "fl_losses.h"

enum { FL_PAIR_LANES = 8, FL_PAIR_BLOCK = 256 };

struct fl_pairs {
    int loss;
    double loss_parameter;
    int64_t n;
    const double *y;
    const double *mass; /* C_i */
    const double *bend; /* K_ii + c / C_i */
    double *a, *e, *rise, *fall;
    int is_float; /* whether rows of the Gram matrix are */
};

struct fl_pair {
    int64_t i, j;
    double top, bottom;
};

/* The largest a_i of a margin loss, and the smallest */
FL_INLINE double fl_pair_most(int loss, double y) {
    return y < 0 ? 0.0 : (loss == FL_LOSS_HINGE ? 1.0 : FL_INFINITY);
}

FL_INLINE double fl_pair_least(int loss, double y) { return -fl_pair_most(loss, -y); }

FL_INLINE void fl_pair_mark(const struct fl_pairs *p, int64_t i) {
    p->rise[i] = p->a[i] < fl_pair_most(p->loss, p->y[i]) ? 0.0 : -FL_INFINITY;
    p->fall[i] = p->a[i] > fl_pair_least(p->loss, p->y[i]) ? 0.0 : FL_INFINITY;
}

/* The largest of up to FL_PAIR_BLOCK numbers */
FL_INLINE double fl_pair_highest(const double *values, int size) {
    double high[FL_PAIR_LANES];
    int l = 0;
    for (int k = 0; k < FL_PAIR_LANES; k++) high[k] = -FL_INFINITY;
    for (; l + FL_PAIR_LANES <= size; l += FL_PAIR_LANES) {
        for (int k = 0; k < FL_PAIR_LANES; k++) high[k] = fl_max(values[l + k], high[k]);
    }
    for (; l < size; l++) high[0] = fl_max(values[l], high[0]);
    for (int k = 1; k < FL_PAIR_LANES; k++) high[0] = fl_max(high[0], high[k]);
    return high[0];
}

/* Entries start ... start + size - 1 of a row; those of float go to `room`. */
FL_INLINE const double *fl_pair_part(const struct fl_pairs *p, const void *row, int64_t start,
                                     int size, double *FL_RESTRICT room) {
    const float *few = (const float *)row + start;
    if (!p->is_float) return (const double *)row + start;
    for (int k = 0; k < size; k++) room[k] = (double)few[k];
    return room;
}

/* e -= change (K_i - K_j) over a block */
FL_INLINE void fl_pair_shift(double *FL_RESTRICT e, const double *FL_RESTRICT Ki,
                             const double *FL_RESTRICT Kj, double change, int size) {
    for (int k = 0; k < size; k++) e[k] -= change * (Ki[k] - Kj[k]);
}

/* Move e along, and find i, top and bottom on the way; Ki = NULL: find only. */
FL_INLINE struct fl_pair fl_pair_first(const struct fl_pairs *p, const void *Ki, const void *Kj,
                                       double change) {
    struct fl_pair found = {-1, -1, -FL_INFINITY, FL_INFINITY};
    for (int64_t start = 0; start < p->n; start += FL_PAIR_BLOCK) {
        const int size = (int)(start + FL_PAIR_BLOCK < p->n ? FL_PAIR_BLOCK : p->n - start);
        const double *rise = p->rise + start, *fall = p->fall + start;
        double *e = p->e + start, up[FL_PAIR_BLOCK], down[FL_PAIR_BLOCK], top;
        if (Ki != NULL) {
            fl_pair_shift(e, fl_pair_part(p, Ki, start, size, up),
                          fl_pair_part(p, Kj, start, size, down), change, size);
        }
        for (int k = 0; k < size; k++) {
            up[k] = e[k] + rise[k];
            down[k] = -(e[k] + fall[k]);
        }
        found.bottom = fl_min(-fl_pair_highest(down, size), found.bottom);
        top = fl_pair_highest(up, size);
        if (top > found.top) {
            int k = 0;
            while (up[k] < top) k++;
            found.top = top;
            found.i = start + k;
        }
    }
    return found;
}

/* The j that gains most with found.i, whose row is Ki; -1: none. */
FL_INLINE int64_t fl_pair_second(const struct fl_pairs *p, struct fl_pair found, const void *Ki) {
    const double own = p->bend[found.i], least = 1e-12 * own + 1e-300;
    double best = 0.0;
    int64_t j = -1;
    for (int64_t start = 0; start < p->n; start += FL_PAIR_BLOCK) {
        const int size = (int)(start + FL_PAIR_BLOCK < p->n ? FL_PAIR_BLOCK : p->n - start);
        const double *e = p->e + start, *fall = p->fall + start, *bend = p->bend + start;
        double gain[FL_PAIR_BLOCK], room_of_K[FL_PAIR_BLOCK], most;
        const double *K = fl_pair_part(p, Ki, start, size, room_of_K);
        for (int k = 0; k < size; k++) {
            const double room = fl_max(found.top - (e[k] + fall[k]), 0.0);
            const double curve = own + bend[k] - 2.0 * K[k];
            gain[k] = room * room / fl_max(curve, least);
        }
        most = fl_pair_highest(gain, size);
        if (most > best) {
            int k = 0;
            while (gain[k] < most) k++;
            best = most;
            j = start + k;
        }
    }
    return j;
}

/* Move the pair; returns by how much C_i a_i has risen. */
FL_INLINE double fl_pair_step(const struct fl_pairs *p, int64_t i, int64_t j, const void *Ki) {
    const double K_ij = p->is_float ? (double)((const float *)Ki)[j] : ((const double *)Ki)[j];
    const double parabola = p->loss == FL_LOSS_HINGE ? 0.0 : 0.5;
    const double curve = fl_max(p->bend[i] + p->bend[j] - 2.0 * K_ij, 1e-12 * p->bend[i] + 1e-300);
    const double least = fl_pair_least(p->loss, p->y[j]);
    const double response = p->y[i] - parabola * p->a[i] - p->e[i] + p->e[j];
    double logit = 0.0, moved = fl_loss_dual_step(p->loss, response, p->y[i], p->loss_parameter,
                                                  p->a[i], p->mass[i] * curve - parabola, &logit);
    double change = p->mass[i] * (moved - p->a[i]), other = p->a[j] - change / p->mass[j];
    if (other <= least) {
        other = least;
        change = p->mass[j] * (p->a[j] - least);
        moved = fl_min(p->a[i] + change / p->mass[i], fl_pair_most(p->loss, p->y[i]));
    }
    p->e[i] -= parabola * (moved - p->a[i]);
    p->e[j] -= parabola * (other - p->a[j]);
    p->a[i] = moved;
    p->a[j] = other;
    fl_pair_mark(p, i);
    fl_pair_mark(p, j);
    return change;
}

#endif
