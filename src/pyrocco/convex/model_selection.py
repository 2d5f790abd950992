"""Choice of gamma by its prediction error on held-out cells, and checks of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrocco._typing import Floats, Mask
from pyrocco.convex.problem import ConvexProblem
from pyrocco.convex.solve import Clusters, ConvexSolution, iterate_path
from pyrocco.validation import check_positive

# The paper's range, two values for each decade (Section 3.1, "Hyperparameter Setting").
DEFAULT_GAMMAS: tuple[float, ...] = tuple(np.logspace(-3, 3, 13).tolist())
# Products with larger ones leave the range of floats.
LARGEST_GAMMA = 1e100


def check_gammas(gamma: float | None, gammas: Sequence[float] | None) -> list[float]:
    """Return one gamma, several gammas or the default ones as a list of positive numbers."""
    if gamma is not None and gammas is not None:
        raise ValueError("gammas has no effect when gamma is given; give one of the two.")
    chosen: Any = [gamma] if gamma is not None else DEFAULT_GAMMAS if gammas is None else gammas
    if isinstance(chosen, (str, bytes)) or not isinstance(chosen, Iterable):
        chosen = [chosen]
    values = list(np.atleast_1d(chosen) if isinstance(chosen, np.ndarray) else chosen)
    if not values:
        raise ValueError("gammas is empty; give at least one value.")
    for value in values:
        check_positive("gamma" if gamma is not None else "gammas", value, below=LARGEST_GAMMA)
    return [float(value) for value in values]


@dataclass(frozen=True, eq=False)
class Validation:
    """Prediction errors along a path of gammas."""

    gammas: Floats  # ascending
    errors: Floats  # root of the sum of squared errors on the held-out cells
    converged: bool  # whether all solves reached their tolerance

    @property
    def best(self) -> int:
        """Index of the smallest error; of several equal ones in a row, the middle one.

        Equal errors mean equal clusters. In the middle of their range of gammas the clusters
        are most likely to be the same when no cells are held out.
        """
        smallest = self.errors.min()
        least = np.isclose(self.errors, smallest, rtol=1e-10, atol=0.0)
        first = int(least.argmax())
        run = int(np.argmin(np.r_[least[first:], False]))
        return first + (run - 1) // 2


def validate(
    problem: ConvexProblem,
    gammas: Sequence[float],
    held_out: Mask,
    *,
    tol: float = 1e-7,
    max_iter: int = 2000,
    report: Callable[[dict[str, Any]], bool] = lambda record: False,
) -> Validation:
    """Solve the path without the held-out cells and measure the error on these cells.

    The graphs are those of `problem`, as in Chi, Allen and Baraniuk (2017). `report` is called
    with a record for each gamma, from the largest down, and returns True to stop. The errors
    are by ascending gamma; after a stop, those of the gammas that were solved for.
    """
    cells = held_out & ~problem.missing
    training = replace(problem, X=np.where(held_out, np.nan, problem.X))
    results = []
    for solution in iterate_path(training, gammas, tol=tol, max_iter=max_iter):
        error = held_out_error(problem.X, cells, solution.clusters)
        results.append((solution.gamma, error, solution.converged))
        if report(_record(len(results), solution, error)):
            break
    ascending, errors, converged = zip(*reversed(results), strict=True)
    return Validation(np.array(ascending), np.array(errors), all(converged))


def _record(iteration: int, solution: ConvexSolution, error: float) -> dict[str, Any]:
    return {
        "iteration": iteration,
        "objective": solution.objective,
        "solver_iterations": solution.n_iter,
        "gamma": solution.gamma,
        "error": error,
    }


def hold_out(problem: ConvexProblem, fraction: float, random: np.random.RandomState) -> Mask:
    """Choose cells to hold out among those that are not missing."""
    known = np.flatnonzero(~problem.missing)
    count = min(max(1, round(fraction * known.size)), known.size - 1)
    cells = np.zeros(problem.X.shape, dtype=bool)
    cells.ravel()[random.choice(known, count, replace=False)] = True
    return cells


def held_out_error(X: Floats, held_out: Mask, clusters: Clusters) -> float:
    """Compute the root of the sum of squared errors of block means; empty blocks have mean 0."""
    means = clusters.block_means(np.where(held_out, np.nan, X))
    predicted = np.nan_to_num(means)[clusters.rows[:, None], clusters.columns]
    errors = (X - predicted)[held_out]
    return float(np.sqrt(errors @ errors))
