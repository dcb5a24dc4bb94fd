"""The Bayesian view: the posterior of `Ridge`, and C as the variance of a Gaussian prior."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import LinearSVR, LogisticRegression, NotFittedError, Ridge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) + [0.0, 1.0, 2.0, 3.0]
Y = X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=30) + 2


def conditioned(A, y, prior, noise):
    """Mean and covariance of weights ~ N(0, prior) given y = A w + noise: the joint distribution of
    weights and y, conditioned on y."""
    gain = prior @ A.T @ np.linalg.inv(A @ prior @ A.T + np.diag(noise))
    return gain @ y, prior - gain @ A @ prior


@pytest.mark.parametrize("variance", [0.3, 4.0])
def test_c_is_the_variance_of_the_prior(variance):
    """Ridge with alpha = 1/C and unit noise."""
    mean, covariance = conditioned(X, Y, variance * np.eye(4), np.ones(30))
    model = Ridge(1 / variance, fit_intercept=False, noise_variance=1.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, mean, rtol=1e-9)
    np.testing.assert_allclose(model.posterior_covariance(), covariance, rtol=1e-9, atol=1e-12)
    std = np.sqrt(1 + np.einsum("ij,jk,ik->i", X, covariance, X))
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], std)
    # C sum e^2 is the loss of noise 1/2: that of C sum e^2 / 2 comes from half of C
    svr = LinearSVR(C=variance / 2, loss="squared_epsilon_insensitive", fit_intercept=False,
                    tol=1e-10, max_iter=100_000).fit(X, Y)  # fmt: skip
    np.testing.assert_allclose(svr.coef_, mean, atol=1e-4)


@pytest.mark.parametrize("variance", [0.3, 4.0])
def test_c_is_the_variance_of_the_prior_of_a_logistic_regression(variance):
    """The slope of log-likelihood plus log-density is 0 at the weights."""
    y = np.where(Y > np.median(Y), 1.0, -1.0)
    model = LogisticRegression(C=variance, tol=1e-12).fit(X, y)
    w, z = model.coef_[0], X @ model.coef_[0] + model.intercept_
    slope = X.T @ (y / (1 + np.exp(y * z)))
    np.testing.assert_allclose(slope, w / variance, atol=1e-5)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_noise_weights_and_a_flat_prior_of_the_intercept(storage):
    s = RNG.integers(1, 4, 30).astype(float)
    model = Ridge(2.0, noise_variance=0.5).fit(storage(X), Y, s)
    A, precision = np.c_[X, np.ones(30)], np.diag([2.0 / 0.5] * 4 + [0.0])
    covariance = np.linalg.inv(A.T @ (A * (s / 0.5)[:, None]) + precision)
    mean = covariance @ A.T @ (Y * s / 0.5)
    np.testing.assert_allclose(model.coef_, mean[:4], rtol=1e-9)
    assert model.intercept_ == pytest.approx(mean[4])
    np.testing.assert_allclose(model.posterior_covariance(), covariance[:4, :4], atol=1e-12)
    row = np.append(X[3], 1.0)
    std = np.sqrt(0.5 + row @ covariance @ row)
    assert model.predict(X[3:4], return_std=True)[1][0] == pytest.approx(std)


def test_a_covariance_that_is_missing_says_why():
    with pytest.raises(NotFittedError):
        Ridge().posterior_covariance()
    model = Ridge(positive=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"posterior_covariance\(\) is not available: the post"):
        model.posterior_covariance()
    # a copy: what the caller does to it stays with the caller
    model = Ridge().fit(X, Y)
    model.posterior_covariance()[:] = 0
    assert model.posterior_covariance().any()
