"""The n-grams of several threads as one list.

Each thread has brought what it found in order, which is the larger part of the work. What is left
goes from the front of two lists to their ends, in pieces between names that both are cut at, so
that threads share it too. Entering the n-grams of one table in the other instead, and ordering them
all then, left threads waiting for more than half of the time.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ._core.names import first_not_before, keep, merge
from ._parallel import n_threads, run

__all__ = ["MergedNames", "Names"]

# Names of the longer list in a piece, at most.
_PIECE = 1 << 15

# The names in UTF-8, one behind the other, and where each ends.
Names = tuple[np.ndarray, np.ndarray]


class MergedNames:
    """Lists of names in order as one, each name once.

    Parameters
    ----------
    lists : sequence of Names
        Two or more.
    counts : sequence of int64 arrays, or None
        A number for each name.
    n_jobs : int or None

    Attributes
    ----------
    names : Names
    counts : int64 array, or None
        The sums of what names have in the lists.
    places : list of int64 arrays
        For each list the places of its names in the whole.
    """

    def __init__(
        self, lists: Sequence[Names], counts: Sequence[np.ndarray] | None, n_jobs: int | None
    ):
        self._n_jobs = n_jobs
        self.names, self.counts = lists[0], counts[0] if counts else None
        self.places: list[np.ndarray] = []
        others = counts[1:] if counts else [None] * (len(lists) - 1)
        for other, count in zip(lists[1:], others, strict=True):
            before, here = self._add(other, count)
            earlier = [before[place] for place in self.places] if self.places else [before]
            self.places = [*earlier, here]

    def __len__(self) -> int:
        return len(self.names[1])

    def kept(self, which: np.ndarray) -> Names:
        """The names that are kept, in order."""
        if which.all():
            return self.names
        names, ends = self.names
        whole_ends = np.cumsum(np.diff(ends, prepend=0) * which)
        whole = np.empty(whole_ends[-1], np.uint8)
        run(
            [
                functools.partial(
                    keep, names, ends, first, min(first + _PIECE, len(ends)), which.view(np.uint8),
                    whole_ends, whole,
                )
                for first in range(0, len(ends), _PIECE)
            ],
            self._n_jobs,
        )
        return whole, whole_ends[which]

    def _add(self, other: Names, count: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Add a list; returns the places of the names so far, and of its own."""
        if len(self) < len(other[1]):
            self.names, other, self.counts, count = other, self.names, count, self.counts
            return self._add(other, count)[::-1]
        places = np.empty(len(self), np.int64), np.empty(len(other[1]), np.int64)
        step = min(_PIECE, len(self) // (2 * n_threads(self._n_jobs)) + 1)
        cuts = [*range(0, max(1, len(self)), step), len(self)]
        others = [
            0, *(first_not_before(*other, _name(self.names, cut)) for cut in cuts[1:-1]),
            len(other[1]),
        ]
        pieces = run(
            [
                functools.partial(
                    _piece, self.names, slice(*cuts[k : k + 2]), other, slice(*others[k : k + 2]),
                    (self.counts, count, *places),
                )
                for k in range(len(cuts) - 1)
            ],
            self._n_jobs,
        )
        n = [0, *np.cumsum([len(piece[1]) for piece in pieces]).tolist()]
        size = [0, *np.cumsum([len(piece[0]) for piece in pieces]).tolist()]
        names = np.empty(size[-1], np.uint8)
        ends = np.empty(n[-1], np.int64)
        counts = None if count is None else np.empty(n[-1], np.int64)

        def put(k: int) -> None:
            here = slice(n[k], n[k + 1])
            names[size[k] : size[k + 1]] = pieces[k][0]
            np.add(pieces[k][1], size[k], out=ends[here])
            if counts is not None:
                counts[here] = pieces[k][2]
            places[0][cuts[k] : cuts[k + 1]] += n[k]
            places[1][others[k] : others[k + 1]] += n[k]

        run([functools.partial(put, k) for k in range(len(pieces))], self._n_jobs)
        self.names, self.counts = (names, ends), counts
        return places


def _piece(
    a: Names, i: slice, b: Names, j: slice, rest: tuple[np.ndarray | None, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Merge some names of two lists, given their counts, if any, and where their places go, which
    count from here; returns the names, their ends and their counts."""
    names = np.empty(_bytes(a, i) + _bytes(b, j) + 1, np.uint8)
    most = i.stop - i.start + j.stop - j.start
    ends, counts = np.empty(most, np.int64), None if rest[0] is None else np.empty(most, np.int64)
    n = merge(*a, i.start, i.stop, *b, j.start, j.stop, *rest, names, ends, counts)
    return names[: ends[n - 1] if n else 0], ends[:n], counts if counts is None else counts[:n]


def _bytes(names: Names, which: slice) -> int:
    """How many bytes some names have."""
    return int(names[1][which.stop - 1] - _begin(names, which.start)) if which.stop else 0


def _begin(names: Names, k: int) -> int:
    """Where name k begins."""
    return names[1][k - 1] if k else 0


def _name(names: Names, k: int) -> np.ndarray:
    """Name k."""
    return names[0][_begin(names, k) : names[1][k]]
