"""Searches over exact logistic models: folds x C in one pass, beside LIBLINEAR and scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import has_peer, in_turns, on_two_threads, peak, print_table, ratio, timed

__all__ = ["run"]

FOLDS, GAP = 4, 1e-6
STEPS = (0.5, 1.0, 2.0, 4.0)
# LIBLINEAR's tolerances, loosest first: the first that comes within GAP is what is timed.
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
# LogisticRegressionCV's, from its default on
PEER_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7)
# Data, share of its rows, middle C, most that 16 models may take of one fit
CASES = [("rcv1", 1.0, 1.0, 1.2), ("news20", 1.0, 1.5, 1.8)]
SEARCHES = [*(case[:3] for case in CASES), ("dense", 0.25, 0.01), ("dense", 0.25, 1.0)]


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


def _together(X: Any, y: np.ndarray, Cs: list[float], intercept: bool, tol: float = GAP,
              n_jobs: int | None = None) -> list:
    """The models of all folds and strengths, each with its certificate, and their scores."""
    from fastlin import LogisticRegression
    from fastlin._onepass import fit_together

    train, test = _folds(len(y))
    models = [
        LogisticRegression(C=C, tol=tol, fit_intercept=intercept, random_state=0)
        for C in Cs for _ in train
    ]
    out = fit_together(models, X, y, train * len(Cs), test * len(Cs), n_jobs=n_jobs)
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


def _objective(X: Any, y: np.ndarray, C: float, w: np.ndarray, b: float = 0.0) -> float:
    """`C sum_i log(1 + e^-m_i) + |w|^2 / 2`"""
    sign = np.where(y == y.max(), 1.0, -1.0)
    return float(C * np.logaddexp(0, -sign * (X @ w + b)).sum() + 0.5 * w @ w)


def _tolerance_for(X: Any, y: np.ndarray, C: float) -> float:
    """LIBLINEAR's loosest tolerance that comes within GAP of the optimum; NaN if none does."""
    best = _objective(X, y, C, _liblinear(X, y, C, 1e-6).coef_[0])
    for tol in TOLERANCES:
        reached = _objective(X, y, C, _liblinear(X, y, C, tol).coef_[0])
        if reached <= best * (1 + GAP):
            return tol
    return np.nan


def _liblinear_search(X: Any, y: np.ndarray, Cs: list[float],
                      tol: float) -> tuple[np.ndarray, list[float]]:
    """Weights per fold and C, and mean accuracy per C, by a fit of LIBLINEAR for each."""
    train, test = _folds(len(y))
    parts = [(X[rows], y[rows]) for rows in train]
    models = [[_liblinear(*part, C, tol) for C in Cs] for part in parts]
    right = [[m.score(X[rows], y[rows]) for m in row]
             for row, rows in zip(models, test, strict=True)]
    found = np.array([[m.coef_[0] for m in row] for row in models])
    return found, np.mean(right, axis=0).tolist()


def _equal_search(X: Any, y: np.ndarray, Cs: list[float], first: float) -> tuple:
    """(seconds, tolerance, scores) of the fits of LIBLINEAR at its loosest tolerance, from `first`
    on, that brings each within GAP; a tolerance of NaN if none does."""
    bounds, known = _bounds(X, y, Cs, False), first in TOLERANCES
    for tol in TOLERANCES[TOLERANCES.index(first) if known else -1 :]:
        taken, (found, scores) = timed(partial(_liblinear_search, X, y, Cs, tol))
        if max(_distances(X, y, Cs, found, bounds)) <= GAP:
            return taken, tol, scores
    return taken, np.nan, scores


def _peer_search(X: Any, y: np.ndarray, Cs: list[float], tol: float = PEER_TOLERANCES[0],
                 folds: int = FOLDS) -> Any:
    """scikit-learn's LogisticRegressionCV with its default solver, on some of the folds; with its
    default tolerance as it comes, else with as many iterations as that takes."""
    from sklearn.linear_model import LogisticRegressionCV

    more = {} if tol == PEER_TOLERANCES[0] else {"max_iter": 100_000}
    search = LogisticRegressionCV(
        Cs=Cs, cv=list(zip(*_folds(len(y)), strict=True))[:folds], l1_ratios=(0.0,),
        scoring="accuracy", use_legacy_attributes=False, refit=False, tol=tol, **more,
    )  # fmt: skip
    return _quietly(partial(search.fit, X, y))


