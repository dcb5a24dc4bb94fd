"""Layouts derived from `Rows` for one fit: columns by frequency, or only those that occur.

An entry of a sparse row costs a visit of its column's weights. Where those of several outputs don't
fit the second-level cache, most of the time of an epoch goes into those visits, and it counts how
many of them find their weights near: those of frequent columns do, if frequent columns are
neighbours. So a long fit of several outputs counts the columns in a sample of the rows and, where
it pays, trains on a copy that has the most frequent column first, and in each row the entries of
frequent columns first. Columns that the sample has missed follow in the order in which the rows
meet them: a rare one shares its line with others of a row that has it. New numbers without a new
order of entries gain half as much, and nothing is gained where the weights fit the cache or columns
come by frequency anyway (one-hot data). Where a column fills a line, as 16 models do, frequent
neighbours still share pages: 38 % less time per epoch on bags of words with 1.3 million columns, by
new numbers alone.

A single output's weights are on their way when they are needed (`fl_per_column` in fl_rows.h), and
neighbours in the cache need not be neighbours in the row. New numbers alone cost 3 to 4 ns an entry
and save on the same data 0.3 of the 1.9 ns of each plain epoch, and 1 to 2 ns of adaptive steps,
which keep four numbers per column.

Where there are fewer entries than columns, as in a few thousand hashed texts, most columns do not
occur at all. Training then has weights for those that do, in their old order, and no pass over the
weights, as at the end of each epoch, meets the others: with 5,000 questions in 2**18 columns a fit
takes half the time. The weights of a column without entries stay what they were, zero. Exact
problems of one output with a penalty are solved on these columns as well, for 0 is their optimum
there.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from . import _parallel
from ._aligned import LINE_BYTES
from ._core import columns as _columns
from ._core import rows as _rows
from ._core.rows import NEAR_BYTES, Rows
from ._memory import machine_bytes

__all__ = ["ColumnOrder", "only_occurring", "prepared", "with_columns_of"]

# Pages, and how many have their addresses in the processor's table: 1024 to 3072 on recent ones.
# Larger pages need not exist below a virtual machine.
_PAGE_BYTES, _NEAR_PAGES = 4096, 2048
# Entries that are counted: enough to find the columns that matter; enough to see that none do, and
# for single weights, many of which fit the cache.
_SAMPLE, _SMALL_SAMPLE = 1 << 21, 1 << 18
# The share of entries that must newly find their weight in the cache
_GAIN = 0.08
# Epochs that the preparation, which costs about as much as three, has to serve; those of adaptive
# steps on one output, and of plain ones
_FEWEST_EPOCHS = 6
_FEWEST_ADAPTIVE_EPOCHS = 3
_FEWEST_PLAIN_EPOCHS = 16
# Epochs after which weights for few of the columns have paid for the search for them
_FEWEST_EPOCHS_OF_FEW = 3
# Entries per call of a kernel: some milliseconds. Entries for which a thread more pays, and pieces
# for each.
_PIECE, _FEWEST_SHARED, _SHARES = 1 << 22, 1 << 20, 4


class ColumnOrder:
    """Columns renumbered: `place[j]` is the new number of column j. All columns that do not occur
    may have one number, that of a column without entries."""

    def __init__(self, place: np.ndarray):
        self.place = place

    def renumbered(self, W: np.ndarray) -> np.ndarray:
        """W of shape (K, d) by the new numbers."""
        out = np.empty_like(W)
        out[:, self.place] = W
        return out

    def restored(self, w: np.ndarray) -> np.ndarray:
        """Weights w by the new numbers for the columns as they were."""
        return w[self.place]

    def brought(self, w: np.ndarray, width: int) -> np.ndarray:
        """Weights w for so many columns by the new numbers, 0 for all that share the last."""
        out = np.zeros(width)
        out[self.place] = w
        out[-1] = 0.0
        return out


def prepared(
    X: Rows, n_outputs: int, epochs: int, from_zero: bool = True, n_kept: int = 1,
    n_jobs: int | None = None,
) -> tuple[Rows, ColumnOrder | None]:
    """X with its columns by falling frequency, or only those that occur, and the order that leads
    there; X and None where this would not pay. Of a training that begins with zeros, columns that
    do not occur are left out in any case.

    Parameters
    ----------
    X : Rows
    n_outputs : int
        Weights per column.
    epochs : int
        How often training will visit the rows.
    from_zero : bool
        Whether training begins with weights of zero.
    n_kept : int
        Numbers that steps on one output keep for a column, its weight among them.
    n_jobs : int, optional
        Threads, as in `_parallel.n_threads`. What comes of it doesn't depend on them.
    """
    d, column_bytes = X.shape[1], n_outputs * n_kept * X.dtype.itemsize
    if X.layout == "dense" or d * column_bytes <= 2 * NEAR_BYTES:
        return X, None
    if X.nnz < d:
        pays = from_zero and epochs >= _FEWEST_EPOCHS_OF_FEW
        return only_occurring(X) if pays else (X, None)
    if n_outputs > 1:
        fewest = _FEWEST_EPOCHS
    else:
        fewest = _FEWEST_ADAPTIVE_EPOCHS if n_kept > 1 else _FEWEST_PLAIN_EPOCHS
    if epochs < fewest or X.nnz * _entry_bytes(X) > machine_bytes() // 4:
        return X, None
    if column_bytes >= LINE_BYTES and d * column_bytes <= _NEAR_PAGES * _PAGE_BYTES:
        return X, None  # neither lines nor pages could be nearer
    counts, groups = _counted(X, column_bytes, _SMALL_SAMPLE, n_jobs)
    if groups is not None and n_outputs > 1 and X.nnz >= 2 * _SMALL_SAMPLE:
        counts, groups = _counted(X, column_bytes, _SAMPLE, n_jobs)
    if groups is None:
        return X, None
    place, following = _columns.places(counts, groups), d - int(groups[0])
    if n_outputs > 1 and column_bytes < LINE_BYTES:
        indices, values, following = _moved(X, place, following)
    else:
        indices, values, following = _relabelled(X, place, following, n_jobs)
    # columns that do not occur: one without entries for all of them, or one for each
    if from_zero:
        unsigned = place.view(np.uint32)
        np.minimum(unsigned, following, out=unsigned)
        d = min(d, following + 1)
    else:
        place[place < 0] = np.arange(following, d, dtype=np.int32)
    renumbered = _rows.make_rows(X.layout, len(X), d, values, indices, X.indptr, X.dtype)
    return renumbered, ColumnOrder(place)


def with_columns_of(renumbered: Rows, X: Rows) -> Rows:
    """X with the column numbers of what `prepared` made of it in another dtype for at least as many
    outputs as a line holds: the entries are in the same order."""
    return _rows.make_rows(
        X.layout, len(X), renumbered.shape[1], X.values, renumbered.indices, X.indptr, X.dtype
    )


def only_occurring(X: Rows) -> tuple[Rows, ColumnOrder | None]:
    """X with the columns that occur, in their order, and one more for all others; X and None where
    those are less than half."""
    d, numbers = X.shape[1], X.indices
    if X.layout == "signed":
        numbers = np.maximum(numbers, ~numbers)
    occurs = np.zeros(d, bool)
    occurs[numbers] = True
    width = int(np.count_nonzero(occurs))
    if 2 * width >= d:
        return X, None
    place = np.full(d, width, np.int32)
    place[occurs] = np.arange(width, dtype=np.int32)
    indices = place[numbers]
    if X.layout == "signed":
        np.invert(indices, out=indices, where=X.indices < 0)
    kept = _rows.make_rows(
        X.layout, len(X), width + 1, X.values, indices, X.indptr, X.dtype
    )
    return kept, ColumnOrder(place)


def _counted(X: Rows, column_bytes: int, sample: int,
             n_jobs: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """How often each column occurs in a sample of so many entries, and how many columns were
    counted so often; None if no order of them would pay (`_groups`)."""
    n, d = X.shape
    step = max(1, X.nnz // sample)
    # adding up the counts of a further thread takes half as long as counting so many entries
    threads = max(1, min(_parallel.n_threads(n_jobs), 2 * X.nnz // step // d))
    counts = np.zeros((threads, d), np.int32)
    rows = step * max(1, min(_rows_per_piece(X), n // (step * threads)))

    def count(thread: int) -> None:
        for start in range(thread * rows, n, threads * rows):
            _columns.count(X, counts[thread], start, min(start + rows, n), step)

    _parallel.run([partial(count, thread) for thread in range(threads)], n_jobs)
    total = counts[0]
    for more in counts[1:]:
        total += more
    return total, _groups(total, column_bytes)


def _rows_per_piece(X: Rows) -> int:
    """Rows per call of a kernel."""
    return max(1, _PIECE * len(X) // X.nnz)


def _moved(X: Rows, place: np.ndarray, following: int) -> tuple:
    """(indices by the new numbers, those of frequent columns first in their row; the values that go
    with them; how many columns have places, which all that occur get)."""
    n, rows = len(X), _rows_per_piece(X)
    indices = np.empty_like(X.indices)
    values = np.empty(0 if X.values is None else X.nnz, X.dtype)
    for start in range(0, n, rows):
        following = _columns.renumber(
            X, place, following, indices, values, start, min(start + rows, n)
        )
    return indices, None if X.values is None else values, following


def _relabelled(X: Rows, place: np.ndarray, following: int, n_jobs: int | None) -> tuple:
    """`_moved` where all entries stay where they are.

    Further threads take later rows. They read the places of columns that the sample has; what they
    miss is settled when the first one, in whose copy columns get places, has come to an end."""
    n, indices = len(X), np.empty_like(X.indices)
    threads = min(_parallel.n_threads(n_jobs), X.nnz // _FEWEST_SHARED)
    given = place.copy() if threads > 1 else place
    rows = min(_rows_per_piece(X), -(-n // (_SHARES * threads)) if threads > 1 else n)
    starts = range(0, n, rows)
    own = -(-len(starts) // max(1, threads))

    def first() -> int:
        last = following
        for start in starts[:own]:
            last = _columns.relabel(X, place, last, indices, start, min(start + rows, n))
        return last

    later = [
        partial(_columns.relabel_placed, X, given, indices, start, min(start + rows, n))
        for start in starts[own:]
    ]
    following, *missed = _parallel.run([first, *later], max(1, threads))
    for start, entries in zip(starts[own:], missed, strict=True):
        following = _columns.settle(X, place, following, indices, entries, start)
    return indices, X.values, following


def _groups(counts: np.ndarray, column_bytes: int) -> np.ndarray | None:
    """How many columns were counted so often, if enough entries find their weight nearer once the
    columns go by frequency: in the lines that the cache holds, or in the pages whose addresses the
    processor holds."""
    groups, entries = _columns.frequencies(counts, 1)
    for near, unit in ((NEAR_BYTES, LINE_BYTES), (_NEAR_PAGES * _PAGE_BYTES, _PAGE_BYTES)):
        cached, width = near // column_bytes, unit // column_bytes
        if width <= 1:
            continue  # nothing else is near
        now = _share_of_first(*_columns.frequencies(counts, width), cached // width)
        if _share_of_first(groups, entries, cached) >= now + _GAIN:
            return groups
    return None


def _entry_bytes(X: Rows) -> int:
    """Memory per entry."""
    return 4 if X.values is None else 4 + X.dtype.itemsize


def _share_of_first(groups: np.ndarray, entries: np.ndarray, most: int) -> float:
    """Share of the entries in the `most` groups of columns that have the most of them."""
    before = np.cumsum(groups[::-1]) - groups[::-1]
    taken = np.clip(most - before, 0, groups[::-1]) / np.maximum(groups[::-1], 1)
    return float(taken @ entries[::-1] / max(1, entries.sum()))
