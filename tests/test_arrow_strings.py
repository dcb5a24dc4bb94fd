"""Strings read where Arrow has laid them out: every layout, slice and chunk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastlin._columns import coded_columns
from fastlin._core.strings import ArrowStrings


def decoded(column):
    """The cells of a coded column; each value is distinct and occurs."""
    assert len(set(column.values.tolist())) == len(column.values)
    assert set(column.codes.tolist()) == set(range(len(column.values)))
    return column.values[column.codes].tolist()


CELLS = st.lists(
    st.one_of(st.none(), st.sampled_from(["", "a", "b" * 12, "b" * 13, "c" * 40]), st.text()),
    min_size=1, max_size=40,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(CELLS, st.integers(0, 40), st.sampled_from(["string", "large_string", "string_view"]))
def test_pyarrow(cells, cut, kind):
    pyarrow = pytest.importorskip("pyarrow")
    array = pyarrow.array([*cells, "end"], kind)
    cut = min(cut, len(cells))
    chunks = pyarrow.chunked_array([array[:cut], array[cut:cut], array[cut:]], kind)
    expected = [*cells, "end"]
    for start in {0, cut}:
        (column,) = coded_columns(pyarrow.table({"a": chunks.slice(start)}))
        assert decoded(column) == expected[start:]


@settings(max_examples=60, deadline=None)
@given(CELLS, st.integers(0, 40))
def test_polars(cells, cut):
    polars = pytest.importorskip("polars")
    series = polars.Series("a", [*cells, "end"], dtype=polars.String)
    series = polars.concat([series, series], rechunk=False)
    cut = min(cut, len(cells))
    (column,) = coded_columns(series.slice(cut).to_frame())
    assert decoded(column) == ([*cells, "end"] * 2)[cut:]


@settings(max_examples=40, deadline=None)
@given(CELLS)
def test_pandas(cells):
    pandas = pytest.importorskip("pandas")
    (column,) = coded_columns(pandas.DataFrame({"a": pandas.Series([*cells, "end"], dtype="str")}))
    back = decoded(column)
    assert [cell if isinstance(cell, str) else None for cell in back] == [*cells, "end"]


def test_more_strings_than_there_is_room_for_at_first():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    cells = [f"{k}" * (1 + k % 3) for k in rng.integers(0, 9000, 30_000)]
    (column,) = coded_columns(polars.DataFrame({"a": cells}))
    assert decoded(column) == cells


def test_what_holds_no_strings():
    polars = pytest.importorskip("polars")
    for series in (polars.Series([1, 2]), polars.Series(["a"], dtype=polars.Categorical)):
        assert ArrowStrings(series.__arrow_c_stream__()).length == -1
    with pytest.raises((TypeError, ValueError)):
        ArrowStrings("a")
