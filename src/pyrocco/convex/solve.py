"""Solve the convex biclustering problem, at one gamma or along a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrocco.convex.groups import Groups, components, groups_of
from pyrocco.convex.lagrangian import Lagrangian, Point
from pyrocco.convex.newton import newton_step
from pyrocco.convex.problem import ConvexProblem

Matrix = NDArray[np.float64]

# The Lagrangian counts as minimal when what is left of it is this share of the gap asked
# for, or the square of this share of the gap there is.
_SETTLED = 0.1
# Where new multipliers leave more than this share of the gap, the springs become stiffer.
_SLOW = 0.3
_STIFFEN = 3.0


@dataclass(frozen=True, eq=False)
class ConvexSolution:
    """A solution with its certificate.

    Parameters
    ----------
    gamma : float
        Strength of the penalty.
    U : ndarray of shape (n_rows, n_columns)
        The representation.
    groups : Groups
        Rows and columns that have become one.
    objective : float
        Value of the problem at U.
    gap : float
        No U has an objective lower than ``objective - gap``.
    n_iter : int
        Newton steps taken.
    converged : bool
        Whether the gap is within the tolerance.
    """

    gamma: float
    U: Matrix
    groups: Groups
    objective: float
    gap: float
    n_iter: int
    converged: bool


def solve(
    problem: ConvexProblem, gamma: float, *, tol: float = 1e-8, max_iter: int = 2000
) -> ConvexSolution:
    """Solve the problem at one gamma; see `iterate_path`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem, gaussian_knn_graph, solve
    >>> X = np.array([[0.0, 0.0, 4.0], [0.0, 1.0, 4.0], [9.0, 9.0, 5.0]])
    >>> problem = ConvexProblem(X, gaussian_knn_graph(X, 1), gaussian_knn_graph(X.T, 1))
    >>> solution = solve(problem, 2.0)
    >>> solution.groups.rows.tolist(), solution.gap < 1e-6
    ([0, 0, 1], True)
    """
    return next(iterate_path(problem, [gamma], tol=tol, max_iter=max_iter))


def iterate_path(
    problem: ConvexProblem, gammas: Sequence[float], *, tol: float = 1e-8, max_iter: int = 2000
) -> Iterator[ConvexSolution]:
    """Solve the problem at every gamma, from the largest down, each from the last.

    In that order multipliers only need to shrink and missing cells start from the mean of
    their block, which small gammas alone would take very long to find.

    Parameters
    ----------
    problem : ConvexProblem
        Data and graphs.
    gammas : sequence of float
        Strengths of the penalty, in any order.
    tol : float, default=1e-8
        Stop when the duality gap is at most `tol` times half the squared distance of X to
        its mean. Without missing cells this guarantees that U is within
        sqrt(tol) ||X - mean||_F of the solution.
    max_iter : int, default=2000
        Newton steps at most for each gamma.

    Yields
    ------
    ConvexSolution
        From the largest gamma to the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem, gaussian_knn_graph, iterate_path
    >>> X = np.array([[0.0, 0.0, 4.0], [0.0, 1.0, 4.0], [9.0, 9.0, 5.0]])
    >>> rows, columns = gaussian_knn_graph(X, 1, phi=0), gaussian_knn_graph(X.T, 1, phi=0)
    >>> problem = ConvexProblem(X, rows, columns)
    >>> [len(set(s.groups.rows)) for s in iterate_path(problem, [0.01, 4.0, 1000.0])]
    [1, 2, 3]
    """
    lagrangian = Lagrangian(problem)
    U = problem.filled
    for gamma in sorted(gammas, reverse=True):
        lagrangian.begin(gamma)
        solution, U = _descend(lagrangian, gamma, U, tol * problem.energy, max_iter)
        yield solution


def _descend(
    lagrangian: Lagrangian, gamma: float, start: Matrix, target: float, max_iter: int
) -> tuple[ConvexSolution, Matrix]:
    """Solve at one gamma; the second answer is where to go on from at the next.

    The method of multipliers: minimise the Lagrangian by Newton steps, take the forces on
    the edges as multipliers, make the springs stiffer where that shrinks the gap too slowly.
    """
    problem = lagrangian.problem
    point, last = lagrangian.at(start), np.inf
    for step in range(1, max_iter + 1):
        if _is_settled(problem, point, target) or step == max_iter:
            U, objective = _best_candidate(lagrangian, point, gamma)
            gap = objective - point.bound
            if gap <= target or step == max_iter:
                break
            lagrangian.settle(_STIFFEN if gap > _SLOW * last else 1.0)
            point, last = lagrangian.at(point.U), gap
        point = newton_step(lagrangian, point)
    groups = groups_of(problem, U)
    gap = max(gap, 0.0)
    return ConvexSolution(gamma, U, groups, objective, gap, step, gap <= target), point.U


def _is_settled(problem: ConvexProblem, point: Point, target: float) -> bool:
    """Whether the Lagrangian is as good as minimal, as seen from the gap."""
    gap = point.objective - point.bound
    enough = max(_SETTLED * target, _SETTLED**2 * gap)
    return gap <= target or problem.slack(point.gradient) <= enough


def _best_candidate(lagrangian: Lagrangian, point: Point, gamma: float) -> tuple[Matrix, float]:
    """U as it is, or made constant on the blocks of closed edges, whichever is better.

    Closed edges of U keep a length that goes to zero with the steps, which gamma multiplies;
    averaging takes it to zero at once, and the gap with it.
    """
    problem = lagrangian.problem
    closed = Groups(
        components(problem.rows, lagrangian.rows.closed),
        components(problem.columns, lagrangian.columns.closed),
    )
    flat = closed.flatten(point.U)
    objective = problem.objective(flat, gamma)
    return (flat, objective) if objective <= point.objective else (point.U, point.objective)


def solve_path(
    problem: ConvexProblem, gammas: Sequence[float], *, tol: float = 1e-8, max_iter: int = 2000
) -> list[ConvexSolution]:
    """Solve the problem at every gamma, in the order given; see `iterate_path`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem, gaussian_knn_graph, solve_path
    >>> X = np.array([[0.0, 0.0, 4.0], [0.0, 1.0, 4.0], [9.0, 9.0, 5.0]])
    >>> problem = ConvexProblem(X, gaussian_knn_graph(X, 1), gaussian_knn_graph(X.T, 1))
    >>> [solution.gamma for solution in solve_path(problem, [0.01, 2.0])]
    [0.01, 2.0]
    """
    order = np.argsort(-np.asarray(gammas), kind="stable")
    found = list(iterate_path(problem, gammas, tol=tol, max_iter=max_iter))
    return [found[place] for place in np.argsort(order, kind="stable")]
