"""Reading svmlight files: results, sources, parts, messages."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svmlight_reference import SAMPLE, as_rows, parsed

from fastlin.io import load_svmlight_file, load_svmlight_files


def sklearn_loader():
    return pytest.importorskip("sklearn.datasets").load_svmlight_file


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr)
valid_rows = st.lists(
    st.tuples(
        numbers,
        st.integers(0, 9),
        st.dictionaries(st.integers(1, 60), numbers, max_size=8),
        st.sampled_from(["", " # x", "#3:4"]),
        st.sampled_from(["\n", "\r\n", " \n\n"]),
    ),
    max_size=9,
)


@given(valid_rows, st.booleans(), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=60, deadline=None)
def test_equals_scikit_learn(rows, zero, dtype):
    text = "".join(
        " ".join([y, f"qid:{q}", *[f"{i - zero}:{v}" for i, v in sorted(x.items())]]) + tail + end
        for y, q, x, tail, end in rows
        if dtype is np.float64 or all(abs(float(v)) < 1e38 for v in x.values())
    ).encode()
    X, y, q = load_svmlight_file(text, query_id=True, dtype=dtype)
    X2, y2, q2 = sklearn_loader()(io.BytesIO(text), query_id=True, dtype=dtype)
    assert X.shape == X2.shape and X.dtype == X2.dtype == dtype
    assert X.indices.dtype == X.indptr.dtype == np.int32
    for a, b in (
        (X.data, X2.data),
        (X.indices, X2.indices),
        (X.indptr, X2.indptr),
        (y, y2),
        (q, q2),
    ):
        np.testing.assert_array_equal(a, b)
    assert X.has_canonical_format


def test_multilabel_equals_scikit_learn():
    text = b"2,1 1:3\n1:4 2:5\n\n3\n0.5,-1 # c\n"
    X, y = load_svmlight_file(text, multilabel=True)
    X2, y2 = sklearn_loader()(io.BytesIO(text), multilabel=True)
    assert y == y2 == [(1.0, 2.0), (), (3.0,), (-1.0, 0.5)]
    np.testing.assert_array_equal(X.toarray(), X2.toarray())


@pytest.mark.parametrize("text", [b"", b"\n", b"# only\n", b"1\n2\n"])
def test_without_entries_there_is_one_column(text):
    X, y = load_svmlight_file(text)
    X2, y2 = sklearn_loader()(io.BytesIO(text))
    assert X.shape == X2.shape and y.tolist() == y2.tolist()


def test_zero_based():
    ones, zeros = b"1 1:5 3:6\n", b"1 0:5 3:6\n"
    assert load_svmlight_file(ones)[0].toarray().tolist() == [[5, 0, 6]]
    assert load_svmlight_file(zeros)[0].toarray().tolist() == [[5, 0, 0, 6]]
    assert load_svmlight_file(ones, zero_based=True)[0].shape == (1, 4)
    assert load_svmlight_file(ones, zero_based=False)[0].shape == (1, 3)
    X, _, X2, _ = load_svmlight_files([ones, zeros])
    assert X.shape == X2.shape == (1, 4)
    with pytest.raises(
        ValueError, match=r"bytes, line 1: the index of '0:5' is 0, but zero_based=Fa"
    ):
        load_svmlight_file(zeros, zero_based=False)
    for value in "1", "1.5":  # also far in a line
        entries = " ".join(f"{index}:{value}" for index in [*range(1, 30), 0, 31])
        with pytest.raises(ValueError, match=f"the index of '0:{value}' is 0, but zero_based=Fal"):
            load_svmlight_file(f"1 {entries}\n".encode(), zero_based=False)


def test_largest_index():
    X, _ = load_svmlight_file(b"1 2147483647:1\n")
    assert X.shape == (1, 2147483647) and X.indices[0] == 2147483646
    with pytest.raises(ValueError, match="largest is 2147483646"):
        load_svmlight_file(b"1 2147483647:1\n", zero_based=True)


def test_n_features():
    assert load_svmlight_file(b"1 2:1", n_features=7)[0].shape == (1, 7)
    with pytest.raises(ValueError, match="n_features is 3, but bytes has 9 features"):
        load_svmlight_file(b"1 9:1", n_features=3)


def test_other_dtypes():
    X, y = load_svmlight_file(b"1.5 1:3 2:-4", dtype=np.int16)
    assert X.dtype == np.int16 and X.toarray().tolist() == [[3, -4]] and y.dtype == np.float64
    with pytest.raises(ValueError, match="bytes, line 3: dtype int16 cannot hold the value 0.5"):
        load_svmlight_file(b"1 1:1\n\n1 1:2 2:0.5", dtype=np.int16)
    with pytest.raises(ValueError, match="line 2: dtype int8 cannot hold the value 300.0"):
        load_svmlight_file(b"1 1:1\n1 1:300", dtype=np.int8)
    with pytest.raises(ValueError, match=r"line 1: dtype float32 cannot hold the value 1e\+39"):
        load_svmlight_file(b"1 1:1e39", dtype=np.float32)
    with pytest.raises(TypeError, match="floating or integer type, got complex128"):
        load_svmlight_file(b"1 1:1", dtype=complex)


@pytest.mark.parametrize(
    ("text", "message", "options"),
    [
        (b"1:2 3:4\n", "line 1: the line begins with the feature '1:2' where its target", {}),
        (b"1 3\n", "line 1: feature '3' has no colon", {}),
        (b"1 x:3\n", "line 1: the index of 'x:3' is not an integer", {}),
        (b"1 1.0:3\n", "line 1: the index of '1.0:3' is not an integer", {}),
        (b"1 :3\n", "line 1: the index of ':3' is not an integer", {}),
        (b"\n\n1 -3:3\n", "line 3: the index of '-3:3' is negative", {}),
        (b"1 4294967297:3\n", "line 1: the index of '4294967297:3' is above 2147483647", {}),
        (b"1 2:3 2:4\n", "line 1: the index of '2:4' stands twice in this line", {}),
        (b"1 9:1 2:3 7:1 2:4#\n", "line 1: the index of '2:4' stands twice in this line", {}),
        (
            b"1 2:3\n1 2:3\n",
            r"line 1: query_id=True needs qid:<integer> after the target, found '2:3'",
            {"query_id": True},
        ),
        (b"1\n", "found ''", {"query_id": True}),
        (
            b"1 qid:1.5 2:3\n",
            "line 1: 'qid:1.5' is not qid: with a 64-bit integer",
            {"query_id": True},
        ),
        (b"1 2:3 qid:4\n", "the index of 'qid:4' is not an integer", {}),
        (b"1,2 2:3\n", "target '1,2' is not a number", {}),
        (b"1, 2:3\n", "target '1,' is not a number", {"multilabel": True}),
        (b"1 2:" + b"x" * 500, "the value of '2:" + "x" * 58 + r"\.\.\.' is not", {}),
    ],
)
def test_messages(text, message, options):
    with pytest.raises(ValueError, match="bytes, " * message.startswith("line") + message):
        load_svmlight_file(text, **options)


def test_bad_arguments():
    for name, value in [
        ("n_features", 0),
        ("n_features", 1.5),
        ("multilabel", 1),
        ("offset", -1),
        ("zero_based", "no"),
        ("query_id", "a"),
        ("length", 1.5),
    ]:
        with pytest.raises(ValueError, match=f"{name} must be"):
            load_svmlight_file(b"1 1:1", **{name: value})
    with pytest.raises(TypeError, match="given as a path, a binary file object.*got list"):
        load_svmlight_file([1])
    with pytest.raises(TypeError, match="call load_svmlight_file"):
        load_svmlight_files("name.svm")
    with pytest.raises(TypeError, match="must be opened in binary mode"):
        load_svmlight_file(io.StringIO("1 1:1"))
    with pytest.raises(ValueError, match="set n_features"):
        load_svmlight_file(b"1 1:1", length=3)
    with pytest.raises(FileNotFoundError):
        load_svmlight_file("no such file.svm")


class OnlyRead:
    """A stream with nothing but read, which gives a few bytes at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def read(self, n):
        return self.data.read(min(n, 5))


