"""`train` on a file larger than memory: blocks of rows wait on disk between the epochs.

A table with categories or numbers waits on disk once before that, as numbers and codes: what column
a category goes to is known after the last row.
"""

from __future__ import annotations

import itertools
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._cli_data import (
    check_header,
    check_options,
    checked_targets,
    column_blocks,
    display_name,
    format_of,
    is_empty,
    make_encoder,
    target_numbers,
    whole_labels,
    with_pipe_opened,
)
from ._cli_encoder import ColumnEncoder
from ._cli_task import fit_to_target, learner_of
from ._cli_terminal import Progress, UsageError
from ._encoder_fit import EncoderFit, Seen
from ._files import COMPRESSED, is_unseekable
from ._memory import available_memory
from ._named_columns import Columns, class_labels
from ._sgd import TARGET_LOSSES
from ._spool import Spool
from ._stream_fit import BLOCK_BYTES, StreamOptions, fit_classes, fit_regression
from ._stream_source import svmlight_blocks
from ._tables import Closing

__all__ = ["Streamed", "encoded_blocks", "has_to_stream", "train_stream"]

# Bytes of memory that a byte of a file may become: numbers of svmlight, Python objects of tables
_GROWTH = {"svmlight": 1.5, "csv": 12.0, "tsv": 12.0, "jsonl": 12.0, "parquet": 40.0}
_COMPRESSION = 5.0
# The share of the memory at hand from which on a file is large
_LARGE = 0.5
_ROWS_AT_ONCE = 8192
# Characters of texts that are kept to look up the n-grams behind columns
_KEPT_CHARACTERS = 8_000_000
# Progressive losses of fewer rows say little.
_FEWEST_SHOWN = 1000


class Streamed(NamedTuple):
    """What came of it."""

    learner: Any
    encoder: ColumnEncoder | None
    texts: Columns | None
    n_rows: int
    is_regression: bool


def has_to_stream(args: Namespace) -> bool:
    """Whether the rows wait on disk: as the user says, else as the size of the file asks for."""
    if args.stream is not None or args.cv is not None or args.data == "-":
        if args.stream and args.cv is not None:
            raise UsageError("--cv needs all rows in memory: it does not go with --stream.")
        streams = bool(args.stream)
    elif is_unseekable(args.data) or not os.path.exists(args.data):
        streams = False
    else:
        packed = os.path.splitext(args.data)[1].lower() in COMPRESSED
        growth = _GROWTH[format_of(args)] * (_COMPRESSION if packed else 1.0)
        free = available_memory()
        streams = free is not None and os.path.getsize(args.data) * growth > _LARGE * free
    if streams and args.learner == "exact":
        why = "it does not go with --stream." if args.stream else (
            f"{args.data} looks too large for that; say --learner sgd, or --no-stream to try."
        )
        raise UsageError(f"--learner exact needs all rows in memory: {why}")
    if args.cache_dir is not None and not streams:
        raise UsageError("--cache-dir is for --stream.")
    return streams


def train_stream(args: Namespace, progress: Progress) -> Streamed:
    """Learn from the data block by block."""
    is_regression = args.loss in TARGET_LOSSES
    learner = learner_of(args, is_regression)
    with with_pipe_opened(args):
        format, name = format_of(args), display_name(args.data)
        if is_empty(args.data):
            raise UsageError(f"{name} is empty.")
        check_options(args, format, name)
        encoder = sample = None
        if format == "svmlight":
            check_header(args, format)
            blocks = _svmlight(args, is_regression, progress)
        else:
            sample = _TextSample(args.text) if args.text is not None else None

            def target(table: Columns, kinds: list[str | None]) -> np.ndarray:
                if sample is not None:
                    sample.add(table.texts(args.text))
                if is_regression:
                    return target_numbers(table, args.label)
                return class_labels(table, args.label, kinds)

            encoder, blocks = encoded_blocks(args, format, _ROWS_AT_ONCE, target, progress)
        options = StreamOptions({
            "source": blocks, "label": None, "encoder": None, "format": None, "header": True,
            "n_features": None, "zero_based": True, "dtype": np.float64,
            "block_bytes": BLOCK_BYTES, "cache_dir": args.cache_dir,
            "callback": _teller(learner.max_iter, progress),
        })  # fmt: skip
        options.name = name
        options.is_growing = format == "svmlight"
        counted = [0]
        options.watch = _counter(counted, name, progress, says=format != "svmlight")
        if is_regression:

            def adapt(problem: Any) -> Any:
                y = problem.stand_ins(0, 1)[0]
                return fit_to_target(learner, args, y)["intercept_init"]

            fit_regression(learner, options, None, None, adapt)
        else:
            fit_classes(learner, options, None, None, None)
    texts = sample.columns(name) if sample is not None else None
    return Streamed(learner, encoder, texts, counted[0], is_regression)


def _counter(counted: list[int], name: str, progress: Progress, says: bool
             ) -> Callable[[int], None]:
    """What counts the rows."""

    def watch(n_rows: int) -> None:
        """Note it."""
        counted[0] = n_rows
        if says:
            progress.say(f"reading {name}: {n_rows:,} rows")

    return watch


