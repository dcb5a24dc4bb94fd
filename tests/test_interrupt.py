"""Ctrl-C ends a fit soon, in one thread and in several; so does an error in one of them."""

import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import fastlin
from fastlin import SGDClassifier, _scores, _text_rows
from fastlin._core.documents import PAUSED
from fastlin._learner import make_learner
from fastlin._parallel import Cancelled, aside, feed, is_cancelled, n_threads, run
from fastlin._sgd import make_rule
from fastlin._text_rows import BlocksOutput

# Far more than it takes, and far less than the fits would.
PATIENCE = 60

LONG = {
    "one thread": "SGDClassifier(max_iter=10**9, tol=None, verbose=1).fit(X, y % 2)",
    "two threads": "SGDClassifier(max_iter=10**9, tol=None, verbose=1, n_jobs=2).fit(X, y)",
    "more tasks than threads": "SGDClassifier(max_iter=10**9, tol=None, verbose=1, n_jobs=2)"
    ".fit(X, np.arange(len(y)) % 9)",
    "joint": "Perceptron(max_iter=10**9, tol=None, verbose=1).fit(X, y)",
    "folds":
        "cross_val_score(SGDClassifier(max_iter=10**9, tol=None, verbose=1), X, y, n_jobs=2)",
    "together": "together(n_jobs=1)",
    "together in two threads": "together(n_jobs=2)",
    "adaptive": "SGDRegressor(max_iter=10**9, tol=None, verbose=1, optimizer='adam').fit(X, y)",
}


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("fit", LONG.values(), ids=LONG)
def test_ctrl_c_ends_a_fit(fit, tmp_path):
    code = textwrap.dedent(f"""
        import sys
        import warnings
        import numpy as np
        from fastlin import Perceptron, SGDClassifier, SGDRegressor
        from fastlin.model_selection import cross_val_score
        X = np.random.default_rng(0).normal(size=(20_000, 50))
        y = np.arange(20_000) % 3

        def together(n_jobs):
            # says that an epoch has been run, as `verbose` would
            from fastlin import _lanes
            from fastlin._onepass import fit_together
            judge = _lanes.Pass._judge

            def told(self):
                print("epoch 1/", file=sys.stderr, flush=True)
                _lanes.Pass._judge = judge
                return judge(self)

            _lanes.Pass._judge = told
            models = [SGDClassifier(max_iter=10**9, tol=None) for _ in range(9)]
            fit_together(models, X, y, [np.arange(k, 20_000) for k in range(9)], n_jobs=n_jobs)

        {fit}
    """)
    # elsewhere, since Python would find uncompiled sources in the current folder first
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        # the first line says that an epoch has been run
        assert process.stderr.readline().startswith("epoch 1/")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    # a thread that was just beginning may still report its epoch after the traceback
    assert "\nKeyboardInterrupt\n" in err
    assert process.returncode in (1, 130, -signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupted_fit_leaves_the_earlier_model(n_jobs, quiet):
    X, y = np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 3
    model = SGDClassifier(max_iter=5, tol=None, n_jobs=n_jobs, random_state=0)
    model.fit(X, y)
    coef, memories = model.coef_.copy(), model._memories
    model.set_params(max_iter=10**9)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :3], y)
    finally:
        timer.cancel()
    np.testing.assert_array_equal(model.coef_, coef)
    assert model._memories is memories
    # the columns of the fit that did not end are not those of the weights: that is said, not read
    with pytest.raises(ValueError, match="the last call of fit did not end"):
        model.predict(X[:, :3])
    np.testing.assert_array_equal(model.set_params(max_iter=5).fit(X, y).coef_, coef)