def test_every_kind_of_source(tmp_path, monkeypatch):
    text = SAMPLE * 3
    expected = as_rows(parsed(text))
    (tmp_path / "a.svm").write_bytes(text)
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.bz2").write_bytes(bz2.compress(text))
    (tmp_path / "a.XZ").write_bytes(lzma.compress(text))
    sources = [text, bytearray(text), memoryview(text), io.BytesIO(text), OnlyRead(text)]
    sources += [tmp_path / name for name in ("a.svm", "a.svm.gz", "a.bz2", "a.XZ")]
    sources += [str(tmp_path / "a.svm"), gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(text)))]
    for piped in (text, gzip.compress(text), lzma.compress(text), bz2.compress(text)):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(piped)))
        monkeypatch.setattr(sys, "stdin", stdin)
        X, _ = load_svmlight_file("-", zero_based=True)
        assert X.nnz == sum(len(row[2]) for row in expected)
    for source in sources:
        X, y = load_svmlight_file(source, zero_based=True)
        assert y.tolist() == [row[0][0] for row in expected]
        assert X.data.tolist() == [v for row in expected for v in row[2].values()]
    with open(tmp_path / "a.svm", "rb") as stream:
        X, _ = load_svmlight_file(stream.fileno(), zero_based=True)
        assert X.shape[0] == len(expected) and not stream.closed
        stream.seek(0)
        load_svmlight_file(stream)
        assert not stream.closed


