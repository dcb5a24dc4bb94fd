"""SGDClassifier on dense rows, beside scikit-learn's."""

from __future__ import annotations

from .sgd import Case, compare_all

__all__ = ["run"]

_CASES = [
    Case("dense", loss=loss, alpha=1e-4, dtype=dtype, bars=(bar, bar if logistic else None,
                                                            1 if logistic else None))
    for loss, logistic in (("log_loss", True), ("hinge", False))
    for dtype, bar in (("float32", 5), ("float64", 3))
]


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    compare_all(_CASES, scale, rounds)
