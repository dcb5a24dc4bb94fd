"""When the duality gap of an ascent is worth measuring, and what a measured one says."""

from __future__ import annotations

import numpy as np

__all__ = ["LEAP", "TRIAL", "Watch", "epochs_to"]

# An epoch more is cheaper than a gap measured in vain.
_MARGIN = 0.8
# The least ratio of a gap to its estimate that is believed
_LEAST_RATIO = 0.05
# The gap is measured at the latest after twice the epochs of the last time and so many.
_PATIENCE = 20
# A gap of this size asks for double precision, and so does one that no longer falls by the factor.
_SINGLE_GAP, _PROGRESS = 1e-6, 0.5
# An estimate this small that an epoch does not lower by the factor `_PROGRESS` is, where steps are
# in single precision, mostly their rounding.
_BLURRED = 1e-5
# Passes over all rows that Newton's method is worth
LEAP = 100
# Epochs, however few rows they visit
_MOST_EPOCHS = 300
# Epochs after which one that would take too many more is left to another method
TRIAL = 16
# For a tolerance of 0
_TINY = 1e-300


def epochs_to(target: float, gaps: list[float]) -> float:
    """How many more epochs the gap takes to the target, if it goes on falling as in the last half
    of the epochs."""
    half = len(gaps) // 2
    gap, first = gaps[-1], gaps[half - 1]
    if gap <= target:
        return 0.0
    if not 0 < gap < first:
        return np.inf
    return float(np.log(max(target, _TINY) / gap) / np.log(gap / first)) * (len(gaps) - half)


class Watch:
    """When the gap is worth measuring."""

    def __init__(self, tol: float):
        self.tol, self.ratio = tol, 1.0
        self.last, self.gap, self.expected, self.estimate = 0, np.inf, np.inf, np.inf
        # the least estimate, and the epochs since
        self.least, self.idle = np.inf, 0
        # whether single precision may be what holds the estimate up
        self.is_blurred = False
        # how many more epochs there are at the rate of the last one
        self.left = 0.0
        self.seen: list[float] = []

    def is_due(self, epoch: int, estimate: float) -> bool:
        """Whether the gap of this epoch's end is likely to be at most tol."""
        # seen half an epoch before, on average
        fall = estimate / self.estimate if 0 < self.estimate < np.inf else 1.0
        self.expected = estimate * min(1.0, fall**0.5)
        if 0 < fall < 1 and self.expected > 0:
            self.left = np.log(max(self.tol, _TINY) / self.expected) / np.log(fall)
        self.estimate = estimate
        self.seen.append(estimate)
        self.is_blurred = estimate <= _BLURRED and fall > _PROGRESS
        self.idle = 0 if estimate < self.least else self.idle + 1
        self.least = min(self.least, estimate)
        likely = self.ratio * self.expected <= _MARGIN * self.tol
        return likely or epoch >= 2 * self.last + _PATIENCE

    def is_far(self, epoch: int, share: float, most: int) -> bool:
        """Whether, after some epochs, visits are left of more than so many times all rows, at the
        rate of the later half and in epochs that visit such a share of the rows. Asked seldom:
        estimates vary from epoch to epoch."""
        is_time = epoch >= TRIAL and epoch & (epoch - 1) == 0
        return is_time and epochs_to(self.tol, self.seen) * share > most

    def is_slow(self, epoch: int, gap: float, share: float) -> bool:
        """Whether visits of so many of the rows would take long to get below tol at this rate."""
        return self.takes_more(min(LEAP / share, _MOST_EPOCHS), epoch, gap)

    def takes_more(self, epochs: float, epoch: int, gap: float) -> bool:
        """Whether more than so many epochs are left at this rate."""
        if not np.isfinite(self.gap):
            return False
        fall = max(np.log(self.gap / gap) / (epoch - self.last), 1e-6)
        return bool(np.log(gap / self.tol) / fall > epochs)

    def note(self, epoch: int, gap: float, by_rest: bool = False) -> bool:
        """Take down a gap above tol; whether it asks for double precision. `by_rest`: what it is
        above its estimate is that of rows which rested and no longer do, so that the ratio says
        nothing of estimates to come."""
        stalls = gap > _PROGRESS * self.gap
        if by_rest:
            self.ratio = 1.0
        elif 0 < self.expected < np.inf:
            self.ratio = min(max(gap / self.expected, _LEAST_RATIO), 1.0 / _LEAST_RATIO)
        self.last, self.gap = epoch, gap
        return stalls or gap <= _SINGLE_GAP
