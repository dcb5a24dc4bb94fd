"""Reading svmlight text, beside scikit-learn: CPU time.

Ours and scikit-learn's run in turn in one process. Before they are timed their results are
compared: equal, or there is no benchmark.
"""

from __future__ import annotations

import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# How values are written: as LIBSVM's tools and most scripts do, with all digits, and not at all.
SVMLIGHT_CASES = {"6 decimals": "%.6f", "17 digits": "%.17g", "binary": None}


def svmlight_text(n_rows: int, n_columns: int, nnz: int, fmt: str | None, seed: int = 0) -> bytes:
    """Return about n_rows * nnz entries with indices from 1 that increase in each row."""
    rng = np.random.default_rng(seed)
    lines = []
    for label in rng.integers(0, 2, n_rows).tolist():
        columns = np.unique(rng.integers(1, n_columns + 1, nnz)).tolist()
        values = rng.random(len(columns)).tolist()
        written = ["1"] * len(columns) if fmt is None else [fmt % value for value in values]
        pairs = map("%d:%s".__mod__, zip(columns, written, strict=True))
        lines.append(f"{2 * label - 1:+d} {' '.join(pairs)}\n")
    return "".join(lines).encode()


def _seconds(task: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    task()
    return time.process_time() - start


def _compared(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Time two calls in turn; medians, and the ratio with its spread."""
    times = [(_seconds(ours), _seconds(theirs)) for _ in range(rounds)]
    ratios = [slow / fast for fast, slow in times]
    return {
        "seconds": statistics.median(fast for fast, _ in times),
        "scikit-learn seconds": statistics.median(slow for _, slow in times),
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
    }


def require_equal(case: str, ours: Any, theirs: Any) -> None:
    """Stop when two CSR matrices differ in a single bit."""
    same = ours.shape == theirs.shape and all(
        np.array_equal(getattr(ours, part), getattr(theirs, part))
        for part in ("data", "indices", "indptr")
    )
    if not same:
        raise AssertionError(f"{case}: the matrices differ")


def svmlight_rows(n_rows: int = 30_000, rounds: int = 5) -> list[dict[str, Any]]:
    """Measure reading a file (in the page cache) of `n_rows` rows of 50 entries.

    Returns
    -------
    list of dict
        "case", "MB/s" of both, "read MB/s" of the bytes alone, and the ratio with its spread.
    """
    from sklearn.datasets import load_svmlight_file as their_loader

    from fastlin.io import load_svmlight_file

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for case, fmt in SVMLIGHT_CASES.items():
            path = Path(folder) / "data.svm"
            path.write_bytes(svmlight_text(n_rows, 47_000, 50, fmt))
            ours, theirs = load_svmlight_file(path), their_loader(path)
            require_equal(case, ours[0], theirs[0])
            times = _compared(
                lambda p=path: load_svmlight_file(p), lambda p=path: their_loader(p), rounds
            )
            reading = statistics.median(_seconds(path.read_bytes) for _ in range(rounds))
            size = path.stat().st_size / 1e6
            found.append(
                {
                    "case": case,
                    "MB/s": size / times["seconds"],
                    "scikit-learn MB/s": size / times["scikit-learn seconds"],
                    "read MB/s": size / reading,
                    **times,
                }
            )
    return found


def _line(row: dict[str, Any], *figures: str) -> str:
    """Return a line of a table: case, figures, ratio and spread."""
    spread = f"[{row['least']:.1f}, {row['most']:.1f}]"
    numbers = "".join(f"{row[figure]:12.0f}" for figure in figures)
    return f"{row['case']:20}{numbers}{row['ratio']:8.1f}x{spread:>16}"


def run() -> None:
    """Print the tables."""
    import sklearn

    print(
        f"svmlight, one thread, CPU time; Python {platform.python_version()}, "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, {platform.machine()}"
    )
    print(f"{'svmlight, MB/s':20}{'fastlin':>12}{'sklearn':>12}{'read only':>12}{'ratio':>9}")
    for row in svmlight_rows():
        print(_line(row, "MB/s", "scikit-learn MB/s", "read MB/s"))


if __name__ == "__main__":
    run()
