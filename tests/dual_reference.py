"""Dual coordinate ascent once more, slow and obvious: rows are centred in memory, the weights are
those of the centred rows, and b is a sum of what each variable pulls at it."""

from types import SimpleNamespace

import numpy as np


def sigmoid_beside(sigma, d):
    """sigma(v + d) by the first derivatives of the sigmoid, each of which is a polynomial in it."""
    derivative, total, factor = np.polynomial.Polynomial([0, 1]), sigma, 1.0
    slope = np.polynomial.Polynomial([0, 1, -1])
    for k in range(1, 6):
        derivative, factor = derivative.deriv() * slope, factor * d / k
        total += derivative(sigma) * factor
    return total


def logistic_step(m, t, h, v):
    """Chebyshev's steps on v + m + h (sigma(v) - t) = 0 from v, kept inside of a bracket."""
    low, high = max(min(v, -m), -m - h * (1 - t)), min(max(v, -m), -m + h * t)
    sigma, residue, before = t, v + m, np.inf
    for _ in range(40):
        first, second = 1 + h * sigma * (1 - sigma), h * sigma * (1 - sigma) * (1 - 2 * sigma)
        factor = np.clip(1 + residue * second / (2 * first**2), 0.5, 2)
        chosen = -residue / first * factor
        new = min(max(v + chosen, low), high)
        if abs(chosen) <= 0.1:
            return sigmoid_beside(sigma, new - v), new
        if 2 * abs(new - v) > before:
            new = (low + high) / 2
        before, v = abs(new - v), new
        sigma = np.exp(-np.logaddexp(0, -v))
        residue = v + m + h * (sigma - t)
        low, high = (low, v) if residue > 0 else (v, high)
    return sigma, v


def soft(x, e):
    return np.sign(x) * max(abs(x) - e, 0)


def step(loss, p, y, parameter, a, h):
    """Where a goes, of losses whose step has a closed form."""
    return {
        "hinge": lambda: y * np.clip(y * a + (1 - y * p) / h, 0, 1),
        "squared_hinge": lambda: y * max(0, (1 - y * p + h * y * a) / (h + 0.5)),
        "squared_error": lambda: (y - p + h * a) / (1 + h),
        "epsilon_insensitive": lambda: np.clip(soft(a + (y - p) / h, parameter / h), -1, 1),
        "squared_epsilon_insensitive": lambda: soft(h * a + y - p, parameter) / (h + 0.5),
    }[loss]()


def gain_of(loss, C, h, before, after, logits):
    """Twice what a step gains if the loss's conjugate is as bent as where the step ends."""
    moved, t = abs(after - before), abs(after)
    if loss == "log_loss":
        bend = min(abs(logits[1] - logits[0]), moved / max(t * (1 - t), 1e-300))
    else:
        bend = moved * {"squared_error": 1.0}.get(loss, 0.5)
    return C * moved * (h * moved + bend)


def ascend(X, y, orders, *, loss, l2, parameter=0.0, weight=None, centre=None, nu=0.0, B=0.0,
           pauses=False):
    """The variables a, w and b after these epochs from a = 0, and how many visits of rows they had;
    without a centre, no intercept. Rows may pause: after a gain of less than the mean for one
    epoch of two, of less than a tenth of it for three of four, in which each counts as so many."""
    n, d = X.shape
    s = np.ones(n) if weight is None else weight
    C = s / (s.sum() * l2)
    rows = X if centre is None else X - centre
    a, logit, w, pull = np.zeros(n), np.full(n, -700.0), np.zeros(d), 0.0
    every, mean, visits = np.ones(n, int), 0.0, 0
    for epoch, order in enumerate(orders):
        gained = 0.0
        for i in order:
            if (epoch + i) % every[i]:
                continue
            visits += 1
            p = rows[i] @ w + B + nu * pull
            h = C[i] * (rows[i] @ rows[i] + nu)
            before = logit[i]
            if loss == "log_loss":
                t, logit[i] = logistic_step(y[i] * p, y[i] * a[i], h, logit[i])
                new = y[i] * t
            else:
                new = step(loss, p, y[i], parameter, a[i], h)
            w = w + C[i] * (new - a[i]) * rows[i]
            pull += C[i] * (new - a[i])
            if pauses:
                gain = gain_of(loss, C[i], h, a[i], new, (before, logit[i]))
                gained += gain * every[i]
                every[i] = 1 if gain >= mean else 2 if gain >= 0.1 * mean else 4
            a[i] = new
        B += nu * pull
        mean = gained / n
    return SimpleNamespace(a=a, w=w, B=B, pull=pull, visits=visits)
