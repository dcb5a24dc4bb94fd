"""The embedded data sets hold what they say."""

from collections import Counter

import numpy as np
import pytest

from fastlin.datasets import load_mushrooms, load_sms_spam


def test_sms_spam():
    sms = load_sms_spam()
    assert len(sms.data) == len(sms.target) == 5574
    assert Counter(sms.target.tolist()) == {"ham": 4827, "spam": 747}
    assert sms.target_names == sorted(set(sms.target))
    assert all(type(text) is str and text.strip() for text in sms.data)
    assert sms.feature_names is None
    assert "CC BY 4.0" in sms.DESCR and "Almeida" in sms.DESCR
    data, target = load_sms_spam(return_X_y=True)
    assert data == sms.data and (target == sms.target).all()


def test_mushrooms():
    mushrooms = load_mushrooms()
    assert mushrooms.data.shape == (8124, 22) and mushrooms.data.dtype == object
    assert len(mushrooms.feature_names) == 22
    assert Counter(mushrooms.target.tolist()) == {"edible": 4208, "poisonous": 3916}
    assert mushrooms.target_names == sorted(set(mushrooms.target))
    # As its authors publish them.
    odour = Counter(mushrooms.data[:, mushrooms.feature_names.index("odor")])
    assert odour == {
        "none": 3528,
        "foul": 2160,
        "spicy": 576,
        "fishy": 576,
        "almond": 400,
        "anise": 400,
        "pungent": 256,
        "creosote": 192,
        "musty": 36,
    }
    rule = ~np.isin(mushrooms.data[:, 4], ["almond", "anise", "none"])
    assert np.sum(rule != (mushrooms.target == "poisonous")) == 120
    assert "CC BY 4.0" in mushrooms.DESCR and "Schlimmer" in mushrooms.DESCR
    data, target = load_mushrooms(return_X_y=True)
    assert (data == mushrooms.data).all() and (target == mushrooms.target).all()
    assert repr(mushrooms) == "<Dataset of 8124 examples, labels edible, poisonous>"


def test_mushrooms_as_frame():
    pytest.importorskip("pandas")
    plain = load_mushrooms()
    frame, target = load_mushrooms(return_X_y=True, as_frame=True)
    assert list(frame.columns) == plain.feature_names
    assert (frame.to_numpy() == plain.data).all() and (target == plain.target).all()
    assert load_mushrooms(as_frame=True).data.equals(frame)
