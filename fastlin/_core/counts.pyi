import numpy as np
from numpy.typing import NDArray

from .rows import Rows

def sort_by_class(
    codes: NDArray[np.int32], ends: NDArray[np.int64], order: NDArray[np.int64]
) -> None: ...
def members_per_class(
    codes: NDArray[np.int32], member: NDArray[np.uint8], counts: NDArray[np.int64]
) -> None: ...
def rows_per_class(
    codes: NDArray[np.int32], rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> None: ...
def count(
    X: Rows,
    binary: bool,
    threshold: float,
    codes: NDArray[np.int32],
    order: NDArray[np.int64],
    weight: NDArray[np.float64],
    counts: NDArray[np.float64],
    mass: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def smoothed_logs(
    isa: int,
    counts: NDArray[np.float64],
    sign: float,
    whole: NDArray[np.float64],
    alpha: NDArray[np.float64],
    log_whole: NDArray[np.float64],
    shift: NDArray[np.float64],
    factor: float,
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def smoothed_ratios(
    isa: int,
    counts: NDArray[np.float64],
    rest: NDArray[np.float64],
    alpha: NDArray[np.float64],
    log_rest: NDArray[np.float64],
    none: NDArray[np.float64],
    none_ratio: NDArray[np.float64],
    no_shift: NDArray[np.float64],
    out: NDArray[np.float64],
    sums: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def scores(
    X: Rows,
    binary: bool,
    threshold: float,
    V: NDArray[np.float64],
    b: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
