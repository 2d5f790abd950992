"""What a fit computes: labels, graphs and representation, and the means of the blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco._typing import (
    Dense,
    Floats,
    Labels,
    Mask,
    Matrix,
    is_sparse,
    stored_values,
    with_stored_values,
)
from pyrocco.assign import Assignment, JointAssigner
from pyrocco.backends import ChunkedMatrix, over_rows, sums_by_label
from pyrocco.cells.kinds import Cells
from pyrocco.cells.preparation import Preparation
from pyrocco.cells.values import has_missing
from pyrocco.graph import Graph
from pyrocco.representation import Record, Representation


@dataclass(frozen=True)
class Fit:
    """One pass through graphs, representation and clusters.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The data that was fitted, divided by its scale.
    graphs : tuple of Graph or None
        Graph of the rows and graph of the columns; None if no representation was learned.
    learned : Representation or None
        The representation, on the back end, divided by the scale.
    assigner : JointAssigner
        The object that clustered rows and columns.
    clusters : Assignment
        Labels of rows and columns.
    cell_weights : ndarray, CSR matrix or None
        Weights of the cells, if there are outlier cells.
    """

    X: Matrix | ChunkedMatrix
    graphs: tuple[Graph, Graph] | None
    learned: Representation | None
    assigner: JointAssigner
    clusters: Assignment
    cell_weights: Matrix | None = None


@dataclass(frozen=True)
class PreparedColumns:
    """The matrix from which columns are labelled: prepared with the roles of both sides swapped.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The prepared values, divided by `scale`.
    scale : float
        Their scale.
    preparation : Preparation
        What was done to the values.
    """

    X: Matrix | ChunkedMatrix
    scale: float
    preparation: Preparation


@dataclass(frozen=True)
class PreparedCells:
    """The matrix to fit: prepared, and divided by its scale.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The prepared values, divided by `scale`.
    scale : float
        Their scale.
    cells : Cells
        The kind of the cells.
    preparation : Preparation
        What was done to the values.
    counts : ndarray, CSR matrix, chunked matrix or None
        The values before they were prepared, if they count something; of yes and no the rarer.
    columns : PreparedColumns or None
        The matrix from which columns are labelled, where it is another one.
    transposed : bool
        Whether its rows are the columns of the given matrix.
    """

    X: Matrix | ChunkedMatrix
    scale: float
    cells: Cells
    preparation: Preparation
    counts: Matrix | ChunkedMatrix | None = None
    columns: PreparedColumns | None = None
    transposed: bool = False

    @property
    def kind(self) -> str:
        """The kind of the cells."""
        return self.cells.kind

    @property
    def are_answers(self) -> bool:
        """Whether the cells are yes or no, and both are common."""
        return self.kind == "yes/no" and not self.are_prepared

    @property
    def of_given_rows(self) -> PreparedCells | PreparedColumns:
        """The values from which the rows of the given matrix are labelled."""
        return self.columns if self.transposed and self.columns is not None else self

    @property
    def are_prepared(self) -> bool:
        """Whether anything was done to the values."""
        return bool(self.preparation.steps)


@dataclass(frozen=True)
class FittedRows:
    """The rows as they were fitted: repeated by their weights, without rows of weight zero.

    Parameters
    ----------
    index : ndarray of int
        The row of the given matrix that each fitted row is.
    labels : ndarray of int
        Their clusters.
    membership : ndarray of float
        Probabilities of these labels.
    """

    index: Labels
    labels: Labels
    membership: Floats


@dataclass(frozen=True)
class Represented:
    """The representation of the given matrix, and how it was learned.

    Parameters
    ----------
    U : ndarray or Dask array
        The smoothed matrix, in the units of the data.
    graphs : tuple of Graph
        Graph of the rows and graph of the columns.
    history : list of dict
        One record for each iteration.
    converged : bool
        Whether the iterations converged.
    """

    U: Any
    graphs: tuple[Graph, Graph]
    history: list[Record]
    converged: bool


@dataclass(frozen=True)
class FitResult:
    """The result of a fit, in the units of the data. It shares no memory with the caller's X.

    Parameters
    ----------
    clusters : Assignment
        Labels of rows and columns, their memberships, and the structure of the matrix.
    represented : Represented or None
        The representation, if it was learned.
    block_means : ndarray
        Means of the blocks.
    cell_weights : ndarray, CSR matrix or None
        Weights of the cells, if there are outlier cells.
    assigner : JointAssigner
        The object that clustered rows and columns.
    cells : Cells
        The kind of the cells.
    preparation : Preparation
        What was done to the values of the given matrix.
    column_preparation : Preparation
        What was done to them before columns were labelled.
    scale, column_scale : float
        Scales by which the prepared values were divided for the fit.
    unit : float
        Scale of the given values; equal to `scale` if they were not prepared.
    data : ndarray, CSR matrix or None
        A copy of the data; None for a Dask array.
    cleaned : ndarray, CSR matrix or None
        The data that was fitted, divided by `unit`, where it is not simply the given one: if
        outlier cells were moved or rows were left out.
    fitted_rows : FittedRows or None
        The rows that were fitted, where they are not each row once.
    """

    clusters: Assignment
    represented: Represented | None
    block_means: Floats
    cell_weights: Matrix | None
    assigner: JointAssigner
    cells: Cells
    preparation: Preparation
    column_preparation: Preparation
    scale: float
    column_scale: float
    unit: float
    data: Matrix | None
    cleaned: Matrix | None = None
    fitted_rows: FittedRows | None = None


def indicator(labels: Labels, n_clusters: int | None = None) -> sparse.csr_array:
    """Return the matrix of rows by clusters that is 1 where the row is in the cluster.

    Examples
    --------
    >>> indicator(np.array([0, 1, 1])).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    n, k = len(labels), int(labels.max()) + 1 if n_clusters is None else n_clusters
    return sparse.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))


