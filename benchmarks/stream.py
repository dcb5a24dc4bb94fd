"""An epoch over cached blocks beside an epoch in memory, and reading svmlight text."""

from __future__ import annotations

import statistics
import warnings
from typing import Any

import numpy as np

from fastlin import SGDClassifier, as_rows

from .files import svmlight_rows
from .generators import load
from .measure import has_peer, in_turns, ns, print_table, ratio

__all__ = ["run"]

_EPOCHS = 6
_N_BLOCKS = 8


def _fits(X: Any, y: np.ndarray) -> dict[str, Any]:
    """One and several epochs, in memory and over a cache of some blocks."""
    rows = as_rows(X)
    size = 4096
    parts = [(rows[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]

    def in_memory(epochs: int) -> None:
        SGDClassifier("log_loss", max_iter=epochs, tol=None, random_state=0).fit(rows, y)

    def streamed(epochs: int) -> None:
        SGDClassifier("log_loss", max_iter=epochs, tol=None, random_state=0).fit_stream(
            parts, block_bytes=rows.nbytes // _N_BLOCKS
        )

    return {
        "memory 1": lambda: in_memory(1),
        "stream 1": lambda: streamed(1),
        "memory n": lambda: in_memory(1 + _EPOCHS),
        "stream n": lambda: streamed(1 + _EPOCHS),
    }


def _per_epoch(times: dict[str, list[float]], kind: str) -> list[float]:
    """Seconds of one more epoch, by round."""
    pairs = zip(times[f"{kind} n"], times[f"{kind} 1"], strict=True)
    return [(several - one) / _EPOCHS for several, one in pairs]


def run(scale: float, rounds: int) -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    table = []
    for name in ("rcv1", "one-hot"):
        data = load(name, scale)
        for dtype in (np.float32, np.float64):
            times = in_turns(_fits(data.X.astype(dtype), data.y), rounds)
            memory, stream = _per_epoch(times, "memory"), _per_epoch(times, "stream")
            table.append([
                f"{data.title}, {np.dtype(dtype).name}", ns(memory, data.nnz),
                ns(stream, data.nnz), ratio(memory, stream),
                f"{statistics.median(times['stream 1']):.2f}",
            ])  # fmt: skip
    print_table(
        ("an epoch", "in memory, ns/entry", "streamed, ns/entry", "speed of the streamed one",
         "first pass and epoch, s"), table,
    )  # fmt: skip
    if not has_peer("scikit-learn"):
        return
    rows = svmlight_rows(max(1000, int(30_000 * scale)), rounds)
    print_table(
        ("svmlight to CSR", "MB/s", "scikit-learn, MB/s", "ratio", "reading the bytes, MB/s",
         "times slower than reading"),
        [
            [row["case"], f"{row['MB/s']:.0f}", f"{row['scikit-learn MB/s']:.1f}",
             f"{row['ratio']:.1f}", f"{row['read MB/s']:.0f}",
             f"{row['read MB/s'] / row['MB/s']:.1f}"]
            for row in rows
        ],
    )  # fmt: skip
