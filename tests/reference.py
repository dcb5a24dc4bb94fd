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


def sparsemax(p, y, a):
    m = y * p
    if m <= -1:
        return -m, -y
    return max(0.0, 1 - m) ** 2 / 4, -y * max(0.0, 1 - m) / 2


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
        sparsemax, squared_error, huber, epsilon_insensitive, squared_epsilon_insensitive, quantile,
    )
}  # fmt: skip
DEFAULT_PARAMETER = {
    "perceptron": 0.0,
    "huber": 0.1,
    "epsilon_insensitive": 0.1,
    "squared_epsilon_insensitive": 0.1,
    "quantile": 0.5,
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


def sgd(
    X,
    y,
    orders,
    *,
    loss,
    eta,
    parameter=None,
    l1=0.0,
    l2=0.0,
    fit_intercept=True,
    average_from=0,
    batch_size=1,
    weight=None,
    w=None,
    b=0.0,
):
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


def passive_aggressive(
    X,
    y,
    orders,
    *,
    variant,
    C=1.0,
    loss="hinge",
    epsilon=0.1,
    fit_intercept=True,
    average_from=0,
    weight=None,
):
    """Crammer et al. 2006; the intercept is one more feature of value 1, empty rows are skipped."""
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
                tau = aggressive_step(variant, suffered, square, C * s[i])
                w = w + sign * tau * X[i]
                b = b + sign * tau * fit_intercept
            if average_from and t >= average_from:
                seen_w.append(w)
                seen_b.append(b)
    result = SimpleNamespace(w=w, b=b, t=t)
    if seen_w:
        result.mean_w, result.mean_b = np.mean(seen_w, axis=0), np.mean(seen_b)
    return result


def aggressive_step(variant, suffered, square, C):
    """tau of PA, PA-I or PA-II."""
    if variant == "pa2":
        return suffered / (square + 1 / (2 * C))
    return min(C, suffered / square) if variant == "pa1" else suffered / square


# Joint losses of K responses z, and their gradients


def strongest_rival(z, y):
    others = np.where(np.arange(len(z)) == y, -np.inf, z)
    return int(np.argmax(others))


def joint_log_loss(z, y, a):
    log_p = z - np.logaddexp.reduce(z)
    return -log_p[y], np.exp(log_p) - np.eye(len(z))[y]


def joint_sparsemax(z, y, a):
    """Martins & Astudillo 2016, algorithm 1 and equation 20."""
    ordered = np.sort(z)[::-1]
    sums = np.cumsum(ordered)
    size = max(k for k in range(1, len(z) + 1) if 1 + k * ordered[k - 1] > sums[k - 1])
    tau = (sums[size - 1] - 1) / size
    p = np.maximum(0, z - tau)
    value = -z[y] + 0.5 * np.sum((z**2 - tau**2)[p > 0]) + 0.5
    return value, p - np.eye(len(z))[y]


def joint_hinge(z, y, a):
    rival = strongest_rival(z, y)
    value = max(0.0, 1 + z[rival] - z[y])
    return value, (np.eye(len(z))[rival] - np.eye(len(z))[y]) * (value > 0)


def joint_perceptron_loss(z, y, a):
    rival = strongest_rival(z, y)
    value = a + z[rival] - z[y]
    wrong = value > 0 or (value == 0 and (a > 0 or rival < y))
    return max(0.0, value), (np.eye(len(z))[rival] - np.eye(len(z))[y]) * wrong


JOINT_LOSSES = {
    "log_loss": joint_log_loss,
    "sparsemax": joint_sparsemax,
    "hinge": joint_hinge,
    "perceptron": joint_perceptron_loss,
}


def loss_at(loss, z, y, a):
    """Value and gradient at responses z: a joint loss of several, or that of one."""
    if len(z) > 1:
        return JOINT_LOSSES[loss](z, int(y), a)
    value, slope = LOSSES[loss](z[0], y, a)
    return value, np.array([slope])


def joint_sgd(
    X,
    y,
    K,
    orders,
    *,
    loss,
    eta,
    parameter=None,
    l1=0.0,
    l2=0.0,
    fit_intercept=True,
    average_from=0,
    batch_size=1,
    weight=None,
):
    """Stochastic gradient descent of K outputs at once, without shortening of steps."""
    n, d = X.shape
    a = DEFAULT_PARAMETER.get(loss, 0.0) if parameter is None else parameter
    s = np.ones(n) if weight is None else weight
    W, b, t, owed, paid = np.zeros((K, d)), np.zeros(K), 0, 0.0, np.zeros((K, d))
    seen_W, seen_b = [], []
    for order in orders:
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            t += 1
            gradient_W, gradient_b = np.zeros((K, d)), np.zeros(K)
            for i in batch:
                g = s[i] * loss_at(loss, W @ X[i] + b, y[i], a)[1] / len(batch)
                gradient_W += np.outer(g, X[i])
                gradient_b += g
            W = max(0.0, 1 - eta(t) * l2) * W - eta(t) * gradient_W
            b = b - eta(t) * gradient_b * fit_intercept
            owed += eta(t) * l1
            if l1:
                for i in batch:
                    for k in range(K):
                        _pay(W[k], X[i], owed, paid[k])
            if average_from and t >= average_from:
                seen_W.append(W.copy())
                seen_b.append(b)
    result = SimpleNamespace(W=W.copy(), b=b)
    if l1:
        for k in range(K):
            _pay(result.W[k], np.ones(d), owed, paid[k].copy())
    if seen_W:
        result.mean_W, result.mean_b = np.mean(seen_W, axis=0), np.mean(seen_b, axis=0)
    return result


class Adaptive:
    """Moments of an array of weights and the step that they give; where the gradient is 0 nothing
    happens. Constants are those of the papers."""

    def __init__(self, optimizer, shape):
        self.optimizer = optimizer
        self.A, self.B = np.zeros(shape), np.zeros(shape)
        self.last = np.zeros(shape)

    def length(self, eta, t):
        """h, given the moments."""
        if self.optimizer == "adagrad":
            return eta / (np.sqrt(self.A) + 1e-10)
        if self.optimizer == "rmsprop":
            return eta / (np.sqrt(self.A) + 1e-8)
        if self.optimizer == "adadelta":
            return eta * np.sqrt((self.B + 1e-6) / (self.A + 1e-6))
        correction = np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        return eta * correction / (np.sqrt(self.A) + 1e-8)

    def step(self, w, g, eta, t, l1=0.0, l2=0.0):
        """The weights after a step with gradient g at time t; the penalty is proximal."""
        seen = g != 0
        decay = {"adagrad": None, "rmsprop": 0.9, "adadelta": 0.95, "adam": 0.999}[self.optimizer]
        A = self.A + g**2 if decay is None else decay * self.A + (1 - decay) * g**2
        self.A = np.where(seen, A, self.A)
        if self.optimizer == "adam":
            self.B = np.where(seen, 0.9 * self.B + 0.1 * g, self.B)
        h = self.length(eta, t)
        change = -h * (self.B if self.optimizer == "adam" else g)
        if self.optimizer == "adadelta":
            self.B = np.where(seen, 0.95 * self.B + 0.05 * change**2, self.B)
        moved = self.shrink(w + change, h, t, l1, l2)
        self.last = np.where(seen, t, self.last)
        return np.where(seen, moved, w)

    def shrink(self, w, h, t, l1, l2):
        """What the steps since the last visit take off."""
        k = t - self.last
        return np.sign(w) * np.maximum(0, np.abs(w) - k * h * l1) / (1 + k * h * l2)


def adaptive(
    X,
    y,
    K,
    orders,
    *,
    loss,
    optimizer,
    eta,
    parameter=None,
    l1=0.0,
    l2=0.0,
    fit_intercept=True,
    average_from=0,
    batch_size=1,
    weight=None,
):
    """AdaGrad, RMSProp, AdaDelta and Adam for sparse gradients, of one output or of K."""
    n, d = X.shape
    a = DEFAULT_PARAMETER.get(loss, 0.0) if parameter is None else parameter
    s = np.ones(n) if weight is None else weight
    W, b, t = np.zeros((K, d)), np.zeros(K), 0
    of_W, of_b = Adaptive(optimizer, (K, d)), Adaptive(optimizer, K)
    seen_W, seen_b = [], []
    for order in orders:
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            t += 1
            gradient_W, gradient_b = np.zeros((K, d)), np.zeros(K)
            for i in batch:
                g = s[i] * loss_at(loss, W @ X[i] + b, y[i], a)[1] / len(batch)
                gradient_W += np.outer(g, X[i])
                gradient_b += g
            W = of_W.step(W, gradient_W, eta(t), t, l1, l2)
            if fit_intercept:
                b = of_b.step(b, gradient_b, eta(t), t)
            if average_from and t >= average_from:
                seen_W.append(W.copy())
                seen_b.append(b)
    result = SimpleNamespace(W=of_W.shrink(W, of_W.length(eta(t), t), t, l1, l2), b=b)
    if seen_W:
        result.mean_W, result.mean_b = np.mean(seen_W, axis=0), np.mean(seen_b, axis=0)
    return result


def joint_passive_aggressive(
    X, y, K, orders, *, variant, C=1.0, fit_intercept=True, average_from=0, weight=None
):
    """The margin of the true class against its strongest rival; both rows move."""
    n, d = X.shape
    s = np.ones(n) if weight is None else weight
    W, b, t, seen_W, seen_b = np.zeros((K, d)), np.zeros(K), 0, [], []
    for order in orders:
        for i in order:
            t += 1
            suffered, direction = joint_hinge(W @ X[i] + b, int(y[i]), 0)
            square = X[i] @ X[i]
            if suffered > 0 and square > 0:
                tau = aggressive_step(variant, suffered, 2 * (square + fit_intercept), C * s[i])
                W = W - tau * np.outer(direction, X[i])
                b = b - tau * direction * fit_intercept
            if average_from and t >= average_from:
                seen_W.append(W)
                seen_b.append(b)
    result = SimpleNamespace(W=W, b=b)
    if seen_W:
        result.mean_W, result.mean_b = np.mean(seen_W, axis=0), np.mean(seen_b, axis=0)
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
    return SimpleNamespace(
        W=W, b=b, mean_W=np.mean(seen_w, axis=0), mean_b=np.mean(seen_b, axis=0), mistakes=mistakes
    )
