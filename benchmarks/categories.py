"""One-hot and hashed coding of a 26-column table, beside scikit-learn: CPU time and peak memory.

Ours and scikit-learn's run in turn in one process. Before they are timed their results are
compared: equal, or there is no benchmark. Peak memory is the growth of the resident size, taken in
a new process each, since one that has run before keeps what it got. The peer of the hashed columns
is FeatureHasher, which takes rows as dicts.
"""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .files import require_equal
from .measure import in_turns, ns, print_table, ratio

CASES = ("integers", "strings", "pandas", "pandas categories", "pandas integers", "polars",
         "polars categories")
# Where memory is looked at too: each is made in three new processes.
WITH_PEAKS = ("pandas", "pandas integers", "polars")
N_COLUMNS = 26
# Rows on which results are compared
_MOST_COMPARED = 100_000


def table(case: str, n_rows: int, seed: int = 0) -> Any:
    """Return 26 columns of 10 to 10,000 categories with Zipf frequencies, in the case's form."""
    rng = np.random.default_rng(seed)
    columns = {}
    for j in range(N_COLUMNS):
        codes = rng.zipf(1.3, n_rows) % 10 ** (1 + j % 4)
        words = np.array([f"{j:02x}{code:06x}" for code in range(10 ** (1 + j % 4))], dtype=object)
        columns[f"C{j}"] = codes if case.endswith("integers") else words[codes]
    if case in ("integers", "strings"):
        return np.stack(list(columns.values()), axis=1)
    library = importlib.import_module(case.partition(" ")[0])
    frame = library.DataFrame({name: column.tolist() for name, column in columns.items()})
    if not case.endswith("categories"):
        return frame
    return frame.astype("category") if case[:2] == "pa" else frame.cast(library.Categorical)


def encoder(which: str) -> Any:
    """Return our encoder or scikit-learn's."""
    import sklearn.preprocessing

    import fastlin

    if which == "hashed":
        return fastlin.HashingEncoder(binary=True, output="rows")
    if which == "rows":
        return fastlin.OneHotEncoder(output="rows")
    return (fastlin if which == "csr" else sklearn.preprocessing).OneHotEncoder()


def _resident(field: str) -> float:
    """Return VmRSS or VmHWM of this process in MB; NaN where there is no such file."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(field))


def peak(which: str, case: str, n_rows: int) -> float:
    """Return by how many MB the resident size grows at most during one fit_transform."""
    X = table(case, n_rows)
    encoder(which).fit_transform(X[:100])
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    before = _resident("VmRSS")
    encoder(which).fit_transform(X)
    return _resident("VmHWM") - before


def _in_fresh_process(task: Callable[..., float], *arguments: Any) -> float:
    """Call a function of this module in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, arguments)


def one_hot(n_rows: int, rounds: int) -> None:
    """Print time and memory of `fit_transform` for every container."""
    kinds = ("csr", "rows", "scikit-learn")
    print(f"One-hot, {n_rows:,} rows of {N_COLUMNS} columns, ns per cell; ratio: scikit-learn to "
          "csr; peak memory in MB, and as a share of scikit-learn's.\n")
    print_table(["table", *kinds, "ratio", *[f"{which} MB" for which in kinds], "csr share",
                 "rows share"], _one_hot_lines(n_rows, rounds, kinds))


def _one_hot_lines(n_rows: int, rounds: int, kinds: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the lines of the table one by one, each of which takes a minute for 1,000,000 rows,
    nearly all of it in scikit-learn."""
    for case in CASES:
        try:
            few, X = table(case, min(n_rows, _MOST_COMPARED)), table(case, n_rows)
        except ImportError:
            continue
        require_equal(case, *[encoder(which).fit_transform(few) for which in ("csr", kinds[2])])
        times = in_turns(
            {w: lambda w=w, x=X: encoder(w).fit_transform(x) for w in kinds}, rounds, warm_up=False
        )
        del X
        memory = ["-"] * 5
        if case in WITH_PEAKS:
            peaks = [_in_fresh_process(peak, which, case, n_rows) for which in kinds]
            shares = [f"{mb / peaks[2]:.2f}" for mb in peaks[:2]]
            memory = [*[f"{mb:.0f}" for mb in peaks], *shares]
        yield [
            case, *[ns(times[which], n_rows * N_COLUMNS) for which in kinds],
            str(ratio(times["scikit-learn"], times["csr"])), *memory,
        ]  # fmt: skip


def hashed(n_rows: int, rounds: int) -> None:
    """Print the time of hashed columns, with and without crosses."""
    from sklearn.feature_extraction import FeatureHasher

    import fastlin

    X = table("strings", n_rows)
    dicts = [{f"x{j}": cell for j, cell in enumerate(row)} for row in X.tolist()]
    ours = fastlin.HashingEncoder()
    if (ours.transform(X) != FeatureHasher().transform(dicts)).nnz:
        raise AssertionError("hashed: the matrices differ")
    crosses = [(0, j) for j in range(1, N_COLUMNS)]
    crossed = fastlin.HashingEncoder(2**22, interactions=crosses, main_effects=False, binary=True,
                                     output="rows")
    times = in_turns(
        {
            "HashingEncoder": lambda: ours.transform(X),
            "FeatureHasher on dicts": lambda: FeatureHasher().transform(dicts),
            "25 crosses to Rows": lambda: crossed.transform(X),
        },
        rounds,
    )
    base = times["HashingEncoder"]
    print("Hashed strings; ratio: to HashingEncoder.\n")
    print_table(
        ["encoder", "ns per entry", "ratio"],
        [[name, ns(t, n_rows * (25 if name[:2] == "25" else N_COLUMNS)), ratio(t, base)]
         for name, t in times.items()],
    )


def run(scale: float, rounds: int) -> None:
    """Print the tables, of 200,000 rows at scale 1."""
    n_rows = max(1000, int(200_000 * scale))
    one_hot(n_rows, min(rounds, 3))
    hashed(n_rows // 4, min(rounds, 3))
