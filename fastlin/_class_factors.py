"""About the inverse of a Hessian of K outputs: its blocks of one output each, inverted.

The Hessian of a softmax has the blocks sum_i s_i/S (p_ik [k = l] - p_ik p_il) x_i x_i^T. Those with
k = l hold all that is hard about the columns, their scales and what they have in common; what they
leave out ties the outputs to each other, and conjugate gradients find it in a few products. With
the diagonal alone they take five times as many on pixels.

Columns are counted from a centre, and b stands beside them. The same change of all outputs changes
no loss, of which the blocks know nothing: there is nothing but the penalty.
"""

from __future__ import annotations

import numpy as np

from ._centred import gram
from ._cholesky import cholesky
from ._joint_problem import JointProblem
from ._lapack import factored
from ._row_slices import rows_taken

__all__ = ["ClassFactors"]

# What rounding may have taken from a diagonal
_RIDGE = 1e-12
# Rows are left out of a block as long as all of them together add less than so many penalties.
_LEFT_OUT = 10.0


class ClassFactors:
    """The inverses at the probabilities p of all rows; `squares` are those of the rows about the
    centre."""

    def __init__(self, problem: JointProblem, share: np.ndarray, centre: np.ndarray,
                 squares: np.ndarray, p: np.ndarray):
        self.problem, d, free = problem, len(centre), problem.fit_intercept
        by, each = problem.bend_parts(p, share)
        H = np.maximum(by * (share[:, None] - each[:, None] * by), 0.0)
        sums, mass = problem.unpacked(problem.added(lambda rows: H[rows])), H.sum(axis=0)
        # Where classes are far apart, most rows have next to no curvature.
        counts = H * squares[:, None] > _LEFT_OUT * problem.l2 / len(H)
        # as long as all rows have the same probabilities, the blocks differ by a factor
        even = gram(problem.X, share, centre) if np.ptp(p, axis=0).max() == 0 else None
        self.inverses = np.empty((problem.n_classes, d + free, d + free))
        for k, inverse in enumerate(self.inverses):
            rows = np.flatnonzero(counts[:, k])
            X = problem.X if len(rows) == len(H) else rows_taken(problem.X, rows)
            inverse[:] = 0.0
            inverse[:d, :d] = gram(X, H[rows, k], centre) if even is None else mass[k] * even
            diagonal = np.einsum("ii->i", inverse)
            diagonal[:d] += problem.l2
            if free:
                inverse[d, :d] = inverse[:d, d] = sums[k] - mass[k] * centre
                inverse[d, d] = mass[k]
            diagonal *= 1 + _RIDGE
            _invert(inverse)

    def solve(self, r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """About what the Hessian takes to (r, q)."""
        problem = self.problem
        K, d, _ = self.inverses.shape
        right = np.empty((K, d))
        d -= problem.fit_intercept
        right[:, :d] = problem.unpacked(r)
        right[:, d:] = q[:, None]
        common = right.mean(axis=0)
        right -= common
        found = np.matmul(self.inverses, right[:, :, None])[:, :, 0]
        found -= found.mean(axis=0)
        if problem.l2:
            found[:, :d] += common[:d] / problem.l2
        y_b = found[:, d].copy() if problem.fit_intercept else np.zeros_like(q)
        return problem.packed(found[:, :d]), y_b


def _invert(matrix: np.ndarray) -> None:
    """Put its inverse in the place of a symmetric positive matrix."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, refused = factored(dpotrf, matrix)
    if refused:
        matrix[:] = cholesky(matrix, 0.0)[0](np.eye(len(matrix)))
        return
    lower = np.tril(dpotri(factor, lower=1)[0])
    matrix[:] = lower + np.tril(lower, -1).T
