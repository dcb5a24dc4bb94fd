from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def count(X: Rows, ends: NDArray[np.int64], start: int, stop: int) -> None: ...
def spread(
    ends: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    sizes: NDArray[np.int32],
    rows: NDArray[np.int32],
    values: NDArray[Any],
) -> None: ...
def deal(
    X: Rows,
    heads: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[Any],
    entry: NDArray[np.int32],
    buffer: NDArray[Any],
    start: int,
    stop: int,
) -> None: ...
def pick(
    X: Rows,
    wanted: NDArray[np.uint8],
    heads: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[Any],
    start: int,
    stop: int,
) -> None: ...
def scatter(
    X: Rows,
    group: NDArray[np.uint16],
    first: NDArray[np.int32],
    heads: NDArray[np.int64],
    bits: int,
    rows: NDArray[np.int32],
    values: NDArray[Any],
    start: int,
    stop: int,
) -> None: ...
def gather(
    ends: NDArray[np.int64],
    first: NDArray[np.int32],
    bits: int,
    rows: NDArray[np.int32],
    values: NDArray[Any],
    entry: NDArray[np.int32],
    buffer: NDArray[Any],
    heads: NDArray[np.int64],
    start: int,
    stop: int,
) -> None: ...
def groups(
    sizes: NDArray[np.int32], most: int, most_columns: int
) -> tuple[NDArray[np.uint16], NDArray[np.int32]] | None: ...
