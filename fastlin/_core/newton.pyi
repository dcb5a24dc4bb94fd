import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def hessian_product(
    X: Rows,
    v: NDArray[np.float64],
    shift: float,
    h: NDArray[np.float64],
    z: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def add_moments(
    X: Rows,
    s: NDArray[np.float64],
    h: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def add_outer(
    X: Rows, h: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def search(
    loss: int,
    parameter: float,
    z: NDArray[np.float64],
    along: NDArray[np.float64],
    y: NDArray[np.float64],
    share: NDArray[np.float64],
    linear: float,
    square: float,
) -> float: ...