def _bounds(X: Any, y: np.ndarray, Cs: list[float], intercept: bool = True) -> np.ndarray:
    """A lower bound of each fold's and strength's objective, by the gaps of models nearer to it."""
    from fastlin import LogisticRegression
    from fastlin._onepass import fit_together

    train, _ = _folds(len(y))
    models = [
        LogisticRegression(C=C, tol=0.01 * GAP, fit_intercept=intercept, random_state=0)
        for _ in train for C in Cs
    ]
    fit_together(models, X, y, [rows for rows in train for _ in Cs])
    least = [m.C * m.objective_[0] * (1 - m.duality_gap_[0]) for m in models]
    return np.reshape(least, (FOLDS, len(Cs))) * np.array([len(rows) for rows in train])[:, None]


def _distances(X: Any, y: np.ndarray, Cs: list[float], found: np.ndarray,
               bounds: np.ndarray) -> list[float]:
    """How far above its bound each model is, relative to it; given the weights, and intercepts if
    there are any, of each fold and strength."""
    train, d = _folds(len(y))[0], X.shape[1]
    return [
        _objective(X[train[f]], y[train[f]], C, v[:d], v[d:].sum()) / bounds[f, c] - 1
        for f, row in enumerate(found) for c, (C, v) in enumerate(zip(Cs, row, strict=True))
    ]


def _paths(search: Any, Cs: list[float]) -> np.ndarray:
    """What `_distances` asks for of a search of scikit-learn's."""
    found = np.asarray(search.coefs_paths_)
    return found.reshape(len(found), len(Cs), -1)


def _peer_row(X: Any, X64: Any, y: np.ndarray, Cs: list[float]) -> tuple[list, list[float]]:
    """LogisticRegressionCV beside ours: as it comes, with ours as near as its nearest model, and
    both within GAP, where it is timed on one fold, of which each takes as long; its scores."""
    bounds = _bounds(X, y, Cs)
    default, search = timed(partial(_peer_search, X64, y, Cs))
    apart = _distances(X64, y, Cs, _paths(search, Cs), bounds)
    near = max(GAP, min(apart))
    loose = in_turns({"loose": partial(_together, X, y, Cs, True, near)}, 1)["loose"][0]
    equal = in_turns({"equal": partial(_together, X, y, Cs, True)}, 1)["equal"][0]
    for tol in PEER_TOLERANCES:
        once, one = timed(partial(_peer_search, X64, y, Cs, tol, 1))
        taken = FOLDS * once
        if max(_distances(X64, y, Cs, _paths(one, Cs), bounds)) <= GAP:
            break
    else:
        tol = np.nan
    row = [f"{min(apart):.0e} to {max(apart):.0e}", f"{default:.2f}", f"{loose:.2f}",
           f"{default / loose:.1f}", f"{taken:.2f} (tol={tol:g})", f"{equal:.2f}",
           f"{taken / equal:.1f}"]
    return row, search.scores_.mean(axis=0).ravel().tolist()


def _memory_row(X: Any, y: np.ndarray, title: str, C: float) -> list:
    """Peak memory above the data, of 16 exact models and of 16 by SGD."""
    from .onepass import _together as _by_sgd

    lines, d = X.nnz * 4, X.shape[1]
    exact = peak(partial(_together, X, y, [C * s for s in STEPS], True, 1e-4))
    sgd = peak(partial(_by_sgd, X, y, [1e-5 * s for s in STEPS]))
    return [title, *(f"{peak / (64 * d):.2f}" for peak in (sgd, exact)), f"{lines / (64 * d):.2f}"]


def _thread_row(X: Any, y: np.ndarray, title: str, C: float, rounds: int) -> list:
    """Seconds that pass for 32 models in one thread and in two, and what that makes."""
    Cs = [C * step for step in np.geomspace(STEPS[0], STEPS[-1], 2 * len(STEPS))]

    def search(n_jobs: int) -> list:
        return _together(X, y, Cs, False, n_jobs=n_jobs)

    found = on_two_threads(search, rounds)
    return [title, f"{np.median(found.one):.2f}", f"{np.median(found.two):.2f}",
            str(found.cpu), str(found.wall), 1.8]


