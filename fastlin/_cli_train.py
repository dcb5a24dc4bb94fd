"""The command `train`."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import Any

import numpy as np

from ._cli_cv import print_scores, search_strengths
from ._cli_encoder import ColumnEncoder
from ._cli_stream import has_to_stream, train_stream
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
    if has_to_stream(args):
        return _train_stream(args)
    try:
        return _train_in_memory(args)
    except MemoryError as error:
        instead = "--learner sgd --stream" if args.learner == "exact" else "--stream"
        without = "" if args.cv is None else ", without --cv"
        raise MemoryError(
            f"out of memory{f' ({error})' if str(error) else ''}; {instead} learns in bounded "
            f"memory{without}"
        ) from None


def _train_in_memory(args: Namespace) -> int:
    """Train with all rows at hand."""
    search = None
    with Progress() as progress:
        task = read_task(args, progress)
        start = time.perf_counter()
        X, encoder = encode(task, args, progress)
        if args.cv is not None:
            search = search_strengths(task, X, task.strength, args, progress)
        seconds = time.perf_counter() - start
        model = _fitted(task, X, encoder, args, progress)
        progress.say(f"writing {args.model}")
        save(model, args.model)
    with writing_stdout():
        if search is not None:
            print_scores(search, task.strength, task, seconds)
        _say_done(args, task.learner, len(task.examples.y), task.is_regression)
    return 0


def _train_stream(args: Namespace) -> int:
    """Train in bounded memory."""
    with Progress() as progress:
        done = train_stream(args, progress)
        model = _assembled(done.learner, done.encoder, done.texts, progress)
        progress.say(f"writing {args.model}")
        save(model, args.model)
    with writing_stdout():
        _say_done(args, done.learner, done.n_rows, done.is_regression)
    return 0


def _say_done(args: Namespace, learner: Any, n_rows: int, is_regression: bool) -> None:
    """Print what was learnt and written."""
    what = "" if is_regression else f", {len(learner.classes_)} classes"
    if args.learner == "exact":
        what += f", to a relative duality gap of {np.max(learner.duality_gap_):.2g}"
    print(
        f"{type(learner).__name__} trained on {n_rows:,} rows{what}; "
        f"wrote {args.model} ({os.path.getsize(args.model):,} bytes)"
    )


def _fitted(
    task: Task, X: Any, encoder: ColumnEncoder | None, args: Namespace, progress: Progress
) -> Any:
    """Fit the learner and return the whole model."""

    def show(entry: dict[str, Any]) -> None:
        """Say how far training has come."""
        progress.say(
            f"epoch {entry['epoch']} of {learner.max_iter}, mean loss {entry['loss']:.4f}"
        )

    learner, options = task.learner, dict(task.fit_arguments)
    if args.learner == "exact":
        progress.say(f"solving for {type(learner).__name__}")
    else:
        options["callback"] = show
    learner.fit(X, task.examples.y, **options)
    return _assembled(learner, encoder, task.examples.X, progress)


def _assembled(
    learner: Any, encoder: ColumnEncoder | None, columns: Any, progress: Progress
) -> Any:
    """The whole model; `columns`, if there are any, hold texts to look up n-grams in."""
    if encoder is None:
        return learner
    if columns is not None:
        progress.say("looking up the strongest features")
        encoder.explain(columns, _strongest_columns(learner.coef_))
    return Pipeline([("columns", encoder), (type(learner).__name__.lower(), learner)])


def _strongest_columns(coef: np.ndarray) -> list[int]:
    """Return the columns with the largest weights, over all outputs."""
    size = np.abs(np.atleast_2d(coef)).max(axis=0)
    n = min(_EXPLAINED_COLUMNS, np.count_nonzero(size))
    return np.argsort(-size, kind="stable")[:n].tolist()