def test_damaged_compressed_files(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(SAMPLE * 99)[:-20])
    with pytest.raises(ValueError, match=r"a\.gz can't be decompressed: "):
        load_svmlight_file(path)
    for name, data in (("b.bz2", b"nothing"), ("c.xz", b"nothing"), ("d.gz", b"nothing")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match="can't be decompressed"):
            load_svmlight_file(tmp_path / name)


def test_parts_hold_every_line_once(tmp_path):
    lines = [f"{i} 0:{i}\n" for i in range(30)]
    lines.insert(7, "# a comment over a border\n")
    text = "".join(lines).encode()
    path = tmp_path / "a.svm"
    path.write_bytes(text)
    for step in range(1, len(text) + 1, 3):
        for source in (text, path):
            found = []
            for offset in range(0, len(text), step):
                _, y = load_svmlight_file(source, n_features=1, offset=offset, length=step)
                found += y.tolist()
            assert found == list(range(30))
    _, y = load_svmlight_file(text, n_features=1, offset=len(text) - 3)
    assert len(y) == 0
    with pytest.raises(ValueError, match=r"line 2 after byte 3: target 'x'"):
        load_svmlight_file(b"1 0:1\n2 0:1\nx\n", n_features=2, offset=3)
    with pytest.raises(ValueError, match="offset needs a file that can seek"):
        stream = io.BytesIO(b"")
        stream.seek = io.IOBase().seek
        load_svmlight_file(stream, n_features=1, offset=2)


def test_parts_equal_those_of_scikit_learn():
    text = b"".join(b"%d 0:%d 1:1\n" % (i, i) for i in range(40))
    for step in (20, 33, 100):
        for offset in range(0, len(text), step):
            args = {"n_features": 2, "offset": offset, "length": step}
            _, y = load_svmlight_file(text, **args)
            _, y2 = sklearn_loader()(io.BytesIO(text), **args)
            assert y.tolist() == y2.tolist()


@pytest.mark.parametrize("compressed", [False, True])
def test_memory_holds_little_more_than_the_result(compressed):
    text = b"".join(b"1 %d:0.25 %d:1.5 %d:7\n" % (i, i + 3, i + 9) for i in range(10**5, 3 * 10**5))
    source = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(text))) if compressed else text
    load_svmlight_file(b"1 1:1")  # imports
    tracemalloc.start()
    X, y = load_svmlight_file(source)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
    # Buffers take 3 MB. Where the size is not known, arrays grow by half.
    assert peak < (1.6 if compressed else 1.3) * result + 4e6
