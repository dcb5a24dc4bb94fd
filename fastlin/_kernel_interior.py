"""A primal-dual interior point method for the hinge with a kernel, where few rows meet a C so large
that pairs of rows gain little: the steps of pairs grow with C, those of this method don't.

With signed dual variables u_i = C_i a_i y_i the problem is

    minimise  (1/2) u.Q u - sum_i u_i,    0 <= u_i <= C_i,   y.u = 0,    Q_ij = y_i y_j K_ij;

with multipliers z and t of the bounds and b of the constraint, a step solves for

    Q u - 1 + b y - z + t = 0,   y.u = 0,   z_i u_i = m,   t_i (C_i - u_i) = m

with m falling (Mehrotra 1992, "On the implementation of a primal-dual interior point method", SIAM
Journal on Optimization 2; Ferris & Munson 2002, "Interior-point methods for massive support vector
machines", SIAM Journal on Optimization 13). Its matrix is Q with more on the diagonal.

Where pairs are slow on many rows, Q is near a matrix of low rank: L L^T by the Cholesky method with
pivots (Fine & Scheinberg 2001, "Efficient SVM training using low-rank kernel representations",
Journal of Machine Learning Research 2). With it systems cost n r^2 and not n^3/3. What it leaves
out is not lost: it preconditions conjugate gradients on the system of Q itself. Where there is no
room for Q it has to leave out nothing but rounding, and stands for Q; the r rows that it takes are
all that is made of the kernel then.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._gram_rows import GramRows
from ._kernel_newton import MOST_ROWS
from ._lapack import lapack, matmul
from ._parallel import Cancelled, is_cancelled
from ._problem import Problem

__all__ = ["ascend_inside"]

_MOST = 100
# A step goes so near a bound, as a share of the way
_SHARE = 0.995
# Shorter steps are rounding's
_LEAST_WAY = 1e-6
# What is added to the diagonal where rounding has left a negative eigenvalue, as shares of it
_RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)
# Of many rows, the share of them that a low rank may be; what is left on the diagonal then at most,
# and what is as good as nothing, as shares of the largest entry; bytes of an entry of L, twice
_LOW, _LEFT, _NOTHING = 0.4, 1e-8, 1e-13
_ENTRY = 16
# Rows up to which a factor of all, n^3/3, is better than no answer
_MANY = 5000
# Conjugate gradients of a system: how many, and what is left of its right side
_MOST_PRODUCTS, _EXACT = 30, 1e-10


def ascend_inside(problem: Problem, gram: GramRows, n_bytes: int, mass: np.ndarray,
                  measure: Callable[[np.ndarray], float], tol: float, most: int) -> int:
    """Take steps until `measure`, given dual variables, returns a gap of at most tol, or steps gain
    no more; returns how many, at most so many, and none where rows are too many."""
    n, Q = gram.n, None
    whole = gram.all_rows() if 8 * n * n <= n_bytes else None
    if n > MOST_ROWS or whole is None:
        Q = _Low.of(gram, whole, problem.y, n_bytes)
    if Q is None:
        if n > _MANY or whole is None:
            return 0
        Q = _Whole(whole, problem.y)
    at, most = _Inside(Q, problem.y, mass), min(most, _MOST)
    for steps in range(1, most + 1):
        if is_cancelled():
            raise Cancelled
        # an overflow shows in the length of the step
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            way = at.move()
        if measure(problem.y * at.rounded() / mass) <= tol or not way > _LEAST_WAY:
            return steps
    return most


class _Inside:
    """A point within the bounds, and the steps from it."""

    def __init__(self, Q: _Whole | _Low, y: np.ndarray, C: np.ndarray):
        self.Q, self.y, self.C = Q, y, C
        self.u, self.b = 0.5 * C, 0.0
        self.z, self.t = np.ones(len(y)), np.ones(len(y))

    def rounded(self) -> np.ndarray:
        """u, with variables on their way to a bound put there."""
        return np.where(self.u < self.z, 0.0, np.where(self.C - self.u < self.t, self.C, self.u))

    def move(self) -> float:
        """Make a step; returns its length, 0 where there is none."""
        u, z, t = self.u, self.z, self.t
        slack = self.C - u
        if not self.Q.factored(z / u + t / slack):
            return 0.0
        along = self.Q.solved(self.y)
        # straight for m = 0 first: how far that leads says where to aim, and how much it bends
        du, _, dz, dt = self._direction(along, -z, -t)
        way = self._way(du, dz, dt)
        before = float(z @ u + t @ slack)
        after = float((z + way * dz) @ (u + way * du) + (t + way * dt) @ (slack - way * du))
        aim = before / (2 * len(u)) * min(1.0, after / before) ** 3
        low, high = (aim - du * dz) / u - z, (aim + du * dt) / slack - t
        du, db, dz, dt = self._direction(along, low, high)
        way = _SHARE * self._way(du, dz, dt)
        self.u, self.b = u + way * du, self.b + way * db
        self.z, self.t = z + way * dz, t + way * dt
        return way

    def _direction(self, along: np.ndarray, low: np.ndarray, high: np.ndarray
                   ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """(du, db, dz, dt), with dz = low and dt = high where u stays; `along` solves for y."""
        u, z, t, y = self.u, self.z, self.t, self.y
        dual = self.Q.times(u) - 1.0 + self.b * y - z + t
        found = self.Q.solved(low - high - dual)
        db = float(y @ found + y @ u) / float(y @ along)
        du = found - db * along
        return du, db, low - z * du / u, high + t * du / (self.C - u)

    def _way(self, du: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """How far a step can go, at most 1, until something is 0."""
        shares = -du / self.u, du / (self.C - self.u), -dz / self.z, -dt / self.t
        return 1.0 / max(1.0, *(float(share.max()) for share in shares))


class _Signed:
    """Q: the kernel with signs y."""

    def __init__(self, gram: np.ndarray | None, y: np.ndarray):
        self.gram, self.y = gram, y
        self.factor: tuple | None = None

    def times(self, u: np.ndarray) -> np.ndarray:
        """Q u"""
        assert self.gram is not None
        return self.y * (self.gram @ (self.y * u))


class _Whole(_Signed):
    """Q, and systems of Q with more on its diagonal, by a factor of all of it."""

    def factored(self, more: np.ndarray) -> bool:
        """Prepare for systems with that much more; whether there is a factor."""
        from scipy.linalg import LinAlgError, cho_factor

        assert self.gram is not None
        size = float(np.diagonal(self.gram).max())
        for ridge in _RIDGES:
            matrix = self.y[:, None] * self.gram
            matrix *= self.y
            matrix[np.diag_indices_from(matrix)] += more + ridge * size
            try:
                self.factor = lapack(cho_factor, matrix, lower=True, overwrite_a=True)
                return True
            except LinAlgError:
                continue
        return False

    def solved(self, side: np.ndarray) -> np.ndarray:
        """The solution of one system."""
        from scipy.linalg import cho_solve

        return cho_solve(self.factor, side, check_finite=False)


class _Low(_Signed):
    """The same for Q near L L^T with few columns, which are those of the kernel with signs y."""

    def __init__(self, gram: np.ndarray | None, y: np.ndarray, L: np.ndarray, left: np.ndarray):
        super().__init__(gram, y)
        self.L, self.left = y[:, None] * L, left
        self.more = self.inverse = left

    @classmethod
    def of(cls, gram: GramRows, whole: np.ndarray | None, y: np.ndarray, n_bytes: int
           ) -> _Low | None:
        """By the pivots that are left the largest; None where too many columns are needed."""
        n, left = gram.n, gram.diagonal.copy()
        most = int(min(_LOW * n, n_bytes / (_ENTRY * n)))
        size, k = float(left.max(initial=0.0)), 0
        L = np.zeros((n, most), order="F")
        while k < most:
            if is_cancelled():
                raise Cancelled
            at = int(left.argmax())
            if left[at] <= _NOTHING * size:
                break
            column = (gram.row(at) - L[:, :k] @ L[at, :k]) / np.sqrt(left[at])
            L[:, k] = column
            left -= column * column
            left[at] = 0.0
            k += 1
        if left.max(initial=0.0) > (_LEFT if whole is not None else _NOTHING) * size:
            return None
        return cls(whole, y, np.ascontiguousarray(L[:, :k]), np.maximum(left, 0.0))

    def times(self, u: np.ndarray) -> np.ndarray:
        """Q u"""
        if self.gram is None:
            return self.L @ (self.L.T @ u) + self.left * u
        return super().times(u)

    def factored(self, more: np.ndarray) -> bool:
        """Prepare for systems with that much more; whether there is a factor."""
        from scipy.linalg import LinAlgError, cho_factor

        self.more, self.inverse = more, 1.0 / (more + self.left)
        scaled = self.L * np.sqrt(self.inverse)[:, None]
        matrix = matmul(scaled.T, scaled)
        matrix[np.diag_indices_from(matrix)] += 1.0
        try:
            self.factor = lapack(cho_factor, matrix, lower=True, overwrite_a=True)
        except (LinAlgError, ValueError):
            return False
        return True

    def solved(self, side: np.ndarray) -> np.ndarray:
        """The solution of one system, by conjugate gradients."""
        x = self._near(side)
        r = side - self.times(x) - self.more * x
        y = self._near(r)
        p, rho, least = y.copy(), float(r @ y), _EXACT**2 * float(side @ x)
        for _ in range(_MOST_PRODUCTS):
            if not rho > least:
                break
            image = self.times(p) + self.more * p
            step = rho / float(p @ image)
            x, r = x + step * p, r - step * image
            y, last = self._near(r), rho
            rho = float(r @ y)
            p = y + rho / last * p
        return x

    def _near(self, side: np.ndarray) -> np.ndarray:
        """The solution with L L^T and what is left of the diagonal in the place of Q."""
        from scipy.linalg import cho_solve

        first = self.inverse * side
        inner = cho_solve(self.factor, self.L.T @ first, check_finite=False)
        return first - self.inverse * (self.L @ inner)
