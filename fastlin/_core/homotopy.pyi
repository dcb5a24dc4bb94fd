import numpy as np
from numpy.typing import NDArray

_Doubles = NDArray[np.float64]
_Numbers = NDArray[np.int64]

def follow(
    A: _Doubles,
    l2: float,
    positive: bool,
    penalty: float,
    target: float,
    count: int,
    places: _Numbers,
    sign: _Doubles,
    w: _Doubles,
    L: _Doubles,
    v: _Doubles,
    active: NDArray[np.uint8],
    most: int,
    d: _Doubles,
    u: _Doubles,
    a: _Doubles,
) -> tuple[int, int, float]: ...
def polish(
    A: _Doubles,
    l2: float,
    penalty: float,
    count: int,
    places: _Numbers,
    sign: _Doubles,
    w: _Doubles,
    L: _Doubles,
    y: _Doubles,
    r: _Doubles,
    d: _Doubles,
) -> None: ...
