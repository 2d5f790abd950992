"""Solve the convex biclustering problem for one gamma or along a path, with its clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pyrocco._typing import DeviceArray, Floats, Labels, Mask
from pyrocco.backends import ArrayBackend, NumpyBackend
from pyrocco.convex.lagrangian import Lagrangian, Point, newton_step
from pyrocco.convex.problem import ConvexProblem
from pyrocco.deprecation import warn_deprecated

# Edges shorter than this share of ||X||_F have length zero.
CLOSED = 1e-5
# The Lagrangian counts as minimal when its slack is this share of the requested gap, or the
# square of this share times the current gap.
_MINIMAL = 0.1
# The stiffness is increased if new multipliers leave more than this share of the gap.
_SLOW = 0.3
_STIFFEN = 3.0


@dataclass(frozen=True, eq=False)
class Clusters:
    """Labels of the rows and of the columns, from 0."""

    rows: Labels
    columns: Labels

    def flatten(self, U: DeviceArray, backend: ArrayBackend | None = None) -> DeviceArray:
        """Replace every value by the mean of its block; U is on `backend`, by default in NumPy."""
        backend = backend or NumpyBackend()
        across = backend.transpose(_averaged(U, self.rows, backend))
        flat: DeviceArray = backend.transpose(_averaged(across, self.columns, backend))
        return flat

    def block_means(self, X: Floats) -> Floats:
        """Compute the mean of the values of each block that are not NaN; NaN if all are."""
        known = ~np.isnan(X)
        shape = self.rows.max() + 1, self.columns.max() + 1
        blocks = (self.rows[:, None] * shape[1] + self.columns)[known]
        counts = np.bincount(blocks, minlength=shape[0] * shape[1])
        sums = np.bincount(blocks, X[known], minlength=shape[0] * shape[1])
        means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return np.asarray(means.reshape(shape))


def _averaged(U: DeviceArray, labels: Labels, backend: ArrayBackend) -> DeviceArray:
    """Replace each row by the mean of its cluster; U itself if all clusters are single rows."""
    return U if labels.max() + 1 == len(labels) else backend.averaged(U, labels)


def clusters_of(problem: ConvexProblem, U: DeviceArray) -> Clusters:
    """Return the clusters of U: nodes connected by edges of length at most 1e-5 ||X||_F."""
    along_rows, along_columns = problem.edge_lengths(U)
    limit = CLOSED * float(np.sqrt(problem.backend.dot(problem.filled, problem.filled)))
    return _connected(problem, along_rows <= limit, along_columns <= limit)


def _connected(problem: ConvexProblem, rows: Mask, columns: Mask) -> Clusters:
    """Return the clusters that some edges of the rows and of the columns connect."""
    return Clusters(problem.rows.components(rows), problem.columns.components(columns))


@dataclass(frozen=True, eq=False)
class ConvexSolution:
    """A solution with a bound of its error."""

    gamma: float  # strength of the penalty
    U: Floats
    clusters: Clusters  # rows and columns that have become equal
    objective: float  # objective at U
    gap: float  # duality gap: no U has an objective lower than ``objective - gap``
    n_iter: int  # number of Newton steps
    converged: bool  # whether the gap is within the tolerance

    @property
    def groups(self) -> Clusters:
        """The clusters, by their name before version 0.2."""
        warn_deprecated("groups", "clusters", since="0.2")
        return self.clusters


def solve(
    problem: ConvexProblem, gamma: float, *, tol: float = 1e-8, max_iter: int = 2000
) -> ConvexSolution:
    """Solve the problem for one gamma; see `iterate_path`."""
    return next(iterate_path(problem, [gamma], tol=tol, max_iter=max_iter))


def iterate_path(
    problem: ConvexProblem, gammas: Sequence[float], *, tol: float = 1e-8, max_iter: int = 2000
) -> Iterator[ConvexSolution]:
    """Solve the problem for several gammas, from the largest to the smallest.

    Each solve starts from the previous solution. In this order multipliers only need to shrink,
    and missing values start from the mean of their block, which would take many steps with a small
    gamma alone. A solve stops after `max_iter` Newton steps, or when the duality gap is at most
    `tol` times half the squared distance of X to its mean. Without missing values U is then within
    sqrt(tol) ||X - mean||_F of the exact solution.
    """
    lagrangian = Lagrangian(problem)
    U = problem.filled
    for gamma in sorted(gammas, reverse=True):
        lagrangian.set_gamma(gamma)
        solution, U = _descend(lagrangian, gamma, U, tol * problem.energy, max_iter)
        yield solution


def _descend(
    lagrangian: Lagrangian, gamma: float, start: DeviceArray, target: float, max_iter: int
) -> tuple[ConvexSolution, DeviceArray]:
    """Solve for one gamma; return the solution and the start for the next gamma.

    The method of multipliers: minimise the Lagrangian by Newton steps, update the multipliers,
    and increase the stiffness if the gap shrinks too slowly.
    """
    problem = lagrangian.problem
    point, last = lagrangian.evaluate(start), np.inf
    for step in range(1, max_iter + 1):
        if _is_minimal(problem, point, target) or step == max_iter:
            U, objective = _best_candidate(lagrangian, point, gamma)
            gap = objective - point.bound
            if gap <= target or step == max_iter:
                break
            lagrangian.update_multipliers(_STIFFEN if gap > _SLOW * last else 1.0)
            point, last = lagrangian.evaluate(point.U), gap
        point = newton_step(lagrangian, point)
    clusters, values = clusters_of(problem, U), problem.backend.to_numpy(U)
    gap = max(gap, 0.0)
    return ConvexSolution(gamma, values, clusters, objective, gap, step, gap <= target), point.U


def _is_minimal(problem: ConvexProblem, point: Point, target: float) -> bool:
    """Whether the Lagrangian is minimal up to an error that is small compared with the gap."""
    gap = point.objective - point.bound
    enough = max(_MINIMAL * target, _MINIMAL**2 * gap)
    return gap <= target or problem.slack(point.gradient) <= enough


def _best_candidate(
    lagrangian: Lagrangian, point: Point, gamma: float
) -> tuple[DeviceArray, float]:
    """Return U, or U averaged over the blocks of closed edges, whichever is better.

    Closed edges of U approach length zero only in the limit; averaging sets it to zero.
    """
    problem = lagrangian.problem
    blocks = _connected(problem, lagrangian.rows.closed, lagrangian.columns.closed)
    flat = blocks.flatten(point.U, problem.backend)
    objective = problem.objective(flat, gamma)
    return (flat, objective) if objective <= point.objective else (point.U, point.objective)


def solve_path(
    problem: ConvexProblem, gammas: Sequence[float], *, tol: float = 1e-8, max_iter: int = 2000
) -> list[ConvexSolution]:
    """Solve the problem for several gammas, in the given order; see `iterate_path`."""
    order = np.argsort(-np.asarray(gammas), kind="stable")
    solutions = list(iterate_path(problem, gammas, tol=tol, max_iter=max_iter))
    return [solutions[place] for place in np.argsort(order, kind="stable")]
