"""The values of a model as JSON, and back: what a model file can hold, and how it is written.

JSON's own null, booleans, strings and lists stand for themselves, and so do integers of up to 64
bits and finite floats, whose shortest decimal form gives back the same bits. Anything else is an
object with one key that names its kind, such as ``{"tuple": [...]}``. The elements of numeric
arrays do not go through JSON: ``{"array": 3}`` is the fourth of the arrays that follow the header.

The reader gets its values from a file that may be damaged or hostile. It makes no object but
those listed here, calls no name that it has read, and raises `Malformed` for whatever else it
finds. Pickle and `eval` were no candidates for that reason.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "MAX_DEPTH",
    "Malformed",
    "Reader",
    "Writer",
    "array_of",
    "checked_shape",
    "portable_dtype",
    "read_dtype",
]

# Deeper nesting than any estimator needs; an object that holds itself ends here too.
MAX_DEPTH = 100
_INT64 = range(-(2**63), 2**63)
_BUILT_IN_TYPES = {cls.__name__: cls for cls in (bool, int, float, complex, str, bytes, object)}
_ARRAY_KINDS = "biufcUSmM"
_DTYPE = re.compile(r"[<|](b1|[iu][1248]|f[248]|c8|c16|[US][1-9]\d{0,8}|[mM]8(\[\w{1,9}\])?)")
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# Places inside a generator's buffer, which numpy does not check when a state is set.
_LARGEST_PLACE = {"pos": 624, "buffer_pos": 4}


class Malformed(Exception):
    """What was read is no model file, or not a whole one."""


def portable_dtype(dtype: np.dtype) -> np.dtype | None:
    """Return the little-endian form of a dtype, None if files cannot hold it."""
    if dtype.kind not in _ARRAY_KINDS:
        return None
    little = dtype.newbyteorder("<")
    return little if _DTYPE.fullmatch(little.str) else None


def read_dtype(text: Any) -> np.dtype:
    """Return the native dtype that a file names."""
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise Malformed(f"{text!r} is no dtype of a model file")
    try:
        return np.dtype(text).newbyteorder("=")
    except (TypeError, ValueError, OverflowError) as error:
        raise Malformed(f"{text!r} is no dtype: {error}") from None


def _is_scipy_csr(value: Any) -> bool:
    """Say whether a value is a CSR matrix or array of scipy itself."""
    kind = type(value)
    return kind.__name__ in ("csr_matrix", "csr_array") and kind.__module__.startswith("scipy.")


class Writer:
    """Turns values into JSON, and collects the arrays that follow it.

    Parameters
    ----------
    encode_own : callable
        Called with a value and this writer: returns an estimator or a record of fastlin as JSON,
        None for anything else.

    Attributes
    ----------
    arrays : list of ndarray
        The arrays referred to, in the caller's memory.
    """

    def __init__(self, encode_own: Callable[[Any, Writer], Any]):
        self.arrays: list[np.ndarray] = []
        self._places: dict[int, int] = {}
        self._encode_own = encode_own
        self._depth = 0

    def encode(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` names it in the TypeError for what no file can hold."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind in _ENCODERS:
            return _ENCODERS[kind](value)
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise TypeError(
                    f"{where} is nested more than {MAX_DEPTH} deep, or holds itself; "
                    "a model file cannot hold that."
                )
            return self._encode_compound(kind, value, where)
        finally:
            self._depth -= 1

    def _encode_compound(self, kind: type, value: Any, where: str) -> Any:
        """Encode what holds other values, or comes from numpy or scipy."""
        if kind is list:
            return self._items(value, where)
        if kind is tuple:
            return {"tuple": self._items(value, where)}
        if kind is set or kind is frozenset:
            # Sorted, so that equal models give equal files.
            return {kind.__name__: self._items(sorted(value, key=_set_order), where)}
        if kind is dict:
            pairs = [self._items(pair, where) for pair in value.items()]
            return {"dict": pairs}
        if kind is slice:
            return {"slice": self._items((value.start, value.stop, value.step), where)}
        own = self._encode_own(value, self)
        if own is not None:
            return own
        if isinstance(value, (np.ndarray, np.generic)):
            return self._encode_numpy(value, where)
        if isinstance(value, (np.dtype, type)):
            return _encode_type(value, where)
        if _is_scipy_csr(value):
            parts = [self.encode(part, where) for part in (value.data, value.indices, value.indptr)]
            return {"csr": [kind.__name__, list(map(int, value.shape)), *parts]}
        if kind in (np.random.RandomState, np.random.Generator, np.random.SeedSequence):
            return self._encode_random(value, where)
        raise TypeError(_refusal(value, where))

    def _items(self, values: Any, where: str) -> list:
        """Encode the elements of a list, tuple or set."""
        return [self.encode(value, where) for value in values]

    def _encode_numpy(self, value: Any, where: str) -> Any:
        """Encode an array or a numpy scalar."""
        if isinstance(value, np.str_):
            return {"numpy.str": _encode_str("".join(value))}
        if isinstance(value, np.bytes_):
            return {"numpy.bytes": base64.b64encode(value).decode("ascii")}
        if isinstance(value, np.generic):
            dtype = portable_dtype(value.dtype)
            if dtype is None:
                raise TypeError(_refusal(value, where))
            return {"scalar": [dtype.str, np.asarray(value).astype(dtype).tobytes().hex()]}
        if type(value) not in (np.ndarray, np.memmap):
            raise TypeError(_refusal(value, where))
        if value.dtype.kind == "O":
            items = self._items(value.ravel().tolist(), where)
            return {"objects": [list(value.shape), items]}
        if portable_dtype(value.dtype) is None:
            raise TypeError(_refusal(value, where))
        # One array that two names refer to stays one, as in pickle. The list keeps it alive, so
        # that its address is not given to another.
        if id(value) not in self._places:
            self._places[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return {"array": self._places[id(value)]}

    def _encode_random(self, value: Any, where: str) -> Any:
        """Encode a source of random numbers with its state."""
        if isinstance(value, np.random.SeedSequence):
            entropy = value.entropy if value.entropy is None else _plain(value.entropy)
            parts = [entropy, list(map(int, value.spawn_key)), value.pool_size]
            return {"seed_sequence": self._items([*parts, value.n_children_spawned], where)}
        if isinstance(value, np.random.RandomState):
            state = value.get_state(legacy=False)
            if state["bit_generator"] != "MT19937":
                raise TypeError(
                    f"{where} is a RandomState over {state['bit_generator']}; a model file holds "
                    "one over MT19937. Pass a numpy Generator or an integer."
                )
            return {"random_state": self.encode(state, where)}
        source = value.bit_generator
        if type(source).__name__ not in _BIT_GENERATORS:
            raise TypeError(_refusal(source, where))
        seed = source.seed_seq
        seed = seed if type(seed) is np.random.SeedSequence else None
        return {"generator": [self.encode(source.state, where), self.encode(seed, where)]}


def _set_order(value: Any) -> tuple[str, str]:
    """Order the elements of a set, whatever they are."""
    return type(value).__name__, repr(value)


def _plain(entropy: Any) -> Any:
    """Return entropy as an integer or a list of them."""
    return int(entropy) if isinstance(entropy, (int, np.integer)) else [int(n) for n in entropy]


def _encode_int(value: int) -> Any:
    """Write an integer; long ones in hexadecimal, since Python limits the digits of decimals."""
    return value if value in _INT64 else {"int": hex(value)}


def _encode_float(value: float) -> Any:
    """Write a float; NaN with its bits."""
    return value if math.isfinite(value) else {"float": struct.pack("<d", value).hex()}


def _encode_complex(value: complex) -> Any:
    """Write a complex number by its bits."""
    return {"complex": struct.pack("<dd", value.real, value.imag).hex()}


def _encode_str(value: str) -> Any:
    """Write a string; lone surrogates apart, since JSON would join two of them."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"str": value.encode("utf-8", "surrogatepass").hex()}
    return value


