"""Newton steps where the penalty is smooth: for p >= 2, and for p < 1 on the weights other than 0.

For p < 1 steps that may not pass 0 need no threshold; proximal steps long enough for a flat loss
would cut off weights that are worth their price. For p >= 2 with a weak penalty proximal steps see
neither how columns go together nor that the penalty hardly bends at small weights: thousands of
them become ten of these. With h_i = s_i/S times loss''(z_i) and the mean c of the rows under them,
which takes b out, the direction d solves

    (sum_i h_i (x_i - c)(x_i - c)^T + diag(alpha (p - 1) |w_j|^(p-2))) d = -(gradient + penalty'(w))

by conjugate gradients scaled by D, to which the penalty's curvature is added where it is positive,
as far as the gradient asks for and the curvature is positive (Dembo & Steihaug 1983,
"Truncated-Newton algorithms for large-scale unconstrained optimization").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._blocks import rmatvec
from ._centred import hessian_product
from ._core.rows import Rows
from ._problem import Problem
from ._prox import Penalty

__all__ = ["direction", "farthest"]

_FORCING = 0.1
# Products of one step, by whether the penalty is convex: steps on few weights are many and cheap
_MOST_PRODUCTS = {False: 20, True: 100}
# How much of the way to 0 a weight may go in one step
_NEARLY = 0.9


def direction(problem: Problem, X: Rows, penalty: Penalty, w: np.ndarray, z: np.ndarray,
              gradient: np.ndarray, D: np.ndarray, kept: np.ndarray, least: float,
              forcing: float = _FORCING) -> tuple[np.ndarray, float, int]:
    """(d, the slope of P along d, products), of the columns `kept`; a d of zeros where no slope
    along a scaled column is above `least`, or the curvature is not above 0 from the first. The
    system is solved up to a share `forcing` of its right side. `X` has the columns `kept` alone."""
    size = np.abs(w[kept])
    slope, bend = np.zeros(len(kept)), np.zeros(len(kept))
    if penalty.p > 0:
        slope = penalty.alpha * np.copysign(size ** (penalty.p - 1), w[kept])
        bend = penalty.alpha * (penalty.p - 1) * size ** (penalty.p - 2)
    out, total = np.zeros(len(w)), gradient[kept] + slope
    if not (np.abs(total) / np.sqrt(D[kept])).max(initial=0.0) > least:
        return out, 0.0, 0
    h = problem.weighted(problem.curvatures(z))
    mass, centre = float(h.sum()), np.zeros(len(kept))
    if problem.fit_intercept and mass > 0:
        centre = rmatvec(X, h) / mass

    def product(v: np.ndarray) -> np.ndarray:
        """The matrix times v."""
        return hessian_product(X, v, centre, h)[1] + bend * v

    scale = D[kept] + bend if penalty.is_convex else D[kept]
    out[kept], products = _conjugate_gradients(product, -total, scale, min(forcing, _FORCING),
                                               _MOST_PRODUCTS[penalty.is_convex])
    return out, float(total @ out[kept]), products


def _conjugate_gradients(product: Callable[[np.ndarray], np.ndarray], r: np.ndarray,
                         scale: np.ndarray, forcing: float, most: int) -> tuple[np.ndarray, int]:
    """(about the solution of the system with the right side r, products)"""
    x, y = np.zeros_like(r), r / scale
    p, rho = y.copy(), float(r @ y)
    least = forcing**2 * rho
    products = 0
    while products < most:
        image, products = product(p), products + 1
        bend = float(p @ image)
        if not bend > 0:
            break
        x += rho / bend * p
        r = r - rho / bend * image
        y = r / scale
        last, rho = rho, float(r @ y)
        if rho <= least:
            break
        p = y + rho / last * p
    return x, products


def farthest(w: np.ndarray, d: np.ndarray) -> float:
    """The largest step, up to 1, on which no weight comes near 0."""
    toward = np.flatnonzero(w * d < 0)
    return min(1.0, float(_NEARLY * np.min(np.abs(w[toward] / d[toward]), initial=np.inf)))
