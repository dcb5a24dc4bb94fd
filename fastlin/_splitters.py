"""Splitters: which rows to train on and which to test on.

With the same integer as `random_state` the parts are those of scikit-learn, row for row, so that
scores can be compared across the two libraries; that is why integers seed a `RandomState` here.
What is public is to be imported from `model_selection`.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._core.rows import Rows
from ._exceptions import warn
from ._kinds import is_sparse
from ._params import Boolean, Integer, RandomState, Real, shown
from ._row_slices import rows_taken
from ._targets import check_target, encode_labels

__all__ = ["KFold", "LeaveOneOut", "StratifiedKFold", "n_rows", "take", "train_test_split"]


def _generator(random_state: Any) -> Any:
    """Return the source of random numbers that a seed stands for."""
    RandomState().check("random_state", random_state)
    random = np.random
    if isinstance(random_state, (random.RandomState, random.Generator)):
        return random_state
    if isinstance(random_state, numbers.Integral) and int(random_state) > 2**32 - 1:
        random_state = random.SeedSequence(int(random_state))
    if isinstance(random_state, random.SeedSequence):
        return random.RandomState(random.MT19937(random_state))
    return random.RandomState(random_state)


def n_rows(X: Any) -> int:
    """Return the number of rows of anything that has some."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape):
        return int(shape[0])
    if not hasattr(X, "__len__"):
        raise TypeError(f"X must have rows that can be counted, got {shown(X)}; pass a list of it.")
    return len(X)


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of an array, matrix, frame or sequence."""
    if X is None:
        return None
    if isinstance(X, Rows):
        return rows_taken(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take_rows"):
        return X.take_rows(rows)
    if is_sparse(X):
        return X.tocsr()[rows]
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    return X[rows]


class _Folds(ABC):
    """What splitters into k folds share."""

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        Integer(2).check("n_splits", n_splits)
        Boolean().check("shuffle", shuffle)
        RandomState().check("random_state", random_state)
        if random_state is not None and not shuffle:
            raise ValueError(
                "random_state has no effect without shuffling: leave it at None or set "
                "shuffle=True."
            )
        self.n_splits, self.shuffle, self.random_state = int(n_splits), shuffle, random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : ignored

        Returns
        -------
        int
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows to train on and the rows to test on, once for each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of rows counts.
        y : array-like of shape (n_samples,), default=None
            The target; `KFold` does not look at it.
        groups : ignored

        Yields
        ------
        train, test : ndarray of int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If there are too few rows.
        """
        n = n_rows(X)
        if self.n_splits > n:
            raise ValueError(
                f"n_splits must not be greater than the number of rows, got n_splits="
                f"{self.n_splits} for n_samples={n}."
            )
        fold_of = self._fold_of_rows(n, y)
        for fold in range(self.n_splits):
            in_test = fold_of == fold
            yield np.flatnonzero(~in_test), np.flatnonzero(in_test)

    @abstractmethod
    def _fold_of_rows(self, n: int, y: Any) -> np.ndarray:
        """Return for each row the fold that tests on it."""

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_splits={self.n_splits}, random_state={self.random_state!r}, "
            f"shuffle={self.shuffle})"
        )


