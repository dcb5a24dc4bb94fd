import numpy as np

PADDING: int
DONE: int
FULL: int
AFTER_QUOTE: int
AFTER_RETURN: int
WIDTH: int
LONG: int

class Parser:
    n_rows: int
    def __init__(self, delimiter: int) -> None: ...
    def parse(
        self,
        text: bytearray,
        position: int,
        end: int,
        row_begins: np.ndarray,
        row_lines: np.ndarray,
        cells: np.ndarray,
    ) -> tuple[int, int]: ...
    @property
    def width(self) -> int: ...
    @property
    def n_lines(self) -> int: ...
    @property
    def n_found(self) -> int: ...

def strings_of(text: bytearray, row_begins: np.ndarray, cells: np.ndarray) -> list[str]: ...
def numbers_of(
    text: bytearray, row_begins: np.ndarray, cells: np.ndarray, start: int, out: np.ndarray
) -> int: ...

class Numbered:
    def __len__(self) -> int: ...
    def number(
        self, text: bytearray, row_begins: np.ndarray, cells: np.ndarray, codes: np.ndarray
    ) -> None: ...
    def find(
        self, text: bytearray, row_begins: np.ndarray, cells: np.ndarray, codes: np.ndarray
    ) -> None: ...
    def values(self) -> list[str]: ...
