"""Penalties by any power of the weights: the same step in NumPy and scipy beside ours."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from scipy import sparse

from .generators import load
from .measure import in_turns, print_table, ratio

__all__ = ["run"]

_POWERS = (0, 0.5, 1, 1.5, 2, 4, np.inf)
_GAP = 1e-4


def _ms(times: list[float]) -> str:
    """Median in milliseconds."""
    return f"{statistics.median(times) * 1e3:.3g} ms"


def _fista(X: Any, y: np.ndarray, alpha: float, target: float) -> int:
    """Plain FISTA for p = 1, with the best fixed step and centred columns, until the objective is
    `target`: how many steps that took."""
    Z, r = sparse.csr_array(X), y - y.mean()
    mean = np.asarray(Z.mean(axis=0)).ravel()
    v, n = np.ones(X.shape[1]), len(y)
    for _ in range(20):
        v = Z.T @ (Z @ v - mean @ v) / n
        L = float(np.linalg.norm(v))
        v /= L
    w = before = np.zeros(X.shape[1])
    t, step = 1.0, 0
    while step < 5000:
        new = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
        ahead = w + (t - 1) / new * (w - before)
        e = Z @ ahead - mean @ ahead - r
        u = ahead - (Z.T @ e - mean * e.sum()) / (n * L)
        before, w, t, step = w, np.sign(u) * np.maximum(np.abs(u) - alpha / L, 0), new, step + 1
        e = Z @ w - mean @ w - r
        if e @ e / (2 * n) + alpha * np.abs(w).sum() <= target:
            break
    return step


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    from fastlin import BridgeRegressor, Lasso

    data = load("rcv1", 0.02 * scale)
    X, rng = data.X, np.random.default_rng(5)
    z = X @ (rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.02))
    y = z + rng.normal(size=len(z)) * z.std() / 2
    slopes = np.abs(X.T @ (y - y.mean())) / len(y)
    alpha = 0.05 * float(slopes.max())
    print(data.describe(), flush=True)
    rows = []
    for p in _POWERS:
        # of p = 1 and p = inf a twentieth of the least for which all weights are 0
        strength = alpha if p < np.inf else 0.05 * float(slopes.sum())
        model = BridgeRegressor(strength, p=p, tol=_GAP, max_iter=20_000)
        tasks = {"fastlin": lambda model=model: model.fit(X, y)}
        if p == 1:
            best = Lasso(alpha, tol=1e-8).fit(X, y)
            target = best.objective_ * (1 + _GAP)
            tasks["NumPy"] = lambda target=target: _fista(X, y, alpha, target)
            tasks["fastlin.Lasso"] = lambda: Lasso(alpha, tol=_GAP).fit(X, y)
        times = in_turns(tasks, rounds)
        peers = [_ms(times[name]) if name in times else "" for name in ("NumPy",
                                                                           "fastlin.Lasso")]
        faster = str(ratio(times["NumPy"], times["fastlin"])) if p == 1 else ""
        rows.append([f"p = {p:g}", _ms(times["fastlin"]), str(model.n_iter_),
                     f"{np.count_nonzero(model.coef_):,}", *peers, faster])
    print()
    print_table(["penalty", "BridgeRegressor", "steps", "weights", "NumPy, told the optimum",
                 "fastlin.Lasso", "NumPy / fastlin"], rows)
