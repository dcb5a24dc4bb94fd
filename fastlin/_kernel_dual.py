"""Support vector machines and logistic regression with a kernel, to their optimum.

    minimise over (w, b)   P = (1/2) |w|^2 + sum_i C_i loss(w.phi(x_i) + b, y_i),   C_i = C s_i

by its dual, in which w = sum_i C_i a_i phi(x_i) is never formed: responses are kept for all rows
and follow each step by a row of the Gram matrix. Steps are those that the losses have for linear
models (`fl_losses.h`); what differs is which row comes next.

Losses with a kink leave most variables at a bound, and few rows of the Gram matrix are ever needed:
there the pair that gains most moves (`fl_pairs.h`), which keeps the constraint of the free
intercept, and rows that sit at a bound with room to spare are left out until the others are done.
Where C is so large that pairs get nowhere, rows are solved from inside (`_kernel_interior`), if
they are few or their Gram matrix is one of low rank.
All variables of the logistic loss move, so rows are visited in turn, with the intercept treated by
the centred proximal point method (`fl_dual.h`); a greedy choice would have to look at all rows for
each.

The certificate is measured from the dual variables alone: w, responses and b afresh, in double.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._core import dual_cd as _dual_cd
from ._core import kernel_dual as _kernel_dual
from ._core import losses as _losses
from ._core import order as _order
from ._gram_rows import GramRows
from ._isa import ISA
from ._kernel_interior import ascend_inside
from ._kernel_newton import MOST_ROWS, ascend
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Problem
from ._row_centre import proximal_weight

__all__ = ["KernelFit", "solve_kernel"]

# Multiplications per call of a kernel: some 20 ms
_PER_CALL = 1 << 24
# The gap of the rows at hand goes to this share of tol before all rows are looked at
_WITHIN = 0.5
# So few rows are often done before each has moved: their gap is looked at more often, but on the
# fewest a look costs as much as so many steps
_OFTEN, _WORTH_A_LOOK = 2000, 150
# Rows are left out when so many can be, of no fewer than, after so many steps or a tenth of n
_WORTH, _FEW_ROWS, _SOON = 0.25, 200, 1000
# Those that stay are kept in float, half as far to fetch, as long as what it rounds away is about
# this share of tol
_ROUNDED = 0.1
# top - bottom at which rounding rules, over the largest response
_ROUNDING = 1e-13
# So few rows are solved to the last digits, in so many passes at most.
_LITTLE, _LAST, _LAST_DIGITS = 256, 200, 1e-15
# Passes after which coordinates are too slow for few rows, and for more
_FAR, _FARTHER = 30, 150
# Rows that the centre is the mean of
_CENTRE_ROWS = 256


@dataclass(frozen=True)
class KernelFit:
    """What is learnt: w = sum_i v_i phi(x_i)."""

    v: np.ndarray
    intercept: float
    n_iter: int
    certificate: Certificate
    converged: bool


def solve_kernel(problem: Problem, gram: GramRows, n_bytes: int, tol: float, max_iter: int,
                 seed: np.ndarray) -> KernelFit:
    """The optimum to a relative duality gap of tol, or what `max_iter` passes of n steps allow."""
    n = len(problem.y)
    mass = problem.weighted(np.ones(n)) / problem.l2
    best = _Best(problem, gram, mass)
    # on so few rows the last digits cost next to nothing, and make answers reproducible
    aim = _LAST_DIGITS if n <= _LITTLE else tol
    smooth = problem.loss != "hinge" and gram.is_whole and n <= MOST_ROWS

    def coordinates(aim: float, most: int) -> int:
        """Passes of coordinate steps."""
        if problem.loss == "log_loss":
            return _in_turn(problem, gram, mass, best, aim, most, seed)
        return _in_pairs(problem, gram, mass, best, n_bytes, aim, most)

    if smooth:
        passes = coordinates(tol, min(max_iter, _FAR))
        if best.gap > aim and passes < max_iter:
            passes += ascend(problem, gram.rows, mass, best.v, best.intercept,
                             lambda a, v: best.offered_gap(a), aim, max_iter - passes)
        return best.fit(passes, tol)
    inside = problem.loss == "hinge"
    most = _LAST if n <= _LITTLE else _FAR if n <= MOST_ROWS else _FARTHER
    passes = coordinates(aim, min(max_iter, most if inside else max_iter))
    if best.gap > tol and passes < max_iter and inside:
        passes += ascend_inside(problem, gram, n_bytes, mass, best.offered_gap, tol,
                                max_iter - passes)
    if best.gap > tol and passes < max_iter:
        passes += coordinates(tol, max_iter - passes)
    return best.fit(passes, tol)


class _Best:
    """The best answer measured so far; at first w = 0."""

    def __init__(self, problem: Problem, gram: GramRows, mass: np.ndarray):
        self.problem, self.gram, self.mass = problem, gram, mass
        nothing = np.zeros(len(problem.y))
        self.zero = problem.mean_loss(nothing)
        self.bound, self.v, self.intercept = 0.0, nothing, problem.best_intercept(nothing)
        self.objective = problem.mean_loss(nothing + self.intercept)

    @property
    def gap(self) -> float:
        """The relative gap between the best P and the best D."""
        return Certificate.of(self.objective, self.bound, self.zero).relative_gap

    def offer(self, a: np.ndarray) -> np.ndarray:
        """Measure the answer of dual variables; returns its responses without b."""
        problem = self.problem
        a = problem.project(a)
        v = self.mass * a
        f = self.gram.times(v)
        half = 0.5 * problem.l2 * max(0.0, float(v @ f))
        b = problem.best_intercept(f)
        objective = problem.mean_loss(f + b) + half
        self.bound = max(self.bound, self._dual_loss(a) - half)
        if objective < self.objective:
            self.objective, self.v, self.intercept = objective, v, b
        return f

    def offered_gap(self, a: np.ndarray) -> float:
        """Measure the answer of dual variables; returns the relative gap of the best so far."""
        self.offer(a)
        return self.gap

    def _dual_loss(self, a: np.ndarray) -> float:
        """- (1/S) sum_i s_i loss*(-a_i)"""
        problem = self.problem
        total = _losses.total_conjugate(problem.code, problem.loss_parameter, a, problem.y,
                                        problem.weight)
        return -float(total) / problem.total_weight

    def fit(self, passes: int, tol: float) -> KernelFit:
        """The answer."""
        certificate = Certificate.of(self.objective, self.bound, self.zero)
        return KernelFit(self.v, self.intercept, passes, certificate,
                         certificate.relative_gap <= tol)


# pairs


def _in_pairs(problem: Problem, gram: GramRows, mass: np.ndarray, best: _Best, n_bytes: int,
              tol: float, max_iter: int) -> int:
    """Move pairs of rows until the gap is small; returns the passes."""
    n, within, taken, last = len(problem.y), _WITHIN, 0, np.inf
    a = best.v / mass
    if problem.loss == "hinge":
        a = np.clip(a, -1.0, 1.0)
    f = gram.times(mass * a)
    while best.gap > tol and taken < max_iter * n:
        few = _Pairs(problem, gram, mass, a, f, n_bytes, 0.0 if taken else _ROUNDED * tol)
        taken += few.ascend(within * tol, max_iter * n - taken, best)
        few.hand_back(a)
        f = best.offer(a)
        if few.is_exhausted and not best.gap < 0.9 * last:
            break
        last, within = best.gap, within * 0.3
    return -(-taken // n)


class _Pairs:
    """The rows that take part, and the pairs that move."""

    def __init__(self, problem: Problem, gram: GramRows, mass: np.ndarray, a: np.ndarray,
                 f: np.ndarray, n_bytes: int, rounding: float):
        self.problem, self.gram, self.n_bytes = problem, gram, n_bytes
        # what responses may be wrong by
        self.rounding = rounding
        self.numbers, self.y, self.mass, self.a = np.arange(len(a)), problem.y, mass, a.copy()
        self.parabola = 0.0 if problem.loss == "hinge" else 0.5
        self.e = self.y - self.parabola * self.a - f
        self.rise, self.fall = np.empty_like(self.e), np.empty_like(self.e)
        self.bend = gram.diagonal + self.parabola / mass
        self.resting: list[tuple[np.ndarray, np.ndarray]] = []
        self.rest_loss, self.is_exhausted = 0.0, False

    def ascend(self, tol: float, most: int, best: _Best) -> int:
        """Move pairs until the gap of these rows is `tol` of P; returns how many."""
        taken, looked, first_look = 0, 0, min(_SOON, len(self.y) // 10)
        while taken < most:
            if is_cancelled():
                raise Cancelled
            share = 8 if len(self.y) <= _OFTEN else 2
            chunk = max(len(self.y) // share, _WORTH_A_LOOK)
            chunk = max(16, min(chunk, _PER_CALL // (4 * len(self.y))))
            wanted = min(looked + chunk, most) - taken
            moved, missing, top, bottom = self._run(wanted)
            taken += moved
            if missing >= 0:
                self._load(missing, top, bottom)
                if moved < wanted:
                    continue
            looked = taken
            gap, objective = self._estimate(0.5 * (top + bottom))
            if gap <= tol * max(min(objective, best.objective / self.problem.l2), 1e-300):
                return taken
            if moved < wanted:
                self.is_exhausted = True
                return taken
            if taken >= first_look:
                self._leave_out(top, bottom)
        return taken

    def _run(self, steps: int) -> tuple[int, int, float, float]:
        """Move pairs whose rows are at hand."""
        gram, problem = self.gram, self.problem
        least = _ROUNDING * max(1.0, float(np.abs(self.e).max()))
        result = _kernel_dual.pairs(
            ISA, problem.code, problem.loss_parameter, self.y, self.mass, self.bend, gram.rows,
            gram.place, self.a, self.e, self.rise, self.fall, gram.stamp, gram.clock, least, steps,
        )
        gram.clock += 2 * result[0] + 2
        return result

    def _load(self, missing: int, top: float, bottom: float) -> None:
        """Make the row that is missing, and others that are about to be."""
        gram = self.gram
        wish = np.maximum(self.e + self.rise - bottom, top - self.e - self.fall)
        wish[gram.place >= 0] = -np.inf
        wish[missing] = np.inf
        # where one row comes another goes: then only what is needed
        count = min(gram.together, int((wish > 0).sum())) if gram.has_room else 1
        chosen = np.argpartition(-wish, count - 1)[:count] if count > 1 else np.array([missing])
        gram.load(chosen)

    def _estimate(self, b: float) -> tuple[float, float]:
        """(P - D, P) in the dual's scale, as far as the rows at hand say."""
        problem = self.problem
        if not np.isfinite(b):
            b = 0.0
        f = self.y - self.parabola * self.a - self.e
        z, parameter = f + b, problem.loss_parameter
        loss = _losses.total(problem.code, parameter, z, self.y, self.mass)
        v = self.mass * self.a
        conjugate = _losses.total_conjugate(problem.code, parameter, self.a, self.y, self.mass)
        return loss + conjugate + float(v @ z), self.rest_loss + loss + 0.5 * float(v @ f)

    def _leave_out(self, top: float, bottom: float) -> None:
        """Leave out rows that are held at a bound, if there are many."""
        n = len(self.y)
        held = ((self.rise < 0) & (self.e > top)) | ((self.fall > 0) & (self.e < bottom))
        if n < _FEW_ROWS or held.sum() < _WORTH * n:
            return
        left, b = np.flatnonzero(~held), 0.5 * (top + bottom)
        f = self.y - self.parabola * self.a - self.e
        out = np.flatnonzero(held)
        self.rest_loss += _losses.total(
            self.problem.code, self.problem.loss_parameter, f[out] + b, self.y[out], self.mass[out]
        ) + 0.5 * float((self.mass[out] * self.a[out]) @ f[out])
        self.resting.append((self.numbers[out], self.a[out]))
        few = self.gram.only(left, self.n_bytes, self._kind_of_rows())
        self.gram.release()
        self.gram = few
        for name in ("numbers", "y", "mass", "a", "e", "rise", "fall", "bend"):
            setattr(self, name, getattr(self, name)[left])

    def _kind_of_rows(self) -> type:
        """float where it is enough: errors of products with it add up like random numbers."""
        size = float(np.sqrt(np.square(self.mass * self.a).sum()))
        error = 0.25 * float(np.finfo(np.float32).eps) * size * float(self.gram.diagonal.max())
        return np.float32 if error <= self.rounding else np.float64

    def hand_back(self, a: np.ndarray) -> None:
        """Write the dual variables of all rows to a."""
        a[self.numbers] = self.a
        for numbers, values in self.resting:
            a[numbers] = values


