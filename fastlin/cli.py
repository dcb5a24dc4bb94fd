"""The shell: ``fastlin train``, ``cv``, ``predict``, ``inspect``, ``convert`` and
``demo``.

Each command stands in a file of its own, ``_cli_<command>.py``, which is imported when it is asked
for. Here is what they share: how errors, warnings, Ctrl-C and other signals to end are answered.

>>> from fastlin.cli import main
>>> main(["train", "no-such-file.csv", "model", "--label", "y", "--numeric", "x"])
2
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

__all__ = ["main"]

_COMMANDS = {
    "train": ("_cli_train", "train"),
    "cv": ("_cli_cv", "cross_validate"),
    "predict": ("_cli_predict", "predict"),
    "inspect": ("_cli_inspect", "inspect"),
    "convert": ("_cli_convert", "convert"),
    "demo": ("_cli_demo", "demo"),
}
_BAD_INPUT = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141
# Added to the number of the signal that ends a process
_SIGNALLED = 128


class _Terminated(KeyboardInterrupt):
    """A signal to end; everything that Ctrl-C ends and tidies up takes it for that."""

    def __init__(self, number: int):
        super().__init__()
        self.status = _SIGNALLED + number


def main(argv: Sequence[str] | None = None) -> int:
    """Run the shell.

    Parameters
    ----------
    argv : sequence of str, default=None
        The arguments after the program's name; by default those of the process.

    Returns
    -------
    int
        The exit status: 0, 2 after bad input (with one line on standard error), 130 after
        Ctrl-C, 143 after SIGTERM (129 SIGHUP), 141 if the reader of the output has gone.
    """
    try:
        return _run(argv)
    except KeyboardInterrupt as stop:
        print("fastlin: interrupted", file=sys.stderr)
        return stop.status if isinstance(stop, _Terminated) else _INTERRUPTED
    except ImportError as error:  # of what every command needs
        print(f"fastlin: error: {error}", file=sys.stderr)
        return _BAD_INPUT


def _run(argv: Sequence[str] | None) -> int:
    """Run the shell; Ctrl-C is left to the caller, also while all this is being imported."""
    from ._cli_arguments import make_parser
    from ._cli_terminal import UsageError, drop_stdout, one_line, show_warning, writing_stdout

    _speak_unicode()
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as stop:
        try:
            with writing_stdout():  # the help, or the version
                return stop.code if isinstance(stop.code, int) else 0
        except OSError as error:
            print(f"fastlin: error: {one_line(error)}", file=sys.stderr)
            return _BAD_INPUT
    module, function = _COMMANDS[args.command]
    try:
        with _ending_in_order(), warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = functools.partial(show_warning, args)
            command = getattr(importlib.import_module(f"{__package__}.{module}"), function)
            status = command(args)
            with writing_stdout():
                return status
    except BrokenPipeError:
        drop_stdout()
        return _BROKEN_PIPE
    except (UsageError, ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        print(f"fastlin {args.command}: error: {one_line(error, args)}", file=sys.stderr)
        return _BAD_INPUT


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let signals to end leave no half-written file behind, unless the caller has his own way."""

    def stop(number: int, frame: Any) -> NoReturn:
        raise _Terminated(number)

    numbers = []
    if threading.current_thread() is threading.main_thread():
        names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        numbers = [getattr(signal, name) for name in names]
        numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _speak_unicode() -> None:
    """Let output hold any text, on a terminal of whatever encoding.

    Where standard error is closed, what is said there is lost; results that are lost are an error,
    as writing to what is open for reading alone is one.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
