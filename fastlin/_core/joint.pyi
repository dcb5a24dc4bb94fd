from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

PACKED_SUMS: int
_Floats = NDArray[np.float32] | NDArray[np.float64]

def run(
    X: Rows,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    optimizer: int,
    decay: float,
    decay1: float,
    epsilon: float,
    state: dict[str, Any],
    b: NDArray[np.float64],
    V: _Floats,
    u: _Floats,
    paid: _Floats,
    moments: _Floats,
    last: NDArray[np.float64],
    collected: NDArray[np.float64],
) -> dict[str, Any]: ...
def run_packed(
    isa: int,
    X: Rows,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    optimizer: int,
    decay: float,
    decay1: float,
    epsilon: float,
    state: dict[str, Any],
    b: NDArray[np.float64],
    packed: _Floats,
    u: _Floats,
    sums: _Floats,
) -> dict[str, Any]: ...
def run_passive_aggressive(
    X: Rows,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    state: dict[str, Any],
    b: NDArray[np.float64],
    V: _Floats,
    u: _Floats,
) -> dict[str, Any]: ...
def publish_adaptive(
    rule: dict[str, Any],
    optimizer: int,
    decay: float,
    decay1: float,
    epsilon: float,
    t: float,
    V: _Floats,
    moments: _Floats,
    last: NDArray[np.float64],
    w: _Floats,
) -> None: ...
def publish_packed(
    isa: int,
    rule: dict[str, Any],
    optimizer: int,
    decay: float,
    decay1: float,
    epsilon: float,
    t: float,
    packed: _Floats,
    w: _Floats,
) -> None: ...
def packed_norms(
    isa: int,
    rule: dict[str, Any],
    optimizer: int,
    decay: float,
    decay1: float,
    epsilon: float,
    t: float,
    packed: _Floats,
) -> tuple[float, float]: ...
def joint_loss(
    loss: int,
    parameter: float,
    z: NDArray[np.float64],
    y: NDArray[np.float64],
    value: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None: ...
def scores(
    X: Rows,
    V: _Floats,
    b: NDArray[np.float64],
    rows: NDArray[np.int64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> bool: ...
