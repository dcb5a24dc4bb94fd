"""Hashing text: MB/s of CPU time and peak memory, beside scikit-learn's HashingVectorizer.

Both run in turn in one process on made-up text with Zipf-distributed words. Before they are timed,
their matrices are compared: equal, or there is no benchmark. Memory is taken in a new process each,
since one that has run before keeps what it got.
"""

from __future__ import annotations

import multiprocessing
import platform
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

CASES = {
    "1-grams, ASCII": ({"ngram_range": (1, 1)}, False),
    "1-2-grams, ASCII": ({"ngram_range": (1, 2)}, False),
    "1-2-grams, float32": ({"ngram_range": (1, 2), "dtype": np.float32}, False),
    "1-2-grams, Cyrillic": ({"ngram_range": (1, 2)}, True),
}
_CYRILLIC = str.maketrans({chr(ord("a") + i): chr(0x430 + i) for i in range(26)})


def documents(megabytes: float, cyrillic: bool = False, seed: int = 0) -> list[str]:
    """Return sentences of about 150 words out of 60,000, with capitals and punctuation."""
    rng = np.random.default_rng(seed)
    n_words = 60_000
    share = 1 / np.arange(3, 29)
    alphabet = list("etaoinshrdlucmfwypvbgkjqxz")
    letters = "".join(rng.choice(alphabet, 10 * n_words, p=share / share.sum()))
    lengths = rng.integers(2, 11, n_words)
    words = np.array([letters[10 * i : 10 * i + k] for i, k in enumerate(lengths)], dtype=object)
    found, size = [], 0
    while size < megabytes * 1e6:
        # Log-uniform ranks: word r comes up in proportion to 1 / r.
        ranks = np.exp(rng.uniform(0, np.log(n_words), int(rng.lognormal(5, 0.6)) + 5))
        text = " ".join(words[ranks.astype(np.int64) - 1]).capitalize() + "."
        found.append(text.translate(_CYRILLIC) if cyrillic else text)
        size += len(text) + 1
    return found


def _vectorizer(ours: bool, params: dict[str, Any]) -> Any:
    """Return our vectorizer or scikit-learn's."""
    if ours:
        from fastlin.text import HashingVectorizer
    else:
        from sklearn.feature_extraction.text import HashingVectorizer
    return HashingVectorizer(**params)


def _seconds(task: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    task()
    return time.process_time() - start


def _peak(ours: bool, params: dict[str, Any], megabytes: float, cyrillic: bool) -> float:
    """Return by how many MB the resident size grows at most during one transform."""
    import psutil

    texts = documents(megabytes, cyrillic)
    vectorizer = _vectorizer(ours, params)
    vectorizer.transform(["warm up"])
    process = psutil.Process()
    before = peak = process.memory_info().rss
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    matrix = vectorizer.transform(texts)
    peak = max(peak, process.memory_info().rss)
    done.set()
    watcher.join()
    assert matrix.shape[0] == len(texts)
    return (peak - before) / 1e6


def rows(megabytes: float = 4, rounds: int = 7) -> list[dict[str, Any]]:
    """Measure every case.

    Parameters
    ----------
    megabytes : float, default=4
        Size of the text in millions of characters.
    rounds : int, default=7
        How often each is timed; the two take turns.

    Returns
    -------
    list of dict
        "case", MB/s of both (median), their ratio with its smallest and largest value over the
        rounds, and peak memory of both in MB.
    """
    found = []
    fresh = multiprocessing.get_context("spawn")
    for case, (params, cyrillic) in CASES.items():
        texts = documents(megabytes, cyrillic)
        size = sum(len(text.encode()) for text in texts) / 1e6
        ours, theirs = (_vectorizer(mine, params) for mine in (True, False))
        if (ours.transform(texts) != theirs.transform(texts)).nnz:
            raise AssertionError(f"{case}: the matrices differ")
        times = [
            (_seconds(lambda v=ours, t=texts: v.transform(t)),
             _seconds(lambda v=theirs, t=texts: v.transform(t)))
            for _ in range(rounds)
        ]
        ratios = [slow / fast for fast, slow in times]
        peaks = []
        for mine in (True, False):
            with fresh.Pool(1) as pool:
                peaks.append(pool.apply(_peak, (mine, params, megabytes, cyrillic)))
        found.append({
            "case": case,
            "MB/s": size / statistics.median(fast for fast, _ in times),
            "scikit-learn MB/s": size / statistics.median(slow for _, slow in times),
            "ratio": statistics.median(ratios),
            "least": min(ratios),
            "most": max(ratios),
            "peak MB": peaks[0],
            "scikit-learn peak MB": peaks[1],
        })
    return found


def run() -> None:
    """Print the table."""
    import scipy
    import sklearn

    print(f"Hashing text, one thread, CPU time; Python {platform.python_version()}, "
          f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, "
          f"{platform.machine()}")
    print(f"{'':22}{'fastlin':>10}{'sklearn':>10}{'ratio':>8}{'[least, most]':>16}"
          f"{'peak':>9}{'sklearn':>9}")
    for row in rows():
        spread = f"[{row['least']:.1f}, {row['most']:.1f}]"
        print(f"{row['case']:22}{row['MB/s']:7.1f} MB/s{row['scikit-learn MB/s']:5.1f} MB/s"
              f"{row['ratio']:6.1f}x{spread:>16}{row['peak MB']:6.0f} MB"
              f"{row['scikit-learn peak MB']:6.0f} MB")


if __name__ == "__main__":
    run()
