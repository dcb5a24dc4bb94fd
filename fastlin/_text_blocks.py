"""Documents in blocks for the kernels.

Documents that are ASCII are handed on as they are. Of those that are not, how a character lowers
can hang on its neighbours: Python lowers them (and strips accents) first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._analyzers import TextAnalysis, check_documents, lowered_characters
from ._arrow_text import ArrowText, arrow_text
from ._core.documents import Block, ascii_run, block_of_buffers, lowered_utf8
from ._params import shown

__all__ = ["NumberedBlock", "numbered", "text_blocks"]

# Characters and documents handed to C at a time: enough to hide the cost of a call and of what
# threads wait for each other, and little memory for the encoded copies. Half as many cost two
# threads 2 to 6 % more work.
_BLOCK_SIZE = 1 << 19
_BLOCK_DOCUMENTS = 4096
# The share of what is left that the last blocks are, and the least of a block's size that they are,
# so that threads end at about the same time (see `portions` in _parallel.py).
_LAST_SHARE, _LEAST_SHARE = 4, 8


class NumberedBlock(NamedTuple):
    """A block, its number, and that of its first row."""

    number: int
    first_row: int
    block: Block


def text_blocks(analysis: TextAnalysis, X: Any, errors: str) -> Iterator[Block]:
    """Cut documents into blocks, decoded and preprocessed as far as the kernels do not.

    `errors` says what becomes of lone surrogates, as in `str.encode`.
    """
    c_preprocesses = analysis.preprocessor is None and not callable(analysis.strip_accents)
    pieces = arrow_text(X) if c_preprocesses and analysis.input == "content" else None
    if pieces is not None:
        return _arrow_blocks(analysis, pieces, errors)
    documents = check_documents(X)
    if type(X) is list:
        return _listed_blocks(analysis, [X] if X else [], c_preprocesses, errors)
    # A generator may make documents that do not fit in memory together.
    n_held = _BLOCK_DOCUMENTS if hasattr(X, "__len__") else 1
    held = iter(lambda: list(itertools.islice(documents, n_held)), [])
    return _listed_blocks(analysis, held, c_preprocesses, errors)


def _size_of_next(left: float) -> int:
    """Return how many characters a block has that is not the first, given how many are left."""
    return int(min(max(left / _LAST_SHARE, _BLOCK_SIZE / _LEAST_SHARE), _BLOCK_SIZE))


def numbered(blocks: Iterator[Block]) -> Iterator[NumberedBlock]:
    """Number blocks."""
    first_row = 0
    for number, block in enumerate(blocks):
        yield NumberedBlock(number, first_row, block)
        first_row += block.n_documents


def _listed_blocks(
    analysis: TextAnalysis, lists: Iterable[list], c_preprocesses: bool, errors: str
) -> Iterator[Block]:
    """Cut lists of documents, in which a kernel finds those that are taken as they are."""
    preprocess = analysis.build_preprocessor()
    skips = c_preprocesses and analysis.input == "content"
    is_whole = isinstance(lists, list)
    block: list[str | bytes] = []
    row = size = done = 0
    most = _BLOCK_SIZE
    for held in lists:
        k = 0
        while k < len(held):
            if skips:
                last = min(len(held), k + _BLOCK_DOCUMENTS - len(block))
                end, run_size = ascii_run(held, k, last, most - size)
                block += held[k:end]
                size += run_size
                k = end
            if k < len(held) and size < most and len(block) < _BLOCK_DOCUMENTS:
                document = _prepared(analysis, held[k], row + k, preprocess, c_preprocesses, errors)
                block.append(document)
                size += len(document)
                k += 1
            if size >= most or len(block) == _BLOCK_DOCUMENTS:
                yield Block(block)
                done += size
                # Of several lists nobody knows how many come.
                left = done / (row + k) * (len(held) - k) if is_whole else np.inf
                block, size, most = [], 0, _size_of_next(left)
        row += len(held)
    if block:
        yield Block(block)


def _prepared(
    analysis: TextAnalysis, document: Any, row: int, preprocess: Callable, c_preprocesses: bool,
    errors: str,
) -> str | bytes:
    """Return a document as the kernels take it."""
    text = document
    if type(text) is not str or analysis.input != "content":
        text = analysis._decode_row(document, row)
    if c_preprocesses and type(text) is str:
        return text if text.isascii() else _lowered(analysis, text, row, preprocess, errors)
    return _encode_text(preprocess(text), row, errors)


def _lowered(
    analysis: TextAnalysis, text: str, row: int, preprocess: Callable, errors: str
) -> bytes:
    """Return preprocessed text in UTF-8; where characters lower one by one, a kernel does it."""
    encoded = None
    if analysis.lowercase and analysis.strip_accents is None:
        encoded = lowered_utf8(text, lowered_characters())
    return _encode_text(preprocess(text), row, errors) if encoded is None else encoded


def _arrow_blocks(
    analysis: TextAnalysis, pieces: list[ArrowText], errors: str
) -> Iterator[Block]:
    """Cut an Arrow column: only documents that are not ASCII become objects."""
    preprocess = analysis.build_preprocessor()
    row = 0
    for offsets, data in pieces:
        first, n = 0, len(offsets) - 1
        while first < n:
            left = offsets[n] - offsets[first] if first else np.inf
            stop = offsets[first] + _size_of_next(left)
            fitting = int(np.searchsorted(offsets, stop, "right")) - 1
            last = min(max(fitting, first + 1), first + _BLOCK_DOCUMENTS, n)
            block, others = block_of_buffers(offsets, data, first, last)
            for k in others:
                raw = data[offsets[first + k] : offsets[first + k + 1]].tobytes()
                text = _decode_arrow(raw, row + k)
                block.replace(k, _lowered(analysis, text, row + k, preprocess, errors))
            yield block
            row += last - first
            first = last


def _decode_arrow(raw: bytes, row: int) -> str:
    """Decode a document of an Arrow column, which says of itself that it is UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        error.reason += f" in the document of row {row}; the Arrow column is damaged"
        raise


def _encode_text(text: Any, row: int, errors: str) -> bytes:
    """Return preprocessed text in UTF-8."""
    if not isinstance(text, str):
        raise TypeError(f"Row {row}: the preprocessor must return str, got {shown(text)}.")
    try:
        return text.encode("utf-8", errors)
    except UnicodeEncodeError as error:
        error.reason += f" in the document of row {row}"
        raise
