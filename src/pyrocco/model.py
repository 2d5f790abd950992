"""The optimisation problem: penalty, sides, linear system, and schedules of the iterations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from pyrocco._typing import Array, DeviceArray, Floats
from pyrocco.backends import Backend, Operator, Workspace
from pyrocco.graph import Graph, Laplacian

__all__ = [
    "EveryFour",
    "LengthScales",
    "Schedule",
    "Side",
    "SmoothOnce",
    "SmoothUntilStill",
    "SylvesterSystem",
    "UpToFour",
    "geman_mcclure",
    "length_scales",
    "line_process",
]


def geman_mcclure(squared: Floats, mu: float) -> Floats:
    """Compute the Geman-McClure penalty mu y^2 / (mu + y^2), Eq. 3; y^2 itself for infinite mu."""
    return squared * _ratio(squared, mu)


def line_process(squared: Floats, mu: float) -> Floats:
    """Compute the line process (mu / (mu + y^2))^2, Eq. 7: edge weights between 0 and 1."""
    return _ratio(squared, mu) ** 2


def _ratio(squared: Floats, mu: float) -> Floats:
    """Compute mu / (mu + y^2)."""
    if np.isinf(mu):
        return np.ones_like(squared)
    # Edges between equal rows keep weight 1 even when mu underflows to zero.
    safe = np.where(squared > 0, squared, 1.0)
    return np.where(squared > 0, mu / (mu + safe), 1.0)


@dataclass(frozen=True)
class LengthScales:
    """Thresholds derived from the lengths of the edges of a graph in X."""

    mu: float  # initial mu: three times the largest squared length
    # Final threshold for mu: mean of the shortest 1 % of the lengths, at most 250 of them.
    delta: float
    epsilon: float  # as `delta`, without the limit of 250


def length_scales(squared: Floats, n_features: int) -> LengthScales:
    """Compute the thresholds of a graph as RCC's published program does.

    The program lengthens every edge slightly and treats near-duplicates as the longest edge,
    so that they cannot reduce the thresholds to zero. Both constants assume data of unit scale.
    """
    if not len(squared):
        return LengthScales(1.0, 1.0, 1.0)
    lengths = np.sqrt(squared + 1e-5 * n_features)
    lengths[lengths / math.sqrt(n_features) < 1e-2] = lengths.max()
    lengths.sort()
    percent = math.ceil(0.01 * len(lengths))
    return LengthScales(
        mu=3.0 * float(lengths[-1]) ** 2,
        delta=float(lengths[: min(percent, 250)].mean()),
        epsilon=float(lengths[:percent].mean()),
    )


@dataclass
class Side:
    """A graph, its line process and its strength (alpha for rows, beta for columns)."""

    graph: Graph
    axis: int  # 0 for rows, 1 for columns
    norm: float  # spectral norm of strength x Laplacian: ||X||_2 in Eq. 15
    mu: float = np.inf  # parameter of the penalty; infinite for the convex limit
    delta: float = 0.0  # threshold below which mu need not fall further
    strength: float = field(init=False)
    laplacian: Laplacian = field(init=False)
    _squared: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.laplacian = Laplacian(self.graph)
        self._squared = np.zeros(self.graph.n_edges)
        self.calibrate()

    def calibrate(self) -> None:
        """Set the strength from the current Laplacian: Eq. 15."""
        size = self.laplacian.spectral_norm()
        self.strength = self.norm / size if size > 0 else 0.0

    def update(self, U: Array, backend: Backend) -> None:
        """Set the line process from the representation: Eq. 7."""
        self._squared = backend.edge_lengths(U, self.graph.heads, self.graph.tails, self.axis)
        if np.isinf(self.mu):
            return  # all edges have weight 1
        self.laplacian.refresh(self.graph.weights * line_process(self._squared, self.mu))

    def energy(self) -> float:
        """Return the term of this side in the objective at the last update: Eq. 4."""
        penalty = geman_mcclure(self._squared, self.mu)
        return 0.5 * self.strength * float(self.graph.weights @ penalty)

    def operator(self, backend: Backend, dtype: DTypeLike) -> Operator:
        """Return strength times Laplacian on the back end."""
        return backend.operator(self.laplacian, self.strength, dtype)

    def sharpen(self) -> None:
        """Halve mu, down to half of delta."""
        self.mu = self.mu / 2 if self.mu >= self.delta else self.delta / 2

    @property
    def is_sharp(self) -> bool:
        """Whether mu has passed its threshold."""
        return np.isinf(self.mu) or self.mu < self.delta

    @property
    def is_sharpest(self) -> bool:
        """Whether mu has its last value, half of its threshold."""
        return np.isinf(self.mu) or self.mu <= self.delta / 2


@dataclass(frozen=True)
class SylvesterSystem:
    """shift U + P U + U Q = shift X, where P and Q are Laplacians times their strengths.

    ROCCO's Eq. 11, (I + P) U + U (I + Q) = 2 X, has shift 2. RCC's (I + P) U = X has shift 1
    and no edges among the columns.
    """

    X: DeviceArray  # the data, on the back end
    shift: float  # weight of the data
    rows: Operator  # P
    columns: Operator  # Q
    backend: Backend
    # Arrays that all systems of a fit share.
    workspace: Workspace = field(default_factory=Workspace)


class Schedule(Protocol):
    """Updates both sides after an iteration and decides when to stop.

    `needs_objective` is False if `step` does not look at the change of the objective, and stops
    after the first iteration.
    """

    needs_objective: bool

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Update `sides` given the change of the objective; return True to stop."""


class SmoothOnce:
    """The convex limit: all edges have weight 1, so that one solve gives the solution."""

    needs_objective = False

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop."""
        return True


class SmoothUntilStill:
    """The convex limit with missing values, which follow U until the objective is stable."""

    needs_objective = True

    def __init__(self, tolerance: float):
        self.tolerance = tolerance

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop when the objective changes by no more than the tolerance."""
        return change <= self.tolerance


class EveryFour:
    """Algorithm 1: halve mu and recompute the strengths every four iterations.

    The paper does not define convergence. Here the loop ends with the continuation: after the four
    iterations in which mu of one of the graphs has its last value. With a `tolerance` it goes on,
    as RCC's program does, until both mu have passed their thresholds and the objective changes by
    less than that.
    """

    needs_objective = True

    def __init__(self, tolerance: float | None = None):
        self.tolerance = tolerance

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop, or halve mu after every fourth iteration."""
        # A side without edges has nothing to wait for.
        joined = [side for side in sides if side.graph.n_edges]
        full = iteration % 4 == 0
        if self.tolerance is None:
            settled = full and (not joined or any(side.is_sharpest for side in joined))
        else:
            settled = change < self.tolerance and all(side.is_sharp for side in joined)
        if full and not settled:
            _sharpen(sides)
        return settled


class UpToFour:
    """The schedule of RCC's program: `EveryFour`, with mu halved early on a stable objective."""

    needs_objective = True

    def __init__(self, tolerance: float = 0.1):
        self.tolerance = tolerance
        self._count = 0

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop, or halve mu after at most four iterations."""
        self._count += 1
        full = self._count == 4
        if change >= self.tolerance and not full:
            return False
        if all(side.is_sharp for side in sides) and not full:
            return True
        _sharpen(sides)
        self._count = 0
        return False


def _sharpen(sides: Sequence[Side]) -> None:
    for side in sides:
        side.sharpen()
        side.calibrate()
