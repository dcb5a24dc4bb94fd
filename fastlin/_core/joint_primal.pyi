import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Doubles = NDArray[np.float64]
_Numbers = NDArray[np.int64]

def gather(columns: Rows, chosen: _Numbers, first: _Numbers, r: _Doubles, out: _Doubles,
           start: int, stop: int) -> None: ...
def spread(columns: Rows, chosen: _Numbers, first: _Numbers, w: _Doubles, t: _Doubles,
           start: int, stop: int) -> None: ...
def bends(columns: Rows, chosen: _Numbers, first: _Numbers, g: _Doubles, h: _Doubles, e: _Doubles,
          bend: _Doubles, size: _Doubles, start: int, stop: int) -> None: ...
def descend(columns: Rows, chosen: _Numbers, first: _Numbers, l1: float, l2: float, h: _Doubles,
            e: _Doubles, g: _Doubles, bend: _Doubles, damping: _Doubles, begun: _Doubles,
            w: _Doubles, t: _Doubles, m: _Doubles, start: int, stop: int) -> float: ...
def settle(h: _Doubles, e: _Doubles, g: _Doubles, bend: _Doubles, b: _Doubles, t: _Doubles,
           m: _Doubles, start: int, stop: int) -> float: ...
