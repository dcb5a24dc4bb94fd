"""The logistic loss of many rows at once against the loss row by row, on each instruction set."""

import numpy as np
import pytest

from fastlin._core import losses, primal_cd
from fastlin._core.multi import instruction_sets
from fastlin._problem import LOSS_CODES

SETS = [(name, number) for name, number, runs in instruction_sets() if runs]
NO_WEIGHTS = np.empty(0)


def rows(n):
    rng = np.random.default_rng(n)
    z = rng.normal(size=n) * rng.choice([1e-9, 1.0, 30.0, 900.0], n)
    z[: min(n, 4)] = [0.0, 1e300, -1e300, 745.0][: min(n, 4)]
    return z, rng.choice([-1.0, 1.0], n), rng.random(n) + 0.1


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "isa"), SETS)
def test_rows_have_their_losses(name, isa, weighted, n):
    z, y, weight = rows(n)
    code = LOSS_CODES["log_loss"]
    value, slope, r, h = np.empty((4, n))
    losses.evaluate(code, 0.0, z, y, value, slope)
    total = primal_cd.expand(isa, code, 0.0, z, y, weight if weighted else NO_WEIGHTS, 0.25, 1e-3,
                             r, h)
    s = 0.25 * weight if weighted else np.full(n, 0.25)
    size = np.abs(slope)
    np.testing.assert_array_equal(r, -s * slope)
    # where 1 - size is small, it is exp(-|z|) times size
    ratio = np.empty(n)
    losses.exp(-np.abs(z), ratio)
    rest = np.where(y * z > 0, 1 - size, ratio * size)
    np.testing.assert_array_equal(h, s * np.maximum(size * rest, 1e-3 * size))
    assert total == pytest.approx(float(s @ value), rel=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "isa"), SETS)
def test_rows_have_their_conjugates(name, isa, weighted):
    z, y, weight = rows(777)
    code, weight = LOSS_CODES["log_loss"], weight if weighted else NO_WEIGHTS
    value, slope = np.empty((2, 777))
    losses.evaluate(code, 0.0, z, y, value, slope)
    for c in (1.0, 0.3, 0.0):
        got = primal_cd.log_loss_conjugate(isa, -slope, y, weight, c)
        true = losses.total_conjugate(code, 0.0, -c * slope, y, weight)
        assert got == pytest.approx(true, rel=1e-12, abs=1e-300)


def test_instruction_sets_agree_to_the_bit():
    z, y, weight = rows(4099)
    code, found = LOSS_CODES["log_loss"], set()
    for _, isa in SETS:
        r, h = np.empty((2, 4099))
        total = primal_cd.expand(isa, code, 0.0, z, y, weight, 1.0, 1e-3, r, h)
        conjugate = primal_cd.log_loss_conjugate(isa, y * np.clip(r * y, 0, 1), y, weight, 0.9)
        found.add((total, conjugate, r.tobytes(), h.tobytes()))
    assert len(found) == 1
