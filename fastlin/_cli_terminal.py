"""What the shell shows: progress on a terminal, warnings and errors as single lines."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ._epochs import SHORTER_STEPS
from ._files import opened_for_writing

__all__ = [
    "Progress",
    "UsageError",
    "counted_warnings",
    "drop_stdout",
    "is_same_file",
    "one_line",
    "printable",
    "show_warning",
    "spelt",
    "table_lines",
    "write_texts",
    "writing_stdout",
]


# What parameters are called here; those of the other options have their own names.
_OPTIONS = {
    "n_splits": "--cv",
    "ngram_range": "--ngrams",
    "max_iter": "--epochs",
    "random_state": "--seed",
    **{
        name: "--" + name.replace("_", "-")
        for name in ("C", "alpha", "cache_dir", "epsilon", "eta0", "format", "l1_ratio",
                     "learning_rate", "loss", "multi_class", "n_features", "n_jobs", "penalty",
                     "quantile", "tol")
    },
}  # fmt: skip


# What differs between warnings of one kind: numbers, and lists of values.
_PARTICULARS = re.compile(r"\[.*?\]|\d[\d.e+-]*|\b(nan|inf)\b")
# What `SHORTER_STEPS` says, in options.
_REMEDY = (
    "take shorter steps: a lower --eta0 with --learning-rate invscaling, or a higher --alpha where "
    "the learning rate is 'optimal', as it is for classes by default."
)
# What makes features of a table, and leaves them none that is far from 1
_SCALING = ("text", "categorical", "numeric")
_UNSCALED = "scale the features, as --numeric does for columns of a table, or "


class UsageError(Exception):
    """What the user asked for cannot be done; the message says why and what to do."""


class Progress:
    """One line on standard error that says what is going on; only on a terminal."""

    def __init__(self):
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._is_open = False

    def say(self, text: str) -> None:
        """Replace the line."""
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            # Erase to the end of the line, since the last text may have been longer.
            print(f"\r{text[:width]}\x1b[K", end="", file=sys.stderr, flush=True)
            self._is_open = True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._is_open = False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()


def is_same_file(path: str, other: str) -> bool:
    """Say whether two paths, of which "-" is no file, lead to one file that is there."""
    paths = (path, other)
    return "-" not in paths and all(map(os.path.exists, paths)) and os.path.samefile(path, other)


def one_line(error: BaseException, args: Any = None) -> str:
    """Return what an exception says, as one line; to somebody who gave these arguments."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{os.fspath(error.filename)}: {error.strerror}"
    else:
        unsaid = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
        text = str(error) or unsaid
    is_scaled = any(getattr(args, name, None) is not None for name in _SCALING)
    remedy = ("" if is_scaled else _UNSCALED) + _REMEDY
    text = _in_terms_of_options(" ".join(text.split()), remedy[0].upper() + remedy[1:])
    return printable(text)


def _in_terms_of_options(text: str, remedy: str) -> str:
    """Name options where a message of the library names its parameters.

    Those begin with the parameter that has to change, say "raise" or "lower" before it, or show it
    as "name=value". Names in quotes are the user's.
    """
    text = re.sub(r"^(\w+) (?=must )", lambda m: f"{_OPTIONS.get(m[1], m[1])} ", text)
    text = text.replace("say header=False", "say --no-header").replace(SHORTER_STEPS, remedy)
    text = re.sub(
        r"\b(?:raise|lower) \w+(?:(?:,| or) (?!or|raise|lower)\w+)*",
        lambda m: re.sub(r"\w+", lambda word: _OPTIONS.get(word[0], word[0]), m[0]),
        text,
    )
    return re.sub(
        r"(?<!['\"\w])(\w+)=(?=\S)",
        lambda m: f"{_OPTIONS[m[1]]} " if m[1] in _OPTIONS else m[0],
        text,
    )


def show_warning(args: Any, message: Any, category: type, *place: Any) -> None:
    """Show a warning as one line, in place of `warnings.showwarning`."""
    # In one piece: threads warn at the same time.
    sys.stderr.write(f"fastlin: warning: {one_line(message, args)}\n")


@contextlib.contextmanager
def counted_warnings(args: Any, total: int, what: str) -> Iterator[None]:
    """Show warnings that differ in their numbers only once, and how many of `total` gave them."""
    found: dict[Any, list[str]] = {}

    def collect(message: Any, category: Any, *place: Any, **more: Any) -> None:
        """Keep a warning."""
        text = one_line(message, args)
        kind = (category, _PARTICULARS.sub("#", text))
        found.setdefault(kind, []).append(text)

    former = warnings.showwarning
    warnings.showwarning = collect
    try:
        yield
    finally:
        warnings.showwarning = former
        for texts in found.values():
            count = f"in {len(texts)} of {total} {what}"
            if len(texts) > total:
                count = f"{len(texts)} times in {total} {what}"
            sys.stderr.write(f"fastlin: warning: {texts[0]} ({count})\n")


@contextlib.contextmanager
def writing_stdout() -> Iterator[None]:
    """Name standard output in errors of writing to it, and flush it at the end."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        drop_stdout()
        raise type(error)(error.errno, error.strerror, "standard output") from None


def write_texts(out: str, texts: Iterable[str], progress: Progress) -> None:
    """Write texts to a file, or to standard output where it is "-"; in UTF-8 but on a terminal."""
    if out != "-":
        with opened_for_writing(out) as stream:
            for text in texts:
                stream.write(text.encode())
        return
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors="strict", newline="\n")
    with writing_stdout():
        for text in texts:
            progress.clear()
            sys.stdout.write(text)


def drop_stdout() -> None:
    """Keep Python from complaining about an output that is lost once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def spelt(value: Any) -> str:
    """Write a label or a number for people and for other programs: 1.0 as 1, all digits else."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def printable(text: str) -> str:
    """Write what a terminal would obey, or cannot show, with backslashes: newlines, codes, ..."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def table_lines(rows: Sequence[tuple[str, ...]], gap: str = "  ") -> list[str]:
    """Return rows of text in columns of even width; all but the last are padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
