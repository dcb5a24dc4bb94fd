"""Text to rows: MB/s of CPU time and peak memory, beside scikit-learn's classes of the same names.

Both run in turn in one process on made-up text with Zipf-distributed words. Before they are timed,
their matrices are compared: equal, or there is no benchmark (the fast hash has columns of its own;
its tests compare them with its definition). Memory is taken in a new process each, since one that
has run before keeps what it got.
"""

from __future__ import annotations

import multiprocessing
import platform
import statistics
import threading
import time
from typing import Any

import numpy as np

from .measure import Ratio, Speedup, cpu_seconds, on_two_threads, ratio

_BIGRAMS = {"ngram_range": (1, 2)}
# What only ours has.
_FAST = {"hash": "fast"}
# Name -> class, its parameters, whether the text is Cyrillic.
CASES = {
    "hash, 1-grams": ("HashingVectorizer", {}, False),
    "hash, 1-2-grams": ("HashingVectorizer", _BIGRAMS, False),
    "hash, 1-2, float32": ("HashingVectorizer", {**_BIGRAMS, "dtype": np.float32}, False),
    "fast hash, 1-grams": ("HashingVectorizer", _FAST, False),
    "fast hash, 1-2-grams": ("HashingVectorizer", {**_BIGRAMS, **_FAST}, False),
    "fast hash, 1-2, float32": (
        "HashingVectorizer", {**_BIGRAMS, **_FAST, "dtype": np.float32}, False,
    ),
    "hash, 1-2, Cyrillic": ("HashingVectorizer", _BIGRAMS, True),
    "hash, char_wb 2-4": (
        "HashingVectorizer", {"analyzer": "char_wb", "ngram_range": (2, 4)}, False,
    ),
    "count, 1-grams": ("CountVectorizer", {}, False),
    "count, 1-2-grams": ("CountVectorizer", _BIGRAMS, False),
    "tf-idf, 1-2-grams": ("TfidfVectorizer", {**_BIGRAMS, "min_df": 2}, False),
}
# What threads share: class and method
_THREADED = (("HashingVectorizer", "transform"), ("CountVectorizer", "transform"),
             ("CountVectorizer", "fit_transform"))
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


def _vectorizer(ours: bool, name: str, params: dict[str, Any]) -> Any:
    """Return our vectorizer or scikit-learn's."""
    if ours:
        import fastlin as home
    else:
        from sklearn.feature_extraction import text as home
        params = {key: value for key, value in params.items() if key not in _FAST}
    return getattr(home, name)(**params)


def _peak(
    ours: bool, name: str, params: dict[str, Any], megabytes: float, cyrillic: bool
) -> float:
    """Return by how many MB the resident size grows at most during one fit_transform."""
    import psutil

    texts = documents(megabytes, cyrillic)
    vectorizer = _vectorizer(ours, name, params)
    vectorizer.fit_transform(["warm up"] * 2)
    process = psutil.Process()
    before = peak = process.memory_info().rss
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    matrix = vectorizer.fit_transform(texts)
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
    for case, (name, params, cyrillic) in CASES.items():
        texts = documents(megabytes, cyrillic)
        size = sum(len(text.encode()) for text in texts) / 1e6
        ours, theirs = (_vectorizer(mine, name, params) for mine in (True, False))
        difference = abs(ours.fit_transform(texts) - theirs.fit_transform(texts))
        if "hash" not in params and difference.nnz and difference.max() > 1e-12:
            raise AssertionError(f"{case}: the matrices differ")
        times = [
            (cpu_seconds(lambda v=ours, t=texts: v.fit_transform(t)),
             cpu_seconds(lambda v=theirs, t=texts: v.fit_transform(t)))
            for _ in range(rounds)
        ]
        ratios = [slow / fast for fast, slow in times]
        peaks = []
        for mine in (True, False):
            with fresh.Pool(1) as pool:
                peaks.append(pool.apply(_peak, (mine, name, params, megabytes, cyrillic)))
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


def threads(megabytes: float = 16, rounds: int = 5) -> list[tuple[str, Speedup]]:
    """Return for each vectorizer and method how many times faster two threads are than one."""
    texts, found = documents(megabytes), []
    for name, method in _THREADED:
        fitted = {n: _vectorizer(True, name, {**_BIGRAMS, "n_jobs": n}).fit(texts) for n in (1, 2)}

        def task(n_jobs: int, fitted: dict[int, Any] = fitted, method: str = method) -> None:
            getattr(fitted[n_jobs], method)(texts)

        found.append((f"{name}.{method}", on_two_threads(task, rounds)))
    return found


