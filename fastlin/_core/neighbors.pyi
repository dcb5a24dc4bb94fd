import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def products(
    Q: Rows,
    columns: Rows,
    entries: NDArray[np.int32],
    room: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def nearest(
    Q: Rows,
    X: Rows,
    own: NDArray[np.float64],
    square: NDArray[np.float64],
    product: NDArray[np.float64],
    error: float,
    unit: bool,
    left_out: bool,
    entries: NDArray[np.int32],
    room: NDArray[np.float64],
    candidates: NDArray[np.int64],
    distance: NDArray[np.float64],
    number: NDArray[np.int64],
    start: int,
    stop: int,
) -> None: ...
