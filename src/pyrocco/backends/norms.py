"""Largest eigenvalues and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

# Below this size a dense eigenvalue routine is both faster and safer than Lanczos.
_DENSE_SIDE = 32
# Above this one, digits beyond the seventh cost more than a solve and change no label: a
# looser tolerance, asked for after every few Lanczos vectors.
_LARGE_SIDE = 50_000
_LARGE_TOLERANCE, _LARGE_VECTORS = 1e-3, 8


def largest_eigenvalue(matrix: Any, start: NDArray[np.float64]) -> float:
    """Largest eigenvalue of a symmetric positive matrix by Lanczos from a given start.

    Examples
    --------
    >>> import numpy as np
    >>> round(largest_eigenvalue(np.diag(np.arange(50.0)), np.ones(50)), 4)
    49.0
    """
    large = len(start) > _LARGE_SIDE
    tol, vectors = (_LARGE_TOLERANCE, _LARGE_VECTORS) if large else (1e-5, None)
    value = eigsh(matrix, k=1, v0=start, tol=tol, ncv=vectors, return_eigenvectors=False)
    return float(value[0])


def matrix_norm(X: Any) -> float:
    """Spectral norm (largest singular value) of a dense or sparse matrix.

    Examples
    --------
    >>> import numpy as np
    >>> matrix_norm(np.diag([3.0, 4.0]))
    4.0
    """
    if min(X.shape) <= _DENSE_SIDE:
        short = X if X.shape[0] <= X.shape[1] else X.T
        gram = short @ short.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        return float(np.sqrt(max(np.linalg.eigvalsh(gram.astype(np.float64))[-1], 0.0)))
    operator = LinearOperator(
        (X.shape[1], X.shape[1]), matvec=lambda v: X.T @ (X @ v), dtype=np.float64
    )
    sums = np.asarray(np.abs(X).sum(axis=0), dtype=np.float64).ravel()
    return float(np.sqrt(largest_eigenvalue(operator, sums))) if sums.any() else 0.0
