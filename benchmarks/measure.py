"""Timing in turns, ratios with their spread, and tables."""

from __future__ import annotations

import datetime
import gc
import importlib.metadata
import importlib.util
import os
import platform
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Ratio",
    "Speedup",
    "cpu_seconds",
    "has_peer",
    "in_turns",
    "machine",
    "missing_peers",
    "ns",
    "on_two_threads",
    "peak",
    "print_table",
    "ratio",
    "seconds_per_call",
    "timed",
]

# What memory a task finds at hand, and for how long a machine leaves freed memory as it is
_AT_HAND, _PAGE, _STAYS = 1 << 30, 1 << 12, 0.5
_last_free = -_STAYS

PEERS = {"scikit-learn": "sklearn", "LIBLINEAR": "liblinear", "snapML": "snapml",
         "celer": "celer", "skglm": "skglm"}


class Ratio(NamedTuple):
    """Median, least and most of the ratios within rounds."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.least:.2f}, {self.most:.2f}]"


class Speedup(NamedTuple):
    """How many times faster two threads are than one: the CPU time of one over that of the longest
    way through two, which is what idle cores make of it; what the clock says; and its seconds. How
    many times the CPU time of one thread both take together."""

    cpu: Ratio
    wall: Ratio
    one: list[float]
    two: list[float]
    work: Ratio


def has_peer(name: str) -> bool:
    """Whether a peer of `PEERS` is installed."""
    return importlib.util.find_spec(PEERS[name]) is not None


def missing_peers() -> list[str]:
    """Names of the peers that are not installed."""
    return [name for name in PEERS if not has_peer(name)]


def _find_memory() -> None:
    """Use some memory and free it, unless that has just happened. Of memory that lies idle for a
    second a virtual machine may be rid, and gets it back at up to 3 s per GB: whoever needs it
    first would pay for what the one before has freed."""
    if time.perf_counter() - _last_free < _STAYS:
        return
    np.empty(_AT_HAND, np.uint8)[::_PAGE] = 1
    _note_memory()


def _note_memory() -> None:
    """Memory was freed just now."""
    global _last_free
    _last_free = time.perf_counter()


def timed(task: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of a call in all threads of the process, the garbage collector kept out; and what it
    returns."""
    _find_memory()
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        found = task()
        return time.process_time() - start, found
    finally:
        gc.enable()
        _note_memory()


def cpu_seconds(task: Callable[[], Any]) -> float:
    """The time of `timed`."""
    return timed(task)[0]


def in_turns(
    tasks: dict[str, Callable[[], Any]], rounds: int, warm_up: bool = True, repeats: int = 1
) -> dict[str, list[float]]:
    """CPU seconds of each task in each round; the tasks run A B C A B C.

    The time of a round is the least of so many `repeats`, in turns as well: for differences of
    times, which double what disturbs either.
    """
    if warm_up:
        for task in tasks.values():
            task()
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        tried = [{name: cpu_seconds(task) for name, task in tasks.items()} for _ in range(repeats)]
        for name in tasks:
            times[name].append(min(seconds[name] for seconds in tried))
    return times


def seconds_per_call(task: Callable[[], Any], at_least: float = 0.05) -> float:
    """CPU seconds of one call of a task that takes microseconds."""
    calls = 1
    while True:
        start = time.process_time()
        for _ in range(calls):
            task()
        taken = time.process_time() - start
        if taken >= at_least:
            return taken / calls
        calls *= max(2, min(100, int(1.2 * at_least / max(taken, 1e-4))))


def ratio(slow: Iterable[float], fast: Iterable[float]) -> Ratio:
    """How many times longer `slow` took than `fast`, round by round."""
    quotients = [a / b for a, b in zip(slow, fast, strict=True)]
    return Ratio(statistics.median(quotients), min(quotients), max(quotients))


@contextmanager
def _regions() -> Iterator[list[list[float]]]:
    """CPU seconds of each thread, the caller's first, in each stretch that several share."""
    from fastlin import _parallel

    found: list[list[float]] = []
    in_threads = _parallel._in_threads

    def noted(works: Any, cancel: Any) -> list[Any]:
        taken = [0.0] * len(works)

        def timed_work(k: int, work: Callable[[], Any]) -> Any:
            start = time.thread_time()
            try:
                return work()
            finally:
                taken[k] = time.thread_time() - start

        found.append(taken)
        return in_threads([partial(timed_work, k, work) for k, work in enumerate(works)], cancel)

    _parallel._in_threads = noted
    try:
        yield found
    finally:
        _parallel._in_threads = in_threads


def on_two_threads(task: Callable[..., Any], rounds: int) -> Speedup:
    """Call task(n_jobs=1) and task(n_jobs=2) in turns. By CPU time the longest way is what the
    caller does alone, and of each stretch that threads share the most of any of them; where one
    waits for what another does, the clock alone tells."""
    task(n_jobs=2)
    cpu: list[list[float]] = [[], []]
    wall: list[list[float]] = [[], []]
    work: list[list[float]] = [[], []]
    for _ in range(rounds):
        for n_jobs in (1, 2):
            _find_memory()
            with _regions() as regions:
                clock, own, both = time.perf_counter(), time.thread_time(), time.process_time()
                task(n_jobs=n_jobs)
                own, both = time.thread_time() - own, time.process_time() - both
                wall[n_jobs - 1].append(time.perf_counter() - clock)
            _note_memory()
            cpu[n_jobs - 1].append(own + sum(max(taken) - taken[0] for taken in regions))
            work[n_jobs - 1].append(both)
    return Speedup(ratio(*cpu), ratio(*wall), *wall, ratio(*reversed(work)))


def peak(task: Callable[[], Any]) -> int:
    """Bytes allocated at most by a call, above what was there."""
    gc.collect()
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ns(seconds: Iterable[float], entries: int) -> str:
    """Median in nanoseconds per entry."""
    return f"{statistics.median(seconds) / entries * 1e9:.2f}"


def print_table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print a Markdown table; the first column is text, the others are figures."""
    header = list(header)
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join([" --- "] + [" ---: "] * (len(header) - 1)) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    print(flush=True)


def machine() -> str:
    """Date, machine and versions, as Markdown."""
    names = ("fastlin", "numpy", "scipy", "scikit-learn")
    found = ", ".join(f"{name} {_version(name)}" for name in names)
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    return (
        f"# Benchmarks of {today}\n\n"
        f"{_cpu()}, {os.cpu_count()} cores, caches {_caches()}, "
        f"{platform.system()} {platform.machine()}; Python {platform.python_version()}, {found}. "
        f"One thread, CPU time; `python -m benchmarks {' '.join(sys.argv[1:])}`"
    )


def _version(name: str) -> str:
    """Version of a package, or that it is missing."""
    try:
        if name == "fastlin":
            import fastlin

            return fastlin.__version__
        return importlib.metadata.version(name)
    except ImportError:
        return "missing"


def _cpu() -> str:
    """Model of the processor, with family and model number where the name says little."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    facts = dict(part.strip().split("\t")[0:1] + [part.split(":")[-1].strip()]
                 for part in lines if ":" in part)
    name = facts.get("model name", platform.processor())
    numbers = [f"{what} {facts[what]}" for what in ("cpu family", "model") if what in facts]
    return f"{name} ({', '.join(numbers)})" if numbers else name


def _caches() -> str:
    """Sizes of the data caches of the first core."""
    found = []
    for path in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = (
            (path / name).read_text().strip() for name in ("type", "level", "size")
        )
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found) or "unknown"
