"""The levels of combinatorial multigrid, as data.

Follows Koutis, Miller and Tolliver, "Combinatorial preconditioners and multilevel solvers
for problems in computer vision and image processing", CVIU 115 (2011), below "the paper".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels import multigrid as kernels

Array = NDArray[np.float64]

# The eigenvectors of the last level cost no more than the grouping of the first.
_LAST_NODES = 256
# A node with less than this share of its weight in the forest leaves its group.
_SHARE = 0.125
# What rounding leaves of a row sum that should be zero, relative to the diagonal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Level:
    """The matrices ``matrix + shift diag(mass)``, and the groups the next level is made of.

    Parameters
    ----------
    matrix : csr_array
        Symmetric, diagonally dominant, no positive entry off the diagonal.
    diagonal : ndarray
        Its diagonal.
    mass : ndarray
        Number of nodes of the first level in every node of this one.
    groups : ndarray of int
        Node of the next level that every node belongs to; `n_groups` for the ground.
    n_groups : int
        Number of nodes of the next level.
    repeats : int
        Visits to the next level in each visit to this one.
    """

    matrix: sparse.csr_array
    diagonal: Array
    mass: Array
    groups: NDArray[np.int64]
    n_groups: int
    repeats: int


@dataclass(frozen=True)
class LastLevel:
    """The eigenvectors of the last matrix in the metric of its masses: any shift is direct.

    Parameters
    ----------
    vectors : ndarray
        ``vectors.T @ diag(mass) @ vectors`` is the identity.
    values : ndarray
        ``vectors.T @ matrix @ vectors``, a diagonal; exactly zero where singular.
    """

    vectors: Array
    values: Array

    def solve(self, B: Array, shifts: Array) -> Array:
        """Solve for every column with its shift; least squares where singular."""
        values = self.values[:, None] + shifts
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
        solution: Array = self.vectors @ (inverse * (self.vectors.T @ B))
        return solution


@dataclass(frozen=True)
class Hierarchy:
    """Levels from the finest to the coarsest, and the one that is solved directly."""

    levels: tuple[Level, ...]
    last: LastLevel

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of nodes of every level."""
        return (*(len(level.mass) for level in self.levels), len(self.last.values))


def build_hierarchy(matrix: sparse.csr_array) -> Hierarchy:
    """Group the nodes of `matrix`, and the groups, until few enough are left.

    Parameters
    ----------
    matrix : csr_array of float64
        Symmetric, diagonally dominant, no positive entry off the diagonal.

    Returns
    -------
    Hierarchy

    Examples
    --------
    >>> from scipy import sparse
    >>> path = sparse.diags_array([[-1.0] * 899, [2.0] * 900, [-1.0] * 899], offsets=[-1, 0, 1])
    >>> build_hierarchy(path.tocsr()).sizes
    (900, 300, 100)
    """
    levels: list[Level] = []
    mass = np.ones(matrix.shape[0])
    while len(mass) > _LAST_NODES:
        diagonal = matrix.diagonal()
        groups, n_groups = _groups(matrix, diagonal)
        quotient = _quotient(matrix, groups, n_groups)
        repeats = _repeats(matrix, quotient)
        levels.append(Level(matrix, diagonal, mass, groups, n_groups, repeats))
        mass = kernels.restrict(groups, n_groups, mass[:, None])[:, 0]
        matrix = quotient
    return Hierarchy(tuple(levels), _last_level(matrix, mass))


def _groups(matrix: sparse.csr_array, diagonal: Array) -> tuple[NDArray[np.int64], int]:
    # The paper's Decompose-Graph. Its steps 2 and 3: the forest of heaviest edges, without
    # the edges of nodes that it ties too weakly to their group.
    excess = matrix.sum(axis=1)
    excess[excess < _ROUNDING * diagonal] = 0.0
    to, weights = kernels.heaviest_edges(matrix.indptr, matrix.indices, matrix.data, excess)
    kept = to.copy()
    kernels.detach(kept, weights, diagonal, _SHARE)
    # Its step 4: trees of constant conductance.
    groups, n_groups = kernels.aggregate_forest(kept)
    # Where most nodes come loose the graph is an expander: Jacobi does well there, and
    # shrinking fast is worth more than the quality of the groups.
    if n_groups > len(to) // 2:
        groups, n_groups = kernels.aggregate_forest(to)
    return groups, int(n_groups)


def _quotient(matrix: sparse.csr_array, groups: NDArray[Any], n_groups: int) -> sparse.csr_array:
    # Renaming the columns is the product with the indicator matrix of the groups. Edges to
    # the ground's group stay on the diagonal only.
    n = len(groups)
    renamed = sparse.csr_array(
        (matrix.data, groups[matrix.indices].astype(matrix.indices.dtype), matrix.indptr),
        shape=(n, n_groups + 1),
    )
    members = sparse.csr_array((np.ones(n), (groups, np.arange(n))), shape=(n_groups + 1, n))
    return (members @ renamed)[:n_groups, :n_groups]


def _repeats(matrix: sparse.csr_array, quotient: sparse.csr_array) -> int:
    # The paper's t_i: as many visits to the next level as cost one to this one, but a third
    # was never worth its cost in trials. The last level is exact: a second visit would find
    # nothing to correct.
    if quotient.shape[0] <= _LAST_NODES:
        return 1
    return 2 if matrix.nnz >= 3 * quotient.nnz else 1


def _last_level(matrix: sparse.csr_array, mass: Array) -> LastLevel:
    scale = 1.0 / np.sqrt(mass)
    values, vectors = np.linalg.eigh(scale[:, None] * matrix.toarray() * scale)
    values[values < _ROUNDING * values.max(initial=0.0)] = 0.0
    return LastLevel(scale[:, None] * vectors, values)
