"""Reading svmlight text block by block: what lies between an open stream and arrays.

The text passes through one buffer of a megabyte or so, which holds whole lines (or grows to hold
a long one); the parser (`_core.parse`) fills a second set of buffers, small enough to stay in the
cache, from which the rows are taken before it goes on. So no second copy of the text or of the
matrix exists, files larger than memory can pass through, and Ctrl-C is seen between blocks.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ._core import parse
from ._data import canonical_csr
from ._files import read_block, readable, size_of
from ._isa import ISA

__all__ = ["Block", "SvmlightReader"]

BLOCK_BYTES = 1 << 20
_ROOM = 1 << 15
# Entries at a time where they need not stay in the cache, since nobody copies them
_ROOM_IN_PLACE = 1 << 17
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_MESSAGES = {
    parse.NO_TARGET: "the line begins with the feature {token} where its target is expected",
    parse.BAD_TARGET: "target {token} is not a number",
    parse.INFINITE_TARGET: "target {token} is not finite",
    parse.NO_QUERY_ID: "query_id=True needs qid:<integer> after the target, found {token}",
    parse.BAD_QUERY_ID: "{token} is not qid: with a 64-bit integer",
    parse.NO_COLON: "feature {token} has no colon; index:value is expected",
    parse.BAD_INDEX: "the index of {token} is not an integer",
    parse.NEGATIVE_INDEX: "the index of {token} is negative",
    parse.ZERO_INDEX: "the index of {token} is 0, but zero_based=False means that they start at 1",
    parse.LARGE_INDEX: "the index of {token} is above 2147483647",
    parse.BAD_VALUE: "the value of {token} is not a number",
    parse.INFINITE_VALUE: "the value of {token} is not finite",
    parse.REPEATED_INDEX: "the index of {token} stands twice in this line",
}


class Block(NamedTuple):
    """Some consecutive rows, as views that are valid until the next block is asked for.

    Offsets count from the block's own first entry. `label_ends` is None unless multilabel,
    `query_ids` unless asked for.
    """

    values: np.ndarray
    columns: np.ndarray
    row_ends: np.ndarray
    row_lines: np.ndarray
    labels: np.ndarray
    label_ends: np.ndarray | None
    query_ids: np.ndarray | None

    def label_sets(self) -> list[tuple[float, ...]]:
        """Return one sorted tuple of labels per row, with multilabel."""
        return _label_sets(self.labels, self.label_ends)


class _LineBlocks:
    """The text of a stream in blocks of whole lines.

    After `advance` has returned True, text[:end] holds whole lines, and PADDING bytes or more
    follow. `start` is the place of text[0] in the file, `size` that of its end where known.
    """

    def __init__(self, stream: BinaryIO, name: str, offset: int, length: int, block_bytes: int):
        self.stream, self.name = stream, name
        self.text = bytearray(block_bytes + parse.PADDING)
        self.end = 0
        self.start = self._seek(offset)
        self.size = size_of(stream)
        self._limit = offset + length if length > 0 else None
        self._filled = 0
        self._at_end = self._limit is not None and self.start > self._limit

    def _seek(self, offset: int) -> int:
        """Go to the first line that begins after the offset; returns its place in the file,
        as far as the stream can tell."""
        if offset:
            try:
                self.stream.seek(offset)
            except io.UnsupportedOperation:
                raise ValueError(
                    f"offset needs a file that can seek, {self.name} cannot."
                ) from None
            with readable(self.stream, self.name):
                self.stream.readline()
        try:
            return self.stream.tell()
        except (AttributeError, OSError):
            return 0

    def advance(self) -> bool:
        """Go on to the next block; False at the end."""
        kept = self._filled - self.end
        self.text[:kept] = self.text[self.end : self._filled]
        self.start += self.end
        self.end, self._filled = 0, kept
        while not self.end and not self._at_end:
            self._read()
        return self.end > 0

    def _read(self) -> None:
        """Read once, and set `end` if that completes a line."""
        text, kept = self.text, self._filled
        if kept == len(text) - parse.PADDING:
            text.extend(bytes(kept))
        with memoryview(text) as view, view[kept : len(text) - parse.PADDING] as room:
            self._filled += read_block(self.stream, room, self.name)
        if self._filled > kept:
            self.end = text.rfind(b"\n", kept, self._filled) + 1
        else:
            self._at_end = True
            if kept:
                text[kept] = ord("\n")
                self.end = self._filled = kept + 1
        if self._limit is not None:
            # A line belongs here if it begins at or before the limit.
            last = text.find(b"\n", max(self._limit - self.start, 0), self.end)
            if last >= 0:
                self.end, self._at_end = last + 1, True


class SvmlightReader:
    """Iterates over the blocks of one open stream.

    Parameters
    ----------
    stream : binary stream
        Read from where it stands.
    name : str
        Its name in messages.
    multilabel, query_id : bool
        As in `fastlin.io.load_svmlight_file`.
    lowest_index : {0, 1}
        The smallest index that is allowed; indices are kept as they stand in the text.
    offset, length : int
        As in `fastlin.io.load_svmlight_file`.
    block_bytes, room : int
        Initial sizes of the text buffer and of the parser's arrays; both grow when needed.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        *,
        multilabel: bool = False,
        query_id: bool = False,
        lowest_index: int = 0,
        offset: int = 0,
        length: int = -1,
        block_bytes: int = BLOCK_BYTES,
        room: int = _ROOM,
    ):
        self.name = name
        self._multilabel, self._query_id, self._offset = multilabel, query_id, offset
        self._lines = _LineBlocks(stream, name, offset, length, block_bytes)
        self._position = 0
        self._parser = parse.SvmlightParser(multilabel, query_id, lowest_index, ISA)
        self._make_room(room)

    @property
    def min_index(self) -> int:
        """The smallest index so far; above `max_index` if there was none."""
        return self._parser.min_index

    @property
    def max_index(self) -> int:
        """The largest index so far."""
        return self._parser.max_index

    def share(self) -> float | None:
        """Return the share of the file that is parsed, or None when its size is not known."""
        size = self._lines.size
        return (self._lines.start + self._position) / size if size else None

    def _make_room(self, room: int) -> None:
        """Bring new arrays for `room` entries, rows and labels."""
        self._room = room
        self._values, self._labels = np.empty(room), np.empty(room)
        self._columns = np.empty(room, np.int32)
        self._row_ends, self._row_lines, self._label_ends, self._query_ids = np.empty(
            (4, room), np.int64
        )
        self._hard = np.empty((room // 8 + 1, 5), np.int64)
        self.fill(None, None)

    def fill(self, values: np.ndarray | None, columns: np.ndarray | None) -> None:
        """Let the next block's entries be written to these arrays, or with None to the reader's
        own; they must not move in memory before that is changed again. A row that needs more room
        than they have changes it, too, which `fills_others` tells."""
        self.fills_others = values is not None
        self._to_values = self._values if values is None else values
        self._to_columns = self._columns if columns is None else columns
        self._parser.use(
            self._to_values,
            self._to_columns,
            self._labels,
            self._row_ends,
            self._row_lines,
            self._label_ends,
            self._query_ids,
            self._hard,
        )

    def __iter__(self) -> Iterator[Block]:
        lines, parser = self._lines, self._parser
        while lines.advance():
            self._position = 0
            if lines.start == 0 and lines.text.startswith(_BYTE_ORDER_MARK):
                self._position = len(_BYTE_ORDER_MARK)
            while self._position < lines.end:
                status, self._position = parser.parse(lines.text, self._position, lines.end)
                if status not in (parse.DONE, parse.FULL):
                    raise self._error(parser.n_lines + 1, parser.token, _MESSAGES[status])
                if parser.n_rows:
                    self._convert_hard_numbers()
                    yield self._block()
                elif status == parse.FULL:
                    self._make_room(2 * self._room)
                parser.reset()

    def _block(self) -> Block:
        """Return what the parser has filled since its last reset."""
        parser = self._parser
        entries, rows = slice(parser.n_entries), slice(parser.n_rows)
        return Block(
            self._to_values[entries],
            self._to_columns[entries],
            self._row_ends[rows],
            self._row_lines[rows],
            self._labels[: parser.n_labels],
            self._label_ends[rows] if self._multilabel else None,
            self._query_ids[rows] if self._query_id else None,
        )

    def _convert_hard_numbers(self) -> None:
        """Fill in the numbers that the parser has left over: long ones and extreme ones."""
        hard = self._hard[: self._parser.n_hard].tolist()
        for is_label, position, begin, end, line in hard:
            value = float(self._lines.text[begin:end])
            if math.isinf(value):
                raise self._error(line, (begin, end), "{token} is beyond the range of doubles")
            (self._labels if is_label else self._to_values)[position] = value

    def _error(self, line: int, token: tuple[int, int], message: str) -> ValueError:
        """Write the error for a token of a line."""
        begin, end = token
        raw = bytes(self._lines.text[begin : min(end, begin + 60)])
        shown = repr(raw.decode("utf-8", "backslashreplace") + ("..." if end > begin + 60 else ""))
        return self.error_at(line, message.format(token=shown))

    def error_at(self, line: int, message: str) -> ValueError:
        """Write the error for a line, counted from where reading began."""
        counted = f" after byte {self._offset}" if self._offset else ""
        return ValueError(f"{self.name}, line {line}{counted}: {message}.")

    def error_of(self, block: Block, bad: np.ndarray, message: str) -> ValueError:
        """Write the error for the first entry of a block that is bad."""
        row = np.searchsorted(block.row_ends, int(bad.argmax()), side="right")
        return self.error_at(block.row_lines[row], message)

    def converted(self, block: Block, dtype: Any) -> np.ndarray:
        """Return a block's values in another type, or name the first that it cannot hold."""
        dtype = np.dtype(dtype)
        if dtype == np.float64:
            return block.values
        with np.errstate(over="ignore", invalid="ignore"):
            converted = block.values.astype(dtype)
        bad = ~np.isfinite(converted) if dtype.kind == "f" else converted != block.values
        if bad.any():
            value = float(block.values[bad.argmax()])
            raise self.error_of(block, bad, f"dtype {dtype.name} cannot hold the value {value!r}")
        return converted


class _Growing:
    """An array that is appended to."""

    def __init__(self, dtype: Any):
        self._array, self._size = np.empty(0, dtype), 0

    def append(self, part: np.ndarray, share: float | None = None) -> None:
        """Append a part; `share` tells which share of the final array is then there, if known.

        Knowing it saves a third of the whole time: memory is taken once, and untouched pages of
        a guess that was too large cost nothing.
        """
        end = self._size + len(part)
        if end > len(self._array):
            if share is not None:
                room = max(end, int(1.1 * end / share))
            else:
                room = max(end, 3 * len(self._array) // 2)
            if self._size:
                # Moves pages rather than bytes where the system can. Nothing else refers to the
                # array, so there are no references to count.
                self._array.resize(room, refcheck=False)
            else:
                self._array = np.empty(room, self._array.dtype)
        self._array[self._size : end] = part
        self._size = end

    def spare(self, room: int) -> np.ndarray | None:
        """Return the place for the next `room` elements, if there is one."""
        end = self._size + room
        return self._array[self._size : end] if end <= len(self._array) else None

    def take_spare(self, count: int) -> None:
        """Count elements that were written there as appended."""
        self._size += count

    def __len__(self) -> int:
        return self._size

    def taken(self) -> np.ndarray:
        """Return the array, cut to what was appended."""
        self._array.resize(self._size, refcheck=False)
        return self._array


class Contents:
    """All rows of one source in memory; indices as they stand in the file."""

    def __init__(self, reader: SvmlightReader, dtype: np.dtype):
        values, columns, ends = _Growing(dtype), _Growing(np.int32), _Growing(np.int64)
        labels, label_ends, query_ids = _Growing(np.float64), _Growing(np.int64), _Growing(np.int64)
        for block in reader:
            share = reader.share()
            ends.append(block.row_ends + len(values), share)
            if block.label_ends is not None:
                label_ends.append(block.label_ends + len(labels), share)
            if block.query_ids is not None:
                query_ids.append(block.query_ids, share)
            labels.append(block.labels, share)
            if reader.fills_others:
                columns.take_spare(len(block.columns))
                values.take_spare(len(block.values))
            else:
                columns.append(block.columns, share)
                values.append(reader.converted(block, dtype), share)
            # Once the arrays are there, the parser fills them itself.
            places = values.spare(_ROOM_IN_PLACE), columns.spare(_ROOM_IN_PLACE)
            fits = dtype == np.float64 and all(place is not None for place in places)
            reader.fill(*(places if fits else (None, None)))
        reader.fill(None, None)
        self.name = reader.name
        self.min_index, self.max_index = reader.min_index, reader.max_index
        self.values, self.columns, self.row_ends = values.taken(), columns.taken(), ends.taken()
        self.labels, self.label_ends = labels.taken(), label_ends.taken()
        self.query_ids = query_ids.taken()

    def matrix(self, lowest_index: int, n_features: int) -> Any:
        """Return the CSR matrix whose first column has the index `lowest_index`."""
        if lowest_index:
            self.columns -= np.int32(lowest_index)
        indptr = np.concatenate([[0], self.row_ends])
        return canonical_csr(self.values, self.columns, indptr, n_features)

    def label_sets(self) -> list[tuple[float, ...]]:
        """Return one sorted tuple of labels per row."""
        return _label_sets(self.labels, self.label_ends)


def _label_sets(labels: np.ndarray, ends: Any) -> list[tuple[float, ...]]:
    """One sorted tuple of labels per row."""
    values = labels.tolist()
    return [tuple(sorted(values[i:j])) for i, j in itertools.pairwise([0, *ends.tolist()])]
