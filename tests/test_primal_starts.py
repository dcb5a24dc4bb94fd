"""Coordinate descent over columns: starts from elsewhere, and threads that stop."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from fastlin import _quadratic, as_rows
from fastlin._core import primal_cd as _primal
from fastlin._parallel import Cancelled
from fastlin._primal_cd import solve
from fastlin._problem import Problem
from fastlin._quadratic import Model
from fastlin._transpose import transposed

LOSSES = {"squared_error": 0.0, "log_loss": 0.0, "squared_hinge": 1.0,
          "squared_epsilon_insensitive": 0.2}
SEED = np.zeros(4, np.uint64)
NONE = np.empty(0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_a_start_with_a_weight_of_a_column_that_is_empty_now(loss, intercept, storage):
    dense = np.random.default_rng(0).normal(size=(80, 6))
    z = dense @ np.arange(6.0) + np.random.default_rng(1).normal(size=80)
    p = Problem(X=as_rows(storage(dense)), y=np.where(z > 0, 1.0, -1.0), loss=loss, weight=NONE,
                loss_parameter=LOSSES[loss], l1=1e-3, fit_intercept=intercept)
    start = solve(p, 1e-6, 1000, SEED)
    j = int(np.argmax(np.abs(start.coef)))
    dense[:, j] = 0.0
    p = replace(p, X=as_rows(storage(dense)))
    fit = solve(p, 1e-9, 5000, SEED, start)
    assert fit.converged and fit.coef[j] == 0
    best = solve(p, 1e-9, 5000, SEED)
    assert fit.certificate.objective == pytest.approx(best.certificate.objective, rel=2e-9)


@pytest.mark.parametrize("what", ["add_columns", "moments", "slopes", "descend"])
def test_a_cancelled_thread_stops_between_pieces(monkeypatch, what):
    """However many there are in one turn."""
    monkeypatch.setattr(_quadratic, "_ENTRIES_PER_CALL", 40)
    dense = np.random.default_rng(0).normal(size=(40, 12))
    columns, every = transposed(as_rows(sparse.csr_matrix(dense))), np.arange(12)
    model = Model(columns, NONE, 1 / 40, True)
    w, r = np.zeros(12), dense[:, 0].copy()
    descent = _quadratic.Descent(model, every, 0.1, 0.0, False, w, r, False)
    called, run = [], getattr(_primal, what)

    def noted(*data):
        called.append(1)
        return run(*data)

    monkeypatch.setattr(_primal, what, noted)
    monkeypatch.setattr(_quadratic, "is_cancelled", lambda: len(called) == 3)
    work = {
        "add_columns": lambda: _quadratic.add_columns(columns, every, np.ones(12), r),
        "moments": lambda: Model(columns, NONE, 1 / 40, True).need(every),
        "slopes": lambda: descent.gap(lambda *_: 0.0, r),
        "descend": lambda: descent.run(5, 0.0),
    }
    with pytest.raises(Cancelled):
        work[what]()
    assert len(called) == 3
