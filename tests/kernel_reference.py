"""Kernels, and the gap of machines that use them, slow and obvious."""

import itertools
from collections import Counter

import numpy as np


def subsequences(s, t, length, decay):
    """The definition: every pair of places."""
    return sum(
        decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
        for i in itertools.combinations(range(len(s)), length)
        for j in itertools.combinations(range(len(t)), length)
        if all(s[a] == t[b] for a, b in zip(i, j, strict=True))
    )


def words(s, t, length):
    def count(x):
        return Counter(tuple(x[i : i + length]) for i in range(len(x) - length + 1))

    return sum(count(s)[word] * n for word, n in count(t).items()) * 1.0


def parsed(text):
    """A tree in brackets as (label, child, ...), a word being a str."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read(k):
        node = [tokens[k + 1]]
        k += 2
        while tokens[k] != ")":
            if tokens[k] == "(":
                child, k = read(k)
                node.append(child)
            else:
                node.append(tokens[k])
                k += 1
        return tuple(node), k + 1

    return read(0)[0]


def nodes(tree):
    yield tree
    for child in tree[1:]:
        if not isinstance(child, str):
            yield from nodes(child)


def production(tree):
    return (tree[0], *(c if isinstance(c, str) else (c[0],) for c in tree[1:]))


def common(a, b, decay):
    if production(a) != production(b):
        return 0.0
    value = decay
    for c, d in zip(a[1:], b[1:], strict=True):
        if not isinstance(c, str):
            value *= 1 + common(c, d, decay)
    return value


def trees(s, t, decay):
    return sum(common(a, b, decay) for a in nodes(parsed(s)) for b in nodes(parsed(t)))


LOSSES = {
    "hinge": (lambda m: np.maximum(0, 1 - m), lambda t: -t),
    "squared_hinge": (lambda m: np.maximum(0, 1 - m) ** 2, lambda t: t * t / 4 - t),
    "log_loss": (
        lambda m: np.logaddexp(0, -m),
        lambda t: sum(x * np.log(np.where(x > 0, x, 1)) for x in (t, 1 - t)),
    ),
}


def primal_and_dual(loss, K, y, mass, v, b):
    """P and D, with the dual variables that v stands for; they have to be feasible."""
    value, conjugate = LOSSES[loss]
    t = v * y / mass
    assert t.min() >= -1e-12
    assert t.max() <= 1 + 1e-12 or loss == "squared_hinge"
    assert abs(v.sum()) <= 1e-9 * np.abs(v).sum()
    square = v @ K @ v
    t = np.clip(t, 0, None if loss == "squared_hinge" else 1)
    return (
        square / 2 + mass @ value(y * (K @ v + b)), -square / 2 - mass @ conjugate(t)
    )  # fmt: skip
