"""Each learner once more, slow and obvious: dense float64 rows, one loop over them, no tricks.

The fast learners must equal these on the same order of rows. Nothing here follows the C code:
weights are decayed where they stand, the mean of the weights is the mean of a list of them, and
formulas are written as in the papers. (The cumulative L1 penalty is lazy by definition: it falls
due when a feature is seen.)

Orders are given as a list with one order per epoch, since a mini-batch ends with its epoch.
"""

from types import SimpleNamespace

import numpy as np

# loss, and its derivative by the response p; `a` is the loss's own parameter


def hinge(p, y, a):
    return max(0.0, 1 - y * p), -y if y * p <= 1 else 0.0


def squared_hinge(p, y, a):
    return max(0.0, 1 - y * p) ** 2, -2 * y * max(0.0, 1 - y * p)


def perceptron(p, y, a):
    return max(0.0, a - y * p), -y if y * p <= a else 0.0


def log_loss(p, y, a):
    return np.logaddexp(0, -y * p), -y * np.exp(-np.logaddexp(0, y * p))


def modified_huber(p, y, a):
    m = y * p
    if m < -1:
        return -4 * m, -4.0 * y
    return max(0.0, 1 - m) ** 2, -2 * y * max(0.0, 1 - m)


def exponential(p, y, a):
    return np.exp(-y * p), -y * np.exp(-y * p)


def sigmoid_mse(p, y, a):
    t = (y + 1) / 2
    q = np.exp(-np.logaddexp(0, -p))
    q_other = np.exp(-np.logaddexp(0, p))
    # t - q without cancellation
    difference = q_other if t == 1 else -q
    return difference**2, -2 * difference * q * q_other


def squared_error(p, y, a):
    return 0.5 * (y - p) ** 2, p - y


def huber(p, y, a):
    e = y - p
    if abs(e) <= a:
        return 0.5 * e**2, -e
    return a * abs(e) - 0.5 * a**2, -a * np.sign(e)


def epsilon_insensitive(p, y, a):
    e = y - p
    return max(0.0, abs(e) - a), -np.sign(e) if abs(e) > a else 0.0


def squared_epsilon_insensitive(p, y, a):
    e = y - p
    d = max(0.0, abs(e) - a)
    return d**2, -2 * d * np.sign(e)


def quantile(p, y, a):
    e = y - p
    return max(a * e, (a - 1) * e), (-a if e > 0 else 1 - a if e < 0 else 0.0)


LOSSES = {
    function.__name__: function
    for function in (
        hinge, squared_hinge, perceptron, log_loss, modified_huber, exponential, sigmoid_mse,
        squared_error, huber, epsilon_insensitive, squared_epsilon_insensitive, quantile,
    )
}
DEFAULT_PARAMETER = {
    "perceptron": 0.0, "huber": 0.1, "epsilon_insensitive": 0.1,
    "squared_epsilon_insensitive": 0.1, "quantile": 0.5,
}

# How far an example may move its own response: to the minimum of its loss. The exponential loss
# has none: to margin 1, or by 1. Losses with bounded slopes may overshoot.
REACH = {
    "squared_hinge": lambda p, y, a: 1 - y * p,
    "exponential": lambda p, y, a: 1 + max(0.0, -y * p),
    "squared_error": lambda p, y, a: abs(y - p),
    "squared_epsilon_insensitive": lambda p, y, a: abs(y - p) - a,
}


def schedule(name, eta0=0.01, power_t=0.5, alpha=1e-4):
    """eta as a function of the step t = 1, 2, ..."""
    t0 = alpha**-0.75
    return {
        "constant": lambda t: eta0,
        "adaptive": lambda t: eta0,
        "optimal": lambda t: 1 / (alpha * (t0 + t - 1)),
        "invscaling": lambda t: eta0 / t**power_t,
    }[name]


