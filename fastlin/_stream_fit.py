"""`fit_stream`: learning from what need not fit into memory.

First pass: the source is read once, block by block; rows are checked and cached on disk, labels
numbered, weights added up (`_stream_collect`, `_stream_cache`). Then `max_iter` epochs run over the
cache (`_stream_train`) on targets that are made block by block (`_stream_problem`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ._exceptions import errors_about
from ._labels import absent_classes
from ._memory import check_room
from ._params import Boolean, Either, Integer, OneOf
from ._present import narrowed, numbers_among, places_of_present, widen
from ._random import spawn_seed
from ._reductions import code_for, is_reduced, keep_code
from ._validation import class_weight_vector, listed

__all__ = ["BLOCK_BYTES", "StreamClassifierMixin", "StreamRegressorMixin", "StreamOptions"]

_CONSTRAINTS = {
    "format": OneOf(None, "svmlight", "csv", "tsv", "jsonl", "parquet"),
    "header": Boolean(),
    "n_features": Either(Integer(1, 2**31 - 1), OneOf(None)),
    "zero_based": Either(Boolean(), OneOf("auto")),
    "block_bytes": Integer(1),
}
BLOCK_BYTES = 64 << 20
# All learners together put off no more than this: the rows need not fit into memory, nor does a
# number for each row and learner.
_MOST_PUT_OFF = 64 << 20


class StreamOptions:
    """The keywords of `fit_stream`, checked."""

    def __init__(self, given: dict[str, Any]):
        for name, constraint in _CONSTRAINTS.items():
            constraint.check(name, given[name])
        dtype = np.dtype(given["dtype"])
        if dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {dtype.name}.")
        folder = given["cache_dir"]
        if folder is not None and not os.path.isdir(folder):
            raise ValueError(f"cache_dir must be a folder that is there, got {folder!r}.")
        self.source = given["source"]
        self.reading = {
            name: given[name]
            for name in ("format", "label", "encoder", "header", "n_features", "zero_based")
        }
        self.dtype, self.folder = dtype, folder
        self.block_bytes, self.callback = int(given["block_bytes"]), given["callback"]
        self.is_growing, self.watch = False, None
        self.name = _name_of_file(self.source)

    def blocks(self, is_regression: bool) -> Any:
        """Blocks of the source."""
        from ._stream_source import SourceOptions, blocks_of

        options = SourceOptions(**self.reading, dtype=self.dtype, is_regression=is_regression)
        return blocks_of(self.source, options)

    @property
    def widens(self) -> bool:
        """Whether the source is svmlight, whose width only its end tells."""
        from ._stream_source import is_file

        return self.is_growing or is_file(self.source) and self.reading["label"] is None


def _name_of_file(source: Any) -> str | None:
    """The name of a source in messages, if it is a file."""
    from ._stream_source import name_of_file

    return name_of_file(source)


@contextlib.contextmanager
def collected(estimator: Any, options: StreamOptions, numbers: Any, is_regression: bool
              ) -> Iterator[Any]:
    """A cache of the source, dropped at the end whatever happens."""
    from ._stream_cache import StreamCache
    from ._stream_collect import collect

    _refuse_votes(estimator)
    with (
        contextlib.closing(options.blocks(is_regression)) as blocks,
        StreamCache(options.folder, options.block_bytes) as cache,
    ):
        collect(
            estimator, blocks, cache, numbers=numbers,
            dtype=options.dtype if options.widens else None,
            n_features=options.reading["n_features"], widens=options.widens, watch=options.watch,
            name=options.name,
        )
        yield cache


def train(estimator: Any, problem: Any, groups: list[int], start: list, score: Any,
          callback: Any, exact: bool = True) -> None:
    """Run the epochs and publish what the tasks have learnt; as `OnlineEstimator._train`."""
    from ._epochs import RowOrder
    from ._learner import make_learner
    from ._stream_train import StreamTask, run_epochs

    rule, plan = estimator._rule(), estimator._plan(callback)
    cache = problem.cache
    check_room(cache.n_columns, sum(groups), cache.dtype.itemsize, rule, groups.count(1))
    *seeds, split, order = spawn_seed(estimator.random_state, len(groups) + 2)
    if estimator_stops_early(estimator):
        problem.hold_out(estimator.validation_fraction, split)
    tasks = []
    for n_outputs, seed, first in zip(groups, seeds, start, strict=True):
        learner = make_learner(cache.n_columns, cache.dtype, rule, n_outputs)
        if first is not None:
            learner.start_from(*first)
        tasks.append(StreamTask(learner, plan, seed))
    n_blocks, stops_early = np.arange(len(cache)), estimator_stops_early(estimator)
    # adaptive steps put off nothing that grows with the rows
    keeps_little = rule["optimizer"] or 8 * cache.n_rows * len(tasks) <= _MOST_PUT_OFF
    entries = run_epochs(
        tasks, cache.load, problem.parts, RowOrder(n_blocks, bool(plan.shuffle), order, 0),
        getattr(estimator, "n_jobs", None),
        partial(problem.scores, tasks, score=score) if stops_early else None,
        rule["batch_size"], exact, bool(keeps_little) and plan.puts_off(stops_early),
    )
    for k, task in enumerate(tasks):
        task.worse = problem.worse_than_constant(task, k, in_order=not plan.shuffle)
    estimator._finish(tasks)
    estimator.progressive_loss_ = entries


def estimator_stops_early(estimator: Any) -> bool:
    """Whether rows are to be held out."""
    return bool(getattr(estimator, "early_stopping", False))


def _refuse_votes(estimator: Any) -> None:
    """The votes of a perceptron live with the rows."""
    if estimator._rule().get("voted"):
        raise ValueError(
            "average must not be 'voted' in fit_stream, whose rows are not kept for the votes; "
            "set average=True."
        )


def fit_regression(estimator: Any, options: StreamOptions, coef_init: Any, intercept_init: Any,
                   adapt: Any = None) -> None:
    """`fit_stream` of a regression; `adapt` may set parameters once the targets are known."""
    from ._stream_problem import StreamProblem

    with collected(estimator, options, None, True) as cache:
        problem = StreamProblem(cache, lambda y: [y])
        if adapt is not None:
            intercept_init = adapt(problem)
        start = estimator._start([1], cache.n_columns, coef_init, intercept_init)
        train(estimator, problem, [1], start, None, options.callback)
    estimator._set_weights()


def fit_classes(estimator: Any, options: StreamOptions, classes: Any, coef_init: Any,
                intercept_init: Any) -> None:
    """`fit_stream` of a classifier."""
    from ._online_kinds import share_right
    from ._stream_collect import ClassNumbers
    from ._stream_problem import StreamProblem

    numbers = ClassNumbers(estimator, classes)
    with collected(estimator, options, numbers, False) as cache:
        classes, lookup, mass = numbers.finish()
        _check_warm(estimator, classes)
        weight = None
        if estimator.class_weight is not None:
            # each class stands for all its rows
            weight = class_weight_vector(
                estimator.class_weight, classes, np.arange(len(classes)), mass
            )
        with errors_about(f"In {options.name or 'the source'}"):
            absent = absent_classes(classes, mass if weight is None else mass * weight)
        code = code_for(estimator, len(classes), absent)
        present, own, number = None, classes, np.arange(len(classes))
        if absent and estimator._is_joint(len(classes)):
            present = places_of_present(len(classes), absent)
            own, number = classes[present], numbers_among(present, len(classes))
        groups = estimator._targets(own, np.zeros(1, np.intp), code)[1]
        problem = StreamProblem(
            cache, lambda y: estimator._targets(own, number[y], code)[0], lookup, weight
        )
        outputs = groups if present is None else [len(classes)]
        start = estimator._start(outputs, cache.n_columns, coef_init, intercept_init)
        if present is not None:
            start = [narrowed(start[0], present)]
        train(estimator, problem, groups, start, share_right, options.callback, code is None)
    if present is not None:
        widen(estimator, classes, present)
    estimator.classes_ = classes
    keep_code(estimator, code)
    estimator._set_weights(() if is_reduced(estimator, len(classes)) else absent)


def _check_warm(estimator: Any, classes: np.ndarray) -> None:
    """A warm start goes on with the same classes."""
    old = getattr(estimator, "classes_", None) if estimator.warm_start else None
    if old is not None and not np.array_equal(old, classes):
        raise ValueError(
            f"warm_start goes on from the classes {listed(old.tolist())}, but the source holds "
            f"{listed(classes.tolist())}; fit with warm_start=False."
        )


class StreamRegressorMixin:
    """`fit_stream` of regressors."""

    def fit_stream(self, source: Any, *, label: str | None = None, encoder: Any = None,
                   format: str | None = None, header: bool = True, n_features: int | None = None,
                   zero_based: bool | str = "auto", dtype: Any = np.float64,
                   block_bytes: int = BLOCK_BYTES, cache_dir: Any = None, coef_init: Any = None,
                   intercept_init: Any = None, callback: Any = None) -> Any:
        """Fit the model to data that need not fit into memory.

        The source is read once; epochs run over a cache in a temporary file. Parameters mean what
        they mean in `fit`, but for the order of rows: each epoch visits blocks in random order, and
        shuffles the rows of a block as `fit` shuffles all. So if the rows fit into one block, or
        with ``shuffle=False`` (and ``batch_size=1``), the weights are bit for bit those of `fit`
        (where that does not renumber columns, which changes roundings). Batches end with a block;
        rows that are held out are a share of each block. Shuffle a file in which the target grows.

        Parameters
        ----------
        source : path, binary file object, bytes, iterable or callable
            A file as `fastlin.io.load_svmlight_file` and `fastlin.io.read_table` take it; or blocks
            ``(X, y)`` or ``(X, y, sample_weight)``, or a function that returns an iterable of them.
        label : str, optional
            The column to predict, where the file is a table; the others become
            `feature_names_in_` if they have names and there is no `encoder`.
        encoder : callable, optional
            Makes X of the other columns of a block of a table. It gets them as a dict of lists
            (cells of CSV are strings) that also counts as a table with named columns, so a
            `ColumnTransformer` or `OneHotEncoder` that was fitted to such columns can be given as
            it is; for others ``lambda columns: fitted.transform(pandas.DataFrame(columns))``. By
            default the columns have to be numbers.
            In JSON lines, None stands where a key is absent that the encoder was fitted with or
            that the first rows have; without such an encoder, a key that comes up later is an
            error.
        format : {"svmlight", "csv", "tsv", "jsonl", "parquet"}, default=None
            By default what `fastlin.io.detect_format` finds.
        header : bool, default=True
            Whether the first row of CSV or TSV names the columns.
        n_features : int, default=None
            Number of columns of X; by default as many as the source has.
        zero_based : bool or "auto", default="auto"
            Whether indices of svmlight start at 0; "auto" lets the first rows decide.
        dtype : {numpy.float64, numpy.float32}, default=numpy.float64
            Type of the values, and of the weights, where the source is a file.
        block_bytes : int, default=64 MiB
            Rows are joined to blocks of this size, three of which may be in memory at a time; rows
            that came in one block stay together.
        cache_dir : path, optional
            Where the temporary file is made, which nothing outlasts; by default the system's folder
            for these. It takes 4 to 12 bytes per entry, and none if there is but one block.
        coef_init : array-like of shape (n_features,), optional
            Weights to start from.
        intercept_init : array-like of shape (1,), optional
            Intercept to start from.
        callback : callable, optional
            Called after each epoch with its entry of `trace_`, and in the first epoch with each
            entry of `progressive_loss_`; what it raises ends training.

        Returns
        -------
        self
            With `progressive_loss_`: dicts of the mean loss of the first 1, 2, 4, ... rows (key
            "rows") of the first epoch, each before it was learnt ("loss"), and of those since the
            entry before ("recent_loss"). It estimates the loss on new rows.

        Raises
        ------
        ValueError, TypeError
            As `fit`, `fastlin.io.load_svmlight_file` and `fastlin.io.read_table`; of blocks, with
            the number of the block.
        OSError
            If the file can't be read, or the folder has no space for the cache.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` ended training, or the best constant would predict better.
        """
        self._check_params()
        self._check_together()
        options = StreamOptions(dict(locals()))
        fit_regression(self, options, coef_init, intercept_init)
        return self


class StreamClassifierMixin:
    """`fit_stream` of classifiers."""

    def fit_stream(self, source: Any, *, classes: Any = None, label: str | None = None,
                   encoder: Any = None, format: str | None = None, header: bool = True,
                   n_features: int | None = None, zero_based: bool | str = "auto",
                   dtype: Any = np.float64, block_bytes: int = BLOCK_BYTES, cache_dir: Any = None,
                   coef_init: Any = None, intercept_init: Any = None, callback: Any = None) -> Any:
        """Fit the model to data that need not fit into memory.

        The source is read once; epochs run over a cache in a temporary file. Parameters mean what
        they mean in `fit`, but for the order of rows: each epoch visits blocks in random order, and
        shuffles the rows of a block as `fit` shuffles all. So if the rows fit into one block, or
        with ``shuffle=False`` (and ``batch_size=1``), the weights are bit for bit those of `fit`
        (where that does not renumber columns, which changes roundings). Batches end with a block;
        rows that are held out are a share of each block. Shuffle a file that is sorted by class.

        Parameters
        ----------
        source : path, binary file object, bytes, iterable or callable
            A file as `fastlin.io.load_svmlight_file` and `fastlin.io.read_table` take it; or blocks
            ``(X, y)`` or ``(X, y, sample_weight)``, or a function that returns an iterable of them.
            One label per row.
        classes : array-like of shape (n_classes,), optional
            All labels that may come; another one is an error. By default those that come.
        label : str, optional
            The column to predict, where the file is a table. Cells of CSV are strings. The other
            columns become `feature_names_in_` if they have names and there is no `encoder`.
        encoder : callable, optional
            Makes X of the other columns of a block of a table. It gets them as a dict of lists
            (cells of CSV are strings) that also counts as a table with named columns, so a
            `ColumnTransformer` or `OneHotEncoder` that was fitted to such columns can be given as
            it is; for others ``lambda columns: fitted.transform(pandas.DataFrame(columns))``. By
            default the columns have to be numbers.
            In JSON lines, None stands where a key is absent that the encoder was fitted with or
            that the first rows have; without such an encoder, a key that comes up later is an
            error.
        format : {"svmlight", "csv", "tsv", "jsonl", "parquet"}, default=None
            By default what `fastlin.io.detect_format` finds.
        header : bool, default=True
            Whether the first row of CSV or TSV names the columns.
        n_features : int, default=None
            Number of columns of X; by default as many as the source has.
        zero_based : bool or "auto", default="auto"
            Whether indices of svmlight start at 0; "auto" lets the first rows decide.
        dtype : {numpy.float64, numpy.float32}, default=numpy.float64
            Type of the values, and of the weights, where the source is a file.
        block_bytes : int, default=64 MiB
            Rows are joined to blocks of this size, three of which may be in memory at a time; rows
            that came in one block stay together.
        cache_dir : path, optional
            Where the temporary file is made, which nothing outlasts; by default the system's folder
            for these. It takes 4 to 12 bytes per entry, and none if there is but one block.
        coef_init : array-like of shape (n_outputs, n_features), optional
            Weights to start from, as in `fit`.
        intercept_init : array-like of shape (n_outputs,), optional
            Intercepts to start from.
        callback : callable, optional
            Called after each epoch of each learner with its entry of `trace_`, and in the first
            epoch with each entry of `progressive_loss_`; what it raises ends training.

        Returns
        -------
        self
            With `progressive_loss_`: dicts of the mean loss of the first 1, 2, 4, ... rows (key
            "rows") of the first epoch, each before it was learnt ("loss"), and of those since the
            entry before ("recent_loss"); with several learners the mean over them. It estimates the
            loss on new rows.

        Raises
        ------
        ValueError, TypeError
            As `fit`, `fastlin.io.load_svmlight_file` and `fastlin.io.read_table`; of blocks, with
            the number of the block.
        OSError
            If the file can't be read, or the folder has no space for the cache.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` ended training, or the best constant would predict better.
        """
        self._check_params()
        self._check_together()
        options = StreamOptions(dict(locals()))
        fit_classes(self, options, classes, coef_init, intercept_init)
        return self
