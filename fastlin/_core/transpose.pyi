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
