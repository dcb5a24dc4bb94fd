"""The command `predict`."""

from __future__ import annotations

import csv
import io
import itertools
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._base import r2
from ._cli_data import (
    display_name,
    format_of,
    is_empty,
    read_columns,
    read_lines,
    read_svmlight,
    with_pipe_opened,
)
from ._cli_encoder import ColumnEncoder, Columns
from ._cli_terminal import Progress, UsageError, is_same_file, spelt, writing_stdout
from ._files import check_writable, opened_for_writing
from .persist import load
from .pipeline import Pipeline
from .text import HashingVectorizer

__all__ = ["predict"]

_ROWS_AT_ONCE = 10_000


def _read(args: Namespace, model: Any) -> tuple[Any, np.ndarray | None]:
    """Return what the model takes, and the right answers if the data hold them."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    if isinstance(first, (ColumnEncoder, HashingVectorizer)):
        return _read_table(args, first)
    if args.format not in (None, "svmlight") or args.text is not None or args.label is not None:
        raise UsageError(
            f"{args.model} was trained on numbered features: DATA must be svmlight, without --text "
            "and --label."
        )
    if is_empty(args.data):
        raise UsageError(f"{display_name(args.data)} is empty.")
    if format_of(args) != "svmlight":
        raise UsageError(
            f"{args.model} was trained on numbered features, but {display_name(args.data)} does "
            "not look like svmlight (--format svmlight reads it as such)."
        )
    X, y = read_svmlight(args)
    expected = model.n_features_in_
    if X.shape[1] > expected:
        unknown = int((X.indices >= expected).sum())
        if unknown:
            print(
                f"fastlin: warning: {unknown:,} entries have an index above {expected - 1}, the "
                "largest in training; they are ignored",
                file=sys.stderr,
            )
    X.resize((X.shape[0], expected))
    return X, y


def _read_table(args: Namespace, first: Any) -> tuple[Any, np.ndarray | None]:
    """Read a table, or lines of text, for a model that begins with columns."""
    is_encoder = isinstance(first, ColumnEncoder)
    text = first.text if is_encoder else args.text
    if is_encoder and args.text is not None:
        raise UsageError(f"--text is not needed: {args.model} knows its columns.")
    if args.format == "text":
        return _read_texts(args, first, is_encoder), None
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
    table = read_columns(args, format)
    if text is not None and text not in table.columns:
        there = ", ".join(map(repr, table.columns))
        raise UsageError(
            f"{table.name} has no column {text!r}; its columns are {there}. If each line is one "
            "text, say --format text."
        )
    label = args.label or (first.label if is_encoder else None)
    if args.label is not None:
        table.column(args.label)
    y = _answers(table, label) if label in table.columns else None
    return (table if is_encoder else table.texts(text)), y


def _answers(table: Columns, label: str) -> Any:
    """Return the right answers; without some of them there is no score, and the user hears why."""
    y = table.columns[label]
    missing = [row for row, value in enumerate(y) if value is None or value == ""]
    if not missing:
        return y
    count = f"{len(missing):,} of {len(y):,} rows"
    place = "" if table.lines is None else f", first in line {table.lines[missing[0]]}"
    print(f"fastlin: no score, since {label!r} is empty in {count}{place}", file=sys.stderr)
    return None


def _read_texts(args: Namespace, first: Any, is_encoder: bool) -> Any:
    """Read a file in which each line is one text."""
    if is_encoder and (first.text is None or first.numeric_ or first.categorical_):
        raise UsageError(
            f"{args.model} was not trained on texts alone: --format text has only those."
        )
    if args.label is not None:
        raise UsageError("--label needs a table; --format text has texts only.")
    lines = read_lines(args)
    texts = lines.columns["text"]
    return Columns({first.text: texts}, lines.lines, lines.name) if is_encoder else texts


def _columns_of(args: Namespace, model: Any, X: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return predictions, the names of further columns, and those columns."""
    none = np.empty((0, 0))
    learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(learner, "thresholds_"):
        raise UsageError(
            f"{args.model} predicts several labels per row, which the shell can't write; use it "
            "from Python."
        )
    if not args.proba and not args.decision:
        return model.predict(X), [], none
    if not hasattr(model, "classes_"):
        option = "--proba" if args.proba else "--decision"
        raise UsageError(f"{option} is for models of classes; {args.model} predicts numbers.")
    classes = [spelt(label) for label in model.classes_]
    if args.proba:
        if not hasattr(model, "predict_proba"):
            raise UsageError(
                f"{args.model} has no probabilities; train it with --loss log_loss, or ask for "
                "--decision."
            )
        values = model.predict_proba(X)
        return model.classes_[values.argmax(axis=1)], classes, values
    values = model.decision_function(X)
    if values.ndim == 1:
        return model.classes_[(values > 0).astype(int)], ["decision"], values[:, None]
    return model.classes_[values.argmax(axis=1)], classes, values


def _lines(predicted: np.ndarray, names: list[str], values: np.ndarray) -> Iterator[str]:
    """Yield the output in pieces: a prediction for each line, tabs before further columns."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    if names:
        writer.writerow(["prediction", *names])
    for start in range(0, len(predicted), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        labels = map(spelt, predicted[part].tolist())
        if names:
            rows = zip(labels, values[part].tolist(), strict=True)
            writer.writerows([label, *map(repr, row)] for label, row in rows)
        else:
            writer.writerows([label] for label in labels)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _score(predicted: np.ndarray, y: Any, is_classifier: bool) -> str:
    """Write the share of right answers, or R2."""
    if is_classifier:
        right = sum(spelt(a) == spelt(b) for a, b in zip(predicted.tolist(), y, strict=True))
        return f"accuracy {right / len(predicted):.4f} ({right:,} of {len(predicted):,} rows)"
    if len(predicted) < 2:
        return "fastlin: no R2, which needs two rows or more"
    return f"R2 {r2(np.array(y, dtype=np.float64), predicted):.4f} ({len(predicted):,} rows)"


def _warn_of_foreign_labels(y: Any, classes: np.ndarray, name: str) -> None:
    """Say so if no answer can be right, since the data have other labels than the training."""
    known, found = list(map(spelt, classes)), dict.fromkeys(map(spelt, y))
    if not found or not found.keys().isdisjoint(known):
        return
    theirs, ours = (
        ", ".join(map(repr, itertools.islice(labels, 2))) + (", ..." if len(labels) > 2 else "")
        for labels in (found, known)
    )
    print(
        f"fastlin: warning: no label of {name} is one of the model's classes: it has {theirs}; "
        f"the model has {ours}",
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
        with with_pipe_opened(args):
            X, y = _read(args, model)
        progress.say("predicting")
        predicted, names, values = _columns_of(args, model, X)
        if args.out != "-":
            with opened_for_writing(args.out) as stream:
                for text in _lines(predicted, names, values):
                    stream.write(text.encode())
    if args.out == "-":
        with writing_stdout():
            for text in _lines(predicted, names, values):
                sys.stdout.write(text)
    if y is not None:
        if hasattr(model, "classes_"):
            _warn_of_foreign_labels(y, model.classes_, display_name(args.data))
        print(_score(predicted, y, hasattr(model, "classes_")), file=sys.stderr)
    return 0
