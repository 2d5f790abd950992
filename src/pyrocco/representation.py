"""Learn the representation U: the loop of Algorithm 1, lines 3-8."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pyrocco._typing import Array, DeviceArray
from pyrocco.backends import Backend, Workspace
from pyrocco.io import fields
from pyrocco.model import Schedule, Side, SylvesterSystem
from pyrocco.solvers import Solution, Solver

Record = dict[str, Any]

# What a file must hold for the records of the iterations.
HISTORY_FIELD = fields.ListOf(
    fields.Fields(
        iteration=fields.Integer(least=1),
        objective=fields.Number(),
        alpha=fields.Number(),
        beta=fields.Number(),
        mu_rows=fields.Number(),
        mu_columns=fields.Number(),
        solver=fields.Text(),
        solver_iterations=fields.Integer(least=0),
        residual=fields.Number(),
        seconds=fields.Number(),
    )
)


@dataclass(frozen=True)
class Representation:
    """Result of the loop."""

    U: Any  # on the back end
    history: list[Record]  # one record for each iteration
    converged: bool  # whether the schedule stopped the loop before `max_iter` did


@dataclass(frozen=True)
class LoopState:
    """State of the loop after an iteration, from which it can be continued exactly."""

    U: Any  # a copy
    history: list[Record]  # one record for each iteration
    objective: float  # of the last iteration
    mu: tuple[float, float]  # of rows and of columns, for the next iteration, like the strengths
    strength: tuple[float, float]
    settled: bool  # whether the schedule has stopped the loop


class LoopCheckpoint(Protocol):
    """Stores the state of the loop, so that an interrupted run can be continued.

    `start` is the state in which an earlier run with the same data and parameters stopped.
    """

    start: LoopState | None

    def keep(self, state: LoopState) -> None:
        """Store the state after an iteration."""


def learn_representation(
    X: DeviceArray,
    sides: tuple[Side, Side],
    *,
    shift: float,
    schedule: Schedule,
    solver: Solver,
    backend: Backend,
    max_iter: int,
    report: Callable[[Record], object],
    missing: DeviceArray | None = None,
    checkpoint: LoopCheckpoint | None = None,
) -> Representation:
    """Minimise shift/2 ||X - U||^2 plus the energies of both sides (rows, columns).

    The shift is 2 for ROCCO (Eq. 4) and 1 for RCC (Eq. 2). Missing values have no term in the
    objective: each iteration sets them to the values of the last U, which lowers the objective
    over the other cells (majorisation). `X` has an initial guess in their place, `missing` is
    their mask. `report` is called with the record of each iteration and returns True to stop.
    """
    start = None if checkpoint is None else checkpoint.start
    U, history, previous, settled = _begin(X, sides, backend, start)
    workspace = Workspace()
    if missing is not None:
        X = backend.copy(X)
        X[missing] = U[missing]
    while not settled and len(history) < max_iter:  # line 3
        started, objective = time.perf_counter(), 0.0
        if schedule.needs_objective:
            objective = _updated(X, U, sides, shift, backend)  # line 4
        P, Q = (side.operator(backend, backend.dtype(X)) for side in sides)  # line 5: A, B
        system = SylvesterSystem(X, shift, P, Q, backend, workspace)
        solution = solver.solve(system, U)  # line 6: Eq. 11
        U = solution.U
        if not schedule.needs_objective:
            objective = _objective_of_data(X, sides, solution, shift, backend)
        if missing is not None:
            X[missing] = U[missing]
        record = _record(len(history), objective, sides, solution, started)
        history.append(record)
        settled = schedule.step(len(history), abs(previous - objective), sides)  # line 7
        previous = objective
        if checkpoint is not None:
            checkpoint.keep(_state(U, history, objective, sides, settled, backend))
        if report(record):
            break
    return Representation(U, history, settled)


def _begin(
    X: DeviceArray, sides: tuple[Side, Side], backend: Backend, start: LoopState | None
) -> tuple[Any, list[Record], float, bool]:
    """Return U, history, objective and whether the loop has stopped, at `start`."""
    if start is None:
        return backend.copy(X), [], 0.0, False
    for side, mu, strength in zip(sides, start.mu, start.strength, strict=True):
        side.mu, side.strength = mu, strength
    # Solvers may overwrite U.
    U = backend.copy(backend.asarray(start.U))
    return U, list(start.history), start.objective, start.settled


def _updated(
    X: DeviceArray, U: DeviceArray, sides: tuple[Side, Side], shift: float, backend: Backend
) -> float:
    """Set the line process of both sides (Eq. 7) and return the objective."""
    for side in sides:
        side.update(U, backend)
    distance = backend.squared_distance(X, U)
    return 0.5 * shift * distance + sum(side.energy() for side in sides)


def _objective_of_data(
    X: DeviceArray, sides: tuple[Side, Side], solution: Solution, shift: float, backend: Backend
) -> float:
    """Return the objective at U = X, from where a single solve starts, in the convex limit.

    Nothing but the history contains it. If the solver has computed what is needed, no lengths of
    edges are: for rows in chunks, they would need an exchange of the whole matrix.
    """
    if solution.start_product is None:
        return _updated(X, X, sides, shift, backend)
    return 0.5 * (solution.start_product - shift * backend.squared_norm(X))


def _state(
    U: Array,
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
