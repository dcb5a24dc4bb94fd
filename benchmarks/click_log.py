"""A generated log of clicks, larger than the memory that learning from it may take.

Each line is a row of svmlight: whether it was a click, and one of 2 to 300,000 values for each of
39 columns. `fastlin train` runs on it as a command of its own, whose peak of resident memory is
what the system accounts for it.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

__all__ = ["parse_size", "run", "write_log"]

_COLUMNS = 39
_MOST_VALUES = 300_000
_CHUNK = 20_000
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def parse_size(text: str) -> int:
    """A number of bytes such as 300M or 4G."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.upper())
    if match is None:
        raise ValueError(f"size must be a number of bytes such as 300M or 4G, got {text!r}.")
    return int(float(match[1]) * _UNITS[match[2]])


def write_log(path: Path, size: int, seed: int = 0) -> int:
    """Write a log of about `size` bytes; returns the number of its rows."""
    rng = np.random.default_rng(seed)
    values = np.geomspace(2, _MOST_VALUES, _COLUMNS).astype(np.int64)
    first = 1 + np.concatenate([[0], np.cumsum(values)[:-1]])
    d = int(values.sum()) + 1
    weight = rng.normal(0, 0.7, d)
    # each value as it is written: all of one length, so that rows are bytes side by side
    tokens = np.array([f" {j:07d}:1" for j in range(d)], "S10").view(np.uint8).reshape(d, 10)
    heads = np.array([b"-1", b"+1"], "S2").view(np.uint8).reshape(2, 2)
    line = 2 + 10 * _COLUMNS + 1
    n_rows = max(1, size // line)
    with open(path, "wb") as file:
        for start in range(0, n_rows, _CHUNK):
            n = min(_CHUNK, n_rows - start)
            ranks = (values ** rng.random((n, _COLUMNS))).astype(np.int64) - 1
            columns = first + ranks
            score = weight[columns].sum(axis=1) - 2
            clicks = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int64)
            text = np.empty((n, line), np.uint8)
            text[:, :2] = heads[clicks]
            text[:, 2:-1] = tokens[columns].reshape(n, -1)
            text[:, -1] = ord("\n")
            file.write(text.data)
    return n_rows


def run(size: str = "300M", folder: str | None = None, epochs: int = 3) -> float:
    """Write a log, learn from it, and print and return the peak of resident memory in MB."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path, model = Path(name) / "clicks.svm", Path(name) / "model.fastlin"
        n_rows = write_log(path, parse_size(size))
        written = path.stat().st_size
        print(f"{written / 1e9:.2f} GB of svmlight, {n_rows:,} rows", flush=True)
        command = [
            sys.executable, "-m", "fastlin", "train", str(path), str(model), "--stream",
            "--epochs", str(epochs), "--cache-dir", name,
            # steps that suit rows of many ones
            "--learning-rate", "invscaling", "--eta0", "0.05",
        ]  # fmt: skip
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1e6 if sys.platform == "darwin" else 1e3
    peak = after.ru_maxrss / unit
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"fastlin train --epochs {epochs}: {seconds:.0f} s, of which {cpu:.0f} s of one processor; "
        f"peak of resident memory {peak:.0f} MB, {written / 1e6 / peak:.1f} times less than the "
        "file",
        flush=True,
    )
    return peak
