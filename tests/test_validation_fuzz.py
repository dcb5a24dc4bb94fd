"""Targets and weights made of anything at all: a clean array, or a clear error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fastlin._validation import check_sample_weight, check_target, encode_labels


class Model:
    """Stands for an estimator; only its name matters here."""


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.dates(),
    st.decimals(),
    st.fractions(),
)
ANYTHING = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=4),
    st.lists(st.lists(SCALARS, max_size=2), max_size=3),
    st.dictionaries(st.integers(), SCALARS, max_size=2),
    arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_side=3)),
    arrays.arrays(object, arrays.array_shapes(max_dims=1, max_side=4), elements=SCALARS),
)


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_targets_are_clean_or_refused(y):
    for numeric in (False, True):
        try:
            result = check_target(y, Model(), numeric=numeric)
        except (ValueError, TypeError) as error:
            assert str(error)
            continue
        assert result.ndim == 1
        if numeric:
            assert result.dtype == np.float64
            assert np.isfinite(result).all()


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_codes_lead_back_to_the_labels(y):
    try:
        y = check_target(y, Model())
        classes, codes = encode_labels(y)
    except (ValueError, TypeError) as error:
        assert str(error)
        return
    assert (classes[1:] > classes[:-1]).all()
    assert (classes[codes] == y).all()


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
def test_weights_are_clean_or_refused(weight):
    try:
        result = check_sample_weight(weight, 3)
    except (ValueError, TypeError) as error:
        assert "weight" in str(error)
        return
    assert result is None or (result.shape == (3,) and (result >= 0).all() and result.any())
