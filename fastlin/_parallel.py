"""Threads over independent tasks: the only file that starts any.

Kernels release the GIL, so Python threads run on all cores; without OpenMP a fork stays safe and
nothing is oversubscribed. A task costs about 60 microseconds to hand over: give it 5 ms of work or
more. Results come in the order of the tasks and never depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["n_threads", "run"]


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` means: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must be a positive number, a negative one counting back from the "
                         "number of cores (-1: all of them), or None, got 0.")
    if n_jobs > 0:
        return int(n_jobs)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def run(tasks: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """Call each task and return their results in order.

    The first exception, Ctrl-C included, stops the tasks that have not begun and is raised once
    those under way have ended; tasks see Ctrl-C through `cancelled`.
    """
    threads = min(n_threads(n_jobs), len(tasks))
    if threads <= 1:
        return [task() for task in tasks]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for task in tasks:
                getattr(task, "cancel", lambda: None)()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
