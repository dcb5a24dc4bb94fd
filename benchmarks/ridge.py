"""Ridge regression: sparse and dense, against scikit-learn's solvers, and leave-one-out."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import has_peer, in_turns, print_table, ratio

# Relative suboptimality that a setting must reach
_TARGETS = (1e-3, 1e-6)
_TOLERANCES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
_SPARSE_PEERS = ("sparse_cg", "lsqr", "sag", "auto")
_DENSE_PEERS = ("cholesky", "sparse_cg", "lsqr", "auto")


def _objective(X: Any, y: np.ndarray, alpha: float, model: Any) -> float:
    """|y - Xw - b|^2 + alpha |w|^2"""
    w = np.asarray(model.coef_, dtype=np.float64).ravel()
    return float(((y - X @ w - model.intercept_) ** 2).sum() + alpha * w @ w)


def _cheapest(make: Any, X: Any, y: np.ndarray, alpha: float, best: float) -> dict[float, float]:
    """For each target the loosest tolerance that reaches it."""
    found: dict[float, float] = {}
    for tol in _TOLERANCES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = _objective(X, y, alpha, make(tol).fit(X, y))
        for target in _TARGETS:
            if value <= best * (1 + target):
                found.setdefault(target, tol)
        if len(found) == len(_TARGETS):
            break
    return found


def _compare(name: str, X: Any, y: np.ndarray, alphas: tuple, peers: tuple, rounds: int) -> None:
    """A table of CPU seconds to each target."""
    from fastlin import Ridge

    makers = {"fastlin": lambda alpha, tol: Ridge(alpha, tol=tol)}
    if has_peer("scikit-learn"):
        from sklearn.linear_model import Ridge as Peer

        for solver in peers:
            makers[solver] = lambda alpha, tol, solver=solver: Peer(
                alpha, solver=solver, tol=tol, random_state=0
            )
    rows = []
    for alpha in alphas:
        best = _objective(X, y, alpha, Ridge(alpha, tol=1e-11).fit(X, y))
        chosen = {
            label: _cheapest(partial(make, alpha), X, y, alpha, best)
            for label, make in makers.items()
        }
        for target in _TARGETS:
            able = [label for label in makers if target in chosen[label]]
            tasks = {
                label: partial(makers[label](alpha, chosen[label][target]).fit, X, y)
                for label in able
            }
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                times = in_turns(tasks, rounds)
            seconds = {label: np.median(t) for label, t in times.items()}
            cells = [f"{seconds[label]:.3f}" if label in seconds else "" for label in makers]
            rows.append([name, f"{alpha:g}", f"{target:g}", *cells])
    print_table(["data", "alpha", "to", *makers], rows)
    print()


def _leave_one_out(rounds: int) -> None:
    """RidgeCV over 20 alphas beside one alpha: all that is not the factorisation."""
    from fastlin import RidgeCV

    rows = []
    for n, d in ((20_000, 300), (400, 3000)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = X @ rng.normal(size=d) + rng.normal(size=n)
        grids = ([1.0], np.logspace(-3, 3, 20))
        one, twenty = in_turns(
            {str(len(a)): partial(RidgeCV(a).fit, X, y) for a in grids}, rounds
        ).values()
        rows.append([f"{n} x {d}", *(f"{np.median(t):.3f}" for t in (one, twenty)),
                     f"{np.median(twenty) / np.median(one):.2f}"])
    print_table(["data", "1 alpha (s)", "20 alphas (s)", "ratio"], rows)


def _approximate(rounds: int) -> None:
    """Leave-one-out of logistic regression by one Newton step, its fit and checks included."""
    from fastlin import LogisticRegression, leave_one_out

    rows = []
    for n, d in ((5000, 100), (400, 2000)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = (X[:, :20] @ rng.normal(size=20) + rng.normal(size=n) > 0).astype(int)
        for C in (0.01, 1.0, 100.0):
            model = LogisticRegression(C=C, tol=1e-6)
            fit, left = in_turns(
                {"fit": partial(model.fit, X, y), "left": partial(leave_one_out, model, X, y)},
                rounds,
            ).values()
            rows.append([f"{n} x {d}", f"{C:g}", *(f"{np.median(t):.3f}" for t in (fit, left)),
                         str(ratio(left, fit)), "2"])
    print()
    print_table(["data", "C", "fit (s)", "leave-one-out (s)", "ratio", "bar"], rows)


def run(scale: float, rounds: int) -> None:
    """Print all tables."""
    data = load("rcv1", 0.1 * scale)
    rng = np.random.default_rng(0)
    X = data.X.astype(np.float64)
    y = X @ rng.normal(size=X.shape[1]) + 0.5 * rng.normal(size=X.shape[0])
    _compare("rcv1-like", X, y, (0.1, 1.0, 10.0), _SPARSE_PEERS, rounds)
    for n, d in ((50_000, 100), (2000, 2000)):
        X = rng.normal(size=(int(n * scale), d))
        y = X @ rng.normal(size=d) + rng.normal(size=len(X))
        _compare(f"dense {n} x {d}", X, y, (0.1, 10.0, 1000.0), _DENSE_PEERS, rounds)
    _leave_one_out(rounds)
    _approximate(rounds)
