import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Doubles = NDArray[np.float64]
_Numbers = NDArray[np.int64]

def moments(
    columns: Rows,
    chosen: _Numbers,
    h: _Doubles,
    total: float,
    each: float,
    free: bool,
    mean: _Doubles,
    curvature: _Doubles,
    start: int,
    stop: int,
) -> None: ...
def descend(
    columns: Rows,
    chosen: _Numbers,
    l1: float,
    l2: float,
    positive: bool,
    free: bool,
    h: _Doubles,
    total: float,
    each: float,
    mean: _Doubles,
    curvature: _Doubles,
    w: _Doubles,
    r: _Doubles,
    r_sum: float,
    start: int,
    stop: int,
    epochs: int,
    enough: float,
) -> tuple[int, float, float]: ...
def descend_floats(
    columns: Rows,
    chosen: _Numbers,
    l1: float,
    l2: float,
    w: _Doubles,
    rows: NDArray[np.float32],
    seen: _Doubles,
    start: int,
    stop: int,
) -> None: ...
def pull_of_floats(rows: NDArray[np.float32], along: _Doubles) -> float: ...
def shift_floats(rows: NDArray[np.float32], along: _Doubles, t: float) -> None: ...
def add_columns(
    columns: Rows, chosen: _Numbers, w: _Doubles, out: _Doubles, start: int, stop: int
) -> None: ...
def expand(
    isa: int,
    loss: int,
    parameter: float,
    z: _Doubles,
    y: _Doubles,
    weight: _Doubles,
    share: float,
    least: float,
    r: _Doubles,
    h: _Doubles,
) -> float: ...
def log_loss_conjugate(
    isa: int, dual: _Doubles, y: _Doubles, weight: _Doubles, c: float
) -> float: ...
def slopes(
    columns: Rows, chosen: _Numbers, r: _Doubles, out: _Doubles, start: int, stop: int
) -> None: ...
def gram(
    X: Rows,
    slot: NDArray[np.int32],
    h: _Doubles,
    each: float,
    first: int,
    G: _Doubles,
    places: NDArray[np.int32],
    values: _Doubles,
    some: _Numbers,
    start: int,
    stop: int,
) -> None: ...
def descend_gram(
    G: _Doubles,
    places: _Numbers,
    l1: float,
    l2: float,
    positive: bool,
    w: _Doubles,
    v: _Doubles,
    square: float,
    epochs: int,
    enough: float,
) -> tuple[int, float, float]: ...
def to_face_minimum(
    G: _Doubles,
    places: _Numbers,
    l1: float,
    l2: float,
    positive: bool,
    w: _Doubles,
    v: _Doubles,
    square: float,
    R: _Doubles,
    d: _Doubles,
    u: _Doubles,
    most: int,
) -> tuple[float, bool]: ...
def gram_path(
    G: _Doubles,
    q: _Doubles,
    whole: float,
    places: _Numbers,
    l1: _Doubles,
    l2: _Doubles,
    positive: bool,
    tol: float,
    noise: float,
    most: int,
    turns_at_most: int,
    w: _Doubles,
    v: _Doubles,
    W: _Doubles,
    objective: _Doubles,
    gap: _Doubles,
    turns: _Numbers,
    start: int,
) -> int: ...
