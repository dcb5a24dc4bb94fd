import numpy as np
from numpy.typing import NDArray

from .documents import Block, CountedRows

class NgramTable:
    def __init__(self, seed: int) -> None: ...
    def reserve(self, words: int, grams: int) -> None: ...
    @property
    def n_numbers(self) -> int: ...
    @property
    def arena_used(self) -> int: ...
    def copy(
        self,
        is_word: NDArray[np.uint8],
        before: NDArray[np.uint32],
        last: NDArray[np.uint32],
        arena: NDArray[np.uint8],
    ) -> None: ...

class NgramReader:
    def __init__(
        self,
        table: NgramTable,
        stop_words: NgramTable | None,
        raw_class: NDArray[np.uint8],
        done_class: NDArray[np.uint8],
        kind: int,
        least: int,
        min_n: int,
        max_n: int,
        learns: bool,
    ) -> None: ...
    @property
    def current(self) -> int: ...
    @property
    def n_found(self) -> int: ...
    def set_word_bits(self, word_bits: NDArray[np.uint64]) -> None: ...
    def load(self, block: Block) -> None: ...
    def advance(self, ends: NDArray[np.int64]) -> int: ...
    def add_features(self, features: list[bytes]) -> int: ...
    def forget(self) -> None: ...
    def enter(self, feature: bytes, is_whole: bool) -> int: ...
    def copy(self, numbers: NDArray[np.uint32]) -> None: ...
    def merge(
        self,
        arena: NDArray[np.uint8],
        is_word: NDArray[np.uint8],
        before: NDArray[np.uint32],
        last: NDArray[np.uint32],
        numbers: NDArray[np.uint32],
        done: int,
    ) -> int: ...

class RowCounter:
    def __init__(self, n_columns: int) -> None: ...
    def load(
        self,
        sources: list[tuple[NDArray[np.uint32], NDArray[np.int32], int]],
        ends: NDArray[np.int64],
        first: int,
        stop: int,
    ) -> None: ...
    def count(self, rows: CountedRows) -> int: ...
    def write(
        self,
        rows: CountedRows,
        indices: NDArray[np.int32],
        data: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float32] | NDArray[np.float64],
    ) -> None: ...

def document_frequencies(
    numbers: NDArray[np.uint32], ends: NDArray[np.int64], first_row: int, seen: NDArray[np.int32]
) -> None: ...
def normalise_rows(
    indptr: NDArray[np.int64], data: NDArray[np.float32] | NDArray[np.float64], norm: int
) -> None: ...
