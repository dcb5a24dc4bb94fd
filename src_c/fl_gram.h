/* The loops over a row of a Gram matrix that are worth vectors as wide as a machine has: there is a
 * table of them for each instruction set, and all give the same bits. */
#ifndef FL_GRAM_H
#define FL_GRAM_H

#include "fl_pairs.h"

struct fl_gram_kernels {
    /* see fl_gaussian */
    void (*gaussian)(double *dots, int64_t n, double gamma, double square, const double *squares);
    /* see fl_pair_first and fl_pair_second */
    struct fl_pair (*first)(const struct fl_pairs *p, const void *Ki, const void *Kj,
                            double change);
    int64_t (*second)(const struct fl_pairs *p, struct fl_pair found, const void *Ki);
};

#endif
