"""Reading and writing svmlight files: values, structure, messages, memory."""

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from fastlin._svmlight import Contents, SvmlightReader
from fastlin.io import dump_svmlight_file, load_svmlight_file, load_svmlight_files

BLANKS = b" \t\r\v\f"


def parsed(text, block_bytes=1 << 20, room=1 << 15, lowest_index=0, **options):
    """Contents of a text, read through buffers of the sizes given."""
    reader = SvmlightReader(io.BytesIO(text), "text", lowest_index=lowest_index,
                            block_bytes=block_bytes, room=room, **options)
    return Contents(reader, np.dtype(np.float64))


def reference_number(token):
    """A number of the format, by Python; ValueError for anything else that float() takes."""
    if not token or token.strip(b"0123456789+-.eE"):
        raise ValueError(token)
    value = float(token)
    if value in (np.inf, -np.inf):
        raise ValueError(token)
    return value


def reference_integer(token):
    """A decimal integer with an optional sign."""
    digits = token[1:] if token[:1] in (b"+", b"-") else token
    if not digits or digits.strip(b"0123456789"):
        raise ValueError(token)
    return int(token)


def reference(text, multilabel=False, query_id=False):
    """The rows of a text, slowly: a list of (labels, query id, {index: value})."""
    rows = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        tokens = line.split(b"#")[0].replace(b"\x1c", b"?").split(None)
        if not tokens:
            continue
        target, *tokens = tokens
        if multilabel and b":" in target:
            labels, tokens = (), [target, *tokens]
        else:
            words = target.split(b",") if multilabel else [target]
            labels = tuple(sorted(map(reference_number, words)))
        qid = None
        if tokens and tokens[0].startswith(b"qid:"):
            qid = tokens.pop(0)[4:]
        if query_id:
            qid = reference_integer(qid or b"")
            struct.pack("q", qid)
        entries = {}
        for token in tokens:
            index, colon, value = token.partition(b":")
            index = reference_integer(index)
            if not colon or not 0 <= index < 2**31 or index in entries:
                raise ValueError(token)
            entries[index] = reference_number(value)
        rows.append((labels, qid, entries))
    return rows


def outcome(text, **options):
    """The reference's rows, or None if it refuses the text."""
    try:
        return reference(text, **options)
    except (ValueError, struct.error):
        return None


def as_rows(contents, multilabel=False, query_id=False):
    """Contents in the reference's form."""
    starts = [0, *contents.row_ends.tolist()]
    labels = contents.label_sets() if multilabel else [(v,) for v in contents.labels.tolist()]
    ids = contents.query_ids.tolist() if query_id else [None] * len(labels)
    rows = []
    for i, label in enumerate(labels):
        entries = slice(starts[i], starts[i + 1])
        columns = contents.columns[entries].tolist()
        assert columns == sorted(set(columns))
        rows.append((label, ids[i], dict(zip(columns, contents.values[entries].tolist()))))
    return rows


def check_against_reference(text, block_bytes=1 << 20, room=1 << 15, **options):
    """The parser accepts what the reference accepts, with equal bits, and refuses the rest."""
    expected = outcome(text, **options)
    try:
        found = as_rows(parsed(text, block_bytes, room, **options), **options)
    except ValueError as error:
        assert expected is None, (text, error)
        assert "line" in str(error)
        return
    assert expected is not None, (text, found)
    if not options.get("query_id"):
        expected = [(labels, None, entries) for labels, _, entries in expected]
    assert repr(found) == repr([(tuple(map(float, labels)), qid, dict(sorted(entries.items())))
                                for labels, qid, entries in expected])


SAMPLE = (b"# head\n1 qid:3 1:0.5 7:-2e3 # note 9:9\r\n\n  -1 qid:4 2:1 12:3.25\t13:1\n"
          b"+1.5e0 qid:-5 5:123456789012345678901234567890 3:1e-310\n0 qid:0\n2.5 qid:9 4:.5 10:7.")


# numbers


