"""Missing values (NaN): rows and columns without any values, and a first guess for the rest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from pyrocco._typing import Dense, Labels, Matrix
from pyrocco.assign.labels import SideLabels
from pyrocco.backends import Backend
from pyrocco.cells.values import to_dense
from pyrocco.fitting.result import Fit
from pyrocco.graph import Graph

_ROUNDS = 5
# Positions that a warning lists at most.
_LISTED = 10


def drop_empty(X: Matrix, given_rows: Labels | None = None) -> tuple[Dense, NonEmpty]:
    """Remove rows and columns in which every value is missing, with a warning.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Data with missing values. A sparse matrix becomes dense.
    given_rows : ndarray of int, optional
        The number of every row in the warning, if they are in another order than given.

    Returns
    -------
    X : ndarray
        The other rows and columns.
    non_empty : NonEmpty
        Which ones they are.

    Examples
    --------
    >>> with warnings.catch_warnings(action="ignore"):
    ...     X, non_empty = drop_empty(np.array([[np.nan, np.nan], [2.0, 3.0]]))
    >>> X.tolist(), non_empty.rows.tolist()
    ([[2.0, 3.0]], [1])
    """
    dense = to_dense(X)
    present = ~np.isnan(dense)
    rows, columns = (np.flatnonzero(present.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        raise ValueError("Every value of X is missing (NaN); at least one must be a number.")
    non_empty = NonEmpty((dense.shape[0], dense.shape[1]), rows, columns)
    non_empty.warn(np.arange(dense.shape[0]) if given_rows is None else given_rows)
    return non_empty.select(dense), non_empty


def first_guess(X: Dense) -> Dense:
    """Fill missing values with a level of their row plus a level of their column.

    The result is the mean of a guess that starts from the rows and one that starts from the
    columns, so that transposing X transposes the result.

    Parameters
    ----------
    X : ndarray
        Data with at least one value in every row and every column.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> X = np.add.outer([0.0, 1.0, 2.0], [0.0, 10.0, 20.0])
    >>> X[1, 1] = np.nan
    >>> first_guess(X)[1].round(1).tolist()
    [1.0, 11.0, 21.0]
    """
    missing = np.isnan(X)
    zeroed, weights = np.where(missing, 0, X), (~missing).astype(X.dtype)
    expected = _levels(zeroed, weights) + _levels(zeroed.T, weights.T).T
    return np.where(missing, 0.5 * expected, X).astype(X.dtype)


def _levels(X: Dense, weights: Dense) -> Dense:
    """Alternate between the means of rows and the means of columns of what remains."""
    row_counts, column_counts = weights.sum(axis=1), weights.sum(axis=0)
    row_sums, column_sums = X.sum(axis=1), X.sum(axis=0)
    columns = np.zeros_like(column_sums)
    for _ in range(_ROUNDS):
        rows = (row_sums - weights @ columns) / row_counts
        columns = (column_sums - rows @ weights) / column_counts
    return np.asarray(np.add.outer(rows, columns))


@dataclass(frozen=True)
class NonEmpty:
    """The rows and the columns of a matrix with at least one value.

    The others take no part in the fit. They get the label of the largest cluster, its share of
    the rows (or columns) as membership, and means in the representation.

    Parameters
    ----------
    shape : pair of int
        Shape of the whole matrix.
    rows, columns : ndarray of int
        Positions.
    """

    shape: tuple[int, int]
    rows: Labels
    columns: Labels

    @property
    def is_all(self) -> bool:
        """Whether no row and no column is empty."""
        return (len(self.rows), len(self.columns)) == self.shape

    def warn(self, given_rows: Labels) -> None:
        """Warn about empty rows and columns; `given_rows` are the numbers of the rows."""
        columns = np.arange(self.shape[1])
        sides = ("row", self.rows, given_rows), ("column", self.columns, columns)
        for side, present, numbers in sides:
            empty = np.setdiff1d(numbers, numbers[present])
            if len(empty):
                warnings.warn(_about_empty(side, empty), UserWarning, stacklevel=7)

    def select(self, X: Dense) -> Dense:
        """Return the rows and columns that are not empty."""
        return X if self.is_all else np.ascontiguousarray(X[np.ix_(self.rows, self.columns)])

    def restore(self, fit: Fit, backend: Backend) -> Fit:
        """Extend the fit of the selected rows and columns to the shape of the whole matrix."""
        if self.is_all:
            return fit
        clusters, learned, graphs = fit.clusters, fit.learned, fit.graphs
        if learned is not None:
            U = backend.asarray(self._with_means(backend.to_numpy(learned.U)))
            learned = replace(learned, U=U)
        return replace(
            fit,
            X=self._with_nan(np.asarray(fit.X)),
            graphs=graphs
            and (
                _spread_graph(graphs[0], self.rows, self.shape[0]),
                _spread_graph(graphs[1], self.columns, self.shape[1]),
            ),
            learned=learned,
            clusters=replace(
                clusters,
                rows=_spread_labels(clusters.rows, self.rows, self.shape[0]),
                columns=_spread_labels(clusters.columns, self.columns, self.shape[1]),
            ),
            cell_weights=None if fit.cell_weights is None else self._with_nan(fit.cell_weights),
        )

    def _with_nan(self, part: Dense) -> Dense:
        whole = np.full(self.shape, np.nan, dtype=part.dtype)
        whole[np.ix_(self.rows, self.columns)] = part
        return whole

    def _with_means(self, part: Dense) -> Dense:
        whole = np.full(self.shape, part.mean(), dtype=part.dtype)
        whole[self.rows] = part.mean(axis=1, keepdims=True)
        whole[:, self.columns] = part.mean(axis=0)
        whole[np.ix_(self.rows, self.columns)] = part
        return whole


def _spread_graph(graph: Graph, nodes: Labels, size: int) -> Graph:
    return replace(graph, n_nodes=size, heads=nodes[graph.heads], tails=nodes[graph.tails])


def _spread_labels(side: SideLabels, present: Labels, size: int) -> SideLabels:
    labels = np.zeros(size, dtype=np.intp)
    membership = np.full(size, np.mean(side.labels == 0))
    labels[present], membership[present] = side.labels, side.membership
    return replace(side, labels=labels, membership=membership)


def _about_empty(side: str, empty: Labels) -> str:
    positions = ", ".join(map(str, empty[:_LISTED])) + (", ..." if len(empty) > _LISTED else "")
    one = len(empty) == 1
    return (
        f"Every value of {len(empty)} {side}{'' if one else 's'} is missing (counted from 0: "
        f"{positions}). {'It gets' if one else 'They get'} the label of the largest cluster. "
        f"Consider removing such {side}s."
    )