def test_a_visit_is_cut_in_pieces_that_see_the_flag(monkeypatch):
    monkeypatch.setattr(_scores, "_ENTRIES_PER_CALL", 40)
    X = fastlin.as_rows(np.random.default_rng(0).normal(size=(1000, 4)))
    for n_outputs, y in ((1, np.ones(1000)), (3, np.arange(1000.0) % 3)):
        learner = make_learner(4, np.float64, make_rule("hinge"), n_outputs)
        learner.visit(X, y, np.empty(0), np.arange(10))
        steps = learner.state["t"]
        learner.cancelled = True
        with pytest.raises(Cancelled):
            learner.visit(X, y, np.empty(0), np.arange(1000))
        assert learner.state["t"] == steps


def test_pieces_are_about_fifty_milliseconds():
    X = fastlin.as_rows(np.zeros((1000, 100)))
    assert _scores.rows_per_call(X) == 80_000
    assert _scores.rows_per_call(X, n_outputs=10) == 8000
    assert _scores.rows_per_call(X, batch=7) % 7 == 0
    assert _scores.rows_per_call(X, batch=10**9) == 10**9
    assert _scores.rows_per_call(X, n_outputs=10**9) == 1


@pytest.mark.parametrize("threads", [2, 3])
def test_an_error_cancels_the_other_tasks(threads):
    cancelled = threading.Event()
    begun = []

    def endless():
        begun.append(1)
        if not cancelled.wait(PATIENCE):
            raise AssertionError("nobody called cancel")
        raise Cancelled

    def failing():
        raise RuntimeError("the first error")

    tasks = [endless] * (threads - 1) + [failing] + [endless] * 50
    with pytest.raises(RuntimeError, match="the first error"):
        run(tasks, threads, cancelled.set)
    assert len(begun) <= threads


def test_results_come_in_the_order_of_the_tasks():
    def task(k):
        time.sleep(0.002 * (5 - k % 5))
        return k

    tasks = [lambda k=k: task(k) for k in range(20)]
    for n_jobs in (None, 1, 2, 5, -1, 100):
        assert run(tasks, n_jobs) == list(range(20))
    assert run([], 4) == []


def test_n_jobs_counts_like_joblib(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert [n_threads(n) for n in (None, 1, 3, -1, -2, -8, -9, -100)] == [1, 1, 3, 8, 7, 1, 1, 1]
    with pytest.raises(ValueError, match="n_jobs"):
        n_threads(0)


def test_a_call_aside_returns_and_raises_like_any():
    assert aside(divmod, 7, 2) == (3, 1)
    assert aside(sorted, [1, 3, 2], reverse=True) == [3, 2, 1]
    with pytest.raises(ZeroDivisionError):
        aside(divmod, 7, 0)
    with np.errstate(over="ignore"):
        assert aside(np.exp, 1e3) == np.inf  # else a warning, which is an error here


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_does_not_wait_for_a_call_aside():
    def interrupt():
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    release = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        aside(release.wait, PATIENCE)
    assert not release.is_set()
    release.set()


def test_a_call_aside_is_given_up_with_its_run():
    release, begun = threading.Event(), threading.Event()

    def fails():
        begun.wait(PATIENCE)
        raise RuntimeError("one of two")

    def waits():
        begun.set()
        return aside(release.wait, PATIENCE)

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="one of two"):
        run([fails, waits], 2)
    assert time.monotonic() - started < PATIENCE / 2
    release.set()


