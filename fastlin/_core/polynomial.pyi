from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Floats = NDArray[Any]

STEP: int

def list_terms(
    X: Rows,
    distinct: bool,
    bias: bool,
    least: int,
    highest: NDArray[np.int64],
    starts: NDArray[np.int64],
    numbers: NDArray[np.int64],
    keys: NDArray[np.uint64],
    entries: NDArray[np.int32],
    room: _Floats,
    narrow: NDArray[np.int32],
    wide: NDArray[np.int64],
    values: _Floats,
    start: int,
    stop: int,
) -> None: ...
def hash_terms(
    X: Rows,
    distinct: bool,
    bias: bool,
    least: int,
    degree: int,
    signs: bool,
    n_features: int,
    most: NDArray[np.int64],
    numbers: NDArray[np.int64],
    keys: NDArray[np.uint64],
    entries: NDArray[np.int32],
    room: _Floats,
    table: NDArray[np.int32],
    sums: NDArray[np.float64],
    columns: NDArray[np.int32],
    values: _Floats,
    ends: NDArray[np.int64],
    at: int,
    start: int,
    stop: int,
) -> int: ...
def hash_some_terms(
    X: Rows,
    distinct: bool,
    k: int,
    signs: bool,
    n_features: int,
    most: int,
    numbers: NDArray[np.int64],
    keys: NDArray[np.uint64],
    entries: NDArray[np.int32],
    room: _Floats,
    table: NDArray[np.int32],
    sums: NDArray[np.float64],
    i: int,
    first: int,
    last: int,
) -> int: ...