# rows in turn


def _in_turn(problem: Problem, gram: GramRows, mass: np.ndarray, best: _Best, tol: float,
             max_iter: int, seed: np.ndarray) -> int:
    """Visit rows in random order until the gap is small; returns the passes."""
    ascent, within = _Visits(problem, gram, mass, best.intercept, seed), 1.0
    for passes in range(1, max_iter + 1):
        gap = ascent.run_epoch() / max(best.objective, 1e-300)
        if gap <= within * tol or passes == max_iter:
            ascent.f = best.offer(ascent.a)
            if best.gap <= tol:
                return passes
            ascent.sum_up()
            within = min(0.5 * within, 0.5 * gap / best.gap)
    return max_iter


class _Visits:
    """Dual coordinate ascent on the rows in turn."""

    def __init__(self, problem: Problem, gram: GramRows, mass: np.ndarray, b: float,
                 seed: np.ndarray):
        self.problem, self.gram, self.mass = problem, gram, mass
        n = len(problem.y)
        # what a variable of the logistic loss can't leave at once, it begins near
        self.a = np.zeros(n)
        self.logit = np.empty(n)
        self.f = np.zeros(n)
        self.order, self.seed = np.arange(n), seed.copy()
        some = np.unique(np.linspace(0, n - 1, min(n, _CENTRE_ROWS)).astype(np.int64))
        self.k = gram.times(np.bincount(some, minlength=n) / len(some))
        cc = float(self.k[some].mean())
        squares = np.maximum(gram.diagonal - 2 * self.k + cc, 0.0)
        mean = float(problem.weighted(squares).sum())
        nu = proximal_weight(mean, problem.l2, _losses.bend(problem.code))
        self.h = (squares + nu) * mass
        self.rule = {
            "loss": problem.code, "loss_parameter": problem.loss_parameter, "mass": 1.0,
            "fit_intercept": True, "nu": nu, "cc": cc, "stride": 1, "slack": np.inf,
        }
        self.state = dict.fromkeys(
            ("B", "s", "U", "gap", "objective", "violation", "walked"), 0.0)
        self.state["B"] = b
        _dual_cd.logits(self.a * problem.y, self.logit)

    def _offset(self) -> float:
        """b - B"""
        rule, state = self.rule, self.state
        return rule["nu"] * state["s"] - (state["U"] - state["s"] * rule["cc"])

    def sum_up(self) -> None:
        """s and U afresh, with b as it was; f is."""
        b, v = self.state["B"] + self._offset(), self.mass * self.a
        self.f = self.gram.times(v)
        self.state.update(s=float(v.sum()), U=float(v @ self.k))
        self.state["B"] = b - self._offset()

    def run_epoch(self) -> float:
        """Visit all rows once and move B; returns the gap as the visits saw it, over C S."""
        gram, n, problem = self.gram, len(self.a), self.problem
        _order.shuffle_all(self.order, self.seed)
        self.state.update(gap=0.0, objective=0.0)
        most = max(1, _PER_CALL // n)
        for part in self._parts(min(most, len(gram.rows))):
            if is_cancelled():
                raise Cancelled
            gram.load(part[gram.place[part] < 0], last_used_first=True)
            self.state = _kernel_dual.visit(
                problem.y, self.mass, self.h, self.k, gram.rows, gram.place, part, self.rule,
                self.state, self.a, self.logit, self.f,
            )
            if not gram.is_whole:
                gram.clock += 1
                gram.stamp[gram.place[part]] = gram.clock
        self.state["B"] += self.rule["nu"] * self.state["s"]
        return max(0.0, self.state["gap"]) * problem.l2

    def _parts(self, most: int) -> list[np.ndarray]:
        """The order in parts: where rows don't all stay, those at hand first."""
        order, gram = self.order, self.gram
        if len(gram.rows) == gram.n:
            return [order[k : k + most] for k in range(0, len(order), most)]
        few, at_hand = max(1, min(most, gram.together)), gram.place[order] >= 0
        stay, come = order[at_hand], order[~at_hand]
        return ([stay[k : k + most] for k in range(0, len(stay), most)]
                + [come[k : k + few] for k in range(0, len(come), few)])
