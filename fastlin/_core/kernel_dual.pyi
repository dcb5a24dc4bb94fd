from typing import Any

import numpy as np
from numpy.typing import NDArray

def pairs(
    isa: int,
    loss: int,
    parameter: float,
    y: NDArray[np.float64],
    mass: NDArray[np.float64],
    bend: NDArray[np.float64],
    rows: NDArray[np.float32] | NDArray[np.float64],
    place: NDArray[np.int64],
    a: NDArray[np.float64],
    e: NDArray[np.float64],
    rise: NDArray[np.float64],
    fall: NDArray[np.float64],
    stamp: NDArray[np.int64],
    clock: int,
    least: float,
    steps: int,
) -> tuple[int, int, float, float]: ...
def visit(
    y: NDArray[np.float64],
    mass: NDArray[np.float64],
    h: NDArray[np.float64],
    k: NDArray[np.float64],
    rows: NDArray[np.float64],
    place: NDArray[np.int64],
    order: NDArray[np.int64],
    rule: dict[str, Any],
    state: dict[str, Any],
    a: NDArray[np.float64],
    logit: NDArray[np.float64],
    f: NDArray[np.float64],
) -> dict[str, Any]: ...
def mistakes(
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    fit_intercept: bool,
    rows: NDArray[np.float64],
    place: NDArray[np.int64],
    order: NDArray[np.int64],
    start: int,
    stop: int,
    t: int,
    a: NDArray[np.float64],
    late: NDArray[np.float64],
    f: NDArray[np.float64],
    b: NDArray[np.float64],
    stamp: NDArray[np.int64],
) -> tuple[int, float, int]: ...
