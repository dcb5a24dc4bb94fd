from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

ROOM: int

Doubles = NDArray[np.float64]

def visit(isa: int, X: Rows, first: NDArray[np.int64], classes: NDArray[np.int32],
          shares: Doubles, weight: Doubles, h: Doubles, k: Doubles, order: NDArray[np.int64],
          fetch: NDArray[np.int64], rule: dict[str, Any], sums: dict[str, float],
          state: NDArray[Any], B: Doubles, s: Doubles, U: Doubles, W: NDArray[Any],
          resting: NDArray[np.uint8], room: Doubles) -> dict[str, float]: ...
