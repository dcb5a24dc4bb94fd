"""What averaging and adaptive steps cost on top of a plain epoch of fastlin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from .generators import load
from .measure import in_turns, ns, print_table, ratio
from .sgd import EPOCHS, REPEATS, Case, estimator, further_epoch

__all__ = ["run"]

_CASES = [
    replace(case, dtype=dtype)
    for dtype in ("float32", "float64")
    for case in (Case("rcv1"), Case("one-hot", alpha=1e-4), Case("news20"))
]
_PLAIN = {"penalty": None, "learning_rate": "constant"}
_VARIANTS = {
    "plain": {},
    "averaged": {"average": True},
    "adagrad": {"optimizer": "adagrad", "eta0": 0.1, **_PLAIN},
    "adadelta": {"optimizer": "adadelta", "eta0": 1.0, **_PLAIN},
    "rmsprop": {"optimizer": "rmsprop", "eta0": 0.001, **_PLAIN},
    "adam": {"optimizer": "adam", "eta0": 0.001, **_PLAIN},
    "adam with l2": {"optimizer": "adam", "eta0": 0.001, "learning_rate": "constant"},
}


def _fit(case: Case, X: Any, y: Any, epochs: int, **more: Any) -> Any:
    """A fitted estimator of ours."""
    return estimator(case, True, epochs, **more).fit(X, y)


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    print("Time of a further epoch in ns/nnz, and how many times that of the plain one; bars: 1.4 "
          "times for averaging, 2 times for adaptive steps.\n")
    rows = []
    for case in _CASES:
        data = load(case.data, scale)
        X = data.X.astype(case.dtype)
        times = in_turns(
            {(name, epochs): partial(_fit, case, X, data.y, epochs, **more)
             for epochs in EPOCHS for name, more in _VARIANTS.items()},
            rounds, repeats=REPEATS,
        )
        epoch = {
            name: further_epoch(*(times[name, epochs] for epochs in EPOCHS)) for name in _VARIANTS
        }
        rows += [
            [data.title, case.dtype, name, ns(epoch[name], data.nnz),
             ratio(epoch[name], epoch["plain"])]
            for name in _VARIANTS
        ]
    print_table(("data", "dtype", "steps", "ns/nnz", "times plain"), rows)
