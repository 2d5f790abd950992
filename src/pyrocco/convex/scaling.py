"""From a matrix in its own units to the problem that is solved, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.convex.problem import ConvexProblem
from pyrocco.convex.weights import gaussian_knn_graph

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScaledProblem:
    """A problem on (X - mean) / scale.

    Parameters
    ----------
    problem : ConvexProblem
        The problem that is solved.
    mean, scale : float
        What was taken off and divided by.
    """

    problem: ConvexProblem
    mean: float
    scale: float

    def restore(self, U: Matrix) -> Matrix:
        """Bring a representation to the units of X."""
        return U * self.scale + self.mean


def scaled_problem(
    X: Any, *, n_neighbors: int, phi: float, metric: str, standardize: bool
) -> ScaledProblem:
    """Set up the problem for `X`, centred and of unit Frobenius norm if so asked.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The data, NaN where missing.
    n_neighbors, phi, metric
        See `gaussian_knn_graph`.
    standardize : bool
        Whether to subtract the mean of the seen cells and divide by their norm after that.

    Returns
    -------
    ScaledProblem
        The problem and the way back.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.scaling import scaled_problem
    >>> X = np.array([[1.0, 1.0], [7.0, 7.0]])
    >>> options = {"n_neighbors": 1, "phi": 0.5, "metric": "euclidean"}
    >>> scaled = scaled_problem(X, standardize=True, **options)
    >>> scaled.mean, scaled.scale, scaled.problem.X.tolist()
    (4.0, 6.0, [[-0.5, -0.5], [0.5, 0.5]])
    """
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    seen = dense[~np.isnan(dense)]
    if not seen.size:
        raise ValueError("every cell of X is missing; at least one must be a number.")
    mean, scale = _centre_and_norm(seen) if standardize else (0.0, 1.0)
    # Distances do not feel the mean, so sparse data stays sparse for the graphs.
    source = sparse.csr_matrix(X, dtype=np.float64) if sparse.issparse(X) else dense
    graphs = (
        gaussian_knn_graph(side / scale, n_neighbors, phi, metric)
        for side in (source, _transposed(source))
    )
    return ScaledProblem(ConvexProblem((dense - mean) / scale, *graphs), mean, scale)


def _transposed(X: Any) -> Any:
    return X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)


def _centre_and_norm(seen: Matrix) -> tuple[float, float]:
    mean = float(seen.mean())
    centred = seen - mean
    largest = float(np.abs(centred).max())
    # Rounding alone is no signal: constant data keeps its zeros.
    if largest <= 1e-14 * abs(mean) or largest == 0.0:
        return mean, 1.0
    # Squares of very large or very small numbers would leave the range of floats.
    return mean, largest * float(np.linalg.norm(centred / largest))
