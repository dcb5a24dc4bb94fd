"""Dual coordinate ascent: the default wherever there is an L2 penalty. `fl_dual.h` has the
mathematics of a visit; here is what stands around the visits: how an ascent begins, when its
duality gap is worth measuring, which rows may rest or pause, and when single precision has done its
part.

Measuring the gap costs as much as an epoch, since w must be summed up from the dual variables and
every row's response computed. So an epoch estimates the gap on a sample of its rows, each before
its own step; the ratio of the measured gap to the estimate, known from the last measurement, says
when `tol` is likely to be reached.
"""

from __future__ import annotations

import numpy as np

from ._blocks import matvec, rmatvec
from ._core import dual_cd as _dual_cd
from ._core import losses as _losses
from ._dual_newton import ascend
from ._dual_watch import LEAP, Watch
from ._epochs import row_order
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Fit, Problem
from ._row_centre import centre_of, in_single, proximal_weight, seen_from
from ._scores import rows_per_call

__all__ = ["solve"]

_NOTHING = np.empty(0)
_NO_MARKS = np.empty(0, np.uint8)
# Losses made of lines: variables settle at corners, and their rows may rest.
_OF_LINES = ("hinge", "epsilon_insensitive")
# The gap is estimated on every so many rows, where there are many. What that takes of a logistic
# row is most of a visit: some thousands of rows do, every so many at most.
_STRIDE, _MANY_ROWS, _SAMPLED, _MOST_STRIDE = 8, 4096, 2048, 32
# A gap so many times its estimate means that rows rest that should not, or where it is small that
# the weights in single precision have drifted from what the dual variables make of them.
_SURPRISE, _BLURRED = 4.0, 1e-4
# Shares of the mean gain of a step that are much and little (of 0.3 to 3 and 0.03 to 1, those that
# took the fewest visits), and how many more epochs are worth it: rows of some epochs are farther
# from each other in memory
_MUCH, _LITTLE_GAIN, _MANY_LEFT = 1.0, 0.1, 4
# So many epochs without a smaller estimate are for double precision.
_IDLE = 3
# Share of what a row bends the dual that Newton's method begins with where columns are many
_BEND = 0.01
# Within so many times tol the best intercept is looked for.
_NEARLY = 10.0
# What is known on the way is rounded: the search goes on until this share of tol.
_WITHIN = 0.9
# For a gap this small w is summed up afresh: the rounding of many steps shows.
_DRIFT = 1e-10
# What a bound may be too low, as a share of a gap that is told without measuring it
_LITTLE = 0.01
# Twice the rounding of an operation
_ROUNDING = 2.0**-52
# Roundings along a row beside that of the sum: of a step's length, and of its products
_FEW = 8


