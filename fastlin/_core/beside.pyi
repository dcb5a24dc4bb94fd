import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Floats = NDArray[np.float32] | NDArray[np.float64]

def count(X: Rows, kind: _Floats, sizes: NDArray[np.int64], start: int, stop: int) -> None: ...
def append(
    X: Rows,
    kind: _Floats,
    offset: int,
    places: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: _Floats,
    start: int,
    stop: int,
) -> None: ...
