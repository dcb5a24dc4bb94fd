"""Kernels: Gram matrices of strings and trees, and `KernelSVC` against scikit-learn's `SVC`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .measure import has_peer, in_turns, ns, on_two_threads, print_table, ratio

_SAMPLES = 500
_ROWS = 5000
# scikit-learn's tolerances of its stopping rule, the default first, and ours of the gap
_PEER_TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)
_TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)


def _strings(n: int) -> list[str]:
    """Strings of 40 to 110 letters, the frequent ones as frequent as in English."""
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(1, 28)
    letters = list("etaoinshrdlucmfwypvbgkjqxz ")
    return [
        "".join(rng.choice(letters, rng.integers(40, 110), p=shares / shares.sum()))
        for _ in range(n)
    ]


def _tree(rng: Any, depth: int) -> str:
    """A random tree with some twenty labels and a hundred words."""
    label = f"L{rng.zipf(1.5) % 20}"
    if depth == 0 or rng.random() < 0.2:
        return f"({label} w{rng.zipf(1.3) % 100})"
    children = " ".join(_tree(rng, depth - 1) for _ in range(rng.integers(1, 4)))
    return f"({label} {children})"


def _grams(n: int, rounds: int) -> None:
    """Print what the cells of Gram matrices cost."""
    from fastlin import kernels

    rng = np.random.default_rng(0)
    strings, trees = _strings(n), [_tree(rng, 6) for _ in range(n)]
    lengths = np.array([len(s) for s in strings], float)
    sizes = np.array([tree.count("(") for tree in trees], float)
    pairs = (np.square(lengths.sum()) + np.square(lengths).sum()) / 2
    nodes = (np.square(sizes.sum()) + np.square(sizes).sum()) / 2
    rows = []
    for length in (2, 3, 5):
        kernel = partial(kernels.string_subsequence_kernel, strings, length=length)
        times = in_turns({"": kernel}, rounds, warm_up=False)[""]
        rows.append([f"subsequences of {length}", ns(times, pairs * length),
                     *(on_two_threads(kernel, rounds)[:2] if length == 3 else ("", ""))])
    kernel = partial(kernels.tree_kernel, trees, decay=0.3)
    times = in_turns({"": kernel}, rounds, warm_up=False)[""]
    rows.append([f"trees of {sizes.mean():.0f} nodes", ns(times, nodes),
                 *on_two_threads(kernel, rounds)[:2]])
    print_table([f"Gram matrix of {n} samples", "ns/cell", "two threads (CPU)", "by the clock"],
                rows)


def _objective(K: np.ndarray, y: np.ndarray, C: float, v: np.ndarray, b: float) -> float:
    """What support vector machines minimise."""
    f = K @ v
    return float(v @ f / 2 + C * np.maximum(0, 1 - y * (f + b)).sum())


def _machines(n: int, rounds: int) -> None:
    """Print times to the optimum of RBF machines: at our default tolerance beside a peer that gets
    as far, and at the peer's beside ours that gets as far."""
    from fastlin import KernelSVC, kernels

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = np.where((X[:, :5] ** 2).sum(axis=1) + rng.normal(size=n) > 4.5, 1.0, -1.0)
    K = kernels.rbf_kernel(X, gamma=1 / (20 * X.var()))
    rows = []
    for C in (1.0, 10.0, 100.0):

        def ours(tol: float, C: float = C) -> tuple[Any, float]:
            model = KernelSVC(C=C, tol=tol).fit(X, y)
            return model, model.objective_[0] * C * n

        def theirs(tol: float, C: float = C) -> tuple[Any, float]:
            from sklearn.svm import SVC

            model, v = SVC(C=C, tol=tol).fit(X, y), np.zeros(n)
            v[model.support_] = model.dual_coef_[0]
            return model, _objective(K, y, C, v, model.intercept_[0])

        best, own = ours(1e-7)[1], ours(KernelSVC().tol)
        pairs: list[tuple] = [(own, None)]
        if has_peer("scikit-learn"):
            peer = theirs(_PEER_TOLERANCES[0])
            pairs = [(own, _as_far(theirs, _PEER_TOLERANCES, own[1])),
                     (_as_far(ours, _TOLERANCES, peer[1]), peer)]
        for mine, other in pairs:
            sides = {"fastlin": mine, **({} if other is None else {"SVC": other})}
            tasks = {name: partial(model.fit, X, y) for name, (model, _) in sides.items()}
            times = in_turns(tasks, rounds, warm_up=False)
            cells = [f"C = {C:g}"]
            for name, (model, reached) in sides.items():
                cells += [f"{model.tol:g}", f"{reached / best - 1:.1e}",
                          f"{np.median(times[name]):.2f}"]
            if other is not None:
                cells.append(str(ratio(times["SVC"], times["fastlin"])))
            rows.append(cells)
    header = [f"{n} x 20, RBF", "tol", "above optimum", "fastlin (s)"]
    header += ["tol of SVC", "above optimum", "SVC (s)", "SVC / fastlin"] * has_peer("scikit-learn")
    print_table(header, rows)


def _as_far(fitted: Callable[[float], tuple], tolerances: tuple, objective: float) -> tuple:
    """(model, its objective) at the loosest tolerance that gets as far, or the tightest."""
    for tol in tolerances:
        model, reached = fitted(tol)
        if reached <= objective:
            break
    return model, reached


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    _grams(max(16, int(_SAMPLES * scale)), rounds)
    _machines(max(200, int(_ROWS * scale)), rounds)
