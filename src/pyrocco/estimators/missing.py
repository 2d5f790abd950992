"""Missing cells (NaN): what is known without them, and what stands in their place."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pyrocco.assign.assignment import SideLabels
from pyrocco.backends import Backend, Chunked, is_dask_array
from pyrocco.estimators.blocks import block_means
from pyrocco.estimators.deferred import refuse_dask
from pyrocco.graph import Graph

_ROUNDS = 5
# Positions that a warning lists before it breaks off.
_NAMED = 10


def has_gaps(X: Any) -> bool:
    """Whether a cell is missing.

    Examples
    --------
    >>> import numpy as np
    >>> has_gaps(np.array([[1.0, np.nan]])), has_gaps(np.eye(2))
    (True, False)
    """
    if isinstance(X, Chunked):
        return False  # refused on the way in
    return bool(np.isnan(X.data if sparse.issparse(X) else X).any())


def observe(X: Any, variant: str) -> tuple[Any, Observed]:
    """Leave out rows and columns with nothing but missing cells.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The data. A sparse matrix with missing cells becomes dense.
    variant : {"refined", "paper"}
        The paper's knows no missing cells.

    Returns
    -------
    X : ndarray or CSR matrix
        What is left.
    observed : Observed
        Where it was.

    Examples
    --------
    >>> import numpy as np
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     X, observed = observe(np.array([[np.nan, np.nan], [2.0, 3.0]]), "refined")
    >>> X.tolist(), observed.rows.tolist()
    ([[2.0, 3.0]], [1])
    """
    if not has_gaps(X):
        return X, Observed(X.shape, *map(np.arange, X.shape))
    if variant == "paper":
        raise ValueError(
            "X contains NaN, and the method of the paper knows no missing cells: use "
            "variant='refined', or fill them in."
        )
    X = X.toarray() if sparse.issparse(X) else X
    observed = Observed.of(X)
    if not len(observed.rows):
        raise ValueError("Every cell of X is missing (NaN); at least one must be a number.")
    observed.warn()
    return X if observed.is_all else observed.cut(X), observed


def first_filling(X: NDArray[Any]) -> NDArray[Any]:
    """Fill missing cells by a level for every row plus one for every column.

    Half of it starts from the rows and half from the columns, so that neither side leads.

    Parameters
    ----------
    X : ndarray
        The data, with a number in every row and every column.

    Returns
    -------
    ndarray
        Observed cells as they are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.add.outer([0.0, 1.0, 2.0], [0.0, 10.0, 20.0])
    >>> X[1, 1] = np.nan
    >>> first_filling(X)[1].round(1).tolist()
    [1.0, 11.0, 21.0]
    """
    gaps = np.isnan(X)
    zeroed, weights = np.where(gaps, 0, X), (~gaps).astype(X.dtype)
    expected = _levels(zeroed, weights) + _levels(zeroed.T, weights.T).T
    return np.where(gaps, 0.5 * expected, X).astype(X.dtype)


def _levels(X: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Means of rows, then of what they leave in columns, and so on."""
    row_counts, column_counts = weights.sum(axis=1), weights.sum(axis=0)
    row_sums, column_sums = X.sum(axis=1), X.sum(axis=0)
    columns = np.zeros_like(column_sums)
    for _ in range(_ROUNDS):
        rows = (row_sums - weights @ columns) / row_counts
        columns = (column_sums - rows @ weights) / column_counts
    return np.asarray(np.add.outer(rows, columns))


