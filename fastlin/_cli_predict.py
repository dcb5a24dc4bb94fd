"""The command `predict`."""

from __future__ import annotations

import csv
import itertools
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ._analyzers import TextAnalysis
from ._cli_data import (
    check_header,
    checked_targets,
    column_blocks,
    display_name,
    format_of,
    is_empty,
    line_blocks,
    target_numbers,
    with_pipe_opened,
)
from ._cli_encoder import ColumnEncoder
from ._cli_steps import column_kinds, first_step
from ._cli_terminal import Progress, UsageError, is_same_file, spelt, write_texts
from ._delimited import delimited_text
from ._files import check_writable
from ._multilabel import has_labels
from ._named_columns import CellColumns, Columns, NamedArray
from ._stream_problem import SquareSums
from ._stream_source import svmlight_blocks
from ._tables import listed_columns
from .persist import load
from .pipeline import Pipeline

__all__ = ["predict"]

_ROWS_AT_ONCE = 10_000


def _blocks(args: Namespace, model: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (what the model takes, the right answers or None, lines of the rows or None)."""
    first = first_step(model)
    if isinstance(first, (ColumnEncoder, TextAnalysis)):
        yield from _table_blocks(args, first)
        return
    names = getattr(first, "feature_names_in_", None)
    if names is not None and (args.text is not None or args.format == "text"):
        raise UsageError(
            f"{args.model} was trained on named columns: DATA must be a table that has them, or "
            "svmlight, without --text."
        )
    if names is None and (
        args.format not in (None, "svmlight") or args.text is not None or args.label is not None
    ):
        raise UsageError(
            f"{args.model} was trained on numbered features: DATA must be svmlight, without --text "
            "and --label."
        )
    if is_empty(args.data):
        raise UsageError(f"{display_name(args.data)} is empty.")
    if names is not None and format_of(args) != "svmlight":
        yield from _named_blocks(args, column_kinds(first, names.tolist()))
        return
    if args.label is not None:
        raise UsageError(f"--label is for tables, but {display_name(args.data)} is svmlight.")
    if format_of(args) != "svmlight":
        raise UsageError(
            f"{args.model} was trained on numbered features, but {display_name(args.data)} does "
            "not look like svmlight (--format svmlight reads it as such)."
        )
    check_header(args, "svmlight")
    yield from _svmlight_blocks(args, model.n_features_in_, _has_label_sets(model))


def _named_blocks(args: Namespace, kinds: dict[str, str]) -> Iterator[tuple[Any, Any, Any]]:
    """Blocks of a table, for a model that knows its columns by their names."""
    all_numbers = all(kind == "number" for kind in kinds.values())
    typed = [name for name, kind in kinds.items() if kind == "typed"]
    if typed and format_of(args) in ("csv", "tsv"):
        raise UsageError(
            f"{args.model} has categories of {listed_columns(typed)} by their types, which "
            f"{display_name(args.data)} does not tell: DATA must be JSON lines or Parquet."
        )
    label = () if args.label is None else (args.label,)
    for table in column_blocks(
        args, format_of(args), _ROWS_AT_ONCE, tuple(kinds), required=label
    ):
        y = list(table.column(args.label)) if label else None
        columns: dict[str, Any] = {
            name: table.numbers(name) if kind == "number" else _values(table.column(name), kind)
            for name, kind in kinds.items()
        }
        if all_numbers:
            yield NamedArray(np.column_stack(list(columns.values())), list(columns)), y, table
        else:
            yield CellColumns(columns), y, table


def _values(cells: Any, kind: str) -> Any:
    """Cells as a data frame has them: where some are missing, numbers are floats."""
    cells = list(cells)
    present = [cell for cell in cells if cell is not None]
    is_number = all(isinstance(cell, (int, float)) and cell is not True and cell is not False
                    for cell in present)
    if kind == "typed" and present and is_number and len(present) < len(cells):
        return np.array([np.nan if cell is None else cell for cell in cells])
    return cells


def _has_label_sets(model: Any) -> bool:
    """Whether a model predicts several labels per row."""
    return has_labels(model.steps[-1][1] if isinstance(model, Pipeline) else model)


def _svmlight_blocks(
    args: Namespace, expected: int, multilabel: bool
) -> Iterator[tuple[Any, Any, Any]]:
    """Blocks of an svmlight file, without the columns that the model does not have."""
    unknown, is_first = 0, True
    for rows, y in svmlight_blocks(args.data, None, True, multilabel=multilabel):
        X, is_first = rows.to_csr(), False
        if X.shape[1] > expected:
            unknown += int((X.indices >= expected).sum())
        X.resize((X.shape[0], expected))
        yield X, [_spelt_set(map(spelt, row)) for row in y] if multilabel else y, None
    if is_first:
        raise UsageError(f"{display_name(args.data)} has no examples.")
    if unknown:
        print(
            f"fastlin: warning: {unknown:,} entries have an index above {expected - 1}, the "
            "largest in training; they are ignored",
            file=sys.stderr,
        )


def _table_blocks(args: Namespace, first: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Blocks of a table, or of lines of text, for a model that begins with columns."""
    is_encoder = isinstance(first, ColumnEncoder)
    text = first.text if is_encoder else args.text
    if is_encoder and args.text is not None:
        raise UsageError(f"--text is not needed: {args.model} knows its columns.")
    if args.format == "text":
        yield from _text_blocks(args, first, is_encoder)
        return
    if text is None and not is_encoder:
        raise UsageError(
            "--text must name the column of texts, or --format text say that each line is one."
        )
    format = format_of(args)
    if format == "svmlight":
        raise UsageError(
            f"{args.model} was trained on a table, but {display_name(args.data)} looks like "
            "svmlight (--format csv, tsv or jsonl reads it as such)."
        )
    label = args.label or (first.label if is_encoder else None)
    own = (*first.numeric_, *first.categorical_) if is_encoder else ()
    named, is_first = () if args.label is None else (args.label,), True
    for table in column_blocks(args, format, _ROWS_AT_ONCE, own, required=named):
        if text is not None and text not in table.columns and is_first:
            there = listed_columns(list(table.columns))
            raise UsageError(
                f"{table.name} has no column {text!r}; its columns are {there}. If each line is "
                "one text, say --format text."
            )
        if text is not None:  # objects of JSON lines may lack a key for a while
            table.columns.setdefault(text, [None] * len(table))
        for name in (*named, *own):
            table.column(name)
        is_first = False
        y = None if label not in table.columns else list(table.columns[label])
        yield table if is_encoder else table.texts(text), y, table


def _text_blocks(args: Namespace, first: Any, is_encoder: bool) -> Iterator[tuple[Any, Any, Any]]:
    """Blocks of a file in which each line is one text."""
    if is_encoder and (first.text is None or first.numeric_ or first.categorical_):
        raise UsageError(
            f"{args.model} was not trained on texts alone: --format text has only those."
        )
    if args.label is not None:
        raise UsageError("--label needs a table; --format text has texts only.")
    for block in line_blocks(args, _ROWS_AT_ONCE):
        texts = block.columns["text"]
        columns = Columns({first.text: texts}, block.lines, block.name) if is_encoder else texts
        yield columns, None, None


def _columns_of(args: Namespace, model: Any, X: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return predictions, the names of further columns, and those columns."""
    none = np.empty((0, 0))
    if not args.proba and not args.decision:
        return _predicted(model, X), [], none
    if not hasattr(model, "classes_"):
        option = "--proba" if args.proba else "--decision"
        raise UsageError(f"{option} is for models of classes; {args.model} predicts numbers.")
    classes = [spelt(label) for label in model.classes_]
    if args.proba:
        if not hasattr(model, "predict_proba"):
            learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
            coded = ", --multi-class ovr or joint" if "code_" in vars(learner) else ""
            raise UsageError(
                f"{args.model} has no probabilities; train it with --loss log_loss{coded}, or ask "
                "for --decision."
            )
        values = model.predict_proba(X)
        if _has_label_sets(model):
            return _predicted(model, X), classes, values
        return model.classes_[values.argmax(axis=1)], classes, values
    values = model.decision_function(X)
    if _has_label_sets(model):
        return _predicted(model, X), classes, values
    if values.ndim == 1:
        return model.classes_[(values > 0).astype(int)], ["decision"], values[:, None]
    return model.classes_[values.argmax(axis=1)], classes, values


def _predicted(model: Any, X: Any) -> np.ndarray:
    """Predictions; the labels of a row as one text."""
    predicted = model.predict(X)
    if not _has_label_sets(model):
        return predicted
    names = [spelt(label) for label in model.classes_]
    sets = [_spelt_set(itertools.compress(names, row)) for row in predicted.tolist()]
    return np.array(sets, dtype=object)


def _spelt_set(labels: Iterable[str]) -> str:
    """Labels of a row in the order of their names, as a line of CSV; "" where there is none."""
    ordered = sorted(set(labels))
    return delimited_text([ordered]).removesuffix("\n")


def _spelt_answer(given: Any) -> str:
    """The labels of a row as they are written: from a list, or from a cell in that very form."""
    if isinstance(given, (list, tuple)):
        return _spelt_set(map(spelt, given))
    return _spelt_set(map(spelt, next(csv.reader([spelt(given)]), [])))


def _lines(
    predicted: np.ndarray, names: list[str], values: np.ndarray, is_first: bool
) -> Iterator[str]:
    """Yield the output in pieces: a prediction for each line, tabs before further columns."""
    if names and is_first:
        yield _in_unicode(delimited_text([["prediction", *names]], "\t"))
    for start in range(0, len(predicted), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        labels = map(spelt, predicted[part].tolist())
        if names:
            columns = zip(labels, values[part].tolist(), strict=True)
            rows = ([label, *map(repr, row)] for label, row in columns)
        else:
            rows = ([label] for label in labels)
        yield _in_unicode(delimited_text(rows, "\t"))


def _in_unicode(text: str) -> str:
    """Write lone surrogates, which JSON can hold and UTF-8 cannot, as JSON does."""
    return text.encode("utf-8", "backslashreplace").decode()


class _Score:
    """The share of right answers, or R2, as far as the blocks hold answers.

    Parameters
    ----------
    classes : ndarray or None
        Those of the model; None for a regression.
    label : str or None
        The name of the column of answers.
    sets : bool
        Whether an answer is all labels of its row.
    name : str
        The file of the answers in messages.
    """

    def __init__(self, classes: np.ndarray | None, label: str | None, sets: bool, name: str):
        self._sets, self._name = sets, name
        self._known = None if classes is None else list(map(spelt, classes))
        self._label = label
        self._rows = self._right = self._answered = 0
        self._missing, self._missing_line = 0, ""
        self._found: dict[str, None] = {}
        self._is_foreign = True
        self._squares = SquareSums()

    def add(self, predicted: np.ndarray, y: Any, table: Any) -> None:
        """Compare with the answers of a block; y is None if it has none."""
        self._rows += len(predicted)
        if y is None:
            return
        self._answered += len(predicted)
        nothing = (None,) if self._sets else (None, "")
        empty = [row for row, value in enumerate(y) if value in nothing]
        if empty and not self._missing and table is not None and table.lines is not None:
            self._missing_line = f", first in {table.unit} {table.lines[empty[0]]}"
        self._missing += len(empty)
        if self._known is None:
            y = self._targets(y, empty, table)
        if self._missing:
            return
        if self._known is None:
            self._squares.add(y, predicted, np.ones(len(y)))
            return
        answers = list(map(_spelt_answer if self._sets else spelt, y))
        self._right += sum(map(str.__eq__, map(spelt, predicted.tolist()), answers))
        if self._is_foreign and not self._sets:
            found = dict.fromkeys(answers)
            self._is_foreign = found.keys().isdisjoint(self._known)
            self._found |= dict(itertools.islice(found.items(), 3))

    def _targets(self, y: Any, empty: list[int], table: Any) -> np.ndarray:
        """The answers as numbers, but for empty ones; they are refused as in training."""
        if table is None:
            return checked_targets(y, self._name)
        if empty:
            table = table.take_rows(np.delete(np.arange(len(y)), empty))
        return target_numbers(table, self._label) if len(table) else np.empty(0)

    def tell(self) -> None:
        """Print the score, or why there is none, on standard error."""
        missing = self._missing + (self._rows - self._answered if self._answered else 0)
        if not self._answered:
            return
        if missing:
            text = (
                f"fastlin: no score, since {self._label!r} is empty in {missing:,} of "
                f"{self._rows:,} rows{self._missing_line}"
            )
        elif self._known is None:
            text = "fastlin: no R2, which needs two rows or more"
            if self._rows > 1:
                text = f"R2 {self._squares.value():.4f} ({self._rows:,} rows)"
        else:
            if self._is_foreign and not self._sets:
                self._warn_of_foreign_labels()
            text = (
                f"accuracy {self._right / self._rows:.4f} ({self._right:,} of {self._rows:,} rows)"
            )
        print(text, file=sys.stderr)

    def _warn_of_foreign_labels(self) -> None:
        """Say that no answer can be right, since the data have other labels than the training."""
        theirs, ours = (
            ", ".join(map(repr, itertools.islice(labels, 2))) + (", ..." if len(labels) > 2 else "")
            for labels in (self._found, self._known or ())
        )
        print(
            f"fastlin: warning: no label of {self._name} is one of the model's classes: it has "
            f"{theirs}; the model has {ours}",
            file=sys.stderr,
        )


def predict(args: Namespace) -> int:
    """Run `fastlin predict`."""
    for path in (args.data, args.model):
        if is_same_file(args.out, path):
            raise UsageError(f"OUT must not be the file of the data or of the model, {path}.")
    if args.out != "-":
        check_writable(args.out)
    with Progress() as progress:
        model = load(args.model)
        if not hasattr(model, "predict"):
            raise UsageError(
                f"{args.model} holds a {type(model).__name__}, which predicts nothing."
            )
        progress.say(f"reading {args.data}")
        first = first_step(model)
        label = args.label or getattr(first, "label", None)
        with with_pipe_opened(args):
            score = _Score(
                getattr(model, "classes_", None), label, _has_label_sets(model),
                display_name(args.data),
            )
            write_texts(args.out, _output(args, model, score, progress), progress)
    score.tell()
    return 0


def _output(args: Namespace, model: Any, score: _Score, progress: Progress) -> Iterator[str]:
    """Yield the output, block by block."""
    n_rows = 0
    for X, y, table in _blocks(args, model):
        predicted, names, values = _columns_of(args, model, X)
        score.add(predicted, y, table)
        yield from _lines(predicted, names, values, not n_rows)
        n_rows += len(predicted)
        progress.say(f"predicting: {n_rows:,} rows")