def decimals():
    """Decimal strings of every kind: short, long, denormal, near halfway, with odd zeros."""
    rng = np.random.default_rng(0)
    words = ["0", "-0", "0.0", "-0.0e5", "00012", "1.", ".1", "+.5", "1e0", "1E+05", "1e-5",
             "9007199254740993", "9007199254740992", "9007199254740991", "18446744073709551615",
             "18446744073709551616", "9999999999999999999", "99999999999999999999", "1e22", "1e23",
             "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "1e-27",
             "2.2250738585072014e-308", "2.225073858507201e-308", "1.7976931348623157e308",
             "0." + "0" * 400 + "1e400", "1" + "0" * 300, "0.000000000000000000000000001",
             "8.5", "4503599627370497.5", "4503599627370498.5", "1e99999999999999999999",
             "0e99999999999999999999", "1" * 19, "1" * 20, "0." + "1" * 19, "123." + "4" * 60]
    words = [w for w in words if float(w) not in (np.inf, -np.inf)]
    bits = rng.integers(0, 2**63, 4000, dtype=np.uint64)
    floats = bits.view(np.float64)
    floats = floats[np.isfinite(floats)]
    words += [repr(v) for v in floats.tolist()]
    words += [f"{v:.{d}g}" for v, d in zip(rng.normal(size=3000), rng.integers(1, 21, 3000))]
    words += [f"{v:.{d}e}" for v, d in zip(rng.lognormal(0, 12, 3000), rng.integers(0, 20, 3000))]
    for digits, point, power in zip(rng.integers(1, 25, 6000), rng.integers(0, 25, 6000),
                                    rng.integers(-40, 40, 6000)):
        text = "".join(map(str, rng.integers(0, 10, digits)))
        words.append(f"{text[:point]}.{text[point:]}e{power}")
        words.append(text + "0" * int(point))
    # Halfway between two doubles, and one digit to either side of it.
    for m in rng.integers(2**52, 2**53, 300).tolist():
        half = str((2 * m + 1) * 5**20)
        words += [f"{half}e-20", f"{half[:-1]}{int(half[-1]) - 1}e-20", f"{half}1e-21", str(2 * m + 1)]
    return words


def test_numbers_are_those_of_python():
    words = decimals()
    text = "".join(f"{w} 0:{w} 1:-{w.lstrip('+-')}\n" for w in words).encode()
    contents = parsed(text)
    expected = np.array([float(w) for w in words])
    negative = np.array([-float(w.lstrip("+-")) for w in words])
    for found, right in ((contents.labels, expected), (contents.values[::2], expected),
                         (contents.values[1::2], negative)):
        wrong = np.flatnonzero(found.view(np.int64) != right.view(np.int64))
        assert len(wrong) == 0, words[wrong[0]]


@given(st.integers(0, 2**70), st.integers(-45, 45), st.integers(0, 25))
@settings(max_examples=300, deadline=None)
def test_every_mantissa_and_exponent(m, power, point):
    text = str(m)
    word = f"{text[:point]}.{text[point:]}e{power}" if point <= len(text) else f"{text}e{power}"
    found = parsed(f"{word} 3:{word}".encode())
    assert found.values[0] == found.labels[0] == float(word)


@pytest.mark.parametrize("word", ["1e", "1e+", "e5", ".", "-", "+", "--1", "1.2.3", "1_000", "0x1",
                                  "1,5", "1:2", "", "1e5.5", "a", "1f", "²", "1\0", "١"])
def test_no_numbers(word):
    with pytest.raises(ValueError, match=r"text, line 2: the value of '7:.*' is not a number\."):
        parsed(f"1\n1 3:2 7:{word} 9:1\n".encode())
    if word and ":" not in word:
        with pytest.raises(ValueError, match=r"text, line 1: target '.*' is not a number\."):
            parsed(f"{word} 3:2\n".encode())


@pytest.mark.parametrize("word", ["inf", "-inf", "+Infinity", "NaN", "nan", "-INF"])
def test_infinite_and_nan_are_refused(word):
    with pytest.raises(ValueError, match=rf"line 1: the value of '0:{word}' is not finite"
                       .replace("+", r"\+")):
        parsed(f"1 0:{word}\n".encode())
    with pytest.raises(ValueError, match="is not finite"):
        parsed(f"{word} 0:1".encode())


@pytest.mark.parametrize("word", ["1e309", "123456789" * 40, "-2e999"])
def test_too_large_for_a_double(word):
    with pytest.raises(ValueError, match=rf"line 2: '{word[:40]}.*' is beyond the range of double"):
        parsed(f"1 1:1\n1 0:{word}\n1 1:1\n".encode())
    with pytest.raises(ValueError, match=r"line 2: .* is beyond the range of doubles"):
        parsed(f"1\n{word}\n".encode())


