"""The alternating loop: line process, system, solve, schedule (Algorithm 1, lines 3-8)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyrocco.backends import Backend, Workspace
from pyrocco.model import Schedule, Side, SylvesterSystem
from pyrocco.solvers import Solution, Solver

Record = dict[str, Any]


@dataclass(frozen=True)
class Representation:
    """What the loop leaves.

    Parameters
    ----------
    U : array
        The representation, on the back end.
    history : list of dict
        One record an iteration.
    converged : bool
        Whether the schedule stopped the loop before the iteration cap did.
    """

    U: Any
    history: list[Record]
    converged: bool


def learn_representation(
    X: Any,
    sides: tuple[Side, Side],
    *,
    shift: float,
    schedule: Schedule,
    solver: Solver,
    backend: Backend,
    max_iter: int,
    report: Callable[[Record], None],
    gaps: Any = None,
) -> Representation:
    """Minimise shift/2 ||X - U||^2 plus the energies of both sides.

    Missing cells count for nothing. Each iteration takes them to be what the last U says,
    which lowers the objective over the others (majorisation).

    Parameters
    ----------
    X : array
        The data, on the back end; a first guess in missing cells.
    sides : tuple of Side
        Rows and columns.
    shift : float
        2 for ROCCO (Eq. 4), 1 for RCC (Eq. 2).
    schedule : Schedule
        Decides when mu falls and when to stop.
    solver : Solver
        Solves each iteration's system.
    backend : Backend
        Where the arrays live.
    max_iter : int
        Iterations at most.
    report : callable
        Called with each iteration's record.
    gaps : array of bool, optional
        Which cells are missing, on the back end; None for none.

    Returns
    -------
    Representation
    """
    U, workspace = backend.copy(X), Workspace()
    X = X if gaps is None else backend.copy(X)
    history: list[Record] = []
    previous = 0.0
    for _ in range(max_iter):
        started = time.perf_counter()
        for side in sides:
            side.update(U, backend)
        objective = 0.5 * shift * backend.squared_distance(X, U)
        objective += sum(side.energy() for side in sides)
        rows, columns = (side.operator(backend, backend.dtype(X)) for side in sides)
        system = SylvesterSystem(X, shift, rows, columns, backend, workspace)
        solution = solver.solve(system, U)
        U = solution.U
        if gaps is not None:
            X[gaps] = U[gaps]
        record = _record(len(history), objective, sides, solution, started)
        history.append(record)
        report(record)
        if schedule.step(abs(previous - objective), sides):
            return Representation(U, history, True)
        previous = objective
    return Representation(U, history, False)


def _record(
    index: int, objective: float, sides: tuple[Side, Side], solution: Solution, started: float
) -> Record:
    rows, columns = sides
    return {
        "iteration": index + 1,
        "objective": objective,
        "alpha": rows.strength,
        "beta": columns.strength,
        "mu_rows": rows.mu,
        "mu_columns": columns.mu,
        "solver": solution.solver,
        "solver_iterations": solution.iterations,
        "residual": solution.residual,
        "seconds": time.perf_counter() - started,
    }
