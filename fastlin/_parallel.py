"""Threads over independent tasks: the only file that starts any.

Kernels release the GIL, so Python threads run on all cores; without OpenMP a fork stays safe and
nothing is oversubscribed. The caller's thread works too: to begin another takes about 40
microseconds, to take a task about one. Results come in the order of the tasks and never depend on
the number of threads.
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = [
    "Cancellable", "Cancelled", "aside", "feed", "is_cancelled", "n_threads", "portions", "run",
    "spread",
]  # fmt: skip

# Seconds between two looks at Ctrl-C, where a wait for threads can't be interrupted (Windows).
_GLANCE = 0.2
# The least portion of all work, for each thread
_CRUMBS = 32


class Cancelled(Exception):
    """What a task raises once its `cancel` has been called."""


class Cancellable:
    """A task that looks between two pieces of its work whether it is to end."""

    cancelled = False

    def cancel(self) -> None:
        """End soon, from another thread."""
        self.cancelled = True

    def _look(self) -> None:
        """See whether somebody has cancelled."""
        if self.cancelled or is_cancelled():
            raise Cancelled


class _Run:
    """One call of `run`, and the one in whose thread it was made."""

    def __init__(self, outer: _Run | None):
        self.cancelled, self.outer = False, outer


_local = threading.local()


def is_cancelled() -> bool:
    """Whether the run that this thread works for, or one around it, has been given up: learners
    look between two pieces, however deep they are nested."""
    run = getattr(_local, "run", None)
    while run is not None:
        if run.cancelled:
            return True
        run = run.outer
    return False


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


def portions(work: np.ndarray, n_jobs: int | None) -> list[tuple[int, int]]:
    """Ranges [first, stop) of the pieces that take `work`, to be given out in this order: each has
    its share of half of what is left, so that the last ones are small and threads end at about the
    same time (Polychronopoulos & Kuck 1987, "Guided self-scheduling", IEEE Transactions on
    Computers C-36)."""
    n, threads = len(work), n_threads(n_jobs)
    if threads == 1:
        return [(0, n)] if n else []
    done = np.concatenate([[0.0], np.cumsum(work, dtype=np.float64)])
    least, first, found = done[-1] / (_CRUMBS * threads), 0, []
    while first < n:
        size = max(least, (done[-1] - done[first]) / (2 * threads))
        stop = int(np.searchsorted(done, done[first] + size, side="right")) - 1
        stop = min(max(stop, first + 1), n)
        found.append((first, stop))
        first = stop
    return found


def aside(function: Callable[..., Any], *values: Any, **options: Any) -> Any:
    """Call a long function of another library, which looks neither for Ctrl-C nor for a run that
    is given up, in a thread of its own that has the caller's `np.errstate`; if either comes, it is
    left to end by itself, and what it returns is forgotten."""
    found: list[tuple[Any, BaseException | None]] = []
    errors = np.geterr()
    done = threading.Event()

    def call() -> None:
        try:
            with np.errstate(**errors):
                found.append((function(*values, **options), None))
        except BaseException as error:
            found.append((None, error))
        finally:
            done.set()

    threading.Thread(target=call, daemon=True).start()
    while not done.wait(_GLANCE):
        if is_cancelled():
            raise Cancelled
    value, error = found[0]
    if error is not None:
        raise error
    return value


def run(
    tasks: Sequence[Callable[[], Any]],
    n_jobs: int | None,
    cancel: Callable[[], None] | None = None,
) -> list[Any]:
    """Call each task, in the caller's thread too, and return their results in order. The first is
    the caller's: what that allocates may have pages already, where other threads get them anew.

    The first exception, Ctrl-C included, ends the run: tasks that have not begun never do, `cancel`
    tells those under way to end soon, and the exception is raised when they have.
    """
    threads = min(n_threads(n_jobs), len(tasks))
    if threads <= 1:
        return [_begun(task) for task in tasks]
    from queue import Empty, SimpleQueue

    left: SimpleQueue[int] = SimpleQueue()
    for k in range(1, len(tasks)):
        left.put(k)
    results: list[Any] = [None] * len(tasks)

    def work(k: int | None = None) -> None:
        while True:
            if k is not None:
                results[k] = _begun(tasks[k])
            try:
                k = left.get_nowait()
            except Empty:
                return

    _in_threads([lambda: work(0), *[work] * (threads - 1)], cancel)
    return results


def spread(tasks: Sequence[Callable[[], Any]], n_jobs: int | None, widest: int) -> None:
    """Call each task and, before any of these that has not begun, the tasks that it returns in a
    list. A thread without a task waits for one as long as others work; there are no more threads
    than the most tasks under way at a time, `widest`. The first task is the caller's, and
    exceptions end it all, as in `run`."""
    threads = min(n_threads(n_jobs), widest)
    if threads <= 1 or not tasks:
        stack = list(reversed(tasks))
        while stack:
            stack.extend(reversed(_begun(stack.pop())))
        return
    from queue import Empty, SimpleQueue

    # None ends a thread
    ready: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
    later: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
    for task in tasks[1:]:
        later.put(task)
    unfinished: list[Any] = [*tasks]  # only their number counts

    def finish() -> None:
        for _ in range(threads):
            ready.put(None)

    def next_task() -> Callable[[], Any] | None:
        for queue in (ready, later):
            with contextlib.suppress(Empty):
                return queue.get_nowait()
        return _waited_for(ready)

    def work(task: Callable[[], Any] | None) -> None:
        while task is not None:
            found = _begun(task)
            unfinished.extend(found)
            for each in found:
                ready.put(each)
            unfinished.pop()
            if not unfinished:
                finish()
            task = next_task()

    others = [lambda: work(next_task())] * (threads - 1)
    _in_threads([lambda: work(tasks[0]), *others], finish)


def _waited_for(queue: Any) -> Any:
    """What comes next in a queue, unless the run is given up."""
    from queue import Empty

    while True:
        with contextlib.suppress(Empty):
            return queue.get(timeout=_GLANCE)
        if is_cancelled():
            raise Cancelled


def _begun(task: Callable[[], Any]) -> Any:
    """Call a task, unless its run has been given up."""
    if is_cancelled():
        raise Cancelled
    return task()


def feed(
    items: Iterable[Any], work: Callable[[Iterator[Any]], Any], n_jobs: int | None
) -> list[Any]:
    """Call `work` in each thread with an iterator over the items that it gets, and return the
    results, the caller's own first. Items are made in the caller's thread, a few ahead, which works
    too while enough are made. The first is the caller's, as in `run`; each other goes to the thread
    that asks first: none waits for another, and waking one costs as much as a small item. The first
    exception, Ctrl-C included, ends it all as in `run`. No more threads than items work, and none
    is begun for a single one."""
    threads, items = n_threads(n_jobs), iter(items)
    # with one thread nothing is made before it is asked for
    first = list(itertools.islice(items, threads)) if threads > 1 else []
    threads, items = min(threads, len(first)), itertools.chain(first[1:], items)
    if threads <= 1:
        return [work(itertools.chain(first, items))]
    from queue import Empty, SimpleQueue

    made: SimpleQueue[Any] = SimpleQueue()
    end = object()

    def taken() -> Iterator[Any]:
        while (item := _waited_for(made)) is not end:
            if is_cancelled():
                raise Cancelled
            yield item

    def next_made() -> Any:
        item = made.get_nowait()
        if item is end:
            # put there for other threads when one of them gave up: what is made ends later
            raise Cancelled
        return item

    def kept() -> Iterator[Any]:
        own = first[:1]
        for item in items:
            made.put(item)
            if is_cancelled():
                raise Cancelled
            if made.qsize() >= (threads if own else 2 * threads):
                with contextlib.suppress(Empty):
                    yield own.pop() if own else next_made()
        yield from own
        with contextlib.suppress(Empty):
            while True:
                yield next_made()

    def finish() -> None:
        for _ in range(threads - 1):
            made.put(end)

    def own() -> Any:
        result = work(kept())
        finish()
        return result

    return _in_threads([own, *[lambda: work(taken())] * (threads - 1)], finish)


def _in_threads(
    works: Sequence[Callable[[], Any]], cancel: Callable[[], None] | None
) -> list[Any]:
    """Call each in a thread of its own, the first in the caller's, and return their results.

    Threads are begun as plainly as can be: an executor takes three times as long to begin, wait for
    and end one, and `threading.Thread` twice, which waits for it to have begun."""
    this = _Run(getattr(_local, "run", None))
    results: list[Any] = [None] * len(works)
    errors: dict[int, BaseException] = {}
    ends = [(k, _thread.allocate_lock()) for k in range(1, len(works))]
    begun: list[int] = []
    ended: set[int] = set()

    def give_up() -> None:
        if this.cancelled:
            return  # one is enough; two of two threads at once do no harm
        this.cancelled = True
        if cancel is not None:
            cancel()

    def begin(k: int) -> None:
        _local.run = this
        try:
            if this.cancelled:
                raise Cancelled
            results[k] = works[k]()
        except BaseException as error:
            # here, for the caller's thread may be busy
            errors[k] = error
            give_up()
        finally:
            _local.run = this.outer

    def other(k: int, end: Any) -> None:
        try:
            begin(k)
        finally:
            ended.add(k)
            end.release()

    def join() -> None:
        for k, end in ends[: len(begun)]:
            while k not in ended:
                end.acquire(timeout=_GLANCE)

    try:
        for _, end in ends:
            end.acquire()
        # inside, since Ctrl-C may come while the others are still begun; in one call, so that it
        # never comes between a thread's beginning and the note of it
        begun.extend(map(_thread.start_new_thread, itertools.repeat(other), ends))
        begin(0)
        join()
    except BaseException:
        give_up()
        join()
        raise
    if errors:
        # the caller's first, Ctrl-C it may be; what others were cancelled for, not that they were
        found = [errors[k] for k in sorted(errors, key=bool)]
        raise next((error for error in found if not isinstance(error, Cancelled)), found[0])
    return results
