"""Which weights take turns, against a plain sort."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import Lasso, LogisticRegression, _primal_cd, _primal_parts, as_rows
from fastlin._transpose import Columns
from fastlin._working_set import first_of, working_set


def by_sorting(w, worth, smallest, fewest_new):
    support = [j for j in range(len(w)) if w[j] != 0]
    room = max(smallest - len(support), len(support), fewest_new)
    new = [j for j in range(len(w)) if w[j] == 0 and worth[j] > 0]
    new = sorted(new, key=lambda j: -worth[j])[:room]
    return sorted(support + new)


@pytest.mark.parametrize("smallest, fewest_new", [(1, 1), (25, 1), (1, 12), (10**6, 1), (1, 10**6)])
@pytest.mark.parametrize("present", [0, 3, 20, 60])
def test_it_is_the_support_and_the_worthiest(present, smallest, fewest_new):
    rng = np.random.default_rng(present)
    w, worth = np.zeros(80), rng.random(80)
    w[rng.permutation(80)[:present]] = rng.normal(size=present)
    worth[rng.permutation(80)[:15]] = 0.0
    # what is in by its weight takes no place of others, whatever it is worth
    worth[w != 0] *= 10
    kept = worth.copy()
    found = working_set(w, worth, smallest, fewest_new)
    assert found.tolist() == by_sorting(w, worth, smallest, fewest_new)
    np.testing.assert_array_equal(worth, kept)


def test_a_search_by_small_sets_ends_at_the_same_optimum(monkeypatch):
    """Sets that grow from a few of many columns, and turns that end before a set is solved."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 300))
    y = X[:, :20] @ rng.normal(size=20) + 0.1 * rng.normal(size=60)
    sizes = []

    def watched(*arguments):
        found = working_set(*arguments[:2], 5, 1)
        sizes.append(len(found))
        return found

    def learners():
        return [Lasso(alpha=0.02, tol=1e-9), LogisticRegression(C=2.0, l1_ratio=1.0, tol=1e-9)]

    whole = [m.fit(X, y if isinstance(m, Lasso) else y > 0) for m in learners()]
    monkeypatch.setattr(_primal_cd, "working_set", watched)
    monkeypatch.setattr(_primal_parts, "_A_CALL", 1)
    monkeypatch.setattr(_primal_cd, "beginning", lambda *_: None)
    for model, twin in zip(learners(), whole, strict=True):
        sizes.clear()
        model.fit(X, y if isinstance(model, Lasso) else y > 0)
        assert 0 < sizes[0] < 20 and len(sizes) > 3
        assert np.max(model.duality_gap_) <= 1e-9
        np.testing.assert_allclose(model.objective_, twin.objective_, rtol=1e-8)
        np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-4)


def test_the_first_set_holds_few_entries():
    """As many columns as hold a twentieth of all entries, those worth most; or twenty."""
    rng = np.random.default_rng(1)
    X = sparse.random(400, 500, density=0.05, format="csr", random_state=2)
    X = sparse.hstack([X, rng.normal(size=(400, 30))]).tocsr()
    worth = rng.permutation(530) + 1.0
    for heavy in (False, True):
        worth[500:] += 1000.0 * heavy
        chosen = np.flatnonzero(worth > 100)
        found = first_of(chosen, worth, Columns(as_rows(X)).sizes)
        by_worth = chosen[np.argsort(-worth[chosen])]
        sizes, held, many = np.diff(X.tocsc().indptr), 0, 0
        while held + sizes[by_worth[many]] <= 0.05 * X.nnz:
            held, many = held + sizes[by_worth[many]], many + 1
        assert found.tolist() == sorted(by_worth[: max(20, many)].tolist())
        assert (many < 20) == heavy
    dense = Columns(as_rows(rng.normal(size=(50, 1000)))).sizes
    assert len(first_of(np.arange(1000), np.ones(1000), dense)) == 50
