"""Simple facts about the values of a matrix: how many are zero or missing, and their scale."""

from __future__ import annotations

import numpy as np

from pyrocco._typing import Dense, Matrix, is_sparse, stored_values
from pyrocco.backends import ChunkedMatrix, over_rows

# The paper does not give the threshold of its sparsity test. In its text data 2-4 % of the
# cells are not zero, in its gene expression data all of them (see docs/how-it-works.md).
SPARSE_DENSITY = 0.5


def to_dense(X: Matrix) -> Dense:
    """Return the matrix as an array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def transpose(X: Matrix) -> Matrix:
    """Return the transpose; that of a CSR matrix is a CSR matrix too."""
    return X.T.tocsr() if is_sparse(X) else X.T


def has_missing(X: Matrix) -> bool:
    """Whether a value is missing (NaN).

    Examples
    --------
    >>> has_missing(np.array([[1.0, np.nan]])), has_missing(np.eye(2))
    (True, False)
    """
    return bool(np.isnan(stored_values(X)).any())


def density(X: Matrix | ChunkedMatrix) -> float:
    """Return the share of nonzero cells among those that are not missing.

    Examples
    --------
    >>> density(np.array([[0.0, 1.0], [0.0, 0.0]])), density(np.array([[0.0, 1.0, np.nan]]))
    (0.25, 0.5)
    """
    nonzero, missing = np.sum(over_rows(_count_values, X), axis=0)
    return float(nonzero / max(X.shape[0] * X.shape[1] - missing, 1))


def _count_values(X: Matrix) -> tuple[int, int]:
    """Count the values that are neither zero nor missing, and the missing ones."""
    values = stored_values(X)
    missing = int(np.count_nonzero(np.isnan(values)))
    return int(np.count_nonzero(values)) - missing, missing


def is_mostly_zero(X: Matrix | ChunkedMatrix) -> bool:
    """Apply the paper's sparsity test: it looks at the values, not at the storage format.

    Examples
    --------
    >>> is_mostly_zero(np.eye(3)), is_mostly_zero(np.ones((3, 3)))
    (True, False)
    """
    return density(X) < SPARSE_DENSITY


def resolve_metric(metric: str, mostly_zero: bool) -> str:
    """Turn ``"auto"`` into cosine for mostly-zero data and Euclidean otherwise.

    Examples
    --------
    >>> resolve_metric("auto", True), resolve_metric("manhattan", True)
    ('cosine', 'manhattan')
    """
    if metric != "auto":
        return metric
    return "cosine" if mostly_zero else "euclidean"


def root_mean_square(X: Matrix) -> float:
    """Return the root mean square of the values that are not missing, or 1 if all are zero.

    Examples
    --------
    >>> root_mean_square(np.array([[3.0, -3.0]])), root_mean_square(np.zeros((2, 2)))
    (3.0, 1.0)
    """
    values = stored_values(X).ravel()
    n_cells = X.shape[0] * X.shape[1]
    if np.isnan(values).any():
        values = values[~np.isnan(values)]
        n_cells = len(values)
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    if largest == 0:
        return 1.0
    # Squares of very large or very small numbers would leave the range of floats.
    unit = largest if not 1e-100 < largest < 1e100 else 1.0
    scaled = values if unit == 1.0 else values / unit
    total = float(np.einsum("i,i->", scaled, scaled, dtype=np.float64))
    return unit * float(np.sqrt(total / n_cells))
