"""Rows over more columns than the cache holds: what the next rows need is fetched ahead, and that
changes no bit beside the same rows with their columns renumbered side by side."""

import numpy as np
import pytest

from fastlin import _blocks, _centred, _dual_cd
from fastlin._core.rows import NEAR_BYTES, make_rows
from fastlin._problem import Problem
from fastlin._row_centre import seen_from

SEED = np.arange(1, 5, dtype=np.uint64)
LAYOUTS = ("csr", "ones", "signed")
NARROW, APART = 600, 200
ROWS = 40


def rows_of(layout, dtype, apart):
    """Rows of very different lengths, some of them empty, with every `apart`-th column in use."""
    rng = np.random.default_rng(0)
    sizes = rng.choice([0, 1, 3, 20, 90, 400], ROWS)
    sizes[:2], sizes[-2:] = (400, 1), (1, 400)
    columns = [np.sort(rng.choice(NARROW, size, replace=False)) for size in sizes]
    indices = np.concatenate(columns).astype(np.int32) * apart
    values = rng.normal(size=len(indices)).astype(dtype) if layout == "csr" else None
    if layout == "signed":
        indices = np.where(rng.random(len(indices)) < 0.5, ~indices, indices).astype(np.int32)
    indptr = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    return make_rows(layout, ROWS, NARROW * apart, values, indices, indptr, np.dtype(dtype))


def both(layout, dtype):
    """The same rows wide and narrow."""
    wide, narrow = (rows_of(layout, dtype, apart) for apart in (APART, 1))
    assert wide.shape[1] * np.dtype(np.float32).itemsize > NEAR_BYTES
    assert narrow.shape[1] * np.dtype(np.float64).itemsize < NEAR_BYTES
    return wide, narrow


def spread(narrow):
    """A vector of narrow columns for the wide ones."""
    out = np.zeros(NARROW * APART, narrow.dtype)
    out[::APART] = narrow
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_products(layout, dtype):
    wide, narrow = both(layout, dtype)
    rng = np.random.default_rng(1)
    w, c, h = rng.normal(size=NARROW), rng.normal(size=ROWS), rng.uniform(size=ROWS)
    c[::5] = h[::5] = 0
    dense = narrow.toarray().astype(np.float64)
    pairs = (
        (_blocks.matvec(wide, spread(w), 0.5), _blocks.matvec(narrow, w, 0.5), dense @ w + 0.5),
        (_blocks.rmatvec(wide, c)[::APART], _blocks.rmatvec(narrow, c), dense.T @ c),
        (_blocks.column_squares(wide, c)[::APART], _blocks.column_squares(narrow, c),
         (dense**2).T @ c),
        (seen_from(wide, spread(w))[1], seen_from(narrow, w)[1], dense @ w.astype(dtype)),
    )  # fmt: skip
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    for of_wide, of_narrow, naive in pairs:
        np.testing.assert_array_equal(of_wide, of_narrow)
        np.testing.assert_allclose(of_wide, naive, rtol=tolerance, atol=tolerance)
    moments = _centred.moments(wide, c, h), _centred.moments(narrow, c, h)
    for of_wide, of_narrow, naive in zip(*moments, (dense.T @ c, dense.T @ h, (dense**2).T @ h),
                                         strict=True):
        np.testing.assert_array_equal(of_wide[::APART], of_narrow)
        np.testing.assert_allclose(of_narrow, naive, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "hinge"])
@pytest.mark.parametrize(
    ("dtype", "refined"), [(np.float32, False), (np.float32, True), (np.float64, True)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_epochs_of_dual_ascent(layout, dtype, refined, loss, fit_intercept):
    ascents = []
    for X in both(layout, dtype):
        y = np.where(np.arange(ROWS) % 3 == 0, 1.0, -1.0)
        problem = Problem(X, y, loss, l2=0.05, weight=np.empty(0), loss_parameter=1.0,
                          fit_intercept=fit_intercept)
        ascent = _dual_cd._Ascent(problem, SEED, None, 0.25 if fit_intercept else 0.0)
        if refined:
            ascent.refine()
        for _ in range(3):
            ascent.run_epoch()
            ascent.wake_all()
        ascents.append(ascent)
    wide, narrow = ascents
    assert wide.u.dtype == narrow.u.dtype == (np.float64 if refined else np.float32)
    assert wide.a.any()
    # |c|^2 is a sum over all columns, whose order hangs on their number
    tolerance = 0 if not fit_intercept else 1e-11 if refined else 1e-4
    np.testing.assert_allclose(wide.a, narrow.a, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(wide.u[::APART], narrow.u, rtol=tolerance, atol=tolerance)
    assert not np.delete(wide.u, np.s_[::APART]).any()
