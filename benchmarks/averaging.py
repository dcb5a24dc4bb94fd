"""What averaging and adaptive steps cost on top of a plain epoch of fastlin."""

from __future__ import annotations

from functools import partial
from typing import Any

from .generators import load
from .measure import in_turns, ns, print_table, ratio
from .sgd import Case, estimator

__all__ = ["run"]

_CASES = [Case("rcv1"), Case("one-hot", alpha=1e-4), Case("news20")]
_OPTIMIZERS = ("adagrad", "adadelta", "rmsprop", "adam")


def _fit(case: Case, X: Any, y: Any, epochs: int, **more: Any) -> Any:
    """A fitted estimator of ours."""
    return estimator(case, True, epochs, **more).fit(X, y)


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    variants = {"plain": {}, "averaged": {"average": True}}
    variants |= {name: {"optimizer": name} for name in _OPTIMIZERS}
    print("Time of an epoch in ns/nnz, and how many times that of the plain one; bars: 1.4 times "
          "for averaging, 2 times for adaptive steps.\n")
    rows = []
    for case in _CASES:
        data = load(case.data, scale)
        X = data.X.astype(case.dtype)
        times = in_turns(
            {(name, epochs): partial(_fit, case, X, data.y, epochs, **more)
             for epochs in (1, 6) for name, more in variants.items()},
            rounds,
        )
        epoch = {
            name: [(b - a) / 5 for a, b in zip(times[name, 1], times[name, 6], strict=True)]
            for name in variants
        }
        rows += [
            [data.title, name, ns(epoch[name], data.nnz), ratio(epoch[name], epoch["plain"])]
            for name in variants
        ]
    print_table(("data", "steps", "ns/nnz", "times plain"), rows)