# structure


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("query_id", [False, True])
def test_sample_in_blocks_of_every_size(multilabel, query_id):
    options = {"multilabel": multilabel, "query_id": query_id}
    for block_bytes in range(1, len(SAMPLE) + 2):
        check_against_reference(SAMPLE, block_bytes, room=block_bytes, **options)


def test_text_cut_at_every_byte():
    for end in range(len(SAMPLE) + 1):
        check_against_reference(SAMPLE[:end], query_id=True)
        check_against_reference(SAMPLE[:end], block_bytes=7, room=1)
        check_against_reference(SAMPLE[end:], multilabel=True)


words = st.one_of(
    st.sampled_from([b"1", b"-1", b"1,2", b"3,", b"qid:2", b"qid:x", b"qid:", b"1:2", b"0:1", b"7:",
                     b":", b"2:3:4", b"-4:1", b"+5:+1", b"05:1", b"99999999999:1", b"2147483647:1",
                     b"2147483648:1", b"123456789:1", b"8:1e5", b"9:1e-330", b"10:nan", b"#", b"#1:2",
                     b"3:12345678901234567890123", b"000000000000000000000000011:1", b"1e400", b"x",
                     b"qid:9223372036854775807", b"qid:-9223372036854775808",
                     b"qid:9223372036854775808", b"\0", b"6:1\0", b"\xff"]),
    st.builds(lambda i, v: b"%d:%r" % (i, v), st.integers(0, 40), st.integers(-9, 9)),
)
texts = st.lists(
    st.lists(st.tuples(words, st.sampled_from([b" ", b"  ", b"\t", b"\r", b" \v"]))
             .map(b"".join), max_size=6).map(b"".join), max_size=5,
).map(b"\n".join)


@given(texts, st.integers(1, 40), st.integers(1, 9), st.booleans(), st.booleans())
@example(b"\xef\xbb\xbf1 2:3", 1, 1, False, False)
@example(b"1 5:1 3:1e-330 4:2 1:1e300", 9, 1, False, False)
@example(b"1,2 3:1 3:2\n", 9, 9, True, False)
@settings(max_examples=250, deadline=None)
def test_hostile_texts(text, block_bytes, room, multilabel, query_id):
    check_against_reference(text, block_bytes, room, multilabel=multilabel, query_id=query_id)


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes(text):
    check_against_reference(text)
    check_against_reference(b"1 2:3\n" + text + b"\n2 3:4")


def test_a_line_longer_than_every_buffer():
    entries = " ".join(f"{i}:{i}.5" for i in range(50_000))
    contents = parsed(f"1 {entries}\n2 3:1e-320 1:1".encode(), block_bytes=100, room=10)
    assert contents.columns[:50_000].tolist() == list(range(50_000))
    assert contents.values[-2:].tolist() == [1, 1e-320]


def test_reversed_row_is_sorted_with_its_hard_numbers():
    columns = np.random.default_rng(0).permutation(3000)
    values = [f"{c}.{'0' * 30}" if c % 3 == 0 else str(c) for c in columns]
    text = " ".join(["7", *[f"{c}:{v}" for c, v in zip(columns, values)]])
    contents = parsed(text.encode())
    assert contents.columns.tolist() == list(range(3000))
    assert contents.values.tolist() == list(range(3000))


# the public function


def sklearn_loader():
    return pytest.importorskip("sklearn.datasets").load_svmlight_file


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr)
valid_rows = st.lists(st.tuples(
    numbers, st.integers(0, 9), st.dictionaries(st.integers(1, 60), numbers, max_size=8),
    st.sampled_from(["", " # x", "#3:4"]), st.sampled_from(["\n", "\r\n", " \n\n"])), max_size=9)