class KFold(_Folds):
    """Split rows into k parts; each serves once as the test set.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2. The first ``n % n_splits`` folds have one row more.
    shuffle : bool, default=False
        Whether to deal the rows at random instead of in runs.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the shuffle; only with `shuffle`.

    Raises
    ------
    ValueError
        If a parameter is not valid.

    Examples
    --------
    >>> from fastlin.model_selection import KFold
    >>> [test.tolist() for train, test in KFold(2).split(["a", "b", "c"])]
    [[0, 1], [2]]
    """

    def _fold_of_rows(self, n: int, y: Any) -> np.ndarray:
        """Deal the rows in runs, or at random."""
        order = np.arange(n)
        if self.shuffle:
            _generator(self.random_state).shuffle(order)
        sizes = np.full(self.n_splits, n // self.n_splits)
        sizes[: n % self.n_splits] += 1
        fold_of = np.empty(n, dtype=np.intp)
        fold_of[order] = np.repeat(np.arange(self.n_splits), sizes)
        return fold_of


class StratifiedKFold(_Folds):
    """Split rows into k parts with the same share of each class.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to deal the rows of a class at random instead of in runs.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the shuffle; only with `shuffle`.

    Raises
    ------
    ValueError
        If a parameter is not valid; in `split`, if every class has fewer rows than folds.

    Warns
    -----
    UserWarning
        If some class has fewer rows than there are folds.

    Examples
    --------
    >>> from fastlin.model_selection import StratifiedKFold
    >>> folds = StratifiedKFold(2).split([[0]] * 4, ["a", "a", "b", "b"])
    >>> [test.tolist() for train, test in folds]
    [[0, 2], [1, 3]]
    """

    def _fold_of_rows(self, n: int, y: Any) -> np.ndarray:
        """Deal the rows of each class."""
        codes = self._codes_by_appearance(n, y)
        counts = np.bincount(codes)
        rng = _generator(self.random_state) if self.shuffle else None
        fold_of = np.empty(n, dtype=np.intp)
        # The rows, sorted by class, are dealt like cards: sizes differ by one at most, both of
        # folds and of a class's share in them.
        first = 0
        for code, count in enumerate(counts):
            dealt = np.sort(np.arange(first, first + count) % self.n_splits)
            if rng is not None:
                rng.shuffle(dealt)
            fold_of[codes == code] = dealt
            first += count
        return fold_of

    def _codes_by_appearance(self, n: int, y: Any) -> np.ndarray:
        """Return the class of each row as a number, classes counted in their order in y."""
        y = check_target(y, self, n_samples=n)
        codes = encode_labels(y)[1]
        _, first_row, codes = np.unique(codes, return_index=True, return_inverse=True)
        counts = np.bincount(codes)
        if (counts < self.n_splits).all():
            raise ValueError(
                f"n_splits must not be greater than the number of rows of every class, got "
                f"n_splits={self.n_splits}; the largest class has {counts.max()} rows."
            )
        if counts.min() < self.n_splits:
            warn(
                "UserWarning",
                f"The least populated class in y has only {counts.min()} rows, fewer than "
                f"n_splits={self.n_splits}: some folds do not test it.",
            )
        return np.argsort(np.argsort(first_row))[codes]


class LeaveOneOut:
    """Split rows so that each is the test set once, and all others train.

    Examples
    --------
    >>> from fastlin.model_selection import LeaveOneOut
    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split("abc")]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """

    def get_n_splits(self, X: Any, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds, which is that of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of rows counts.
        y, groups : ignored

        Returns
        -------
        int
        """
        if X is None:
            raise ValueError("X must be given: LeaveOneOut has as many folds as X has rows.")
        return n_rows(X)

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows to train on and the row to test on, once for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of rows counts.
        y, groups : ignored

        Yields
        ------
        train, test : ndarray of int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If there is only one row.
        """
        n = n_rows(X)
        if n < 2:
            raise ValueError(f"LeaveOneOut needs at least 2 rows, got {n}.")
        every = np.arange(n)
        for row in range(n):
            yield np.delete(every, row), every[row : row + 1]

    def __repr__(self) -> str:
        return "LeaveOneOut()"


def train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
) -> list[Any]:
    """Split arrays into a part to train on and a part to test on.

    Parameters
    ----------
    *arrays : arrays, sparse matrices, frames or lists with the same number of rows
        What to split.
    test_size, train_size : float or int, default=None
        A share in (0, 1) or a number of rows. By default what the other leaves, or 0.25 for the
        test.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the shuffle.
    shuffle : bool, default=True
        False takes the first rows to train and the last to test.
    stratify : array-like of shape (n_samples,), default=None
        Classes whose shares shall be the same in both parts.

    Returns
    -------
    list
        The training part and the test part of the first array, of the second, ...

    Raises
    ------
    ValueError
        If a size is not possible, or the arrays differ in length.

    Examples
    --------
    >>> from fastlin.model_selection import train_test_split
    >>> train_test_split(list("abcd"), test_size=1, shuffle=False)
    [['a', 'b', 'c'], ['d']]
    """
    if not arrays:
        raise ValueError("train_test_split needs at least one array.")
    Boolean().check("shuffle", shuffle)
    lengths = [n_rows(array) for array in arrays if array is not None]
    if len(set(lengths)) > 1:
        raise ValueError(f"The arrays must have the same number of rows, got {lengths}.")
    n = lengths[0]
    n_train, n_test = _part_sizes(n, train_size, test_size)
    if not shuffle:
        if stratify is not None:
            raise ValueError("stratify needs shuffle=True.")
        train, test = np.arange(n_train), np.arange(n_train, n_train + n_test)
    elif stratify is None:
        order = _generator(random_state).permutation(n)
        test, train = order[:n_test], order[n_test : n_test + n_train]
    else:
        train, test = _stratified_parts(stratify, n, n_train, n_test, _generator(random_state))
    return [take(array, rows) for array in arrays for rows in (train, test)]


def _part_sizes(n: int, train_size: Any, test_size: Any) -> tuple[int, int]:
    """Return the numbers of rows that two sizes mean."""
    wanted = {}
    for name, size, rounded in (("train", train_size, np.floor), ("test", test_size, np.ceil)):
        if size is None:
            continue
        whole = isinstance(size, numbers.Integral)
        rule = Integer(1, n - 1) if whole else Real(0, 1, closed="neither")
        rule.check(f"{name}_size", size)
        wanted[name] = int(size) if whole else int(rounded(size * n))
    if not wanted:
        wanted["test"] = int(np.ceil(0.25 * n))
    n_test = wanted.get("test", n - wanted.get("train", 0))
    n_train = wanted.get("train", n - n_test)
    if n_train + n_test > n or n_train < 1 or n_test < 1:
        raise ValueError(
            f"train_size={train_size!r} and test_size={test_size!r} of {n} rows give {n_train} and "
            f"{n_test}; both parts must have a row, and both together no more than there are."
        )
    return n_train, n_test


def _stratified_parts(
    stratify: Any, n: int, n_train: int, n_test: int, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to train and to test on, each class in both by its share."""
    codes = encode_labels(check_target(stratify, StratifiedKFold(), n_samples=n))[1]
    counts = np.bincount(codes)
    if counts.min() < 2:
        raise ValueError("stratify has a class with one row only; every class needs two or more.")
    if min(n_train, n_test) < len(counts):
        raise ValueError(
            f"stratify has {len(counts)} classes, more than the {min(n_train, n_test)} rows of the "
            "smaller part."
        )
    in_train = _shares(counts, n_train, rng)
    in_test = _shares(counts - in_train, n_test, rng)
    train, test = [], []
    for code, count in enumerate(counts):
        rows = np.flatnonzero(codes == code)[rng.permutation(count)]
        train.append(rows[: in_train[code]])
        test.append(rows[in_train[code] : in_train[code] + in_test[code]])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def _shares(counts: np.ndarray, n_draws: int, rng: Any) -> np.ndarray:
    """Divide a number of draws by the sizes of classes, by largest remainder, ties at random."""
    exact = counts / counts.sum() * n_draws
    share = np.floor(exact)
    left = int(n_draws - share.sum())
    remainder = exact - share
    for value in np.sort(np.unique(remainder))[::-1]:
        if left == 0:
            break
        (tied,) = np.where(remainder == value)
        n_up = min(len(tied), left)
        share[rng.choice(tied, size=n_up, replace=False)] += 1
        left -= n_up
    return share.astype(int)
