import numpy as np
from numpy.typing import NDArray

from .rows import Rows

Doubles = NDArray[np.float64]

def width(K: int) -> int: ...
def respond(isa: int, X: Rows, W: Doubles, rows: NDArray[np.int64], z: Doubles,
            room: Doubles) -> None: ...
def add(isa: int, X: Rows, by: Doubles, rows: NDArray[np.int64], W: Doubles,
        room: Doubles) -> None: ...
def losses(loss: int, z: Doubles, K: int, rows: NDArray[np.int64], first: NDArray[np.int64],
           classes: NDArray[np.int32], shares: Doubles, value: Doubles, p: Doubles) -> None: ...
