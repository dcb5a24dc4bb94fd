"""The estimators behind `--learner exact`: which one has a loss and a penalty, and its options."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ._cli_arguments import EXACT_LOSSES, option_of, value_of
from ._cli_terminal import UsageError
from ._reductions import JOINT
from .lasso import ElasticNet, Lasso
from .linear_regression import LinearRegression
from .logistic import LogisticRegression
from .ridge import Ridge
from .sparsemax import SparsemaxClassifier
from .svm import LinearSVC, LinearSVR

__all__ = ["exact_learner"]

_LEAST_SQUARES = {"l2": Ridge, "l1": Lasso, "elasticnet": ElasticNet, "none": LinearRegression}
# The estimator of each loss for each penalty that it has
_ESTIMATORS: dict[str, dict[str, Any]] = {
    "log_loss": dict.fromkeys(("l2", "l1", "elasticnet", "none"), LogisticRegression),
    "hinge": {"l2": LinearSVC},
    "squared_hinge": dict.fromkeys(("l2", "l1"), LinearSVC),
    "sparsemax": dict.fromkeys(("l2", "l1", "elasticnet"), SparsemaxClassifier),
    "squared_error": _LEAST_SQUARES,
    "epsilon_insensitive": {"l2": LinearSVR},
    "squared_epsilon_insensitive": {"l2": LinearSVR},
}
# What only learners by steps have
_OF_STEPS = ("eta0", "learning_rate", "average")
_SHARES = {"l2": 0.0, "l1": 1.0}


def exact_learner(args: Namespace) -> Any:
    """Return the estimator that the options describe, not fitted; refuses what it doesn't have."""
    loss, penalty = value_of(args, "loss"), value_of(args, "penalty")
    for name in _OF_STEPS:
        if getattr(args, name) is not None:
            raise UsageError(f"{option_of(name)} is for learners by steps, sgd and perceptron.")
    if loss not in EXACT_LOSSES:
        raise UsageError(
            f"--learner exact has no --loss {loss}, only {', '.join(EXACT_LOSSES)}; say --learner "
            "sgd."
        )
    if penalty not in _ESTIMATORS[loss]:
        raise UsageError(
            f"--learner exact has no --penalty {penalty} for {loss}, only "
            f"{', '.join(_ESTIMATORS[loss])}; say --learner sgd."
        )
    learner = _ESTIMATORS[loss][penalty]()
    known = learner.get_params()
    instead = {"C": "alpha", "alpha": "C"}
    for name, option in (("C", "C"), ("alpha", "alpha"), ("max_iter", "epochs")):
        if name not in known and getattr(args, option) is not None:
            remedy = f"; say {option_of(instead[name])}" if instead.get(name) in known else ""
            raise UsageError(
                f"{option_of(option)} has no effect on {type(learner).__name__}, which learns "
                f"{loss} with the penalty {penalty}{remedy}."
            )
    options = {
        "loss": loss,
        "penalty": None if penalty == "none" else penalty,
        "l1_ratio": _SHARES.get(penalty, value_of(args, "l1_ratio")),
        "epsilon": value_of(args, "epsilon"),
        "C": args.C,
        "alpha": args.alpha,
        "tol": args.tol,
        "max_iter": args.epochs,
        "multi_class": _way(args, loss),
        "n_jobs": args.n_jobs,
        "random_state": args.seed,
    }
    return learner.set_params(**{
        name: value for name, value in options.items()
        if name in known and (value is not None or name == "penalty")
    })


def _way(args: Namespace, loss: str) -> str | None:
    """How several classes are learnt, as estimators call it."""
    way = "joint" if args.multi_class in JOINT else args.multi_class
    if loss == "sparsemax" and way not in (None, "joint"):
        raise UsageError(
            f"--multi-class {way} does not go with --learner exact and --loss sparsemax, which "
            "learns all classes together; say --multi-class joint."
        )
    return way
