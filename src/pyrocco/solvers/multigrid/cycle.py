"""One pass through the levels of combinatorial multigrid."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pyrocco.backends.kernels import multigrid as kernels
from pyrocco.solvers.multigrid.hierarchy import Array, Hierarchy, Level


def cycle(hierarchy: Hierarchy, B: Array, shifts: Array, smoothing_steps: int) -> Array:
    """Approximate the solutions for the columns of `B`: linear, symmetric, positive definite.

    Jacobi at half weight never overshoots on a diagonally dominant matrix, so that the
    eigenvalues of the cycle times the matrix lie in (0, 1] whatever the groups are, and
    repeated visits keep them there.

    Parameters
    ----------
    hierarchy : Hierarchy
        The levels.
    B : ndarray of shape (n, k)
        Right-hand sides.
    shifts : ndarray of shape (k,)
        What is added to the diagonal, for each column.
    smoothing_steps : int
        Jacobi steps before and after the correction from the next level.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from pyrocco.solvers.multigrid.hierarchy import build_hierarchy
    >>> hierarchy = build_hierarchy(sparse.csr_array(np.array([[2.0, -1.0], [-1.0, 2.0]])))
    >>> cycle(hierarchy, np.array([[3.0], [0.0]]), np.zeros(1), 1).round(3).tolist()
    [[2.0], [1.0]]
    """
    return _visit(hierarchy, 0, B, shifts, smoothing_steps)


def _visit(hierarchy: Hierarchy, depth: int, B: Array, shifts: Array, steps: int) -> Array:
    if depth == len(hierarchy.levels):
        return hierarchy.last.solve(B, shifts)
    level = hierarchy.levels[depth]
    weight = _half_inverse_diagonal(level, shifts)
    X = weight * B  # the first step, from zero
    for _ in range(steps - 1):
        _smooth(level, B, X, shifts, weight)
    coarse = kernels.restrict(level.groups, level.n_groups, _residual(level, B, X, shifts))
    kernels.prolong(level.groups, _correction(hierarchy, depth, coarse, shifts, steps), X)
    for _ in range(steps):
        _smooth(level, B, X, shifts, weight)
    return X


def _correction(hierarchy: Hierarchy, depth: int, B: Array, shifts: Array, steps: int) -> Array:
    X = _visit(hierarchy, depth + 1, B, shifts, steps)
    for _ in range(hierarchy.levels[depth].repeats - 1):
        residual = _residual(hierarchy.levels[depth + 1], B, X, shifts)
        X += _visit(hierarchy, depth + 1, residual, shifts, steps)
    return X


def apply(matrix: sparse.csr_array, mass: Array, X: Array, shifts: Array) -> Array:
    """Multiply every column of `X` by ``matrix + shift diag(mass)`` with its own shift.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> matrix = sparse.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> apply(matrix, np.ones(2), np.ones((2, 2)), np.array([0.0, 3.0])).tolist()
    [[0.0, 3.0], [0.0, 3.0]]
    """
    if X.shape[1] == 1:
        # The kernels' relaxed arithmetic would gather a single vector four times slower.
        image: Array = matrix @ X
        image += shifts * mass[:, None] * X
    else:
        image = kernels.apply(matrix.indptr, matrix.indices, matrix.data, mass, shifts, X)
    return image


def _residual(level: Level, B: Array, X: Array, shifts: Array) -> Array:
    image = apply(level.matrix, level.mass, X, shifts)
    return np.subtract(B, image, out=image)


def _smooth(level: Level, B: Array, X: Array, shifts: Array, weight: Array) -> None:
    step = _residual(level, B, X, shifts)
    step *= weight
    X += step


def _half_inverse_diagonal(level: Level, shifts: Array) -> Array:
    diagonal = level.diagonal[:, None] + level.mass[:, None] * shifts
    # A node without edge and without weight of its own has an empty row: leave it at zero.
    return np.divide(0.5, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
