"""The commands `train` and `cv`."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import Any

import numpy as np

from ._cli_arguments import DEFAULTS
from ._cli_data import Examples, read_examples
from ._cli_encoder import ColumnEncoder
from ._cli_terminal import Progress, UsageError, is_same_file, spelt, table_lines
from ._clone import clone
from ._sgd import TARGET_LOSSES
from .model_selection import KFold, StratifiedKFold, cross_val_score
from .perceptron import Perceptron
from .persist import save
from .pipeline import Pipeline
from .sgd import SGDClassifier, SGDRegressor

__all__ = ["cross_validate", "train"]

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
    options = {
        "penalty": None if penalty == "none" else penalty,
        "alpha": DEFAULTS["alpha"] if args.alpha is None else args.alpha,
        "l1_ratio": DEFAULTS["l1_ratio"] if args.l1_ratio is None else args.l1_ratio,
        "max_iter": args.epochs,
        # All epochs: averaged weights go on to improve when the objective no longer does.
        "tol": None,
        "average": args.average,
        "random_state": args.seed,
    }
    if is_regression:
        return SGDRegressor(args.loss, **options)
    options["n_jobs"] = args.n_jobs
    if is_perceptron:
        return Perceptron(**options)
    return SGDClassifier(args.loss or DEFAULTS["loss"], **options)


def _read(args: Namespace, progress: Progress) -> tuple[Examples, Any, bool]:
    """Return examples, learner, and whether the target is a number."""
    is_regression = args.loss in TARGET_LOSSES
    learner = _learner(args, is_regression)
    progress.say(f"reading {args.data}")
    examples = read_examples(args, is_regression)
    if not is_regression and (examples.y == examples.y[0]).all():
        raise UsageError(
            f"{examples.name} has one class only, {spelt(examples.y[0])!r}; at least two are "
            "needed."
        )
    return examples, learner, is_regression


def _encoded(examples: Examples, progress: Progress) -> tuple[Any, ColumnEncoder | None]:
    """Return all features as one matrix, and the encoder that made it."""
    if examples.encoder is None:
        return examples.X, None
    progress.say(f"encoding {len(examples.y):,} rows")
    encoder = clone(examples.encoder)
    return encoder.fit_transform(examples.X), encoder


def _scores(
    examples: Examples,
    X: Any,
    learner: Any,
    args: Namespace,
    is_regression: bool,
    progress: Progress,
) -> np.ndarray:
    """Return the score of each fold."""
    done = 0

    def score(fitted: Any, X_test: Any, y_test: Any) -> float:
        nonlocal done
        done += 1
        progress.say(f"{done} of {args.cv} folds done")
        return fitted.score(X_test, y_test)

    splitter = KFold if is_regression else StratifiedKFold
    cv = splitter(args.cv, shuffle=True, random_state=args.seed)
    model = learner
    if examples.encoder is not None and len(examples.encoder.numeric):
        # Means and scales are learnt in each fold anew. The rest may be encoded once: the column
        # of a category that a fold has not seen keeps the weight 0, as if it were ignored.
        X, model = examples.X, Pipeline([("columns", examples.encoder), ("learner", learner)])
    progress.say(f"training {args.cv} folds")
    return cross_val_score(
        model, X, examples.y, cv=cv, scoring=score, n_jobs=args.n_jobs, error_score="raise"
    )


def _print_scores(
    scores: np.ndarray, examples: Examples, is_regression: bool, seconds: float
) -> None:
    """Print the score of each fold, their mean, and what they are to be compared with."""
    rows = [(f"fold {fold}", f"{score:.4f}") for fold, score in enumerate(scores, 1)]
    rows.append(("mean", f"{scores.mean():.4f}  (standard deviation {scores.std():.4f})"))
    print("\n".join(table_lines(rows)))
    n = len(examples.y)
    if is_regression:
        print(
            f"R2 (1 is perfect, 0 no better than the mean) of {len(scores)} folds over {n:,} "
            f"rows, {seconds:.2f} s"
        )
        return
    classes, counts = np.unique(examples.y, return_counts=True)
    common = counts.argmax()
    print(
        f"accuracy of {len(scores)} folds over {n:,} rows, {seconds:.2f} s; always "
        f"{spelt(classes[common])!r} would be {counts[common] / n:.4f}"
    )


def cross_validate(args: Namespace) -> int:
    """Run `fastlin cv`."""
    with Progress() as progress:
        examples, learner, is_regression = _read(args, progress)
        start = time.perf_counter()
        X, _ = _encoded(examples, progress)
        scores = _scores(examples, X, learner, args, is_regression, progress)
        seconds = time.perf_counter() - start
    _print_scores(scores, examples, is_regression, seconds)
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
        examples, learner, is_regression = _read(args, progress)
        start = time.perf_counter()
        X, encoder = _encoded(examples, progress)
        if args.cv is not None:
            scores = _scores(examples, X, clone(learner), args, is_regression, progress)
        seconds = time.perf_counter() - start
        learner.fit(
            X,
            examples.y,
            callback=lambda entry: progress.say(
                f"epoch {entry['epoch']} of {args.epochs}, mean loss {entry['loss']:.4f}"
            ),
        )
        model = learner
        if encoder is not None:
            progress.say("looking up the strongest features")
            encoder.explain(examples.X, _strongest_columns(learner.coef_))
            model = Pipeline([("columns", encoder), (type(learner).__name__.lower(), learner)])
        progress.say(f"writing {args.model}")
        save(model, args.model)
    if scores is not None:
        _print_scores(scores, examples, is_regression, seconds)
    what = "" if is_regression else f", {len(learner.classes_)} classes"
    print(
        f"{type(learner).__name__} trained on {len(examples.y):,} rows{what}; "
        f"wrote {args.model} ({os.path.getsize(args.model):,} bytes)"
    )
    return 0


def _strongest_columns(coef: np.ndarray) -> list[int]:
    """Return the columns with the largest weights, over all outputs."""
    size = np.abs(np.atleast_2d(coef)).max(axis=0)
    n = min(_EXPLAINED_COLUMNS, np.count_nonzero(size))
    return np.argsort(-size, kind="stable")[:n].tolist()
