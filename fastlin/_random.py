"""From a user's ``random_state`` to seeds for the kernels.

There is no global generator. A seed becomes a `numpy.random.SeedSequence`; every task (fold,
grid point, class) gets a child of its own before any thread starts, so the order in which tasks
run cannot show in a result.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ._params import RandomState

__all__ = ["seed_sequence", "spawn_seed"]


def seed_sequence(random_state: Any) -> Any:
    """Turn a ``random_state`` into a fresh SeedSequence.

    Parameters
    ----------
    random_state : None, int, Generator, RandomState or SeedSequence
        None asks the operating system for entropy. A Generator or RandomState is drawn from
        exactly once. A SeedSequence is read and not advanced, so that it counts as a fixed seed;
        the sequence made from it is no child of it, and so never one that the caller spawned.

    Returns
    -------
    numpy.random.SeedSequence

    Raises
    ------
    InvalidParameterError
        If `random_state` is none of these.
    """
    RandomState().check("random_state", random_state)
    random = np.random
    if random_state is None:
        return random.SeedSequence()
    if isinstance(random_state, numbers.Integral):
        return random.SeedSequence(int(random_state))
    if isinstance(random_state, random.SeedSequence):
        return random.SeedSequence(random_state.generate_state(8).tolist())
    drawn = random_state.bytes(32)
    return random.SeedSequence(np.frombuffer(drawn, dtype="<u4").tolist())


def spawn_seed(random_state: Any, n: int) -> list[np.ndarray]:
    """Return n independent seeds of four 64-bit words, one per task.

    Parameters
    ----------
    random_state : None, int, Generator, RandomState or SeedSequence
        See `seed_sequence`. The same integer always gives the same seeds, and the first n seeds
        do not depend on how many more are asked for.
    n : int
        Number of tasks.

    Returns
    -------
    list of ndarray of shape (4,), dtype uint64
    """
    children = seed_sequence(random_state).spawn(n)
    return [child.generate_state(4, np.uint64) for child in children]
