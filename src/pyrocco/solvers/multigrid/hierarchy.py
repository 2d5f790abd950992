"""The levels of combinatorial multigrid.

Nodes are joined to aggregates, each of which is a node of the next level. The construction
follows Koutis, Miller and Tolliver, "Combinatorial preconditioners and multilevel solvers for
problems in computer vision and image processing", CVIU 115 (2011), called "the paper" below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco._typing import Floats
from pyrocco.backends import kernels

# At this size the eigenvectors of the last level cost no more than the first aggregation.
_LAST_NODES = 256
# A node with less than this share of its weight in the forest leaves its aggregate.
_SHARE = 0.125
# Rounding error of a row sum that should be zero, relative to the diagonal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Level:
    """The matrices ``matrix + shift diag(mass)`` of one level, and its aggregates."""

    matrix: sparse.csr_array  # symmetric, diagonally dominant, no positive entry off the diagonal
    diagonal: Floats
    mass: Floats  # number of nodes of the first level in each node of this one
    # Node of the next level that each node belongs to; `n_aggregates` for the ground.
    aggregates: NDArray[np.int64]
    n_aggregates: int  # number of nodes of the next level
    repeats: int  # number of visits to the next level in each visit to this one


@dataclass(frozen=True)
class LastLevel:
    """Eigenvectors of the last matrix in the metric of its masses, for a direct solution."""

    vectors: Floats  # ``vectors.T @ diag(mass) @ vectors`` is the identity
    values: Floats  # diagonal of ``vectors.T @ matrix @ vectors``; exactly zero where singular

    def solve(self, B: Floats, shifts: Floats) -> Floats:
        """Solve for each column with its shift; least squares where singular."""
        values = self.values[:, None] + shifts
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
        solution: Floats = self.vectors @ (inverse * (self.vectors.T @ B))
        return solution


@dataclass(frozen=True)
class Hierarchy:
    """Levels from the finest to the coarsest, and the last one, which is solved directly."""

    levels: tuple[Level, ...]
    last: LastLevel

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of nodes of each level."""
        return (*(len(level.mass) for level in self.levels), len(self.last.values))


def build_hierarchy(matrix: sparse.csr_array) -> Hierarchy:
    """Build levels of a diagonally dominant matrix by aggregation until few nodes are left."""
    levels: list[Level] = []
    mass = np.ones(matrix.shape[0])
    while len(mass) > _LAST_NODES:
        diagonal = matrix.diagonal()
        aggregates, count = _aggregate(matrix, diagonal)
        quotient = _quotient(matrix, aggregates, count)
        repeats = _repeats(matrix, quotient)
        levels.append(Level(matrix, diagonal, mass, aggregates, count, repeats))
        mass = kernels.multigrid.restrict(aggregates, count, mass[:, None])[:, 0]
        matrix = quotient
    return Hierarchy(tuple(levels), _last_level(matrix, mass))


def _aggregate(matrix: sparse.csr_array, diagonal: Floats) -> tuple[NDArray[np.int64], int]:
    """Return the aggregate of each node and their number: the paper's Decompose-Graph."""
    # Steps 2 and 3: the forest of heaviest edges, without edges that connect a node too weakly.
    excess = matrix.sum(axis=1)
    excess[excess < _ROUNDING * diagonal] = 0.0
    to, weights = kernels.multigrid.heaviest_edges(
        matrix.indptr, matrix.indices, matrix.data, excess
    )
    forest = to.copy()
    kernels.multigrid.detach(forest, weights, diagonal, _SHARE)
    # Step 4: trees of constant conductance.
    aggregates, count = kernels.multigrid.aggregate_forest(forest)
    # If most nodes are detached the graph is an expander. Jacobi steps work well there, and
    # small levels matter more than good aggregates.
    if count > len(to) // 2:
        aggregates, count = kernels.multigrid.aggregate_forest(to)
    return aggregates, int(count)


def _quotient(
    matrix: sparse.csr_array, aggregates: NDArray[np.int64], count: int
) -> sparse.csr_array:
    """Return the matrix of the next level."""
    # Renaming the columns is the product with the indicator matrix of the aggregates. Edges to
    # the aggregate of the ground remain on the diagonal only.
    n = len(aggregates)
    renamed = sparse.csr_array(
        (matrix.data, aggregates[matrix.indices].astype(matrix.indices.dtype), matrix.indptr),
        shape=(n, count + 1),
    )
    members = sparse.csr_array((np.ones(n), (aggregates, np.arange(n))), shape=(count + 1, n))
    return (members @ renamed)[:count, :count]


def _repeats(matrix: sparse.csr_array, quotient: sparse.csr_array) -> int:
    """Return the number of visits to the next level, t_i in the paper, limited to 2."""
    # In trials a third visit was never worth its cost. The last level is solved exactly.
    if quotient.shape[0] <= _LAST_NODES:
        return 1
    return 2 if matrix.nnz >= 3 * quotient.nnz else 1


def _last_level(matrix: sparse.csr_array, mass: Floats) -> LastLevel:
    scale = 1.0 / np.sqrt(mass)
    values, vectors = np.linalg.eigh(scale[:, None] * matrix.toarray() * scale)
    values[values < _ROUNDING * values.max(initial=0.0)] = 0.0
    return LastLevel(scale[:, None] * vectors, values)
