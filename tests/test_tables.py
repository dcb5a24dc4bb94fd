"""Tables: cells, headers, formats, messages."""

import bz2
import csv
import gzip
import io
import json
import lzma
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastlin.io import detect_format, read_table
from fastlin.stream import table_blocks

CSV = b'a,b\n1,"x, y"\n\n2,"two\nlines"\r\n3,\n'


def test_csv():
    table = read_table(CSV, "csv")
    assert table.columns == {"a": ["1", "2", "3"], "b": ["x, y", "two\nlines", ""]}
    assert table.lines == [2, 4, 6]
    assert table.column("b")[2] == ""
    with pytest.raises(ValueError, match=r"bytes has no column 'c'; its columns are 'a', 'b'\."):
        table.column("c")
    assert str(table.error_at(1, "bad")) == "bytes, line 4: bad."


def test_tsv_and_byte_order_mark():
    table = read_table(b"\xef\xbb\xbftext\tlabel\nna\xc3\xafve, yes\tham", "tsv")
    assert table.columns == {"text": ["naïve, yes"], "label": ["ham"]}


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(
    st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=6),
    st.sampled_from(["csv", "tsv"]),
)
@settings(max_examples=80, deadline=None)
def test_what_the_csv_module_writes_reads_back(rows, format):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter="," if format == "csv" else "\t", quoting=csv.QUOTE_ALL)
    writer.writerows(rows)
    table = read_table(file.getvalue().encode(), format, header=False)
    assert list(map(list, zip(*table.columns.values(), strict=True))) == rows
    assert list(table.columns) == ["0", "1"]


class Trickle(io.BytesIO):
    """A file that gives a few bytes at a time."""

    def read1(self, size=-1):
        return self.read(3)


@given(st.lists(st.sampled_from(['a,b\n', '"x\ny",\u00e9\n', "\n", '"",""\r\n', '" ""\r\n",c\r\n',
                                 "\u2028\x0b,\x1c\n", "a\n", 'b"c,d\n', '"e"f,g\n']), max_size=9),
       st.integers(1, 4))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_blocks_against_the_csv_module(parts, n_rows):
    text, expected, fault = "x,y\n" + "".join(parts), [], None
    reader = csv.reader(io.StringIO(text, newline="\n"), strict=True)
    begin = 1
    try:
        for row in reader:
            if row and len(row) != 2:
                fault = f"line {begin}: {len(row)} fields"
                break
            expected += [(begin, row)] if row else []
            begin = reader.line_num + 1
    except csv.Error as error:
        fault = f"line {begin}: {error}"
    found = []
    try:
        for block in table_blocks(Trickle(text.encode()), "csv", n_rows=n_rows):
            assert len(block.lines) <= n_rows
            found += zip(block.lines, map(list, zip(*block.columns.values())))
    except ValueError as error:
        assert fault is not None
        assert fault in str(error)
        assert found == expected[1 : 1 + len(found)]
        assert len(found) >= (len(expected) - 1) // n_rows * n_rows - n_rows
    else:
        assert fault is None
        assert found == expected[1:]


@pytest.mark.parametrize("before", [0, 1, 20_000])
def test_where_text_is_not_utf8(before):
    text = "\ufeffx,y\n".encode() + b"1,2\n" * before + b"1,\xff\n"
    with pytest.raises(ValueError, match=f"line {before + 2}: not UTF-8 .byte 0xff at position 3"):
        read_table(text, "csv")


def test_many_rows():
    text = "i,j\n" + "".join(f"{i},{-i}\n" for i in range(10_000))
    table = read_table(text.encode(), "csv")
    assert table.columns["j"] == [str(-i) for i in range(10_000)]
    assert table.lines == list(range(2, 10_002))


@pytest.mark.parametrize(
    ("text", "is_header"),
    [
        (b"a,b\nx,y\n", True),
        (b"a,b\n", True),
        (b"x,y\nx,z\n", False),
        (b"a,a\nx,y\n", False),
        (b"a,\nx,y\n", False),
        (b"1,b\nx,y\n", False),
        (b"nan,b\nx,y\n", False),
    ],
)
def test_header_auto(text, is_header):
    first = text.split(b"\n")[0].decode().split(",")
    table = read_table(text, "csv", header="auto")
    assert list(table.columns) == (first if is_header else ["0", "1"])
    assert len(table.lines) == text.count(b"\n") - is_header
    assert all(len(column) == len(table.lines) for column in table.columns.values())


def test_cells_of_any_length():
    long = "x" * 300_000
    limit = csv.field_size_limit()
    assert read_table(f"a\n{long}\n".encode(), "csv").columns["a"] == [long]
    assert csv.field_size_limit() == limit


