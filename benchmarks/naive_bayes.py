"""Naive Bayes: fit and predict on sparse rows of 20 classes, against scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import has_peer, in_turns, ns, print_table, ratio

_CLASSES = 20
_NAMES = ("MultinomialNB", "BernoulliNB", "ComplementNB")


def _labels(X: Any) -> np.ndarray:
    """Classes that hang on the words: the nearest of 20 random directions."""
    rng = np.random.default_rng(0)
    return (X @ rng.normal(size=(X.shape[1], _CLASSES))).argmax(axis=1)


def _compare(name: str, X: Any, y: np.ndarray, rounds: int) -> list[list[str]]:
    """Rows of the table for one matrix, which holds its values as fastlin and its peer take it."""
    import fastlin

    if has_peer("scikit-learn"):
        from sklearn import naive_bayes as peers
    table = []
    for kind in _NAMES:
        models = {"fastlin": getattr(fastlin, kind)()}
        if has_peer("scikit-learn"):
            models["scikit-learn"] = getattr(peers, kind)()
        for method in ("fit", "predict"):
            arguments = (X, y) if method == "fit" else (X,)
            tasks = {
                label: partial(getattr(model, method), *arguments)
                for label, model in models.items()
            }
            if method == "predict":
                W = np.ascontiguousarray(models["fastlin"].feature_log_prob_.T)
                tasks["X @ W"] = partial(X.__matmul__, W)
            times = in_turns(tasks, rounds)
            cells = [ns(times[label], X.nnz) if label in times else ""
                     for label in ("fastlin", "scikit-learn", "X @ W")]
            cells += [str(ratio(times[label], times["fastlin"])) if label in times else ""
                      for label in ("scikit-learn", "X @ W")]
            table.append([f"{name}, {kind}.{method}", *cells])
    return table


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    rows = []
    for name, share in (("rcv1", 0.5), ("news20", 0.5)):
        data = load(name, share * scale)
        print(data.describe(), flush=True)
        rows += _compare(data.title, data.X, _labels(data.X), rounds)
    print()
    header = ["data", "fastlin (ns/entry)", "scikit-learn", "X @ W", "scikit-learn / fastlin",
              "X @ W / fastlin"]
    print_table(header, rows)
