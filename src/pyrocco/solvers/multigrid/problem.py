"""The system of one iteration as SciPy matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends import Operator
from pyrocco.backends.kernels import multigrid as kernels
from pyrocco.model import SylvesterSystem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SylvesterProblem:
    """A U + U B = C in float64, with A and B symmetric and diagonally dominant.

    The system's shift goes in equal parts to both sides: A = I + P and B = I + Q in Eq. 11.

    Parameters
    ----------
    A, B : csr_array
        The sides, their diagonals stored and positive.
    C : ndarray
        The right-hand side.
    """

    A: sparse.csr_array
    B: sparse.csr_array
    C: Array

    @classmethod
    def of(cls, system: SylvesterSystem) -> SylvesterProblem:
        """Bring a system to the CPU.

        Examples
        --------
        >>> import numpy as np
        >>> from pyrocco.backends import NumpyBackend, Operator
        >>> from pyrocco.model import SylvesterSystem
        >>> none, one = np.empty(0, dtype=np.int64), np.zeros(1)
        >>> side = Operator(np.array([0, 0]), none, np.empty(0), one)
        >>> system = SylvesterSystem(np.ones((1, 1)), 2.0, side, side, NumpyBackend())
        >>> problem = SylvesterProblem.of(system)
        >>> problem.A.toarray().tolist(), problem.C.tolist()
        ([[1.0]], [[2.0]])
        """
        to_numpy = system.backend.to_numpy
        X = to_numpy(system.X)
        return cls(
            _side(Operator(*map(to_numpy, system.rows)), system.shift / 2),
            _side(Operator(*map(to_numpy, system.columns)), system.shift / 2),
            system.shift * X.astype(np.float64),
        )

    def transposed(self) -> SylvesterProblem:
        """Return the same equation for the transpose of U."""
        return SylvesterProblem(self.B, self.A, self.C.T)

    def relative_residual(self, U: Array) -> float:
        """Norm of the residual over the norm of the right-hand side; zero for zero data."""
        scale = float(np.linalg.norm(self.C))
        image = self.A @ U + (self.B @ U.T).T
        return float(np.linalg.norm(self.C - image)) / scale if scale > 0 else 0.0


def _side(operator: Operator, shift: float) -> sparse.csr_array:
    indptr, indices = np.asarray(operator.indptr), np.asarray(operator.indices)
    values = np.asarray(operator.values, dtype=np.float64)
    n = len(indptr) - 1
    adjacency = sparse.csr_array((values, indices, indptr), shape=(n, n))
    # Degrees rounded to float32 would not match their rows and spoil the dominance.
    degrees = np.asarray(adjacency.sum(axis=1))
    return sparse.csr_array(sparse.diags_array(degrees + shift) - adjacency)


def kronecker_sum(A: sparse.csr_array, B: sparse.csr_array) -> sparse.csr_array:
    """Return A (x) I + I (x) B, the matrix of the equation for U taken row by row.

    Several times faster than SciPy's, which goes through the two products.

    Parameters
    ----------
    A, B : csr_array
        Matrices that store their diagonals.

    Returns
    -------
    csr_array

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> edge = sparse.csr_array(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    >>> kronecker_sum(edge, sparse.csr_array(np.ones((1, 1)))).toarray().tolist()
    [[3.0, -1.0], [-1.0, 3.0]]
    """
    n, p = A.shape[0], B.shape[0]
    nnz = p * A.nnz + n * B.nnz - n * p
    index: Any = np.int32 if max(nnz, n * p) < 2**31 else np.int64
    indptr, indices = np.empty(n * p + 1, dtype=index), np.empty(nnz, dtype=index)
    values = np.empty(nnz)
    kernels.kronecker_sum(
        A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, indptr, indices, values
    )
    return sparse.csr_array((values, indices, indptr), shape=(n * p, n * p))
