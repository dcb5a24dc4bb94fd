"""Splitters and cross-validation against scikit-learn and against their definitions."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import SGDClassifier, SGDRegressor
from fastlin._clone import clone
from fastlin.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split

RNG = np.random.default_rng(0)
X = RNG.normal(size=(97, 4))
LABELS = np.array(["c", "a", "b"])[(X[:, :3] + [1.0, 0.0, 0.0]).argmax(axis=1)]
MARGIN = X @ [1.0, -2.0, 0.5, 0.0]
# Rows in their own order, so that models of one pass are those that are trained alone.
MODEL = SGDClassifier(loss="log_loss", alpha=0.01, shuffle=False)


def parts(splitter, n=97, y=LABELS):
    return [(train.tolist(), test.tolist()) for train, test in splitter.split(np.zeros((n, 1)), y)]


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 7}])
@pytest.mark.parametrize("n_splits", [2, 5, 7])
@pytest.mark.parametrize("kind", [KFold, StratifiedKFold])
def test_folds_are_those_of_scikit_learn(kind, n_splits, options):
    theirs = pytest.importorskip("sklearn.model_selection")
    peer = getattr(theirs, kind.__name__)(n_splits, **options)
    assert parts(kind(n_splits, **options)) == parts(peer)


@pytest.mark.parametrize("seed", [None, 2**70, np.random.default_rng(1), np.random.SeedSequence(3)])
@pytest.mark.parametrize("kind", [KFold, StratifiedKFold])
def test_every_row_is_tested_once(kind, seed):
    folds = parts(kind(4, shuffle=True, random_state=seed))
    assert sorted(row for _, test in folds for row in test) == list(range(97))
    assert all(sorted(train + test) == list(range(97)) for train, test in folds)
    assert {len(test) for _, test in folds} == {24, 25}


def test_strata_differ_by_one_row_at_most():
    for label in "abc":
        counts = [sum(LABELS[test] == label) for _, test in parts(StratifiedKFold(5))]
        assert max(counts) - min(counts) <= 1


def test_integer_seeds_repeat_and_generators_advance():
    seeded = KFold(3, shuffle=True, random_state=0)
    assert parts(seeded) == parts(seeded)
    advancing = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    assert parts(advancing) != parts(advancing)


def test_splitters_refuse_what_they_cannot_do():
    for bad in (1, 0, 2.0, "5", True, None):
        with pytest.raises(ValueError, match="n_splits must be"):
            KFold(bad)
    with pytest.raises(ValueError, match="random_state has no effect without shuffling"):
        StratifiedKFold(random_state=0)
    with pytest.raises(ValueError, match="shuffle must be True or False, got 1"):
        KFold(shuffle=1)
    with pytest.raises(ValueError, match=r"number of rows, got n_splits=5 for n_samples=3"):
        list(KFold(5).split([1, 2, 3]))
    with pytest.raises(ValueError, match="largest class has 2 rows"):
        list(StratifiedKFold(3).split([1, 2, 3, 4], [0, 0, 1, 1]))
    with pytest.raises(ValueError, match="continuous"):
        list(StratifiedKFold(2).split([1, 2], [0.5, 1.0]))
    with pytest.warns(UserWarning, match="least populated class in y has only 1 rows"):
        list(StratifiedKFold(2).split([1, 2, 3], [0, 0, 1]))
    with pytest.raises(TypeError, match="rows that can be counted"):
        list(KFold(2).split(iter([1, 2])))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test_size": 0.3},
        {"test_size": 10},
        {"train_size": 0.5},
        {"train_size": 20, "test_size": 0.1},
        {"shuffle": False},
        {"stratify": LABELS},
        {"stratify": LABELS, "test_size": 0.21},
        {"stratify": LABELS, "train_size": 13, "test_size": 11},
    ],
)
def test_parts_are_those_of_scikit_learn(options):
    theirs = pytest.importorskip("sklearn.model_selection")
    seed = {} if options.get("shuffle") is False else {"random_state": 3}
    ours = train_test_split(X, LABELS, list(range(97)), sparse.coo_array(X), **options, **seed)
    peer = theirs.train_test_split(X, LABELS, list(range(97)), X, **options, **seed)
    for got, expected in zip(ours, peer, strict=True):
        np.testing.assert_array_equal(got.toarray() if sparse.issparse(got) else got, expected)


def test_frames_keep_their_type():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
        train, test = train_test_split(frame, random_state=0)
        assert type(train) is type(frame)
        assert (len(train), len(test)) == (72, 25)
        scores = cross_val_score(MODEL, frame, MARGIN > 0, cv=3)
        np.testing.assert_array_equal(scores, cross_val_score(MODEL, X, MARGIN > 0, cv=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_size": 0}, "test_size must be an integer in"),
        ({"test_size": 97}, "test_size must be an integer in"),
        ({"test_size": 1.0}, "test_size must be a number in"),
        ({"test_size": "a"}, "test_size must be a number in"),
        ({"test_size": 0.9, "train_size": 0.2}, "train_size=0.2 and test_size=0.9 of 97 rows give"),
        ({"test_size": 60, "train_size": 60}, "both parts must have a row"),
        ({"shuffle": False, "stratify": LABELS}, "stratify needs shuffle"),
        ({"stratify": ["a"] + ["b"] * 96}, "class with one row only"),
        ({"stratify": LABELS, "test_size": 2}, "3 classes, more than the 2 rows"),
        ({"stratify": LABELS[:5]}, "same number of rows"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_sizes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        train_test_split(X, **options)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match=r"same number of rows, got \[97, 5\]"):
        train_test_split(X, X[:5])
    with pytest.raises(ValueError, match="at least one array"):
        train_test_split()
    with pytest.raises(ValueError, match="X and y must have the same number of rows: 97 and 5"):
        cross_val_score(SGDClassifier(), X, LABELS[:5])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize("cv", [None, 3, KFold(4, shuffle=True, random_state=0)])
def test_scores_equal_a_plain_loop(layout, cv):
    scores = cross_val_score(MODEL, layout(X), LABELS, cv=cv)
    splitter = StratifiedKFold(cv or 5) if cv is None or cv == 3 else cv
    expected = [
        clone(MODEL).fit(X[train], LABELS[train]).score(X[test], LABELS[test])
        for train, test in splitter.split(X, LABELS)
    ]
    assert scores.tolist() == expected
    assert not hasattr(MODEL, "coef_")


def test_scores_do_not_depend_on_threads():
    model = SGDRegressor(random_state=0)
    alone = cross_val_score(model, X, MARGIN, cv=6)
    np.testing.assert_array_equal(cross_val_score(model, X, MARGIN, cv=6, n_jobs=3), alone)
    assert alone.min() > 0.9


def test_scoring_by_name_and_by_function():
    model = SGDRegressor(random_state=0)
    squared = cross_val_score(model, X, MARGIN, scoring="neg_mean_squared_error")
    absolute = cross_val_score(model, X, MARGIN, scoring="neg_mean_absolute_error")
    by_hand = cross_val_score(
        model, X, MARGIN, scoring=lambda m, A, b: -np.mean(np.abs(m.predict(A) - b))
    )
    np.testing.assert_allclose(absolute, by_hand)
    assert (squared <= -(absolute**2)).all()
    np.testing.assert_array_equal(
        cross_val_score(model, X, MARGIN, scoring="r2"), cross_val_score(model, X, MARGIN)
    )
    with pytest.raises(ValueError, match="scoring must be"):
        cross_val_score(model, X, MARGIN, scoring=3)
    pytest.importorskip("sklearn.metrics")
    worst = cross_val_score(model, X, MARGIN, scoring="neg_max_error")
    assert (worst <= absolute).all()


def test_estimators_and_splitters_of_scikit_learn_work():
    linear = pytest.importorskip("sklearn.linear_model")
    theirs = pytest.importorskip("sklearn.model_selection")
    model = linear.LogisticRegression()
    expected = theirs.cross_val_score(model, X, LABELS, cv=4)
    np.testing.assert_array_equal(cross_val_score(model, X, LABELS, cv=4), expected)
    groups = np.arange(97) % 10
    cv = theirs.GroupKFold(5)
    np.testing.assert_array_equal(
        cross_val_score(model, X, LABELS, cv=cv, groups=groups),
        theirs.cross_val_score(model, X, LABELS, cv=cv, groups=groups),
    )
    np.testing.assert_array_equal(
        theirs.cross_val_score(MODEL, X, LABELS, cv=StratifiedKFold(3)),
        cross_val_score(MODEL, X, LABELS, cv=3),
    )


def test_fit_arguments_are_split_by_row():
    weight = np.where(np.arange(97) % 2, 1.0, 0.0)
    params = {"sample_weight": weight}
    scores = cross_val_score(MODEL, X, LABELS, params=params, cv=KFold(4))
    expected = []
    for train, test in KFold(4).split(X):
        kept = train[weight[train] > 0]
        # Rows of weight 0 are as good as absent.
        expected.append(clone(MODEL).fit(X[kept], LABELS[kept]).score(X[test], LABELS[test]))
    assert scores.tolist() == expected


def test_masks_are_taken_for_rows():
    mask = np.arange(97) < 60
    as_masks = cross_val_score(MODEL, X.tolist(), LABELS, cv=[(mask, ~mask)])
    as_rows = cross_val_score(MODEL, X, LABELS, cv=[(np.arange(60), np.arange(60, 97))])
    assert as_masks == as_rows


class Failing(SGDClassifier):
    """Fails on every training part that has the first row."""

    def fit(self, X, y):
        if X[0, 0] == MARGIN_FIRST:
            raise ValueError("no luck")
        return super().fit(X, y)


MARGIN_FIRST = X[0, 0]


@pytest.mark.filterwarnings("ignore:.*best constant:fastlin.ConvergenceWarning")
def test_failed_fits():
    y = MARGIN > 0
    with pytest.warns(RuntimeWarning, match="3 of 4 fits failed, the first with: no luck. Their"):
        scores = cross_val_score(Failing(random_state=0), X, y, cv=4)
    assert np.isnan(scores[1:]).all()
    assert scores[0] > 0.8
    with pytest.raises(ValueError, match="^no luck"):
        cross_val_score(Failing(random_state=0), X, y, cv=4, error_score="raise")
    with pytest.raises(ValueError, match="2 of 2 fits failed"):
        cross_val_score(Failing(), X, y, cv=[([0, 1], [2]), ([0, 1], [3])])
    with pytest.raises(ValueError, match="error_score must be"):
        cross_val_score(SGDClassifier(), X, y, error_score="skip")


def test_absent_classes_are_announced():
    y = np.repeat([0, 1, 2], 20)
    points = np.eye(3)[y] + 0.01 * RNG.normal(size=(60, 3))
    with pytest.warns(UserWarning, match=r"folds \[?0, 1, 2\]? lack a class"):
        scores = cross_val_score(SGDClassifier(random_state=0), points, y, cv=KFold(3))
    # The class of each test part was never seen.
    assert scores.tolist() == [0.0, 0.0, 0.0]


def test_clones_have_equal_parameters_and_no_fit():
    model = SGDClassifier(alpha=0.5, class_weight={0: 1.0, 1: 2.0}).fit(X, MARGIN > 0)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert fresh.class_weight is not model.class_weight
    assert not hasattr(fresh, "coef_")
    with pytest.raises(TypeError, match="estimator must be an instance"):
        clone(SGDClassifier)
    with pytest.raises(TypeError, match="estimator must be an instance"):
        clone("sgd")
