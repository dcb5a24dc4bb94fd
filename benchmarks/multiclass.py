"""Exact linear models of several classes: time to the optimum, and accuracy on held-out rows.

As in `exact`, each solver's cheapest setting that comes within 1e-3 and 1e-6 of the optimum is
timed in turns with the others. The classes are the nearest of 20 random directions over
common words, with noise.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .exact import LOOSE_TO_TIGHT, OURS, Problem, Solver, compare
from .generators import load
from .measure import cpu_seconds, has_peer, in_turns, print_table, ratio

__all__ = ["run"]

CLASSES = 20
# Data -> share of the rows, C; with more columns scikit-learn's softmax takes minutes a fit
DATA = {"rcv1": (0.05, 1.0)}
# Of scikit-learn's softmax, loosest first
_TOLERANCES = (0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
# Common words that the classes hang on, and noise: times the scores' own spread, what is added to
# them before the largest is taken
WORDS, NOISE = 500, 0.1
# The peers' settings are swept for as long as one takes so many times what ours did.
PATIENCE = 300


def _labels(X: Any) -> np.ndarray:
    """The class of each row."""
    rng = np.random.default_rng(0)
    common = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]))[:WORDS]
    scores = X[:, common] @ rng.normal(size=(WORDS, CLASSES))
    return (scores + NOISE * scores.std() * rng.normal(size=scores.shape)).argmax(axis=1)


def _softmax_loss(z: np.ndarray, y: np.ndarray) -> float:
    """sum_i (log sum_k exp z_ik - z_iy)"""
    z = z - z.max(axis=1, keepdims=True)
    return float((np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]).sum())


def _hinge_loss(z: np.ndarray, y: np.ndarray) -> float:
    """sum_i max(0, 1 + max_{k != y} z_ik - z_iy)"""
    rows = np.arange(len(y))
    own = z[rows, y]
    rival = z.copy()
    rival[rows, y] = -np.inf
    return float(np.maximum(0.0, 1.0 + rival.max(axis=1) - own).sum())


def _squared_hinge_loss(z: np.ndarray, y: np.ndarray) -> float:
    """sum_ik max(0, 1 - m_ik)^2, each class against the rest"""
    sign = np.where(np.arange(z.shape[1]) == y[:, None], 1.0, -1.0)
    return float((np.maximum(0.0, 1.0 - sign * z) ** 2).sum())


def _objective(X: Any, y: np.ndarray, C: float, loss: Any, W: np.ndarray) -> float:
    """C times the loss and half the square of the weights, in double."""
    W = np.asarray(W, dtype=np.float64)
    return C * loss(X @ W.T, y) + 0.5 * float((W * W).sum())


def _fits(make: Any, X: Any, y: np.ndarray, settings: tuple, **more: Any) -> Solver:
    """An estimator without an intercept, by its tolerance."""
    return Solver(lambda tol: make(tol=tol, fit_intercept=False, **more).fit(X, y).coef_, settings)


def _problems(title: str, X: Any, y: np.ndarray, C: float) -> Iterator[Problem]:
    """Softmax, the multi-class hinge, and one-vs-rest."""
    import fastlin

    softmax: dict[str, Solver] = {}
    joint: dict[str, Solver] = {}
    rest: dict[str, Solver] = {}
    if has_peer("scikit-learn"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        for solver in ("newton-cg", "lbfgs"):
            softmax[solver] = _fits(LogisticRegression, X, y, _TOLERANCES, C=C, solver=solver,
                                    max_iter=10_000)
        joint["LIBLINEAR"] = _fits(LinearSVC, X, y, LOOSE_TO_TIGHT[2:9], C=C, max_iter=10_000,
                                   multi_class="crammer_singer", random_state=0)
        rest["LinearSVC"] = _fits(LinearSVC, X, y, LOOSE_TO_TIGHT[1:8], C=C, max_iter=10_000,
                                  random_state=0)
    for name, loss, peers, ours, bar in (
        ("softmax", _softmax_loss, softmax,
         _fits(fastlin.LogisticRegression, X, y, OURS, C=C), 5.0),
        ("Crammer-Singer", _hinge_loss, joint,
         _fits(fastlin.LinearSVC, X, y, (*OURS, 1e-7), C=C, multi_class="crammer_singer"), 2.0),
        ("one-vs-rest, squared hinge", _squared_hinge_loss, rest,
         _fits(fastlin.LinearSVC, X, y, OURS, C=C), 10.0),
    ):  # fmt: skip
        objective = functools.partial(_objective, X, y, C, loss)
        yield Problem((title, name, f"{C:g}"), objective, peers, ours, bar)


def _sparsemax_row(title: str, X: Any, y: np.ndarray, C: float, rounds: int) -> list[str]:
    """How much longer sparsemax takes than a softmax of the same C, to a gap of 1e-6."""
    import fastlin

    tasks = {
        name: functools.partial(make(C=C, tol=1e-6).fit, X, y)
        for name, make in (("softmax", fastlin.LogisticRegression),
                           ("sparsemax", fastlin.SparsemaxClassifier))
    }
    times = in_turns(tasks, rounds)
    return [title, *(f"{np.median(times[name]):.2f}" for name in tasks),
            str(ratio(times["sparsemax"], times["softmax"])), "1.5"]


def _accuracy_rows(title: str, X: Any, y: np.ndarray) -> Iterator[list[str]]:
    """Accuracy and CPU time with default parameters, trained on four fifths of the rows."""
    import fastlin

    held_out = np.arange(len(y)) % 5 == 0
    models = {
        "LogisticRegression": fastlin.LogisticRegression(),
        "SparsemaxClassifier": fastlin.SparsemaxClassifier(),
        "LinearSVC": fastlin.LinearSVC(),
        "LinearSVC(crammer_singer)": fastlin.LinearSVC(multi_class="crammer_singer"),
        "MultinomialNB": fastlin.MultinomialNB(), "ComplementNB": fastlin.ComplementNB(),
    }  # fmt: skip
    if has_peer("scikit-learn"):
        from sklearn import linear_model, svm

        models |= {"scikit-learn's LogisticRegression": linear_model.LogisticRegression(),
                   "scikit-learn's LinearSVC": svm.LinearSVC()}
    train, test = X[~held_out], X[held_out]
    for name, model in models.items():
        seconds = cpu_seconds(functools.partial(model.fit, train, y[~held_out]))
        yield [title, name, f"{model.score(test, y[held_out]):.4f}", f"{seconds:.2f}"]


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    rows, others, accuracies = [], [], []
    for name, (share, C) in DATA.items():
        data = load(name, share * scale)
        print(data.describe(), flush=True)
        # in double: the peers' softmax ends far from the optimum in single precision
        X = data.X.astype(np.float64)
        y = _labels(X)
        for problem in _problems(data.title, X, y, C):
            rows += compare(problem, rounds, patience=PATIENCE)
        others.append(_sparsemax_row(data.title, X, y, C, rounds))
        accuracies += _accuracy_rows(data.title, X, y)
    print(f"\n{CLASSES} classes, no intercepts; CPU seconds of the cheapest setting that comes "
          "so near the optimum.\n")
    print_table(("data", "model", "C", "within", "best peer", "its time", "fastlin", "ratio", "bar",
                 "confirmed"), rows)
    print("\nTo a gap of 1e-6, with intercepts.\n")
    print_table(("data", "softmax (s)", "sparsemax (s)", "sparsemax / softmax", "bar"), others)
    print("\nDefault parameters, trained on four fifths of the rows.\n")
    print_table(("data", "model", "accuracy on the rest", "seconds"), accuracies)
