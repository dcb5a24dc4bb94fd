"""Model files that were forged: nothing but sound content is read, and nothing is run."""

import io
import json
import struct

import numpy as np
import pytest

from fastlin import persist as persist_module
from fastlin.persist import load


def forged(header, data=b"", sizes=None):
    """A file with a right checksum around a header of one's own."""
    text = json.dumps(header).encode() if isinstance(header, (dict, list)) else header
    text += b" " * (-(32 + len(text)) % 64)
    start = struct.pack("<12sIQQ", b"\x89fastlin\r\n\x1a\n", 1, *(sizes or (len(text), len(data))))
    content = start + text + data
    return content + persist_module.hashlib.blake2b(content, digest_size=32).digest()


def model_json(value, **changes):
    content = {"class": "Pipeline", "parameters": {"steps": []}, "attributes": {"value_": value}}
    return {"fastlin": "0.1.0", "model": {**content, **changes}, "arrays": []}


def array_json(dtype, shape, value=None, order="C"):
    header = model_json({"array": 0} if value is None else value)
    return {**header, "arrays": [{"dtype": dtype, "shape": shape, "order": order}]}


def test_a_forged_file_of_sound_content_is_read():
    assert load(io.BytesIO(forged(model_json({"tuple": [1]})))).value_ == (1,)
    content = forged(array_json("<i4", [2, 2]), bytes(range(16)) + bytes(48))
    assert load(io.BytesIO(content)).value_.shape == (2, 2)


HOSTILE_VALUES = [
    {}, {"tuple": [], "list": []}, {"tuple": 3}, {"set": [[]]}, {"dict": [[1]]},
    {"dict": [[[], 1]]},
    {"eval": "1"}, {"__class__": []}, {"encode": 1}, {"array": 0}, {"array": -1}, {"array": True},
    {"array": "0"}, {"int": "x"}, {"int": 3}, {"float": "00"}, {"float": "zz"}, {"str": "ff"},
    {"bytes": "?"}, {"objects": [[2], [1]]}, {"objects": [[-1], []]}, {"objects": [[2**70], []]},
    {"scalar": ["<f8", "00"]}, {"scalar": ["O", "00" * 8]}, {"scalar": ["|b1", "02"]},
    {"scalar": ["<U1", "ffffffff"]}, {"dtype": "O"}, {"dtype": "i4,f8"}, {"dtype": 3},
    {"dtype": "<M8[parsec]"}, {"type": "eval"}, {"type": "open"}, {"numpy.type": "V8"},
    {"record": []}, {"record": ["Pipeline", {}]}, {"record": ["HashedNgram", {"ngram": "a"}]},
    {"seed_sequence": []}, {"seed_sequence": ["a", [], 4, 0]}, {"random_state": {"dict": []}},
    {"generator": [{"dict": [["bit_generator", "os"]]}, None]}, {"estimator": 3}, {"estimator": {}},
    {"estimator": {"class": "Pipeline"}}, {"csr": []},
    {"estimator": {"class": "Nothing", "parameters": {}, "attributes": {}}},
    {"estimator": {"class": "as_rows", "parameters": {}, "attributes": {}}},
    {"estimator": {"class": "os.system", "parameters": {}, "attributes": {}}},
    {"estimator": {"class": ["Pipeline"], "parameters": {}, "attributes": {}}},
    {"estimator": {"class": "Pipeline", "parameters": {}, "attributes": {}}},
    {"estimator": {"class": "Pipeline", "parameters": {"steps": [], "new": 1}, "attributes": {}}},
    {"estimator": {"class": "Pipeline", "parameters": {"steps": []}, "attributes": {"fit": 1}}},
    {"estimator": {"class": "Pipeline", "parameters": {"steps": []}, "attributes": {"steps": 1}}},
    {"estimator": {"class": "Pipeline", "parameters": {"steps": 1}, "attributes": {"classes_": 1}}},
    {"estimator": {"class": "Pipeline", "parameters": [], "attributes": {}}},
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=lambda v: json.dumps(v)[:60])
def test_hostile_values(value):
    with pytest.raises(ValueError, match=r"^stream cannot be loaded: "):
        load(io.BytesIO(forged(model_json(value))))


def with_places(name, place):
    """The state of a generator that claims to stand somewhere else in its buffer."""
    state = getattr(np.random, name)(0).state
    target = state["state"] if "pos" in state["state"] else state
    target["pos" if "pos" in target else "buffer_pos"] = place
    return state


