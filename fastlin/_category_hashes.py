"""Hashes of categories: one per distinct value of a column, and rows of them to rows of columns.

A category is hashed as the text "column=category" in UTF-8. What the text of a category is does
not hang on the container that it comes in: 3, 3.0 and "3" are one category, as they are when the
same table is read from CSV, from JSON, or with and without missing values.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ._columns import Coded, missing_values, raise_missing
from ._core import hashed as _hashed
from ._parallel import Cancelled, is_cancelled, run

__all__ = ["Terms", "category_text", "hash_table", "hashed_parts"]

# Cells that are hashed in one go, some milliseconds; those of a block stay in the cache.
_PIECE = 1 << 17
_BLOCK = 1 << 16
_EXACT = 2.0**53
# Further than the exponents of floats; numbers beyond are not written out.
_MOST_PLACES = 400


class Terms(NamedTuple):
    """What makes the entries of a row: single columns and crosses of several."""

    members: np.ndarray
    ends: np.ndarray


def category_text(value: Any) -> str | bytes:
    """Return what is hashed of a category that is not missing."""
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Decimal):
        return _decimal_text(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        return str(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)


def _decimal_text(value: Decimal) -> str:
    """Return the text of the number that a decimal is, however many zeros it is written with."""
    if not value.is_finite():
        return str(value)
    if not value:
        return "0"
    if abs(value.adjusted()) > _MOST_PLACES:
        digits, _, exponent = format(value, "e").partition("e")
        return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}e{exponent}"
    whole, _, fraction = format(value, "f").partition(".")
    fraction = fraction.rstrip("0")
    if not fraction:
        return whole
    # What a float says of the same number, which may have an exponent.
    text = repr(float(value))
    return text if Decimal(text) == value else f"{whole}.{fraction}"


def hash_table(column: Coded, name: str, missing: str, j: int) -> np.ndarray:
    """Return the hash of each value of a column.

    Parameters
    ----------
    column : Coded
    name : str
        Name of the column, which goes into the hash.
    missing : {"category", "ignore", "error"}
        What a missing value is.
    j : int
        Number of the column, for errors.
    """
    prefix = f"{name}=".encode("utf-8", "surrogatepass")
    hashes = np.empty(len(column.values), np.int64)
    lost = missing_values(column.values)
    if lost.any():
        if missing == "error":
            raise_missing(column, lost, j, name)
        present = np.flatnonzero(~lost)
        found = np.empty(len(present), np.int64)
        _hash_values(column.values[present], prefix, found)
        hashes[present] = found
        hashes[lost] = _hashed.NO_CATEGORY
        if missing == "category":
            # Of the bare name, which no category has.
            nothing = np.empty(1, np.int64)
            _hashed.hash_texts([b""], prefix[:-1], nothing)
            hashes[lost] = nothing
    else:
        _hash_values(column.values, prefix, hashes)
    return hashes


def _hash_values(values: np.ndarray, prefix: bytes, out: np.ndarray) -> None:
    """Hash distinct values, none of them missing."""
    kind = values.dtype.kind
    # As a Python float: numpy would make a half-precision number of the bound.
    whole = kind == "f" and float(np.abs(values).max(initial=0)) < _EXACT
    if whole and (values == np.trunc(values)).all():
        values, kind = values.astype(np.int64), "i"
    if kind == "i" or (kind == "u" and (not len(values) or values.max() <= np.iinfo(np.int64).max)):
        numbers_ = np.ascontiguousarray(values, np.int64)
        for start in range(0, len(numbers_), _PIECE):
            stop = min(start + _PIECE, len(numbers_))
            _hashed.hash_integers(numbers_, prefix, out, start, stop)
        return
    for start in range(0, len(values), _PIECE):
        texts = _texts(values[start : start + _PIECE])
        try:
            _hashed.hash_texts(texts, prefix, out[start : start + _PIECE])
        except OverflowError:
            raise ValueError("a category is 2**30 bytes long or more.") from None


def _texts(values: np.ndarray) -> list:
    """Return what is hashed of each value."""
    kind = values.dtype.kind
    if kind in "US":
        return values.tolist()
    if kind == "M":
        return [_time_text(text) for text in np.datetime_as_string(values).tolist()]
    if kind == "m":
        values = values / np.timedelta64(1, "s")
    if kind == "f":
        # Elements of their own type: the shortest text of 0.1 in float32 is 0.1 too.
        return [category_text(value) for value in values]
    cells = values.tolist()
    if set(map(type, cells)) <= {str, bytes}:
        return cells
    return [category_text(cell) for cell in cells]


def _time_text(text: str) -> str:
    """Return a time without the zeros that only its unit adds."""
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.removesuffix("T00:00:00")


class _Block(NamedTuple):
    """Rows start..stop-1, their entries, and their values if one is other than 1 and -1."""

    start: int
    stop: int
    size: int
    values: np.ndarray | None


def hashed_parts(
    columns: Sequence[Coded],
    tables: Sequence[np.ndarray],
    terms: Terms,
    n_features: int,
    signs: tuple[bool, bool],
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return (indices, values, indptr) of hashed rows.

    Parameters
    ----------
    columns : sequence of Coded
    tables : sequence of ndarray
        The hash of each value of each column.
    terms : Terms
    n_features : int
    signs : (alternate_sign, binary)
    n_jobs : int or None
        Threads.

    Returns
    -------
    indices : ndarray of int32
        Column j as j, or ~j for a value below 0.
    values : ndarray of int32 or None
        None if all are 1 or -1.
    indptr : ndarray of int64
    """
    n, n_terms = len(columns[0].codes), len(terms.ends)
    indices = np.empty(n * n_terms, np.int32)
    indptr = np.zeros(n + 1, np.int64)
    rows = max(1, _BLOCK // max(len(columns), n_terms))

    def piece(starts: range) -> list[_Block]:
        """Hash some blocks of rows into their places."""
        hashes = np.empty((rows, len(columns)), np.int64)
        keys = np.empty(2 * n_terms, np.uint32)
        values = np.empty(rows * n_terms, np.int32)
        done = []
        for start in starts:
            if is_cancelled():
                raise Cancelled
            stop = min(start + rows, n)
            part = hashes[: stop - start]
            for j, (column, table) in enumerate(zip(columns, tables, strict=True)):
                part[:, j] = table[column.codes[start:stop]]
            size, multiple = _hashed.hashed_rows(
                part, terms.members, terms.ends, n_features, *signs, keys,
                indptr[start + 1 : stop + 1], indices[start * n_terms : stop * n_terms], values,
            )  # fmt: skip
            done.append(_Block(start, stop, size, values[:size].copy() if multiple else None))
        return done

    starts = range(0, n, rows)
    step = max(1, -(-len(starts) // 64))
    tasks = [
        lambda some=starts[k : k + step]: piece(some) for k in range(0, len(starts), step)
    ]
    blocks = [block for part in run(tasks, n_jobs) for block in part]
    return _joined(blocks, indices, indptr, n_terms)


def _joined(
    blocks: list[_Block], indices: np.ndarray, indptr: np.ndarray, n_terms: int
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Move the entries of all blocks next to each other."""
    total = 0
    for block in blocks:
        first = block.start * n_terms
        if first != total:
            indices[total : total + block.size] = indices[first : first + block.size]
        indptr[block.start + 1 : block.stop + 1] += total
        total += block.size
    if total < len(indices):
        indices = indices[:total].copy() if total < 0.9 * len(indices) else indices[:total]
    if all(block.values is None for block in blocks):
        return indices, None, indptr
    values = np.where(indices < 0, np.int32(-1), np.int32(1))
    for block in blocks:
        if block.values is not None:
            stop = int(indptr[block.stop])
            values[stop - block.size : stop] = block.values
    return indices, values, indptr