def _answer(calls: Any, megabytes: float) -> None:
    """Answer calls (which of `_THREADED`, first and last document) with the seconds that they take,
    until None comes."""
    texts, fitted = documents(megabytes), {}
    while (call := calls.recv()) is not None:
        which, first, last = call
        name, method = _THREADED[which]
        if name not in fitted:
            fitted[name] = _vectorizer(True, name, _BIGRAMS).fit(texts)
        start = time.perf_counter()
        getattr(fitted[name], method)(texts[first:last])
        calls.send(time.perf_counter() - start)


def processes(megabytes: float = 16, rounds: int = 5) -> list[tuple[str, Ratio]]:
    """Return for each vectorizer and method how many times faster two processes are, each with half
    of the documents and nothing in common, than one with all: what the machine makes of it. That is
    less work than threads do where a vocabulary is learnt: nobody merges the two halves."""
    n, found = len(documents(megabytes)), []
    fresh = multiprocessing.get_context("spawn")
    ends = [fresh.Pipe() for _ in range(2)]
    workers = [fresh.Process(target=_answer, args=(end, megabytes), daemon=True) for _, end in ends]
    for worker in workers:
        worker.start()
    pipes = [pipe for pipe, _ in ends]

    def longest(*parts: tuple[int, int, int]) -> float:
        busy = pipes[: len(parts)]
        for pipe, part in zip(busy, parts, strict=True):
            pipe.send(part)
        return max(pipe.recv() for pipe in busy)

    for which, (name, method) in enumerate(_THREADED):
        times: tuple[list[float], list[float]] = [], []
        for k in range(rounds + 1):  # the first time warms up
            one = longest((which, 0, n))
            two = longest((which, 0, n // 2), (which, n // 2, n))
            if k:
                times[0].append(one)
                times[1].append(two)
        found.append((f"{name}.{method}", ratio(*times)))
    for pipe, worker in zip(pipes, workers, strict=True):
        pipe.send(None)
        worker.join()
    return found


def vowpal_wabbit(megabytes: float = 2, rounds: int = 3) -> float | None:
    """Return the MB/s at which Vowpal Wabbit parses and hashes 1-2-grams from text, called from
    Python; None if it is not installed."""
    try:
        import vowpalwabbit
    except ImportError:
        return None
    workspace = vowpalwabbit.Workspace("--quiet --ngram 2 -b 20")
    lines = ["| " + text.replace(":", " ").replace("|", " ") for text in documents(megabytes)]
    size = sum(map(len, lines)) / 1e6

    def parse() -> None:
        for line in lines:
            workspace.finish_example(workspace.parse(line)[0])

    seconds = min(cpu_seconds(parse) for _ in range(rounds))
    workspace.finish()
    return size / seconds


def run() -> None:
    """Print the tables."""
    import scipy
    import sklearn

    print("Text to rows (fit_transform), one thread, CPU time; "
          f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
          f"numpy {np.__version__}, scipy {scipy.__version__}, {platform.machine()}")
    print(f"{'':24}{'fastlin':>10}{'sklearn':>10}{'ratio':>8}{'[least, most]':>16}"
          f"{'peak':>9}{'sklearn':>9}")
    for row in rows():
        spread = f"[{row['least']:.1f}, {row['most']:.1f}]"
        print(f"{row['case']:24}{row['MB/s']:7.1f} MB/s{row['scikit-learn MB/s']:5.1f} MB/s"
              f"{row['ratio']:6.1f}x{spread:>16}{row['peak MB']:6.0f} MB"
              f"{row['scikit-learn peak MB']:6.0f} MB")
    for name, found in threads():
        print(f"{name}, two threads: {found.wall}x sooner, {found.cpu}x by CPU time, "
              f"{found.work}x the work")
    for name, apart in processes():
        print(f"{name}, two processes with half of the texts each: {apart}x sooner")
    speed = vowpal_wabbit()
    print("Vowpal Wabbit is not installed." if speed is None
          else f"Vowpal Wabbit, parse of 1-2-grams: {speed:.1f} MB/s")


if __name__ == "__main__":
    run()
