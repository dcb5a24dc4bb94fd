"""New classes in a stream: the memories of learners for K classes become those for more."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["grow_memories"]

_ODD = ("v", "paid", "u")  # change sign with the target
_ODD_NUMBERS = ("intercept", "sum_intercept")


def grow_memories(
    memories: list[dict[str, Any]], old: np.ndarray, new: np.ndarray, joint: bool, signed: bool
) -> list[dict[str, Any] | None]:
    """Memories for the classes `new`, which hold those of `old`; None is a learner to be made.

    A learner of two classes is that of ``old[1]`` against ``old[0]``: turned round it serves the
    other class. Learners of new classes begin at zero. In a joint learner a difference w between
    two classes becomes the weights w/2 and -w/2. `signed` says whether the second moment is Adam's
    mean of gradients, which turns with them.
    """
    places = np.searchsorted(new, old)
    if joint:
        memory = memories[0]
        joint_memory = _as_joint(memory, signed) if len(old) == 2 else memory
        return [_spread(joint_memory, len(old), places, len(new))]
    if len(old) == 2:
        memories = [_turned(memories[0], signed), memories[0]]
    grown: list[dict[str, Any] | None] = [None] * len(new)
    for place, memory in zip(places, memories, strict=True):
        grown[place] = memory
    return grown


def _turned(memory: dict[str, Any], signed: bool) -> dict[str, Any]:
    """The memory of the learner whose targets have the other sign."""
    if "V" in memory:
        moments = memory["moments"].copy()
        if signed:
            moments[1] *= -1
        b = memory["b"] * np.array([[-1.0], [-1.0], [1.0], [-1.0 if signed else 1.0]])
        turned = {"V": -memory["V"], "b": b, "u": -memory["u"], "paid": -memory["paid"]}
        return {**memory, **turned, "moments": moments}
    state = {**memory["state"], **{name: -memory["state"][name] for name in _ODD_NUMBERS}}
    return {**memory, **{name: -memory[name] for name in _ODD}, "state": state}


def _as_joint(memory: dict[str, Any], signed: bool) -> dict[str, Any]:
    """The memory of a joint learner of two classes, from that of their difference."""
    if "V" not in memory:
        state = memory["state"]
        b = np.zeros((4, 1))
        b[0], b[1] = state["intercept"], state["sum_intercept"]
        memory = {
            "V": memory["v"],
            "u": memory["u"],
            "paid": memory["paid"],
            "b": b,
            "moments": np.zeros((0, len(memory["v"])), memory["v"].dtype),
            "last": np.zeros(0),
            "state": {**state, "intercept": 0.0, "sum_intercept": 0.0},
            "rule": memory["rule"],
        }
    half = np.array([-0.5, 0.5])

    def split(values):
        return (values[:, None] * half).ravel().astype(values.dtype)

    b, moments = np.repeat(memory["b"], 2, axis=1), np.repeat(memory["moments"], 2, axis=1)
    b[:2] *= half
    if signed:
        b[3, 0] *= -1
        moments[1, ::2] *= -1
    return {
        **memory,
        "V": split(memory["V"]),
        "u": split(memory["u"]),
        "paid": split(memory["paid"]),
        "b": b,
        "moments": moments,
        "last": np.repeat(memory["last"], 2),
    }


def _spread(memory: dict[str, Any], K: int, places: np.ndarray, n_classes: int) -> dict[str, Any]:
    """A joint memory with the outputs at their new places and zeros between."""

    def spread(values):
        lead, d = values.shape[:-1], values.shape[-1] // K
        wide = np.zeros((*lead, d, n_classes), values.dtype)
        wide[..., places] = values.reshape(*lead, d, K)
        return wide.reshape(*lead, d * n_classes)

    arrays = {name: spread(memory[name]) for name in ("V", "u", "paid", "moments", "last")}
    b = np.zeros((4, n_classes))
    b[:, places] = memory["b"]
    return {**memory, **arrays, "b": b}