@given(valid_rows, st.booleans(), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=60, deadline=None)
def test_equals_scikit_learn(rows, zero, dtype):
    text = "".join(
        " ".join([y, f"qid:{q}", *[f"{i - zero}:{v}" for i, v in sorted(x.items())]]) + tail + end
        for y, q, x, tail, end in rows if dtype is np.float64 or all(
            abs(float(v)) < 1e38 for v in x.values())
    ).encode()
    X, y, q = load_svmlight_file(text, query_id=True, dtype=dtype)
    X2, y2, q2 = sklearn_loader()(io.BytesIO(text), query_id=True, dtype=dtype)
    assert X.shape == X2.shape and X.dtype == X2.dtype == dtype
    assert X.indices.dtype == X.indptr.dtype == np.int32
    for a, b in ((X.data, X2.data), (X.indices, X2.indices), (X.indptr, X2.indptr), (y, y2), (q, q2)):
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
    with pytest.raises(ValueError, match=r"bytes, line 1: the index of '0:5' is 0, but zero_based=Fa"):
        load_svmlight_file(zeros, zero_based=False)


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


@pytest.mark.parametrize(("text", "message", "options"), [
    (b"1:2 3:4\n", "line 1: the line begins with the feature '1:2' where its target", {}),
    (b"1 3\n", "line 1: feature '3' has no colon", {}),
    (b"1 x:3\n", "line 1: the index of 'x:3' is not an integer", {}),
    (b"1 1.0:3\n", "line 1: the index of '1.0:3' is not an integer", {}),
    (b"1 :3\n", "line 1: the index of ':3' is not an integer", {}),
    (b"\n\n1 -3:3\n", "line 3: the index of '-3:3' is negative", {}),
    (b"1 4294967297:3\n", "line 1: the index of '4294967297:3' is above 2147483647", {}),
    (b"1 2:3 2:4\n", "line 1: the index of '2:4' stands twice in this line", {}),
    (b"1 9:1 2:3 7:1 2:4#\n", "line 1: the index of '2:4' stands twice in this line", {}),
    (b"1 2:3\n1 2:3\n", r"line 1: query_id=True needs qid:<integer> after the target, found '2:3'",
     {"query_id": True}),
    (b"1\n", "found ''", {"query_id": True}),
    (b"1 qid:1.5 2:3\n", "line 1: 'qid:1.5' is not qid: with a 64-bit integer", {"query_id": True}),
    (b"1 2:3 qid:4\n", "the index of 'qid:4' is not an integer", {}),
    (b"1,2 2:3\n", "target '1,2' is not a number", {}),
    (b"1, 2:3\n", "target '1,' is not a number", {"multilabel": True}),
    (b"1 2:" + b"x" * 500, "the value of '2:" + "x" * 58 + r"\.\.\.' is not", {}),
])
def test_messages(text, message, options):
    with pytest.raises(ValueError, match="bytes, " * message.startswith("line") + message):
        load_svmlight_file(text, **options)


def test_bad_arguments():
    for name, value in [("n_features", 0), ("n_features", 1.5), ("multilabel", 1), ("offset", -1),
                        ("zero_based", "no"), ("query_id", "a"), ("length", 1.5)]:
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


# writing


def dumped(X, y, **options):
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, **options)
    return file.getvalue()


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=6), st.booleans(),
       st.sampled_from([np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix]))
@settings(max_examples=150, deadline=None)
def test_round_trip(rows, zero_based, container):
    dense = np.array(rows)
    X, y = container(dense), dense[:, 0]
    ids = np.arange(len(y)) - 2
    text = dumped(X, y, zero_based=zero_based, query_id=ids)
    X2, y2, ids2 = load_svmlight_file(text, n_features=3, zero_based=zero_based, query_id=True)
    # A zero in a dense matrix is not written, so the sign of -0.0 is lost there.
    np.testing.assert_array_equal(X2.toarray(), dense)
    assert (X2.data.view(np.int64) == sparse.csr_matrix(X).data.view(np.int64)).all()
    assert (y2.view(np.int64) == y.view(np.int64)).all()
    assert (ids2 == ids).all()


def test_written_text():
    X = sparse.csr_matrix(([1.0, 0.0, -0.0, 0.1, 1e16, 1e-7], ([0, 0, 0, 1, 1, 1], [0, 2, 3, 0, 1, 2])))
    assert dumped(X, [1, -1.5]) == b"1 0:1 2:0 3:-0\n-1.5 0:0.1 1:1e+16 2:1e-07\n"
    assert dumped(np.array([[2**53 + 1, 0]]), [True]) == b"1 0:9007199254740993\n"
    assert dumped(np.float32([[0.1]]), [0]) == b"0 0:0.10000000149011612\n"
    assert dumped(np.longdouble([[0.5]]), np.longdouble([2])) == b"2 0:0.5\n"
    assert dumped([[True, False]], [0], zero_based=False) == b"0 1:1\n"
    assert dumped([[1]], [7], comment="first\nzweite: ü", zero_based=False) == (
        "# Column indices are one-based\n#\n# first\n# zweite: ü\n7 1:1\n".encode())
    unsorted = sparse.csr_matrix((np.array([1.0, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])),
                                 shape=(1, 3))
    before = unsorted.indices.copy()
    assert dumped(unsorted, sparse.csr_matrix([[4]])) == b"4 0:2 2:4\n"
    assert (unsorted.indices == before).all()
    assert dumped(np.ones((2500, 1)), np.arange(2500)).count(b"\n") == 2500


