import numpy as np
from numpy.typing import NDArray

EMPTY: int
OUTSIDE: int
UNCLOSED: int
BARE: int

class Brackets:
    def __init__(
        self,
        text: bytes,
        n_words: int,
        production: NDArray[np.int32],
        starts: NDArray[np.int64],
        children: NDArray[np.int32],
    ) -> None: ...
    def read(
        self, ends: NDArray[np.int64], sizes: NDArray[np.int64], tree: int, budget: int
    ) -> tuple[int, int]: ...
def by_production(
    production: NDArray[np.int32],
    ends: NDArray[np.int64],
    of_tree: NDArray[np.int32],
    begins: NDArray[np.int64],
    order: NDArray[np.int32],
    ordered: NDArray[np.int32],
    rank: NDArray[np.int32],
) -> None: ...
