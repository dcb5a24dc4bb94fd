"""Threads change nothing: the same bits for any number of jobs, many fits at once, and a model that
is read while others learn."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from public import CLASSIFIERS, LEARNERS, ONLINE, REGRESSORS, made, name
from scipy import sparse

from fastlin import SGDClassifier
from fastlin._signature import init_parameters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 8))
Y = np.argmax(X[:, :4], axis=1)


def bits(model):
    n_iter = np.asarray(getattr(model, "n_iter_", 0))
    return model.coef_.tobytes(), np.asarray(model.intercept_).tobytes(), n_iter.tobytes()


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
def test_the_number_of_jobs_changes_no_bit(cls, quiet):
    for extra in ({}, {"average": True}, {"early_stopping": True}, {"multi_class": "ovr"}):
        models = [
            made(cls, n_jobs=n, random_state=3, max_iter=8, **extra).fit(X, Y)
            for n in (None, 1, 2, 3, -1)
        ]
        assert len({bits(model) for model in models}) == 1
        if cls not in ONLINE:
            break
        streams = [cls(n_jobs=n, **extra).partial_fit(X, Y, classes=range(4)) for n in (None, 3)]
        assert bits(streams[0]) == bits(streams[1])


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_forty_fits_at_once_have_the_same_bits(cls, quiet):
    y = X @ np.arange(8.0) if cls in REGRESSORS else Y
    for seed in (5, np.random.SeedSequence(5)):
        extra = {"n_jobs": 2} if "n_jobs" in init_parameters(cls) else {}

        def fit(k):
            rows = sparse.csr_array(X) if k % 2 else X
            few = {"max_iter": 5, "Cs": (0.1, 1.0), "cv": 2}
            given = {"random_state": seed, **few, **(extra if k % 3 else {})}
            return bits(made(cls, **given).fit(rows, y))

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(fit, range(40)))
        # dense and sparse rows add up in different lanes; each kind has one result
        assert len(set(found[::2])) == 1
        assert len(set(found[1::2])) == 1


def test_a_model_can_be_read_while_others_learn(quiet):
    model = SGDClassifier("log_loss", max_iter=20, random_state=0).fit(X, Y)
    expected = model.predict_proba(X)

    def read(_):
        return np.array_equal(model.predict_proba(X), expected)

    def learn(seed):
        SGDClassifier("log_loss", max_iter=60, tol=None, random_state=seed).fit(X, Y)
        return True

    with ThreadPoolExecutor(4) as pool:
        learning = [pool.submit(learn, seed) for seed in range(4)]
        reading = [pool.submit(read, k) for k in range(100)]
        assert all(future.result() for future in reading + learning)


def test_one_matrix_serves_many_threads(quiet):
    rows = sparse.csr_array(X)
    before = rows.data.tobytes(), rows.indices.tobytes(), rows.indptr.tobytes()

    def fit(seed):
        model = SGDClassifier(max_iter=5, tol=None, random_state=seed, learning_rate="invscaling")
        return model.fit(rows, Y).score(rows, Y)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(fit, range(16)))
    assert together == [fit(seed) for seed in range(16)]
    assert before == (rows.data.tobytes(), rows.indices.tobytes(), rows.indptr.tobytes())