@pytest.mark.parametrize("place", [-1, 625, 2**40, True, None])
@pytest.mark.parametrize("name", ["MT19937", "Philox"])
def test_hostile_generators(name, place):
    encode = persist_module.Writer(lambda value, writer: None).encode
    state = with_places(name, 0)
    for part in (state, state["state"]):
        for key, value in part.items():
            if isinstance(value, np.ndarray):
                part[key] = value.tolist()
    generator = {"generator": [encode(state, ""), None]}
    text = json.dumps(generator)
    assert load(io.BytesIO(forged(model_json(generator)))).value_.random() < 1
    key = '"pos", 0' if name == "MT19937" else '"buffer_pos", 0'
    assert key in text
    hostile = json.loads(text.replace(key, key.replace("0", json.dumps(place))))
    with pytest.raises(ValueError, match="a generator stands at"):
        load(io.BytesIO(forged(model_json(hostile))))


@pytest.mark.parametrize(
    ("dtype", "shape", "order", "data"),
    [
        ("<f8", [2**40], "C", b""),
        ("<f8", [2**62, 2**62], "C", b""),
        ("<f8", [0, 2**62], "C", b""),
        ("<f8", [-1], "C", b""),
        ("<f8", [1.0], "C", bytes(64)),
        ("<f8", [True], "C", bytes(64)),
        ("<f8", [1] * 65, "C", bytes(64)),
        ("<f8", [1], "K", bytes(64)),
        ("<f8", 1, "C", bytes(64)),
        ("|O", [1], "C", bytes(64)),
        ("<U999999999", [1], "C", b""),
        ("<U0", [3], "C", b""),
        ("|b1", [1], "C", b"\2" + bytes(63)),
        ("<U1", [1], "C", b"\xff" * 4 + bytes(60)),
        ("<f8", [9], "C", bytes(64)),
        ("<f8", [1], "C", b""),
    ],
)
def test_hostile_arrays(dtype, shape, order, data):
    header = array_json(dtype, shape, order=order)
    with pytest.raises(ValueError, match=r"^stream cannot be loaded: "):
        load(io.BytesIO(forged(header, data)))


@pytest.mark.parametrize(
    "header",
    [b"", b"[]", b"{}", b"nonsense", b"\xff", b'{"fastlin": NaN}', b"[" * 100_000,
     b'{"fastlin": 1, "model": {}, "arrays": {}}', b'{"fastlin": 1, "model": 2, "arrays": [3]}',
     b'{"fastlin": 1, "model": 2, "arrays": []}', b"1" * 5000],
    ids=lambda h: h[:20].decode("latin-1"),
)  # fmt: skip
def test_hostile_headers(header):
    with pytest.raises(ValueError, match=r"^stream cannot be loaded: "):
        load(io.BytesIO(forged(header)))


def test_huge_sizes_take_no_memory():
    tracemalloc = pytest.importorskip("tracemalloc")
    files = [
        forged(model_json(1), sizes=(2**60, 0)),
        forged(array_json("<f8", [2**50]), sizes=None)[:-32],
        forged(array_json("<f8", [2**37]), sizes=(320, 2**40)),
    ]
    tracemalloc.start()
    try:
        for content in files:
            with pytest.raises(ValueError, match="cannot be loaded"):
                load(io.BytesIO(content))
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_sparse_indices_are_checked():
    matrix = {
        "csr": ["csr_matrix", [2, 3], {"array": 0}, {"array": 1}, {"array": 2}],
    }
    header = model_json(matrix)
    header["arrays"] = [
        {"dtype": "<f8", "shape": [2], "order": "C"},
        {"dtype": "<i4", "shape": [2], "order": "C"},
        {"dtype": "<i4", "shape": [3], "order": "C"},
    ]

    def content(columns, starts):
        arrays = (np.ones(2), np.array(columns, "<i4"), np.array(starts, "<i4"))
        return forged(header, b"".join(a.tobytes().ljust(64, b"\0") for a in arrays))

    assert load(io.BytesIO(content([0, 2], [0, 1, 2]))).value_.nnz == 2
    for columns, starts in (([0, 3], [0, 1, 2]), ([-1, 0], [0, 1, 2]), ([0, 1], [0, 9, 2])):
        with pytest.raises(ValueError, match="cannot be loaded: a csr cannot be read"):
            load(io.BytesIO(content(columns, starts)))
