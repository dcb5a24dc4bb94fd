"""Kernels: Gram matrices of strings and trees, and `KernelSVC` against scikit-learn's `SVC`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .measure import has_peer, in_turns, ns, print_table, ratio

_SAMPLES = 500
_ROWS = 5000
# scikit-learn's stopping rule at which its objective is within our gap
_PEER_TOLERANCES = (1e-3, 1e-4, 1e-5)


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


def _wall(task: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def _on_two_threads(kernel: Callable[..., Any], rounds: int) -> str:
    """How many times faster two threads are, by the clock."""
    kernel(n_jobs=2)
    alone, both = [], []
    for _ in range(rounds):
        alone.append(_wall(partial(kernel, n_jobs=1)))
        both.append(_wall(partial(kernel, n_jobs=2)))
    return str(ratio(alone, both))


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
                     _on_two_threads(kernel, rounds) if length == 3 else ""])
    kernel = partial(kernels.tree_kernel, trees, decay=0.3)
    times = in_turns({"": kernel}, rounds, warm_up=False)[""]
    rows.append([f"trees of {sizes.mean():.0f} nodes", ns(times, nodes),
                 _on_two_threads(kernel, rounds)])
    print_table([f"Gram matrix of {n} samples", "ns/cell", "two threads (wall)"], rows)


def _objective(K: np.ndarray, y: np.ndarray, C: float, v: np.ndarray, b: float) -> float:
    """What support vector machines minimise."""
    f = K @ v
    return float(v @ f / 2 + C * np.maximum(0, 1 - y * (f + b)).sum())


def _machines(n: int, rounds: int) -> None:
    """Print times to the optimum of RBF machines."""
    from fastlin import KernelSVC, kernels

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = np.where((X[:, :5] ** 2).sum(axis=1) + rng.normal(size=n) > 4.5, 1.0, -1.0)
    K = kernels.rbf_kernel(X, gamma=1 / (20 * X.var()))
    rows = []
    for C in (1.0, 10.0, 100.0):
        ours = KernelSVC(C=C).fit(X, y)
        best = KernelSVC(C=C, tol=1e-7).fit(X, y).objective_[0] * C * n
        cells = [f"{ours.objective_[0] * C * n / best - 1:.1e}", f"{ours.duality_gap_[0]:.1e}"]
        tasks = {"fastlin": partial(KernelSVC(C=C).fit, X, y)}
        if has_peer("scikit-learn"):
            peer, reached = _peer_at(K, X, y, C, ours.objective_[0] * C * n)
            tasks["SVC"] = partial(peer.fit, X, y)
            cells.append(f"{reached / best - 1:.1e}")
        times = in_turns(tasks, rounds, warm_up=False)
        for name in tasks:
            cells.append(f"{np.median(times[name]):.2f}")
        if "SVC" in times:
            cells.append(str(ratio(times["SVC"], times["fastlin"])))
        rows.append([f"C = {C:g}", *cells])
    header = [f"{n} x 20, RBF", "above optimum", "gap"]
    peers = has_peer("scikit-learn")
    header += ["SVC above optimum"] * peers + ["fastlin (s)"] + ["SVC (s)", "SVC / fastlin"] * peers
    print_table(header, rows)


def _peer_at(K: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, objective: float) -> tuple:
    """(SVC, its objective) with the loosest tolerance that gets as far, or the tightest tried."""
    from sklearn.svm import SVC

    for tol in _PEER_TOLERANCES:
        peer, v = SVC(C=C, tol=tol).fit(X, y), np.zeros(len(y))
        v[peer.support_] = peer.dual_coef_[0]
        reached = _objective(K, y, C, v, peer.intercept_[0])
        if reached <= objective:
            break
    return peer, reached


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    _grams(max(16, int(_SAMPLES * scale)), rounds)
    _machines(max(200, int(_ROWS * scale)), rounds)