def _teller(epochs: int, progress: Progress) -> Callable[[dict[str, Any]], None]:
    """What shows epochs on a terminal and progressive losses anywhere."""

    def show(entry: dict[str, Any]) -> None:
        """Show one."""
        if "rows" not in entry:
            progress.say(f"epoch {entry['epoch']} of {epochs}, mean loss {entry['loss']:.4f}")
        elif entry["rows"] >= _FEWEST_SHOWN:
            progress.clear()
            print(
                f"fastlin: {entry['rows']:,} rows, progressive loss {entry['loss']:.4f}, "
                f"{entry['recent_loss']:.4f} since the last line",
                file=sys.stderr,
            )

    return show


def _svmlight(args: Namespace, is_regression: bool, progress: Progress) -> Iterator[tuple]:
    """Blocks of an svmlight file; column j has the index j, whether those begin at 0 or 1."""
    name, is_first = display_name(args.data), True

    def watch(share: float | None) -> None:
        """Say how far reading has come."""
        progress.say(f"reading {name}" + ("" if share is None else f": {share:.0%}"))

    for rows, y in svmlight_blocks(args.data, None, True, np.float64, watch):
        is_first = False
        yield rows, checked_targets(y, name) if is_regression else whole_labels(y, name)
    if is_first:
        raise UsageError(f"{name} has no examples.")


def encoded_blocks(
    args: Namespace,
    format: str,
    n_rows: int,
    target: Callable[[Columns, list[str | None]], np.ndarray],
    progress: Progress,
    scales: bool = True,
) -> tuple[ColumnEncoder, Iterator[tuple]]:
    """The encoder of a table, and its blocks of so many rows as (matrix, targets).

    The table is read once. Texts are hashed, which needs to know nothing of other rows; where there
    are categories or numbers, the encoder is fitted, and its blocks come, when all is read.
    `target` makes targets of a block, and is given a list to keep what `class_labels` does. Unless
    it `scales`, numbers stay as they are.
    """
    chosen = [option for option in ("categorical", "numeric") if getattr(args, option) == "all"]
    in_memory = " or say --no-stream" if hasattr(args, "stream") else ""
    names, closing = _named_columns(args), None
    if chosen:
        closing = Closing(names, f"name the columns in --{chosen[0]}{in_memory}")
    tables = column_blocks(args, format, n_rows, required=names, closing=closing)
    first = next(tables)
    encoder = make_encoder(args, first)
    fit, kinds = encoder.fit_begun(first, scales), list[str | None]()
    tables = itertools.chain([first], tables)
    if args.categorical is not None or args.numeric is not None:
        return encoder, _spooled(args, fit, tables, target, progress)
    fit.add(first)
    fit.finish()
    return encoder, ((encoder.transform(table), target(table, kinds)) for table in tables)


def _spooled(
    args: Namespace, fit: EncoderFit, tables: Iterable[Columns], target: Callable,
    progress: Progress,
) -> Iterator[tuple]:
    """Blocks of a table by way of a temporary file."""
    encoder = fit.encoder
    kinds: list[str | None] = []
    n_rows = 0
    remedy = "--cache-dir or TMPDIR" if hasattr(args, "cache_dir") else "TMPDIR"
    with Spool(getattr(args, "cache_dir", None), remedy) as spool:
        for table in tables:
            seen = fit.see(table)
            texts = () if seen.texts is None else (
                seen.texts.data, seen.texts.indices, seen.texts.indptr
            )
            spool.append([seen.numbers, seen.codes, target(table, kinds), *texts])
            n_rows += len(table)
            progress.say(f"looking for categories and scales: {n_rows:,} rows")
        fit.finish()
        for numbers, codes, y, *texts in spool:
            matrix = _text_matrix(texts, encoder.text_encoder_) if texts else None
            yield fit.encoded(Seen(numbers, codes, matrix)), y


def _text_matrix(parts: list[np.ndarray], encoder: Any) -> Any:
    """Hashed n-grams of some rows."""
    from scipy.sparse import csr_matrix

    return csr_matrix(tuple(parts), shape=(len(parts[2]) - 1, encoder.n_features))


def _named_columns(args: Namespace) -> tuple[str, ...]:
    """The columns that the user names."""
    names = [args.label, args.text]
    for given in (args.categorical, args.numeric):
        names += given if isinstance(given, list) else []
    return tuple(name for name in names if name is not None)


class _TextSample:
    """Some of the texts of a stream, evenly spread, to look up n-grams in."""

    def __init__(self, name: str):
        self._name, self._texts, self._step, self._seen = name, [], 1, 0
        self._size = 0

    def add(self, texts: Any) -> None:
        """Keep every so-manyth; fewer once they are many."""
        chosen = texts[-self._seen % self._step :: self._step]
        self._texts += chosen
        self._seen += len(texts)
        self._size += sum(map(len, chosen))
        while len(self._texts) > 1 and self._size > _KEPT_CHARACTERS:
            self._texts, self._step = self._texts[::2], 2 * self._step
            self._size = sum(map(len, self._texts))

    def columns(self, name: str) -> Columns:
        """What was kept."""
        return Columns({self._name: self._texts}, None, name)
