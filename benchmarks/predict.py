"""Predictions: many rows beside scipy's product, and one row beside scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import has_peer, in_turns, ns, print_table, ratio, seconds_per_call
from .sgd import Case, estimator

__all__ = ["run"]


def _batches(scale: float, rounds: int) -> None:
    """Many CSR rows: decision_function and predict_proba beside X @ w."""
    rows = []
    for case in (Case("rcv1"), Case("one-hot", alpha=1e-4), Case("news20")):
        for dtype in ("float32", "float64"):
            data = load(case.data, scale)
            X = data.X.astype(dtype)
            model = estimator(case, True, 1).fit(X, data.y)
            w = model.coef_.ravel()
            if not np.allclose(model.decision_function(X), X @ w, atol=1e-3):
                raise AssertionError("the responses differ from X @ w")
            times = in_turns(
                {
                    "X @ w": lambda X=X, w=w: X @ w,
                    "decision_function": lambda X=X, model=model: model.decision_function(X),
                    "predict": lambda X=X, model=model: model.predict(X),
                    "predict_proba": lambda X=X, model=model: model.predict_proba(X),
                },
                rounds,
            )
            rows += [
                [data.title, dtype, what, ns(taken, data.nnz), ratio(taken, times["X @ w"])]
                for what, taken in times.items()
            ]
    print("Many rows. Bars: decision_function no slower than X @ w (1.25 times is a tie), "
          "predict_proba at most 1.3 times.\n")
    print_table(("data", "dtype", "what", "ns/nnz", "times X @ w"), rows)


def _models(d: int) -> dict[str, Any]:
    """A fitted model of each side."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, d)), np.tile([-1.0, 1.0], 100)
    sides = {"fastlin": True} | ({"scikit-learn": False} if has_peer("scikit-learn") else {})
    case = Case("dense", alpha=1e-2)
    return {side: estimator(case, ours, 1).fit(X, y) for side, ours in sides.items()}


def _single_rows(rounds: int) -> None:
    """One row at a time."""
    import scipy.sparse as sp

    rng = np.random.default_rng(1)
    dense = rng.normal(size=(1, 100))
    columns = np.sort(rng.choice(1000, 20, replace=False)).astype(np.int32)
    values = rng.normal(size=20)
    sparse = sp.csr_matrix((values, columns, [0, 20]), shape=(1, 1000))
    rows = []
    for kind, d, x in (("dense, 100 columns", 100, dense), ("CSR, 20 entries", 1000, sparse)):
        models = _models(d)
        for method in ("predict", "decision_function", "predict_proba"):
            calls = {side: _bound(model, method, x) for side, model in models.items()}
            rows.append([kind, method, *_per_call(calls, rounds), 50])
        arguments = (dense[0],) if d == 100 else (columns, values)
        call = partial(models["fastlin"].scorer(), *arguments)
        rows.append([kind, "scorer()", *_per_call({"fastlin": call}, rounds), "0.5 us"])
    print("One row, microseconds a call.\n")
    print_table(("row", "call", "scikit-learn", "fastlin", "ratio", "bar"), rows)


def _bound(model: Any, method: str, x: Any) -> Callable[[], Any]:
    """A call of a method, its attribute looked up each time, as users do."""
    return lambda: getattr(model, method)(x)


def _per_call(calls: dict[str, Callable[[], Any]], rounds: int) -> list[str]:
    """Microseconds of scikit-learn's and our call, and their ratio."""
    times: dict[str, list[float]] = {side: [] for side in calls}
    for _ in range(rounds):
        for side, call in calls.items():
            times[side].append(seconds_per_call(call))
    ours, theirs = times["fastlin"], times.get("scikit-learn")
    micro = [f"{np.median(taken) * 1e6:.2f}" if taken else "" for taken in (theirs, ours)]
    return [*micro, str(ratio(theirs, ours)) if theirs else ""]


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    _batches(scale, rounds)
    _single_rows(rounds)