@pytest.mark.parametrize("waits_first", [True, False])
def test_an_error_ends_what_other_threads_do_and_the_callers(waits_first):
    both = threading.Barrier(2)
    callers = []

    def waits():
        callers.append(threading.current_thread() is threading.main_thread())
        both.wait(10)
        while not is_cancelled():
            time.sleep(0.001)
        raise Cancelled

    def fails():
        callers.append(threading.current_thread() is threading.main_thread())
        both.wait(10)
        raise queue.Empty("of a queue of its own")

    with pytest.raises(queue.Empty, match="its own"):
        run([waits, fails] if waits_first else [fails, waits], 2)
    # the caller's thread had one of them
    assert sorted(callers) == [False, True]
    assert not is_cancelled()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_are_fed_what_the_caller_makes(n_jobs):
    makers = set()

    def items():
        for k in range(100):
            makers.add(threading.get_ident())
            yield k

    parts = feed(items(), list, n_jobs)
    assert len(parts) == n_jobs
    assert sorted(k for part in parts for k in part) == list(range(100))
    assert all(part == sorted(part) for part in parts)
    assert makers == {threading.get_ident()}
    # no thread without an item, and none but the caller's for one
    assert feed([], list, n_jobs) == [[]]
    assert feed(["a"], lambda got: (list(got), threading.get_ident()), n_jobs) == [
        (["a"], threading.get_ident())
    ]
    assert len(feed("ab", list, n_jobs)) == min(2, n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_first_is_the_callers(n_jobs):
    who = run([threading.get_ident, *[lambda: time.sleep(0.001)] * 20], n_jobs)[0]
    assert who == threading.get_ident()
    who = {}
    feed(range(50), lambda items: [who.setdefault(k, threading.get_ident()) for k in items], n_jobs)
    assert sorted(who) == list(range(50)) and who[0] == threading.get_ident()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_an_error_ends_the_feeding(n_jobs):
    made = []

    def endless():
        while True:
            made.append(1)
            yield len(made)

    def fails(items):
        for k in items:
            if k == 50:
                raise RuntimeError("at fifty")

    with pytest.raises(RuntimeError, match="at fifty"):
        feed(endless(), fails, n_jobs)
    assert len(made) < 100

    def broken():
        yield from range(50)
        raise RuntimeError("while it is made")

    taken = []
    with pytest.raises(RuntimeError, match="while it is made"):
        feed(broken(), taken.extend, n_jobs)
    assert n_jobs > 1 or taken == list(range(50))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_nobody_is_fed_the_end(n_jobs):
    """Where a thread gives up, its error is what comes out, not what its end makes of others."""
    caller, raised = threading.get_ident(), threading.Event()

    def work(items):
        for item in items:
            assert isinstance(item, int)
            if threading.get_ident() != caller:
                raised.set()
                raise ValueError("a bad document")
            assert raised.wait(10)
            time.sleep(0.05)  # what gives up leaves its mark

    with pytest.raises(ValueError, match="a bad document"):
        feed(range(6), work, n_jobs)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_ends_the_feeding():
    def work(items):
        for _ in items:
            while not is_cancelled():
                time.sleep(0.001)

    def interrupt():
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        feed(iter(int, 1), work, 2)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("method", ["fit_transform", "transform"])
def test_ctrl_c_is_seen_within_a_document_that_is_counted(method, n_jobs, monkeypatch):
    vectorizer = fastlin.CountVectorizer(n_jobs=n_jobs).fit(["spam eggs"])
    calls, take = [], BlocksOutput.take

    class Interrupted:
        """A counter that is interrupted where it pauses."""

        def __init__(self, counter):
            self.write, self._count = counter.write, counter.count

        def count(self, rows):
            calls.append(self._count(rows))
            os.kill(os.getpid(), signal.SIGINT)
            end = time.monotonic() + PATIENCE
            while not is_cancelled() and time.monotonic() < end:
                time.sleep(0.001)
            return calls[-1]

    monkeypatch.setattr(
        BlocksOutput, "take",
        lambda self, counter, *rest: take(self, Interrupted(counter), *rest),
    )
    with pytest.raises(KeyboardInterrupt):
        getattr(vectorizer, method)(["spam eggs " * 600_000])
    assert calls == [PAUSED]
    assert vectorizer.get_feature_names_out().tolist() == ["eggs", "spam"]


def test_counting_looks_whether_it_is_given_up(monkeypatch):
    vectorizer = fastlin.CountVectorizer(vocabulary=["spam"])
    documents = ["spam " * 1_200_000]
    assert vectorizer.transform(documents).sum() == 1_200_000
    monkeypatch.setattr(_text_rows, "is_cancelled", lambda: True)
    with pytest.raises(Cancelled):
        vectorizer.transform(documents)
