"""The command `train`."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import Any

import numpy as np

from ._cli_cv import print_scores, search_alphas
from ._cli_encoder import ColumnEncoder
from ._cli_task import Task, encode, read_task
from ._cli_terminal import Progress, UsageError, is_same_file, writing_stdout
from ._files import check_writable
from .persist import save
from .pipeline import Pipeline

__all__ = ["train"]

# Columns whose n-grams are looked up once a model is trained.
_EXPLAINED_COLUMNS = 2000


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
    check_writable(path)


def train(args: Namespace) -> int:
    """Run `fastlin train`."""
    _check_model_path(args.model, args.data)
    search = None
    with Progress() as progress:
        task = read_task(args, progress)
        start = time.perf_counter()
        X, encoder = encode(task, args, progress)
        if args.cv is not None:
            search = search_alphas(task, X, [task.learner.alpha], args, progress)
        seconds = time.perf_counter() - start
        model = _fitted(task, X, encoder, args, progress)
        progress.say(f"writing {args.model}")
        save(model, args.model)
    what = "" if task.is_regression else f", {len(task.learner.classes_)} classes"
    with writing_stdout():
        if search is not None:
            print_scores(search, [task.learner.alpha], task, seconds)
        print(
            f"{type(task.learner).__name__} trained on {len(task.examples.y):,} rows{what}; "
            f"wrote {args.model} ({os.path.getsize(args.model):,} bytes)"
        )
    return 0


def _fitted(
    task: Task, X: Any, encoder: ColumnEncoder | None, args: Namespace, progress: Progress
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
