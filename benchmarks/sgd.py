"""SGDClassifier on sparse rows beside scikit-learn's: an epoch, and fits of one and five epochs."""

from __future__ import annotations

import statistics
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from . import numpy_learners
from .generators import Data, load
from .measure import has_peer, in_turns, ns, print_table, ratio

__all__ = [
    "EPOCHS", "REPEATS", "Case", "compare", "compare_all", "estimator", "further_epoch",
    "objective", "run",
]


@dataclass(frozen=True)
class Case:
    """One comparison: data, learner and what it should reach."""

    data: str
    loss: str = "log_loss"
    penalty: str = "l2"
    alpha: float = 1e-5
    learning_rate: str = "optimal"
    eta0: float = 0.1
    dtype: str = "float32"
    # ratios to reach: per epoch; of fits of five epochs and of one
    bars: tuple[float | None, float | None, float | None] = (None, None, None)
    seeds: int = 10

    @property
    def name(self) -> str:
        """Loss and penalty in words."""
        return self.loss.replace("_", " ") + (f", {self.penalty}" if self.penalty != "l2" else "")

    def eta(self, t: int) -> float:
        """Length of step t."""
        if self.learning_rate == "optimal":
            return 1.0 / (self.alpha * (self.alpha**-0.75 + t - 1))
        return self.eta0 / t**0.5


# The epochs of two fits whose times differ by the further epochs alone: both prepare what pays at
# all. What the preparation costs shows in the fits of five epochs and of one. A disturbance of
# either fit would count as one of all the epochs between, so each is the best of some.
EPOCHS = (6, 16)
REPEATS = 3

# Rows of 30 ones are not normalised: at 1e-5 their first steps are so long that five epochs end
# above the loss of w = 0.
_MAIN = [
    Case("rcv1", bars=(4, 3, 1)),
    Case("one-hot", alpha=1e-4, bars=(6, 4.5, 1)),
    Case("news20", bars=(3, 2, 1)),
]
_DOUBLE_BARS = {"rcv1": 2, "one-hot": 3, "news20": 1.3}
_DOUBLE = [
    replace(case, dtype="float64", bars=(_DOUBLE_BARS[case.data], None, None)) for case in _MAIN
]
_OTHERS = [
    replace(case, bars=(3, None, None), seeds=5, **difference)
    for difference in (
        {"loss": "hinge"},
        {"loss": "squared_error", "learning_rate": "invscaling"},
        {"penalty": "l1"},
    )
    for case in _MAIN
]


def estimator(case: Case, ours: bool, epochs: int, seed: int = 0, **more: Any) -> Any:
    """Our SGDClassifier or scikit-learn's."""
    if ours:
        from fastlin import SGDClassifier
    else:
        from sklearn.linear_model import SGDClassifier
    params = {
        "loss": case.loss, "penalty": case.penalty, "alpha": case.alpha,
        "learning_rate": case.learning_rate, "power_t": 0.5,
        "eta0": 0.01 if case.data == "one-hot" else case.eta0,
    }
    return SGDClassifier(
        fit_intercept=False, max_iter=epochs, tol=None, random_state=seed, **{**params, **more}
    )


def further_epoch(fewer: list[float], more: list[float]) -> list[float]:
    """Seconds of an epoch, from fits of so many `EPOCHS`."""
    return [(b - a) / (EPOCHS[1] - EPOCHS[0]) for a, b in zip(fewer, more, strict=True)]


def objective(case: Case, X: Any, y: np.ndarray, w: np.ndarray) -> float:
    """Mean loss plus penalty of the weights w, in double."""
    w = np.asarray(w, dtype=np.float64).ravel()
    p = X.astype(np.float64) @ w
    if case.loss == "log_loss":
        losses = np.logaddexp(0.0, -y * p)
    elif case.loss == "hinge":
        losses = np.maximum(0.0, 1.0 - y * p)
    else:
        losses = 0.5 * (y - p) ** 2
    penalty = np.abs(w).sum() if case.penalty == "l1" else 0.5 * (w @ w)
    return float(losses.mean() + case.alpha * penalty)


