"""Orders of rows: uniform, complete, and the same for the same seed."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from fastlin import as_rows
from fastlin._core import order
from fastlin._epochs import RowOrder, row_order
from fastlin._random import spawn_seed
from fastlin._split import split_rows

LEVEL = 1e-4  # seeds are fixed, so that a test passes always or never


def rng(seed=0):
    return spawn_seed(seed, 1)[0]


def xoshiro(state):
    """xoshiro256** in Python's integers, for comparison."""
    mask = 2**64 - 1

    def rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & mask

    s = [int(word) for word in state]
    while True:
        yield (rotate(s[1] * 5 & mask, 7) * 9) & mask
        t = s[1] << 17 & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)


def lemire(generator, bound):
    """An unbiased draw below `bound` from the upper 32 bits."""
    while True:
        product = (next(generator) >> 32) * bound
        if product % 2**32 >= (2**32 - bound) % bound:
            return product >> 32


@pytest.mark.parametrize("n", [1, 2, 3, 10, 257])
def test_the_shuffle_is_fisher_and_yates_on_xoshiro(n):
    items, seed = np.arange(n), rng(5)
    generator, expected = xoshiro(seed.copy()), list(range(n))
    order.shuffle_all(items, seed)
    for i in range(n - 1, 0, -1):
        j = lemire(generator, i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    assert items.tolist() == expected
    # the state has moved: the next shuffle goes on from here
    again = np.arange(n)
    order.shuffle_all(again, seed)
    if n > 3:
        assert again.tolist() != expected


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_permutation_is_equally_likely(n):
    seed, draws = rng(1), 20_000
    counts = dict.fromkeys(itertools.permutations(range(n)), 0)
    for _ in range(draws):
        items = np.arange(n)
        order.shuffle_all(items, seed)
        counts[tuple(items.tolist())] += 1
    assert stats.chisquare(list(counts.values())).pvalue > LEVEL


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 100])
def test_draws_with_replacement_are_uniform(n):
    rows, drawn = np.arange(n) * 3 + 1, np.empty(60_000, dtype=np.int64)
    order.draw_with_replacement(rows, drawn, rng(2))
    values, counts = np.unique(drawn, return_counts=True)
    np.testing.assert_array_equal(values, rows)
    if n > 1:
        assert stats.chisquare(counts).pvalue > LEVEL
        pairs = (drawn[:-1] - 1) // 3 * n + (drawn[1:] - 1) // 3
        if n < 10:
            # neighbours overlap: take every other pair
            assert stats.chisquare(np.bincount(pairs[::2], minlength=n * n)).pvalue > LEVEL


