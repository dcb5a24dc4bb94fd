"""The n-grams of several threads as one list.

Each thread has brought what it found in order, which is the larger part of the work. What is left
goes from the front of two lists to their ends, in pieces between names that both are cut at, so
that threads share it too. Entering the n-grams of one table in the other instead, and ordering them
all then, left threads waiting for more than half of the time.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._core.names import first_not_before, keep, merge, merge_words
from ._parallel import n_threads, run

__all__ = ["MergedNames", "Names", "Words", "merged_words"]

# Names of the longer list in a piece, at most.
_PIECE = 1 << 15

# The names in UTF-8, one behind the other, and where each ends.
Names = tuple[np.ndarray, np.ndarray]


class Words(NamedTuple):
    """Words in order: the numbers of their first eight bytes, where they begin in an arena, and how
    many bytes they are."""

    keys: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def text(self, k: int, arena: np.ndarray) -> bytes:
        """Word k."""
        return arena[self.starts[k] :][: self.lengths[k]].tobytes()


class MergedNames:
    """Lists of names in order as one, each name once.

    Parameters
    ----------
    lists : sequence of Names
        Two or more.
    counts : sequence of int64 arrays
        A number for each name.
    n_jobs : int or None

    Attributes
    ----------
    names : Names
    counts : int64 array
        The sums of what names have in the lists.
    places : list of int64 arrays
        For each list the places of its names in the whole.
    """

    def __init__(
        self, lists: Sequence[Names], counts: Sequence[np.ndarray], n_jobs: int | None
    ):
        self._n_jobs = n_jobs
        self.names, self.counts = lists[0], counts[0]
        self.places: list[np.ndarray] = []
        for other, count in zip(lists[1:], counts[1:], strict=True):
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

    def _add(self, other: Names, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
        ends, counts = np.empty((2, n[-1]), np.int64)

        def put(k: int) -> None:
            here = slice(n[k], n[k + 1])
            names[size[k] : size[k + 1]] = pieces[k][0]
            np.add(pieces[k][1], size[k], out=ends[here])
            counts[here] = pieces[k][2]
            places[0][cuts[k] : cuts[k + 1]] += n[k]
            places[1][others[k] : others[k + 1]] += n[k]

        run([functools.partial(put, k) for k in range(len(pieces))], self._n_jobs)
        self.names, self.counts = (names, ends), counts
        return places


def _piece(
    a: Names, i: slice, b: Names, j: slice, rest: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge some names of two lists, given their counts and where their places go, which count from
    here; returns the names, their ends and their counts."""
    names = np.empty(_bytes(a, i) + _bytes(b, j) + 1, np.uint8)
    most = i.stop - i.start + j.stop - j.start
    ends, counts = np.empty((2, most), np.int64)
    n = merge(*a, i.start, i.stop, *b, j.start, j.stop, *rest, names, ends, counts)
    return names[: ends[n - 1] if n else 0], ends[:n], counts[:n]


def _bytes(names: Names, which: slice) -> int:
    """How many bytes some names have."""
    return int(names[1][which.stop - 1] - _begin(names, which.start)) if which.stop else 0


def _begin(names: Names, k: int) -> int:
    """Where name k begins."""
    return names[1][k - 1] if k else 0


def _name(names: Names, k: int) -> np.ndarray:
    """Name k."""
    return names[0][_begin(names, k) : names[1][k]]


def merged_words(
    arena: np.ndarray, lists: Sequence[Words], n_jobs: int | None
) -> tuple[Words, list[np.ndarray]]:
    """Return two or more lists of words of one arena as one, each word once, and for each list the
    places of its words in the whole. No word is written, and keys tell most of them apart."""
    whole, places = lists[0], []
    for other in lists[1:]:
        whole, before, here = _two_merged(arena, whole, other, n_jobs)
        earlier = [before[place] for place in places] if places else [before]
        places = [*earlier, here]
    return whole, places


def _two_merged(
    arena: np.ndarray, a: Words, b: Words, n_jobs: int | None
) -> tuple[Words, np.ndarray, np.ndarray]:
    """Merge two lists, a piece in each thread; returns the whole and the places of both."""
    n, m = len(a.keys), len(b.keys)
    threads = n_threads(n_jobs) if n >= n_threads(n_jobs) else 1
    cuts = [n * k // threads for k in range(threads + 1)]
    others = [0, *(_first_word_not_before(arena, b, a, cut) for cut in cuts[1:-1]), m]
    places = np.empty(n, np.uint32), np.empty(m, np.uint32)
    whole = Words(np.empty(n + m, np.uint64), *np.empty((2, n + m), np.uint32))
    tasks = [
        functools.partial(merge_words, arena, *a, *i, *b, *j, *places, *whole)
        for i, j in zip(itertools.pairwise(cuts), itertools.pairwise(others), strict=True)
    ]
    stops = run(tasks, n_jobs)
    pieces = [slice(i + j, stop) for i, j, stop in zip(cuts, others, stops, strict=False)]
    gap = 0
    for k in range(1, threads):
        gap += pieces[k].start - pieces[k - 1].stop
        places[0][cuts[k] : cuts[k + 1]] -= np.uint32(gap)
        places[1][others[k] : others[k + 1]] -= np.uint32(gap)
    if not gap:
        return Words(*(part[: stops[-1]] for part in whole)), *places
    return Words(*(np.concatenate([part[piece] for piece in pieces]) for part in whole)), *places


def _first_word_not_before(arena: np.ndarray, words: Words, others: Words, k: int) -> int:
    """The first word that is not before word k of another list."""
    key = others.keys[k]
    first, stop = (int(words.keys.searchsorted(key, side)) for side in ("left", "right"))
    of_key = range(first, stop)
    text = others.text(k, arena)
    return first + bisect.bisect_left(of_key, text, key=lambda i: words.text(i, arena))