@dataclass(frozen=True)
class Observed:
    """The rows and the columns of a matrix in which at least one cell is not missing.

    Nothing can be told of the others. They take part in nothing; in the end they get the
    label of the largest cluster, its share as confidence, and means in the representation.

    Parameters
    ----------
    shape : pair of int
        Shape of the whole matrix.
    rows, columns : ndarray of int
        Positions.

    Examples
    --------
    >>> import numpy as np
    >>> Observed.of(np.array([[np.nan, np.nan], [np.nan, 3.0]]))
    Observed(shape=(2, 2), rows=array([1]), columns=array([1]))
    """

    shape: tuple[int, int]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    @classmethod
    def of(cls, X: NDArray[Any]) -> Observed:
        """Look which rows and columns of `X` have anything."""
        there = ~np.isnan(X)
        rows, columns = (np.flatnonzero(there.any(axis=axis)) for axis in (1, 0))
        return cls((X.shape[0], X.shape[1]), rows, columns)

    @property
    def is_all(self) -> bool:
        """Whether no row and no column is empty."""
        return (len(self.rows), len(self.columns)) == self.shape

    def warn(self) -> None:
        """Say which rows and columns are empty."""
        sides = ("row", self.rows, self.shape[0]), ("column", self.columns, self.shape[1])
        for side, kept, size in sides:
            empty = np.setdiff1d(np.arange(size), kept)
            if len(empty):
                warnings.warn(_about_empty(side, empty), UserWarning, stacklevel=4)

    def cut(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rows and columns that have anything."""
        return np.ascontiguousarray(X[np.ix_(self.rows, self.columns)])

    def restore(self, fitted: Any, backend: Backend) -> Any:
        """Bring all that a fit of the part found to the shape of the whole."""
        if self.is_all:
            return fitted
        rows, columns = self._axes
        found, learned = fitted.found, fitted.learned
        U = backend.asarray(self._with_means(backend.to_numpy(learned.U)))
        return replace(
            fitted,
            X=self._with_gaps(fitted.X),
            graphs=tuple(map(_spread_graph, fitted.graphs, *zip(rows, columns, strict=True))),
            learned=replace(learned, U=U),
            found=replace(
                found,
                rows=_spread_labels(found.rows, *rows),
                columns=_spread_labels(found.columns, *columns),
            ),
            weights=None if fitted.weights is None else self._with_gaps(fitted.weights),
        )

    @property
    def _axes(self) -> tuple[tuple[NDArray[np.intp], int], tuple[NDArray[np.intp], int]]:
        return (self.rows, self.shape[0]), (self.columns, self.shape[1])

    def _with_gaps(self, part: NDArray[Any]) -> NDArray[Any]:
        whole = np.full(self.shape, np.nan, dtype=part.dtype)
        whole[np.ix_(self.rows, self.columns)] = part
        return whole

    def _with_means(self, part: NDArray[Any]) -> NDArray[Any]:
        whole = np.full(self.shape, part.mean(), dtype=part.dtype)
        whole[self.rows] = part.mean(axis=1, keepdims=True)
        whole[:, self.columns] = part.mean(axis=0)
        whole[np.ix_(self.rows, self.columns)] = part
        return whole


def _spread_graph(graph: Graph, kept: NDArray[np.intp], size: int) -> Graph:
    return replace(graph, n_nodes=size, heads=kept[graph.heads], tails=kept[graph.tails])


def _spread_labels(side: SideLabels, kept: NDArray[np.intp], size: int) -> SideLabels:
    labels = np.zeros(size, dtype=np.intp)
    confidence = np.full(size, np.mean(side.labels == 0))
    labels[kept], confidence[kept] = side.labels, side.confidence
    return replace(side, labels=labels, confidence=confidence)


def _about_empty(side: str, empty: NDArray[np.intp]) -> str:
    places = ", ".join(map(str, empty[:_NAMED])) + (", ..." if len(empty) > _NAMED else "")
    one = len(empty) == 1
    return (
        f"Every cell of {len(empty)} {side}{'' if one else 's'} is missing (counted from 0: "
        f"{places}). Nothing can be told of {'it' if one else 'them'}: the label is that of the "
        f"largest cluster. Better leave such {side}s out."
    )


class ImputeMixin:
    """Filling missing cells from the representation."""

    representation_: NDArray[Any]
    row_labels_: NDArray[np.intp]
    column_labels_: NDArray[np.intp]
    cell_weights_: Any

    def impute(self, X: Any) -> Any:
        """Fill the missing cells of the matrix that was fitted.

        A cell gets what the representation says, plus what the other cells of its block are
        above the representation on average: that is as smooth, and a little flat.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The matrix of `fit`; NaN marks missing cells.

        Returns
        -------
        ndarray or DataFrame
            A copy, dense, without missing cells. All others are as they were.

        Examples
        --------
        >>> import numpy as np
        >>> from pyrocco import ROCCO
        >>> X = np.kron(np.eye(2), np.full((8, 8), 6.0))
        >>> X += np.random.default_rng(0).random(X.shape)
        >>> X[1, 2] = np.nan
        >>> filled = ROCCO().fit(X).impute(X)
        >>> bool(5.5 < filled[1, 2] < 7.5), bool(np.isnan(X[1, 2]))
        (True, True)
        """
        check_is_fitted(self)
        if is_dask_array(self.representation_):
            refuse_dask()
        if np.shape(X) != self.representation_.shape:
            raise ValueError(
                f"impute fills the matrix that was fitted, of shape "
                f"{self.representation_.shape}; got shape {np.shape(X)}."
            )
        cells = np.array(X.toarray() if sparse.issparse(X) else X, dtype=float)
        filled = np.where(np.isnan(cells), self._expected(cells), cells)
        if hasattr(X, "columns") and hasattr(X, "index"):
            return type(X)(filled, index=X.index, columns=X.columns)
        return filled.astype(np.result_type(getattr(X, "dtype", float), np.float32), copy=False)

    def _expected(self, X: NDArray[Any]) -> NDArray[Any]:
        rest = X - self.representation_
        if self.cell_weights_ is not None and not sparse.issparse(self.cell_weights_):
            rest = rest * self.cell_weights_
        rows, columns = self.row_labels_, self.column_labels_
        means = block_means(rest, rows, columns, np.zeros_like(rest))
        return np.asarray(self.representation_ + means[rows][:, columns])
