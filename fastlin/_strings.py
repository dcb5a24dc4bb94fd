"""Strings as numbers, and the Gram matrices of their kernels.

A string is a `str` or any sequence of hashable symbols, such as a list of words. The strings of a
kernel call are put in order of length, so that those that stand side by side in the kernel
(`fl_sequences.h`) are about equally long.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._core import encode as _encode
from ._core import gram as _gram
from ._params import shown

__all__ = [
    "Strings", "as_strings", "listed_samples", "mirror", "spectrum_diagonal", "spectrum_gram",
    "subsequence_diagonal", "subsequence_gram",
]  # fmt: skip

# Cells of the recursion per call of the kernel: about 50 ms
_CELLS_PER_CALL = 60_000_000
# Products of counts between two looks at Ctrl-C, and the share of counts other than 0 from which
# they are multiplied as an array
_PRODUCTS_PER_STRIP, _DENSE_SHARE = 50_000_000, 0.2
# Rows mirrored at a time
_STRIP = 256
# Containers whose elements come in no order that means anything
_WITHOUT_ORDER = (Mapping, Set)


class Strings:
    """Strings by rising length: string i has the symbols ends[i] ... ends[i + 1] - 1, and was
    number order[i]."""

    def __init__(self, codes: list[np.ndarray]):
        lengths = np.array([len(code) for code in codes], np.int64)
        self.order = np.argsort(lengths, kind="stable")
        self.lengths = lengths[self.order]
        self.ends = np.concatenate([[0], np.cumsum(self.lengths)])
        parts = [codes[i] for i in self.order]
        self.symbols = np.concatenate(parts) if parts else np.empty(0)

    def __len__(self) -> int:
        return len(self.order)

    def taken(self, rows: np.ndarray) -> Strings:
        """Some of them, in the caller's numbers."""
        place = np.empty(len(self), np.int64)
        place[self.order] = np.arange(len(self))
        return Strings([self.symbols[self.ends[i] : self.ends[i + 1]] for i in place[rows]])

    def side_by_side(self) -> tuple[np.ndarray, np.ndarray]:
        """(groups, where they start), as the kernel takes them."""
        width, n = _gram.STRINGS, len(self)
        longest = np.maximum(self.lengths[np.minimum(np.arange(width - 1, n + width - 1, width),
                                                     n - 1)], 1)
        starts = np.concatenate([[0], np.cumsum(longest * width)])
        groups = np.full(starts[-1], _gram.NO_SYMBOL)
        for i in range(n):
            begin = starts[i // width] + i % width
            end = begin + self.lengths[i] * width
            groups[begin:end:width] = self.symbols[self.ends[i] : self.ends[i + 1]]
        return groups, starts


def as_strings(*samples: Any) -> list[Strings]:
    """Lists of strings as numbers, equal symbols as equal ones."""
    lists = [listed_samples(strings, "strings or of sequences", "string") for strings in samples]
    if all(isinstance(string, str) for strings in lists for string in strings):
        return [Strings([_code_points(string) for string in strings]) for strings in lists]
    numbers: dict[Any, int] = {}
    return [
        Strings([_numbered(string, i, numbers) for i, string in enumerate(strings)])
        for strings in lists
    ]


def listed_samples(samples: Any, kind: str, one: str) -> list:
    """Samples as a list; what has none in an order, or columns of them, is refused."""
    if isinstance(samples, (str, bytes)) or not hasattr(samples, "__iter__"):
        raise TypeError(
            f"samples must be a list of {kind}, got {shown(samples)}; put a single {one} in a "
            "list."
        )
    table = hasattr(samples, "columns") or (
        getattr(samples, "ndim", 1) > 1 and getattr(samples.dtype, "kind", "O") in "OSUT"
    )
    if table or isinstance(samples, _WITHOUT_ORDER):
        raise TypeError(
            f"samples must be a list of {kind}, got {shown(samples)}"
            + ("; pass one column of it." if table else ", which has no order.")
        )
    samples = list(samples)
    if not samples:
        raise ValueError("0 sample(s) while a minimum of 1 is required.")
    return samples


def _code_points(string: str) -> np.ndarray:
    """The characters of a string."""
    return np.frombuffer(string.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.float64)


def _numbered(string: Any, place: int, numbers: dict[Any, int]) -> np.ndarray:
    """The numbers of the symbols of a sequence."""
    try:
        if isinstance(string, _WITHOUT_ORDER):
            raise TypeError("which has no order")
        given = string.tolist() if isinstance(string, np.ndarray) else list(string)
        symbols = np.fromiter(given, object, len(given))
        codes = np.empty(len(symbols), np.int32)
        _encode.number_objects(symbols, numbers, codes)
    except TypeError as error:
        raise TypeError(
            f"sample {place} must be a string or a sequence of hashable symbols, got "
            f"{shown(string)} ({error})."
        ) from None
    return codes.astype(np.float64)


def subsequence_gram(S: Strings, T: Strings | None, length: int, decay: float,
                     n_jobs: int | None) -> np.ndarray:
    """K_length of all pairs, not normalised, in the caller's order."""
    symmetric = T is None
    T = S if T is None else T
    if length > min(S.lengths.max(), T.lengths.max()):
        return np.zeros((len(S), len(T)))
    groups, starts = T.side_by_side()
    out = np.empty((len(S), len(T)))
    # cells of each row; the longest strings, which are the last, come first
    cells, groups_before = starts[-1] - starts, np.arange(len(S)) // _gram.STRINGS
    work = S.lengths * (cells[groups_before] if symmetric else cells[0])
    tasks = [
        partial(_fill, S.symbols, S.ends, groups, starts, length, decay, symmetric, out,
                len(S) - stop, len(S) - first)
        for first, stop in _parallel.portions(work[::-1], n_jobs)
    ]
    _parallel.run(tasks, n_jobs)
    if symmetric:
        mirror(out)
    found = np.empty_like(out)
    found[np.ix_(S.order, T.order)] = out
    return found


def mirror(gram: np.ndarray) -> None:
    """Write what stands above the diagonal below it."""
    for first in range(0, len(gram), _STRIP):
        strip = slice(first, first + _STRIP)
        gram[strip, :first] = gram[:first, strip].T
        block = gram[strip, strip]
        np.copyto(block, block.T.copy(), where=np.tri(len(block), k=-1, dtype=bool))


def _fill(symbols: np.ndarray, ends: np.ndarray, groups: np.ndarray, starts: np.ndarray,
          length: int, decay: float, symmetric: bool, out: np.ndarray, first: int,
          stop: int) -> None:
    """Rows first ... stop - 1 of the Gram matrix."""
    place = np.array([first, first // _gram.STRINGS if symmetric else 0, 0], np.int64)
    room, total = np.empty(length * int(np.diff(starts).max())), np.empty(_gram.STRINGS)
    while not _gram.subsequences(symbols, ends, groups, starts, length, decay, symmetric, place,
                                 stop, _CELLS_PER_CALL, room, total, out):
        if _parallel.is_cancelled():
            raise _parallel.Cancelled


def subsequence_diagonal(S: Strings, length: int, decay: float) -> np.ndarray:
    """K_length of each string with itself."""
    if length > S.lengths.max():
        return np.zeros(len(S))
    width, (groups, starts) = _gram.STRINGS, S.side_by_side()
    found = np.empty(len(S))
    for first in range(0, len(S), width):
        stop = min(first + width, len(S))
        out = np.empty((stop - first, stop - first))
        group = starts[first // width : first // width + 2]
        _fill(S.symbols, S.ends[first : stop + 1], groups, group, length, decay, False, out, 0,
              stop - first)
        found[S.order[first:stop]] = np.diagonal(out)
    return found


def spectrum_gram(S: Strings, T: Strings | None, length: int) -> np.ndarray:
    """Sums over the words of `length` symbols of how often both strings have them."""
    counts = _word_counts([S] if T is None else [S, T], length)
    others = counts[-1].T.tocsr()
    if others.nnz > _DENSE_SHARE * others.shape[0] * others.shape[1]:
        others = others.toarray()
    out = np.empty((len(S), others.shape[1]))
    # the products of a row are at most its words times the other strings
    step = max(1, int(_PRODUCTS_PER_STRIP * len(S) / max(counts[0].nnz * others.shape[1], 1)))
    for first in range(0, len(S), step):
        if _parallel.is_cancelled():
            raise _parallel.Cancelled
        strip = counts[0][first : first + step] @ others
        out[first : first + step] = strip if isinstance(strip, np.ndarray) else strip.toarray()
    return out


def _word_counts(lists: list[Strings], length: int) -> list[Any]:
    """CSR counts of the words of each string, in the caller's order."""
    from scipy.sparse import csr_matrix

    symbols = np.concatenate([strings.symbols for strings in lists])
    lengths = np.concatenate([strings.lengths for strings in lists])
    length = min(length, int(lengths.max(initial=0)) + 1)  # no string has such words, nor longer
    owner = np.repeat(np.arange(len(lengths)), lengths)
    codes = np.unique(symbols, return_inverse=True)[1].astype(np.int64)
    words = codes
    for k in range(1, length):
        words = words[:-1] * (codes.max(initial=0) + 1) + codes[k:] if len(words) > 1 else words[:0]
        words = np.unique(words, return_inverse=True)[1].astype(np.int64)
    last = owner[length - 1 :] if len(words) else owner[:0]
    inside = owner[: len(words)] == last
    words, rows = words[inside], last[inside]
    shape = (len(lengths), int(words.max(initial=0)) + 1)
    counts = csr_matrix((np.ones(len(words)), (rows, words)), shape=shape)
    counts.sum_duplicates()
    found, start = [], 0
    for strings in lists:
        part = np.empty(len(strings), np.int64)
        part[strings.order] = np.arange(start, start + len(strings))
        found.append(counts[part])
        start += len(strings)
    return found


def spectrum_diagonal(S: Strings, length: int) -> np.ndarray:
    """The same of each string with itself."""
    (counts,) = _word_counts([S], length)
    return np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
