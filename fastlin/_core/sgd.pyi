from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Floats = NDArray[np.float32] | NDArray[np.float64]

def run(
    X: Rows,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    state: dict[str, Any],
    v: _Floats,
    u: _Floats,
    owed: NDArray[np.float64],
    paid: _Floats,
    gradients: NDArray[np.float64],
) -> dict[str, Any]: ...
def run_epochs(
    X: Rows,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    state: dict[str, Any],
    v: _Floats,
    u: _Floats,
    owed: NDArray[np.float64],
    paid: _Floats,
    gradients: NDArray[np.float64],
    between: Callable[[float, float, float, float, float], bool],
) -> dict[str, Any]: ...
def squares(v: _Floats) -> float: ...
def settle(
    X: Rows, owed: NDArray[np.float64], u: _Floats, start: int, stop: int
) -> None: ...
def publish(state: dict[str, Any], v: _Floats, paid: _Floats, w: _Floats) -> None: ...
def publish_mean(
    state: dict[str, Any], v: _Floats, u: _Floats, w: _Floats
) -> None: ...
