"""Opening what a user passes as a file, and writing files that are whole or not there.

Reading: a path, ``"-"`` (standard input), a file descriptor, a binary file object or bytes; the
first two and the last also compressed. Writing: the text goes to a temporary file beside the
target, which takes the target's name only once it is complete.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

__all__ = ["COMPRESSED", "opened_for_reading", "opened_for_writing", "read_block", "readable",
           "size_of"]

# Extension -> module with an open function; and the bytes that such a file begins with.
COMPRESSED = {".gz": gzip, ".bz2": bz2, ".xz": lzma}
_MAGIC = ((b"\x1f\x8b", gzip.GzipFile), (b"BZh", bz2.BZ2File), (b"\xfd7zXZ\x00", lzma.LZMAFile))
_DECOMPRESSORS = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile)


@contextlib.contextmanager
def opened_for_reading(source: Any) -> Iterator[tuple[BinaryIO, str]]:
    """Open a source; yields the stream and its name for messages, closes only what it opened."""
    if hasattr(source, "read"):
        yield source, _name_of(source)
    elif isinstance(source, int) and not isinstance(source, bool):
        with open(source, "rb", closefd=False) as stream:
            yield stream, f"file descriptor {source}"
    elif isinstance(source, (bytes, bytearray, memoryview)):
        yield io.BytesIO(source), "bytes"
    elif isinstance(source, str) and source == "-":
        yield decompressed(sys.stdin.buffer), "standard input"
    elif isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        module = COMPRESSED.get(os.path.splitext(path)[1].lower())
        with open(path, "rb") if module is None else module.open(path, "rb") as stream:
            yield stream, str(path)
    else:
        raise TypeError(
            "a file must be given as a path, a binary file object, a file descriptor, bytes or "
            f"'-' for standard input, got {type(source).__name__}."
        )


def _name_of(stream: Any) -> str:
    """Name an open file for messages."""
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "stream"


def decompressed(stream: Any) -> Any:
    """Wrap a buffered stream that begins like a compressed file in its decompressor."""
    head = stream.peek(8)[:8]
    for magic, decompressor in _MAGIC:
        if head.startswith(magic):
            return decompressor(stream)
    return stream


def read_block(stream: Any, target: memoryview, name: str) -> int:
    """Fill the target from the stream as far as one read goes; 0 at the end."""
    with readable(stream, name):
        if hasattr(stream, "readinto"):
            count = stream.readinto(target)
            if count is None:
                raise BlockingIOError(f"{name} has no data yet and does not wait for them.")
            return count
        data = stream.read(len(target))
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"{name} must be opened in binary mode: reading it gives "
                            f"{type(data).__name__} instead of bytes.")
        target[: len(data)] = data
        return len(data)


def size_of(stream: Any) -> int | None:
    """Return how many bytes a stream holds from its start, where that is known without reading."""
    if isinstance(stream, io.BytesIO):
        return stream.getbuffer().nbytes
    # A decompressor has the descriptor of the compressed file, whose size tells nothing.
    if not isinstance(stream, (io.BufferedReader, io.FileIO)):
        return None
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextlib.contextmanager
def readable(stream: Any, name: str) -> Iterator[None]:
    """Turn what decompressors raise for damaged files into a ValueError with the file's name."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and not isinstance(stream, _DECOMPRESSORS):
            raise
        raise ValueError(f"{name} can't be decompressed: {error}") from error


@contextlib.contextmanager
def opened_for_writing(target: Any) -> Iterator[BinaryIO]:
    """Open a path or pass on a binary file object.

    A path gets its content in one step at the end (compressed if its extension says so); after
    an error the file is as it was before. What is no regular file, such as a pipe, is written
    directly.
    """
    if hasattr(target, "write"):
        yield target
        return
    if not isinstance(target, (str, os.PathLike)):
        raise TypeError("a file must be given as a path or a binary file object, got "
                        f"{type(target).__name__}.")
    # The file that a symbolic link points to, so that the link stays one.
    path = os.path.realpath(os.fspath(target))
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            yield stream
        return
    temporary = f"{path}.{secrets.token_hex(6)}.tmp"
    try:
        with open(temporary, "xb") as raw:
            module = COMPRESSED.get(os.path.splitext(path)[1].lower())
            with contextlib.nullcontext(raw) if module is None else module.open(raw, "wb") as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