def solve(problem: Problem, tol: float, max_iter: int, seed: np.ndarray,
          start: Fit | None = None, is_trial: bool = False) -> Fit:
    """Minimise until the relative gap is at most `tol`, or for as many visits of rows as `max_iter`
    epochs over all of them have; in a trial only as long as these are likely to do."""
    best = _Best(problem, _WITHIN * tol)
    ascent = _Ascent(problem, seed, start, best.intercept)
    watch, epoch, n = Watch(tol), 0, len(problem.y)
    visits, most = 0, max_iter * n
    if start is not None:
        best.offer(ascent, True)
        best.recall(start)
    while not best.is_good and visits < most:
        visited = ascent.run_epoch(most - visits)
        epoch, visits = epoch + 1, visits + visited
        due = watch.is_due(epoch, ascent.estimate(best.objective))
        ascent.pauses |= watch.left > _MANY_LEFT and n > _MANY_ROWS
        is_last = visits >= most or (is_trial and watch.is_far(epoch, visited / n, max_iter))
        if watch.idle >= _IDLE or watch.is_blurred:
            ascent.refine()
        if is_last or due:
            some_rest = len(ascent.active) < n
            gap = best.offer(ascent, is_last)
            if best.is_good or is_last:
                break
            surprises = gap > _SURPRISE * watch.expected
            if surprises:
                ascent.wake_all()
                if gap <= _BLURRED:
                    ascent.refine()
            if ascent.of_lines and watch.is_slow(epoch, gap, len(ascent.active) / n):
                steps = ascent.leap(best, min(LEAP, max_iter - epoch))
                epoch, visits = epoch + steps, visits + steps * n
                if best.is_good:
                    break
                gap = best.gap(best.objective, best.bound)
            if watch.note(epoch, gap, surprises and some_rest):
                ascent.refine()
    return best.fit(-(-visits // n), tol)


class _Best:
    """The best answer measured so far: at first that without weights."""

    def __init__(self, problem: Problem, tol: float):
        self.problem, self.tol = problem, tol
        few = problem.without_rows()
        self.coef: np.ndarray | None = None
        self.zero = few.mean_loss(np.zeros(len(few.y)))
        self.intercept, self.objective = few.without_weights()
        # the conjugates are 0 at 0
        self.bound, self.dual = 0.0, np.zeros(len(problem.y))
        # whether the objective came from nothing but the answer, and the bound nearly so
        self.is_measured = self.is_bounded = True

    def gap(self, objective: float, bound: float) -> float:
        """The relative gap between P and D."""
        return Certificate.progress(objective, bound, self.zero)

    @property
    def is_good(self) -> bool:
        """Whether the gap is at most tol."""
        return self.gap(self.objective, self.bound) <= self.tol

    def offer(self, ascent: _Ascent, is_last: bool) -> float:
        """Measure what an ascent has reached; returns its relative gap, or nearly that."""
        # what overflows is no answer
        with np.errstate(over="ignore", invalid="ignore"):
            return self._measure(ascent, is_last)

    def _measure(self, ascent: _Ascent, is_last: bool) -> float:
        """The same."""
        problem = self.problem
        afresh = ascent.is_single or self.tol < _DRIFT or not ascent.drift < np.inf
        w = ascent.weights(afresh)
        b = ascent.intercept() if problem.fit_intercept else 0.0
        z = matvec(problem.X, w, b)
        if not np.isfinite(z).all():
            return np.inf
        ascent.wake(z)
        more = problem.best_intercept(z)
        penalty = 0.5 * problem.l2 * float(w @ w)
        objective = problem.mean_loss(z + more) + penalty
        if not np.isfinite(objective):
            return np.inf
        if objective < self.objective:
            self.coef, self.intercept, self.objective = w, b + more, objective
            self.is_measured = True
        feasible = problem.project(ascent.a)
        lost = problem.weighted(ascent.a - feasible)
        bound, doubt = self._bound(feasible, lost, penalty, z - b, ascent)
        short = self.gap(self.objective, bound) > self.tol
        may_do = is_last or self.gap(self.objective, bound + doubt) <= self.tol
        if doubt > 0 and short and may_do:
            v = rmatvec(problem.X, problem.weighted(feasible))
            bound, doubt = problem.dual(feasible, v), 0.0
        if bound > self.bound:
            self.bound, self.dual = bound, feasible.copy()
            self.is_bounded = doubt <= _LITTLE * (self.objective - bound)
        return self.gap(objective, bound + doubt)

    def recall(self, start: Fit) -> None:
        """Measure the weights of a fit where those of its dual variables are nearly good: what an
        ascent found best on either side need not be of the same epoch."""
        if self.is_good or self.gap(self.objective, self.bound) > _NEARLY * self.tol:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            objective = self.problem.value(start.coef, start.intercept)
        if objective < self.objective:
            self.coef, self.intercept = start.coef.astype(np.float64), start.intercept
            self.objective, self.is_measured = objective, True

    def consider(self, w: np.ndarray, b: float, z: np.ndarray, a: np.ndarray,
                 v: np.ndarray) -> tuple[float, bool]:
        """Measure weights, an intercept and dual variables that lead to v; returns the gap, not
        relative, and whether it is good."""
        problem = self.problem
        penalty = 0.5 * problem.l2 * float(w @ w)
        a, objective = problem.project(a), problem.mean_loss(z) + penalty
        bound = problem.dual(a, v)
        if self.gap(objective, bound) <= _NEARLY * self.tol:
            more = problem.best_intercept(z)
            b, objective = b + more, problem.mean_loss(z + more) + penalty
        if objective < self.objective:
            self.coef, self.intercept, self.objective = w, b, objective
            self.is_measured = False
        if bound > self.bound:
            self.bound, self.dual, self.is_bounded = bound, a, False
        return objective - bound, self.is_good

    def _bound(self, feasible: np.ndarray, lost: np.ndarray, penalty: float, z: np.ndarray,
               ascent: _Ascent) -> tuple[float, float]:
        """A lower bound of D at the feasible dual variables, and what D may be above it.

        They came from others that lead to w up to rounding, with responses z = Xw, by losing
        `lost`, and with it w lost q = sum_i lost_i x_i / l2. |w - q|^2 = |w|^2 - 2 w.q + |q|^2,
        where w.q is known from z and |q| is at most a sum of lengths; what rounding has made of w
        is at most the drift: no pass over the rows is needed.
        """
        l2, drift = self.problem.l2, ascent.drift
        value, longest = self.problem.dual(feasible, _NOTHING) - penalty, 0.0
        if lost.any():
            value += float(lost @ z)
            longest = float(np.abs(lost) @ ascent.lengths)
        blur = drift * (np.sqrt(2 * l2 * penalty) + 0.5 * l2 * drift + longest)
        doubt = 0.5 * longest * longest / l2
        return value - doubt - blur, doubt + 2 * blur

    def fit(self, n_iter: int, tol: float) -> Fit:
        """The answer. What was known of it on the way, the sum u above all, holds roundings, which
        a column far from 0 makes large: unless they are little beside the gap, the certificate is
        measured from nothing but the answer itself."""
        problem, objective, bound, dual = self.problem, self.objective, self.bound, self.dual
        coef = np.zeros(problem.X.shape[1]) if self.coef is None else self.coef
        if not self.is_measured:
            objective = problem.value(coef, self.intercept)
        if not self.is_bounded:
            bound = problem.dual(dual, rmatvec(problem.X, problem.weighted(dual)))
        certificate = Certificate.of(objective, bound, self.zero)
        return Fit(coef, self.intercept, n_iter, certificate,
                   certificate.relative_gap <= tol, dual)


class _Ascent:
    """The dual variables and all that a visit needs."""

    def __init__(self, problem: Problem, seed: np.ndarray, start: Fit | None, b: float):
        self.problem, X, n = problem, problem.X, len(problem.y)
        self.X = in_single(X)
        single = self.X.dtype == np.float32
        self.of_lines = problem.loss in _OF_LINES
        mass = min(1.0 / (problem.total_weight * problem.l2), 1e300)
        self.mass = mass * problem.weight if len(problem.weight) else np.full(n, mass)
        self.rule = {
            "loss": problem.code, "loss_parameter": problem.loss_parameter, "mass": mass,
            "fit_intercept": problem.fit_intercept, "nu": 0.0, "cc": 0.0,
            "stride": _stride(problem.loss, n), "slack": np.inf,
        }
        self.state = dict.fromkeys(
            ("B", "s", "U", "gap", "objective", "violation", "walked"), 0.0)
        self.centre = centre_of(X, problem.weight) if problem.fit_intercept else _NOTHING
        self._measure()
        # what rounding has made of u, at most, since it was summed up last
        self.drift = 0.0
        self.a = np.zeros(n) if start is None else _dual_of(problem, start)
        self.u = np.zeros(X.shape[1], np.float32 if single else np.float64)
        if self.a.any():
            self._sum_up()
        if problem.fit_intercept:
            self.state["B"] = (b if start is None else start.intercept) - self._offset()
        self.logit = _NOTHING
        if problem.loss == "log_loss":
            self.logit = np.empty(n)
            _dual_cd.logits(self.a * problem.y, self.logit)
        rows = np.arange(n)
        self.order = row_order(self.X, problem.y, rows, True, seed)
        self.active = rows
        self.resting = np.zeros(n, np.uint8) if self.of_lines else _NO_MARKS
        # what says which rows take part in an epoch where the loss is smooth
        self.pause = _NO_MARKS if self.of_lines else np.zeros(n, np.uint8)
        self.epoch, self.mean_gain, self.pauses = 0, 0.0, False

    def _measure(self) -> None:
        """k, the h of each row, and how long the longest is."""
        problem, self.lengths = self.problem, _NOTHING
        squares, self.k, cc = seen_from(self.X, self.centre)
        self.longest = float(squares.max()) ** 0.5
        if problem.fit_intercept:
            self.lengths = np.sqrt(squares)
            squares = np.maximum(squares + cc - 2 * self.k, 0.0)
            mean = float(problem.weighted(squares).sum())
            nu = proximal_weight(mean, problem.l2, _losses.bend(problem.code) or 1.0)
            squares += nu
            self.rule.update(cc=cc, nu=nu)
        self.h = squares * self.mass

    def _sum_up(self) -> np.ndarray:
        """u, s and U from the dual variables; returns u in double."""
        pull = self.mass * self.a
        exact = rmatvec(self.problem.X, pull)
        self.u[:], self.drift = exact, 0.0
        if self.problem.fit_intercept:
            b = self.intercept()
            self.state.update(s=float(pull.sum()), U=float(pull @ self.k))
            self.state["B"] = b - self._offset()
        return exact

    def weights(self, afresh: bool) -> np.ndarray:
        """w as the dual variables give it, in double."""
        return self._sum_up() if afresh else self.u.copy()

    @property
    def is_single(self) -> bool:
        """Whether the steps are in single precision."""
        return self.u.dtype == np.float32

    def _offset(self) -> float:
        """b - B"""
        rule, state = self.rule, self.state
        return rule["nu"] * state["s"] - (state["U"] - state["s"] * rule["cc"])

    def intercept(self) -> float:
        """b as of now."""
        return self.state["B"] + self._offset()

    def run_epoch(self, most: int | None = None) -> int:
        """Visit the rows that take part once, at most so many of them, and move B; returns how
        many. Rows that rest, rather than pause, count as visited."""
        problem, piece, gained = self.problem, rows_per_call(self.X), 0.0
        order, fetch = self.order.next_due(self.pause, self.epoch)
        order = order[:most]
        mean = self.mean_gain if self.pauses else 0.0
        much, little = _MUCH * mean, _LITTLE_GAIN * mean
        self.state.update(gap=0.0, objective=0.0, violation=0.0, walked=0.0)
        length = float(np.linalg.norm(self.u))
        for start in range(0, len(order), piece):
            if is_cancelled():
                raise Cancelled
            stop = start + piece
            self.state, more = _dual_cd.visit(
                self.X, problem.y, problem.weight, self.h, self.k, order[start:stop],
                fetch[start:stop], self.rule, self.state, self.a, self.logit, self.u, self.resting,
                self.pause, much, little,
            )
            gained += more
        self.epoch += 1
        self.mean_gain = gained / len(problem.y)
        # u was never longer than that, and each visit has rounded it once
        length += self.state["walked"] * self.longest
        self.drift += _ROUNDING * (len(order) + _FEW) * length
        if problem.fit_intercept:
            self.state["B"] += self.rule["nu"] * self.state["s"]
        if self.of_lines:
            self._rest()
            return len(problem.y)
        return len(order)

    def estimate(self, objective: float) -> float:
        """The relative gap, as the visits of the last epoch saw it."""
        total = self.rule["stride"] * self.problem.l2
        if len(self.active) == len(self.X):
            objective = min(objective, total * self.state["objective"])
        return max(0.0, total * self.state["gap"]) / max(objective, 1e-300)

    def _rest(self) -> None:
        """Leave out the rows that were marked, and set what marks them in the next epoch."""
        self.rule["slack"] = self.state["violation"] or np.inf
        self._visit_only(self.active[self.resting[self.active] == 0])

    def wake(self, z: np.ndarray) -> None:
        """Decide by the responses of all rows which of them take part."""
        if not self.of_lines:
            return
        problem, slack = self.problem, np.empty(len(z))
        _dual_cd.slacks(problem.code, problem.loss_parameter, z, problem.y, self.a, slack)
        self.resting[:] = slack > self.rule["slack"]
        self._visit_only(np.flatnonzero(self.resting == 0))

    def leap(self, best: _Best, most: int) -> int:
        """Go on by Newton's method; returns the number of its steps, at most so many."""
        problem = self.problem
        w, b = self._sum_up(), self.intercept()
        z = matvec(problem.X, w, b)
        slack = np.empty(len(z))
        _dual_cd.slacks(problem.code, problem.loss_parameter, z, problem.y, self.a, slack)
        h = float(np.median(np.abs(slack)))
        if problem.X.shape[1] > len(z):
            # such rows bend the dual themselves, and pieces as narrow as slacks make short steps
            h = max(h, _BEND * float(np.median(self.h)))
        self.a, steps = ascend(problem, self.a, w, b, h, best.consider, most)
        self.refine()
        self._sum_up()
        if problem.fit_intercept:
            self.state["B"] = best.intercept - self._offset()
        self.wake_all()
        return steps

    def wake_all(self) -> None:
        """Let every row take part."""
        if self.of_lines:
            self.resting[:] = 0
            self.rule["slack"] = np.inf
            self._visit_only(np.arange(len(self.X)))

    def _visit_only(self, active: np.ndarray) -> None:
        """Let these rows take part, or all if there are none."""
        if len(active) == 0:
            self.wake_all()
            return
        self.order, self.active = self.order.only(active), active

    def refine(self) -> None:
        """Go on in double precision, on the user's own values."""
        if self.X is self.problem.X and self.u.dtype == np.float64:
            return
        if self.X is not self.problem.X:
            self.X = self.problem.X
            self._measure()
        self.u = self.u.astype(np.float64)
        self._sum_up()


def _stride(loss: str, n: int) -> int:
    """Every how many rows one of n is for the estimate."""
    if n <= _MANY_ROWS:
        return 1
    return min(max(n // _SAMPLED, _STRIDE), _MOST_STRIDE) if loss == "log_loss" else _STRIDE


def _dual_of(problem: Problem, start: Fit) -> np.ndarray:
    """Dual variables to begin with: those of a fit, or the slopes at its weights."""
    if start.dual is not None and len(start.dual) == len(problem.y):
        # a fit to other targets may have left what is not feasible for these
        if np.isfinite(problem.dual(start.dual, np.zeros(problem.X.shape[1]))):
            return start.dual.copy()
    return -problem.slopes(matvec(problem.X, start.coef, start.intercept))
