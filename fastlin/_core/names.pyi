import numpy as np
from numpy.typing import NDArray

def write_word_keys(
    arena: NDArray[np.uint8],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    first: NDArray[np.uint64],
    second: NDArray[np.uint64],
) -> None: ...
def order_of_keys(
    keys: NDArray[np.uint64], room: NDArray[np.uint64], order: NDArray[np.int64]
) -> None: ...
def write_characters(
    before: NDArray[np.uint32],
    last: NDArray[np.uint32],
    features: NDArray[np.int64],
    ends: NDArray[np.int64],
    out: NDArray[np.uint32],
) -> None: ...
def write_name_ends(
    is_word: NDArray[np.uint8],
    before: NDArray[np.uint32],
    last: NDArray[np.uint32],
    features: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> None: ...
def write_names(
    is_word: NDArray[np.uint8],
    before: NDArray[np.uint32],
    last: NDArray[np.uint32],
    arena: NDArray[np.uint8],
    features: NDArray[np.int64],
    ends: NDArray[np.int64],
    begin: int,
    out: NDArray[np.uint8],
) -> None: ...
def first_not_before(
    names: NDArray[np.uint8], ends: NDArray[np.int64], name: NDArray[np.uint8]
) -> int: ...
def merge(
    a_names: NDArray[np.uint8],
    a_ends: NDArray[np.int64],
    i: int,
    a_stop: int,
    b_names: NDArray[np.uint8],
    b_ends: NDArray[np.int64],
    j: int,
    b_stop: int,
    a_count: NDArray[np.int64],
    b_count: NDArray[np.int64],
    a_place: NDArray[np.int64],
    b_place: NDArray[np.int64],
    names: NDArray[np.uint8],
    ends: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int: ...
def merge_words(
    arena: NDArray[np.uint8],
    a_keys: NDArray[np.uint64],
    a_starts: NDArray[np.uint32],
    a_lengths: NDArray[np.uint32],
    i: int,
    a_stop: int,
    b_keys: NDArray[np.uint64],
    b_starts: NDArray[np.uint32],
    b_lengths: NDArray[np.uint32],
    j: int,
    b_stop: int,
    a_place: NDArray[np.uint32],
    b_place: NDArray[np.uint32],
    whole_keys: NDArray[np.uint64],
    whole_starts: NDArray[np.uint32],
    whole_lengths: NDArray[np.uint32],
) -> int: ...
def keep(
    names: NDArray[np.uint8],
    ends: NDArray[np.int64],
    first: int,
    last: int,
    kept: NDArray[np.uint8],
    whole_ends: NDArray[np.int64],
    whole: NDArray[np.uint8],
) -> None: ...
