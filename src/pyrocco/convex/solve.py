"""Solve the convex biclustering problem, at one gamma or along a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pyrocco.convex.anderson import AndersonMixer
from pyrocco.convex.groups import Groups, components, groups_of
from pyrocco.convex.inverse import SPECTRAL_NODES, make_inverse
from pyrocco.convex.problem import ConvexProblem
from pyrocco.convex.splitting import Splitting

Matrix = NDArray[np.float64]

# Steps between two looks at the duality gap.
_CHECK = 10
# Memory for past steps of the extrapolation; large problems remember fewer.
_HISTORY_BYTES = 2**30
_HISTORY_STEPS = 5
# Below this many cells, and where no large products are made, threads of the linear algebra
# wait for each other longer than they work.
_THREADED_CELLS = 100_000


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
        Steps taken.
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
        Steps at most for each gamma.

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
    with _threads(problem):
        # The gap is a square: a U within sqrt(tol) is what it asks for, and steps should be
        # well within that.
        inverse = make_inverse(problem.rows, problem.columns, 0.01 * tol**0.5)
        state = Splitting(problem, inverse)
    remembered = min(_HISTORY_STEPS, _HISTORY_BYTES // (24 * max(1, state.z.size)))
    mixer = AndersonMixer(state.z.size, remembered if remembered > 1 else 0)
    for gamma in sorted(gammas, reverse=True):
        with _threads(problem):
            solution = _descend(state, mixer, gamma, tol * problem.energy, max_iter)
        yield solution


def _threads(problem: ConvexProblem) -> AbstractContextManager[object]:
    by_products = problem.X.size >= _THREADED_CELLS and max(problem.X.shape) <= SPECTRAL_NODES
    return nullcontext() if by_products else threadpool_limits(1, "blas")


def _descend(
    state: Splitting, mixer: AndersonMixer, gamma: float, target: float, max_iter: int
) -> ConvexSolution:
    state.begin(gamma)
    mixer.reset()
    balance_at = _CHECK
    for step in range(1, max_iter + 1):
        residual = state.residual()
        state.z = mixer.step(state.z, residual)
        state.shrink()
        if step % _CHECK and step != max_iter:
            continue
        Z = state.field()
        U, objective = _best_candidate(state)
        gap = objective - state.problem.lower_bound(Z)
        if gap <= target:
            break
        if step >= balance_at:
            # Rarely and ever more so: each change costs the mixer its memory.
            balance_at = 2 * step
            _balance(state, mixer, Z, residual)
    groups = groups_of(state.problem, U)
    return ConvexSolution(gamma, U, groups, objective, max(gap, 0.0), step, gap <= target)


def _best_candidate(state: Splitting) -> tuple[Matrix, float]:
    """U as it is, or made constant on the blocks that V has closed, whichever is better.

    Closed edges of U keep a length of the order of the residual, which gamma multiplies;
    averaging takes it to zero, and the gap with it.
    """
    problem, gamma = state.problem, state.gamma
    closed = Groups(
        components(problem.rows, state.rows.factors == 0),
        components(problem.columns, state.columns.factors == 0),
    )
    flat = closed.flatten(state.U)
    values = problem.objective(state.U, gamma), problem.objective(flat, gamma)
    return (state.U, values[0]) if values[0] < values[1] else (flat, values[1])


def _balance(state: Splitting, mixer: AndersonMixer, Z: Matrix, residual: Matrix) -> None:
    """Set nu so that E U = V and X - U = Z are equally far from true."""
    problem = state.problem
    split = float(np.linalg.norm(residual[: state.rows.size + state.columns.size]))
    force = problem.filled - state.U - Z
    force[problem.missing] = 0.0
    # The factor is the one that took fewest steps over the reference problems.
    ratio = 2.0 * split / max(float(np.linalg.norm(force)), 1e-300)
    change = float(np.clip(np.sqrt(ratio), 0.2, 5.0))
    if not 1 / 1.3 < change < 1.3:
        state.change_penalty(float(np.clip(state.nu * change, 1e-4, 1e4)))
        mixer.reset()


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
