"""The alternating loop: line process, system, solve, schedule (Algorithm 1, lines 3-8)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

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


@dataclass(frozen=True)
class LoopState:
    """Where the loop stands after an iteration: enough to go on exactly as it would have.

    Parameters
    ----------
    U : ndarray or ChunkedMatrix
        The representation, a copy of its own.
    history : list of dict
        One record an iteration.
    objective : float
        Of the last iteration.
    mu, strength : tuple of float
        Of rows and of columns, as the next iteration uses them.
    settled : bool
        Whether the schedule has stopped the loop.
    """

    U: Any
    history: list[Record]
    objective: float
    mu: tuple[float, float]
    strength: tuple[float, float]
    settled: bool


class Bookmark(Protocol):
    """Keeps the place in the loop, for a run that may be stopped.

    `start` is where an earlier run with the same data and parameters was stopped.
    """

    start: LoopState | None

    def keep(self, state: LoopState) -> None:
        """Take the state after an iteration."""


def learn_representation(
    X: Any,
    sides: tuple[Side, Side],
    *,
    shift: float,
    schedule: Schedule,
    solver: Solver,
    backend: Backend,
    max_iter: int,
    report: Callable[[Record], object],
    gaps: Any = None,
    bookmark: Bookmark | None = None,
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
        Called with each iteration's record; the loop ends where it returns True.
    gaps : array of bool, optional
        Which cells are missing, on the back end; None for none.
    bookmark : Bookmark, optional
        Knows where an earlier run stopped, and is told where this one stands.

    Returns
    -------
    Representation
    """
    U, history, previous, settled = _begin(X, sides, backend, bookmark)
    workspace = Workspace()
    if gaps is not None:
        X = backend.copy(X)
        X[gaps] = U[gaps]
    while not settled and len(history) < max_iter:
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
        settled = schedule.step(len(history), abs(previous - objective), sides)
        previous = objective
        if bookmark is not None:
            bookmark.keep(_state(U, history, objective, sides, settled, backend))
        if report(record):
            break
    return Representation(U, history, settled)


def _begin(
    X: Any, sides: tuple[Side, Side], backend: Backend, bookmark: Bookmark | None
) -> tuple[Any, list[Record], float, bool]:
    start = None if bookmark is None else bookmark.start
    if start is None:
        return backend.copy(X), [], 0.0, False
    for side, mu, strength in zip(sides, start.mu, start.strength, strict=True):
        side.mu, side.strength = mu, strength
    # A copy: solvers may overwrite it.
    U = backend.copy(backend.asarray(start.U))
    return U, list(start.history), start.objective, start.settled


def _state(
    U: Any,
    history: list[Record],
    objective: float,
    sides: tuple[Side, Side],
    settled: bool,
    backend: Backend,
) -> LoopState:
    rows, columns = sides
    return LoopState(
        U=backend.snapshot(U),
        history=list(history),
        objective=objective,
        mu=(rows.mu, columns.mu),
        strength=(rows.strength, columns.strength),
        settled=settled,
    )


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