def test_a_bound_that_does_not_divide_two_to_the_32_is_unbiased():
    # With bound 3 * 2^30 a plain modulo would give the lower third twice the weight of the rest.
    n = 3 * 2**10
    rows, drawn = np.arange(n), np.empty(300_000, dtype=np.int64)
    order.draw_with_replacement(rows, drawn, rng(3))
    thirds = np.bincount(drawn // 2**10, minlength=3)
    assert stats.chisquare(thirds).pvalue > LEVEL


@pytest.mark.parametrize("block", [1, 2, 3, 64, 1000])
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 130, 1000])
def test_blocks_hold_every_row_once_and_stay_together(n, block):
    rows = np.sort(np.random.default_rng(n).choice(10 * n + 1, n, replace=False))
    out, plain = np.full(n, -1), np.full(n, -1)
    order.shuffle_blocks(rows, out, block, rng(n), plain)
    np.testing.assert_array_equal(np.sort(out), rows)
    for start in range(0, n, block):
        # the same blocks, where the last and shorter one may stand anywhere
        assert len(set(plain[start : start + block])) == len(plain[start : start + block])
    np.testing.assert_array_equal(np.sort(plain), rows)
    np.testing.assert_array_equal(
        np.searchsorted(rows, plain) // block, np.searchsorted(rows, out) // block
    )
    again = np.full(n, -1)
    order.shuffle_blocks(rows, again, block, rng(n), np.empty(0, dtype=np.int64))
    np.testing.assert_array_equal(again, out)
    place = np.searchsorted(rows, out) // block
    changes = np.count_nonzero(np.diff(place))
    assert changes == max(0, -(-n // block) - 1)


def test_blocks_and_their_insides_are_uniform():
    seed, rows, counts = rng(4), np.arange(6), {}
    for _ in range(20_000):
        out = np.empty(6, dtype=np.int64)
        order.shuffle_blocks(rows, out, 3, seed, out[:0])
        counts[tuple(out.tolist())] = counts.get(tuple(out.tolist()), 0) + 1
    assert len(counts) == 2 * 6 * 6
    assert stats.chisquare(list(counts.values())).pvalue > LEVEL


def test_row_order_draws_anew_each_epoch():
    rows = np.arange(50)
    epochs = RowOrder(rows, True, rng(0).copy(), blocks=False)
    first, second = epochs.next().copy(), epochs.next().copy()
    assert first.tolist() != second.tolist()
    for one in (first, second):
        np.testing.assert_array_equal(np.sort(one), rows)
    np.testing.assert_array_equal(RowOrder(rows, False, rng(0), False).next(), rows)
    drawn = RowOrder(rows, "replacement", rng(0).copy(), False).next()
    assert len(drawn) == 50
    assert len(np.unique(drawn)) < 50


def test_row_order_leaves_its_seed_and_its_rows_alone():
    X, y = as_rows(np.ones((20, 1))), np.tile([1.0, -1.0], 10)
    rows, seed = np.arange(20), rng(0)
    kept = seed.copy()
    plan = row_order(X, y, rows, True, seed)
    plan.next()
    np.testing.assert_array_equal(seed, kept)
    np.testing.assert_array_equal(rows, np.arange(20))


def test_many_rows_are_shuffled_in_blocks_unless_sorted():
    n = 20_000
    X, rows = as_rows(np.ones((n, 1))), np.arange(n)
    mixed = np.random.default_rng(0).choice([-1.0, 1.0], n)
    blocks = row_order(X, mixed, rows, True, rng()).blocks
    assert n // blocks >= 1000 and blocks >= 8
    assert row_order(X, np.ones(n), rows, True, rng()).blocks == blocks
    assert not row_order(X, np.sort(mixed), rows, True, rng()).blocks
    assert not row_order(X, np.linspace(0, 1, n), rows, True, rng()).blocks
    assert not row_order(X, mixed, rows[:2000], True, rng()).blocks


@pytest.mark.parametrize("d", [1, 3000])
def test_neither_storage_nor_dtype_changes_the_order(d):
    X = sp.random(9000, d, 0.01, format="csr", random_state=0)
    y = np.random.default_rng(0).choice([-1.0, 1.0], 9000)
    ones = X.copy()
    ones.data[:] = 1
    storages = [as_rows(X), as_rows(X.astype(np.float32)), as_rows(ones)]
    storages += [as_rows(X.toarray()), as_rows(X.toarray().astype(np.float32))]
    orders = [row_order(rows, y, np.arange(9000), True, rng()) for rows in storages]
    for _ in range(2):
        first = orders[0].next().copy()
        for other in orders[1:]:
            np.testing.assert_array_equal(other.next(), first)


@pytest.mark.parametrize("most_bytes", [0, 1 << 20])
def test_rows_are_fetched_before_their_step(most_bytes, monkeypatch):
    monkeypatch.setattr("fastlin._epochs._FETCH_BLOCK_BYTES", most_bytes)
    X, y = as_rows(np.ones((9000, 3))), np.random.default_rng(0).choice([-1.0, 1.0], 9000)
    plan = row_order(X, y, np.arange(9000), True, rng())
    for _ in range(2):
        step = np.empty(9000, int)
        step[plan.next()] = np.arange(9000)
        fetched = step[plan.fetch] - np.arange(len(plan.fetch))
        assert fetched.min() > 0
        assert fetched.max() < max(2 * plan.blocks, 25)


def test_splits_are_disjoint_complete_and_stratified():
    rows = np.arange(5, 105)
    codes = np.arange(200) % 4
    train, test = split_rows(rows, 0.2, codes, rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), rows)
    np.testing.assert_array_equal(np.bincount(codes[test]), [5, 5, 5, 5])
    train, test = split_rows(rows, 0.3, None, rng(0))
    assert len(test) == 30
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), rows)
    with pytest.raises(ValueError, match=r"validation_fraction=0.001 of 100 rows leaves no rows"):
        split_rows(rows, 0.001, None, rng(0))
    with pytest.raises(ValueError, match=r"validation_fraction=0.999 of 100 rows leaves no rows"):
        split_rows(rows, 0.999, None, rng(0))


def test_held_out_rows_are_uniform():
    counts, seed = np.zeros(10), rng(7)
    for _ in range(5000):
        counts[split_rows(np.arange(10), 0.3, None, seed)[1]] += 1
    # drawn without replacement: variance is that of a hypergeometric, smaller than chi-square's
    assert np.abs(counts - 1500).max() < 150


def test_an_order_of_other_rows():
    order = RowOrder(np.arange(8), True, rng(0).copy(), blocks=0)
    assert order.only(np.arange(8)) is order
    # as many rows, but others
    other = order.only(np.arange(4, 12))
    assert sorted(other.next()) == list(range(4, 12))


def test_likeness_of_neighbours():
    rng = np.random.default_rng(0)
    for n, kept in ((1, 1), (2, 2), (50, 50), (1000, 300)):
        y = 5 + rng.normal(size=n).cumsum()
        rows = np.sort(rng.permutation(n)[:kept])
        deviation = y[rows] - y[rows].mean()
        expected = deviation @ deviation, deviation[1:] @ deviation[:-1]
        np.testing.assert_allclose(order.likeness(y, rows), expected, rtol=1e-9, atol=1e-12)