def _encode_bytes(value: bytes) -> Any:
    """Write bytes."""
    return {"bytes": base64.b64encode(value).decode("ascii")}


_ENCODERS: dict[type, Callable[[Any], Any]] = {
    int: _encode_int,
    float: _encode_float,
    complex: _encode_complex,
    str: _encode_str,
    bytes: _encode_bytes,
}


def _encode_type(value: Any, where: str) -> Any:
    """Encode a dtype, a scalar type of numpy or a built-in type, given as a parameter."""
    if isinstance(value, np.dtype):
        dtype = portable_dtype(value)
        if dtype is not None:
            return {"dtype": dtype.str}
    elif _BUILT_IN_TYPES.get(value.__name__) is value:
        return {"type": value.__name__}
    elif issubclass(value, np.generic) and value.__subclasses__() == []:
        dtype = portable_dtype(np.dtype(value))
        if dtype is not None:
            return {"numpy.type": dtype.str}
    raise TypeError(_refusal(value, where))


def _refusal(value: Any, where: str) -> str:
    """Write why a value cannot be stored, and what to do."""
    kind = type(value)
    if isinstance(value, (np.ndarray, np.generic)) and type(value) is np.ndarray:
        found = f"an array of dtype {value.dtype}"
    elif callable(value):
        found = f"the callable {getattr(value, '__qualname__', repr(value))}"
    else:
        found = f"a {kind.__module__}.{kind.__qualname__}"
    remedy = (
        "set it to None or to a named option before saving, and set it again after loading"
        if callable(value)
        else "use numbers, strings, lists, dicts, numpy arrays or estimators of fastlin"
    )
    return f"{where} is {found}, which a model file cannot hold; {remedy}."


