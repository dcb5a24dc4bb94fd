"""Messages of wrong calls name the class that the user called."""

import inspect

import numpy as np
import pytest
from public import CLASSES

import fastlin


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_methods_have_the_name_of_the_class(cls):
    for name, function in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and not hasattr(function, "__wrapped__"):
            static = isinstance(inspect.getattr_static(cls, name), staticmethod)
            assert static or function.__qualname__ == f"{cls.__name__}.{name}"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fastlin.SGDClassifier().fit(), r"SGDClassifier.fit\(\) missing 2"),
        (lambda: fastlin.Lasso().fit([[1.0]]), r"Lasso.fit\(\) missing 1 .*'y'"),
        (lambda: fastlin.MultinomialNB().partial_fit(), r"MultinomialNB.partial_fit\(\) missing"),
        (lambda: fastlin.Ridge().score([[1.0]]), r"Ridge.score\(\) missing 1"),
        (lambda: fastlin.LinearSVC().fit([[1.0]], [1], foo=2), r"LinearSVC.fit\(\) got an .*foo"),
        (lambda: fastlin.HashingVectorizer().get_params(1, 2), r"HashingVectorizer.get_params\(\)"),
    ],
)
def test_messages(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_subclasses_of_users_override_as_ever():
    class Louder:
        def predict(self, X):
            return -super().predict(X)

    class Mine(Louder, fastlin.Ridge):
        pass

    X, y = np.eye(3), [1.0, 2.0, 4.0]
    expected = -fastlin.Ridge().fit(X, y).predict(X)
    np.testing.assert_array_equal(Mine().fit(X, y).predict(X), expected)
    assert Mine.fit is fastlin.Ridge.fit
