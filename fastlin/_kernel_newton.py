"""Newton's method for smooth losses with a kernel: the last digits of small problems, and what
coordinates are slow at, such as kernels of low rank with a weak penalty.

With the curvatures h_i of the losses at responses z, slopes g_i, and R = diag(sqrt(C_i h_i)), a
step solves for the responses K v + b

    (I + R K R) p = R z - R^-1 C g - b R 1,   v = R p,   1.v = 0,

whose matrix has no eigenvalue below 1 however small curvatures are (Rasmussen & Williams 2006,
"Gaussian processes for machine learning", algorithm 3.1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._parallel import Cancelled, is_cancelled
from ._problem import Problem

__all__ = ["MOST_ROWS", "ascend", "step"]

# A matrix of so many rows is solved with in about a second.
MOST_ROWS = 1500
# Curvatures below this are taken for this: the step is shorter, and safe.
_LEAST_BEND = 1e-9
# Not so where slopes vanish with them.
_STEADY, _NO_BEND = ("log_loss", "squared_hinge"), 1e-60
# Sums of eigenvalues beside which 1 has few digits left
_VANISHED = 1e12
_MOST_HALVES = 30
# A fall of the objective by less than this share of it is none.
_ROUNDING = 1e-12


def ascend(problem: Problem, gram: np.ndarray, mass: np.ndarray, v: np.ndarray, b: float,
           measure: Callable[[np.ndarray, np.ndarray], float], tol: float, most: int) -> int:
    """Take steps from w = sum_i v_i phi(x_i) and b until `measure`, given dual variables and v,
    returns a gap of at most tol, or steps gain no more; returns how many, at most so many."""
    f, before = gram @ v, np.inf
    objective = _objective(problem, v, f, b)
    for steps in range(1, most + 1):
        if is_cancelled():
            raise Cancelled
        z = f + b
        new_v, new_b = step(problem, gram, mass, z, problem.slopes(z), problem.curvatures(z))
        along, shift = gram @ (new_v - v), new_b - b
        size = _shortened(problem, v, f, b, new_v - v, along, shift)
        v, f, b = v + size * (new_v - v), f + size * along, b + size * shift
        gap = measure(-problem.slopes(f + b), v)
        last, objective = objective, _objective(problem, v, f, b)
        # far from the optimum the gap may rise while the objective falls
        falls = gap < 0.5 * before or last - objective > _ROUNDING * last
        if gap <= tol or size == 0 or (size == 1 and not falls):
            return steps
        before = gap
    return most


def _objective(problem: Problem, v: np.ndarray, f: np.ndarray, b: float) -> float:
    """The objective at responses f + b, f = K v"""
    return problem.mean_loss(f + b) + 0.5 * problem.l2 * float(v @ f)


def step(problem: Problem, gram: np.ndarray, mass: np.ndarray, z: np.ndarray,
         slopes: np.ndarray, bends: np.ndarray) -> tuple[np.ndarray, float]:
    """(v, b) of the model that has these slopes and curvatures at z"""
    least = _NO_BEND if problem.loss in _STEADY else _LEAST_BEND
    root = np.sqrt(mass * np.maximum(bends, least))
    matrix = root[:, None] * gram * root
    sides = np.column_stack([root * z - mass * slopes / root, root])
    p, q = _solved(matrix, sides).T
    b = float(root @ p) / float(root @ q) if problem.fit_intercept else 0.0
    return root * (p - b * q), b


def _solved(matrix: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """(I + matrix)^-1 sides, the matrix having no eigenvalue below 0; NaN if there is none."""
    whole = matrix.copy()
    whole[np.diag_indices_from(whole)] += 1.0
    if matrix.trace() <= _VANISHED:
        return np.linalg.solve(whole, sides)
    # Beside numbers so large the identity loses its digits. Elimination keeps those of rows of
    # different sizes, eigenvalues know which of them are 0, as where rows are equal.
    answers = []
    for way in (np.linalg.solve, _by_eigenvalues):
        try:
            found = way(whole, sides)
        except np.linalg.LinAlgError:
            continue
        answers.append((float(np.abs(sides - found - matrix @ found).max()), found))
    return min(answers, key=lambda answer: answer[0], default=(0.0, np.full_like(sides, np.nan)))[1]


def _by_eigenvalues(whole: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """whole^-1 sides for a matrix with no eigenvalue below 1."""
    values, vectors = np.linalg.eigh(whole)
    values[values <= len(values) * np.finfo(float).eps * values[-1]] = 1.0
    return vectors @ ((vectors.T @ sides) / values[:, None])


def _shortened(problem: Problem, v: np.ndarray, f: np.ndarray, b: float, dv: np.ndarray,
               df: np.ndarray, db: float) -> float:
    """The share of a step at which the objective has fallen."""
    linear, square = problem.l2 * float(dv @ f), problem.l2 * float(dv @ df)
    start = problem.mean_loss(f + b)
    slope = float(problem.weighted(problem.slopes(f + b)) @ (df + db)) + linear
    size = 1.0
    for _ in range(_MOST_HALVES):
        loss = problem.mean_loss(f + size * df + (b + size * db))
        change = loss - start + size * linear + 0.5 * size * size * square
        if change <= 1e-4 * size * slope + 1e-15 * start:
            return size
        size *= 0.5
    return 0.0