def sgd(X, y, orders, *, loss, eta, parameter=None, l1=0.0, l2=0.0, fit_intercept=True,
        average_from=0, batch_size=1, weight=None, w=None, b=0.0):
    """Stochastic gradient descent; returns w, b, the mean weights and the last epoch's loss."""
    n, d = X.shape
    f = LOSSES[loss]
    a = DEFAULT_PARAMETER.get(loss, 0.0) if parameter is None else parameter
    s = np.ones(n) if weight is None else weight
    w = np.zeros(d) if w is None else np.array(w, dtype=float)
    owed, paid = 0.0, np.zeros(d)
    seen_w, seen_b, t = [], [], 0
    for order in orders:
        losses, weights = [], []
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            t += 1
            step = full = eta(t)
            gradient_w, gradient_b = np.zeros(d), 0.0
            for i in batch:
                p = X[i] @ w + b
                value, slope = f(p, y[i], a)
                losses.append(s[i] * value)
                weights.append(s[i])
                slope = slope * s[i]
                if loss in REACH and slope != 0:
                    move = full * abs(slope) * (X[i] @ X[i] + fit_intercept)
                    if move > REACH[loss](p, y[i], a):
                        step = min(step, full * REACH[loss](p, y[i], a) / move)
                gradient_w += slope * X[i] / len(batch)
                gradient_b += slope / len(batch)
            w = max(0.0, 1 - step * l2) * w - step * gradient_w
            if fit_intercept:
                b = b - step * gradient_b
            owed += step * l1
            if l1:
                for i in batch:
                    _pay(w, X[i], owed, paid)
            if average_from and t >= average_from:
                seen_w.append(w.copy())
                seen_b.append(b)
    result = SimpleNamespace(w=w.copy(), b=b, loss=sum(losses) / sum(weights), t=t)
    result.held = w.copy()
    if l1:
        _pay(result.w, np.ones(d), owed, paid.copy())
    if seen_w:
        result.mean_w, result.mean_b = np.mean(seen_w, axis=0), np.mean(seen_b)
    return result


def _pay(w, x, owed, paid):
    """Tsuruoka, Tsujii & Ananiadou 2009, figure 2: features of x pay what has fallen due."""
    for j in np.flatnonzero(x):
        z = w[j]
        if w[j] > 0:
            w[j] = max(0.0, w[j] - (owed + paid[j]))
        elif w[j] < 0:
            w[j] = min(0.0, w[j] + (owed - paid[j]))
        paid[j] += w[j] - z


def passive_aggressive(X, y, orders, *, variant, C=1.0, loss="hinge", epsilon=0.1,
                       fit_intercept=True, average_from=0, weight=None):
    """Crammer et al. 2006; the intercept is one more feature of value 1, an empty row is skipped."""
    n, d = X.shape
    s = np.ones(n) if weight is None else weight
    w, b, t = np.zeros(d), 0.0, 0
    seen_w, seen_b = [], []
    for order in orders:
        for i in order:
            t += 1
            p = X[i] @ w + b
            if loss == "hinge":
                suffered, sign = max(0.0, 1 - y[i] * p), y[i]
            else:
                suffered, sign = max(0.0, abs(y[i] - p) - epsilon), np.sign(y[i] - p)
            square = X[i] @ X[i]
            if suffered > 0 and square > 0:
                square += fit_intercept
                tau = {
                    "pa": lambda: suffered / square,
                    "pa1": lambda: min(C * s[i], suffered / square),
                    "pa2": lambda: suffered / (square + 1 / (2 * C * s[i])),
                }[variant]()
                w = w + sign * tau * X[i]
                b = b + sign * tau * fit_intercept
            if average_from and t >= average_from:
                seen_w.append(w)
                seen_b.append(b)
    result = SimpleNamespace(w=w, b=b, t=t)
    if seen_w:
        result.mean_w, result.mean_b = np.mean(seen_w, axis=0), np.mean(seen_b)
    return result


def joint_perceptron(X, y, n_classes, orders, *, eta0=1.0, fit_intercept=True, weight=None):
    """W += e_y x - e_yhat x at each mistake; the lowest index wins a tie.

    Returns the last weights, the mean of the weights after each example, and the mistakes.
    """
    n, d = X.shape
    s = np.ones(n) if weight is None else weight
    W, b = np.zeros((n_classes, d)), np.zeros(n_classes)
    seen_w, seen_b, mistakes = [], [], 0
    for order in orders:
        for i in order:
            z = W @ X[i] + b
            guess = int(np.argmax(z))
            if guess != y[i]:
                mistakes += 1
                W[y[i]] += eta0 * s[i] * X[i]
                W[guess] -= eta0 * s[i] * X[i]
                if fit_intercept:
                    b[y[i]] += eta0 * s[i]
                    b[guess] -= eta0 * s[i]
            seen_w.append(W.copy())
            seen_b.append(b.copy())
    return SimpleNamespace(W=W, b=b, mean_W=np.mean(seen_w, axis=0), mean_b=np.mean(seen_b, axis=0),
                           mistakes=mistakes)
