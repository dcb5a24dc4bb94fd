"""Rows that wait on disk between the epochs of a stream.

The cache is one temporary file of raw arrays, which has no name where the system allows that, and
vanishes with the process whatever ends it. Rows that arrive one after another are joined to blocks
of about `block_bytes`; a block is the unit that is mapped into memory, shuffled and learnt from.
Mapping rather than reading: a copy of each array would cost as much as the steps on it (both some
3 ns an entry). Pages are entered as they are touched, which the system does for 16 at a time;
asking for all of a block at once enters them one by one, which took up to a third of the time of
the steps. Only the block in use and the next one count as resident. If all rows fit into one block,
no file is written.
"""

from __future__ import annotations

import mmap
import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._core.rows import Rows
from ._data import as_rows, rows_from_parts
from ._memory import available_memory
from ._spool import no_room

__all__ = ["Block", "StreamCache"]

_ALIGNMENT = 64


@dataclass
class _Place:
    """Where the arrays of a block are: name -> (offset from its start, dtype, length)."""

    start: int
    layout: str
    n: int
    arrays: dict[str, tuple[int, np.dtype, int]] = field(default_factory=dict)
    size: int = 0
    longest_square: float = -1.0


@dataclass
class Block:
    """Some rows with their targets (class numbers or numbers), weights and held-out mask."""

    index: int
    rows: Rows
    y: np.ndarray
    weight: np.ndarray | None
    held_out: np.ndarray | None


