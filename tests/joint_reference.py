"""Slow and obvious forms of the joint losses of K responses, and optima of them by methods that
share nothing with ours."""

import numpy as np
from layouts import LAYOUTS
from scipy import optimize

# A layout for each form of rows that kernels see
FORMS = list({(layout.kind, layout.dtype): layout for layout in LAYOUTS}.values())


def on_simplex(z):
    """The projections of rows on the simplex, by bisection on their thresholds."""
    high = z.max(axis=1, keepdims=True)
    low = high - 1.0
    for _ in range(60):
        tau = 0.5 * (low + high)
        below = np.maximum(z - tau, 0).sum(axis=1, keepdims=True) > 1
        low, high = np.where(below, tau, low), np.where(below, high, tau)
    return np.maximum(z - high, 0.0)


def loss(name, z, q):
    """(the loss of each row, where its maximum over the simplex is)"""
    own = (q * z).sum(axis=1)
    if name == "log_loss":
        total = np.logaddexp.reduce(z, axis=1)
        return total - own, np.exp(z - total[:, None])
    if name == "sparsemax":
        p = on_simplex(z)
        return (p * z - 0.5 * p * p + 0.5 * q * q).sum(axis=1) - own, p
    other = z + 1 - q
    return other.max(axis=1) - own, np.eye(z.shape[1])[other.argmax(axis=1)]


def objective(name, W, b, X, Q, s=None, l1=0.0, l2=0.0):
    """(1/S) sum_i s_i loss_i + l1 |W|_1 + l2/2 |W|^2"""
    s = np.ones(len(X)) if s is None else s
    mean_loss = s @ loss(name, X @ W.T + b, Q)[0] / s.sum()
    return mean_loss + l1 * np.abs(W).sum() + 0.5 * l2 * (W**2).sum()


def least_smooth(name, X, Q, s=None, l1=0.0, l2=0.0, intercept=True):
    """(W, b) with the least objective of softmax or sparsemax, by L-BFGS-B; the weights are
    differences of two parts that are not below 0."""
    s = (np.ones(len(X)) if s is None else s) / (len(X) if s is None else s.sum())
    d, K = X.shape[1], Q.shape[1]
    m = K * d

    def f(v):
        W, b = (v[:m] - v[m : 2 * m]).reshape(K, d), v[2 * m :] * intercept
        values, p = loss(name, X @ W.T + b, Q)
        pull = s[:, None] * (p - Q)
        g = (pull.T @ X + l2 * W).ravel()
        value = s @ values + l1 * v[: 2 * m].sum() + 0.5 * l2 * (W**2).sum()
        return value, np.concatenate([g + l1, l1 - g, pull.sum(axis=0) * intercept])

    bounds = [(0, None)] * (2 * m) + [(None, None)] * K
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 40}
    v = optimize.minimize(
        f, np.zeros(2 * m + K), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    return (v[:m] - v[m : 2 * m]).reshape(K, d), v[2 * m :] * intercept


def least_hinge(X, codes, K, C, s=None, intercept=True):
    """The least of |W|^2/2 + C sum_i s_i max_k ([k != y] + z_k - z_y), as a quadratic program: its
    dual in as many points of the simplex as there are rows, by SLSQP."""
    n = len(X)
    cap = C * (np.ones(n) if s is None else s)
    Q = np.eye(K)[codes]

    def pulled(v):
        return cap[:, None] * (Q - v.reshape(n, K))

    def f(v):
        W = pulled(v).T @ X
        value = 0.5 * (W**2).sum() + cap @ (Q * v.reshape(n, K)).sum(axis=1) - cap.sum()
        return value, (cap[:, None] * (Q - X @ W.T)).ravel()

    rows = np.repeat(np.eye(n), K, axis=1)
    rules = [{"type": "eq", "fun": lambda v: rows @ v - 1, "jac": lambda v: rows}]
    if intercept:
        sums = (cap[:, None, None] * np.eye(K)).transpose(1, 0, 2).reshape(K, n * K)
        # the last sum follows from the others
        rules.append({"type": "eq", "fun": lambda v: (sums @ v - cap @ Q)[:-1],
                      "jac": lambda v: sums[:-1]})
    found = optimize.minimize(
        f, Q.ravel(), jac=True, method="SLSQP", bounds=[(0, 1)] * (n * K), constraints=rules,
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert found.success
    return -found.fun, pulled(found.x).T @ X
