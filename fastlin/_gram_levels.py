"""The n-grams of words of documents, in order, length by length.

Once all words are known and in order, n-grams of two words are pairs of integers, and so are longer
ones with what is before their last word. Sorting these is faster than looking each up in a table
that is larger than the caches, brings the n-grams in order, and is shared by threads without
anything to be made one in the end.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ._aligned import huge_empty
from ._core.levels import (
    DIGIT_BITS,
    add_wanted,
    count_pieces,
    count_words,
    deal,
    number,
    place,
    raise_ids,
    sort_digit,
    split,
)
from ._core.text import begin_pages
from ._parallel import Cancelled, is_cancelled, n_threads, run

__all__ = [
    "Level", "document_cuts", "next_level", "occurrences", "placed", "word_level",
]  # fmt: skip

# Tokens of the documents that a task takes, and occurrences of a piece, which fit in a cache.
_CUT, _PIECE_BITS = 1 << 17, 15
# Pieces at most: memory is written at as many places at a time.
_MOST_PIECE_BITS = 8
# Memory that threads share whose pages are worth to be begun beforehand, and how much of it a task
# begins, between which Ctrl-C is seen.
_MANY_BYTES, _BYTES_PER_TASK = 1 << 22, 1 << 25


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


def document_cuts(ends: np.ndarray, size: int = 0) -> list[tuple[int, int]]:
    """Return ranges of documents of about so many tokens each."""
    n_tokens, size = int(ends[-1]) if len(ends) else 0, size or _CUT
    cuts = np.searchsorted(ends, np.arange(size, n_tokens, size)) + 1
    return list(itertools.pairwise(sorted({0, *cuts.tolist(), len(ends)})))


def occurrences(ends: np.ndarray, n: int) -> int:
    """Return how many n-grams of n units documents have."""
    if n == 1:
        return int(ends[-1]) if len(ends) else 0
    return int(np.maximum(np.diff(ends, prepend=0) - n + 1, 0).sum())


def _page_tasks(array: np.ndarray, n_jobs: int | None) -> list[Callable[[], None]]:
    """Return tasks that begin the pages of an array that nobody has written to, if they are many:
    of threads that are the first in one at the same time, each clears all of it."""
    threads, memory = n_threads(n_jobs), array.reshape(-1).view(np.uint8)
    if threads == 1 or len(memory) < _MANY_BYTES:
        return []
    parts = np.array_split(memory, max(threads, len(memory) // _BYTES_PER_TASK))
    return [functools.partial(begin_pages, part) for part in parts]


def word_level(tokens: np.ndarray, ends: np.ndarray, n_words: int, n_jobs: int | None) -> Level:
    """Return the level of words, given the documents as words."""
    cuts = document_cuts(ends)
    seen = np.zeros((n_threads(n_jobs), n_words, 3), np.uint32)

    def count(k: int) -> None:
        for first, last in cuts[k :: len(seen)]:
            if is_cancelled():
                raise Cancelled
            count_words(tokens, ends, first, last, seen[k])

    run([functools.partial(count, k) for k in range(len(seen))], n_jobs)
    nothing = np.zeros(n_words, np.uint32)
    words = np.arange(n_words, dtype=np.uint32)
    documents, total = (np.sum(seen[:, :, k], axis=0, dtype=np.uint32) for k in (1, 2))
    return Level(nothing, words, documents, total, tokens)


def next_level(
    below: Level, n_words: int, tokens: np.ndarray, ends: np.ndarray, n: int, n_jobs: int | None
) -> Level:
    """Return the level of n-grams of n units, given that below."""
    bits = max(len(below) - 1, 0).bit_length()
    shift = max(bits - min(_MOST_PIECE_BITS, (len(tokens) >> _PIECE_BITS).bit_length()), 0)
    cuts = document_cuts(ends)
    counts = np.zeros((len(cuts), (max(len(below) - 1, 0) >> shift) + 1), np.int64)
    grams = huge_empty((occurrences(ends, n), 4), np.dtype(np.uint32))
    ids = huge_empty((len(tokens),), np.dtype(np.uint32))

    def share(task: Callable[[int, tuple[int, int]], None], first: Sequence = ()) -> None:
        run([*first, *(functools.partial(task, *each) for each in enumerate(cuts))], n_jobs)

    # All threads will write all over these.
    share(
        lambda k, cut: count_pieces(below.ids, ends, *cut, n, shift, counts[k]),
        [*_page_tasks(grams, n_jobs), *_page_tasks(ids, n_jobs)],
    )
    sizes = counts.sum(axis=0)
    begins = np.cumsum(sizes) - sizes
    n_grams = np.zeros(len(sizes), np.int64)
    if len(grams):
        free = np.cumsum(counts, axis=0) - counts + begins
        share(lambda k, cut: deal(below.ids, tokens, ends, *cut, n, shift, free[k], grams))
        digits = [*_digits(True, (n_words - 1).bit_length()), *_digits(False, shift)]

        def sort(k: int) -> None:
            n_grams[k] = _sorted_piece(grams[begins[k] : begins[k] + sizes[k]], digits, ids)

        # The longest first, so that threads end together.
        order = np.argsort(-sizes, kind="stable")
        run([functools.partial(sort, k) for k in order[sizes[order] > 0].tolist()], n_jobs)
    offsets = np.cumsum(n_grams) - n_grams
    level = Level(*huge_empty((4, n_grams.sum()), np.dtype(np.uint32)), ids)

    def take(pieces: np.ndarray) -> None:
        for k in pieces.tolist():
            if is_cancelled():
                raise Cancelled
            here = slice(offsets[k], offsets[k] + n_grams[k])
            split(grams[begins[k] : begins[k] + n_grams[k]], *(array[here] for array in level[:4]))

    # Threads write apart from each other: of two that begin the same huge page, each clears it.
    shares = _shares(n_grams, offsets, n_threads(n_jobs))
    raised = offsets.astype(np.uint32)
    share(
        lambda k, cut: raise_ids(ids, below.ids, ends, *cut, n, shift, raised),
        [functools.partial(take, pieces) for pieces in shares],
    )
    return level


def _shares(n_grams: np.ndarray, offsets: np.ndarray, threads: int) -> list[np.ndarray]:
    """Return the pieces that each thread takes, about as many n-grams each: there may be few
    n-grams of some words, and many of others."""
    pieces = np.flatnonzero(n_grams)
    cuts = n_grams.sum() * np.arange(1, threads) // threads
    return np.split(pieces, np.searchsorted(offsets[pieces], cuts))


def placed(
    levels: list[Level], before: np.ndarray, wanted: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the n-grams that are wanted in order.

    In the order of code points an n-gram stands right before those that it begins, and "a b" before
    "ab", since a space is less than any word character: so n-grams are in order if they are as
    lists of words.

    Parameters
    ----------
    levels : list of Level
    before : uint32 array
        What each n-gram is without its last unit, those of a level behind those below.
    wanted : bool array
    n_jobs : int or None

    Returns
    -------
    features, columns, documents : int64, int32 and uint32 array
        The numbers of those that are wanted, in order; by number the place there, -1 for none; in
        how many documents each of the features is.
    """
    begins = np.cumsum([0, *map(len, levels)]).tolist()
    which = wanted.view(np.uint8)
    # Those of the last level begin none.
    size, free = wanted[: begins[-2]].astype(np.int64), np.zeros(begins[-2], np.int64)
    cuts = [_families(before, *each, n_jobs) for each in itertools.pairwise(begins)]
    for begin, shares in zip(begins[-2:0:-1], cuts[:0:-1], strict=True):
        run(
            [functools.partial(add_wanted, before, which, *cut, begin, size) for cut in shares],
            n_jobs,
        )
    n = np.count_nonzero(wanted)
    features, columns = np.empty(n, np.int64), np.empty(len(wanted), np.int32)
    documents = np.empty(n, np.uint32)

    def put(level: Level, begin: int, cut: tuple[int, int]) -> None:
        place(
            before, which, *cut, size, free, features, columns,
            level.documents[cut[0] - begin :], documents,
        )

    for level, begin, shares in zip(levels, begins[:-1], cuts, strict=True):
        run([functools.partial(put, level, begin, cut) for cut in shares], n_jobs)
    return features, columns, documents


def _families(
    before: np.ndarray, first: int, stop: int, n_jobs: int | None
) -> list[tuple[int, int]]:
    """Cut a level into a piece for each thread, so that what the same n-gram begins stays together.
    Words, which nothing begins, are one piece."""
    threads = n_threads(n_jobs) if first else 1
    family = before[first:stop]
    middle = [len(family) * k // threads for k in range(1, threads)] if len(family) else []
    edges = sorted({first, *(first + family.searchsorted(family[middle])).tolist(), stop})
    return list(itertools.pairwise(edges))


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
