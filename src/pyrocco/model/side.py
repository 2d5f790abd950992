"""One side of the problem: the rows with their graph, or the columns with theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import Backend, Operator
from pyrocco.graph import Graph, Laplacian
from pyrocco.model.penalty import geman_mcclure, line_process


@dataclass(frozen=True)
class LengthScales:
    """What the lengths of a graph's edges in X set: where mu starts and where it may end.

    `mu` is three times the largest squared length; `delta` the mean of the shortest 1 % of
    the lengths (at most 250 of them); `epsilon` the same without that limit.
    """

    mu: float
    delta: float
    epsilon: float


def length_scales(squared: NDArray[np.float64], n_features: int) -> LengthScales:
    """Scales of a graph from its squared edge lengths, as in RCC's published program.

    It lengthens every edge a little and counts near-duplicates as the longest edge, so
    that they cannot drag the thresholds to zero. Both constants assume data of unit scale.

    Examples
    --------
    >>> import numpy as np
    >>> scales = length_scales(np.array([1.0, 4.0]), n_features=1)
    >>> round(scales.mu, 3), round(scales.delta, 3)
    (12.0, 1.0)
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
    """A graph, its line process and its strength (alpha for rows, beta for columns).

    Parameters
    ----------
    graph : Graph
        Edges among the rows or among the columns.
    axis : {0, 1}
        0 for rows, 1 for columns.
    norm : float
        Spectral norm that strength x Laplacian should have: ||X||_2 in Eq. 15.
    mu : float
        Convexity of the penalty; infinite for the convex limit.
    delta : float
        The length below which mu has done its work.
    """

    graph: Graph
    axis: int
    norm: float
    mu: float = np.inf
    delta: float = 0.0
    strength: float = field(init=False)
    laplacian: Laplacian = field(init=False)
    _squared: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.laplacian = Laplacian(self.graph)
        self._squared = np.zeros(self.graph.n_edges)
        self.calibrate()

    def calibrate(self) -> None:
        """Set the strength from the present Laplacian: Eq. 15."""
        size = self.laplacian.spectral_norm()
        self.strength = self.norm / size if size > 0 else 0.0

    def update(self, U: Any, backend: Backend) -> None:
        """Set the line process from the representation: Eq. 7."""
        self._squared = backend.edge_lengths(U, self.graph.heads, self.graph.tails, self.axis)
        if np.isinf(self.mu):
            return  # every edge has full trust whatever its length
        self.laplacian.refresh(self.graph.weights * line_process(self._squared, self.mu))

    def energy(self) -> float:
        """Its term of the objective at the last update: Eq. 4."""
        penalty = geman_mcclure(self._squared, self.mu)
        return 0.5 * self.strength * float(self.graph.weights @ penalty)

    def operator(self, backend: Backend, dtype: Any) -> Operator:
        """Strength times Laplacian, on the back end."""
        return backend.operator(self.laplacian, self.strength, dtype)

    def sharpen(self) -> None:
        """Halve mu, down to half of delta."""
        self.mu = self.mu / 2 if self.mu >= self.delta else self.delta / 2

    @property
    def is_sharp(self) -> bool:
        """Whether mu has passed its threshold."""
        return np.isinf(self.mu) or self.mu < self.delta
