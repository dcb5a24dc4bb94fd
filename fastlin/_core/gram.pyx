"""Gram matrices of strings and trees, and the Gaussian kernel from dot products. The C headers
`fl_sequences.h` and `fl_trees.h` state the recursions and the symbols."""

from .c cimport int32_t, int64_t
from .gram cimport (FL_NO_SYMBOL, FL_STRINGS, fl_subsequence_begin, fl_subsequence_step, fl_tree,
                    fl_tree_match, fl_tree_sum)
from .kernel_dual cimport fl_gram_kernels
from .multi cimport gram_kernels_for

STRINGS = FL_STRINGS
NO_SYMBOL = FL_NO_SYMBOL


def gaussian(int isa, double[:, ::1] out, double gamma, const double[::1] squares,
             const double[::1] column_squares):
    """out_ij, a dot product, becomes exp(-gamma |x_i - z_j|^2)."""
    cdef Py_ssize_t i
    cdef const fl_gram_kernels *kernels = gram_kernels_for(isa)
    if out.shape[1] == 0:
        return
    with nogil:
        for i in range(out.shape[0]):
            kernels.gaussian(&out[i, 0], out.shape[1], gamma, squares[i],
                             &column_squares[0])


def subsequences(const double[::1] symbols, const int64_t[::1] ends, const double[::1] groups,
                 const int64_t[::1] group_starts, int64_t length, double decay, bint symmetric,
                 int64_t[::1] place, int64_t stop, int64_t budget, double[::1] room,
                 double[::1] total, double[:, ::1] out):
    """Fill rows of the Gram matrix, from `place` on; False if `budget` cells were not enough.

    String i is symbols[ends[i] : ends[i + 1]]. Group g of STRINGS strings side by side stands at
    groups[group_starts[g] : group_starts[g + 1]]; if symmetric they are the same strings, and row i
    begins at the group that holds i. place = (i, g, symbols of i taken so far); `room` and `total`
    hold what was reached, and out_ij gets K_n.
    """
    cdef int64_t i = place[0], g = place[1], k = place[2], last, m, cells = 0
    cdef int64_t n_groups = group_starts.shape[0] - 1
    cdef const double *t
    cdef int lane
    with nogil:
        while i < stop and cells < budget:
            t = &groups[group_starts[g]]
            m = (group_starts[g + 1] - group_starts[g]) // FL_STRINGS
            last = ends[i + 1] - ends[i]
            if k == 0:
                fl_subsequence_begin(&room[0], length, m)
                for lane in range(FL_STRINGS):
                    total[lane] = 0
            while k < last and cells < budget:
                fl_subsequence_step(symbols[ends[i] + k], t, m, length, decay, &room[0],
                                    &total[0])
                k += 1
                cells += 1 + m * FL_STRINGS * length
            if k < last:
                break
            for lane in range(FL_STRINGS):
                if g * FL_STRINGS + lane < out.shape[1]:
                    out[i, g * FL_STRINGS + lane] = total[lane]
            k = 0
            cells += 1
            g += 1
            if g == n_groups:
                i += 1
                g = i // FL_STRINGS if symmetric else 0
    place[0], place[1], place[2] = i, g, k
    return i >= stop


cdef inline fl_tree tree_at(const int64_t[::1] ends, const int32_t[::1] production,
                            const int32_t[::1] ordered, const int32_t[::1] rank,
                            const int64_t[::1] starts, const int32_t[::1] children,
                            int64_t i) noexcept nogil:
    """Tree i of those that stand one after another."""
    cdef fl_tree tree
    tree.n = ends[i + 1] - ends[i]
    tree.production = &production[ends[i]]
    tree.sorted = &ordered[ends[i]]
    tree.rank = &rank[ends[i]]
    tree.starts = &starts[ends[i]]
    tree.children = &children[0]
    return tree


def tree_pairs(const int64_t[::1] ends, const int32_t[::1] production, const int32_t[::1] ordered,
               const int32_t[::1] rank, const int64_t[::1] starts, const int32_t[::1] children,
               int64_t first_column, double decay, bint symmetric, int64_t[::1] place,
               int64_t stop, int64_t budget, int64_t[::1] shift, int32_t[::1] first,
               int32_t[::1] last, double[::1] room, double[::1] total, double[:, ::1] out):
    """Fill rows of the Gram matrix from `place` on, until row `stop`; if symmetric from the
    diagonal on, and columns alike.

    Tree v has the nodes ends[v] ... ends[v + 1] - 1 of the arrays, which number them from 0 in each
    tree; column j is tree first_column + j. place = (i, j, nodes of i taken so far); `shift`,
    `first`, `last`, `room` and `total` hold what was reached. Returns 0 when all is done, -1 if
    `budget` pairs of nodes were not enough, and otherwise how much room is needed.
    """
    cdef int64_t i = place[0], j = place[1], a = place[2], needed = 0
    cdef fl_tree A, B
    with nogil:
        while i < stop and budget > 0:
            A = tree_at(ends, production, ordered, rank, starts, children, i)
            B = tree_at(ends, production, ordered, rank, starts, children, first_column + j)
            if a == 0:
                needed = fl_tree_match(&A, &B, &shift[0], &first[0], &last[0])
                if needed > room.shape[0]:
                    break
                needed = 0
                total[0] = 0
            a = fl_tree_sum(&A, &B, decay, &shift[0], &first[0], &last[0], &room[0], a, &budget,
                            &total[0])
            if a < A.n:
                break
            out[i, j] = total[0]
            if symmetric:
                out[j, i] = total[0]
            budget -= A.n + B.n
            a = 0
            j += 1
            if j == out.shape[1]:
                i += 1
                j = i if symmetric else 0
    place[0], place[1], place[2] = i, j, a
    if needed:
        return needed
    return 0 if i >= stop else -1
