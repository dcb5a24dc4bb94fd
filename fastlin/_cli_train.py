"""The commands `train` and `cv`."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np

from ._cli_arguments import DEFAULTS
from ._cli_data import Examples, read_examples
from ._cli_encoder import ColumnEncoder
from ._cli_memory import refuse_too_large_model
from ._cli_terminal import Progress, UsageError, is_same_file, spelt, table_lines
from ._clone import clone
from ._sgd import TARGET_LOSSES
from .model_selection import KFold, StratifiedKFold, cross_val_score
from .perceptron import Perceptron
from .persist import save
from .pipeline import Pipeline
from .sgd import SGDClassifier, SGDRegressor

__all__ = ["cross_validate", "train"]

# The first step of regression on standardised columns, for a loss of slope 1 and a target of
# spread 1.
_FIRST_STEP = 0.03
# Losses with a parameter, and the losses of regression that are linear far out.
_LOSSES_WITH = {
    "epsilon": ("huber", "epsilon_insensitive", "squared_epsilon_insensitive"),
    "quantile": ("quantile",),
}
_LINEAR = ("huber", "epsilon_insensitive", "quantile")

# Columns whose n-grams are looked up once a model is trained.
_EXPLAINED_COLUMNS = 2000


def _learner(args: Namespace, is_regression: bool) -> Any:
    """Return the estimator that the options describe, not fitted."""
    is_perceptron = args.learner == "perceptron"
    if is_perceptron and args.loss is not None:
        raise UsageError("--loss is for --learner sgd; the perceptron has its own.")
    penalty = args.penalty or ("none" if is_perceptron else DEFAULTS["penalty"])
    if penalty == "none" and args.alpha is not None:
        raise UsageError("--alpha is the strength of the penalty, but --penalty is none.")
    if penalty != "elasticnet" and args.l1_ratio is not None:
        raise UsageError("--l1-ratio needs --penalty elasticnet.")
    for name, losses in _LOSSES_WITH.items():
        if getattr(args, name) is not None and args.loss not in losses:
            raise UsageError(f"--{name} is for --loss {' or '.join(losses)}.")
    options = {
        "penalty": None if penalty == "none" else penalty,
        "alpha": _value(args, "alpha"),
        "l1_ratio": _value(args, "l1_ratio"),
        "max_iter": args.epochs,
        # All epochs: averaged weights go on to improve when the objective no longer does.
        "tol": None,
        "average": args.average,
        "random_state": args.seed,
    }
    parameters = {name: _value(args, name) for name in _LOSSES_WITH}
    if is_regression:
        return SGDRegressor(args.loss, **options, **parameters)
    options["n_jobs"] = args.n_jobs
    if is_perceptron:
        return Perceptron(**options)
    return SGDClassifier(_value(args, "loss"), **options, **parameters)


def _value(args: Namespace, name: str) -> Any:
    """Return an option, or its default if it was not given."""
    given = getattr(args, name)
    return DEFAULTS[name] if given is None else given


def _fit_to_target(learner: SGDRegressor, args: Namespace, y: np.ndarray) -> dict[str, Any]:
    """Adapt a regression to the unit of its target; returns arguments for `fit`.

    Where the slope of a loss does not grow with the residual, steps and penalty have to know the
    spread of the target. Training begins at its median.
    """
    learner.set_params(eta0=_FIRST_STEP)
    spread = float(y.std())
    if learner.loss in _LINEAR and spread > 0:
        slope = {"huber": learner.epsilon, "quantile": max(learner.quantile, 1 - learner.quantile)}
        unit = spread / (slope.get(learner.loss, 1.0) or 1.0)
        learner.set_params(eta0=_FIRST_STEP * unit)
        if args.alpha is None:
            learner.set_params(alpha=learner.alpha / unit)
    return {"intercept_init": [float(np.median(y))]}


class _Task(NamedTuple):
    """What is to be learnt: from which examples, by which learner, and arguments of its fit."""

    examples: Examples
    learner: Any
    is_regression: bool
    fit_arguments: dict[str, Any]


def _read(args: Namespace, progress: Progress) -> _Task:
    """Read the examples and prepare the learner."""
    is_regression = args.loss in TARGET_LOSSES
    learner = _learner(args, is_regression)
    progress.say(f"reading {args.data}")
    examples = read_examples(args, is_regression)
    if not is_regression and (examples.y == examples.y[0]).all():
        raise UsageError(
            f"{examples.name} has one class only, {spelt(examples.y[0])!r}; at least two are "
            "needed."
        )
    fit_arguments = _fit_to_target(learner, args, examples.y) if is_regression else {}
    return _Task(examples, learner, is_regression, fit_arguments)


def _encoded(
    task: _Task, args: Namespace, progress: Progress
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


def _scores(task: _Task, X: Any, args: Namespace, progress: Progress) -> np.ndarray:
    """Return the score of each fold."""
    done = 0

    def score(fitted: Any, X_test: Any, y_test: Any) -> float:
        """Score a fold and count it."""
        nonlocal done
        done += 1
        progress.say(f"{done} of {args.cv} folds done")
        return fitted.score(X_test, y_test)

    splitter = KFold if task.is_regression else StratifiedKFold
    cv = splitter(args.cv, shuffle=True, random_state=args.seed)
    model, params, encoder = task.learner, task.fit_arguments, task.examples.encoder
    if encoder is not None and len(encoder.numeric):
        # Means and scales are learnt in each fold anew. The rest may be encoded once: the column
        # of a category that a fold has not seen keeps the weight 0, as if it were ignored.
        X, model = task.examples.X, Pipeline([("columns", encoder), ("learner", model)])
        params = {f"learner__{name}": value for name, value in params.items()}
    progress.say(f"training {args.cv} folds")
    return cross_val_score(
        model, X, task.examples.y, cv=cv, scoring=score, n_jobs=args.n_jobs, params=params,
        error_score="raise",
    )  # fmt: skip


def _print_scores(scores: np.ndarray, task: _Task, seconds: float) -> None:
    """Print the score of each fold, their mean, and what they are to be compared with."""
    rows = [(f"fold {fold}", f"{score:.4f}") for fold, score in enumerate(scores, 1)]
    rows.append(("mean", f"{scores.mean():.4f}  (standard deviation {scores.std():.4f})"))
    print("\n".join(table_lines(rows)))
    y, n = task.examples.y, len(task.examples.y)
    if task.is_regression:
        print(
            f"R2 (1 is perfect, 0 no better than the mean) of {len(scores)} folds over {n:,} "
            f"rows, {seconds:.2f} s"
        )
        return
    classes, counts = np.unique(y, return_counts=True)
    common = counts.argmax()
    print(
        f"accuracy of {len(scores)} folds over {n:,} rows, {seconds:.2f} s; always "
        f"{spelt(classes[common])!r} would be {counts[common] / n:.4f}"
    )


def cross_validate(args: Namespace) -> int:
    """Run `fastlin cv`."""
    with Progress() as progress:
        task = _read(args, progress)
        start = time.perf_counter()
        X, _ = _encoded(task, args, progress)
        scores = _scores(task, X, args, progress)
        seconds = time.perf_counter() - start
    _print_scores(scores, task, seconds)
    return 0


def _check_model_path(path: str, data: str) -> None:
    """Refuse a place where no model can be written before any work is done."""
    if path == "-":
        raise UsageError("MODEL must be a file, not standard output.")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: there is no folder {folder}.")
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; MODEL must be a file.")
    if is_same_file(path, data):
        raise UsageError(f"MODEL must not be the file of the data, {data}.")


def train(args: Namespace) -> int:
    """Run `fastlin train`."""
    _check_model_path(args.model, args.data)
    scores = None
    with Progress() as progress:
        task = _read(args, progress)
        start = time.perf_counter()
        X, encoder = _encoded(task, args, progress)
        if args.cv is not None:
            scores = _scores(task, X, args, progress)
        seconds = time.perf_counter() - start
        model = _fitted(task, X, encoder, args, progress)
        progress.say(f"writing {args.model}")
        save(model, args.model)
    if scores is not None:
        _print_scores(scores, task, seconds)
    what = "" if task.is_regression else f", {len(task.learner.classes_)} classes"
    print(
        f"{type(task.learner).__name__} trained on {len(task.examples.y):,} rows{what}; "
        f"wrote {args.model} ({os.path.getsize(args.model):,} bytes)"
    )
    return 0


def _fitted(
    task: _Task, X: Any, encoder: ColumnEncoder | None, args: Namespace, progress: Progress
) -> Any:
    """Fit the learner and return the whole model."""

    def show(entry: dict[str, Any]) -> None:
        """Say how far training has come."""
        progress.say(f"epoch {entry['epoch']} of {args.epochs}, mean loss {entry['loss']:.4f}")

    learner = task.learner.fit(X, task.examples.y, callback=show, **task.fit_arguments)
    if encoder is None:
        return learner
    progress.say("looking up the strongest features")
    encoder.explain(task.examples.X, _strongest_columns(learner.coef_))
    return Pipeline([("columns", encoder), (type(learner).__name__.lower(), learner)])


def _strongest_columns(coef: np.ndarray) -> list[int]:
    """Return the columns with the largest weights, over all outputs."""
    size = np.abs(np.atleast_2d(coef)).max(axis=0)
    n = min(_EXPLAINED_COLUMNS, np.count_nonzero(size))
    return np.argsort(-size, kind="stable")[:n].tolist()