def bicluster_rows(row_labels: Labels, column_labels: Labels) -> Mask:
    """Return which rows are in each block; the column cluster changes fastest.

    Examples
    --------
    >>> bicluster_rows(np.array([0, 1]), np.array([0, 1, 1])).astype(int).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """
    blocks = np.repeat(np.arange(row_labels.max() + 1), column_labels.max() + 1)
    return np.asarray(row_labels == blocks[:, None])


def bicluster_columns(row_labels: Labels, column_labels: Labels) -> Mask:
    """Return which columns are in each block; the column cluster changes fastest.

    Examples
    --------
    >>> bicluster_columns(np.array([0, 1]), np.array([0, 1])).astype(int).tolist()
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """
    blocks = np.tile(np.arange(column_labels.max() + 1), row_labels.max() + 1)
    return np.asarray(column_labels == blocks[:, None])


def block_means(
    X: Matrix | ChunkedMatrix, row_labels: Labels, column_labels: Labels, U: Dense | None = None
) -> Floats:
    """Compute the mean of every block, that is, of a row cluster and a column cluster.

    Missing values (NaN) do not count. The mean of a block without any other values is that of
    the representation `U`, or NaN if `U` is not given.

    Examples
    --------
    >>> X = np.array([[1.0, 3.0, 5.0], [1.0, 3.0, 5.0], [0.0, 0.0, 9.0]])
    >>> block_means(X, np.array([0, 0, 1]), np.array([0, 0, 1])).tolist()
    [[2.0, 5.0], [0.0, 9.0]]
    """
    labels = row_labels, column_labels
    sizes = np.outer(np.bincount(row_labels), np.bincount(column_labels))
    if isinstance(X, ChunkedMatrix) or not has_missing(X):
        return np.asarray(_block_sums(X, *labels) / sizes)
    values = stored_values(X)
    missing = np.isnan(values)
    counts = np.round(sizes - _block_sums(with_stored_values(X, missing.astype(float)), *labels))
    sums = _block_sums(with_stored_values(X, np.where(missing, 0, values)), *labels)
    instead = np.nan if U is None else _block_sums(U, *labels) / sizes
    return np.where(counts > 0, sums / np.maximum(counts, 1), instead)


def _block_sums(X: Matrix | ChunkedMatrix, row_labels: Labels, column_labels: Labels) -> Floats:
    work = partial(_row_cluster_sums, n_clusters=int(row_labels.max()) + 1)
    sums = sum(over_rows(work, X, row_labels))
    return np.asarray(sums @ indicator(column_labels), dtype=np.float64)


def _row_cluster_sums(X: Matrix, labels: Labels, n_clusters: int) -> Dense:
    if is_sparse(X):
        return np.asarray((indicator(labels, n_clusters).T @ X).toarray())
    values = X if X.dtype in (np.float32, np.float64) else np.asarray(X, dtype=np.float64)
    return sums_by_label(values, labels, n_clusters)
