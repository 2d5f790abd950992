"""Repeated rows: weights, the order of equal rows, and rows recognised by their values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from pyrocco._typing import Array, Dense, Floats, Labels, Matrix, is_sparse, stored_values
from pyrocco.backends import Backend, ChunkedMatrix
from pyrocco.backends.hashing import MIXER, odd_multipliers, weighted_sums
from pyrocco.cells.inspection import estimate_cost, machine_memory
from pyrocco.cells.values import row_slices, to_dense
from pyrocco.fitting.missing import NonEmpty
from pyrocco.fitting.result import Fit
from pyrocco.graph import Graph
from pyrocco.graph.edges import degree_weights

Hashes = NDArray[np.uint64]

# Powers of two above the typical value beyond which values count as infinite when rows are
# recognised: next to a cell of 1e150, all others would be zero in single precision.
_ABOVE_TYPICAL = 60
# Bytes, if the system does not report its memory.
_ASSUMED_MEMORY = 64e9


@dataclass(frozen=True)
class RowCopies:
    """The rows of a matrix, each repeated as often as its weight says.

    If rows are repeated, by weights or in the data, they are sorted by their values, so that
    three equal rows and one row of weight three are fitted in the same way.

    Parameters
    ----------
    n_rows : int
        Number of rows of the given matrix.
    index : ndarray of int
        The given row that each fitted row is.

    Examples
    --------
    >>> copies = RowCopies.of(np.eye(3), [2, 0, 1])
    >>> sorted(copies.index.tolist()), copies.left_out.tolist()
    ([0, 0, 2], [1])
    """

    n_rows: int
    index: Labels

    @classmethod
    def of(cls, X: Matrix, sample_weight: ArrayLike | None = None, sort: bool = True) -> RowCopies:
        """Repeat the rows of `X` by their weights, and sort repeated rows unless told not to."""
        n_rows = X.shape[0]
        index, rows = np.arange(n_rows), X
        if sample_weight is not None:
            index = np.repeat(index, _check_weights(sample_weight, X))
            rows = X[index]
        if sort and has_repeated_rows(rows):
            index = index[order_by_values(rows)]
        return cls(n_rows, index)

    @property
    def is_identity(self) -> bool:
        """Whether the fitted rows are the given ones, in the same order."""
        return np.array_equal(self.index, np.arange(self.n_rows))

    @property
    def counts(self) -> Labels:
        """How often each row was fitted."""
        return np.bincount(self.index, minlength=self.n_rows)

    @property
    def first(self) -> Labels:
        """Where each given row was fitted first, without rows of weight zero."""
        return np.unique(self.index, return_index=True)[1]

    @property
    def left_out(self) -> Labels:
        """Rows of weight zero."""
        return np.flatnonzero(self.counts == 0)

    def take(self, X: Matrix) -> Matrix:
        """Return the fitted rows of the given matrix."""
        return X if self.is_identity else X[self.index]

    def restore(self, fit: Fit, backend: Backend) -> Fit:
        """Return the fit of the given rows: each one gets what its first copy got.

        Rows of weight zero get what empty rows get.
        """
        if self.is_identity:
            return fit
        first = self.first
        rows = self.index[first]
        clusters, side = fit.clusters, fit.clusters.rows
        graphs, learned = fit.graphs, fit.learned
        labels, membership = side.labels[first], side.membership[first]
        in_chunks = isinstance(fit.X, ChunkedMatrix)
        restored = replace(
            fit,
            # The order of chunked data does not matter any more, and sorting it is expensive.
            X=fit.X if in_chunks else fit.X[first],
            graphs=graphs and (self._restore_graph(graphs[0], first), graphs[1]),
            learned=learned and replace(learned, U=_take_rows(learned.U, first)),
            clusters=replace(clusters, rows=replace(side, labels=labels, membership=membership)),
            cell_weights=None if fit.cell_weights is None else fit.cell_weights[first],
        )
        if len(rows) == self.n_rows:
            return restored
        dense = to_dense(restored.X)
        shape = self.n_rows, dense.shape[1]
        present = NonEmpty(shape, rows, np.arange(shape[1]))
        return present.restore(replace(restored, X=dense), backend)

    def _restore_graph(self, graph: Graph, first: Labels) -> Graph:
        """Join rows whose copies are joined."""
        rows = np.unique(self.index, return_inverse=True)[1]
        ends = np.sort(np.column_stack([rows[graph.heads], rows[graph.tails]]), axis=1)
        if len(first) == len(self.index):
            order = np.lexsort(ends.T[::-1])
            heads, tails, weights = *ends[order].T, graph.weights[order]
        else:
            heads, tails = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0).T
            weights = degree_weights(len(first), heads, tails)
        return replace(graph, n_nodes=len(first), heads=heads, tails=tails, weights=weights)


def _take_rows(U: Array, rows: Labels) -> Array:
    taken: Array = U.reordered(rows) if isinstance(U, ChunkedMatrix) else U[rows]
    return taken


def _check_weights(sample_weight: ArrayLike, X: Matrix) -> Labels:
    try:
        given = np.asarray(sample_weight)
    except ValueError:  # a list of lists of different lengths
        given = np.empty(0, dtype=object)
    if given.dtype.kind not in "fiub" or given.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight must have one number for each of the {X.shape[0]} rows of X; got "
            f"the type {given.dtype} and the shape {given.shape}."
        )
    weights = check_array(given, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if (weights < 0).any() or (weights % 1).any():
        raise ValueError(
            "sample_weight must be integers of at least 0: a row of weight 3 counts like three "
            "copies of it. Multiply and round fractions first."
        )
    if not weights.any():
        raise ValueError("All sample weights are zero: at least one row must have a weight.")
    _check_memory(float(weights.sum()), X)
    return np.asarray(weights, dtype=np.intp)


def _check_memory(n_rows: float, X: Matrix) -> None:
    """Refuse to repeat the rows so often that a fit cannot have enough memory."""
    if n_rows <= X.shape[0]:
        return
    memory = machine_memory() or _ASSUMED_MEMORY
    # A limit for weights that no integer can hold.
    needed = estimate_cost(int(min(n_rows, 1e18)), X.shape[1], X.dtype.itemsize).memory
    if needed > memory:
        raise ValueError(
            f"sample_weight repeats the rows to {n_rows:.3g} rows in all, whose fit needs about "
            f"{needed / 1e9:.3g} GB, but this machine has {memory / 1e9:.3g} GB: divide the "
            "weights by a number and round them."
        )


@dataclass(frozen=True)
class KnownRows:
    """The rows of a fit, recognised by a hash of their values.

    Values are compared in single precision, so that float32 and float64, dense and sparse
    versions of a row are the same. If several rows are equal, the first one in a query is the
    first one of the fit, the second one the second, and so on.

    Parameters
    ----------
    hashes : ndarray of uint64
        Sorted hashes.
    rows : ndarray of int
        The row that each hash belongs to.
    exponent : int
        Values are divided by two to this power before they are compared.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    >>> known = KnownRows.of(X)
    >>> known.find(np.array([[2.0, 3.0], [1.0, 0.5], [1.0, 0.0], [1.0, 0.0]])).tolist()
    [1, -1, 0, 2]
    """

    hashes: Hashes
    rows: Labels
    exponent: int

    @classmethod
    def of(cls, X: Matrix) -> KnownRows:
        """Remember the rows of `X`."""
        exponent = min(_exponent(X), _typical_exponent(X) + _ABOVE_TYPICAL)
        hashes = _hash_rows(X, exponent)
        rows = np.argsort(hashes, kind="stable")
        return cls(hashes[rows], rows, exponent)

    def find(self, X: Matrix) -> Labels:
        """Return the row of the fit that each row of `X` is, or -1 for a new row."""
        hashes = _hash_rows(X, self.exponent)
        first = np.searchsorted(self.hashes, hashes, side="left")
        copies = np.searchsorted(self.hashes, hashes, side="right") - first
        place = first + _occurrences(hashes) % np.maximum(copies, 1)
        rows = self.rows[np.minimum(place, len(self.rows) - 1)]
        return np.where(copies > 0, rows, -1)


def has_repeated_rows(X: Matrix) -> bool:
    """Whether two rows of `X` are equal; fast, since every fit asks.

    Examples
    --------
    >>> has_repeated_rows(np.eye(3)), has_repeated_rows(np.ones((2, 3)))
    (False, True)
    """
    if is_sparse(X):
        hashes = _hash_rows(X, _exponent(X))
    else:
        bits = np.ascontiguousarray(X).view(np.dtype(f"u{X.itemsize}"))
        hashes = weighted_sums(bits, odd_multipliers(X.shape[1]))
    hashes = np.sort(hashes)
    return bool((hashes[1:] == hashes[:-1]).any())


def order_by_values(X: Matrix) -> Labels:
    """Sort the rows of `X` in an order that depends on their values only.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    >>> order, reverse = order_by_values(X), order_by_values(X[::-1])
    >>> bool((X[order] == X[::-1][reverse]).all())
    True
    """
    return np.argsort(_hash_rows(X, _exponent(X)), kind="stable")


def chunked_row_order(X: ChunkedMatrix, largest: float) -> Labels:
    """Return the order of `order_by_values` if rows are repeated, else the order they have.

    `largest` is the largest absolute value.
    """
    exponent = math.frexp(largest)[1]
    hashes = np.concatenate(X.results(partial(_hash_rows, exponent=exponent)))
    order = np.argsort(hashes, kind="stable")
    repeated = (hashes[order][1:] == hashes[order][:-1]).any()
    return order if repeated else np.arange(X.shape[0])


def dense_chunks(X: Matrix, unit: float) -> Iterator[Floats]:
    """Yield a few rows at a time, dense, as float64, divided by `unit`.

    Examples
    --------
    >>> [rows.tolist() for rows in dense_chunks(sparse.csr_array(np.eye(2)), 2.0)]
    [[[0.5, 0.0], [0.0, 0.5]]]
    """
    for rows in row_slices((X.shape[0], X.shape[1])):
        yield to_dense(X[rows]).astype(np.float64) / unit


def _occurrences(hashes: Hashes) -> Labels:
    """Count how many times each hash came before."""
    order = np.argsort(hashes, kind="stable")
    starts = np.searchsorted(hashes[order], hashes[order], side="left")
    before = np.empty(len(hashes), dtype=np.intp)
    before[order] = np.arange(len(hashes)) - starts
    return before


def _exponent(X: Matrix) -> int:
    largest = float(np.nanmax(np.abs(stored_values(X)), initial=0.0))
    return math.frexp(largest)[1]


def _typical_exponent(X: Matrix) -> int:
    values = stored_values(X).ravel()
    exponents = np.frexp(values[(values != 0) & ~np.isnan(values)])[1]
    return int(np.median(exponents)) if len(exponents) else 0


def _hash_rows(X: Matrix, exponent: int) -> Hashes:
    """Sum up the mixed bits of the values, each multiplied by the number of its column."""
    columns = odd_multipliers(X.shape[1])
    if is_sparse(X):
        X = X.tocsr().copy()
        X.sum_duplicates()
        mixed = sparse.csr_array((_mix(X.data, exponent), X.indices, X.indptr), shape=X.shape)
        return np.asarray(mixed @ columns)
    slices = row_slices((X.shape[0], X.shape[1]))
    return np.concatenate([_mix(X[rows], exponent) @ columns for rows in slices])


def _mix(values: Dense, exponent: int) -> Hashes:
    """Mix the bits of values in single precision; those of zero are zero."""
    with np.errstate(over="ignore", under="ignore"):
        single = np.ldexp(values.astype(np.float64), -exponent).astype(np.float32)
    single += np.float32(0)  # minus zero is zero
    single[np.isnan(single)] = np.nan  # one kind of NaN
    bits = single.view(np.uint32).astype(np.uint64)
    bits *= np.uint64(MIXER)
    bits ^= bits >> np.uint64(32)
    return bits