class StreamCache:
    """Blocks of rows, written once and then read in any order.

    Parameters
    ----------
    folder : str or None
        Where the temporary file is made; None is the system's folder for such files.
    block_bytes : int
        Rows are joined until their arrays hold so many bytes. Rows that came together are never
        torn apart.

    Attributes
    ----------
    n_rows : int
    n_columns : int
        Those of the widest rows; may be raised before the first `load`.
    nbytes : int
        Bytes of all arrays.
    dtype : numpy.dtype or None
        That of the first rows, and so of all.
    has_weights : bool
        Whether any rows came with weights.
    """

    def __init__(self, folder: Any, block_bytes: int):
        self._folder, self._block_bytes = folder, block_bytes
        self._file: Any = None
        self._end = 0
        self._places: list[_Place] = []
        self._waiting: list[tuple[Rows, np.ndarray, np.ndarray | None]] = []
        self._waiting_bytes = 0
        self._kept: dict[str, np.ndarray] = {}
        self._may_be_on_disk = True
        self._last: Block | None = None
        self._masks: list[np.ndarray] = []
        self.n_rows = self.n_columns = self.nbytes = 0
        self.dtype: np.dtype | None = None
        self.has_weights = False

    def __enter__(self) -> StreamCache:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop everything; the file is gone."""
        self._waiting, self._kept, self._last, self._masks = [], {}, None, []
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def append(self, rows: Rows, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Add rows; their arrays belong to the cache now."""
        if self.dtype is None:
            self.dtype = rows.dtype
        elif rows.dtype != self.dtype:
            rows = as_rows(rows, self.dtype)
        joins = not self._waiting or _joins(self._waiting[-1][0], rows)
        if not joins or self._waiting_bytes + rows.nbytes > self._block_bytes:
            self._flush()
        self._waiting.append((rows, y, weight))
        self._waiting_bytes += rows.nbytes
        self.n_rows += len(rows)
        self.n_columns = max(self.n_columns, rows.shape[1])
        self.has_weights |= weight is not None

    def finish(self) -> None:
        """No more rows will come."""
        if self._places:
            self._flush()
            # Where there is room for twice the file, the system has kept all of it in memory, and
            # looking for pages to read ahead takes a twentieth of the time of the steps.
            free = available_memory()
            self._may_be_on_disk = free is None or 2 * self.nbytes > free
        elif self._waiting:
            place, arrays = self._joined()
            self._kept = {name: _whole(parts, place.arrays[name]) for name, parts in arrays.items()}
            self._register(place)

    def load(self, index: int, then: int | None = None) -> Block:
        """A block, whose arrays live as long as it does; `then` is the one needed next."""
        if self._last is not None and self._last.index == index:
            return self._last
        self._last = None
        place = self._places[index]
        get = self._kept.get if self._kept else self._mapped(place, then)
        rows = rows_from_parts(
            place.layout, place.n, self.n_columns, get("values"), get("indices"), get("indptr"),
            self.dtype,
        )
        if place.longest_square >= 0:
            rows._longest_square = place.longest_square
        mask = np.unpackbits(self._masks[index], count=place.n).view(bool) if self._masks else None
        self._last = Block(index, rows, get("y"), get("weight"), mask)
        return self._last

    def learn(self, block: Block) -> None:
        """Keep what was measured of the rows of a block for the next time it is loaded."""
        self._places[block.index].longest_square = block.rows._longest_square

    def hold_out(self, masks: list[np.ndarray]) -> None:
        """Mark rows, by a mask for each block; kept in memory, a bit per row."""
        self._masks = [np.packbits(mask) for mask in masks]
        self._last = None

    def _flush(self) -> None:
        """Write what waits as one block."""
        if not self._waiting:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, prefix="fastlin-")
        place, arrays = self._joined()
        try:
            for name, parts in arrays.items():
                offset, dtype, _ = place.arrays[name]
                self._file.seek(place.start + offset)
                for part in parts:
                    self._file.write(np.ascontiguousarray(part, dtype).data)
            self._file.truncate(place.start + place.size)
            self._file.flush()
        except OSError as error:
            raise no_room(error, self._folder, self._end) from None
        self._register(place)

    def _register(self, place: _Place) -> None:
        """Take up a block that has been stored."""
        self._places.append(place)
        self._end = -(-(place.start + place.size) // mmap.ALLOCATIONGRANULARITY) * (
            mmap.ALLOCATIONGRANULARITY
        )
        self.nbytes += place.size
        self._waiting, self._waiting_bytes = [], 0

    def _joined(self) -> tuple[_Place, dict[str, list[np.ndarray]]]:
        """(where the arrays of the block will be, the parts that each consists of)"""
        rows = [part for part, _, _ in self._waiting]
        layout, arrays = _arrays_of(rows)
        arrays["y"] = [y for _, y, _ in self._waiting]
        if any(weight is not None for _, _, weight in self._waiting):
            arrays["weight"] = [
                np.ones(len(part)) if weight is None else weight
                for part, _, weight in self._waiting
            ]
        place = _Place(self._end, layout, sum(map(len, rows)))
        for name, parts in arrays.items():
            dtype, length = parts[0].dtype, sum(map(len, parts))
            place.arrays[name] = (place.size, dtype, length)
            place.size += -(-length * dtype.itemsize // _ALIGNMENT) * _ALIGNMENT
        return place, arrays

    def _mapped(self, place: _Place, then: int | None) -> Any:
        """A function from a name to the array in the file, or None."""
        memory = self._map(place)
        if then is not None and self._may_be_on_disk and hasattr(mmap, "MADV_WILLNEED"):
            self._map(self._places[then]).madvise(mmap.MADV_WILLNEED)

        def get(name: str) -> np.ndarray | None:
            if name not in place.arrays:
                return None
            offset, dtype, length = place.arrays[name]
            return np.frombuffer(memory, dtype, length, offset)

        return get

    def _map(self, place: _Place) -> mmap.mmap:
        """The pages of a block."""
        return mmap.mmap(
            self._file.fileno(), max(place.size, 1), access=mmap.ACCESS_READ, offset=place.start
        )


def _joins(before: Rows, rows: Rows) -> bool:
    """Whether rows can stand in one block with others; values of 1 can be written out."""
    mixed = {before.layout, rows.layout} <= {"csr", "ones"}
    if before.layout == "dense":
        return rows.layout == "dense" and before.shape[1] == rows.shape[1]
    return mixed or before.layout == rows.layout


def _arrays_of(rows: list[Rows]) -> tuple[str, dict[str, list[np.ndarray]]]:
    """(layout, parts of each array) of rows that stand one below the other."""
    layouts = {part.layout for part in rows}
    layout = layouts.pop() if len(layouts) == 1 else "csr"
    if layout == "dense":
        return layout, {"values": [part.values.reshape(-1) for part in rows]}
    arrays = {"indices": [part.indices for part in rows]}
    widths = {part.width for part in rows}
    if layout != "ones" or len(widths) > 1 or widths == {-1}:
        start, ends = 0, [np.zeros(1, np.int64)]
        for part in rows:
            ends.append(_ends(part) + start)
            start += part.nnz
        arrays["indptr"] = ends
    if layout == "csr":
        arrays["values"] = [
            np.ones(part.nnz, part.dtype) if part.values is None else part.values for part in rows
        ]
    return layout, arrays


def _ends(rows: Rows) -> np.ndarray:
    """Where each row ends."""
    if rows.indptr is None:
        return rows.width * np.arange(1, len(rows) + 1, dtype=np.int64)
    return rows.indptr[1:]


def _whole(parts: list[np.ndarray], place: tuple[int, np.dtype, int]) -> np.ndarray:
    """One array; not a copy of one that is there already."""
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts), place[1])
