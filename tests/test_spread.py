"""Tasks that find further tasks, which any thread takes."""

import os
import signal
import threading
import time

import pytest

from fastlin import _parallel
from fastlin._parallel import Cancelled, is_cancelled, spread

# Far more than it takes
PATIENCE = 60


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 7])
def test_each_task_is_called_once(n_tasks, n_jobs):
    called = []

    def task(name):
        def call():
            called.append(name)
            return [task((*name, k)) for k in range(3)] if len(name) < 3 else []

        return call

    spread([task((k,)) for k in range(n_tasks)], n_jobs, 9)
    assert len(called) == len(set(called)) == n_tasks * (1 + 3 + 9)


def test_what_is_found_goes_before_what_has_not_begun():
    called = []

    def task(name, *found):
        def call():
            called.append(name)
            return list(found)

        return call

    spread([task("a", task("aa", task("aaa")), task("ab")), task("b")], 1, 9)
    assert called == ["a", "aa", "aaa", "ab", "b"]


def test_a_thread_that_waits_takes_what_another_finds():
    both = threading.Barrier(2)

    def at_once():
        both.wait(PATIENCE)
        return []

    def long():
        time.sleep(0.05)
        return [at_once, at_once]

    for tasks in ([long], [long, list], [list, long]):
        spread(tasks, 2, 2)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_an_error_ends_it_all(n_jobs):
    called = []

    def fails():
        raise ZeroDivisionError

    def other():
        called.append(1)
        return [other]

    tasks = [fails, other] if n_jobs == 1 else [other, lambda: [fails]]
    with pytest.raises(ZeroDivisionError):
        spread(tasks, n_jobs, 9)
    assert bool(called) == (n_jobs > 1)


def test_no_more_threads_than_tasks(monkeypatch):
    begun = []
    in_threads = _parallel._in_threads

    def counted(works, cancel):
        begun.append(len(works))
        return in_threads(works, cancel)

    monkeypatch.setattr(_parallel, "_in_threads", counted)
    spread([list, list, list], 10**6, 3)
    assert begun == [3]


def test_a_wait_ends_with_the_run_though_nobody_says_so(monkeypatch):
    """As when a second Ctrl-C comes while the first ends the waits of others."""
    waits = threading.Event()

    def fails():
        waits.wait(PATIENCE)
        raise ZeroDivisionError

    waited_for = _parallel._waited_for

    def noted(queue):
        waits.set()
        return waited_for(queue)

    monkeypatch.setattr(_parallel, "_waited_for", noted)
    in_threads = _parallel._in_threads
    monkeypatch.setattr(_parallel, "_in_threads", lambda works, cancel: in_threads(works, None))
    with pytest.raises(ZeroDivisionError):
        spread([fails, list], 2, 2)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_ends_the_wait_of_the_caller():
    ended, begun = [], threading.Event()

    def short():
        begun.wait(PATIENCE)
        return []

    def long():
        begun.set()
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if is_cancelled():
                ended.append(1)
                raise Cancelled
            time.sleep(0.01)
        return []

    with pytest.raises(KeyboardInterrupt):
        spread([short, long], 2, 2)
    assert ended
