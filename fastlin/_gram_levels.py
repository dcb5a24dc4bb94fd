"""The n-grams of words of documents, in order, length by length: `src_c` has no part in it, the
kernels are those of _core/levels.pyx.

Once all words are known and in order, n-grams of two words are pairs of integers, and so are longer
ones with what is before their last word. Sorting these is faster than looking each up in a table
that is larger than the caches, brings the n-grams in order, and is shared by threads without
anything to be made one in the end.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ._core.levels import (
    DIGIT_BITS,
    count_pieces,
    count_words,
    deal,
    number,
    raise_ids,
    sort_digit,
    split,
    write_level,
)
from ._parallel import Cancelled, feed, is_cancelled, n_threads, run

__all__ = ["Level", "document_cuts", "next_level", "numbers_of", "word_level"]

# Tokens of the documents that a task takes, and occurrences of a piece, which fit in a cache.
_CUT, _PIECE_BITS = 1 << 17, 15
# Pieces at most: memory is written at as many places at a time.
_MOST_PIECE_BITS = 8


class Level(NamedTuple):
    """n-grams of one length in order: what each is without its last unit, by its number in the
    level below, that unit, in how many documents it is, how often in all, and the numbers of those
    that begin at each token."""

    before: np.ndarray
    last: np.ndarray
    documents: np.ndarray
    total: np.ndarray
    ids: np.ndarray

    def __len__(self) -> int:
        return len(self.last)


def document_cuts(ends: np.ndarray) -> list[tuple[int, int]]:
    """Return ranges of documents of about as many tokens each."""
    n_tokens = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(_CUT, n_tokens, _CUT)) + 1
    edges = np.unique(np.concatenate([[0], cuts, [len(ends)]])).tolist()
    return list(zip(edges[:-1], edges[1:], strict=True))


def word_level(tokens: np.ndarray, ends: np.ndarray, n_words: int, n_jobs: int | None) -> Level:
    """Return the level of words, given the documents as words."""
    cuts = document_cuts(ends)
    threads = min(n_threads(n_jobs), max(len(cuts), 1))
    seen = np.zeros((threads, n_words, 3), np.int64)
    seen[:, :, 0] = -1

    def count(k: int) -> None:
        for first, last in cuts[k::threads]:
            if is_cancelled():
                raise Cancelled
            count_words(tokens, ends, first, last, seen[k])

    run([functools.partial(count, k) for k in range(threads)], n_jobs)
    nothing = np.zeros(n_words, np.uint32)
    words = np.arange(n_words, dtype=np.uint32)
    return Level(nothing, words, seen[:, :, 1].sum(axis=0), seen[:, :, 2].sum(axis=0), tokens)


def next_level(
    below: Level, n_words: int, tokens: np.ndarray, ends: np.ndarray, n: int, n_jobs: int | None
) -> Level:
    """Return the level of n-grams of n units, given that below."""
    bits = max(len(below) - 1, 0).bit_length()
    shift = max(bits - min(_MOST_PIECE_BITS, (len(tokens) >> _PIECE_BITS).bit_length()), 0)
    cuts = document_cuts(ends)
    counts = np.zeros((len(cuts), (max(len(below) - 1, 0) >> shift) + 1), np.int64)
    rest = functools.partial(_for_each, cuts, n_jobs)
    rest(lambda k, first, last: count_pieces(below.ids, ends, first, last, n, shift, counts[k]))
    piece_ends = np.cumsum(counts.sum(axis=0))
    grams = np.empty((piece_ends[-1], 4), np.uint32)
    ids = np.empty(len(tokens), np.uint32)
    n_grams = np.zeros(len(piece_ends), np.int64)
    if len(grams):
        free = np.cumsum(counts.T).reshape(counts.T.shape) - counts.T
        free = np.ascontiguousarray(free.T)
        rest(lambda k, first, last: deal(
            below.ids, tokens, ends, first, last, n, shift, free[k], grams))
        begins = piece_ends - counts.sum(axis=0)
        digits = [*_digits(True, (n_words - 1).bit_length()), *_digits(False, shift)]

        def sort(pieces: Iterator[int]) -> None:
            for k in pieces:
                n_grams[k] = _sorted_piece(grams[begins[k] : piece_ends[k]], digits, ids)

        # The longest first, so that threads end together.
        order = np.argsort(begins - piece_ends, kind="stable")
        feed(order[(piece_ends > begins)[order]].tolist(), sort, n_jobs)
    offsets = np.cumsum(n_grams) - n_grams
    size = int(n_grams.sum())
    level = Level(
        np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.int64),
        np.empty(size, np.int64), ids,
    )
    if size:
        run([
            functools.partial(
                split, grams[begins[k] : begins[k] + count],
                *(array[offsets[k] : offsets[k] + count] for array in level[:4]),
            )
            for k, count in enumerate(n_grams.tolist()) if count
        ], n_jobs)  # fmt: skip
        raised = offsets.astype(np.uint32)
        rest(lambda k, first, last: raise_ids(
            ids, below.ids, ends, first, last, n, shift, raised))
    return level


def numbers_of(
    levels: list[Level], shortest: int, ends: np.ndarray, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the n-grams of documents first to last - 1 that are of `shortest` units
    or more, those of one level behind those below, and where each document's end."""
    lengths = np.diff(ends[first:last], prepend=ends[first - 1] if first else 0)
    counts = [np.maximum(lengths - n + 1, 0) for n in range(shortest, len(levels) + 1)]
    row_ends = np.cumsum(sum(counts), dtype=np.int64)
    places = row_ends - sum(counts)
    numbers = np.empty(row_ends[-1] if len(row_ends) else 0, np.uint32)
    offset = 0
    for n, level in enumerate(levels, 1):
        if n >= shortest and len(numbers):
            write_level(level.ids, ends, first, last, n, offset, places, numbers)
        offset += len(level)
    return numbers, row_ends


def _for_each(cuts: list[tuple[int, int]], n_jobs: int | None, task) -> None:
    """Call a task for each range of documents."""
    def work(fed: Iterator[tuple[int, tuple[int, int]]]) -> None:
        for k, cut in fed:
            task(k, *cut)

    feed(list(enumerate(cuts)), work, n_jobs)


def _digits(of_last: bool, bits: int) -> list[tuple[bool, int, int]]:
    """Return what to sort by, one after the other, so that the lowest bits are in order."""
    n_digits = -(-bits // DIGIT_BITS)
    cuts = [bits * k // n_digits for k in range(n_digits + 1)] if n_digits else []
    return [(of_last, low, high - low) for low, high in zip(cuts[:-1], cuts[1:], strict=True)]


def _sorted_piece(
    grams: np.ndarray, digits: list[tuple[bool, int, int]], ids: np.ndarray
) -> int:
    """Sort and number a piece; returns how many n-grams it has, which are its first rows then."""
    given, other = grams, np.empty_like(grams)
    for digit in digits:
        if is_cancelled():
            raise Cancelled
        sort_digit(given, other, *digit)
        given, other = other, given
    count = number(given, ids)
    if given is not grams:
        grams[:count] = given[:count]
    return count
