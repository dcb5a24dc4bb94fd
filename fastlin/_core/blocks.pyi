import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def responses(
    X: Rows,
    w: NDArray[np.float64],
    intercept: float,
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def add_rows(
    X: Rows, c: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def add_squares(
    X: Rows, c: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def row_squares(X: Rows, out: NDArray[np.float64], start: int, stop: int) -> None: ...
