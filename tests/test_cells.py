"""Delimited text to cells against the csv module, cells to numbers and codes against Python."""

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fastlin import _delimited
from fastlin._cells import CellNumbers, Cells, joined_cells
from fastlin._delimited import delimited_columns
from fastlin._tables import cell_blocks, read_table

# long and short runs, so that what ends cells falls on every place of 64 bytes
SOUP = st.lists(
    st.sampled_from([
        ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', '","', '"\n', "a", " ", "é", "\0", "x" * 61,
        "yz" * 63, '"' + "q" * 64 + '"', "\u2028",
    ]), max_size=40,
).map("".join)  # fmt: skip


def by_csv(text, delimiter):
    """Rows with their lines up to the first fault, and where and what that is."""
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
    rows, begin = [], 1
    try:
        for row in reader:
            if row and rows and len(row) != len(rows[0][1]):
                return rows, (begin, f"{len(row)} fields")
            rows += [(begin, row)] if row else []
            begin = reader.line_num + 1
    except csv.Error as error:
        fault = "carriage return" if "new-line" in str(error) else str(error).replace("\t", "\\t")
        return rows, (begin, fault)
    return rows, None


def by_us(text, delimiter, n_rows):
    """The same of ours; rows of the block in which the fault is are not there."""
    pieces = io.BytesIO(text.encode()).readlines()
    rows = []
    try:
        for columns, lines in delimited_columns(iter(pieces), "f", delimiter, False, n_rows):
            rows += zip(lines, map(list, zip(*columns.values())))
    except ValueError as error:
        return rows, str(error)
    return rows, None


@given(SOUP, st.sampled_from([",", "\t", ";", "a"]), st.sampled_from([1, 2, 7]))
@example('a,"b"c\n', ",", 1)
@example("a,b\rc\n", ",", 1)
@example('a,b\n1,"x', ",", 1)
@example("a\n" + "\r" * 70 + "\n\nb\n", ",", 2)
@settings(max_examples=400, deadline=None)
def test_rows_are_those_of_the_csv_module(text, delimiter, n_rows):
    expected, fault = by_csv(text, delimiter)
    rows, message = by_us(text, delimiter, n_rows)
    if fault is None and expected:
        assert message is None
        assert rows == expected
    elif fault is None:
        assert message == "f is empty."
    else:
        line, what = fault
        assert message.startswith(f"f, line {line}: ")
        assert what in message
        assert rows == expected[: len(rows)]
        assert len(rows) >= (len(expected) - 1) // n_rows * n_rows


@given(st.text(max_size=150), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_any_text_in_quotes_comes_back(cell, seed):
    cell = cell.encode("utf-8", "ignore").decode()
    rows = [[cell, "x" * (seed % 70)], ["é" * (seed % 67), cell + '"']]
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    columns = read_table(file.getvalue().encode(), "csv", header=False).columns
    assert list(map(list, zip(*columns.values()))) == rows


def cells_of(values):
    """A column of cells, as it stands between two others."""
    file = io.StringIO()
    csv.writer(file).writerows([["9", value, "7e5"] for value in values])
    (block,) = cell_blocks(file.getvalue().encode(), "csv", header=False, n_rows=10**6)
    assert isinstance(block.columns["1"], Cells)
    return block.columns["1"]


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-10**25, 10**25).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.sampled_from(["", " ", "1_0", "+.5", "5.", ".", "1e", "1e5", "-0", "0x1", "1 2", " 7 ",
                     "\t8", "٣", "1,5", '"1"', "inf", "nan", "1e400", "--1",
                     "12345678901234567890.5"]),
)  # fmt: skip


@given(st.lists(NUMBERS, min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_numbers_are_those_of_float(values):
    def number(value):
        # underscores and digits beyond ASCII are left to Python's own sources
        if "_" in value or not value.isascii():
            return np.nan
        try:
            return float(value)
        except ValueError:
            return np.nan

    expected = np.array([number(value) for value in values])
    found, is_number = cells_of(values).numbers(), ~np.isnan(expected)
    assert np.isnan(found).tolist() == (~is_number).tolist()
    # bit for bit
    assert found.view(np.int64)[is_number].tolist() == expected.view(np.int64)[is_number].tolist()


def test_codes_of_many_and_of_long_cells():
    rng = np.random.default_rng(0)
    values = [f"{k}é" * (k % 40) for k in rng.zipf(1.2, 20_000) % 3000]
    values[5] = "z" * 200_000  # more than the memory that is taken at a time
    distinct = list(dict.fromkeys(values))
    for column in (cells_of(values), values):
        known = CellNumbers()
        codes = known.number(column)
        assert known.values() == distinct
        assert [distinct[code] for code in codes] == values
        assert known.find(["none", values[7]]).tolist() == [-1, codes[7]]
        assert known.number(cells_of(values[::-1])).tolist() == codes[::-1].tolist()
        assert len(known) == len(distinct)
    assert CellNumbers(["\ud800", ""]).find(["", "\ud800"]).tolist() == [1, 0]


def test_joined_columns_and_some_of_their_rows():
    text = b"a,b\n" + b"".join(b'%d,"x""%d"\n' % (i, i % 3) for i in range(50))
    tables = [block.columns for block in cell_blocks(text, "csv", n_rows=7)]
    joined = joined_cells(tables)
    assert joined["a"] == [str(i) for i in range(50)]
    assert joined["b"].take(np.array([49, 0, 3])) == ['x"1', 'x"0', 'x"0']
    assert joined["b"][-1] == 'x"1'
    assert joined["a"][10:14:2] == ["10", "12"]


@pytest.mark.parametrize("n", [1, 3, 200])
def test_a_long_row_is_not_read_again_and_again(n, monkeypatch):
    """Each call begins with as much new text as there is of the row."""
    calls = []
    parser = _delimited.core.Parser

    class Counted:
        def __init__(self, delimiter):
            object.__setattr__(self, "own", parser(delimiter))

        def __getattr__(self, name):
            return getattr(self.own, name)

        def __setattr__(self, name, value):
            setattr(self.own, name, value)

        def parse(self, text, position, end, *arrays):
            calls.append(end - position)
            return self.own.parse(text, position, end, *arrays)

    monkeypatch.setattr(_delimited.core, "Parser", Counted)
    pieces = [b'a,"\n', *[b"line\n"] * n, b'",c\n']
    ((columns, _),) = delimited_columns(iter(pieces), "f", ",", False, 5)
    assert columns["1"] == ["\n" + "line\n" * n]
    assert sum(calls) < 8 * sum(map(len, pieces))
