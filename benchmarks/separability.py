"""Whether classes are separable, by our search and by linear programming (HiGHS of scipy)."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from scipy import sparse

from .generators import load
from .measure import in_turns, print_table, ratio

__all__ = ["run"]


def _ms(times: list[float]) -> str:
    """Median in milliseconds."""
    return f"{statistics.median(times) * 1e3:.3g} ms"


def _programme(X: Any, y: np.ndarray) -> bool:
    """Whether y_i (w.x_i + b) >= 1 has a solution."""
    from scipy.optimize import linprog

    A = sparse.hstack([sparse.csr_array(X), np.ones((len(y), 1))], format="csr")
    A = A.multiply(-np.where(y, 1.0, -1.0)[:, None]).tocsr()
    bound = (None, None)
    done = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(y)), bounds=bound,
                   method="highs")
    return bool(done.status == 0)


def _cases(scale: float) -> list[tuple[str, Any, np.ndarray, bool]]:
    """(name, rows, classes, whether linear programming is tried)"""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(int(3000 * scale), 10))
    s = dense @ rng.normal(size=10) + 0.1
    noise = s + 0.1 * rng.normal(size=len(s)) > 0
    data = load("rcv1", 0.1 * scale)
    print(data.describe(), flush=True)
    X, y = sparse.csr_array(data.X), data.y > 0
    often = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]))[:500]
    return [
        ("10 columns, separable", dense, s > 0, True),
        ("10 columns, not", dense, noise, True),
        ("words, separable", X, y, False),
        ("500 words, not", X[:, often], y, False),
    ]


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    from fastlin import separability

    rows = []
    for name, X, y, small in _cases(scale):
        found = separability(X, y)
        tasks = {"fastlin": lambda X=X, y=y: separability(X, y)}
        if small:
            assert _programme(X, y) == found.separable, name
            tasks["HiGHS"] = lambda X=X, y=y: _programme(X, y)
        times = in_turns(tasks, rounds)
        peer = ["", ""]
        if small:
            peer = [_ms(times["HiGHS"]), str(ratio(times["HiGHS"], times["fastlin"]))]
        rows.append([f"{name}, {X.shape[0]:,} x {X.shape[1]:,}", str(found.separable),
                     f"{found.margin:.1e}", f"{found.margin_bound:.1e}", _ms(times["fastlin"]),
                     *peer])
    print()
    print_table(["rows", "separable", "margin", "bound", "separability", "HiGHS",
                 "HiGHS / fastlin"], rows)
