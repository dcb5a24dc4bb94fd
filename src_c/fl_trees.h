/* The kernel of all fragments that two trees have in common.
 *
 * K(A, B) = sum over nodes a of A and b of B of D(a, b), where D(a, b) = 0 if the productions at a
 * and b differ, and else
 *     D(a, b) = lambda prod_k (1 + D(child k of a, child k of b))
 * over those children that are nodes themselves: words are part of the production (Collins & Duffy
 * 2002, "New ranking algorithms for parsing and tagging", ACL, and "Convolution kernels for natural
 * language", NIPS 2001, section 3). Lambda <= 1 weighs down large fragments.
 *
 * Only pairs with equal productions count, and these are few: as in Moschitti 2006, "Making tree
 * kernels practical for natural language learning", they are found by two sorted lists. D is kept
 * for them alone: the matches of node a have consecutive places, in the order of B's list, so that
 * a child's D is found by its place among the nodes of B with its production.
 */
#ifndef FL_TREES_H
#define FL_TREES_H

#include "fl_common.h"

/* One tree of n nodes, numbered so that children come before their parent. */
struct fl_tree {
    int64_t n;
    const int32_t *production; /* of each node */
    const int32_t *sorted;     /* the nodes by production */
    const int32_t *rank;       /* place of each node in `sorted` */
    const int64_t *starts;     /* of node v the children are children[starts[v] : starts[v + 1]] */
    const int32_t *children;
};

/* For each node a, shift[a] + rank_B[b] becomes the place of D(a, b), and first[a] ... last[a] - 1
 * the part of B's list with a's production. Returns the number of places. */
FL_INLINE int64_t fl_tree_match(const struct fl_tree *A, const struct fl_tree *B,
                                int64_t *FL_RESTRICT shift, int32_t *FL_RESTRICT first,
                                int32_t *FL_RESTRICT last) {
    int64_t begin = 0, end = 0, places = 0;
    int32_t now = -1;
    for (int64_t k = 0; k < A->n; k++) {
        const int32_t a = A->sorted[k], production = A->production[a];
        if (production != now) {
            now = production;
            begin = end;
            while (begin < B->n && B->production[B->sorted[begin]] < now) begin++;
            end = begin;
            while (end < B->n && B->production[B->sorted[end]] == now) end++;
        }
        first[a] = (int32_t)begin;
        last[a] = (int32_t)end;
        shift[a] = places - begin;
        places += end - begin;
    }
    return places;
}

/* What nodes a, a + 1, ... of A add to K(A, B), given what fl_tree_match found; D has room for as
 * many numbers as it said. Ends early when `budget`, less the pairs of nodes gone through, is
 * used up. Returns the next node. */
FL_INLINE int64_t fl_tree_sum(const struct fl_tree *A, const struct fl_tree *B, double decay,
                              const int64_t *FL_RESTRICT shift, const int32_t *FL_RESTRICT first,
                              const int32_t *FL_RESTRICT last, double *FL_RESTRICT D, int64_t a,
                              int64_t *budget, double *total) {
    int64_t left = *budget;
    double sum = *total;
    for (; a < A->n && left > 0; a++) {
        const int32_t *own = A->children + A->starts[a];
        const int64_t n_children = A->starts[a + 1] - A->starts[a];
        for (int32_t q = first[a]; q < last[a]; q++) {
            const int32_t b = B->sorted[q];
            const int32_t *other = B->children + B->starts[b];
            double value = decay;
            for (int64_t k = 0; k < n_children; k++) {
                const int32_t c = own[k], d = other[k];
                if (A->production[c] == B->production[d]) value *= 1.0 + D[shift[c] + B->rank[d]];
            }
            D[shift[a] + q] = value;
            sum += value;
        }
        left -= 1 + last[a] - first[a];
    }
    *total = sum;
    *budget = left;
    return a;
}

#endif
