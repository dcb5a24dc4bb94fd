"""Reading svmlight text beside scikit-learn, and CSV beside the csv module and pandas: CPU time.

They run in turn in one process. Before they are timed their results are compared: equal, or there
is no benchmark.
"""

from __future__ import annotations

import csv
import io
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .measure import in_turns

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


def _read(path: Path, buffer: bytearray) -> None:
    """Read a file piece by piece into memory that has been written before: what is fresh costs more
    to get than to fill."""
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


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
    buffer = bytearray(b" ") * (1 << 20)
    with tempfile.TemporaryDirectory() as folder:
        for case, fmt in SVMLIGHT_CASES.items():
            path = Path(folder) / "data.svm"
            path.write_bytes(svmlight_text(n_rows, 47_000, 50, fmt))
            ours, theirs = load_svmlight_file(path), their_loader(path)
            require_equal(case, ours[0], theirs[0])
            times = _compared(
                lambda p=path: load_svmlight_file(p), lambda p=path: their_loader(p), rounds
            )
            reading = statistics.median(
                _seconds(lambda p=path: _read(p, buffer)) for _ in range(rounds)
            )
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


_NUMBERS, _CATEGORIES = 13, 26


def csv_text(n_rows: int, seed: int = 0) -> bytes:
    """Return a table of numbers I0, I1, ... and of categories C0, C1, ..., as logs of clicks."""
    rng = np.random.default_rng(seed)
    columns = {}
    for j in range(_NUMBERS):
        values = rng.normal(size=n_rows).round(4) if j % 3 else rng.geometric(0.02, n_rows)
        columns[f"I{j}"] = list(map(str, values.tolist()))
    for j, most in enumerate(np.geomspace(3, 30_000, _CATEGORIES)):
        codes = (most ** rng.random(n_rows)).astype(np.int64)
        words = (2654435761 * codes + 97 * j) % 2**32
        columns[f"C{j}"] = [f"{word:08x}" for word in words.tolist()]
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    return "\n".join(lines).encode() + b"\n"


def csv_speeds(n_rows: int = 50_000, rounds: int = 3) -> dict[str, float]:
    """Measure, in MB/s, how fast a table in memory is read: by us and by the csv module to lists of
    str, by us and by pandas to numbers and categories."""
    from fastlin._cells import CellNumbers
    from fastlin._tables import cell_blocks, read_table

    text = csv_text(n_rows)

    def strings() -> dict[str, list[str]]:
        names, *rows = csv.reader(io.StringIO(text.decode()))
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    if read_table(text, "csv").columns != strings():
        raise AssertionError("CSV: the cells differ")

    def coded() -> None:
        known = [CellNumbers() for _ in range(_CATEGORIES)]
        for table in cell_blocks(text, "csv", n_rows=8192):
            for j in range(_NUMBERS):
                table.columns[f"I{j}"].numbers()
            for j, numbers in enumerate(known):
                numbers.number(table.columns[f"C{j}"])

    tasks: dict[str, Callable[[], Any]] = {
        "strings": lambda: read_table(text, "csv"),
        "strings, csv module": strings,
        "numbers and codes": coded,
    }
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        kinds = {f"C{j}": "category" for j in range(_CATEGORIES)}
        tasks["numbers and codes, pandas"] = lambda: pd.read_csv(io.BytesIO(text), dtype=kinds)
    times = in_turns(tasks, rounds)
    return {name: len(text) / 1e6 / statistics.median(own) for name, own in times.items()}


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
    print("\nCSV of 13 columns of numbers and 26 of categories, MB/s")
    for name, speed in csv_speeds().items():
        print(f"{name:28}{speed:8.0f}")


if __name__ == "__main__":
    run()
