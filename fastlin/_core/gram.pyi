import numpy as np
from numpy.typing import NDArray

STRINGS: int
NO_SYMBOL: float

def gaussian(
    isa: int,
    out: NDArray[np.float64],
    gamma: float,
    squares: NDArray[np.float64],
    column_squares: NDArray[np.float64],
) -> None: ...
def subsequences(
    symbols: NDArray[np.float64],
    ends: NDArray[np.int64],
    groups: NDArray[np.float64],
    group_starts: NDArray[np.int64],
    length: int,
    decay: float,
    symmetric: bool,
    place: NDArray[np.int64],
    stop: int,
    budget: int,
    room: NDArray[np.float64],
    total: NDArray[np.float64],
    out: NDArray[np.float64],
) -> bool: ...
def tree_pairs(
    ends: NDArray[np.int64],
    production: NDArray[np.int32],
    ordered: NDArray[np.int32],
    rank: NDArray[np.int32],
    starts: NDArray[np.int64],
    children: NDArray[np.int32],
    first_column: int,
    decay: float,
    symmetric: bool,
    place: NDArray[np.int64],
    stop: int,
    budget: int,
    shift: NDArray[np.int64],
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    room: NDArray[np.float64],
    total: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int: ...
