"""Searches over exact logistic models: folds x C in one pass, beside LIBLINEAR and scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import cpu_seconds, has_peer, in_turns, peak, print_table, ratio

__all__ = ["run"]

FOLDS, GAP = 4, 1e-6
STEPS = (0.5, 1.0, 2.0, 4.0)
# LIBLINEAR's tolerances, loosest first: the first that comes within GAP is what is timed.
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
# Data, middle C, most that 16 models may take of one fit
CASES = [("rcv1", 1.0, 1.2), ("news20", 1.5, 1.8)]


def _quietly(task: Callable[[], Any]) -> Any:
    """Call without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task()


def _folds(n: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows to train on and rows held out."""
    rows = np.arange(n)
    return ([rows[rows % FOLDS != f] for f in range(FOLDS)],
            [rows[rows % FOLDS == f] for f in range(FOLDS)])


def _together(X: Any, y: np.ndarray, Cs: list[float], intercept: bool, tol: float = GAP) -> list:
    """The models of all folds and strengths, each with its certificate, and their scores."""
    from fastlin import LogisticRegression
    from fastlin._onepass import fit_together

    train, test = _folds(len(y))
    models = [
        LogisticRegression(C=C, tol=tol, fit_intercept=intercept, random_state=0)
        for C in Cs for _ in train
    ]
    out = fit_together(models, X, y, train * len(Cs), test * len(Cs))
    right = [
        np.mean(m.classes_[(p > 0).astype(int)] == y[rows])
        for m, p, rows in zip(models, out, test * len(Cs), strict=True)
    ]
    assert max(m.duality_gap_[0] for m in models) <= tol
    return np.reshape(right, (len(Cs), FOLDS)).mean(axis=1).tolist()


def _liblinear(X: Any, y: np.ndarray, C: float, tol: float) -> Any:
    """One fit of scikit-learn's LIBLINEAR by its dual, without an intercept."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, solver="liblinear", dual=True, tol=tol, fit_intercept=False,
                               max_iter=10_000, random_state=0)
    return _quietly(partial(model.fit, X, y))


def _objective(X: Any, y: np.ndarray, C: float, w: np.ndarray) -> float:
    """`C sum_i log(1 + e^-m_i) + |w|^2 / 2`"""
    sign = np.where(y == y.max(), 1.0, -1.0)
    return float(C * np.logaddexp(0, -sign * (X @ w)).sum() + 0.5 * w @ w)


def _tolerance_for(X: Any, y: np.ndarray, C: float) -> float:
    """LIBLINEAR's loosest tolerance that comes within GAP of the optimum."""
    best = _objective(X, y, C, _liblinear(X, y, C, 1e-6).coef_[0])
    for tol in TOLERANCES:
        reached = _objective(X, y, C, _liblinear(X, y, C, tol).coef_[0])
        if reached <= best * (1 + GAP):
            return tol
    return TOLERANCES[-1]


def _liblinear_search(X: Any, y: np.ndarray, Cs: list[float], tol: float) -> list[float]:
    """Mean accuracy per C, by a fit of LIBLINEAR per fold and C."""
    train, test = _folds(len(y))
    return [
        float(np.mean([
            _liblinear(X[a], y[a], C, tol).score(X[b], y[b])
            for a, b in zip(train, test, strict=True)
        ]))
        for C in Cs
    ]


def _peer_search(X: Any, y: np.ndarray, Cs: list[float]) -> list[float]:
    """Mean accuracy per C of scikit-learn's LogisticRegressionCV with its default solver."""
    from sklearn.linear_model import LogisticRegressionCV

    search = LogisticRegressionCV(
        Cs=Cs, cv=list(zip(*_folds(len(y)), strict=True)), l1_ratios=(0.0,), scoring="accuracy",
        use_legacy_attributes=False, refit=False,
    )
    _quietly(partial(search.fit, X, y))
    return search.scores_.mean(axis=0).ravel().tolist()


def _memory_row(X: Any, y: np.ndarray, title: str, C: float) -> list:
    """Peak memory above the data, of 16 exact models and of 16 by SGD."""
    from .onepass import _together as _by_sgd

    lines, d = X.nnz * 4, X.shape[1]
    exact = peak(partial(_together, X, y, [C * s for s in STEPS], True, 1e-4))
    sgd = peak(partial(_by_sgd, X, y, [1e-5 * s for s in STEPS]))
    return [title, *(f"{peak / (64 * d):.2f}" for peak in (sgd, exact)), f"{lines / (64 * d):.2f}"]


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    times, searches, scores, memory = [], [], [], []
    for name, C, most in CASES:
        data = load(name, scale)
        X, y = data.X.astype(np.float32), data.y
        Cs = [C * step for step in STEPS]
        tasks = {"plain": partial(_together, X, y, Cs, False),
                 "intercept": partial(_together, X, y, Cs, True)}
        memory.append(_memory_row(X, y, data.title, C))
        if not has_peer("scikit-learn"):
            continue
        X64 = data.X.astype(np.float64)
        tol = _tolerance_for(X64, y, Cs[2])
        tasks["fit"] = partial(_liblinear, X64, y, Cs[2], tol)
        taken = in_turns(tasks, rounds)
        times.append([
            data.title, *(f"{np.median(taken[side]):.2f}" for side in ("plain", "intercept")),
            f"{np.median(taken['fit']):.2f} (tol={tol:g})",
            *(str(ratio(taken[side], taken["fit"])) for side in ("plain", "intercept")), most,
        ])
        # LIBLINEAR would penalise an intercept, LogisticRegressionCV does not
        sides = {"fastlin": partial(_together, X, y, Cs, False),
                 "LIBLINEAR": partial(_liblinear_search, X64, y, Cs, tol),
                 "fastlin, intercept": partial(_together, X, y, Cs, True),
                 "LogisticRegressionCV": partial(_peer_search, X64, y, Cs)}
        found = {side: task() for side, task in sides.items()}
        took = {side: cpu_seconds(task) for side, task in sides.items()}
        searches.append([
            data.title, *(f"{took[side]:.2f}" for side in sides),
            f"{took['LIBLINEAR'] / took['fastlin']:.1f}",
            f"{took['LogisticRegressionCV'] / took['fastlin, intercept']:.1f}",
        ])
        scores.append([data.title, *(
            f"{Cs[int(np.argmax(s))]:g} ({max(s):.4f})" for s in found.values()
        )])
    print(f"{FOLDS} folds x {len(STEPS)} C, logistic loss, each to a certified gap of {GAP:g}, "
          "scores on the held-out rows included; CPU seconds. LIBLINEAR fits once, on all rows, at "
          "its loosest tolerance that comes as near.\n")
    print_table(("data", "16 models", "with intercept", "one LIBLINEAR fit", "16 / one",
                 "with intercept / one", "at most"), times)
    print("The whole search: 16 LIBLINEAR fits (at least 10 times ours) and scikit-learn's "
          "LogisticRegressionCV (15), which stops by its own tolerance.\n")
    print_table(("data", "fastlin", "LIBLINEAR", "fastlin, intercept", "LogisticRegressionCV",
                 "LIBLINEAR / fastlin", "LogisticRegressionCV / fastlin"), searches)
    print("The best C and its score.\n")
    print_table(("data", "fastlin", "LIBLINEAR", "fastlin, intercept", "LogisticRegressionCV"),
                scores)
    print("Peak memory above the data for 16 float32 models in units of 64 bytes x columns, the "
          "fitted models among it (2 of them: 16 coef_ and what training goes on from).\n")
    print_table(("data", "SGD", "exact", "values of X as float32"), memory)
