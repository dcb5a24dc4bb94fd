"""Proximal gradient descent: a smooth loss with a penalty alpha/p |w|_p^p (`_prox`).

    minimise over (w, b)   P = (1/S) sum_i s_i loss(x_i.w + b, y_i) + alpha/p |w|_p^p

A step goes from v to argmin_w g.w + L/2 |w - v|_D^2 + penalty(w), with the gradient g at v and
|d|_D^2 = sum_j D_j d_j^2. D_j is the largest curvature of the loss times the variance of column j,
so that the scales of columns do not slow the search down; L begins at 1, its smallest value on
orthogonal columns, and doubles where the model at v turns out too low at the new w. b is the best
one at any w and so no variable; columns count from their means, which takes it out of D.

Convex penalties (p >= 1) take steps with momentum (FISTA: Beck & Teboulle 2009), which starts anew
where it leads uphill (O'Donoghue & Candes 2015, "Adaptive restart for accelerated gradient
schemes"). The slopes of each step are dual variables: the largest bound so far makes the duality
gap, which is what `tol` bounds. For p >= 2 some such steps are followed by Newton's
(`_prox_newton`). Where that takes long and there are few rows or columns, steps with whole matrices
go on (`_prox_smooth`, and for p = inf `_prox_interior`).

Where p = inf the bound is far behind P, since the slopes along weights below the largest swing
about the 0 that they should be. Their mean over the steps since the last start, with the square of
momentum as weights, swings less, and is a dual variable too (Tseng 2008, "On accelerated proximal
gradient methods for convex-concave optimization", has its first power).

For p < 1 plain steps have to lower P (Gong et al. 2013, "A general iterative shrinkage and
thresholding algorithm", with the lengths of Barzilai & Borwein 1988; for p = 0 this is the
iterative hard thresholding of Blumensath & Davies 2009). Where they end, P may still fall by
changing one weight alone (Beck & Eldar 2013), so the best of such changes are made until none is
left: the answer is then the best one in each weight, others kept, as far as a quadratic model of
the loss can tell; nothing more can be promised for p < 1. The search begins there with the answer
for larger powers, p = 1 first.

The optimality residual of w is that largest change of a single weight (for p = inf of all at once,
in the same metric) as a slope of a scaled column, max_j sqrt(D_j) |w_j - prox(w - g/D)_j|, relative
to the largest such slope at w = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._blocks import matvec
from ._centred import ROUNDING, Centred, moments
from ._core import losses as _losses
from ._core.rows import Rows
from ._problem import Certificate, Fit, Problem
from ._prox import Penalty
from ._prox_interior import Inside, steps_before
from ._prox_newton import direction, farthest
from ._prox_smooth import Smoothed
from ._row_slices import columns_taken

__all__ = ["ProxFit", "solve"]

_MOST_DOUBLINGS, _MOST_HALVINGS = 60, 8
# The model may be too low by this share of P: a rounding
_NOISE, _TIE = 1e-14, 1e-12
# Differences of P say nothing below this share of it: slopes do then
_CLOSE = 1e-9
# Share of the gap that steps from inside go to, with some left for the last one
_WITHIN = 0.1
# Steps between two looks at the gap
_LOOK = 3
# Looks whose differences are extrapolated
_EXTRAPOLATED = 5
# Proximal steps before Newton's, and where one of these lowers nothing
_BEFORE, _INSTEAD = 10, 50
# Restarts forget some of L
_FORGET = 0.5
# Share of what a plain step promises that P has to fall by, and bounds of its L
_SUFFICIENT = 1e-4
_LEAST_L, _MOST_L = 1e-3, 1e12
# below the largest P of so many last steps
_WINDOW = 8
# A residual below it may be all that rounding lets P tell
_ROUNDED = 1e-7
# Columns whose products with a vector differ by less are tried as one
_SAME = 1e-9
# For p < 1 the powers that come before, each from the answer for the last, to this tolerance: from
# w = 0 alone, one in six small problems with p = 0 ends at another than the best subset, this way
# one in thirteen
_FALLING, _ROUGHLY = (1.0, 0.5, 0.25), 1e-2


@dataclass(frozen=True)
class ProxFit(Fit):
    """An answer, and how far it is from being stationary."""

    optimality: float = np.inf


def solve(problem: Problem, penalty: Penalty, tol: float, max_iter: int,
          start: Fit | None = None) -> ProxFit:
    """Minimise until the relative gap, or for p < 1 the residual, is at most `tol`, or for
    `max_iter` steps; those of conjugate gradients count too where p >= 2."""
    # an answer that is not finite is refused where it would be published
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        search = _Search(problem)
        w = np.zeros(problem.X.shape[1])
        if start is not None:
            w = np.where(search.varying, start.coef, w)
        here = search.point(w, 0.0 if start is None else start.intercept)
        for p in _FALLING if start is None else ():
            if p > penalty.p:
                search.begin(Penalty(penalty.alpha, p), max(tol, _ROUGHLY), max_iter)
                here, _ = search.run(search.point(here.w, here.b))
        search.begin(penalty, max(tol, ROUNDING), max_iter)
        return search.fit(*search.run(search.point(here.w, here.b)))


@dataclass
class _Point:
    """Weights with what is known about them."""

    w: np.ndarray
    u: np.ndarray  # X w
    b: float
    z: np.ndarray  # X w + b
    loss: float
    objective: float
    slopes: np.ndarray  # d loss / d z, without weights
    gradient: np.ndarray | None = None


class _Search:
    """The problem, its metric, the best dual bound so far, and the model's L."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.share = problem.weighted(np.ones(len(problem.y)))
        self.rows = Centred(problem)
        square = _losses.bend(problem.code) * self.rows.spread**2
        # the weight of a constant column stays 0, whatever its D is
        self.varying = square > 0
        self.constant = np.flatnonzero(~self.varying)
        self.D = np.where(self.varying, square, 1.0)
        self.zero = problem.mean_loss(np.zeros(len(problem.y)))
        self.face = np.ones(len(self.D), dtype=bool), problem.X
        self.n_iter = 0
        self.begin(Penalty(1.0, 1.0), 1.0, 0)
        first = self.point(np.zeros(len(self.D)), 0.0)
        self.first_slope = float((np.abs(self.gradient(first)) / np.sqrt(self.D)).max(initial=0.0))

    def begin(self, penalty: Penalty, tol: float, max_iter: int) -> None:
        """Search for the optimum with a penalty from now on."""
        self.penalty, self.tol, self.max_iter = penalty, tol, max_iter
        self.L, self.dual = 1.0, -np.inf
        self.looks: list[tuple[np.ndarray, np.ndarray]] = []
        self.mean: tuple[np.ndarray, np.ndarray, float] | None = None

    def run(self, here: _Point) -> tuple[_Point, bool]:
        """From a point: (where the search ends, whether at an answer)."""
        if not self.penalty.is_convex:
            return self.monotone(here)
        first = self.bent if 2 <= self.penalty.p < np.inf else self.accelerated
        here, done = first(here, steps_before(self.problem.X, self.penalty.p, self.max_iter))
        return (here, done) if done else self.whole(here)

    def point(self, w: np.ndarray, b: float, u: np.ndarray | None = None) -> _Point:
        """What is known at w, given about the best b, and X w where that is known."""
        problem = self.problem
        if u is None:
            u = matvec(problem.X, w)
        if problem.loss == "squared_error" and problem.fit_intercept:
            b = float(self.share @ (problem.y - u))
        else:
            b = b + problem.best_intercept(u + b) if problem.fit_intercept else 0.0
        z = u + b
        value, slopes = problem.evaluated(z)
        loss = float(self.share @ value)
        return _Point(w, u, b, z, loss, loss + self.penalty.value(w), slopes)

    def gradient(self, at: _Point) -> np.ndarray:
        """d mean loss / d w"""
        if at.gradient is None:
            at.gradient = self.rows.rmatvec(self.share * at.slopes)
            at.gradient[self.constant] = 0.0
        return at.gradient

    def residual(self, at: _Point) -> tuple[float, np.ndarray]:
        """(the optimality residual, where the weights go, each on its own)"""
        w = self.penalty.prox(at.w - self.gradient(at) / self.D, self.D)
        if not self.penalty.is_convex:
            # of two equal minima either will do
            jumps = (w == 0) != (at.w == 0)
            equal = self._gain(at, w, self.D) <= _TIE * abs(at.objective)
            w = np.where(jumps & equal, at.w, w)
        largest = float((np.sqrt(self.D) * np.abs(w - at.w)).max(initial=0.0))
        if largest == 0:
            return 0.0, w
        return (largest / self.first_slope if self.first_slope > 0 else np.inf), w

    def bound(self, at: _Point) -> float:
        """The largest dual value known, after a look at the slopes there, and at where they seem to
        go: the weights are ahead of them (Massias, Gramfort & Salmon 2018, "Celer: a fast solver
        for the lasso with dual extrapolation", ICML)."""
        problem, nothing = self.problem, np.zeros(1)
        self.looks = [*self.looks[-_EXTRAPOLATED:], (at.slopes, self.gradient(at))]
        # of p = inf the weights are as late as their slopes
        late = np.isinf(self.penalty.p)
        ahead = self.mean and self.mean[:2] if late else _extrapolated(self.looks)
        for slopes, gradient in filter(None, (self.looks[-1], ahead)):
            a = problem.project(-slopes)
            for t in {1.0, self.penalty.shrinkage(gradient)}:
                conjugate = self.penalty.conjugate(t * gradient)
                value = problem.dual(t * a, nothing) - conjugate
                # out of its domain a loss has no dual value
                if np.isfinite(value):
                    self.dual = max(self.dual, value)
        return self.dual

    def certificate(self, at: _Point) -> Certificate:
        """How good the weights are, by the best bound."""
        return Certificate.of(at.objective, self.dual, self.zero)

    def fit(self, at: _Point, converged: bool) -> ProxFit:
        """The answer."""
        if self.penalty.is_convex:
            self.bound(at)
        return ProxFit(at.w, at.b, max(1, self.n_iter), self.certificate(at), converged,
                       optimality=self.residual(at)[0])

    # convex penalties

    def bent(self, here: _Point, stop: int) -> tuple[_Point, bool]:
        """Proximal steps, then Newton's: (where they end, whether that is the optimum)."""
        here, done = self.accelerated(here, min(_BEFORE, stop))
        while not done and self.n_iter < stop:
            new = self._along_face(here)
            if new is None:
                # the end of what P can tell, or of a bad model
                here, done = self.accelerated(here, min(self.n_iter + _INSTEAD, stop))
                continue
            here = new
            self.bound(here)
            done = self.certificate(here).relative_gap <= self.tol
        return here, done

    def whole(self, here: _Point) -> tuple[_Point, bool]:
        """Steps with whole matrices: (where they end, whether at the optimum)."""
        around: Inside | Smoothed = (
            Inside.around(self.penalty.alpha, here.w, self.certificate(here).gap)
            if np.isinf(self.penalty.p)
            else Smoothed.around(self.penalty, here.w, self.D, self.gradient(here)))
        self.mean, done = None, False
        while not (done or around.progress.is_stuck) and self.n_iter < self.max_iter:
            self.n_iter += 1
            dw, dt, slope = around.direction(self.problem, here.z, self.gradient(here))
            dw[self.constant] = 0.0
            length, along = around.room(dw, dt), matvec(self.problem.X, dw)
            for _ in range(_MOST_DOUBLINGS):
                w = around.w + length * dw
                new = self.point(w, here.b, here.u + length * along)
                rise = new.loss - here.loss + around.barrier(w, around.t + length * dt)
                if rise <= _SUFFICIENT * length * slope + _NOISE * abs(here.objective):
                    break
                length *= 0.5
            here, around = new, around.moved(dw, dt, length)
            self.bound(here)
            now = self.certificate(here)
            if now.relative_gap <= _WITHIN * self.tol:
                # to where weights are 0 or equal that ought to be
                here, done = self._step(here) if self.penalty.p in (1, np.inf) else here, True
            around.aim(now.gap, length)
        return (here, done) if done else self.accelerated(here, self.max_iter)

    def accelerated(self, here: _Point, stop: int) -> tuple[_Point, bool]:
        """FISTA from a point up to iteration `stop`: (where it ends, whether that is the
        optimum)."""
        before, momentum, share = here, 1.0, 0.0
        while True:
            at = here if share == 0 else self._ahead(here, before, share)
            if np.isinf(self.penalty.p):
                self._average(at, momentum)
            last = self.n_iter >= stop
            if last or self.n_iter % _LOOK == 0:
                self.bound(at)
                if self.certificate(here).relative_gap <= self.tol:
                    return here, True
                if last:
                    return here, False
            self.n_iter += 1
            new = self._step(at)
            # differences below are roundings, and no reason to begin again
            if share > 0 and new.objective > here.objective + _NOISE * abs(here.objective):
                # from here without momentum
                momentum, share, before = 1.0, 0.0, here
                self.L = max(1.0, _FORGET * self.L)
                continue
            uphill = float((self.D * (at.w - new.w)) @ (new.w - here.w)) > 0
            before, here = here, new
            if uphill:
                momentum, share = 1.0, 0.0
            else:
                longer = 0.5 * (1 + np.sqrt(1 + 4 * momentum * momentum))
                momentum, share = longer, (momentum - 1) / longer

    def _average(self, at: _Point, momentum: float) -> None:
        """Let slopes count in the mean of those since momentum began."""
        weight = momentum * momentum
        slopes, gradient, total = at.slopes, self.gradient(at), weight
        if momentum > 1 and self.mean is not None:
            total += self.mean[2]
            share = weight / total
            slopes = (1 - share) * self.mean[0] + share * slopes
            gradient = (1 - share) * self.mean[1] + share * gradient
        self.mean = slopes, gradient, total

    def _ahead(self, here: _Point, before: _Point, share: float) -> _Point:
        """The point where momentum leads."""
        w = here.w + share * (here.w - before.w)
        return self.point(w, here.b, here.u + share * (here.u - before.u))

    def _step(self, at: _Point) -> _Point:
        """A proximal step that the model of the loss is above."""
        gradient = self.gradient(at)
        for _ in range(_MOST_DOUBLINGS):
            bend = self.L * self.D
            w = self.penalty.prox(at.w - gradient / bend, bend)
            new = self.point(w, at.b)
            moved = w - at.w
            square = 0.5 * float((bend * moved) @ moved)
            if self._bent(at, new) <= square + _NOISE * abs(at.loss):
                break
            self.L *= 2
        return new

    def _bent(self, at: _Point, new: _Point) -> float:
        """How far the loss is above its tangent."""
        along = self.share * (new.z - at.z)
        half = 0.5 * float(along @ (new.slopes - at.slopes))
        if half <= _CLOSE * abs(at.loss):
            return half
        return new.loss - at.loss - float(along @ at.slopes)

    # p < 1

    def monotone(self, here: _Point) -> tuple[_Point, bool]:
        """Steps downhill from a point: (where they end, whether no weight can be improved)."""
        before, recent = None, [here.objective]
        while True:
            residual, aim = self.residual(here)
            if residual <= self.tol:
                new = self._bolder(here)
                if new is None:
                    new = self._merged(here)
                if new is None:
                    return here, True
                here, before, recent = new, None, [new.objective]
                residual, aim = self.residual(here)
            if self.n_iter >= self.max_iter:
                return here, residual <= self.tol
            self.n_iter += 1
            new = None
            if before is not None and np.array_equal(np.sign(before.w), np.sign(here.w)):
                new = self._along_face(here)
            if new is None:
                new = self._lower(here, before, max(recent))
            if new is None:
                new, recent = self._some(here, aim, self.D), []
            if new is None:
                # what is left of the residual is rounding, unless it is large
                return here, residual <= max(self.tol, _ROUNDED)
            before, here = here, new
            recent = [*recent[1 - _WINDOW :], new.objective]

    def _merged(self, here: _Point) -> _Point | None:
        """The weights of columns that are the same but for a factor, all on the longest of them:
        shares of a weight are a saddle of a concave penalty. None if that lowers nothing."""
        kept, w, best = np.flatnonzero(here.w), here.w.copy(), None
        if len(kept) < 2:
            return None
        # such columns have such products with anything
        any_vector = np.random.default_rng(0).normal(size=len(self.share))
        product, size = self.rows.rmatvec(any_vector)[kept], np.sqrt(self.D[kept])
        key = np.abs(product) / size
        order = np.argsort(key, kind="stable")
        ends = np.flatnonzero(np.diff(key[order]) > _SAME * key[order][1:]) + 1
        for group in np.split(order, ends):
            if len(group) < 2:
                continue
            to, group = group[np.argmax(size[group])], np.sort(group)
            lengths = size[group] * np.sign(product[group])
            total = lengths @ here.w[kept[group]] / (size[to] * np.sign(product[to]))
            w[kept[group]], w[kept[to]] = 0.0, total
            new = self.point(w, here.b)
            if new.objective < (best or here).objective - _NOISE * abs(here.objective):
                best = new
            else:
                w = (best or here).w.copy()
        return best

    def _lower(self, here: _Point, before: _Point | None, most: float) -> _Point | None:
        """A step to enough below `most`, if there is any worth taking."""
        gradient = self.gradient(here)
        L = 1.0
        if before is not None:
            moved = here.w - before.w
            size, bend = (self.D * moved) @ moved, moved @ (gradient - self.gradient(before))
            L = float(np.clip(bend / size, _LEAST_L, _MOST_L)) if size > 0 else 1.0
        while L <= _MOST_L:
            w = self.penalty.prox(here.w - gradient / (L * self.D), L * self.D)
            moved = w - here.w
            square = 0.5 * L * float((self.D * moved) @ moved)
            if np.sqrt(2 * square * L) <= self.tol * self.first_slope:
                return None
            new = self.point(w, here.b)
            if new.objective <= most - _SUFFICIENT * square:
                return new
            L *= 2
        return None

    def _along_face(self, here: _Point) -> _Point | None:
        """A Newton step, of a penalty with p < 1 for the weights that are not 0, if it lowers P
        enough."""
        problem, kept, least, forcing = self.problem, self.varying, 0.0, np.inf
        if self.penalty.is_convex:
            forcing = float(np.sqrt(self.certificate(here).relative_gap))
        else:
            kept, least = here.w != 0, 0.1 * self.tol * self.first_slope
        X = self._few_columns(kept)
        d, slope, products = direction(problem, X, self.penalty, here.w, here.z,
                                       self.gradient(here), self.D, np.flatnonzero(kept), least,
                                       forcing)
        if self.penalty.is_convex:
            self.n_iter += products
        if not slope < 0:
            return None
        t = 1.0 if self.penalty.is_convex else farthest(here.w, d)
        along = matvec(X, d[kept])
        for _ in range(_MOST_HALVINGS):
            new = self.point(here.w + t * d, here.b, here.u + t * along)
            fall = here.objective - new.objective
            if fall > 0 and fall >= -_SUFFICIENT * t * slope:
                return new
            # differences of P are rounding here: the residual tells
            if abs(fall) <= _NOISE * abs(here.objective) and (
                self.residual(new)[0] <= 0.5 * self.residual(here)[0]
            ):
                return new
            t *= 0.5
        return None

    def _few_columns(self, kept: np.ndarray) -> Rows:
        """X with some of its columns, which many steps have in common."""
        if not np.array_equal(kept, self.face[0]):
            self.face = kept, columns_taken(self.problem.X, np.flatnonzero(kept))
        return self.face[1]

    def _gain(self, here: _Point, aim: np.ndarray, D: np.ndarray) -> np.ndarray:
        """How far P falls with one weight alone at its aim, if D is its curvature; at least so far
        if that is a bound."""
        moved = aim - here.w
        gain = -(self.gradient(here) + 0.5 * D * moved) * moved
        return gain + self.penalty.each(here.w) - self.penalty.each(aim)

    def _some(self, here: _Point, aim: np.ndarray, D: np.ndarray) -> _Point | None:
        """As many of the best changes of single weights as lower P together."""
        gain = self._gain(here, aim, D)
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > _NOISE * abs(here.objective)]
        size = len(order)
        while size:
            w = here.w.copy()
            w[order[:size]] = aim[order[:size]]
            new = self.point(w, here.b)
            if new.objective < here.objective - _NOISE * abs(here.objective):
                return new
            size //= 2
        return None

    def _bolder(self, here: _Point) -> _Point | None:
        """The same by the curvatures that the loss has here, where they are smaller than D."""
        problem = self.problem
        if problem.loss == "squared_error":
            return None
        h = problem.weighted(problem.curvatures(here.z))
        _, first, second = moments(problem.X, h, h)
        mass = float(h.sum())
        bend = second - (first * first / mass if problem.fit_intercept and mass > 0 else 0.0)
        bend = np.maximum(bend, _LEAST_L * self.D)
        aim = self.penalty.prox(here.w - self.gradient(here) / bend, bend)
        return self._some(here, aim, bend)


def _extrapolated(looks: list[tuple[np.ndarray, np.ndarray]]) -> tuple | None:
    """The combination of the last slopes that would change least from one look to the next, and
    its gradient; None if there are too few."""
    if len(looks) <= _EXTRAPOLATED:
        return None
    changes = np.diff([slopes for slopes, _ in looks], axis=0)
    products = changes @ changes.T
    products[np.diag_indices_from(products)] += 1e-14 * np.trace(products)
    try:
        share = np.linalg.solve(products, np.ones(_EXTRAPOLATED))
    except np.linalg.LinAlgError:
        return None  # nothing changes
    share /= share.sum()
    pairs = list(zip(share, looks[1:], strict=True))
    return sum(c * slopes for c, (slopes, _) in pairs), sum(c * g for c, (_, g) in pairs)
