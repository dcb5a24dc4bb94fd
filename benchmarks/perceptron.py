"""Perceptron on sparse rows, beside scikit-learn's, and what averaging costs."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from . import numpy_learners
from .generators import load
from .measure import has_peer, in_turns, ns, print_table, ratio
from .sgd import EPOCHS, REPEATS, further_epoch

__all__ = ["run"]

# Ratio to reach per epoch
_BARS = {"rcv1": 4, "one-hot": 4, "news20": None}


def _fit(ours: bool, X: Any, y: np.ndarray, epochs: int, **more: Any) -> Any:
    """Our Perceptron or scikit-learn's, fitted."""
    if ours:
        from fastlin import Perceptron
    else:
        from sklearn.linear_model import Perceptron
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(fit_intercept=False, max_iter=epochs, tol=None, random_state=0, **more)
        return model.fit(X, y)


def _mistakes(model: Any, X: Any, y: np.ndarray) -> str:
    """Share of rows on the wrong side."""
    return f"{np.mean(y * (X @ model.coef_.ravel()) <= 0):.4f}"


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    sides: dict[str, Any] = {"fastlin": partial(_fit, True)}
    sides["averaged"] = partial(_fit, True, average=True)
    if has_peer("scikit-learn"):
        sides["scikit-learn"] = partial(_fit, False)
    rows = []
    for name, bar in _BARS.items():
        data = load(name, scale)
        X, y = data.X.astype(np.float32), data.y
        times = in_turns(
            {(side, epochs): partial(fit, X, y, epochs)
             for epochs in EPOCHS for side, fit in sides.items()},
            rounds, repeats=REPEATS,
        )
        epoch = {
            side: further_epoch(*(times[side, epochs] for epochs in EPOCHS)) for side in sides
        }
        plain = numpy_learners.seconds_per_entry(X, y, numpy_learners.perceptron_epoch)
        errors = {side: _mistakes(fit(X, y, 5), X, y) for side, fit in sides.items()}
        for side in sides:
            against = ("scikit-learn", "fastlin") if side == "fastlin" else (side, "fastlin")
            quotient = "" if side == "scikit-learn" or against[0] not in epoch else ratio(
                epoch[against[0]], epoch[against[1]])
            rows.append([data.title, side, ns(epoch[side], data.nnz), quotient,
                         {"fastlin": bar or "", "averaged": "1.4 at most"}.get(side, ""),
                         errors[side]])
        rows.append([data.title, "NumPy", f"{plain * 1e9:.0f}", "", "", ""])
    print("Time of an epoch in ns/nnz. Ratio: scikit-learn's to ours, and the averaged "
          "perceptron's to the plain one's. Mistakes: share of training rows after five epochs.\n")
    print_table(("data", "side", "ns/nnz", "ratio", "bar", "mistakes"), rows)