def _fit(case: Case, ours: bool, X: Any, y: np.ndarray, epochs: int, seed: int = 0) -> Any:
    """A fitted estimator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(case, ours, epochs, seed).fit(X, y)


def compare(case: Case, data: Data, rounds: int) -> tuple[list[list], list]:
    """Rows of the table of times, and the row of the table of objectives."""
    X, y = data.X.astype(case.dtype), data.y
    sides = {"scikit-learn": False, "fastlin": True} if has_peer("scikit-learn") else {
        "fastlin": True}
    for ours in sides.values():
        _fit(case, ours, X[:1000], y[:1000], 1)
        _fit(case, ours, X, y, 1)
    # fits of five epochs are of interest only where there is a bar for them
    times = {}
    for lengths, repeats in (((1, 5) if case.bars[1] else (), 1), (EPOCHS, REPEATS)):
        times |= in_turns(
            {(side, epochs): partial(_fit, case, ours, X, y, epochs)
             for epochs in lengths for side, ours in sides.items()},
            rounds, warm_up=False, repeats=repeats,
        )
    for side in sides:
        times[side, "epoch"] = further_epoch(*(times[side, epochs] for epochs in EPOCHS))
    plain = numpy_learners.seconds_per_entry(
        X, y, numpy_learners.sgd_epoch, loss=case.loss, penalty=case.penalty, eta=case.eta,
        alpha=case.alpha,
    )
    shown = [("epoch", "epoch", case.bars[0], 1)]
    if case.bars[1]:
        shown += [("fit, 5 epochs", 5, case.bars[1], 5)]
    if case.bars[2]:
        shown += [("fit, 1 epoch", 1, case.bars[2], 1)]
    rows = [
        [data.title, case.name, case.dtype, what, *_figures(times, key, data.nnz, bar),
         f"{plain * epochs * 1e9:.0f}"]
        for what, key, bar, epochs in shown
    ]
    return rows, _objectives(case, data, X, sides)


def _figures(times: dict, key: Any, nnz: int, bar: float | None) -> list[str]:
    """ns/nnz of both sides, their ratio and the bar."""
    ours, theirs = times["fastlin", key], times.get(("scikit-learn", key))
    if theirs is None:
        return ["", ns(ours, nnz), "", "" if bar is None else f"{bar:g}"]
    return [ns(theirs, nnz), ns(ours, nnz), str(ratio(theirs, ours)),
            "" if bar is None else f"{bar:g}"]


def _objectives(case: Case, data: Data, X: Any, sides: dict[str, bool]) -> list:
    """The row of objectives after five epochs."""
    found = {
        side: [
            objective(case, data.X, data.y, _fit(case, ours, X, data.y, 5, seed).coef_)
            for seed in range(case.seeds)
        ]
        for side, ours in sides.items()
    }
    nothing = objective(case, data.X, data.y, np.zeros(X.shape[1]))
    ours = statistics.median(found["fastlin"])
    most = max(found.get("scikit-learn", [np.inf]))
    verdict = "yes" if ours <= most and ours < nothing else "no"
    spans = [f"{min(found[side]):.5f} to {max(found[side]):.5f}" if side in found else ""
             for side in ("scikit-learn", "fastlin")]
    return [data.title, case.name, case.dtype, f"{nothing:.5f}", *spans, verdict]


def compare_all(cases: list[Case], scale: float, rounds: int) -> None:
    """Print both tables of the cases."""
    times, objectives, described = [], [], {}
    for case in cases:
        data = load(case.data, scale)
        described[case.data] = data.describe()
        rows, objective_row = compare(case, data, rounds)
        times += rows
        objectives.append(objective_row)
    print("\n".join(f"- {line}" for line in described.values()) + "\n")
    print("Time in ns/nnz; NumPy's for as many epochs, without preparation.\n")
    print_table(
        ("data", "loss", "dtype", "what", "scikit-learn", "fastlin", "ratio", "bar", "NumPy"),
        times,
    )
    print("Objective after five epochs, over seeds: the median of ours has to be at most the "
          "largest of the peer, and below that of w = 0.\n")
    print_table(("data", "loss", "dtype", "w = 0", "scikit-learn", "fastlin", "met"), objectives)


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    compare_all(_MAIN + _DOUBLE + _OTHERS, scale, rounds)
