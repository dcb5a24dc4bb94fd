"""Nearest neighbours by brute force: sparse and dense rows, against scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import has_peer, in_turns, print_table, ratio

_QUERIES = 300


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    rows = []
    for name, share in (("rcv1", 0.06), ("news20", 0.5)):
        data = load(name, share * scale)
        print(data.describe(), flush=True)
        for metric in ("euclidean", "cosine"):
            rows.append(_compare(f"{data.title}, {metric}", data.X, metric, rounds))
    for d in (20, 200):
        X = rng.normal(size=(max(_QUERIES + 10, int(10_000 * scale)), d))
        rows.append(_compare(f"dense, {d} columns, euclidean", X, "euclidean", rounds))
    print()
    header = ["data", "fastlin (us/query)", "scikit-learn", "scikit-learn / fastlin"]
    print_table(header, rows)


def _compare(title: str, X: Any, metric: str, rounds: int) -> list[str]:
    """A row of the table: the five nearest of some rows among the others."""
    import fastlin

    train, queries = X[_QUERIES:], X[:_QUERIES]
    y = np.arange(train.shape[0]) % 2
    models = {"fastlin": fastlin.KNeighborsClassifier(metric=metric)}
    if has_peer("scikit-learn"):
        from sklearn.neighbors import KNeighborsClassifier

        models["scikit-learn"] = KNeighborsClassifier(metric=metric, algorithm="brute")
    tasks = {label: partial(model.fit(train, y).predict, queries)
             for label, model in models.items()}
    times = in_turns(tasks, rounds)
    cells = [f"{np.median(times[label]) / _QUERIES * 1e6:.0f}" if label in times else ""
             for label in ("fastlin", "scikit-learn")]
    last = str(ratio(times["scikit-learn"], times["fastlin"])) if "scikit-learn" in times else ""
    return [title, *cells, last]
