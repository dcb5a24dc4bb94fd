"""Constructor parameters of every public estimator: each has a constraint, refuses what the
constraint refuses by name, and takes what it allows."""

import warnings

import numpy as np
import pytest
from public import CLASSES, LEARNERS, ONLINE, name

from fastlin import (
    ColumnTransformer,
    ElasticNetCV,
    GridSearchCV,
    LassoCV,
    LogisticRegressionCV,
    Pipeline,
    RidgeCV,
)
from fastlin._params import constraints_of, unconstrained
from fastlin._signature import init_parameters

X = np.random.default_rng(0).normal(size=(30, 4))
Y = (X[:, 0] > 0).astype(int)


def fitted(cls, **params):
    """A fit that is short whatever the parameters are."""
    if "max_iter" not in params and "max_iter" in init_parameters(cls):
        params["max_iter"] = 3
    if isinstance(init_parameters(cls).get("alphas"), int) and "alphas" not in params:
        params["alphas"] = 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(**params).fit(X, Y)


# The steps of a pipeline are estimators with constraints of their own. What a search takes as grid,
# scores and folds is checked where it is read.
READ = {
    Pipeline: {"steps"},
    ColumnTransformer: {"transformers"},
    GridSearchCV: {"param_grid", "scoring", "cv"},
    **dict.fromkeys((LogisticRegressionCV, RidgeCV), {"scoring", "cv"}),
    **dict.fromkeys((LassoCV, ElasticNetCV), {"cv"}),
}


@pytest.mark.parametrize("cls", CLASSES, ids=name)
def test_every_parameter_has_a_constraint(cls):
    read = READ.get(cls, set())
    assert set(unconstrained(cls)) == read
    assert set(constraints_of(cls)) == set(init_parameters(cls)) - read


@pytest.mark.parametrize(
    ("cls", "parameter"),
    [
        (cls, parameter)
        for cls in LEARNERS
        for parameter in init_parameters(cls)
        if parameter not in READ.get(cls, ())
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_bad_values_are_refused_by_name_and_good_ones_taken(cls, parameter):
    constraint = constraints_of(cls)[parameter]
    for value in constraint.bad_values():
        with pytest.raises(ValueError, match=f"^{parameter} must be "):
            cls(**{parameter: value}).fit(X, Y)
    default = init_parameters(cls)[parameter]
    assert constraint.accepts(default)
    for value in constraint.good_values():
        if parameter == "max_iter" and value is not None and value > 100:
            continue
        try:
            model = fitted(cls, **{parameter: value})
        except ValueError as error:
            # a rule between two parameters, or steps that are too long, and the message says so
            assert parameter in str(error) or "overflow" in str(error) or "class" in str(error)
        else:
            assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_parameters_are_checked_before_anything_is_fitted(cls):
    model = cls(fit_intercept=0)
    with pytest.raises(ValueError, match="fit_intercept"):
        model.fit(X, Y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "n_features_in_")
    if cls in ONLINE:
        with pytest.raises(ValueError, match="fit_intercept"):
            model.partial_fit(X, Y)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_extreme_values_neither_crash_nor_hang(cls, quiet):
    extremes = {
        "alpha": [0.0, 5e-324, 1e-300, 1e10, 1e300, np.float32(1e-3), np.int64(1)],
        "eta0": [5e-324, 1e-300, 1e10, 1e300],
        "C": [5e-324, 1e300, np.inf],
        "power_t": [-1e300, -5.0, 0.0, 5.0, 1e300],
        "batch_size": [10**12, 2**63, 10**40],
        "average": [10**12, 2**63, 10**40],
        "n_iter_no_change": [10**40],
        "tol": [0.0, 1e300],
        "epsilon": [0.0, 1e300],
        "margin": [0.0, 1e300],
        "validation_fraction": [0.05, 0.95],
        "quantile": [5e-324, 1 - 1e-16],
        "random_state": [2**200],
        "n_jobs": [-(10**30), 10**30],
        "verbose": [],
    }
    for parameter in set(extremes) & set(init_parameters(cls)):
        for value in extremes[parameter]:
            try:
                model = fitted(cls, **{parameter: value})
            except ValueError as error:
                assert "overflow" in str(error) or parameter in str(error), (parameter, value)
            else:
                assert np.isfinite(model.coef_).all(), (parameter, value)
                assert np.isfinite(model.intercept_).all(), (parameter, value)


def test_n_jobs_of_zero_is_refused():
    for cls in LEARNERS:
        if "n_jobs" in init_parameters(cls):
            with pytest.raises(ValueError, match=r"n_jobs must be a positive number.*got 0\."):
                fitted(cls, n_jobs=0)
