"""The command `cv`, and the scores that `train --cv` prints."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import Any

import numpy as np

from ._cli_task import STRENGTHS, Task, encode, read_task
from ._cli_terminal import (
    Progress,
    UsageError,
    counted_warnings,
    is_same_file,
    spelt,
    table_lines,
    writing_stdout,
)
from ._files import check_writable, opened_for_writing
from .model_selection import GridSearchCV, KFold, StratifiedKFold
from .pipeline import Pipeline

__all__ = ["cross_validate", "print_scores", "search_strengths"]


def search_strengths(
    task: Task, X: Any, grid: dict[str, list[float]], args: Namespace, progress: Progress
) -> GridSearchCV:
    """Score the folds for each strength of the penalty, of which `grid` has at most one name."""
    model, X, params, prefix = _model(task, X)
    params = {prefix + name: value for name, value in params.items()}
    name, values = _named(grid)
    points = f" for each of {len(values)} values of --{name}" if len(values) > 1 else ""
    progress.say(f"training {args.cv} folds{points}")
    search = GridSearchCV(
        model, {prefix + name: values for name, values in grid.items()}, cv=_folds(task, args),
        n_jobs=args.n_jobs, refit=False, error_score="raise",
    )  # fmt: skip
    kind = "folds" if len(values) == 1 else "trainings"
    with counted_warnings(args, args.cv * len(values), kind):
        return search.fit(X, task.examples.y, **params)


def _named(grid: dict[str, list[float]]) -> tuple[str, list[float]]:
    """The parameter of a grid and its values; one without a name stands for no parameter."""
    return next(iter(grid.items()), ("", [0.0]))


def _folds(task: Task, args: Namespace) -> Any:
    """Return the splitter."""
    splitter = KFold if task.is_regression else StratifiedKFold
    return splitter(args.cv, shuffle=True, random_state=args.seed)


def _model(task: Task, X: Any) -> tuple[Any, Any, dict[str, Any], str]:
    """Return what is fitted in each fold, to what, arguments of its fit, and what its parameters
    are called there."""
    encoder = task.examples.encoder
    if encoder is None or not len(encoder.numeric):
        return task.learner, X, task.fit_arguments, ""
    # Means and scales are learnt in each fold anew. The rest may be encoded once: the column of a
    # category that a fold has not seen keeps the weight 0, as if it were ignored.
    model = Pipeline([("columns", encoder), ("learner", task.learner)])
    return model, task.examples.X, task.fit_arguments, "learner__"


def _by_fold(search: GridSearchCV) -> np.ndarray:
    """Return the scores, of shape (n_alphas, n_folds)."""
    names = [f"split{fold}_test_score" for fold in range(search.n_splits_)]
    return np.column_stack([search.cv_results_[name] for name in names])


def print_scores(
    search: GridSearchCV, grid: dict[str, list[float]], task: Task, seconds: float
) -> None:
    """Print the score of each fold, their mean, and what they are to be compared with."""
    scores = _by_fold(search)
    several = len(scores) > 1
    table = _row_for_each_value(scores, *_named(grid)) if several else _row_for_each_fold(scores[0])
    print("\n".join(table_lines(table)))
    y, n = task.examples.y, len(task.examples.y)
    folds = f"of {scores.shape[1]} folds over {n:,} rows, {seconds:.2f} s"
    if task.is_regression:
        print(f"R2 (1 is perfect, 0 no better than the mean) {folds}")
        return
    classes, counts = np.unique(y, return_counts=True)
    common = counts.argmax()
    print(
        f"accuracy {folds}; always {spelt(classes[common])!r} would be {counts[common] / n:.4f}"
    )


def _row_for_each_fold(scores: np.ndarray) -> list[tuple[str, ...]]:
    """Return a table with a row for each fold."""
    rows = [(f"fold {fold}", f"{score:.4f}") for fold, score in enumerate(scores, 1)]
    spread = f"(standard deviation {scores.std():.4f})"
    return [*rows, ("mean", f"{scores.mean():.4f}  {spread}")]


def _row_for_each_value(
    scores: np.ndarray, name: str, values: list[float]
) -> list[tuple[str, ...]]:
    """Return a table with a row for each strength of the penalty, the best one marked."""
    head = (name, *(f"fold {fold + 1}" for fold in range(scores.shape[1])), "mean", "sd", "")
    best = scores.mean(axis=1).argmax()
    rows = [
        (
            f"{value:g}",
            *(f"{score:.4f}" for score in row),
            f"{row.mean():.4f}",
            f"{row.std():.4f}",
            "best" if place == best else "",
        )
        for place, (value, row) in enumerate(zip(values, scores, strict=True))
    ]
    return [head, *rows]


def cross_validate(args: Namespace) -> int:
    """Run `fastlin cv`."""
    grid = {name: getattr(args, name) for name in STRENGTHS}
    grid = {name: values for name, values in grid.items() if values is not None}
    for name, values in grid.items():
        setattr(args, name, values[0])
    figure = None if args.plot is None else _figure(args.plot, args.data)
    with Progress() as progress:
        task = read_task(args, progress)
        grid = grid or task.strength
        start = time.perf_counter()
        X, _ = encode(task, args, progress)
        search = search_strengths(task, X, grid, args, progress)
        seconds = time.perf_counter() - start
        if figure is not None:
            progress.say(f"drawing {args.plot}")
            _draw(figure, search, task, X, args, _named(grid)[0])
            with opened_for_writing(args.plot) as stream:
                figure.savefig(stream, format=os.path.splitext(args.plot)[1][1:].lower())
    with writing_stdout():
        print_scores(search, grid, task, seconds)
        if figure is not None:
            print(f"wrote {args.plot}")
    return 0


def _figure(path: str, data: str) -> Any:
    """Return an empty picture; refuses a place where none can be written, before any work."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: there is no folder {folder}.")
    if path == "-" or os.path.isdir(path) or is_same_file(path, data):
        raise UsageError(f"--plot must be a file of its own for the picture, got {path}.")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "--plot draws with matplotlib, which is not installed; get it with "
            "`pip install fastlin[plot]`."
        ) from None
    figure = Figure(figsize=(6.4, 4.4), dpi=150, layout="constrained")
    ending = os.path.splitext(path)[1][1:].lower()
    known = figure.canvas.get_supported_filetypes()
    if ending not in known:
        raise UsageError(
            f"--plot {path}: the ending must say the format, one of {', '.join(sorted(known))}."
        )
    check_writable(path)
    return figure


def _draw(figure: Any, search: GridSearchCV, task: Task, X: Any, args: Namespace, name: str
          ) -> None:
    """Draw the scores over a strength, or over the number of rows where there is one only."""
    from . import plot

    ax = figure.subplots()
    model, X, params, prefix = _model(task, X)
    if len(search.cv_results_["params"]) > 1:
        plot.cv_curve(search, prefix + name, ax=ax)
        ax.set_xlabel(name)
        return
    params = {prefix + name: value for name, value in params.items()}
    plot.learning_curve(
        model, X, task.examples.y, ax=ax, cv=_folds(task, args), n_jobs=args.n_jobs, shuffle=True,
        random_state=args.seed, params=params, error_score="raise",
    )  # fmt: skip
