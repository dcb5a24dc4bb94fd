from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def measure(
    X: Rows,
    c: NDArray[np.float32] | NDArray[np.float64],
    squares: NDArray[np.float64],
    k: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def logits(t: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def steps(
    loss: int,
    parameter: float,
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    a: NDArray[np.float64],
    h: float,
    out: NDArray[np.float64],
) -> None: ...
def balance(
    loss: int,
    parameter: float,
    z: NDArray[np.float64],
    b: float,
    y: NDArray[np.float64],
    a: NDArray[np.float64],
    share: NDArray[np.float64],
    h: float,
    out: NDArray[np.float64],
    bracket: NDArray[np.float64],
    most: int,
) -> tuple[float, bool]: ...
def slacks(
    loss: int,
    parameter: float,
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    a: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def visit(
    X: Rows,
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    h: NDArray[np.float64],
    k: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    state: dict[str, Any],
    a: NDArray[np.float64],
    logit: NDArray[np.float64],
    u: NDArray[np.float32] | NDArray[np.float64],
    resting: NDArray[np.uint8],
    pause: NDArray[np.uint8],
    much: float,
    little: float,
) -> tuple[dict[str, Any], float]: ...
