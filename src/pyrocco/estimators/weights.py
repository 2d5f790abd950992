"""Weights of rows: one of weight three is fitted as three copies, one of weight zero not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length

from pyrocco.backends import Backend
from pyrocco.estimators.missing import Observed
from pyrocco.estimators.recognition import has_repeated, order_by_values
from pyrocco.graph import Graph
from pyrocco.graph.edges import degree_weights


@dataclass(frozen=True)
class Copies:
    """The rows of a matrix, each as often as it counts.

    Parameters
    ----------
    n_rows : int
        Rows of the matrix.
    index : ndarray of int
        The row of every copy. Where rows are repeated, they are in an order of their values:
        rows with three copies and rows of weight three are then fitted alike.

    Examples
    --------
    >>> import numpy as np
    >>> copies = Copies.weigh(np.eye(3), [2, 0, 1])
    >>> sorted(copies.index.tolist()), copies.left_out.tolist(), copies.is_plain
    ([0, 0, 2], [1], False)
    """

    n_rows: int
    index: NDArray[np.intp]

    @classmethod
    def weigh(cls, X: Any, sample_weight: Any, sort: bool = True) -> Copies:
        """Take the rows of `X` as often as whole weights say; once where there are none.

        `sort` says whether to put repeated rows into the order of their values.
        """
        n_rows = X.shape[0]
        index, rows = np.arange(n_rows), X
        if sample_weight is not None:
            index = np.repeat(index, _whole_weights(sample_weight, X))
            rows = X[index]
        if sort and has_repeated(rows):
            index = index[order_by_values(rows)]
        return cls(n_rows, index)

    @property
    def is_plain(self) -> bool:
        """Whether every row is there once."""
        return np.array_equal(self.index, np.arange(self.n_rows))

    @property
    def is_each_once(self) -> bool:
        """Whether every row is there once, in whatever order."""
        return bool((np.bincount(self.index, minlength=self.n_rows) == 1).all())

    @property
    def left_out(self) -> NDArray[np.intp]:
        """Rows of weight zero."""
        return np.flatnonzero(np.bincount(self.index, minlength=self.n_rows) == 0)

    def of(self, X: Any) -> Any:
        """Return the copies of the rows of `X`."""
        return X if self.is_plain else X[self.index]

    def restore(self, fitted: Any, backend: Backend) -> Any:
        """Bring what a fit of the copies found to the rows: that of their first copies.

        Rows that were left out get what empty rows get, until they are placed.
        """
        if self.is_plain:
            return fitted
        rows, first = np.unique(self.index, return_index=True)
        found, learned = fitted.found, fitted.learned
        labels, membership = found.rows.labels[first], found.rows.membership[first]
        part = replace(
            fitted,
            X=fitted.X[first],
            graphs=(self._joined(fitted.graphs[0]), fitted.graphs[1]),
            learned=replace(learned, U=learned.U[first]),
            found=replace(found, rows=replace(found.rows, labels=labels, membership=membership)),
            weights=None if fitted.weights is None else fitted.weights[first],
        )
        if len(rows) == self.n_rows:
            return part
        dense = part.X.toarray() if sparse.issparse(part.X) else part.X
        shape = self.n_rows, dense.shape[1]
        return Observed(shape, rows, np.arange(shape[1])).restore(replace(part, X=dense), backend)

    def _joined(self, graph: Graph) -> Graph:
        """Edges among rows where their copies have edges."""
        places = np.unique(self.index, return_inverse=True)[1]
        ends = np.sort(np.column_stack([places[graph.heads], places[graph.tails]]), axis=1)
        heads, tails = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0).T
        n_nodes = int(places.max()) + 1
        return replace(
            graph,
            n_nodes=n_nodes,
            heads=heads,
            tails=tails,
            weights=degree_weights(n_nodes, heads, tails),
        )


def _whole_weights(sample_weight: Any, X: Any) -> NDArray[np.intp]:
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be one number a row; it has {weights.ndim} axes.")
    check_consistent_length(X, weights)
    if (weights < 0).any() or (weights % 1).any():
        raise ValueError(
            "sample_weight must be whole numbers of at least 0: a row of weight 3 counts like "
            "three copies of it. Multiply and round fractions first."
        )
    if not weights.any():
        raise ValueError("every sample weight is zero: at least one row must count.")
    return np.asarray(weights, dtype=np.intp)