def _run_searches(scale: float, tolerances: dict[str, float]) -> None:
    """Whole searches beside those of the peers, given tolerances at which one fit of LIBLINEAR is
    near enough, by the names of data, as far as they are known."""
    searches, peers, scores = [], [], []
    for name, share, C in SEARCHES:
        data = load(name, share * scale)
        X, y = data.X.astype(np.float32), data.y
        X64, Cs = X.astype(np.float64), [C * step for step in STEPS]
        title = f"{data.title}, C = {Cs[0]:g} to {Cs[-1]:g}"
        first = tolerances.get(name) or _tolerance_for(X64, y, Cs[2])
        theirs, tol, their_scores = _equal_search(X64, y, Cs, first)
        ours, our_scores = timed(partial(_together, X, y, Cs, False))
        searches.append([title, f"{ours:.2f}", f"{theirs:.2f} (tol={tol:g})",
                         f"{theirs / ours:.1f}"])
        row, peer_scores = _peer_row(X, X64, y, Cs)
        peers.append([title, *row])
        found = [our_scores, their_scores, _together(X, y, Cs, True), peer_scores]
        scores.append([title, *(f"{Cs[int(np.argmax(s))]:g} ({max(s):.4f})" for s in found)])
    print("The whole search: 16 LIBLINEAR fits, without an intercept, at their loosest tolerance "
          f"that brings each within {GAP:g}, are to take at least 10 times as long as ours.\n")
    print_table(("data", "fastlin", "LIBLINEAR", "LIBLINEAR / fastlin"), searches)
    print("scikit-learn's LogisticRegressionCV, with an intercept, is to take at least 15 times as "
          "long as ours. As it comes, its models are so far above their optima, and ours are as "
          f"near as the nearest of them; then each model of both is within {GAP:g}, for which its "
          "loosest tolerance is timed on one fold, times the number of folds.\n")
    print_table(("data", "its distances", "as it comes", "fastlin", "ratio", "within the gap",
                 "fastlin", "ratio"), peers)
    print("The best C and its score.\n")
    print_table(("data", "fastlin", "LIBLINEAR", "fastlin, intercept", "LogisticRegressionCV"),
                scores)


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    times, threads, memory, tolerances = [], [], [], {}
    for name, share, C, most in CASES:
        data = load(name, share * scale)
        X, y = data.X.astype(np.float32), data.y
        Cs = [C * step for step in STEPS]
        tasks = {"plain": partial(_together, X, y, Cs, False),
                 "intercept": partial(_together, X, y, Cs, True)}
        memory.append(_memory_row(X, y, data.title, C))
        threads.append(_thread_row(X, y, data.title, C, rounds))
        if not has_peer("scikit-learn"):
            continue
        X64 = X.astype(np.float64)
        tol = tolerances[name] = _tolerance_for(X64, y, Cs[2])
        tightest = TOLERANCES[-1] if np.isnan(tol) else tol
        tasks["fit"] = partial(_liblinear, X64, y, Cs[2], tightest)
        taken = in_turns(tasks, rounds)
        times.append([
            data.title, *(f"{np.median(taken[side]):.2f}" for side in ("plain", "intercept")),
            f"{np.median(taken['fit']):.2f} (tol={tol:g})",
            *(str(ratio(taken[side], taken["fit"])) for side in ("plain", "intercept")), most,
        ])
    print(f"{FOLDS} folds x {len(STEPS)} C, logistic loss, each to a certified gap of {GAP:g}, "
          "scores on the held-out rows included; CPU seconds. LIBLINEAR fits once, on all rows, at "
          "its loosest tolerance that comes as near.\n")
    print_table(("data", "16 models", "with intercept", "one LIBLINEAR fit", "16 / one",
                 "with intercept / one", "at most"), times)
    print("32 models (8 C) in one thread and in two; seconds that pass, which need two idle cores, "
          "and CPU seconds over those of the longer thread.\n")
    print_table(("data", "one thread", "two threads", "CPU", "by the clock", "at least"), threads)
    if has_peer("scikit-learn"):
        _run_searches(scale, tolerances)
    print("Peak memory above the data for 16 float32 models in units of 64 bytes x columns, the "
          "fitted models among it (2 of them: 16 coef_ and what training goes on from).\n")
    print_table(("data", "SGD", "exact", "values of X as float32"), memory)
