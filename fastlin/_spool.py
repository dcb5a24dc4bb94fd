"""Arrays that wait in a temporary file until they are read again, once and in the same order.

Few are kept in memory. The file has no name where the system allows that, and vanishes with the
process whatever ends it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ._memory import spelt_size

__all__ = ["Spool", "no_room"]

_KEPT_BYTES = 64 << 20


def no_room(
    error: OSError, folder: Any, n_bytes: int, remedy: str = "cache_dir=FOLDER or TMPDIR"
) -> OSError:
    """The error for rows that can't be written to the folder where they are to wait."""
    # a quota, a limit of the process, a full or a broken disk: the reason is the system's
    return OSError(
        error.errno,
        f"{error.strerror}: rows wait there in a temporary file ({spelt_size(n_bytes)} are "
        f"written); name another folder by {remedy}",
        str(folder or tempfile.gettempdir()),
    )


class Spool:
    """Groups of arrays, appended one after the other and then iterated over.

    Parameters
    ----------
    folder : path or None
        Where the file is made; None is the system's folder for such files.
    remedy : str
        What names another folder.
    """

    def __init__(self, folder: Any, remedy: str):
        self._folder, self._remedy = folder, remedy
        self._file: Any = tempfile.SpooledTemporaryFile(
            _KEPT_BYTES, dir=folder, prefix="fastlin-"
        )
        self._groups: list[list[tuple[np.dtype, tuple[int, ...]]]] = []

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, arrays: Sequence[np.ndarray]) -> None:
        """Add a group."""
        try:
            for array in arrays:
                self._file.write(np.ascontiguousarray(array).view(np.uint8).data)
        except OSError as error:
            raise no_room(error, self._folder, self._file.tell(), self._remedy) from None
        self._groups.append([(array.dtype, array.shape) for array in arrays])

    def __iter__(self) -> Iterator[list[np.ndarray]]:
        self._file.seek(0)
        for group in self._groups:
            yield [self._read(dtype, shape) for dtype, shape in group]

    def _read(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """The next array, which is read-only."""
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._file.read(size), dtype).reshape(shape)
