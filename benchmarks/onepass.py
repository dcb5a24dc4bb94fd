"""Folds, grid points and classes in one pass, beside one fit and a search of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .generators import Data, load
from .measure import has_peer, in_turns, on_two_threads, print_table, ratio

__all__ = ["run"]

FOLDS, EPOCHS, CLASSES = 4, 5, 20
STEPS = (0.5, 1.0, 2.0, 4.0)
# Rounds of whole searches at most: one of the peer's takes up to a minute
_SEARCHES = 3
# Data, alpha, most that 16 models may take of one fit, times that a search has to be faster
CASES = [("rcv1", 1e-5, 1.0, 13), ("one-hot", 1e-4, 0.5, 28), ("news20", 1e-5, 1.4, 9)]


def _parameters(alpha: float) -> dict[str, Any]:
    """What our estimators and the peer's share."""
    return {"loss": "log_loss", "alpha": alpha, "fit_intercept": False, "tol": None,
            "max_iter": EPOCHS, "random_state": 0}


def _quietly(task: Callable[[], Any]) -> Any:
    """Call without warnings: a few epochs need not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task()


def _folds(n: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows to train on and rows held out."""
    rows = np.arange(n)
    return ([rows[rows % FOLDS != f] for f in range(FOLDS)],
            [rows[rows % FOLDS == f] for f in range(FOLDS)])


def _together(X: Any, y: np.ndarray, alphas: list[float], n_jobs: int | None = None) -> Any:
    """Folds x alphas in one pass, held-out scores included: mean accuracy per alpha."""
    from fastlin import SGDClassifier
    from fastlin._onepass import fit_together

    train, test = _folds(len(y))
    models = [SGDClassifier(**_parameters(alpha)) for alpha in alphas for _ in train]
    n = len(alphas)
    out = _quietly(partial(fit_together, models, X, y, train * n, test * n, n_jobs=n_jobs))
    right = [
        np.mean(m.classes_[(p > 0).astype(int)] == y[rows])
        for m, p, rows in zip(models, out, test * n, strict=True)
    ]
    return np.reshape(right, (n, FOLDS)).mean(axis=1)


def _peer(X: Any, y: np.ndarray, alpha: float) -> Any:
    """One fit of scikit-learn."""
    from sklearn.linear_model import SGDClassifier

    return _quietly(partial(SGDClassifier(**_parameters(alpha)).fit, X, y))


def _search(X: Any, y: np.ndarray, alphas: list[float], ours: bool) -> Any:
    """Mean accuracy per alpha of our search, or of scikit-learn's."""
    if ours:
        from fastlin import GridSearchCV, SGDClassifier
    else:
        from sklearn.linear_model import SGDClassifier
        from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(
        SGDClassifier(**_parameters(alphas[0])), {"alpha": alphas}, refit=False,
        cv=list(zip(*_folds(len(y)), strict=True)),
    )
    _quietly(partial(search.fit, X, y))
    return search.cv_results_["mean_test_score"]


def _one_vs_rest(X: Any, y: np.ndarray, alpha: float, ours: bool) -> Any:
    """All classes in one pass, or scikit-learn's one after another."""
    if not ours:
        return _peer(X, y, alpha)
    from fastlin import SGDClassifier
    from fastlin._onepass import fit_together

    model = SGDClassifier(**_parameters(alpha))
    return _quietly(partial(fit_together, [model], X, y, [np.arange(len(y))]))


def _search_rows(data: Data, alpha: float, bar: float, faster: float, rounds: int) -> tuple:
    """Rows of the tables of times and of scores."""
    X, y = data.X.astype(np.float32), data.y
    alphas = [alpha * step for step in STEPS]
    tasks = {"ours": partial(_together, X, y, alphas)}
    if has_peer("scikit-learn"):
        tasks["fit"] = partial(_peer, X, y, alpha)
    times = in_turns(tasks, rounds)
    searches = {"ours": partial(_search, X, y, alphas, True)}
    if has_peer("scikit-learn"):
        searches["search"] = partial(_search, X, y, alphas, False)
    scores = {name: search() for name, search in searches.items()}
    slow = in_turns(searches, min(rounds, _SEARCHES), warm_up=False)
    show = [data.title, f"{np.median(times['ours']):.2f}"]
    if "fit" in times:
        show += [f"{np.median(times['fit']):.2f}", str(ratio(times["ours"], times["fit"])), bar,
                 f"{np.median(slow['search']):.2f}", str(ratio(slow["search"], slow["ours"])),
                 faster]
    best = [f"{alphas[int(score.argmax())]:g} ({score.max():.4f})" for score in scores.values()]
    return show, [data.title, *best]


def _class_row(data: Data, alpha: float, rounds: int) -> list:
    """Row of the table of one-vs-rest; the classes are made of responses to a random direction."""
    X = data.X.astype(np.float32)
    z = X @ np.random.default_rng(0).normal(size=X.shape[1])
    y = np.searchsorted(np.quantile(z, np.arange(1, CLASSES) / CLASSES), z)
    sides = {"ours": True, "peer": False} if has_peer("scikit-learn") else {"ours": True}
    times = in_turns({side: partial(_one_vs_rest, X, y, alpha, ours)
                      for side, ours in sides.items()}, rounds, warm_up=False)
    row = [data.title, f"{np.median(times['ours']):.2f}"]
    if "peer" in times:
        row += [f"{np.median(times['peer']):.2f}", str(ratio(times["peer"], times["ours"])), 8]
    return row


def _thread_row(data: Data, alpha: float, rounds: int) -> list:
    """Row of the table of two threads: seconds that pass for 32 models, and what that makes."""
    X, y = data.X.astype(np.float32), data.y
    alphas = [alpha * step for step in np.geomspace(0.25, 8, 8)]
    found = on_two_threads(partial(_together, X, y, alphas), rounds)
    return [data.title, f"{np.median(found.one):.2f}", f"{np.median(found.two):.2f}",
            str(found.cpu), str(found.wall), 1.8]


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    times, scores, classes, threads = [], [], [], []
    for name, alpha, bar, faster in CASES:
        data = load(name, scale)
        time_row, score_row = _search_rows(data, alpha, bar, faster, rounds)
        times.append(time_row)
        scores.append(score_row)
        threads.append(_thread_row(data, alpha, rounds))
        if name != "one-hot":
            classes.append(_class_row(data, alpha, min(2, rounds)))
    print(f"{FOLDS} folds x {len(STEPS)} alphas, {EPOCHS} epochs, held-out scores included, beside "
          "ONE fit and a whole search of scikit-learn; CPU seconds.\n")
    print_table(("data", "16 models", "one fit", "16 models / one fit", "at most", "GridSearchCV",
                 "times faster", "at least"), times)
    print("The best alpha and its score.\n")
    print_table(("data", "fastlin", "GridSearchCV"), scores)
    print(f"{CLASSES} classes one-vs-rest; CPU seconds.\n")
    print_table(("data", "fastlin", "scikit-learn", "times faster", "at least"), classes)
    print("32 models in one thread and in two; seconds that pass, which need two idle cores, and "
          "CPU seconds over those of the longer thread.\n")
    print_table(("data", "one thread", "two threads", "CPU", "by the clock", "at least"), threads)
