import numpy as np
from numpy.typing import NDArray

def shuffle_all(order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None: ...
def shuffle_blocks(
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    block: int,
    rng: NDArray[np.uint64],
    unshuffled: NDArray[np.int64],
) -> None: ...
def draw_with_replacement(
    rows: NDArray[np.int64], order: NDArray[np.int64], rng: NDArray[np.uint64]
) -> None: ...
def due(
    order: NDArray[np.int64], pause: NDArray[np.uint8], epoch: int, out: NDArray[np.int64]
) -> int: ...
def likeness(y: NDArray[np.float64], rows: NDArray[np.int64]) -> tuple[float, float]: ...
