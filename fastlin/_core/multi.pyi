from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Floats = NDArray[np.float32] | NDArray[np.float64]

MAX_LANES: int
MOST_RUNS: int
DUAL_FIELDS: tuple[str, ...]
FIELDS: tuple[str, ...]

def instruction_sets() -> list[tuple[str, int, bool]]: ...
def run(
    isa: int,
    n_lanes: int,
    X: Rows,
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    pattern: NDArray[np.int32],
    pattern_weight: NDArray[np.float64],
    pattern_target: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    target: NDArray[np.float64],
    plan: dict[str, Any],
    lanes: NDArray[np.float64],
    v: _Floats,
    u: _Floats,
    paid: _Floats,
) -> None: ...
def norms(
    isa: int,
    n_lanes: int,
    lanes: NDArray[np.float64],
    v: _Floats,
    u: _Floats,
    paid: _Floats,
    first: int,
    last: int,
    sizes: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None: ...
def publish(
    isa: int,
    n_lanes: int,
    lanes: NDArray[np.float64],
    v: _Floats,
    u: _Floats,
    paid: _Floats,
    first: int,
    last: int,
    out: _Floats,
) -> None: ...
def gather(
    v: _Floats,
    n_lanes: int,
    chosen: NDArray[np.int64],
    out: list[Any],
    place: NDArray[np.int32],
    first: int,
    last: int,
    squares: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> None: ...
def scatter(
    w: _Floats,
    v: _Floats,
    n_lanes: int,
    lane: int,
    place: NDArray[np.int32],
    first: int,
    last: int,
) -> None: ...
def respond(
    isa: int,
    n_lanes: int,
    X: Rows,
    rows: NDArray[np.int64],
    w: _Floats,
    intercept: NDArray[np.float64],
    runs: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]],
    heads: NDArray[np.int64],
    start: int,
    stop: int,
) -> bool: ...
def compact(
    v: _Floats,
    n_lanes: int,
    chosen: NDArray[np.int64],
    out: _Floats,
    n_out: int,
    first: int,
    last: int,
) -> None: ...
def run_dual(
    isa: int,
    n_lanes: int,
    X: Rows,
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    pattern: NDArray[np.int32],
    pattern_weight: NDArray[np.float64],
    pattern_target: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    plan: dict[str, Any],
    lanes: NDArray[np.float64],
    q: NDArray[np.float64],
    k: NDArray[np.float64],
    state: NDArray[np.float32],
    u: _Floats,
) -> None: ...
def add_rows(
    isa: int,
    n_lanes: int,
    X: Rows,
    by: NDArray[np.float64],
    w: _Floats,
    room: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def respond_rows(
    isa: int,
    n_lanes: int,
    X: Rows,
    w: _Floats,
    out: NDArray[np.float64],
    room: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def side_masses(
    a: NDArray[np.float32],
    lane: int,
    pattern: NDArray[np.int32],
    pattern_weight: NDArray[np.float64],
    pattern_target: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
) -> tuple[float, float]: ...
def dual_sides(
    loss: int,
    a: list[Any],
    pattern: NDArray[np.int32],
    pattern_weight: NDArray[np.float64],
    pattern_target: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    strength: NDArray[np.float64],
    sums: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def sum_losses(
    isa: int,
    n_lanes: int,
    loss: int,
    z: NDArray[np.float64],
    b: NDArray[np.float64],
    pattern: NDArray[np.int32],
    pattern_weight: NDArray[np.float64],
    pattern_target: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    sums: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
