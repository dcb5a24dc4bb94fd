"""What a long fit shows: a bar that is redrawn on a terminal, a line per epoch elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

__all__ = ["show_epoch", "show_optima", "show_progressive"]

_WIDTH = 24


def show_epoch(entry: dict[str, Any], max_iter: int, last: bool) -> None:
    """Write the state after an epoch to standard error."""
    text = f"loss {entry['loss']:.6f}, objective {entry['objective']:.6f}"
    if "validation_score" in entry:
        text += f", validation score {entry['validation_score']:.4f}"
    text += f", {entry['seconds']:.2f} s"
    epoch = entry["epoch"]
    if not sys.stderr.isatty():
        print(f"epoch {epoch}/{max_iter}: {text}", file=sys.stderr)
        return
    done = _WIDTH * epoch // max_iter
    bar = "#" * done + "-" * (_WIDTH - done)
    print(f"\r[{bar}] {epoch}/{max_iter} {text}", end="\n" if last else "", file=sys.stderr)
    sys.stderr.flush()


def show_progressive(entry: dict[str, Any]) -> None:
    """Write the mean loss of rows before they were learnt to standard error."""
    print(
        f"{entry['rows']:,} rows: progressive loss {entry['loss']:.6f}, {entry['recent_loss']:.6f} "
        "since the last line",
        file=sys.stderr,
    )


def show_optima(fits: Iterable[Any]) -> None:
    """Write how a solver ended, a line for each answer, to standard error."""
    for fit in fits:
        found = fit.certificate
        print(
            f"{fit.n_iter} iterations: objective {found.objective:.6f}, relative duality gap "
            f"{found.relative_gap:.1e}",
            file=sys.stderr,
        )
