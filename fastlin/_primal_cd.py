"""Coordinate descent over columns, on working sets: L1 penalties, elastic nets, `positive`.

Few weights of a solution are other than 0. So: the slopes along all weights, which a pass over the
matrix gives, tell how far each is from its optimality condition; those that are furthest, and all
that are not 0, form the working set; the problem is solved on it, roughly, by cyclic coordinate
descent on a transposed copy of the matrix; then the slopes are looked at again (Johnson & Guestrin
2015; Massias, Gramfort & Salmon 2018). The same pass gives a dual point and so the duality gap.

The squared error is minimised as it is (`Squares` of `_primal_parts`). Any other loss is replaced
by its quadratic model at the present responses, a few turns over the columns are taken on that, and
a line search makes sure that the objective itself falls (`_Curved`; Yuan, Ho & Lin 2012; Lee, Sun &
Saunders 2014). Between such rounds the weights that are not 0 take steps of Newton's method
(`_face`): under weak penalties coordinate descent alone takes hundreds of times as long. Where most
entries are in columns that are wanted at once, it begins with turns of another kind (`_sweeps`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._core import primal_cd as _primal
from ._face import Face
from ._gram import Gram
from ._homotopy import beginning
from ._isa import ISA
from ._primal_parts import Part, Squares
from ._problem import Certificate, Fit, Problem
from ._quadratic import Descent, Model, add_columns, heaviest_first, settle_heaviest, within
from ._sweeps import Sweeps, is_for_sweeps
from ._transpose import Columns
from ._working_set import first_of, joined, largest_l1, stronger, violations, working_set

__all__ = ["Search", "solve"]

_NO_WEIGHTS = np.empty(0)
# A round on a working set ends at this share of the gap, which falls where rounds get nowhere.
_ROUGHLY, _SMALLEST_SHARE = 0.3, 1e-12
# A slope further than this above l1, relative to l1, is no rounding.
_ROUNDING = 1e-9
# The others. Quadratic models on one working set, and near the optimum, where Newton steps do more:
_MOST_MODELS, _FEW_MODELS = 10, 2
# Least curvature of a row, as a share of its slope: bounds the steps where a loss is nearly a line.
_LEAST_BEND = 1e-3
# Columns with this share of the rows may well have a weight, whatever their slope at 0.
_SURE = 0.3
# Residuals in curvatures up to which their change tells that of the responses to 1e-12
_MOST_RATIO = 1e4
# The line search: share of the fall that the model promises, rounding of a sum of losses as a share
# of it, halvings of the step
_SUFFICIENT = 0.01
_NOISE = 1e-15
_MOST_HALVINGS = 40
# Turns by products of pairs on one model
_MOST_BY_PAIRS = 100
# These are cheap, so they go on until one gains this much less than other turns have to.
_BY_PAIRS = 1e-4
# Changes between all columns and the heaviest on one model
_MOST_ALTERNATIONS = 5
# Turns on a model end when one lowers it by no more than this share of what the first one did.
_OF_FIRST_TURN = 0.03
# A step that lowers the objective by more than this share of it starts from a place whose model
# is not worth solving well: new curvatures are cheaper than a third turn.
_FAR_STILL = 1e-3
# Where sweeps begin they go on as far as that. Later on so many are taken between looks at all
# slopes, and none behind one that lowers the objective by less than this share of it.
_FEW_SWEEPS, _LAST_SWEEP = 3, 1e-6
# There are no more where one gains more than this share of what the one before did.
_SLOW = 0.6
# Curvatures that differ by less than this share can stand for each other.
_SAME_CURVATURE = 0.1
# Losses with rows of no curvature: theirs counts as a share of the largest, 2, that falls while
# whole steps succeed
_FIRST_FLOOR, _LEAST_FLOOR, _FLOOR_FALL, _MOST_BEND = 1e-2, 1e-6, 0.25, 2.0
# Newton steps on the weights that are not 0: not before a step lowers the objective by less than
# this share of it
_NOT_YET = 0.1
# How many, with as many products each far from the optimum and near it
_MOST_FACE_STEPS, _FEW_PRODUCTS, _MOST_PRODUCTS, _NEAR = 10, 12, 100, 1e-4
# They end where one gains less than this share of what turns over the columns do in its time.
_WORTH = 0.1
_FIRST_DAMPING, _LEAST_DAMPING = 1e-3, 1e-9
# Their columns are rounded to single precision for a gap of at least this: they take two thirds of
# the memory, and of the time that reading it takes. A search whose gap stays while its objective
# falls by no more than this share of itself is at the optimum of the rounded columns, and if it has
# got nowhere as often as brings its share down to this, it goes on with the values as they are.
_LEAST_ROUNDED_TOL, _LEAST_ROUNDED_SHARE, _ROUNDED_FALL = 1e-6, 1e-4, 1e-12
# Losses that are flat beyond a point, and the gap for penalties on the way to a weak one
_FLAT, _ON_THE_WAY = ("squared_hinge", "squared_epsilon_insensitive"), 1e-2


def solve(problem: Problem, tol: float, max_iter: int, seed: np.ndarray,
          start: Fit | None = None) -> Fit:
    """The optimum of a problem to a relative duality gap of `tol`, or what `max_iter` turns over
    the working sets allow. Columns take their turns in order, so `seed` changes nothing."""
    if problem.loss == "squared_error" and problem.l1 > 0 and start is None:
        begun = beginning(problem, tol, max_iter)
        if begun is not None:
            return begun if begun.converged else Search(problem).run(problem, tol, max_iter, begun,
                                                                     begun.n_iter)
    turns = 0
    if _may_round(problem, tol):
        begun = _down_to(Search(problem, Columns(problem.X, np.float32)), problem, tol, max_iter,
                         start)
        if begun.converged:
            return begun
        turns = begun.n_iter
        given = np.inf if start is None else problem.value(start.coef, start.intercept)
        # values beyond those of single precision may have cost the weights that there were
        if begun.certificate.objective < given:
            if turns >= max_iter:
                return begun
            start = begun
    return _down_to(Search(problem), problem, tol, max_iter, start, turns)


def _may_round(problem: Problem, tol: float) -> bool:
    """Whether a search on rounded columns is likely to come as near the optimum as asked."""
    X = problem.X
    return (problem.loss != "squared_error" and X.layout != "dense" and X.values is not None
            and X.dtype != np.float32 and tol >= _LEAST_ROUNDED_TOL
            and (problem.l1 > 0 or problem.l2 > 0))


def _down_to(search: Search, problem: Problem, tol: float, max_iter: int, start: Fit | None,
             turns: int = 0) -> Fit:
    """The optimum by this search. Where rows have no curvature beyond a point, columns are more
    than rows and the penalty is weak, stronger ones come first: straight from 0 most rows are soon
    beyond it, and the weights that are not 0 too many."""
    n, d = problem.X.shape
    if start is None and problem.loss in _FLAT and problem.l1 > 0 and d > n:
        for l1 in stronger(largest_l1(problem), problem.l1):
            start = search.run(replace(problem, l1=l1), max(tol, _ON_THE_WAY), max_iter, start,
                               turns)
            turns = start.n_iter
            if turns >= max_iter:
                break
    return search.run(problem, tol, max_iter, start, turns)


class Search:
    """The data of a problem, ready for solves with one penalty after the other."""

    def __init__(self, problem: Problem, columns: Columns | None = None):
        self._copied = columns or Columns(problem.X)
        self.columns = self._copied.rows
        kind = Squares if problem.loss == "squared_error" else _Curved
        self._part = kind(problem, self._copied)

    def run(self, problem: Problem, tol: float, max_iter: int, start: Fit | None = None,
            turns: int = 0) -> Fit:
        """The optimum for the penalty of `problem`, which has the data of this search; `turns` is
        how many of `max_iter` the start has taken."""
        # an answer that is not finite is refused where it would be published
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._run(problem, tol, max_iter, start, turns)

    def _run(self, problem: Problem, tol: float, max_iter: int, start: Fit | None,
             turns: int) -> Fit:
        """`run`, whatever numbers come up on the way."""
        part, w, b = self._part, np.zeros(self.columns.shape[0]), 0.0
        if start is not None:
            kept = np.flatnonzero(start.coef)
            self._copied.need(kept)
            kept = part.model.varying(kept)
            w[kept], b = start.coef[kept], start.intercept
            if problem.positive:
                np.maximum(w, 0.0, out=w)
        part.problem = problem
        part.begin(w, b)
        share, dual, last, before, fresh = _ROUGHLY, -np.inf, np.inf, np.inf, turns
        while True:
            v = part.look()
            violation = violations(problem, w, v)
            objective = part.objective()
            dual = max(dual, part.dual(v))
            certificate = Certificate.of(objective, dual, part.zero)
            if not problem.l1 and not problem.l2:
                self._copied.need(np.flatnonzero(violation))
                certificate = part.estimate(violation, objective)
            # just below alpha_max no weight at all may be good enough, and would surprise
            some = w.any() or not problem.l1 or violation.max(initial=0.0) <= _ROUNDING * problem.l1
            good = some and certificate.relative_gap <= tol
            stuck = certificate.gap > 0.5 * last
            ended = stuck and before - objective <= _ROUNDED_FALL * objective
            lost = part.is_rounded and (
                (ended and share < _LEAST_ROUNDED_SHARE) or not np.isfinite(certificate.gap))
            if good or lost or turns >= max_iter:
                b, found = part.intercept(), part.certificate(certificate)
                good = found.relative_gap <= tol
                if good or lost or turns >= max_iter or part.is_rounded or fresh == turns:
                    return Fit(w, b, max(1, turns), found, good)
                # what turns have made of the responses was not what the very weights give
                part.begin(w, b)
                fresh = turns
                continue
            if stuck:
                share = max(0.1 * share, _SMALLEST_SHARE)
            last, before = certificate.gap, objective
            worth = part.worth(violation)
            chosen = working_set(w, worth, part.smallest_set, part.new_at_least)
            if part.begins_with_few and not w.any():
                chosen = first_of(chosen, worth, self._copied.sizes)
            if not w.any() and problem.l1:
                chosen = joined(chosen, part.likely(v, chosen), len(w))
            # what is not optimal at 0 is much, what is or nearly is so later on may soon be chosen
            size = v if problem.positive else np.abs(v)
            self._copied.need(chosen, size > part.soon * problem.l1 if w.any() else None)
            del v, violation, worth, size  # the descent has room for vectors of its own
            turns += max(1, part.descend(chosen, max_iter - turns, share * certificate.gap,
                                         share * tol * objective))


class _Curved(Part):
    """Losses with a second derivative: `z` holds the responses. A model costs more than a turn over
    all columns that are far from optimal, so none of them is left out."""

    smallest_set, soon = 1 << 31, 1.0

    def begin(self, w: np.ndarray, b: float) -> None:
        self.w, self.b = w, b if self.problem.fit_intercept else 0.0
        self.z = self._responses()
        self._kept: Model | None = None
        self._gram: Gram | None = None
        self._by_sweeps = False
        self._seen: np.ndarray | None = None  # slopes at 0, for sweeps
        self._is_own = False  # whether z is what w gives with the values of the rows
        self._fall = 1.0  # of the objective in the last step, as a share of it
        problem = self.problem
        self._damping = _FIRST_DAMPING
        self._floor = 0.0 if problem.loss == "log_loss" else _FIRST_FLOOR
        self._most_bend = problem.weighted(np.full(len(self.z), _MOST_BEND))
        self._adjust_intercept()

    def _adjust_intercept(self) -> None:
        change = self.problem.best_intercept(self.z)
        self.z += change
        self.b += change

    def look(self) -> np.ndarray:
        problem = self.problem
        pull, bend = np.empty_like(self.z), np.empty_like(self.z)
        loss, weight = (problem.code, problem.loss_parameter), problem.weight
        total = _primal.expand(ISA, *loss, self.z, problem.y, _NO_WEIGHTS, 1.0, 0.0, pull, bend)
        if len(weight):
            total = _primal.expand(ISA, *loss, self.z, problem.y, weight, 1.0, 0.0,
                                   np.empty_like(self.z), bend)
        del bend
        self._loss = float(total) / problem.total_weight
        self.a = problem.project(pull)
        del pull
        return self._slopes(problem.weighted(self.a))

    def _bends(self, chosen: np.ndarray) -> np.ndarray:
        """Curvatures along all weights, known at the chosen ones."""
        r, h = np.empty_like(self.z), np.empty_like(self.z)
        self._expand(self.z, r, h)
        model = Model(self.columns, h, 0.0, self.problem.fit_intercept)
        model.need(chosen)
        return model.curvature

    def likely(self, v: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        columns, n = self.columns, len(self.z)
        if columns.indptr is None:
            return super().likely(v, chosen)
        # a slope changes about as the root of the entries, if residuals change at random
        entries = self._copied.sizes
        size = v if self.problem.positive else np.abs(v)
        beyond = size / self.problem.l1 + np.minimum(np.sqrt(entries / (_SURE * n)), 1.0)
        beyond[chosen] = 0.0
        found = np.flatnonzero(beyond > 1.0)
        if is_for_sweeps(self.problem, np.r_[chosen, found], entries):
            self._seen = v
            return np.flatnonzero(entries)
        found = found[np.argsort(-beyond[found], kind="stable")]
        return within(found, entries[found], entries[chosen].sum(dtype=np.int64))

    def objective(self) -> float:
        return self._loss + self.problem.penalty(self.w)

    def dual(self, v: np.ndarray) -> float:
        problem = self.problem
        size = float((v if problem.positive else np.abs(v)).max(initial=0.0))
        c = min(1.0, problem.l1 / size) if size > 0 else 1.0
        if problem.loss == "log_loss" and not problem.l2:
            total = _primal.log_loss_conjugate(ISA, self.a, problem.y, problem.weight, c)
            return -float(total) / problem.total_weight
        if size <= problem.l1:
            return problem.dual(self.a, v)
        shrunk = problem.dual(c * self.a, c * v)
        return max(shrunk, problem.dual(self.a, v)) if problem.l2 > 0 else shrunk

    def certificate(self, found: Certificate) -> Certificate:
        return found if self._is_own else super().certificate(found)

    def descend(self, chosen: np.ndarray, most: int, gap: float, least: float) -> int:
        """Newton steps on the chosen weights. What counts is turns over the rows and Newton steps,
        not the products within these, nor turns by products of pairs or over heavy columns."""
        if not self.w.any() and is_for_sweeps(self.problem, chosen, self._copied.sizes):
            self._by_sweeps = True
        if self._by_sweeps and self._fall > _LAST_SWEEP:
            return self._sweep(chosen, most)
        self._is_own = False
        chosen = heaviest_first(self.columns, self.model.varying(chosen), self.problem.X.nnz)
        if not len(chosen):
            self._adjust_intercept()
            return 1
        turns, work, enough, problem = 0, 0, 0.1 * max(gap, 0.1 * least), self.problem
        r, h = np.empty_like(self.z), np.empty_like(self.z)
        loss = self._expand(self.z, r, h)
        begin = loss + problem.penalty(self.w)
        for _ in range(_MOST_MODELS if self._fall > _NEAR else _FEW_MODELS):
            w, slopes = self.w.copy(), r.copy()
            taken, by_pairs, b = self._to_model_minimum(chosen, w, r, h, most - turns, enough)
            turns += max(1, taken)
            work += taken + by_pairs
            before = loss + problem.penalty(self.w)
            loss = self._search_line(self._kept.h, chosen, w, b, slopes, before, r, h)
            after = loss + problem.penalty(self.w)
            self._fall = (before - after) / before
            if turns >= most or before - after <= enough:
                break
        speed = (begin - after) / max(1, work)
        turns += self._along_the_face(r, h, loss, most - turns, speed)
        if self.columns.indptr is not None and not self._floor:
            loss, w, slopes = self._expand(self.z, r, h), self.w.copy(), r.copy()
            model = Model(self.columns, h.copy(), 0.0, problem.fit_intercept)
            heavy, b = settle_heaviest(model, chosen, problem.X.nnz, problem.l1, problem.l2,
                                       problem.positive, w, r)
            if len(heavy):
                before = loss + problem.penalty(self.w)
                self._search_line(model.h, heavy, w, b, slopes, before, r, h)
        return turns

    def _sweep(self, chosen: np.ndarray, most: int) -> int:
        """Turns far from the optimum, until new slopes are worth a look: how many."""
        turns, problem, at_zero = 0, self.problem, not self.w.any()
        r, h = np.empty_like(self.z), np.empty_like(self.z)
        loss, slopes, bends = self._expand(self.z, r, h), r.copy(), h.copy()
        sweeps = Sweeps(problem, self.model, chosen, h, self._seen if at_zero else None)
        self._seen = None
        for _ in range(min(most, _MOST_MODELS if at_zero else _FEW_SWEEPS)):
            w, slopes[:], bends[:] = self.w.copy(), r, h
            b = sweeps.turn(w, r, h)
            before = loss + problem.penalty(self.w)
            loss = self._search_line(bends, chosen, w, b, slopes, before, r, h)
            if at_zero and not turns:
                loss = self._go_on(loss, r, h)
            last, self._fall = self._fall, (before - loss - problem.penalty(self.w)) / before
            turns += 1
            self._by_sweeps = turns == 1 or self._fall < _SLOW * last
            if not self._by_sweeps or self._fall <= (_FAR_STILL if at_zero else _LAST_SWEEP):
                break
        # turns are in single precision
        self.z, self._is_own = self._responses(), True
        return turns

    def _go_on(self, loss: float, r: np.ndarray, h: np.ndarray) -> float:
        """Behind a first turn, as much further from 0 as the curvatures there promise to be worth
        it, for they are less: the mean loss there, and r and h become those of the place."""
        problem, z, w = self.problem, self.z, self.w
        bend = float((h * z) @ z) + problem.l2 * float(w @ w)
        pull = float(r @ z) - problem.l1 * float(np.abs(w).sum()) - problem.l2 * float(w @ w)
        if not (bend > 0 and pull > 0):
            return loss
        t = 1.0 + min(1.0, pull / bend)
        there, bent = np.empty_like(r), np.empty_like(h)
        further = self._expand(t * z, there, bent)
        if not further + problem.penalty(t * w) < loss + problem.penalty(w):
            return loss
        self.z, self.b = t * z, t * self.b
        w *= t
        r[:], h[:] = there, bent
        return further

    def _along_the_face(self, r: np.ndarray, h: np.ndarray, loss: float, most: int,
                        speed: float) -> int:
        """Newton steps on the weights that are not 0: how many."""
        steps, problem = 0, self.problem
        for _ in range(_MOST_FACE_STEPS):
            if self._fall > _NOT_YET or problem.positive or steps >= most:
                break
            face = Face(problem, self.model, self.w, r, h)
            near = self._fall < _NEAR
            d, products = face.direction(_MOST_PRODUCTS if near else _FEW_PRODUCTS, self._damping)
            steps += 1
            before = loss + problem.penalty(self.w)
            found = face.step(d, self.z, before, self._expand)
            if found is None:
                self._damping = min(1.0, 10 * self._damping)
                break
            self._damping = max(_LEAST_DAMPING, 0.3 * self._damping)
            self.z, change, loss = found
            self.b += change
            after = loss + problem.penalty(self.w)
            whole = len(face.chosen) == np.count_nonzero(self.w[face.chosen])
            if whole or before - after < _WORTH * products * speed:
                break
        return steps

    def _to_model_minimum(self, chosen: np.ndarray, w: np.ndarray, r: np.ndarray, h: np.ndarray,
                          most: int, enough: float) -> tuple[int, int, float]:
        """Near the minimum of the quadratic model at the present responses, with the curvatures of
        the last model if they still serve: (turns over the rows, turns by products of pairs, change
        of the intercept); `w` and `r` change."""
        problem = self.problem
        penalty = problem.l1, problem.l2, problem.positive
        if self._kept is None or not self._serves(h):
            self._kept = Model(self.columns, h.copy(), 0.0, problem.fit_intercept)
            self._gram = Gram(problem.X, self._kept, self._gram.spent if self._gram else 0.0)
        model, gram = self._kept, self._gram
        assert gram is not None
        b = model.centre(r, float(r.sum()))
        if gram.has(chosen):
            by_pairs, change = gram.descend(chosen, *penalty, w, r, _MOST_BY_PAIRS,
                                            _BY_PAIRS * enough)
            return 0, by_pairs, b + change
        descent, by_pairs = Descent(model, chosen, *penalty, w, r, False), 0
        descent.run(1, enough)
        gram.spent += descent.entries
        enough = min(enough, _OF_FIRST_TURN * descent.decrease)
        for _ in range(_MOST_ALTERNATIONS):
            before = descent.turns
            descent.run(min(1 if self._fall > _FAR_STILL else 2, most - before), enough)
            gram.spent += (descent.turns - before) * descent.entries
            b += model.centre(r, descent.r_sum)
            if (descent.decrease <= enough or descent.turns >= most
                    or self._fall > _FAR_STILL):
                break
            some = chosen if gram.admits(chosen) else gram.heaviest(chosen)
            if not gram.admits(some):
                break
            more, change = gram.descend(some, *penalty, w, r, _MOST_BY_PAIRS, _BY_PAIRS * enough)
            by_pairs, b = by_pairs + more, b + change
            if len(some) == len(chosen) or descent.turns >= most:
                break
            descent.r_sum = float(r.sum())
        return descent.turns, by_pairs, b

    def _serves(self, h: np.ndarray) -> bool:
        """Whether the curvatures are nearly those of the kept model; where they jump, whether they
        are the same."""
        assert self._kept is not None
        old = self._kept.h
        share = _SAME_CURVATURE if self.problem.loss == "log_loss" else 0.0
        return bool(np.abs(h - old).sum() <= share * old.sum())

    def _search_line(self, bends: np.ndarray, chosen: np.ndarray, w: np.ndarray, b: float,
                     slopes: np.ndarray, before: float, r: np.ndarray, h: np.ndarray) -> float:
        """Go towards (w, b + this b) as far as the objective falls enough: the mean loss there;
        r, which is what the step leaves of the residuals `slopes` of the model with row weights
        `bends`, and h become those of the place."""
        direction = w - self.w
        if (np.abs(slopes) < _MOST_RATIO * bends).all():
            # the residuals have changed by h times the responses
            along = (slopes - r) / bends
        else:
            along = np.full(len(self.z), b)
            add_columns(self.columns, chosen[direction[chosen] != 0], direction, along)
        penalty = self.problem.penalty(self.w)
        expected = self.problem.penalty(w) - penalty - float(slopes @ along)
        t = 1.0
        for _ in range(_MOST_HALVINGS):
            z = self.z + t * along
            there = self.w + t * direction if t < 1 else w
            loss = self._expand(z, r, h)
            least = before + _SUFFICIENT * t * min(expected, 0.0) + _NOISE * before
            if loss + self.problem.penalty(there) <= least:
                if self._floor:
                    floor = self._floor * (_FLOOR_FALL if t == 1 else 4)
                    self._floor = min(max(floor, _LEAST_FLOOR), 1.0)
                self.z, self.b = z, self.b + t * b
                self.w[:] = there
                return loss
            t *= 0.5
        return self._expand(self.z, r, h)

    def _expand(self, z: np.ndarray, r: np.ndarray, h: np.ndarray) -> float:
        """The mean loss at z; r and h become minus its slopes and its curvatures, weighted."""
        problem = self.problem
        loss = float(_primal.expand(
            ISA, problem.code, problem.loss_parameter, z, problem.y, problem.weight,
            1.0 / problem.total_weight, _LEAST_BEND, r, h))
        if self._floor:
            np.maximum(h, self._floor * self._most_bend, out=h)
        return loss
