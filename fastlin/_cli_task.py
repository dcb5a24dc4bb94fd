"""What `train` and `cv` learn: the examples, their features, the learner of the options."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np

from ._cli_arguments import DEFAULTS, EXACT_LOSSES, value_of
from ._cli_data import Examples, read_examples, with_pipe_opened
from ._cli_encoder import ColumnEncoder
from ._cli_exact import exact_learner
from ._cli_memory import refuse_too_large_model
from ._cli_terminal import Progress, UsageError, spelt
from ._clone import clone
from ._reductions import JOINT
from ._sgd import JOINT_LOSSES, TARGET_LOSSES
from .perceptron import Perceptron
from .sgd import SGDClassifier, SGDRegressor

__all__ = ["STRENGTHS", "Task", "encode", "fit_to_target", "learner_of", "read_task"]

# Parameters of learners that say how strong their penalty is
STRENGTHS = ("alpha", "C")

# The first step of regression on standardised columns, for a loss of slope 1 and a target of
# spread 1.
_FIRST_STEP = 0.03
# Losses with a parameter, and the losses of regression that are linear far out.
_LOSSES_WITH = {
    "epsilon": ("huber", "epsilon_insensitive", "squared_epsilon_insensitive"),
    "quantile": ("quantile",),
}
_LINEAR = ("huber", "epsilon_insensitive", "quantile")


def learner_of(args: Namespace, is_regression: bool) -> Any:
    """Return the estimator that the options describe, not fitted."""
    is_perceptron = args.learner == "perceptron"
    penalty = args.penalty or ("none" if is_perceptron else DEFAULTS["penalty"])
    _check_options(args, penalty)
    if args.multi_class is not None:
        _check_multi_class(args, is_regression)
    if args.learner == "exact":
        return exact_learner(args)
    options = {
        "penalty": None if penalty == "none" else penalty,
        "alpha": value_of(args, "alpha"),
        "l1_ratio": value_of(args, "l1_ratio"),
        "max_iter": value_of(args, "epochs"),
        # All epochs: averaged weights go on to improve when the objective no longer does.
        "tol": None,
        "average": value_of(args, "average"),
        "random_state": args.seed,
    }
    for name in ("eta0", "learning_rate"):
        if getattr(args, name) is not None:
            options[name] = getattr(args, name)
    parameters = {name: value_of(args, name) for name in _LOSSES_WITH}
    schedule = args.learning_rate or ("invscaling" if is_regression else "optimal")
    if args.eta0 is not None and schedule == "optimal" and not is_perceptron:
        default = "" if args.learning_rate else ", the default for classes"
        raise UsageError(
            f"--eta0 has no effect with --learning-rate optimal{default}; say --learning-rate "
            "constant, invscaling or adaptive."
        )
    if args.multi_class is not None:
        options["multi_class"] = args.multi_class
    if is_regression:
        return SGDRegressor(args.loss, **options, **parameters)
    options["n_jobs"] = args.n_jobs
    if is_perceptron:
        return Perceptron(**options)
    return SGDClassifier(value_of(args, "loss"), **options, **parameters)


def _check_options(args: Namespace, penalty: str) -> None:
    """Refuse options that have no effect beside others."""
    for name, instead in (("C", "--alpha"), ("tol", "--epochs")):
        if args.learner != "exact" and getattr(args, name) is not None:
            raise UsageError(f"--{name} is for --learner exact; say {instead}.")
    if args.learner == "perceptron" and args.loss is not None:
        raise UsageError("--loss is for --learner sgd or exact; the perceptron has its own.")
    for name in STRENGTHS:
        if penalty == "none" and getattr(args, name) is not None:
            raise UsageError(f"--{name} is the strength of the penalty, but --penalty is none.")
    if args.learner == "perceptron" and args.learning_rate is not None:
        raise UsageError("--learning-rate is for --learner sgd; the perceptron steps by --eta0.")
    if penalty != "elasticnet" and args.l1_ratio is not None:
        raise UsageError("--l1-ratio needs --penalty elasticnet.")
    for name, losses in _LOSSES_WITH.items():
        if getattr(args, name) is not None and args.loss not in losses:
            raise UsageError(f"--{name} is for --loss {' or '.join(losses)}.")


def _check_multi_class(args: Namespace, is_regression: bool) -> None:
    """Refuse a way to learn several classes that the learner does not have."""
    if is_regression:
        raise UsageError(f"--multi-class is for classes, but --loss {args.loss} learns numbers.")
    loss, are_exact = value_of(args, "loss"), args.learner == "exact"
    joint = [name for name in JOINT_LOSSES if name in EXACT_LOSSES or not are_exact]
    if args.learner != "perceptron" and args.multi_class in JOINT and loss not in joint:
        raise UsageError(
            f"--multi-class {args.multi_class} needs a loss with a joint form "
            f"({', '.join(joint)}), got {loss}; say --multi-class ovr."
        )


def fit_to_target(learner: SGDRegressor, args: Namespace, y: np.ndarray) -> dict[str, Any]:
    """Adapt a regression to the unit of its target; returns arguments for `fit`.

    Where the slope of a loss does not grow with the residual, steps and penalty have to know the
    spread of the target. Training begins at its median.
    """
    if args.eta0 is None:
        learner.set_params(eta0=_FIRST_STEP)
    spread = float(y.std()) if learner.loss in _LINEAR else 0.0
    if spread > 0:
        slope = {"huber": learner.epsilon, "quantile": max(learner.quantile, 1 - learner.quantile)}
        unit = spread / (slope.get(learner.loss, 1.0) or 1.0)
        if args.eta0 is None:
            learner.set_params(eta0=_FIRST_STEP * unit)
        if args.alpha is None:
            learner.set_params(alpha=learner.alpha / unit)
    return {"intercept_init": [float(np.median(y))]}


class Task(NamedTuple):
    """What is to be learnt: from which examples, by which learner, and arguments of its fit."""

    examples: Examples
    learner: Any
    is_regression: bool
    fit_arguments: dict[str, Any]

    @property
    def strength(self) -> dict[str, list[float]]:
        """The grid that consists of the learner's own strength of its penalty."""
        return {
            name: [value] for name, value in self.learner.get_params().items()
            if name in STRENGTHS
        }


def read_task(args: Namespace, progress: Progress) -> Task:
    """Read the examples and prepare the learner."""
    is_regression = args.loss in TARGET_LOSSES
    learner = learner_of(args, is_regression)
    progress.say(f"reading {args.data}")
    with with_pipe_opened(args):
        examples = read_examples(args, is_regression)
    if not is_regression and (examples.y == examples.y[0]).all():
        raise UsageError(
            f"{examples.name} has one class only, {spelt(examples.y[0])!r}; at least two are "
            "needed."
        )
    by_steps = is_regression and args.learner != "exact"
    fit_arguments = fit_to_target(learner, args, examples.y) if by_steps else {}
    return Task(examples, learner, is_regression, fit_arguments)


def encode(
    task: Task, args: Namespace, progress: Progress
) -> tuple[Any, ColumnEncoder | None]:
    """Return all features as one matrix, and the encoder that made it."""
    examples = task.examples
    if examples.encoder is None:
        X, encoder, remedy = examples.X, None, "number the features without gaps"
    else:
        progress.say(f"encoding {len(examples.y):,} rows")
        encoder, remedy = clone(examples.encoder), "set a smaller --n-features"
        X = encoder.fit_transform(examples.X)
    n_classes = 0 if task.is_regression else len(np.unique(examples.y))
    refuse_too_large_model(
        task.learner, X.shape[1], n_classes, args.cv or 1, examples.name, remedy
    )
    return X, encoder
