import numpy as np
from numpy.typing import NDArray

DIGIT_BITS: int

def write_tokens(
    numbers: NDArray[np.uint32], place: NDArray[np.uint32], tokens: NDArray[np.uint32]
) -> None: ...
def count_words(
    tokens: NDArray[np.uint32], ends: NDArray[np.int64], first: int, last: int,
    seen: NDArray[np.uint32],
) -> None: ...
def count_pieces(
    before: NDArray[np.uint32], ends: NDArray[np.int64], first: int, last: int, n: int, shift: int,
    counts: NDArray[np.int64],
) -> None: ...
def deal(
    before: NDArray[np.uint32], tokens: NDArray[np.uint32], ends: NDArray[np.int64], first: int,
    last: int, n: int, shift: int, free: NDArray[np.int64], grams: NDArray[np.uint32],
) -> None: ...
def sort_digit(
    grams: NDArray[np.uint32], out: NDArray[np.uint32], of_last: bool, low: int, bits: int
) -> None: ...
def number(grams: NDArray[np.uint32], ids: NDArray[np.uint32]) -> int: ...
def split(
    grams: NDArray[np.uint32], before: NDArray[np.uint32], last: NDArray[np.uint32],
    documents: NDArray[np.uint32], total: NDArray[np.uint32],
) -> None: ...
def raise_ids(
    ids: NDArray[np.uint32], before: NDArray[np.uint32], ends: NDArray[np.int64], first: int,
    last: int, n: int, shift: int, offsets: NDArray[np.uint32],
) -> None: ...
def add_wanted(
    before: NDArray[np.uint32], wanted: NDArray[np.uint8], first: int, stop: int, n_below: int,
    size: NDArray[np.int64],
) -> None: ...
def place(
    before: NDArray[np.uint32], wanted: NDArray[np.uint8], first: int, stop: int,
    size: NDArray[np.int64], free: NDArray[np.int64], features: NDArray[np.int64],
    columns: NDArray[np.int32], values: NDArray[np.uint32], placed: NDArray[np.uint32],
) -> None: ...
def write_depths(
    is_word: NDArray[np.uint8], before: NDArray[np.uint32], depth: NDArray[np.int32]
) -> None: ...
def stable_order(
    keys: NDArray[np.uint32],
    before: NDArray[np.int64],
    begins: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None: ...
def add_sizes(
    level: NDArray[np.int64], before: NDArray[np.uint32], size: NDArray[np.int64]
) -> None: ...
def place_level(
    level: NDArray[np.int64],
    before: NDArray[np.uint32],
    is_first: bool,
    wanted: NDArray[np.uint8],
    size: NDArray[np.int64],
    free: NDArray[np.int64],
    features: NDArray[np.int64],
) -> None: ...