class Reader:
    """Turns JSON back into values.

    Parameters
    ----------
    arrays : list of ndarray
        The arrays that followed the header.
    decode_own : dict of str to callable
        For each kind of what `encode_own` gave: called with JSON and this reader.
    """

    def __init__(self, arrays: list[np.ndarray], decode_own: dict[str, Callable]):
        self._arrays, self._decode_own = arrays, decode_own

    def decode(self, json: Any) -> Any:
        """Return the value that was encoded.

        Raises
        ------
        Malformed
            If it is none.
        """
        if isinstance(json, list):
            return [self.decode(item) for item in json]
        if not isinstance(json, dict):
            return json
        if len(json) != 1:
            raise Malformed("a value has no kind, or several")
        ((kind, content),) = json.items()
        if kind in self._decode_own:
            decoder, arguments = self._decode_own[kind], (content, self)
        elif kind in _DECODERS:
            decoder, arguments = _DECODERS[kind], (self, content)
        else:
            raise Malformed(f"there is no kind of value {kind!r}")
        try:
            return decoder(*arguments)
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            TypeError,
            ValueError,
            binascii.Error,
            struct.error,
        ) as error:
            raise Malformed(f"a {kind} cannot be read: {error}") from None

    def _decode_int(self, text: str) -> int:
        """Read a long integer."""
        return int(text, 16)

    def _decode_float(self, text: str) -> float:
        """Read NaN or infinity by its bits."""
        return struct.unpack("<d", bytes.fromhex(text))[0]

    def _decode_complex(self, text: str) -> complex:
        """Read a complex number by its bits."""
        return complex(*struct.unpack("<dd", bytes.fromhex(text)))

    def _decode_str(self, text: str) -> str:
        """Read a string with lone surrogates."""
        return bytes.fromhex(text).decode("utf-8", "surrogatepass")

    def _decode_bytes(self, text: str) -> bytes:
        """Read bytes."""
        return base64.b64decode(text, validate=True)

    def _decode_tuple(self, items: list) -> tuple:
        """Read a tuple."""
        return tuple(self.decode(_expect_list(items)))

    def _decode_set(self, items: list) -> set:
        """Read a set."""
        return set(self.decode(_expect_list(items)))

    def _decode_frozenset(self, items: list) -> frozenset:
        """Read a frozenset."""
        return frozenset(self.decode(_expect_list(items)))

    def _decode_dict(self, pairs: list) -> dict:
        """Read a dict."""
        return {self.decode(key): self.decode(value) for key, value in _expect_list(pairs)}

    def _decode_slice(self, parts: list) -> slice:
        """Read a slice."""
        return slice(*self.decode(_expect_list(parts)))

    def _decode_array(self, place: int) -> np.ndarray:
        """Return one of the arrays of the file."""
        if type(place) is not int or place < 0:
            raise Malformed(f"there is no array {place!r}")
        return self._arrays[place]

    def _decode_objects(self, content: list) -> np.ndarray:
        """Read an array of Python objects."""
        shape, items = content
        array = np.empty(len(items), dtype=object)
        array[:] = self.decode(_expect_list(items))
        return array.reshape(checked_shape(shape))

    def _decode_numpy_str(self, text: Any) -> np.str_:
        """Read a string of numpy."""
        return np.str_(self.decode(text))

    def _decode_numpy_bytes(self, text: str) -> np.bytes_:
        """Read bytes of numpy."""
        return np.bytes_(self._decode_bytes(text))

    def _decode_scalar(self, content: list) -> Any:
        """Read a numpy scalar by its bits."""
        dtype, text = content
        return array_of(bytearray.fromhex(text), read_dtype(dtype), ())[()]

    def _decode_dtype(self, text: str) -> np.dtype:
        """Read a dtype."""
        return read_dtype(text)

    def _decode_numpy_type(self, text: str) -> type:
        """Read a scalar type of numpy."""
        return read_dtype(text).type

    def _decode_type(self, name: str) -> type:
        """Read a built-in type by its name."""
        return _BUILT_IN_TYPES[name]

    def _decode_csr(self, content: list) -> Any:
        """Read a sparse matrix and check it."""
        from scipy import sparse

        kind, shape, *parts = content
        data, indices, indptr = self.decode(parts)
        make = {"csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}[kind]
        matrix = make((data, indices, indptr), shape=checked_shape(shape), copy=False)
        # Every index, so that no kernel ever meets a wrong one.
        matrix.check_format(full_check=True)
        return matrix

    def _decode_seed_sequence(self, content: list) -> np.random.SeedSequence:
        """Read a SeedSequence."""
        entropy, spawn_key, pool_size, n_children = self.decode(content)
        return np.random.SeedSequence(
            entropy, spawn_key=spawn_key, pool_size=pool_size, n_children_spawned=n_children
        )

    def _decode_random_state(self, content: Any) -> np.random.RandomState:
        """Read a RandomState with its state."""
        state = _checked_state(self.decode(content))
        source = np.random.RandomState()
        source.set_state(state)
        return source

    def _decode_generator(self, content: list) -> np.random.Generator:
        """Read a Generator with its state."""
        state, seed = self.decode(content)
        name = state["bit_generator"]
        if name not in _BIT_GENERATORS:
            raise Malformed(f"there is no bit generator {name!r}")
        source = getattr(np.random, name)(seed)
        source.state = _checked_state(state)
        return np.random.Generator(source)


# Kind in the file -> method: `_decode_numpy_str` reads "numpy.str".
_DECODERS: dict[str, Callable] = {
    name.removeprefix("_decode_").replace("numpy_", "numpy."): method
    for name, method in vars(Reader).items()
    if name.startswith("_decode_")
}


def _expect_list(json: Any) -> list:
    """Return a list of the file, or say that it is none."""
    if not isinstance(json, list):
        raise Malformed("a list is missing")
    return json


def checked_shape(sizes: Any) -> tuple[int, ...]:
    """Return a shape of the file as a tuple; whether there are so many elements shows later."""
    whole = isinstance(sizes, list) and all(type(n) is int and 0 <= n < 2**63 for n in sizes)
    if not whole or len(sizes) > 64:
        raise Malformed("an array has no shape that can be")
    return tuple(sizes)


def _checked_state(state: Any) -> Any:
    """Return the state of a generator after checking the places inside its buffer."""
    for part in (state, state["state"]):
        for name, largest in _LARGEST_PLACE.items():
            place = part.get(name, 0)
            if type(place) is not int or not 0 <= place <= largest:
                raise Malformed(f"a generator stands at {place!r} of its buffer")
    return state


def array_of(buffer: bytearray, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return bytes of a file as an array over the same memory, each element checked.

    Raises
    ------
    Malformed
        If numpy can make no such array, a boolean is neither 0 nor 1, or a character is none of
        Unicode.
    """
    try:
        array = np.ndarray(shape, dtype.newbyteorder("<"), buffer)
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed(f"an array of shape {shape} cannot be: {error}") from None
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise Malformed("a boolean is neither 0 nor 1")
    if dtype.kind == "U" and array.size and (np.frombuffer(buffer, "<u4") > 0x10FFFF).any():
        raise Malformed("a character is beyond Unicode")
    # A copy owns its memory, as arrays do that were made by numpy. Not by `np.array`, which leaves
    # the order of bytes spelt out in the dtype, and kernels that look for "d" would not find it.
    own = np.empty(shape, dtype)
    own[...] = array
    return own
