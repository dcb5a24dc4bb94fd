"""Parquet files in blocks of rows, by pyarrow, which is an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["parquet_blocks"]


def parquet_blocks(
    stream: Any, name: str, columns: list[str], n_rows: int
) -> Iterator[tuple[dict[str, list], list[int]]]:
    """Yield (columns of Python values, numbers of the rows from 1) block by block.

    One row group after the other is read, so that no more than one is in memory.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{name} is a Parquet file, which needs pyarrow: install fastlin[parquet]."
        ) from None
    if not (hasattr(stream, "seekable") and stream.seekable()):
        raise ValueError(
            f"{name} is Parquet, which is read from its end: it needs a file that can seek."
        )
    try:
        file = pyarrow.parquet.ParquetFile(stream)
        there = file.schema_arrow.names
        wanted = [column for column in columns if column in there] or there
        number, is_first = 1, True
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(n_rows, row_groups=[group], columns=wanted):
                yield batch.to_pydict(), list(range(number, number + batch.num_rows))
                number += batch.num_rows
                is_first = False
        if is_first:
            yield {column: [] for column in wanted}, []
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{name} can't be read as Parquet: {error}") from error
