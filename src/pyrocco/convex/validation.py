"""Choose gamma by how well the blocks of the seen cells foretell the held-out ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.convex.groups import Groups
from pyrocco.convex.problem import ConvexProblem
from pyrocco.convex.solve import ConvexSolution, iterate_path

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Validation:
    """The validation error along a path.

    Parameters
    ----------
    gammas : ndarray of shape (n_gammas,)
        Ascending.
    errors : ndarray of shape (n_gammas,)
        Root of the summed squared error on the held-out cells.
    converged : bool
        Whether every solve on the path reached its tolerance.
    """

    gammas: Matrix
    errors: Matrix
    converged: bool

    @property
    def best(self) -> int:
        """Index of the smallest error; of equal ones in a run, the middle one.

        Equal errors mean equal groups, and in the middle of their range of gammas the same
        groups will be there with all cells seen.

        Examples
        --------
        >>> import numpy as np
        >>> from pyrocco.convex.validation import Validation
        >>> Validation(np.arange(5.0), np.array([9, 2, 2, 2, 3.0]), True).best
        2
        """
        smallest = self.errors.min()
        least = np.isclose(self.errors, smallest, rtol=1e-10, atol=0.0)
        first = int(least.argmax())
        run = int(np.argmin(np.r_[least[first:], False]))
        return first + (run - 1) // 2


def validate(
    problem: ConvexProblem,
    gammas: Sequence[float],
    held_out: NDArray[np.bool_],
    *,
    tol: float = 1e-7,
    max_iter: int = 2000,
    report: Callable[[dict[str, Any]], bool] = lambda record: False,
) -> Validation:
    """Solve the path without the held-out cells and measure the error on them.

    The graphs stay those of `problem`, as in Chi, Allen and Baraniuk (2017).

    Parameters
    ----------
    problem : ConvexProblem
        Data and graphs.
    gammas : sequence of float
        Strengths of the penalty to try.
    held_out : ndarray of bool of shape (n_rows, n_columns)
        Cells to hide.
    tol, max_iter : float, int
        As in `iterate_path`.
    report : callable
        Is told of every gamma, from the largest down; True asks for a stop.

    Returns
    -------
    Validation
        The errors, by ascending gamma; after a stop, of the gammas that were solved for.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem, gaussian_knn_graph, hold_out, validate
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((20, 15), 2, noise=1).X
    >>> X = (X - X.mean()) / np.linalg.norm(X - X.mean())
    >>> problem = ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T))
    >>> hidden = hold_out(problem, 0.1, np.random.RandomState(0))
    >>> errors = validate(problem, [0.01, 10.0], hidden).errors
    >>> bool(errors[1] < errors[0])
    True
    """
    hidden = held_out & ~problem.missing
    X = np.where(held_out, np.nan, problem.X)
    seen = ConvexProblem(X, problem.rows, problem.columns)
    found = []
    for solution in iterate_path(seen, gammas, tol=tol, max_iter=max_iter):
        error = held_out_error(problem.X, hidden, solution.groups)
        found.append((solution.gamma, error, solution.converged))
        if report(_record(len(found), solution, error)):
            break
    ascending, errors, converged = zip(*reversed(found), strict=True)
    return Validation(np.array(ascending), np.array(errors), all(converged))


def _record(iteration: int, solution: ConvexSolution, error: float) -> dict[str, Any]:
    return {
        "iteration": iteration,
        "objective": solution.objective,
        "solver_iterations": solution.n_iter,
        "gamma": solution.gamma,
        "error": error,
    }


def hold_out(
    problem: ConvexProblem, fraction: float, random: np.random.RandomState
) -> NDArray[np.bool_]:
    """Choose cells to hide, among those that are seen.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem, gaussian_knn_graph, hold_out
    >>> X = np.arange(20.0).reshape(5, 4)
    >>> problem = ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T))
    >>> int(hold_out(problem, 0.2, np.random.RandomState(0)).sum())
    4
    """
    seen = np.flatnonzero(~problem.missing)
    count = min(max(1, round(fraction * seen.size)), seen.size - 1)
    hidden = np.zeros(problem.X.shape, dtype=bool)
    hidden.ravel()[random.choice(seen, count, replace=False)] = True
    return hidden


def held_out_error(X: Matrix, held_out: NDArray[np.bool_], groups: Groups) -> float:
    """Root of the summed squared error of block means of seen cells on held-out ones.

    A block none of whose cells is seen has mean 0, the mean of centred data.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.groups import Groups
    >>> from pyrocco.convex.validation import held_out_error
    >>> X, hidden = np.array([[1.0, 4.0]]), np.array([[False, True]])
    >>> held_out_error(X, hidden, Groups(np.zeros(1, int), np.zeros(2, int)))
    3.0
    """
    means = seen_block_means(np.where(held_out, np.nan, X), groups)
    predicted = np.nan_to_num(means)[groups.rows[:, None], groups.columns]
    errors = (X - predicted)[held_out]
    return float(np.sqrt(errors @ errors))


def seen_block_means(X: Matrix, groups: Groups) -> Matrix:
    """Mean of the cells of every block that are not NaN; NaN where all are.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.groups import Groups
    >>> from pyrocco.convex.validation import seen_block_means
    >>> X = np.array([[1.0, 3.0, np.nan], [np.nan, 5.0, np.nan]])
    >>> seen_block_means(X, Groups(np.array([0, 0]), np.array([0, 0, 1]))).tolist()
    [[3.0, nan]]
    """
    seen = ~np.isnan(X)
    shape = groups.rows.max() + 1, groups.columns.max() + 1
    blocks = (groups.rows[:, None] * shape[1] + groups.columns)[seen]
    counts = np.bincount(blocks, minlength=shape[0] * shape[1])
    sums = np.bincount(blocks, X[seen], minlength=shape[0] * shape[1])
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return np.asarray(means.reshape(shape))
