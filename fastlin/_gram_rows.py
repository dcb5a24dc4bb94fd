"""Rows of a Gram matrix, made when they are needed and kept within a limit of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._similarity import Similarity

__all__ = ["GramRows"]

_FEWEST_SLOTS = 8
# Rows that are made or summed up at a time, by their numbers
_BLOCK = 1 << 21
# Numbers of rows copied at once, and the share of all rows up to which copies pay
_IN_CACHE, _FEW = 1 << 17, 0.5
# A new row costs less with others, up to so many
_TOGETHER = 32


class GramRows:
    """The Gram matrix of samples, as far as it is at hand: row i is rows[place[i]], place[i] < 0 if
    it is not. stamp[k] is when rows[k] was last used.

    Parameters
    ----------
    similarity : Similarity
        The kernel.
    samples : object
        What `Similarity.hold` returned.
    n_bytes : int
        Memory for rows.
    gram : ndarray of shape (n, n), optional
        All rows, if they are known.
    """

    def __init__(self, similarity: Similarity, samples: Any, n_bytes: int,
                 gram: np.ndarray | None = None):
        self.similarity, self.samples = similarity, samples
        self.n = n = len(gram) if gram is not None else similarity.count(samples)
        self.is_whole = gram is not None
        # of the whole matrix, where it is known, what these samples are
        self.gram, self.columns = gram, np.arange(n)
        self.clock, self.used = 0, 0
        if gram is not None:
            self.rows, self.place = gram, np.arange(n)
            self.stamp = np.zeros(n, np.int64)
            self.diagonal = np.ascontiguousarray(np.diagonal(gram))
            return
        slots = min(n, max(_FEWEST_SLOTS, n_bytes // (8 * n)))
        self.rows, self.place = np.empty((slots, n)), np.full(n, -1, np.int64)
        self.stamp, self.owner = np.zeros(slots, np.int64), np.full(slots, -1, np.int64)
        self.diagonal = similarity.diagonal(samples)

    @property
    def together(self) -> int:
        """How many rows are best made at once."""
        most = self.similarity.together or max(1, _BLOCK // self.n)
        return max(1, min(most, _TOGETHER, len(self.rows) // 4))

    @property
    def has_room(self) -> bool:
        """Whether new rows drive no others out."""
        return self.used + self.together <= len(self.rows)

    def load(self, numbers: np.ndarray, last_used_first: bool = False) -> None:
        """Make rows that are missing; those used longest ago go, or, where all rows are visited in
        turn and that one would be the next, those used last."""
        if not len(numbers):
            return
        free = len(self.rows) - self.used
        if free < len(numbers):
            age = self.stamp[: self.used]
            given_up = np.argsort(-age if last_used_first else age, kind="stable")
            given_up = given_up[: len(numbers) - free]
            self.place[self.owner[given_up]] = -1
        else:
            given_up = np.empty(0, np.int64)
        fresh = np.arange(self.used, self.used + len(numbers) - len(given_up))
        slots = np.concatenate([fresh, given_up]).astype(np.int64)
        begin, self.used = self.used, self.used + len(fresh)
        is_room = len(fresh) == len(numbers) and self.rows.dtype == np.float64
        room = self.rows[begin : self.used] if is_room else None
        made = self._made(numbers, room)
        if made is not room:
            self.rows[slots] = made
        self.place[numbers], self.owner[slots] = slots, numbers
        self.clock += 1
        self.stamp[slots] = self.clock

    def row(self, number: int) -> np.ndarray:
        """One row, which stays until it has to go."""
        if self.place[number] < 0:
            self.load(np.array([number]))
        return self.rows[self.place[number]]

    def release(self) -> None:
        """Give back the memory of rows, unless they are all there."""
        if not self.is_whole:
            self.rows, self.used = np.empty_like(self.rows), 0
            self.place[:], self.owner[:], self.stamp[:] = -1, -1, 0

    def times(self, v: np.ndarray) -> np.ndarray:
        """K v"""
        numbers = np.flatnonzero(v)
        if self.is_whole:
            return self._times_whole(v, numbers)
        out = np.zeros(self.n)
        step = max(1, _BLOCK // self.n)
        at_hand = self.place[numbers] >= 0
        for part, is_made in ((numbers[at_hand], True), (numbers[~at_hand], False)):
            for first in range(0, len(part), step):
                some = part[first : first + step]
                out += v[some] @ (self.rows[self.place[some]] if is_made else self._made(some))
        return out

    def _times_whole(self, v: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """K v, where v is 0 but at some places: copies of few rows, in parts that stay in the
        cache, cost less than a pass over all."""
        if len(numbers) > _FEW * self.n:
            return self.rows @ v
        out, step = np.zeros(self.n), max(1, _IN_CACHE // self.n)
        for first in range(0, len(numbers), step):
            some = numbers[first : first + step]
            out += v[some] @ self.rows[some]
        return out

    def all_rows(self) -> np.ndarray:
        """K, where there is room for it; it stays."""
        if not self.is_whole:
            self.load(np.flatnonzero(self.place < 0))
            self.rows, self.stamp = self.rows[self.place], self.stamp[self.place]
            self.place, self.is_whole = np.arange(self.n), True
        return self.rows

    def _made(self, numbers: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows, afresh."""
        if self.gram is not None:
            return self.gram[np.ix_(self.columns[numbers], self.columns)]
        return self.similarity.block(self.samples, numbers, self.samples, out)

    def only(self, kept: np.ndarray, n_bytes: int, dtype: Any = np.float64) -> GramRows:
        """The Gram matrix of some of the samples, with what is known of it, its rows of `dtype`."""
        small = object.__new__(GramRows)
        small.similarity, small.n, small.is_whole = self.similarity, len(kept), False
        small.gram, small.columns = self.gram, self.columns[kept]
        if self.gram is None:
            small.samples = self.similarity.taken(self.samples, kept)
        slots = min(small.n, max(_FEWEST_SLOTS, n_bytes // (np.dtype(dtype).itemsize * small.n)))
        known = np.flatnonzero(self.place[kept] >= 0)
        if len(known) > slots:
            newest = np.argsort(-self.stamp[self.place[kept[known]]], kind="stable")
            known = np.sort(known[newest[:slots]])
        small.rows = np.empty((slots, small.n), dtype)
        small.place = np.full(small.n, -1, np.int64)
        small.owner = np.full(slots, -1, np.int64)
        small.stamp, small.clock = np.zeros(slots, np.int64), self.clock
        for k, number in enumerate(known):
            small.rows[k] = self.rows[self.place[kept[number]]][kept]
        small.used = len(known)
        small.place[known], small.owner[: small.used] = np.arange(small.used), known
        small.stamp[: small.used] = self.stamp[self.place[kept[known]]]
        small.diagonal = self.diagonal[kept]
        return small
