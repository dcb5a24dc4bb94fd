from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def count(X: Rows, counts: NDArray[np.int32], start: int, stop: int, step: int) -> None: ...
def frequencies(
    counts: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def places(counts: NDArray[np.int32], groups: NDArray[np.int64]) -> NDArray[np.int32]: ...
def renumber(
    X: Rows,
    place: NDArray[np.int32],
    following: int,
    indices: NDArray[np.int32],
    values: NDArray[Any],
    start: int,
    stop: int,
) -> int: ...
def relabel(
    X: Rows,
    place: NDArray[np.int32],
    following: int,
    indices: NDArray[np.int32],
    start: int,
    stop: int,
) -> int: ...
def relabel_placed(
    X: Rows, place: NDArray[np.int32], indices: NDArray[np.int32], start: int, stop: int
) -> NDArray[np.int64]: ...
def settle(
    X: Rows,
    place: NDArray[np.int32],
    following: int,
    indices: NDArray[np.int32],
    missed: NDArray[np.int64],
    start: int,
) -> int: ...
