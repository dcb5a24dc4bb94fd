from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_CATEGORY: int

def hash_texts(texts: list[Any], prefix: bytes, out: NDArray[np.int64]) -> None: ...
def hash_integers(
    numbers: NDArray[np.int64], prefix: bytes, out: NDArray[np.int64], first: int, stop: int
) -> None: ...
def hashed_rows(
    hashes: NDArray[np.int64],
    members: NDArray[np.int32],
    ends: NDArray[np.int32],
    n_features: int,
    alternate_sign: bool,
    binary: bool,
    keys: NDArray[np.uint32],
    row_ends: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.int32],
) -> tuple[int, bool]: ...