def test_written_labels():
    X = sparse.csr_matrix([[1.0], [0], [2]])
    sets = [(2.0, 0.5), (), ()]
    text = dumped(X, sets, multilabel=True)
    assert text == b"2,0.5 0:1\n0:0\n0:2\n"
    assert load_svmlight_file(text, multilabel=True)[1] == [(0.5, 2.0), (), ()]
    indicator = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]])
    for y in (indicator, indicator.tolist(), sparse.csc_matrix(indicator)):
        assert dumped(X, y, multilabel=True) == b"1,2 0:1\n0:0\n0 0:2\n"


@pytest.mark.parametrize(("X", "y", "options", "error", "message"), [
    ([[1]], [1, 2], {}, ValueError, "X has 1 rows but y has 2"),
    ([1], [1], {}, ValueError, "X must have two dimensions"),
    ([[np.nan, 1]], [1], {}, ValueError, "value nan in row 0, column 0"),
    (sparse.csr_matrix([[0, 0], [0, np.inf]]), [1, 2], {}, ValueError, "value inf in row 1, column 1"),
    ([[1]], [np.nan], {}, ValueError, "y must be finite"),
    ([[1]], ["a"], {}, ValueError, "y must be numeric"),
    ([[1]], [[1, 2]], {}, ValueError, "set multilabel=True"),
    ([["a"]], [1], {}, TypeError, "X must be numeric"),
    ([[1j]], [1], {}, TypeError, "X must be numeric and real"),
    ([[1]], [1], {"query_id": [1, 2]}, ValueError, "query_id must hold 1 integers"),
    ([[1]], [1], {"query_id": [0.5]}, ValueError, "query_id must hold 1 integers"),
    ([[1]], [1], {"comment": 3}, TypeError, "comment must be a str"),
    ([[1]], [1], {"comment": "a\0"}, ValueError, "NUL"),
    ([[1]], [1], {"comment": b"\xff"}, ValueError, "must be UTF-8"),
    ([[1]], [1], {"zero_based": "auto"}, ValueError, "zero_based must be True or False"),
    ([[1]], [1], {"multilabel": True}, ValueError, "numeric matrix of shape"),
    ([[1], [2]], [[1], [1, 2]], {"multilabel": True}, ValueError, "different lengths"),
])
def test_what_cannot_be_written(X, y, options, error, message):
    with pytest.raises(error, match=message):
        dumped(X, y, **options)


def test_paths_are_replaced_in_one_step(tmp_path):
    path = tmp_path / "a.svm"
    dump_svmlight_file([[1]], [1], str(path))
    assert path.read_bytes() == b"1 0:1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    dump_svmlight_file([[2]], [1], link)
    assert link.is_symlink() and path.read_bytes() == b"1 0:2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    for suffix in (".gz", ".bz2", ".xz"):
        packed = tmp_path / f"b.svm{suffix}"
        dump_svmlight_file([[3]], [1], packed)
        assert not packed.read_bytes().startswith(b"1")
        assert load_svmlight_file(packed)[0][0, 0] == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.svm", "b.svm.bz2", "b.svm.gz",
                                                          "b.svm.xz", "link"]
    with pytest.raises(TypeError, match="a path or a binary file object, got int"):
        dump_svmlight_file([[1]], [1], 3)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    import fastlin.io

    path = tmp_path / "a.svm"
    path.write_bytes(b"old")

    def interrupted(*args):
        yield "1 0:1\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(fastlin.io, "lines_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dump_svmlight_file([[1]], [1], path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.svm"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_devices_are_written_directly():
    dump_svmlight_file([[1]], [1], os.devnull)
    assert not os.path.isfile(os.devnull)