def test_json_lines():
    text = b'{"a": 1, "b": "x"}\n\n{"b": null, "c": [1, {"d": 2}]}\r\n{"a": "\\u00e9"}'
    table = read_table(text, "jsonl")
    assert table.columns == {
        "a": [1, None, "é"],
        "b": ["x", None, None],
        "c": [None, [1, {"d": 2}], None],
    }
    assert list(table.columns) == ["a", "b", "c"]
    assert table.lines == [1, 3, 4]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), values), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_json_round_trip(rows):
    text = "\n".join(map(json.dumps, rows)).encode()
    columns = read_table(text, "jsonl").columns
    for key in columns:
        assert columns[key] == [row.get(key) for row in rows]
    assert set(columns) == set().union(*rows)


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        (b"a,b\n1,2\n1,2,3\n", "csv", "line 3: 3 fields where the first row has 2"),
        (b'a,b\n"x\ny",2\n1\n', "csv", "line 4: 1 fields where the first row has 2"),
        (b'a,b\n1,"x"y\n', "csv", "line 2: ',' expected after '\"'"),
        (b'a,b\n1,2\n1,"x\n', "csv", "line 3: unexpected end of data"),
        (b"a,b\n1,\xff\n", "csv", r"line 2: not UTF-8 \(byte 0xff at position 3\)"),
        (
            b"a,b,a\n1,2,3\n",
            "csv",
            "line 1: two columns have the name 'a'; if the first row is no header",
        ),
        (b"", "csv", "bytes is empty"),
        (b"\n\n", "tsv", "bytes is empty"),
        (b"", "jsonl", "bytes is empty"),
        (b'{"a": 1}\n{"a": }\n', "jsonl", "line 2: bad JSON at character 7: Expecting value"),
        (b"[1, 2]\n", "jsonl", r"line 1: one JSON object a line is expected, got \[1, 2\]"),
        (b"[" * 200_000, "jsonl", "line 1: JSON is nested too deeply"),
        (b'{"a": %s}' % (b"9" * 5000), "jsonl", "line 1: Exceeds the limit"),
        (b'{"a": "\xe9"}', "jsonl", r"line 1: not UTF-8 \(byte 0xe9 at position 8\)"),
    ],
)
def test_messages(text, format, message):
    with pytest.raises(
        ValueError, match=("" if message.startswith("bytes") else "bytes, ") + message
    ):
        read_table(text, format)


def test_bad_arguments():
    with pytest.raises(
        ValueError, match="format must be one of None, 'csv', 'tsv', 'jsonl' or 'parquet', got"
    ):
        read_table(b"", "xml")
    with pytest.raises(ValueError, match="header must be True or False, or 'auto', got 1"):
        read_table(b"", "csv", header=1)
    with pytest.raises(TypeError, match="given as a path"):
        read_table(None, "csv")
    with pytest.raises(TypeError, match="opened in binary mode"):
        read_table(io.StringIO("a,b\n"), "csv")
    with pytest.raises(ValueError, match="is an svmlight file; read it with load_svmlight_file"):
        read_table(b"1 2:3 4:5\n")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.svm", "svmlight"),
        ("a.SVMLIGHT", "svmlight"),
        ("a.libsvm.xz", "svmlight"),
        ("a.csv", "csv"),
        ("a.b.tsv.gz", "tsv"),
        ("a.jsonl.bz2", "jsonl"),
        ("a.json", "jsonl"),
    ],
)
def test_format_by_extension(name, format):
    assert detect_format(name) == format


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"1 3:4\n", "svmlight"),
        (b"# head\n\n-1.5 qid:3 1:2 7:1e-3 # c\n", "svmlight"),
        (b"+1 3:4 17:0.5 23", "svmlight"),
        (b'{"a": 1}\n', "jsonl"),
        (b" [1]\n", "jsonl"),
        (b"a\tb\n", "tsv"),
        (b"a,b\n", "csv"),
        (b"text\n", "csv"),
        (b"", "csv"),
        (b"\xef\xbb\xbf{}", "jsonl"),
        (b"meet me at 10:30\n", "csv"),
    ],
)
def test_format_by_content(text, format, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress(text))
    for source in (text, tmp_path / "a.txt", tmp_path / "a.txt.xz"):
        assert detect_format(source) == format
    stream = io.BytesIO(text)
    assert detect_format(stream) == format and stream.read() == text
    with open(tmp_path / "a.txt", "rb") as stream:
        assert detect_format(stream) == format and stream.read() == text
        stream.seek(0)
        assert detect_format(stream.fileno()) == format and stream.read() == text
    for piped in (text, gzip.compress(text), bz2.compress(text), lzma.compress(text)):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(piped)))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert detect_format("-") == format
        assert stdin.buffer.read() == piped


def test_sources(tmp_path, monkeypatch):
    expected = read_table(CSV, "csv").columns
    for name, data in (("a.csv", CSV), ("a.csv.gz", gzip.compress(CSV)), ("a.txt", CSV)):
        (tmp_path / name).write_bytes(data)
        table = read_table(tmp_path / name)
        assert table.columns == expected and table.name == str(tmp_path / name)
    for piped in (CSV, lzma.compress(CSV)):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(piped)))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert read_table("-").columns == expected
    with open(tmp_path / "a.csv", "rb") as stream:
        assert read_table(stream).columns == expected and not stream.closed


def test_streams_that_show_nothing_in_advance(monkeypatch):
    class Pipe:
        def __init__(self):
            self.readline = io.BytesIO(CSV).readline

        def read(self, n=-1):
            raise AssertionError("nothing may be consumed")

    with pytest.raises(ValueError, match="the format of stream can't be told without reading it"):
        read_table(Pipe())
    assert read_table(Pipe(), "csv").columns["a"] == ["1", "2", "3"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("a,b\n"))
    for call in (detect_format, read_table):
        with pytest.raises(ValueError, match="there is none to read bytes from"):
            call("-")


def test_damaged_files(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CSV * 1000)[:-30])
    with pytest.raises(ValueError, match=r"a\.csv\.gz can't be decompressed"):
        read_table(path)
