"""exp, log, log1p and sigmoid: the errors that fl_math.h states, measured against long double."""

import numpy as np
import pytest

from fastlin._core import losses

# Where long double is double (MSVC, some ARM), numpy's own result is no better than ours.
pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps, reason="long double is double here"
)

TINY = 5e-324


def call(function, x):
    x = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty_like(x)
    function(x, out)
    return out


def error_in_ulp(got, true):
    """|got - true| in units of the last place of double at the true value."""
    unit = np.spacing(np.abs(true.astype(np.float64))).astype(np.longdouble)
    return np.abs(got.astype(np.longdouble) - true) / unit


def grids():
    rng = np.random.default_rng(0)
    return {
        "middle": rng.uniform(-40, 40, 200_000),
        "whole range": rng.uniform(-745.1, 709.7, 200_000),
        "near 0": rng.uniform(-1, 1, 100_000) * 2.0 ** rng.integers(-60, 0, 100_000),
        "near multiples of ln 2": np.arange(-1070, 1024) * np.log(2)
        + rng.normal(size=2094) * 1e-13,
        "half multiples of ln 2": (np.arange(-1070, 1023) + 0.5) * np.log(2),
        "subnormal results": rng.uniform(-745.13, -708.3, 50_000),
        "integers": np.arange(-745.0, 710.0),
        "denormal arguments": np.array([TINY, -TINY, 1e-310, -1e-310, 0.0, -0.0]),
    }


@pytest.mark.parametrize("name", grids())
def test_exp_is_within_one_ulp(name):
    x = grids()[name]
    with np.errstate(under="ignore"):
        true = np.exp(x.astype(np.longdouble))
    assert error_in_ulp(call(losses.exp, x), true).max() <= 1.0


def test_exp_at_its_ends():
    x = [
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        709.78,
        709.79,
        1e308,
        -745.13,
        -745.14,
        -745.2,
        -1e308,
        1e-320,
    ]
    got = call(losses.exp, x)
    assert got[0] == np.inf
    assert got[1] == 0
    assert got[2] == got[3] == got[-1] == 1
    assert np.isfinite(got[4])
    assert got[5] == got[6] == np.inf
    assert got[7] == TINY
    assert (got[9:11] == 0).all()
    assert got[8] in (0, TINY)
    assert np.isnan(call(losses.exp, [np.nan, -np.nan])).all()


def test_exp_overflows_and_underflows_where_numpy_does():
    edges = np.concatenate(
        [
            709.782712893384 + np.arange(-50, 50) * 1.2e-13,
            -745.1332191019411 + np.arange(-50, 50) * 1.2e-13,
        ]
    )
    with np.errstate(over="ignore", under="ignore"):
        true = np.exp(edges)
    got = call(losses.exp, edges)
    # the very last argument may fall on either side
    assert (np.isinf(got) != np.isinf(true)).sum() <= 1
    assert ((got == 0) != (true == 0)).sum() <= 1


@pytest.mark.parametrize(
    "power", [-1074, -1022, -60, -53, -30, -5, -1, 0, 1, 30, 52, 53, 500, 1023]
)
def test_log1p_is_within_two_ulp(power):
    rng = np.random.default_rng(power + 2000)
    x = rng.uniform(1, 2, 20_000) * 2.0**power
    true = np.log1p(x.astype(np.longdouble))
    assert error_in_ulp(call(losses.log1p, x), true).max() <= 2.0
    if power < 0:
        x = -x[x < 1]
        true = np.log1p(x.astype(np.longdouble))
        assert error_in_ulp(call(losses.log1p, x), true).max() <= 2.0


def test_log1p_near_its_seams():
    rng = np.random.default_rng(1)
    seams = [-1 + 1e-15, -0.5, np.sqrt(0.5) - 1, 0.0, np.sqrt(2) - 1, 1.0, 2 * np.sqrt(2) - 1]
    x = np.concatenate(
        [seam + rng.normal(size=5000) * 10.0 ** rng.uniform(-17, -6, 5000) for seam in seams]
    )
    x = x[x > -1]
    true = np.log1p(x.astype(np.longdouble))
    assert error_in_ulp(call(losses.log1p, x), true).max() <= 2.0


def positive_numbers():
    rng = np.random.default_rng(3)
    root, least = np.sqrt(2.0), np.finfo(float).tiny
    seams = [1.0, root, 2.0, 0.5 * root, np.nextafter(2, 1), least, np.finfo(float).max]
    return np.concatenate([
        2.0 ** rng.uniform(-1022, 1023.9, 100_000), rng.uniform(0.5, 2.5, 100_000),
        np.arange(1.0, 5000.0), 1.0 + rng.normal(size=9999) * 2.0 ** rng.integers(-50, -2, 9999),
        seams, np.nextafter(seams[:-1], np.inf), np.nextafter(seams[:5], 0),
    ])  # fmt: skip


def test_log_is_within_one_ulp():
    x = positive_numbers()
    true = np.log(x.astype(np.longdouble))
    assert error_in_ulp(call(losses.log, x), true).max() <= 1.0
    small = 2.0 ** np.random.default_rng(4).uniform(-1074, -1022, 1000)
    true = np.log(small.astype(np.longdouble))
    assert error_in_ulp(call(losses.log, small), true).max() <= 1.0


def test_log_has_the_same_bits_in_any_company():
    # a 0 among 64 numbers takes all of them one by one
    x = positive_numbers()
    alone = np.zeros((len(x), 2))
    alone[:, 0] = x
    one_by_one = call(losses.log, alone.ravel())[::2]
    assert one_by_one.tobytes() == call(losses.log, x).tobytes()


def test_log_at_its_ends():
    assert call(losses.log, [0.0, -0.0, np.inf, 1.0]).tolist() == [-np.inf, -np.inf, np.inf, 0.0]
    assert np.isnan(call(losses.log, [np.nan, -1.0, -np.inf, -TINY])).all()
    assert call(losses.log, []).size == 0


def test_log1p_at_its_ends():
    got = call(losses.log1p, [-1.0, np.inf, 0.0, -0.0, 1.7e308, np.finfo(float).max, TINY])
    assert got[0] == -np.inf
    assert got[1] == np.inf
    assert got[2] == got[3] == 0
    assert np.isfinite(got[4:6]).all()
    assert got[6] == TINY
    assert np.isnan(call(losses.log1p, [np.nan, -1.5, -np.inf, np.nextafter(-1, -2)])).all()


def test_sigmoid_is_accurate_in_both_tails():
    x = np.concatenate([np.linspace(-708, 40, 200_000), [-745.0, 745.0, -1e3, 1e3]])
    wide = x.astype(np.longdouble)
    with np.errstate(over="ignore", under="ignore"):
        true = np.where(wide < 0, np.exp(wide) / (1 + np.exp(wide)), 1 / (1 + np.exp(-wide)))
    got = call(losses.sigmoid, x)
    assert error_in_ulp(got[:-4], true[:-4]).max() <= 3.0
    np.testing.assert_array_equal(got[-3:], [1.0, 0.0, 1.0])
    assert 0 < got[-4] < 1e-322


def test_sigmoid_increases_and_is_symmetric():
    x = np.arange(-3200, 3201) / 64
    got = call(losses.sigmoid, x)
    assert (np.diff(got) >= -3e-16 * got[1:]).all()
    np.testing.assert_allclose(got + got[::-1], 1, rtol=0, atol=3e-16)
    assert np.isnan(call(losses.sigmoid, [np.nan])).all()
    np.testing.assert_array_equal(call(losses.sigmoid, [np.inf, -np.inf, 0.0]), [1.0, 0.0, 0.5])
